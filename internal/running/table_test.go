package running_test

import (
	"math/rand/v2"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/running"
	"github.com/reprise-trace/reprise/sequitur"
)

var number = cst.Type{Kind: cst.KindInt}

// record returns what the calls of a function with two numbers and a rank are, which call returns.
func record(t testing.TB, calls int, call func(i int) (a, b, rank int64)) running.Calls {
	t.Helper()
	var table running.Table
	var b sequitur.Builder
	fn := table.Declare(
		cst.Function{Name: "f", Params: []cst.Param{{Name: "a", Type: number}, {Name: "b", Type: number},
			{Name: "r", Type: cst.Type{Kind: cst.KindRank}}}})
	for i := range calls {
		x, y, r := call(i)
		n, err := table.Intern(fn, cst.Int(x), cst.Int(y), cst.Rank(r))
		if err != nil {
			t.Fatal(err)
		}
		b.Append(n)
	}
	return table.Take(b.Finish())
}

// TestAdvances checks how many signatures calls have of which something advances, runs included.
func TestAdvances(t *testing.T) {
	for name, c := range map[string]struct {
		call func(i int) (a, b, rank int64)
		most int // signatures
	}{
		"constant":    {func(i int) (a, b, rank int64) { return 1, 2, 3 }, 1},
		"step":        {func(i int) (a, b, rank int64) { return int64(i), 2, 3 }, 3},
		"two":         {func(i int) (a, b, rank int64) { return int64(i), int64(-8 * i), 3 }, 4},
		"resets":      {func(i int) (a, b, rank int64) { return int64(i % 100), 2, 3 }, 4},
		"nested":      {func(i int) (a, b, rank int64) { return int64(i%100 + 1000*(i/100)), 2, 3 }, 4},
		"wraps apart": {func(i int) (a, b, rank int64) { return int64(i % 100), int64(i % 70), 3 }, 7},
		"squares":     {func(i int) (a, b, rank int64) { return int64(i * i), 2, 3 }, 10_000}, // no difference comes twice
		"roots":       {func(i int) (a, b, rank int64) { return int64(i), 2, int64(i % 4) }, 6},
	} {
		got := record(t, 10_000, c.call)
		if n := got.Table.Len(); n > c.most {
			t.Errorf("%s: %d signatures, more than %d", name, n, c.most)
		}
		if got.Grammar.Len() != 10_000 {
			t.Errorf("%s: %d calls", name, got.Grammar.Len())
		}
	}
}

// TestDoesNotAdvance checks that what goes round among values, and what has none in common, is not taken to
// advance.
func TestDoesNotAdvance(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	walk := int64(0)
	for name, call := range map[string]func(i int) (a, b, rank int64){
		"round 13":   func(i int) (a, b, rank int64) { return int64(i % 13), 2, 3 },
		"random":     func(i int) (a, b, rank int64) { return random.Int64(), 2, 3 },
		"few random": func(i int) (a, b, rank int64) { return random.Int64N(50), 2, 3 },
		"walk":       func(i int) (a, b, rank int64) { walk += random.Int64N(2001) - 1000; return walk, 2, 3 },
		"ranks":      func(i int) (a, b, rank int64) { return 1, 2, int64(i % 1000) },
	} {
		if got := record(t, 10_000, call); got.Streams != nil {
			t.Errorf("%s: taken to advance", name)
		}
	}
}

func BenchmarkIntern(b *testing.B) {
	for name, arg := range map[string]func(i int) int64{
		"advancing": func(i int) int64 { return int64(i) * 64 },
		"constant":  func(i int) int64 { return 64 },
		"new":       func(i int) int64 { return int64(uint64(i) * 0x9e3779b97f4a7c15 >> 1) },
	} {
		b.Run(name, func(b *testing.B) {
			var table running.Table
			var g sequitur.Builder
			fn := table.Declare(cst.Function{Name: "f",
				Params: []cst.Param{{Name: "a", Type: number}, {Name: "b", Type: number},
					{Name: "r", Type: cst.Type{Kind: cst.KindRank}}}})
			b.ReportAllocs()
			for i := range b.N {
				n, _ := table.Intern(fn, cst.Int(arg(i)), cst.Int(2), cst.Rank(1))
				g.Append(n)
			}
		})
	}
}
