package rankenc

import (
	"bytes"
	"fmt"
	"iter"
	"math"
	"slices"
	"sort"
	"strconv"

	"github.com/RoaringBitmap/roaring/v2"
)

// A Set is an immutable set of ranks, from 0 to [MaxRank]. The zero Set is
// empty. Its methods may be called from several goroutines at once.
//
// A regular set, however large, is a few items; an irregular one that is
// smaller that way is a bitmap.
type Set struct {
	items  []item // ascending, not interleaved; nil if bitmap is not
	before []int  // number of ranks in the items before each
	bitmap *roaring.Bitmap
	n      int
}

// newSet returns the set of items that a SetBuilder made or would make.
func newSet(items []item) Set {
	var list itemList
	list.add(items)
	s := setOfItems(items)
	if list.tryBitmap() {
		if b := list.smallerBitmap(s.Ranges()); b != nil {
			return Set{bitmap: b, n: s.n}
		}
	}
	return s
}

// setOfItems returns the set of items, which are not tried as a bitmap.
func setOfItems(items []item) Set {
	s := Set{items: items, before: make([]int, len(items))}
	for i := range items {
		s.before[i] = s.n
		s.n += items[i].size()
	}
	return s
}

// SetOf returns the set of ranks, which may come in any order and repeatedly. It
// panics if one is not in 0 … [MaxRank].
func SetOf(ranks ...int) Set {
	var b SetBuilder
	for _, r := range ranks {
		b.Add(r)
	}
	return b.Finish()
}

// World returns the set of the ranks of a group of size processes, 0 to
// size−1. A size outside 0 … [MaxRank]+1 counts as the nearer end of that range.
func World(size int) Set {
	size = min(max(size, 0), MaxRank+1)
	if size == 0 {
		return Set{}
	}
	return newSet([]item{{length: uint32(size)}})
}

// Runs returns the number of runs of consecutive ranks in the items of s: none if it is a bitmap, which takes
// as much memory as it has.
func (s Set) Runs() int {
	n := 0
	for i := range s.items {
		n += s.items[i].runs()
	}
	return n
}

// Len returns the number of ranks in s.
func (s Set) Len() int { return s.n }

// At returns the i-th rank of s in ascending order, 0 ≤ i < s.Len(). It takes
// time logarithmic in the number of items.
func (s Set) At(i int) int {
	if i < 0 || i >= s.n {
		panic(fmt.Sprintf("rankenc: rank number %d of %d", i, s.n))
	}
	if s.bitmap != nil {
		r, err := s.bitmap.Select(uint32(i))
		if err != nil {
			panic(err) // the cardinality is s.n
		}
		return int(r)
	}
	k := sort.SearchInts(s.before, i+1) - 1
	return s.items[k].at(i - s.before[k])
}

// Index returns the number of ranks of s below rank, which is the position of
// rank in s if s contains it, and whether it does.
func (s Set) Index(rank int) (int, bool) {
	switch {
	case rank < 0:
		return 0, false
	case rank > MaxRank:
		return s.n, false
	case s.bitmap != nil:
		n, ok := int(s.bitmap.Rank(uint32(rank))), s.bitmap.Contains(uint32(rank))
		if ok {
			n--
		}
		return n, ok
	}
	k := sort.Search(len(s.items), func(k int) bool { return int(s.items[k].start) > rank }) - 1
	if k < 0 {
		return 0, false
	}
	n, ok := s.items[k].locate(rank - int(s.items[k].start))
	return s.before[k] + n, ok
}

// Contains reports whether rank is in s.
func (s Set) Contains(rank int) bool {
	_, ok := s.Index(rank)
	return ok
}

// Ranges returns an iterator over the runs of consecutive ranks in s, as first
// and last rank, in ascending order.
func (s Set) Ranges() iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		if s.bitmap != nil {
			for lo, end := range s.bitmap.Ranges() {
				if !yield(int(lo), int(end)-1) {
					return
				}
			}
			return
		}
		for i := range s.items {
			if !s.items[i].ranges(yield) {
				return
			}
		}
	}
}

// All returns an iterator over the positions and ranks of s, in ascending order.
func (s Set) All() iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		i := 0
		for lo, hi := range s.Ranges() {
			for r := lo; r <= hi; r++ {
				if !yield(i, r) {
					return
				}
				i++
			}
		}
	}
}

