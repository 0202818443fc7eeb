package merge

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/rankenc"
)

// drawSpans deals the ranks below some number to n sets of spans, and to nobody.
func drawSpans(t *rapid.T, n int) []spans {
	sets := make([]spans, n)
	owner := 0
	for rank := range rapid.IntRange(1, 60).Draw(t, "ranks") {
		if rapid.IntRange(0, 2).Draw(t, "change") == 0 {
			owner = rapid.IntRange(0, n).Draw(t, "owner")
		}
		if owner < n {
			sets[owner] = sets[owner].add(rank, rank)
		}
	}
	return sets
}

// ranks lists the ranks of s, and checks what s says of them.
func ranksOf(t *rapid.T, s spans) []int {
	var list []int
	s.each(func(position, rank int) {
		if position != len(list) || s.at(position) != rank {
			t.Fatalf("rank %d of %v is at %d, where %d is", rank, s, position, s.at(position))
		}
		list = append(list, rank)
	})
	last := -1
	if len(list) > 0 {
		last = list[len(list)-1]
	}
	if s.len() != len(list) || s.last() != last {
		t.Fatalf("%v has %d ranks up to %d, want %d up to %d", s, s.len(), s.last(), len(list), last)
	}
	for i := 1; i < len(s); i++ {
		if s[i].first <= s[i-1].last+1 {
			t.Fatalf("%v are not as long as they can be", s)
		}
	}
	set := s.set()
	for i, rank := range set.All() {
		if int(rank) != list[i] {
			t.Fatalf("%v as a set is %v", s, set)
		}
	}
	return list
}

func TestUnion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sets := drawSpans(t, 3)
		var want []int
		for _, s := range sets {
			want = append(want, ranksOf(t, s)...)
		}
		slices.Sort(want)
		all, twice := unionOf(sets)
		if twice >= 0 || !slices.Equal(ranksOf(t, all), want) {
			t.Fatalf("union %v, %d, want %v", all, twice, want)
		}
		two, ok := slices.Clone(sets[0]).union(sets[1])
		if !ok {
			t.Fatalf("%v and %v are not disjoint", sets[0], sets[1])
		}
		three, ok := two.union(sets[2])
		if !ok || !slices.Equal(three, all) {
			t.Fatalf("union %v, want %v", three, all)
		}
	})
}

// TestUnionTwice finds the first rank that two sets of spans share.
func TestUnionTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sets := drawSpans(t, 2)
		shared := rapid.IntRange(0, 60).Draw(t, "shared")
		want := -1
		for i, s := range sets {
			list := ranksOf(t, s)
			if !slices.Contains(list, shared) {
				list = append(list, shared)
				slices.Sort(list)
			}
			sets[i] = nil
			for _, rank := range list {
				sets[i] = sets[i].add(rank, rank)
			}
		}
		want = shared
		if _, got := interleave(sets[0], sets[1]); got != want {
			t.Fatalf("%v and %v share %d, want %d", sets[0], sets[1], got, want)
		}
		if _, ok := slices.Clone(sets[0]).union(sets[1]); ok {
			t.Fatalf("%v and %v are disjoint", sets[0], sets[1])
		}
		if _, got := unionOf(sets); got != want {
			t.Fatalf("%v share %d, want %d", sets, got, want)
		}
	})
}

// TestDomain checks where a domain has the ranks of its shapes: in order if these
// are all ranks, and shape by shape otherwise.
func TestDomain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sets []rankenc.Set
		size := 0
		for _, s := range drawSpans(t, rapid.IntRange(1, 4).Draw(t, "shapes")) {
			if s.len() > 0 {
				sets, size = append(sets, s.set()), max(size, s.last()+1)
			}
		}
		d := layout.NewDomain(sets, size)
		columns := d.Columns()
		if columns.Ranks.Len() != d.Len() || columns.Size != size {
			t.Fatalf("%d ranks of %d, want %d of %d", columns.Ranks.Len(), columns.Size, d.Len(), size)
		}
		next := 0
		for k, s := range sets {
			for i, rank := range s.All() {
				at := d.Position(k, i, int(rank))
				if columns.Ranks.At(at) != rank {
					t.Fatalf("rank %d is at %d, where %d is", rank, at, columns.Ranks.At(at))
				}
				if world := d.Len() == size; world && at != int(rank) || !world && at != next {
					t.Fatalf("rank %d is at %d", rank, at)
				}
				next++
			}
		}
	})
}
