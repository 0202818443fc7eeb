package merge

import (
	"math"
	"slices"
	"testing"

	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/sequitur"
)

// A drawnColumn is a column with the values that were pushed.
type drawnColumn struct {
	column column
	ranks  spans
	values []int64
}

func (c *drawnColumn) push(rank int, value int64) {
	c.column.push(c.ranks.len(), rank, value)
	c.ranks = c.ranks.add(rank, rank)
	c.values = append(c.values, value)
}

func (c *drawnColumn) shape() *shape {
	return &shape{grammar: &sequitur.Grammar{}, ranks: slices.Clone(c.ranks), columns: []column{c.column.clone()}}
}

// drawColumns draws a column and two that hold its values, those of the lower
// ranks and of the higher ones with few exceptions: most of them on lines, with
// gaps between the ranks.
func drawColumns(t *rapid.T) (all, low, high *drawnColumn) {
	all, low, high = new(drawnColumn), new(drawnColumn), new(drawnColumn)
	n := rapid.IntRange(1, 40).Draw(t, "n")
	slope := rapid.SampledFrom([]int64{0, 1, 3, 1 << 40, 1 << 61, math.MaxInt64 / 2, 1<<62 + 1, math.MaxInt64,
		math.MinInt64}).Draw(t, "slope")
	first := rapid.SampledFrom([]int64{0, -1, math.MinInt64, math.MaxInt64 - 5}).Draw(t, "first")
	kinds := rapid.IntRange(1, 30).Draw(t, "kinds")
	rank := -1
	for i := range n {
		if rank++; rapid.IntRange(0, 3).Draw(t, "gap") == 0 {
			rank += rapid.IntRange(1, 4).Draw(t, "length of the gap")
		}
		value := first + slope*int64(rank)
		switch rapid.IntRange(0, kinds).Draw(t, "kind") {
		case 1:
			value = rapid.Int64Range(-2, 6).Draw(t, "small")
		case 2:
			value = rapid.Int64().Draw(t, "large")
		case 3:
			first = rapid.Int64().Draw(t, "first")
		}
		part := low
		if i >= n/2 {
			part = high
		}
		if rapid.IntRange(0, 9).Draw(t, "elsewhere") == 0 {
			part = rapid.SampledFrom([]*drawnColumn{low, high}).Draw(t, "part")
		}
		all.push(rank, value)
		part.push(rank, value)
	}
	return all, low, high
}

// TestColumns compares columns of values that are split and joined again with
// what push makes of all of them.
func TestColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, low, high := drawColumns(t)
		for _, c := range []*drawnColumn{all, low, high} {
			if got := c.column.appendValues(nil, c.ranks); !slices.Equal(got, c.values) {
				t.Fatalf("%v, want %v", got, c.values)
			}
		}
		if len(low.values) == 0 || len(high.values) == 0 {
			return
		}
		for _, pair := range [][2]*shape{{low.shape(), high.shape()}, {high.shape(), low.shape()}} {
			s := pair[0].merge(pair[1])
			if !s.columns[0].equal(&all.column) || !slices.Equal(s.ranks, all.ranks) {
				t.Fatalf("%v of %v, want %v of %v", s.columns[0], s.ranks, all.column, all.ranks)
			}
		}
	})
}

// TestColumnRuns gives the runs of a few columns.
func TestColumnRuns(t *testing.T) {
	tests := []struct {
		name   string
		ranks  []int
		values []int64
		want   []run
	}{
		{"Constant", []int{0, 1, 5, 9}, []int64{7, 7, 7, 7}, []run{{0, 0, 7, 0}}},
		{"Line", []int{2, 3, 6}, []int64{4, 6, 12}, []run{{0, 2, 4, 2}}},
		{"NoLine", []int{2, 4, 6}, []int64{4, 5, 6}, []run{{0, 2, 4, 0}, {1, 4, 5, 0}, {2, 6, 6, 0}}},
		{"LineThenLine", []int{0, 1, 2, 3, 4}, []int64{0, 1, 2, 9, 8}, []run{{0, 0, 0, 1}, {3, 3, 9, -1}}},
		{"FarApart", []int{0, 2}, []int64{math.MinInt64, math.MaxInt64 - 1},
			[]run{{0, 0, math.MinInt64, math.MaxInt64}}},
		{"FarDown", []int{0, 1, 2}, []int64{math.MaxInt64, -1, math.MinInt64},
			[]run{{0, 0, math.MaxInt64, math.MinInt64}, {2, 2, math.MinInt64, 0}}},
		// Values that wrap around are on no line: what is left of it would not be the same line.
		{"TooFarApart", []int{0, 1}, []int64{math.MinInt64, math.MaxInt64},
			[]run{{0, 0, math.MinInt64, 0}, {1, 1, math.MaxInt64, 0}}},
		{"WrapsAround", []int{0, 1, 2}, []int64{0, 1 << 62, math.MinInt64},
			[]run{{0, 0, 0, 1 << 62}, {2, 2, math.MinInt64, 0}}},
		{"WrapsAroundBelow", []int{0, 1, 2}, []int64{-2, math.MinInt64 + 1, 4},
			[]run{{0, 0, -2, math.MinInt64 + 3}, {2, 2, 4, 0}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var c drawnColumn
			for i, rank := range tt.ranks {
				c.push(rank, tt.values[i])
			}
			var runs []run
			for r := range c.column.runs(len(tt.ranks)) {
				runs = append(runs, r)
			}
			if !slices.Equal(runs, tt.want) {
				t.Errorf("runs %v, want %v", runs, tt.want)
			}
		})
	}
}

// TestReplace compares a column of replaced values with the values one by one.
func TestReplace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c, want drawnColumn
		to := rapid.SliceOfN(rapid.Int64Range(0, 5), 6, 6).Draw(t, "to")
		for rank := range rapid.IntRange(1, 20).Draw(t, "n") {
			v := rapid.Int64Range(0, 5).Draw(t, "v")
			c.push(2*rank, v)
			want.push(2*rank, to[v])
		}
		if got := c.column.replace(to, c.ranks); !got.equal(&want.column) {
			t.Fatalf("%v, want %v", got, want.column)
		}
	})
}
