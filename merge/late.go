package merge

import (
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
)

// Ranks whose parts come in no order would each cost time in proportion to the
// ranks of their shape. So those that come after a higher one are kept apart, and
// merged with their like as digits are carried in a binary counter.

// reserve takes note of a rank, and returns an error if a has it already.
func (a *Accumulator) reserve(rank int) error {
	switch {
	case rank > a.ranks.last():
		a.ranks = a.ranks.add(rank, rank)
		return nil
	case a.late == nil:
		a.late = roaring.New()
	}
	if a.ranks.contains(rank) || !a.late.CheckedAdd(uint32(rank)) {
		return fmt.Errorf("merge: two parts of rank %d", rank)
	}
	return nil
}

// addLate adds the shape of a rank that is below others of s.
func (s *shape) addLate(t *shape) {
	for k := len(s.late) - 1; k >= 0 && s.late[k].ranks.len() <= t.ranks.len(); k-- {
		t = s.late[k].merge(t)
		s.late = s.late[:k]
	}
	s.late = append(s.late, t)
}

// settle merges what came late. Every method of Accumulator that looks at ranks
// or columns calls it first, but for Add.
func (a *Accumulator) settle() {
	if a.late == nil {
		return
	}
	var late spans
	for i := a.late.Iterator(); i.HasNext(); {
		rank := int(i.Next())
		late = late.add(rank, rank)
	}
	a.ranks, _ = a.ranks.union(late)
	a.late = nil
	for key, s := range a.shapes {
		if len(s.late) == 0 {
			continue
		}
		late := s.late
		s.late = nil
		for k := len(late) - 1; k > 0; k-- {
			late[k-1] = late[k-1].merge(late[k])
		}
		a.shapes[key] = s.merge(late[0])
	}
}
