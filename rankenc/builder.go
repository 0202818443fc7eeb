package rankenc

import (
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
)

// A SetBuilder makes a [Set] of ranks. The zero SetBuilder is empty and ready for
// use. For ranks that ascend it holds memory in proportion to the items of the
// nested ranklist, not to their number, and for ranks that come after a larger one
// a bitmap.
type SetBuilder struct {
	next    int // one more than the largest rank
	pending [maxDepth + 1]item
	items   []item
	late    *roaring.Bitmap // ranks that came after a larger one; nil if there are none
}

// A pending item of level 0 is a run of consecutive ranks that may still grow;
// one of level k > 0 is a block of k−1 dimensions, or the repetition of one,
// that may be repeated once more. Length 0 means none. A block that can no
// longer grow moves one level up. That is greedy, in one pass, and makes the
// list of items a function of the set; see item.canonical for the check.

// Add adds rank. It panics if that is not in 0 … [MaxRank].
func (b *SetBuilder) Add(rank int) { b.AddRange(rank, rank) }

// AddRange adds the ranks from lo to hi, if lo ≤ hi. It panics if they are not in
// 0 … [MaxRank]. If they are larger than all before, it takes amortized constant
// time.
func (b *SetBuilder) AddRange(lo, hi int) {
	if lo < 0 || hi > MaxRank {
		panic(fmt.Sprintf("rankenc: ranks %d to %d", lo, hi))
	}
	if lo < b.next && lo <= hi {
		if b.late == nil {
			b.late = roaring.New()
		}
		b.late.AddRange(uint64(lo), uint64(min(hi+1, b.next)))
		lo = b.next
	}
	if hi < lo {
		return
	}
	if p := &b.pending[0]; p.length > 0 && lo == b.next {
		p.length += uint32(hi - lo + 1)
	} else {
		b.push(0)
		*p = item{start: uint32(lo), length: uint32(hi - lo + 1)}
	}
	b.next = hi + 1
}

// push moves the pending item of level k up, and those in its way first.
func (b *SetBuilder) push(k int) {
	it := b.pending[k]
	if it.length == 0 {
		return
	}
	b.pending[k] = item{}
	if k == maxDepth {
		b.items = append(b.items, it)
		return
	}
	p := &b.pending[k+1]
	switch {
	case p.length > 0 && p.joins(&it, k) && p.depth == k:
		p.depth, p.dims[k] = k+1, dim{it.start - p.start, 2}
	case p.length > 0 && p.joins(&it, k):
		p.dims[k].count++
	default:
		b.push(k + 1)
		*p = it
	}
}

// Finish returns the set of the ranks added so far and leaves b empty.
func (b *SetBuilder) Finish() Set {
	for k := range b.pending {
		b.push(k)
	}
	s, late := newSet(b.items), b.late
	*b = SetBuilder{}
	if late == nil {
		return s
	}
	return s.Union(setOfBitmap(late))
}

// setOfBitmap returns the set of the ranks of a bitmap, all in 0 … MaxRank.
func setOfBitmap(ranks *roaring.Bitmap) Set {
	var b SetBuilder
	for lo, end := range ranks.Ranges() {
		b.AddRange(int(lo), int(end)-1)
	}
	return b.Finish()
}
