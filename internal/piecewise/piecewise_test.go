package piecewise

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/format"
	"pgregory.net/rapid"
)

// TestAlignment checks times against exact arithmetic, and that they stay in order.
func TestAlignment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		time := rapid.Int64Range(-1<<62, 1<<62)
		a := format.Alignment{
			Offset: rapid.Int64Range(-1<<60, 1<<60).Draw(t, "offset"),
			Rate:   rapid.Int64Range(-MaxRate, MaxRate).Draw(t, "rate"),
			Since:  rapid.Int64Range(-1<<61, 1<<61).Draw(t, "since"),
		}
		x := time.Draw(t, "time")
		product := new(big.Int).Mul(big.NewInt(a.Rate), new(big.Int).Sub(big.NewInt(x), big.NewInt(a.Since)))
		want := new(big.Int).Quo(product, new(big.Int).Lsh(big.NewInt(1), 50)) // towards zero
		want.Add(want, big.NewInt(x)).Add(want, big.NewInt(a.Offset))
		least, most := big.NewInt(math.MinInt64), big.NewInt(math.MaxInt64)
		if want.Cmp(least) > 0 && want.Cmp(most) < 0 && new(big.Int).Sub(big.NewInt(x), big.NewInt(a.Since)).IsInt64() {
			if got := Apply(a, x); got != want.Int64() {
				t.Fatalf("%d, want %v", got, want)
			}
		}
		if y := time.Draw(t, "later"); y > x && Apply(a, y) < Apply(a, x) {
			t.Fatalf("%d is before %d", Apply(a, y), Apply(a, x))
		}
		if x != math.MinInt64 && Apply(format.Alignment{Since: a.Since}, x) != x {
			t.Fatal("nothing moves times")
		}
	})
}

// TestPieces checks that each piece holds from when it begins, that times never go back, and how large the
// jumps are.
func TestPieces(t *testing.T) {
	p := Pieces{{Offset: 1000, Since: 500}, {Offset: 900, Since: 200}, {Offset: 5000, Since: 1000}}
	for _, tt := range [][2]int64{{-1000, 0}, {199, 1199}, {200, 1199}, {299, 1199}, {300, 1200}, {999, 1899},
		{1000, 6000}, {1001, 6001}} {
		if got := p.Apply(tt[0]); got != tt[1] {
			t.Errorf("%d becomes %d, want %d", tt[0], got, tt[1])
		}
	}
	if p.Jump() != 4100 || p[:2].Jump() != 100 || p[:1].Jump() != 0 || Pieces(nil).Apply(7) != 7 {
		t.Error(p.Jump(), p[:2].Jump(), p[:1].Jump())
	}
}

// TestPiecesOrder checks that later times stay later or become equal.
func TestPiecesOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		since := rapid.SliceOfNDistinct(rapid.Int64Range(-1000, 1000), 1, 5, rapid.ID).Draw(t, "since")
		slices.Sort(since)
		var p Pieces
		for _, s := range since {
			p = append(p, format.Alignment{Offset: rapid.Int64Range(-1000, 1000).Draw(t, "offset"),
				Rate: rapid.Int64Range(-MaxRate, MaxRate).Draw(t, "rate"), Since: s})
		}
		last := int64(math.MinInt64)
		for time := int64(-1100); time < 1100; time++ {
			if at := p.Apply(time); at < last {
				t.Fatalf("%d becomes %d, and before it was %d", time, at, last)
			} else {
				last = at
			}
		}
	})
}
