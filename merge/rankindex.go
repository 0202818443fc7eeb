package merge

import (
	"sort"

	"github.com/reprise-trace/reprise/rankenc"
)

// A rankIndex finds the shape of a rank.
type rankIndex struct {
	sets      []rankenc.Set
	intervals []interval // the sets that are consecutive ranks, in ascending order
	others    []int      // the numbers of the other sets
}

// An interval is the ranks of a shape.
type interval struct{ first, last, shape int }

func newRankIndex(sets []rankenc.Set) rankIndex {
	x := rankIndex{sets: sets}
	for i, s := range sets {
		first, last := int(s.At(0)), int(s.At(s.Len()-1))
		if last-first+1 == s.Len() {
			x.intervals = append(x.intervals, interval{first, last, i})
		} else {
			x.others = append(x.others, i)
		}
	}
	return x
}

// find returns the number of the shape of a rank, and whether it has one. Where
// sets have ranks in common, which takes a file that contradicts itself, it is
// one of them.
func (x *rankIndex) find(rank int) (shape int, ok bool) {
	i := sort.Search(len(x.intervals), func(i int) bool { return x.intervals[i].first > rank }) - 1
	if i >= 0 && rank <= x.intervals[i].last {
		return x.intervals[i].shape, true
	}
	for _, i := range x.others {
		if x.sets[i].Contains(rank) {
			return i, true
		}
	}
	return 0, false
}

// next returns the first rank of any shape from the given one on.
func (x *rankIndex) next(from int) (rank int, ok bool) {
	if _, ok := x.find(from); ok {
		return from, true
	}
	i := sort.Search(len(x.intervals), func(i int) bool { return x.intervals[i].first > from })
	if i < len(x.intervals) {
		rank, ok = x.intervals[i].first, true
	}
	for _, i := range x.others {
		s := x.sets[i]
		if k, _ := s.Index(from); k < s.Len() {
			if r := int(s.At(k)); !ok || r < rank {
				rank, ok = r, true
			}
		}
	}
	return rank, ok
}