// Equal reports whether s and t have the same ranks. It takes time in
// proportion to their items.
func (s Set) Equal(t Set) bool {
	if s.bitmap != nil && t.bitmap != nil {
		return s.bitmap.Equals(t.bitmap)
	}
	return s.bitmap == nil && t.bitmap == nil && slices.Equal(s.items, t.items)
}

// Union returns the set of the ranks that are in s or in any of others. It takes time
// in proportion to their runs of consecutive ranks, as [Set.Intersection] and
// [Set.Difference] do. It halves a long list, so that large sets are united seldom.
func (s Set) Union(others ...Set) Set {
	switch n := len(others); {
	case n > 1:
		return s.Union(others[:n/2]...).Union(Set{}.Union(others[n/2:]...))
	case n == 0 || others[0].n == 0:
		return s
	case s.n == 0:
		return others[0]
	}
	return s.unite(others[0])
}

// Intersection returns the set of the ranks that are in s and in t.
func (s Set) Intersection(t Set) Set { return s.combine(t, false, true, false) }

// Difference returns the set of the ranks that are in s and not in t.
func (s Set) Difference(t Set) Set { return s.combine(t, true, false, false) }

// String returns the ranks as text, such as "0-15, 20, 32-62:2", where "a-b:c"
// is every c-th rank from a to b and "(x)+c×k" stands for k copies of x at
// distance c.
func (s Set) String() string { return string(s.appendText(nil, math.MaxInt)) }

// Abbreviated returns what String does, cut off behind the last comma of its first bytes, with "…" there, if
// it is longer than most bytes. It takes memory and time for what it returns.
func (s Set) Abbreviated(most int) string {
	most = max(most, 0)
	text := s.appendText(nil, most)
	if len(text) <= most {
		return string(text)
	}
	if end := bytes.LastIndex(text[:most], []byte(", ")); end >= 0 {
		most = end + len(", ")
	}
	return string(text[:most]) + "…"
}

// MarshalText returns what String does.
func (s Set) MarshalText() ([]byte, error) { return s.appendText([]byte{}, math.MaxInt), nil }

// appendText appends the ranks as text, item by item, until there are more than most bytes.
func (s Set) appendText(dst []byte, most int) []byte {
	for it := range s.allItems() {
		if len(dst) > most {
			break
		}
		if len(dst) > 0 {
			dst = append(dst, ", "...)
		}
		dst = it.appendText(dst)
	}
	return dst
}

// allItems returns an iterator over the items of s: over its runs of consecutive ranks if it is a bitmap.
func (s Set) allItems() iter.Seq[*item] {
	return func(yield func(*item) bool) {
		if s.bitmap != nil {
			for lo, hi := range s.Ranges() {
				if !yield(&item{start: uint32(lo), length: uint32(hi - lo + 1)}) {
					return
				}
			}
		}
		for i := range s.items {
			if !yield(&s.items[i]) {
				return
			}
		}
	}
}

// UnmarshalText reads what MarshalText writes, the empty set too.
func (s *Set) UnmarshalText(text []byte) (err error) {
	*s = Set{}
	if len(text) > 0 {
		*s, err = SetOfText(string(text), MaxRank+1)
	}
	return err
}

func (it *item) String() string { return string(it.appendText(nil)) }

func (it *item) appendText(dst []byte) []byte {
	begin := len(dst)
	dst = strconv.AppendUint(dst, uint64(it.start), 10)
	if it.length > 1 {
		dst = appendTo(dst, '-', it.start+it.length-1)
	}
	for k, d := range it.dims[:it.depth] {
		if k == 0 && it.length == 1 {
			dst = appendTo(appendTo(dst, '-', it.start+d.stride*(d.count-1)), ':', d.stride)
			continue
		}
		dst = slices.Insert(dst, begin, '(')
		dst = appendTo(append(dst, ')'), '+', d.stride)
		dst = strconv.AppendUint(append(dst, "×"...), uint64(d.count), 10)
	}
	return dst
}

func appendTo(dst []byte, sign byte, n uint32) []byte {
	return strconv.AppendUint(append(dst, sign), uint64(n), 10)
}
