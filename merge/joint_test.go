package merge

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// TestUniteMany unites shapes of one rank and of several, more than become one at a time, that tell calls
// apart at different positions, and compares the calls of each rank.
func TestUniteMany(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const f = 7 // the function of all calls
		var (
			count  = rapid.SampledFrom([]int{2, 3, maxUnmerged, maxUnmerged + 1, 2*maxUnmerged + 2}).Draw(t, "shapes")
			length = rapid.IntRange(1, 8).Draw(t, "length")
			pairs  = rapid.IntRange(1, 4).Draw(t, "pairs") // each so many shapes, one of two or three ranks
			next   = rapid.Bool().Draw(t, "next to each other")
			apart  = rapid.IntRange(0, count/2+1).Draw(t, "apart")
			names  = rapid.SliceOfN(rapid.IntRange(0, 2), 3*length, 3*length).Draw(t, "names")

			shapes []*shape
			calls  = make(map[int][]int64)
			rank   = 0
		)
		for i := range count {
			ranks := []int{rank}
			rank++
			if next && i%pairs == 0 {
				ranks = append(ranks, rank, rank+1)
				rank += 2
			} else if i%pairs == 0 && i%2 == 0 {
				ranks = append(ranks, rank+1) // the one between is of the next shape
			} else if !next && i > 0 && (i-1)%pairs == 0 && (i-1)%2 == 0 {
				rank++
			}
			row := names[:length]
			if i > 0 && apart > 0 && i%apart == 0 {
				row = names[length*(1+i%2):][:length]
			}
			shapes = append(shapes, callsShape(f, ranks, row, calls))
		}
		united, ok := unite(shapes)
		if !ok && count >= length { // there are as many terminals as calls in a rank at most
			t.Fatalf("united %v", ok)
		}
		if !ok {
			return
		}
		if united.ranks.len() != len(calls) {
			t.Fatalf("%d ranks, want %d", united.ranks.len(), len(calls))
		}
		checkUnited(t, united, calls)
	})
}

// checkUnited compares the calls of each rank of a shape.
func checkUnited(t rapid.TB, united *shape, calls map[int][]int64) {
	united.ranks.each(func(position, rank int) {
		var got []int64
		for _, terminal := range united.grammar.All() {
			v := united.columns[terminal].values()
			got = append(got, v.at(position, rank))
		}
		if !slices.Equal(got, calls[rank]) {
			t.Fatalf("rank %d has %v, want %v", rank, got, calls[rank])
		}
	})
}

// callsShape returns a shape of ranks that call f with the numbers in names times 1,000, plus the square of
// their rank, and adds what each calls to calls.
func callsShape(f int, ranks, names []int, calls map[int][]int64) *shape {
	s := &shape{}
	var terminals []int // by name
	for _, n := range names {
		if !slices.Contains(terminals, n) {
			terminals = append(terminals, n)
		}
	}
	for _, n := range terminals {
		s.forms = append(s.forms, form{function: f, slots: 1})
		var c column
		for i, rank := range ranks {
			c.push(i, rank, int64(1000*n+rank*rank))
		}
		s.columns = append(s.columns, c)
	}
	var b sequitur.Builder
	for _, n := range names {
		b.Append(sequitur.Symbol(slices.Index(terminals, n)))
		for _, rank := range ranks {
			calls[rank] = append(calls[rank], int64(1000*n+rank*rank))
		}
	}
	s.grammar = b.Finish()
	for _, rank := range ranks {
		s.ranks = s.ranks.add(rank, rank)
	}
	return s
}

// TestFitter compares what columns are, of which some come again, with what each is by itself.
func TestFitter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "n")
		f := newFitter(&shape{ranks: spans{}.add(0, n-1)}, int64(n))
		known := []column{}
		for range rapid.IntRange(1, 12).Draw(t, "columns") {
			var c column
			if i := rapid.IntRange(0, 2*len(known)+1).Draw(t, "known"); i < len(known) {
				c = known[i].clone()
			} else {
				step, rim := rapid.IntRange(-2, 2).Draw(t, "step"), rapid.IntRange(-1, n).Draw(t, "rim")
				for rank := range n {
					v := int64(rank + step)
					if rank == rim {
						v = int64(rapid.IntRange(-2, 1).Draw(t, "at rim"))
					}
					c.push(rank, rank, v)
				}
				known = append(known, c)
			}
			kind := rapid.SampledFrom([]layout.SlotKind{layout.Rank, layout.Number}).Draw(t, "kind")
			got, ok := f.fit(&c, kind, new(yield))
			want, wantOK := rankenc.Fit(f.list, c.appendValues(nil, f.ranks), f.size,
				rankenc.Options{Ranks: kind == layout.Rank})
			if ok != wantOK || got != want {
				t.Fatalf("%v is %v, %v, want %v, %v", c, got, ok, want, wantOK)
			}
		}
	})
}

// TestUniteLevels unites shapes that tell so much apart that they are united in levels, and of which the last
// ones are not enough for a level of their own.
func TestUniteLevels(t *testing.T) {
	const calls = 120
	row := func(name func(i int) int) []int {
		list := make([]int, calls)
		for i := range list {
			list[i] = name(i)
		}
		return list
	}
	of := make(map[int][]int64)
	shapes := []*shape{
		callsShape(7, []int{0}, row(func(int) int { return 0 }), of),
		callsShape(7, []int{1}, row(func(i int) int { return i % 9 }), of),
	}
	for k := range 14 {
		shapes = append(shapes, callsShape(7, []int{2 + k}, row(func(i int) int {
			if i == 100+k {
				return (i + 1) % 10
			}
			return i % 10
		}), of))
	}
	united, ok := unite(shapes)
	if !ok {
		t.Fatal("not united")
	}
	checkUnited(t, united, of)
}
