package columns

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
)

// all selects every rank.
func all(int) bool { return true }

// sampleOf returns the ranks below n for which in holds, and their values.
func sampleOf(n int, in func(r int) bool, value func(r int) int64) (Domain, []int64) {
	var ranks []int
	var values []int64
	for r := range n {
		if in(r) {
			ranks, values = append(ranks, r), append(values, value(r))
		}
	}
	return Over(rankenc.SetOf(ranks...), n), values
}

// list is ranks in any order.
type list []int

func (l list) Len() int     { return len(l) }
func (l list) At(i int) int { return l[i] }

// exprGen draws expressions of all families, as they are encoded.
var exprGen = rapid.Custom(func(t *rapid.T) rankenc.Expr {
	const families = 16
	enc := []byte{byte(rapid.IntRange(0, families-1).Draw(t, "family"))}
	parameter := rapid.OneOf(rapid.Uint64Range(0, 20), rapid.Uint64Range(0, 200), rapid.Uint64Range(0, 1<<31-1))
	for range 6 { // the most that one has
		enc = wire.AppendUvarint(enc, parameter.Draw(t, "parameter"))
	}
	if e, _, err := rankenc.ParseExpr(enc); err == nil {
		return e
	}
	return rankenc.Shift(rapid.Int64Range(-32, 31).Draw(t, "c")) // which has a shorter encoding
})

// domainGen draws subsets of a group: all, a colour class, interior, rim, some.
var domainGen = rapid.Custom(func(t *rapid.T) Domain {
	n := rapid.IntRange(1, 130).Draw(t, "size")
	k, m := rapid.IntRange(1, 9).Draw(t, "k"), rapid.IntRange(0, 8).Draw(t, "m")
	chosen := rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "chosen")
	in := rapid.SampledFrom([]func(r int) bool{
		all,
		func(r int) bool { return r%k == m%k },
		func(r int) bool { return r%k > 0 && r%k < k-1 && r/k > 0 && r/k < n/k-1 },
		func(r int) bool { return r%k == 0 || r%k == k-1 },
		func(r int) bool { return r/k%2 == 0 },
		func(r int) bool { return chosen[r] },
	}).Draw(t, "in")
	d, _ := sampleOf(n, in, func(int) int64 { return 0 })
	return d
})

// drawValues draws values over d: those of an expression, with noise at some
// positions.
func drawValues(t *rapid.T, d Domain) []int64 {
	e := exprGen.Draw(t, "e")
	values := make([]int64, d.len())
	for i, r := range d.List() {
		values[i] = e.Eval(r, int64(d.Size))
	}
	if len(values) > 0 {
		for range rapid.IntRange(0, 4).Draw(t, "noise") {
			i := rapid.IntRange(0, len(values)-1).Draw(t, "position")
			values[i] = rapid.OneOf(rapid.Int64Range(-2, 3), rapid.Int64()).Draw(t, "value")
		}
	}
	return values
}

func fits(e rankenc.Expr, d Domain, values []int64) bool {
	for i, v := range values {
		if e.Eval(int64(d.Ranks.At(i)), int64(d.Size)) != v {
			return false
		}
	}
	return true
}

func marshal(m interface{ AppendBinary([]byte) ([]byte, error) }) []byte {
	enc, err := m.AppendBinary(nil)
	if err != nil {
		panic(err)
	}
	return enc
}

func checkError(t *testing.T, err error, off int64, want error) {
	t.Helper()
	var pe *wire.Error
	if !errors.As(err, &pe) || pe.Offset != off || !errors.Is(err, want) {
		t.Errorf("err = %v, want %v at offset %d", err, want, off)
	}
}
