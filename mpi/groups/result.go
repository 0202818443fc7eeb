package groups

import (
	"iter"
	"slices"
	"sort"

	"github.com/reprise-trace/reprise/symbolic"
)

// Groups are the group objects of a run. Its methods may be called from several
// goroutines at once.
type Groups struct {
	resolved *symbolic.Groups

	// If loops are summed up:
	same    map[*symbolic.Group]*symbolic.Group // what a group is one with
	list    []*symbolic.Group
	repeats map[int][]Repeat // by rank, in order
	gaps    map[*symbolic.Group][]gap
}

// Len returns the number of groups.
func (g *Groups) Len() int {
	if g.same == nil {
		return g.resolved.Len()
	}
	return len(g.list)
}

// All returns an iterator over the groups, as [symbolic.Groups.All] does.
func (g *Groups) All() iter.Seq[*symbolic.Group] {
	if g.same == nil {
		return g.resolved.All()
	}
	return slices.Values(g.list)
}

// Repeats returns calls of a process that do the same to group objects as calls before
// them, in ascending order: there are none if all objects are told apart. It must not be
// changed.
func (g *Groups) Repeats(rank int) []Repeat { return g.repeats[rank] }

// Fold returns the position of a call of a process at which names of group objects stand
// for the same as at another, and which is in none of [Groups.Repeats].
func (g *Groups) Fold(rank int, position uint64) uint64 {
	list := g.repeats[rank]
	for {
		i := sort.Search(len(list), func(i int) bool { return list[i].Until > position })
		if i == len(list) || position < list[i].From {
			return position
		}
		r := &list[i]
		position = r.From - r.Round + (position-r.From)%r.Round
	}
}

// At returns which group the process of a rank means by a name, in its call at a
// position, and what it is in it. It reports false if it is not known to be any:
// not created yet, freed, or not resolved. It takes O(log n) time, n being the
// number of groups that had the name.
func (g *Groups) At(rank int, local symbolic.Local, position uint64) (symbolic.Member, bool) {
	m, ok := g.resolved.At(rank, local, g.Fold(rank, position))
	if ok && g.same != nil {
		m.Group = g.same[m.Group]
	}
	return m, ok
}

// Span is like [Groups.At], and also returns two positions between which, both included,
// it returns that.
func (g *Groups) Span(rank int, local symbolic.Local, position uint64) (m symbolic.Member, ok bool, first, last uint64) {
	folded := g.Fold(rank, position)
	m, ok, first, last = g.resolved.Span(rank, local, folded)
	if g.same == nil {
		return m, ok, first, last
	}
	if ok {
		m.Group = g.same[m.Group]
	}
	if first, last = g.within(rank, folded, first, last); position < first || position > last {
		first, last = position, position
	}
	return m, ok, first, last
}

// within narrows the positions around one between which the calls that are gone through do
// nothing to a name: if it is not all of those that stand for others, the others may.
func (g *Groups) within(rank int, position, first, last uint64) (uint64, uint64) {
	list := g.repeats[rank]
	begin := first
	next := sort.Search(len(list), func(i int) bool { return list[i].From > position })
	for _, r := range slices.Backward(list[:next]) {
		if r.Until <= first {
			break
		}
		if r.From-r.Round < begin {
			first = r.Until
			break
		}
	}
	for _, r := range list[next:] {
		if r.From > last {
			break
		}
		if r.From-r.Round < begin {
			last = r.From - 1
			break
		}
	}
	return first, last
}
