package merge

import (
	"cmp"
	"slices"
	"sort"

	"github.com/reprise-trace/reprise/rankenc"
)

// Spans are ranks as runs of consecutive ones, ascending, as long as they can
// be.
type spans []span

// A span is the ranks from first on, up to the next gap.
type span struct {
	first, last int32
	position    int32 // number of ranks before
}

// len returns the number of ranks.
func (s spans) len() int {
	if len(s) == 0 {
		return 0
	}
	return s[len(s)-1].end()
}

// end returns the number of ranks before the end of the span.
func (s span) end() int { return int(s.position) + int(s.last-s.first) + 1 }

// last returns the last rank, or −1 if there is none.
func (s spans) last() int {
	if len(s) == 0 {
		return -1
	}
	return int(s[len(s)-1].last)
}

// at returns the rank at a position.
func (s spans) at(position int) int {
	i := sort.Search(len(s), func(i int) bool { return int(s[i].position) > position }) - 1
	return int(s[i].first) + position - int(s[i].position)
}

// contains reports whether rank is one of s.
func (s spans) contains(rank int) bool {
	i := sort.Search(len(s), func(i int) bool { return int(s[i].first) > rank }) - 1
	return i >= 0 && rank <= int(s[i].last)
}

// add returns s with the ranks from first to last, which lie above all others.
func (s spans) add(first, last int) spans {
	if n := len(s); n > 0 && int(s[n-1].last)+1 == first {
		s[n-1].last = int32(last)
		return s
	}
	return append(s, span{int32(first), int32(last), int32(s.len())})
}

// each calls f for each rank, with its position.
func (s spans) each(f func(position, rank int)) {
	for _, p := range s {
		for r := p.first; ; r++ {
			f(int(p.position+r-p.first), int(r))
			if r == p.last {
				break
			}
		}
	}
}

// set returns the ranks as a set.
func (s spans) set() rankenc.Set {
	var b rankenc.SetBuilder
	for _, p := range s {
		b.AddRange(int(p.first), int(p.last))
	}
	return b.Finish()
}

// A piece is consecutive ranks that come from one of two shapes.
type piece struct {
	second      bool
	position    int // in that shape
	first, last int
}

// interleave returns the ranks of s and t in ascending order, and the first
// rank that is in both, or −1.
func interleave(s, t spans) (pieces []piece, twice int) {
	add := func(second bool, p span, first, last int) {
		pieces = append(pieces, piece{second, int(p.position) + first - int(p.first), first, last})
	}
	next := 0 // no rank below it is still to come
	for len(s) > 0 || len(t) > 0 {
		second := len(s) == 0 || len(t) > 0 && max(int(t[0].first), next) < max(int(s[0].first), next)
		mine, other := &s, &t
		if second {
			mine, other = other, mine
		}
		p := (*mine)[0]
		first, last := max(int(p.first), next), int(p.last)
		if len(*other) > 0 {
			o := max(int((*other)[0].first), next)
			if o == first {
				return nil, first
			}
			last = min(last, o-1)
		}
		add(second, p, first, last)
		if next = last + 1; last == int(p.last) {
			*mine = (*mine)[1:]
		}
	}
	return pieces, -1
}

// union returns the ranks of s and t, of which none is in both, and whether
// that holds. It may use the memory of s, but not that of t.
func (s spans) union(t spans) (union spans, disjoint bool) {
	if len(s) > 0 && len(t) > 0 && s.last() < int(t[0].first) {
		union = slices.Grow(s, len(t))
		for _, p := range t {
			union = union.add(int(p.first), int(p.last))
		}
		return union, true
	}
	pieces, twice := interleave(s, t)
	if twice >= 0 {
		return nil, false
	}
	for _, p := range pieces {
		union = union.add(p.first, p.last)
	}
	return union, true
}

// unionOf returns the ranks of all of list, and the first that is twice in them,
// or −1. It takes time in proportion to the spans, and to sort them.
func unionOf(list []spans) (union spans, twice int) {
	for _, s := range list {
		union = append(union, s...)
	}
	slices.SortFunc(union, func(p, q span) int { return cmp.Compare(p.first, q.first) })
	all := union
	union = union[:0] // is never longer than what was read of all
	last := int32(-1)
	for _, p := range all {
		if p.first <= last {
			return nil, int(p.first)
		}
		last = p.last
		union = union.add(int(p.first), int(p.last))
	}
	return union, -1
}
