package progression_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/progression"
)

// runsOf returns the runs of values.
func runsOf(values []int64) []progression.Run {
	var (
		w    progression.Writer
		runs []progression.Run
	)
	for _, v := range values {
		if r, ok := w.Append(v); ok {
			runs = append(runs, r)
		}
	}
	if r, ok := w.Last(); ok {
		runs = append(runs, r)
	}
	return runs
}

// valuesOf returns the values of runs.
func valuesOf(runs []progression.Run) []int64 {
	var (
		values []int64
		before int64
	)
	for _, r := range runs {
		for i := range r.Length {
			values = append(values, r.At(before, i))
		}
		before += r.Jump
	}
	return values
}

// drawValues draws values with progressions among them.
func drawValues(t *rapid.T) []int64 {
	number := rapid.OneOf(rapid.Int64Range(-3, 3), rapid.Int64(),
		rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64}))
	var values []int64
	for range rapid.IntRange(0, 6).Draw(t, "pieces") {
		v, step, more := number.Draw(t, "first"), number.Draw(t, "step"),
			rapid.SampledFrom([]int64{0, 0, 1, -2, math.MaxInt64}).Draw(t, "more")
		for range rapid.IntRange(1, 9).Draw(t, "values") {
			values = append(values, v)
			v += step
			step += more
		}
	}
	return values
}

func TestRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := drawValues(t)
		runs := runsOf(values)
		for _, r := range runs {
			if err := r.Check(); err != nil {
				t.Fatalf("%v: %v", r, err)
			}
		}
		if got := valuesOf(runs); !slices.Equal(got, values) {
			t.Fatalf("%d became %d, by %v", values, got, runs)
		}
	})
}

// TestRepeat compares what Repeat begins with what Append does.
func TestRepeat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, n := rapid.Int64().Draw(t, "value"), rapid.Uint64Range(1, 5).Draw(t, "times")
		rest := drawValues(t)
		var w progression.Writer
		w.Repeat(v, n)
		var runs []progression.Run
		for _, v := range rest {
			if r, ok := w.Append(v); ok {
				runs = append(runs, r)
			}
		}
		last, _ := w.Last()
		all := append(slices.Repeat([]int64{v}, int(n)), rest...)
		if runs = append(runs, last); !slices.Equal(runs, runsOf(all)) {
			t.Fatalf("%v, and one by one %v", runs, runsOf(all))
		}
	})
}

func TestFewRuns(t *testing.T) {
	var resets, squares []int64
	for o := range 20 {
		for i := range 500 {
			resets = append(resets, int64(408+408*i))
			squares = append(squares, int64(i*i+7*o))
		}
	}
	for name, values := range map[string][]int64{"resets": resets, "squares": squares} {
		if runs := runsOf(values); len(runs) != 20 {
			t.Errorf("%s: %d runs, not 20", name, len(runs))
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	var w progression.Writer
	for i := range b.N {
		w.Append(int64(i % 2000 * 408))
	}
}

// TestHas compares Has with the values of runs.
func TestHas(t *testing.T) {
	for _, r := range []progression.Run{{Length: 1}, {Jump: 5, Step: -3, Length: 7},
		{Jump: 2, Step: 4, Acceleration: -3, Length: 9}, {Step: 0, Length: 3}} {
		var values []int64
		for i := range r.Length {
			values = append(values, r.At(10, i))
		}
		for v := int64(-99); v < 99; v++ {
			if got := r.Has(10+r.Jump, v); got != slices.Contains(values, v) {
				t.Errorf("%d in %d: %t", v, values, got)
			}
		}
	}
}
