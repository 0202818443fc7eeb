package query

import (
	"cmp"
	"context"
	"slices"

	"github.com/reprise-trace/reprise/mpi/groups"
	"github.com/reprise-trace/reprise/semantics"
	"github.com/reprise-trace/reprise/sequitur"
)

// markEvery is how many calls a walked sequence has between two marks.
const markEvery = 256

// checkEvery is how many steps are taken before it is looked whether the context is done.
const checkEvery = 4096

// A walked sequence is one whose operations depend on the positions of calls.
type walked struct {
	operations   *operations
	communicator *semantics.Communicator
	blocks       []*block // that the walk is in: of the rank, and of rounds that repeat
}

// A block is the operations of calls one after the other. Every so many calls there is a
// mark, from which on they are gone through again.
type block struct {
	repeat groups.Repeat // what its calls stand for; zero for the rank
	marks  []mark
	calls  int // since the last mark
	whole  digest
}

// A mark is a call, or the first of a block that repeats, and the digest of the operations
// of the block before it.
type mark struct {
	position uint64
	before   digest
	block    *block // nil if it is a call
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
		found[c] = &walked{operations: all, communicator: c, blocks: []*block{{whole: empty}}}
		for _, call := range calls.list {
			keep[call.Terminal] = true
		}
	}
	if len(found) == 0 {
		return found, context.Cause(ctx)
	}
	w := walk{operations: all, found: found, keep: keep, repeats: all.rank.Repeats()}
	w.outer = slices.SortedFunc(slices.Values(w.repeats), func(a, b groups.Repeat) int {
		return cmp.Or(cmp.Compare(a.From-a.Round, b.From-b.Round), cmp.Compare(b.From, a.From))
	})
	begin := uint64(0)
	for _, p := range w.repeats {
		if err := w.calls(ctx, begin, p.From); err != nil {
			return nil, err
		}
		begin = p.Until
	}
	if err := w.calls(ctx, begin, all.rank.Len()); err != nil {
		return nil, err
	}
	for _, s := range found {
		s.leave(all.rank.Len())
	}
	return found, context.Cause(ctx)
}

// A walk goes through the calls of a rank, but for those that repeat what others do.
type walk struct {
	*operations
	found   map[*semantics.Communicator]*walked
	keep    map[sequitur.Symbol]bool
	repeats []groups.Repeat
	outer   []groups.Repeat // that have not begun, by what they repeat, the longest first
	inside  []groups.Repeat // whose rounds have the call, the outermost first
	steps   int
}

// calls goes through those from a position up to another.
func (w *walk) calls(ctx context.Context, from, until uint64) error {
	if from >= until {
		return nil
	}
	for position, t := range w.rank.Find(from, func(t sequitur.Symbol) bool { return w.keep[t] }) {
		if position >= until {
			break
		}
		if w.steps++; w.steps%checkEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		w.inside = slices.DeleteFunc(w.inside, func(p groups.Repeat) bool { return p.From <= position })
		for len(w.outer) > 0 && w.outer[0].From-w.outer[0].Round <= position {
			if w.outer[0].From > position {
				w.inside = append(w.inside, w.outer[0])
			}
			w.outer = w.outer[1:]
		}
		w.call(position, t)
	}
	return nil
}

// call adds the operations of a call.
func (w *walk) call(position uint64, t sequitur.Symbol) {
	list := operationsOn(w.rank.At(position, t), nil)
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
		if s := w.found[c]; s != nil {
			s.leave(position)
			for _, p := range w.inside[len(s.blocks)-1:] {
				s.blocks = append(s.blocks, &block{repeat: p, whole: empty})
			}
			s.blocks[len(s.blocks)-1].add(position, w.digests(t, own))
		}
		list = others
	}
}

// leave ends the blocks that a position is behind.
func (s *walked) leave(position uint64) {
	for len(s.blocks) > 1 {
		b := s.blocks[len(s.blocks)-1]
		if b.repeat.From > position {
			return
		}
		s.blocks = s.blocks[:len(s.blocks)-1]
		in := s.blocks[len(s.blocks)-1]
		in.marks = append(in.marks, mark{b.repeat.From - b.repeat.Round, in.whole, b})
		in.whole = in.whole.then(b.whole.times(1 + (b.repeat.Until-b.repeat.From)/b.repeat.Round))
		in.calls = 0
	}
}

// add adds the operations of a call.
func (b *block) add(position uint64, list []digest) {
	if b.calls%markEvery == 0 {
		b.marks = append(b.marks, mark{position: position, before: b.whole})
	}
	b.calls++
	b.whole = b.whole.then(joined(list))
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

func (s *walked) all() digest { return s.blocks[0].whole }

// mark returns the last mark before which there are no more than n operations.
func (b *block) mark(n uint64) mark {
	i, _ := slices.BinarySearchFunc(b.marks, n+1, func(m mark, n uint64) int {
		if m.before.count < n {
			return -1
		}
		return 1
	})
	return b.marks[i-1]
}

// find returns the last mark of calls before which there are no more than n operations, the
// digest of those, and how many calls behind the mark it is meant.
func (s *walked) find(n uint64) (m mark, before digest, behind uint64) {
	before = empty
	for b := s.blocks[0]; ; b = m.block {
		m = b.mark(n - before.count)
		before = before.then(m.before)
		if m.block == nil {
			return m, before, behind
		}
		rounds := (n - before.count) / m.block.whole.count
		before = before.then(m.block.whole.times(rounds))
		behind += rounds * m.block.repeat.Round
	}
}

func (s *walked) upTo(n uint64) digest {
	if n >= s.all().count {
		return s.all()
	}
	m, sum, _ := s.find(n)
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
	m, before, behind := s.find(n)
	count := before.count
	s.each(m.position, func(at uint64, list []digest) bool {
		position, nth = at+behind, int(n-count)
		count += uint64(len(list))
		return count <= n
	})
	return position, nth
}
