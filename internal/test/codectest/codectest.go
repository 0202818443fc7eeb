// Package codectest checks that codecs of package timing do what its interfaces say.
package codectest

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/big"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/drawn"
	"github.com/reprise-trace/reprise/timing"
)

// Test checks a codec: blocks of calls with drawn values come back, within the guarantee, and as the encoder
// said, however they are cut; the same calls give the same bytes, whatever these are appended to; and a block
// that is cut off or changed gives a [*timing.ParseError], or values. If the codec can be found by its name,
// files are checked, too.
func Test(t *testing.T, c timing.Codec) { test(t, c, drawn.Values(), Hard()) }

// TestOf is [Test] for a codec of some values only.
func TestOf(t *testing.T, c timing.Codec, values *rapid.Generator[int64]) {
	var calls []drawn.Call
	for i := range 300 {
		calls = append(calls, drawn.Call{Terminal: uint32(i % 3), Value: values.Example(i % 11)})
	}
	test(t, c, values, calls)
}

func test(t *testing.T, c timing.Codec, values *rapid.Generator[int64], some []drawn.Call) {
	calls := drawn.Calls(values)
	t.Run("Blocks", rapid.MakeCheck(func(t *rapid.T) { testBlocks(t, c, calls) }))
	t.Run("Damaged", func(t *testing.T) { testDamaged(t, c, some) })
	if found, err := timing.NewCodec(c.Name()); err == nil && found.Name() == c.Name() {
		t.Run("Files", rapid.MakeCheck(func(t *rapid.T) { testFile(t, c, calls.Draw(t, "calls")) }))
		t.Run("DamagedFiles", rapid.MakeCheck(func(t *rapid.T) {
			testDamagedFile(t, c, rapid.SliceOfN(values, 1, 40).Draw(t, "values"))
		}))
	}
}

// Columns returns terminals and values apart.
func Columns(calls []drawn.Call) (terminals []uint32, values []int64) {
	for _, c := range calls {
		terminals, values = append(terminals, c.Terminal), append(values, c.Value)
	}
	return terminals, values
}

// Block encodes calls as a block, and returns the values that decoders are to give back.
func Block(e timing.Encoder, calls []drawn.Call) (block []byte, want []int64) {
	for _, c := range calls {
		want = append(want, e.Append(c.Terminal, c.Value))
	}
	return e.AppendBlock(nil), want
}

// testBlocks checks several blocks of an encoder against those of another.
func testBlocks(t *rapid.T, c timing.Codec, gen *rapid.Generator[[]drawn.Call]) {
	e, same := c.NewEncoder(), c.NewEncoder()
	for range rapid.IntRange(1, 4).Draw(t, "blocks") {
		calls := gen.Draw(t, "calls")
		terminals, values := Columns(calls)
		again, want := Block(same, calls)
		for i, v := range values {
			if got := e.Append(terminals[i], v); got != want[i] {
				t.Fatalf("value %d: %d becomes %d, and for another encoder %d", i, v, got, want[i])
			}
		}
		prefix := rapid.SliceOf(rapid.Byte()).Draw(t, "prefix")
		block, ok := bytes.CutPrefix(e.AppendBlock(bytes.Clone(prefix)), prefix)
		if !ok || !bytes.Equal(block, again) {
			t.Fatalf("%x after %x, alone %x", block, prefix, again)
		}
		Guaranteed(t, c.Guarantee(), want, values)
		testPortions(t, c, block, terminals, want)
		testEnd(t, c, block, terminals)
	}
}

// testPortions decodes a block in portions.
func testPortions(t *rapid.T, c timing.Codec, block []byte, terminals []uint32, want []int64) {
	d := decoder(t, c, block)
	var got []int64
	for len(got) < len(want) {
		portion := make([]int64, rapid.IntRange(0, len(want)-len(got)).Draw(t, "portion"))
		if err := d.Decode(portion, terminals[len(got):][:len(portion)]); err != nil {
			t.Fatal(err)
		}
		got = append(got, portion...)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("decoded %v, want %v", got, want)
	}
	isParseError(t, c, d.Decode(make([]int64, 1), []uint32{0}), io.ErrUnexpectedEOF)
}

// testEnd checks that a decoder says how many values a block has, and that asking for more is an error, with
// the last of them, after them, and again.
func testEnd(t *rapid.T, c timing.Codec, block []byte, terminals []uint32) {
	d, n := decoder(t, c, block), len(terminals)
	if d.Len() != n {
		t.Fatalf("%d values, want %d", d.Len(), n)
	}
	before := rapid.IntRange(0, n).Draw(t, "before")
	if err := d.Decode(make([]int64, before), terminals[:before]); err != nil {
		t.Fatal(err)
	}
	more := n - before + rapid.IntRange(1, 600).Draw(t, "more")
	beyond := append(slices.Clone(terminals[before:]), make([]uint32, before+more-n)...)
	isParseError(t, c, d.Decode(make([]int64, more), beyond), io.ErrUnexpectedEOF)
	isParseError(t, c, d.Decode(make([]int64, 1), []uint32{7}), nil)
	if d.Len() != n {
		t.Fatalf("%d values, and at the end %d", n, d.Len())
	}
}

func decoder(t rapid.TB, c timing.Codec, block []byte) timing.Decoder {
	t.Helper()
	d, err := c.NewDecoder(block, timing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// isParseError fails unless err is a [*timing.ParseError], for the cause want unless that is nil. Those of the
// codecs of package timing, and of timing/grammar, name timing.
func isParseError(t rapid.TB, c any, err, want error) {
	t.Helper()
	of := reflect.TypeOf(c)
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	const ours = "github.com/reprise-trace/reprise/timing"
	isOurs := of.PkgPath() == ours || of.PkgPath() == ours+"/grammar"
	var e *timing.ParseError
	if !errors.As(err, &e) || e.Package == "" || isOurs && e.Package != "timing" || e.Field == "" ||
		e.Offset < 0 || want != nil && !errors.Is(err, want) {
		t.Fatalf("%v, want a ParseError: %v", err, want)
	}
}

// Guaranteed fails unless values have become others that a guarantee allows.
func Guaranteed(t rapid.TB, g timing.Guarantee, got, values []int64) {
	t.Helper()
	for i, v := range values {
		if got[i] != v && (g == timing.Exact || !within(got[i], v, float64(g))) {
			t.Fatalf("value %d: %v became %v", i, v, got[i])
		}
	}
}

// within reports, in exact arithmetic, whether |d̂−d| ≤ ε·|d|.
func within(got, d int64, epsilon float64) bool {
	const prec = 200 // bits of an int64 times ε, and more
	number := func(v int64) *big.Float { return new(big.Float).SetPrec(prec).SetInt64(v) }
	x, y := number(got), number(d)
	e := new(big.Float).SetPrec(prec).Sub(x, y)
	y.Mul(y.Abs(y), new(big.Float).SetPrec(prec).SetFloat64(epsilon))
	return e.Abs(e).Cmp(y) <= 0
}

// Hard are calls with the values that are hardest to code.
func Hard() (calls []drawn.Call) {
	for i := range uint32(300) {
		v := int64(100 + i%7)
		switch i % 50 {
		case 10:
			v = 0
		case 20:
			v = math.MaxInt64
		case 30:
			v = 0x7ff8000000000001
		case 40:
			v = math.MinInt64
		}
		calls = append(calls, drawn.Call{Terminal: i % 3, Value: v})
	}
	return calls
}
