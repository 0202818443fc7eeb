package timing

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestCorrections checks that amounts survive, however large, and that the reader
// knows where the number ends.
func TestCorrections(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(-9, 9), rapid.Int64(),
			rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64, -math.MaxInt64}))
		amounts := rapid.SliceOf(amount).Draw(t, "amounts")
		amounts = append(amounts, 1)
		classes := make([]int, len(amounts))
		var m correctionModel
		m.coder.Write(nil)
		for i := range amounts {
			classes[i] = rapid.IntRange(0, correctionClasses-1).Draw(t, "class")
			m.code(classes[i], amounts[i])
		}
		r := correctionReader{unit: 1, model: new(correctionModel)}
		r.model.coder.Read(m.coder.Finish())
		var got []int64
		for i, class := range classes {
			got = append(got, r.next(class))
			if err := r.check(i == len(classes)-1); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(got, amounts) {
			t.Fatalf("%d became %d", amounts, got)
		}
	})
}

func TestClassOf(t *testing.T) {
	for _, c := range []struct {
		unit uint64
		v, w int64
		want int
	}{
		{1, 0, 0, 0},
		{1, 1, 0, 0},
		{1, -3, 5, 3},
		{100, 99, 0, 0},
		{100, -200, -200, 2},
		{1, math.MaxInt64, 0, 31},
		{1 << 61, math.MinInt64, 0, 2},
	} {
		if got := classOf(c.unit, c.v, c.w); got != c.want {
			t.Errorf("%d and %d with unit %d: class %d, want %d", c.v, c.w, c.unit, got, c.want)
		}
	}
}
