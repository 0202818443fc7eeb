package query

import (
	"context"
	"slices"

	"github.com/reprise-trace/reprise/semantics"
	"github.com/reprise-trace/reprise/sequitur"
)

// markEvery is how many calls a walked sequence has between two marks.
const markEvery = 256

// checkEvery is how many steps are taken before it is looked whether the context is done.
const checkEvery = 4096

// A walked sequence is one whose operations depend on the positions of calls. Every so many
// calls there is a mark, from which on they are gone through again.
type walked struct {
	operations   *operations
	communicator *semantics.Communicator
	marks        []mark
	calls        int
	whole        digest
}

// A mark is a call, and the digest of the operations before it.
type mark struct {
	position uint64
	before   digest
}

// walk goes once through the calls on all communicators of which some depend on their
// positions, and returns the sequences of these.
func (all *operations) walk(ctx context.Context) (map[*semantics.Communicator]*walked, error) {
	found := make(map[*semantics.Communicator]*walked)
	keep := make(map[sequitur.Symbol]bool)
	for c, calls := range all.collectives {
		if calls.alike {
			continue
		}
		found[c] = &walked{operations: all, communicator: c, whole: empty}
		for _, call := range calls.list {
			keep[call.Terminal] = true
		}
	}
	if len(found) == 0 {
		return found, context.Cause(ctx)
	}
	steps := 0
	for position, t := range all.rank.Find(0, func(t sequitur.Symbol) bool { return keep[t] }) {
		if steps++; steps%checkEvery == 0 && ctx.Err() != nil {
			break
		}
		all.walkCall(found, position, t)
	}
	return found, context.Cause(ctx)
}

// walkCall adds the operations of a call to the sequences that they are of.
func (all *operations) walkCall(found map[*semantics.Communicator]*walked, position uint64, t sequitur.Symbol) {
	list := operationsOn(all.rank.At(position, t), nil)
	for len(list) > 0 {
		c := list[0].Communicator
		own, others := list, []*semantics.Operation(nil)
		if len(list) > 1 {
			own = nil
			for _, o := range list {
				if o.Communicator == c {
					own = append(own, o)
				} else {
					others = append(others, o)
				}
			}
		}
		if s := found[c]; s != nil {
			s.add(position, all.digests(t, own))
		}
		list = others
	}
}

// add adds the operations of a call.
func (s *walked) add(position uint64, list []digest) {
	if s.calls%markEvery == 0 {
		s.marks = append(s.marks, mark{position, s.whole})
	}
	s.calls++
	s.whole = s.whole.then(joined(list))
}

// each calls f with the calls from a position on, and the digests of what they begin.
func (s *walked) each(position uint64, f func(position uint64, list []digest) bool) {
	all := s.operations
	keep := make(map[sequitur.Symbol]bool)
	for _, call := range all.collectives[s.communicator].list {
		keep[call.Terminal] = true
	}
	for position, t := range all.rank.Find(position, func(t sequitur.Symbol) bool { return keep[t] }) {
		list := operationsOn(all.rank.At(position, t), s.communicator)
		if len(list) > 0 && !f(position, all.digests(t, list)) {
			return
		}
	}
}

func (s *walked) all() digest { return s.whole }

// mark returns the last mark before which there are no more than n operations.
func (s *walked) mark(n uint64) mark {
	i, _ := slices.BinarySearchFunc(s.marks, n+1, func(m mark, n uint64) int {
		if m.before.count < n {
			return -1
		}
		return 1
	})
	return s.marks[i-1]
}

func (s *walked) upTo(n uint64) digest {
	if n >= s.whole.count {
		return s.whole
	}
	m := s.mark(n)
	sum := m.before
	if sum.count == n {
		return sum
	}
	s.each(m.position, func(_ uint64, list []digest) bool {
		sum = sum.then(joined(list[:min(uint64(len(list)), n-sum.count)]))
		return sum.count < n
	})
	return sum
}

func (s *walked) at(n uint64) (position uint64, nth int) {
	m := s.mark(n)
	count := m.before.count
	s.each(m.position, func(at uint64, list []digest) bool {
		position, nth = at, int(n-count)
		count += uint64(len(list))
		return count <= n
	})
	return position, nth
}
