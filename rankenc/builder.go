package rankenc

import "fmt"

// A SetBuilder makes a [Set] of ranks that come in ascending order. The zero
// SetBuilder is empty and ready for use. It holds memory in proportion to the
// items of the nested ranklist, not to the number of ranks.
type SetBuilder struct {
	next    int // smallest rank that may come
	pending [maxDepth + 1]item
	items   []item
	err     error
}

// A pending item of level 0 is a run of consecutive ranks that may still grow;
// one of level k > 0 is a block of k−1 dimensions, or the repetition of one,
// that may be repeated once more. Length 0 means none. A block that can no
// longer grow moves one level up. That is greedy, in one pass, and makes the
// list of items a function of the set; see item.canonical for the check.

// Add adds rank, which must be larger than all ranks added before.
func (b *SetBuilder) Add(rank int) { b.AddRange(rank, rank) }

// AddRange adds the ranks from lo to hi, which must be larger than all ranks
// added before. It takes amortized constant time.
func (b *SetBuilder) AddRange(lo, hi int) {
	if b.err != nil {
		return
	}
	if lo < b.next || hi < lo || hi > MaxRank {
		b.err = fmt.Errorf("rankenc: ranks %d to %d after %d", lo, hi, b.next-1)
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

// Finish returns the set of the ranks added so far and leaves b empty. An error
// says which ranks were out of order or out of range.
func (b *SetBuilder) Finish() (Set, error) {
	for k := range b.pending {
		b.push(k)
	}
	items, err := b.items, b.err
	*b = SetBuilder{}
	if err != nil {
		return Set{}, err
	}
	return newSet(items), nil
}
