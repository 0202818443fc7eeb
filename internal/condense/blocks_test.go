package condense

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestIntegerBlocks replaces integers by those of blocks, also where many are as large as integers can
// be: none is below the least of all or above the greatest, and their sum is that of the integers.
func TestIntegerBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.SampledFrom([]int64{1, 9, 1000, 1 << 40, math.MaxInt64 / 4}).Draw(t, "most")
		value := rapid.OneOf(rapid.Int64Range(-most, most),
			rapid.SampledFrom([]int64{math.MinInt64, 0, math.MaxInt64 - 1, math.MaxInt64}))
		values := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) countedValue {
			return countedValue{value.Draw(t, "value"), rapid.Uint64Range(1, 1000).Draw(t, "count")}
		}), 1, 50).Draw(t, "values")
		slices.SortFunc(values, func(a, b countedValue) int { return cmp.Compare(a.value, b.value) })
		calls, want := uint64(0), new(big.Int)
		least, greatest := values[0].value, values[len(values)-1].value
		add := func(sum *big.Int, value int64, count uint64) {
			sum.Add(sum, new(big.Int).Mul(big.NewInt(value), new(big.Int).SetUint64(count)))
		}
		for _, v := range values {
			calls += v.count
			add(want, v.value, v.count)
		}
		blocks := rapid.IntRange(1, 64).Draw(t, "blocks")
		sizes := blockSizes(calls, uint64(blocks))
		got, n := new(big.Int), uint64(0)
		for i, v := range integerBlocks(values, sizes, blocks) {
			if v < least || v > greatest {
				t.Fatalf("%d of values from %d to %d", v, least, greatest)
			}
			add(got, v, sizes[i])
			n += sizes[i]
		}
		if n != calls || got.Cmp(want) != 0 {
			t.Fatalf("%d calls that add up to %v, not %d and %v", n, got, calls, want)
		}
	})
}

// TestIntegerBlocksExtremes replaces the integers that are farthest apart.
func TestIntegerBlocksExtremes(t *testing.T) {
	sizes := blockSizes(4, 2)
	got := integerBlocks([]countedValue{{math.MinInt64, 2}, {math.MaxInt64, 2}}, sizes, 2)
	if want := []int64{math.MinInt64, math.MaxInt64, math.MaxInt64}; !slices.Equal(got, want) {
		t.Errorf("%v in blocks of %v, not %v", got, sizes, want)
	}
}

// TestFloatBlocks replaces floats by the means of blocks.
func TestFloatBlocks(t *testing.T) {
	bits := func(v float64) int64 { return int64(math.Float64bits(v)) }
	got := floatBlocks([]countedValue{{bits(-2), 1}, {bits(0), 1}, {bits(3), 2}}, []uint64{2, 1, 1})
	if want := []int64{bits(-1), bits(3), bits(3)}; !slices.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
}
