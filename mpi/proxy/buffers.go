package proxy

import (
	"cmp"
	"slices"

	"github.com/reprise-trace/reprise/cst"
)

// Buffers are the memory that a program has: by segments of the trace, in ascending order. A segment of which
// places are used that are far from each other is several, as its id may stand for other memory later on.
type buffers []buffer

// A buffer stands for a segment from a displacement to another.
type buffer struct{ segment, first, last int64 }

// farthest is the largest displacement in a window that is taken for one, and that of an address in a buffer.
const farthest = 1 << 30

// compareBuffer compares where a buffer begins with an address.
func compareBuffer(b buffer, p cst.Pointer) int {
	return cmp.Or(cmp.Compare(b.segment, p.Segment), cmp.Compare(b.first, p.Displacement))
}

// continues reports whether a buffer is one with that before it.
func (b buffer) continues(before buffer) bool {
	return b.segment == before.segment && uint64(b.first)-uint64(before.last) <= farthest
}

// add adds an address.
func (l *buffers) add(p cst.Pointer) {
	i, found := slices.BinarySearchFunc(*l, p, compareBuffer)
	if found || i > 0 && (*l)[i-1].segment == p.Segment && p.Displacement <= (*l)[i-1].last {
		return
	}
	*l = slices.Insert(*l, i, buffer{p.Segment, p.Displacement, p.Displacement})
	for k := min(i+1, len(*l)-1); k >= max(i, 1); k-- {
		if b := (*l)[k]; b.continues((*l)[k-1]) {
			(*l)[k-1].last = b.last
			*l = slices.Delete(*l, k, k+1)
		}
	}
}

// place returns the number of the buffer that an address is in.
func (l buffers) place(p cst.Pointer) int64 {
	i, found := slices.BinarySearchFunc(l, p, compareBuffer)
	if !found {
		i--
	}
	return int64(i)
}

// displacement returns how far an address is from its buffer: from the beginning of the segment or, where all
// addresses are far from that, of the page that the first of them is in; false if they are too far from each
// other.
func (l buffers) displacement(p cst.Pointer) (int64, bool) {
	const page = 1 << 12
	b := l[l.place(p)]
	switch {
	case b.first >= -farthest && b.last <= farthest:
		return p.Displacement, true
	case uint64(b.last)-uint64(b.first) > farthest-page:
		return 0, false
	}
	return p.Displacement - b.first&^(page-1), true
}
