package layout

import (
	"bytes"
	"cmp"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
)

// clocksOf draws clocks of so many ranks, of machines with names of one letter.
func clocksOf(t *rapid.T, ranks int) []Clock {
	of := make(map[string][]int)
	for rank := range ranks {
		if m := rapid.SampledFrom([]string{"", "a", "b", "c", "d"}).Draw(t, "machine"); m != "" {
			of[m] = append(of[m], rank)
		}
	}
	var list []Clock
	for m, ranks := range of {
		list = append(list, Clock{Machine: m, Ranks: rankenc.SetOf(ranks...), Error: -1})
	}
	list = ClocksOf(list, rankenc.World(ranks))
	for i := range list {
		if rapid.Bool().Draw(t, "aligned") {
			list[i].Alignment = timing.Alignment{
				Offset: rapid.Int64().Draw(t, "offset"), Rate: rapid.Int64Range(-timing.MaxRate, timing.MaxRate).Draw(t, "rate"), Since: rapid.Int64().Draw(t, "since"),
			}
			list[i].Error = rapid.Int64Range(0, math.MaxInt64-1).Draw(t, "error")
			for _, since := range rapid.SliceOfNDistinct(rapid.Int64Range(math.MinInt64+1, math.MaxInt64), 0, 3, rapid.ID).Draw(t, "later") {
				list[i].Later = append(list[i].Later, timing.Alignment{Offset: rapid.Int64().Draw(t, "offset"), Since: since})
			}
			slices.SortFunc(list[i].Later, func(a, b timing.Alignment) int { return cmp.Compare(a.Since, b.Since) })
			list[i].Contradicted = rapid.Bool().Draw(t, "contradicted")
		}
		readings := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Reading {
			return Reading{rapid.Int64().Draw(t, "time"), rapid.Int64().Draw(t, "offset"), rapid.Int64Range(0, math.MaxInt64).Draw(t, "error")}
		}), 0, 3).Draw(t, "readings")
		if len(readings) > 0 {
			list[i].Readings = mergeReadings(readings, nil)
		}
	}
	return list
}

// TestClocks checks that clocks are read as they were written, and that those of parts of them make them again, in whatever
// order they come.
func TestClocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const ranks = 9
		list := clocksOf(t, ranks)
		if len(list) == 0 {
			return
		}
		if got, err := parseClocks(AppendClocks(nil, list)); err != nil || !reflect.DeepEqual(got, list) {
			t.Fatalf("%+v, %v, want %+v", got, err, list)
		}
		if err := CheckClocks(list, ranks); err != nil {
			t.Fatal(err)
		}
		var parts []Clock
		for _, c := range list {
			for _, rank := range c.Ranks.All() {
				part := c
				part.Ranks = rankenc.SetOf(rank)
				parts = append(parts, part)
			}
		}
		var merged []Clock
		for _, part := range rapid.Permutation(parts).Draw(t, "parts") {
			merged = MergeClocks(merged, []Clock{part})
		}
		if got := ClocksOf(merged, rankenc.World(ranks)); !bytes.Equal(AppendClocks(nil, got), AppendClocks(nil, list)) {
			t.Fatalf("%+v, want %+v", got, list)
		}
	})
}

// TestMergeAlignments checks that of two alignments of a clock the better counts, in either order.
func TestMergeAlignments(t *testing.T) {
	clock := func(rank int, offset, off int64) Clock {
		return Clock{Machine: "a", Ranks: rankenc.SetOf(rank), Alignment: timing.Alignment{Offset: offset}, Error: off}
	}
	for _, list := range [][]Clock{{clock(0, 0, -1), clock(1, 7, 3)}, {clock(0, 8, 9), clock(1, 7, 3)}, {clock(0, 8, 3), clock(1, 7, 3)}} {
		a, b := MergeClocks(nil, list), MergeClocks(nil, []Clock{list[1], list[0]})
		if len(a) != 1 || a[0].Offset != 7 || a[0].Ranks.Len() != 2 || !reflect.DeepEqual(a, b) {
			t.Errorf("%+v and %+v", a, b)
		}
	}
}

// TestMergeReadings checks that the first and the last of all readings of a machine are left, in whatever order its parts are merged.
func TestMergeReadings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var parts []Clock
		var all []Reading
		for rank := range rapid.IntRange(1, 6).Draw(t, "parts") {
			own := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Reading {
				return Reading{Time: rapid.Int64Range(0, 9).Draw(t, "time"), Offset: rapid.Int64Range(0, 2).Draw(t, "offset"), Error: rapid.Int64Range(0, 2).Draw(t, "error")}
			}), 0, 2).Draw(t, "readings")
			all = append(all, own...)
			parts = append(parts, Clock{Machine: "a", Ranks: rankenc.SetOf(rank), Error: -1, Readings: mergeReadings(own, nil)})
		}
		var merged []Clock
		for _, p := range rapid.Permutation(parts).Draw(t, "order") {
			merged = MergeClocks(merged, []Clock{p})
		}
		var want []Reading
		if len(all) > 0 {
			want = []Reading{slices.MinFunc(all, Reading.compare), slices.MaxFunc(all, Reading.compare)}
		}
		if want = slices.Compact(want); !slices.Equal(merged[0].Readings, want) {
			t.Fatalf("%+v, want %+v", merged[0].Readings, want)
		}
	})
}

// FuzzClocks checks that what is accepted is sound and encoded as it was, if by the shortest numbers.
func FuzzClocks(f *testing.F) {
	f.Add([]byte("\x01\x00"))
	f.Add(AppendClocks(nil, []Clock{
		{Machine: "a", Ranks: rankenc.SetOf(0, 2), Readings: []Reading{{1, -2, 3}, {math.MaxInt64, math.MinInt64, math.MaxInt64}}},
		{Machine: "b", Ranks: rankenc.SetOf(1, 3), Alignment: timing.Alignment{Offset: math.MinInt64, Rate: -timing.MaxRate, Since: math.MaxInt64}, Error: math.MaxInt64 - 1},
		{Machine: "d", Ranks: rankenc.SetOf(4), Later: []timing.Alignment{{Offset: 1, Since: math.MinInt64 + 1}, {Rate: 3, Since: math.MaxInt64}}},
		{Machine: "c", Ranks: rankenc.SetOf(MaxRanks - 1), Error: -1},
	}))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := parseClocks(data)
		if err != nil || CheckClocks(list, MaxRanks) != nil {
			return
		}
		if got := AppendClocks(nil, list); !bytes.Equal(got, data) && len(got) >= len(data) {
			t.Fatalf("%x of %x", got, data)
		}
		if merged := ClocksOf(MergeClocks(MergeClocks(nil, list), list), rankenc.World(MaxRanks)); len(merged) != len(list) {
			t.Fatalf("%+v merged with itself is %+v", list, merged)
		}
	})
}
