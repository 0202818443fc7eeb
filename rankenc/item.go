package rankenc

import (
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
)

// maxDepth is how often a block of ranks can be repeated with a stride: the
// interior of a four-dimensional process grid is one item.
const maxDepth = 3

// A dim repeats a block of ranks count times at distance stride.
type dim struct{ stride, count uint32 }

// An item is a nested ranklist: length consecutive ranks from start on, that
// block repeated as dims[0] says, the result repeated as dims[1] says, and so
// on for depth dimensions. Repetitions neither overlap nor touch, and dims from
// depth on are zero, so that blocks can be compared.
//
// Invariants: length ≥ 1; count ≥ 2; stride ≥ span of the repeated block + 2,
// the span being the distance from its first to its last rank.
type item struct {
	start, length uint32
	depth         int
	dims          [maxDepth]dim
}

// size returns the number of ranks in it.
func (it *item) size() int { return it.sizeBelow(it.depth) }

// sizeBelow returns the number of ranks in the block that dimension k repeats.
func (it *item) sizeBelow(k int) int {
	n := int(it.length)
	for _, d := range it.dims[:k] {
		n *= int(d.count)
	}
	return n
}

// runs returns the number of runs of consecutive ranks.
func (it *item) runs() int { return it.size() / int(it.length) }

// span returns the distance from the first to the last rank.
func (it *item) span() uint64 {
	n := uint64(it.length - 1)
	for _, d := range it.dims[:it.depth] {
		n += uint64(d.stride) * uint64(d.count-1)
	}
	return n
}

// last returns the last rank.
func (it *item) last() uint64 { return uint64(it.start) + it.span() }

// at returns the i-th rank.
func (it *item) at(i int) int {
	rank := int(it.start)
	for k := it.depth - 1; k >= 0; k-- {
		below := it.sizeBelow(k)
		rank += i / below * int(it.dims[k].stride)
		i %= below
	}
	return rank + i
}

// locate returns the number of ranks before start+off, and whether start+off
// is one of the ranks.
func (it *item) locate(off int) (int, bool) {
	n := 0
	for k := it.depth - 1; k >= 0; k-- {
		d := it.dims[k]
		i := min(off/int(d.stride), int(d.count)-1)
		n += i * it.sizeBelow(k)
		off -= i * int(d.stride)
	}
	return n + min(off, int(it.length)), off < int(it.length)
}

// ranges calls yield with the first and last rank of each run of consecutive
// ranks, until it returns false, and reports whether it never did.
func (it *item) ranges(yield func(lo, hi int) bool) bool {
	var digits [maxDepth]uint32
	for off, more := 0, true; more; off, more = it.step(&digits, off) {
		if lo := int(it.start) + off; !yield(lo, lo+int(it.length)-1) {
			return false
		}
	}
	return true
}

// step returns where the run of consecutive ranks begins that follows the one at an offset, from the first
// rank of it, and whether there is one. It keeps digits, of which each says how often its dimension was
// repeated; behind the last run they are zero.
func (it *item) step(digits *[maxDepth]uint32, off int) (int, bool) {
	for k := range it.depth {
		if digits[k]++; digits[k] < it.dims[k].count {
			return off + int(it.dims[k].stride), true
		}
		off -= int(it.dims[k].stride) * int(digits[k]-1)
		digits[k] = 0
	}
	return 0, false
}

// truncated returns the last block of it that has at most k dimensions.
func (it item) truncated(k int) item {
	for it.depth > k {
		it.depth--
		d := &it.dims[it.depth]
		it.start += d.stride * (d.count - 1)
		*d = dim{}
	}
	return it
}

// joins reports whether next, a block of k dimensions, continues it in
// dimension k: it is such a block itself, or a repetition of it that next
// stands in the right distance of.
func (it *item) joins(next *item, k int) bool {
	if next.depth != k || it.length != next.length {
		return false
	}
	for j := range k {
		if it.dims[j] != next.dims[j] {
			return false
		}
	}
	d := it.dims[k]
	return it.depth == k || it.depth == k+1 && next.start-it.start == d.stride*d.count
}

// canonicalBefore reports whether the construction of [SetBuilder] leaves it
// and the item next after it apart in every dimension below k.
func (it item) canonicalBefore(next item, k int) bool {
	for j := range k {
		last, first := it.truncated(j+1), next
		if first.depth > j {
			first = first.firstBlock(j)
		}
		if last.joins(&first, j) {
			return false
		}
	}
	return true
}

// firstBlock returns the first block of it that has k dimensions.
func (it item) firstBlock(k int) item {
	for it.depth > k {
		it.depth--
		it.dims[it.depth] = dim{}
	}
	return it
}

// canonical reports whether the construction of [SetBuilder] would nest the
// ranks of it as it does.
func (it *item) canonical() bool {
	for k := 1; k < it.depth; k++ {
		block := it.firstBlock(k)
		next := block
		next.start += it.dims[k].stride
		if !block.canonicalBefore(next, k) {
			return false
		}
	}
	return true
}

// maxPlain is how many items a SetBuilder holds before it encodes them, which takes a tenth of the memory:
// most sets of more are bitmaps.
const maxPlain = 1 << 12

// A SetBuilder makes a [Set] of ranks. The zero SetBuilder is empty and ready for
// use. For ranks that ascend it holds memory in proportion to the items of the
// nested ranklist, not to their number, and for ranks that come after a larger one
// a bitmap.
type SetBuilder struct {
	next    int // one more than the largest rank
	pending [maxDepth + 1]item
	full    itemList // those before items; empty up to maxPlain of them
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
		if len(b.items) == maxPlain {
			b.full.add(b.items)
			b.items = b.items[:0]
		}
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
	var s Set
	if b.full.count == 0 {
		s = newSet(b.items)
	} else {
		b.full.add(b.items)
		s = b.full.set()
	}
	late := b.late
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
