package layout

import "github.com/reprise-trace/reprise/rankenc"

// SharedRanks finds the ranks that are in more than one of some sets. The zero SharedRanks has seen none. It
// holds a few sets, however many it has seen.
type SharedRanks struct {
	sums []sharedSum // of ever fewer sets
}

// A sharedSum is the ranks of some sets, and those that are in several of them.
type sharedSum struct {
	sets        int
	all, shared rankenc.Set
}

// Add adds a set.
func (s *SharedRanks) Add(set rankenc.Set) {
	s.sums = append(s.sums, sharedSum{1, set, rankenc.Set{}})
	for n := len(s.sums); n > 1 && s.sums[n-1].sets == s.sums[n-2].sets; n-- {
		s.unite()
	}
}

// Ranks returns the ranks that are in more than one of the sets that were added.
func (s *SharedRanks) Ranks() rankenc.Set {
	return s.sum().shared
}

// All returns the ranks that are in one of the sets that were added.
func (s *SharedRanks) All() rankenc.Set { return s.sum().all }

// sum returns what the sets have together.
func (s *SharedRanks) sum() sharedSum {
	if len(s.sums) == 0 {
		return sharedSum{}
	}
	for len(s.sums) > 1 {
		s.unite()
	}
	return s.sums[0]
}

// unite unites the last two sums.
func (s *SharedRanks) unite() {
	n := len(s.sums)
	a, b := &s.sums[n-2], s.sums[n-1]
	a.shared = a.shared.Union(b.shared, a.all.Intersection(b.all))
	a.all, a.sets = a.all.Union(b.all), a.sets+b.sets
	s.sums = s.sums[:n-1]
}
