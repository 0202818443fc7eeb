package semantics

import (
	"cmp"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/groups"
	"github.com/reprise-trace/reprise/sequitur"
)

// A section is calls of a rank that stand for others: in loops that are summed up, calls do
// the same to group objects as those some rounds before.
type section struct {
	extent
	times uint64 // how many rounds it stands for, its own included; 0 if others stand for it
	all   extent // what it stands for and what is between that
}

// repeats returns the calls of the rank that do the same as others before them.
func (r *mpiRank) repeats() []groups.Repeat {
	if r.groups == nil {
		return nil
	}
	return r.groups.Repeats(r.number)
}

// fold returns a position for which all group objects are the same.
func (r *mpiRank) fold(position uint64) uint64 {
	if r.groups == nil {
		return position
	}
	return r.groups.Fold(r.number, position)
}

// sectionsOf returns the sections of a rank, in order; all of its calls are in one of them.
func sectionsOf(repeats []groups.Repeat) []section {
	cuts := []uint64{0, forever}
	for _, p := range repeats {
		cuts = append(cuts, p.From-p.Round, p.From, p.Until)
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	outerFirst := slices.SortedFunc(slices.Values(repeats), func(a, b groups.Repeat) int {
		return cmp.Or(cmp.Compare(a.From-a.Round, b.From-b.Round), cmp.Compare(b.From, a.From))
	})
	var (
		sections []section
		inside   []groups.Repeat // of which the rounds that stand for others have the section
		out      = 0             // of repeats: the first that is not behind the section
	)
	for i, from := range cuts[:len(cuts)-1] {
		inside = slices.DeleteFunc(inside, func(p groups.Repeat) bool { return p.From <= from })
		for len(outerFirst) > 0 && outerFirst[0].From-outerFirst[0].Round <= from {
			inside = append(inside, outerFirst[0])
			outerFirst = outerFirst[1:]
		}
		for out < len(repeats) && repeats[out].Until <= from {
			out++
		}
		s := section{extent{from, cuts[i+1]}, 1, extent{from, cuts[i+1]}}
		if out < len(repeats) && repeats[out].From <= from {
			s.times = 0
		}
		for k, p := range inside {
			s.times = wire.MulSat(s.times, 1+(p.Until-p.From)/p.Round)
			if k == 0 {
				s.all = extent{p.From - p.Round, p.Until}
			}
		}
		sections = append(sections, s)
	}
	return sections
}

// section returns that of a position.
func (r *mpiRank) section(position uint64) section {
	list := r.sections()
	i, _ := slices.BinarySearchFunc(list, position, func(s section, position uint64) int {
		if s.until <= position {
			return -1
		}
		return 1
	})
	return list[i]
}

// repeated returns the operation of a call by that of a call at another position, for which
// group objects are the same.
func (r *mpiRank) repeated(position, folded uint64, terminal uint32) stretch {
	s := r.base(folded, terminal)
	if here := (extent{position, position + 1}); !s.others.has(here) {
		s = r.evaluate(position, terminal)
	}
	s.from, s.until = position, position+1
	return s
}

// made is what operations have in common that may be equal.
type made struct {
	terminal     uint32
	communicator *Communicator
}

// one returns one operation for all of a terminal that are equal.
func (r *mpiRank) one(terminal uint32, o *Operation) *Operation {
	if o == nil {
		return nil
	}
	k := made{terminal, o.Communicator}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, known := range r.made[k] {
		if known.equal(o) {
			return known
		}
	}
	r.made[k] = append(r.made[k], o)
	return o
}

// equal reports whether two operations are the same.
func (o *Operation) equal(p *Operation) bool {
	return o.Class == p.Class && o.Communicator == p.Communicator && o.Root == p.Root && o.Sent == p.Sent && o.Received == p.Received &&
		slices.Equal(o.Messages, p.Messages) && slices.Equal(o.requests, p.requests) &&
		slices.Equal(o.Completes, p.Completes) && slices.Equal(o.Frees, p.Frees) && o.taken.equal(p.taken) && slices.EqualFunc(o.More, p.More, (*Operation).equal)
}

// A tally counts the calls of a terminal by their operations.
type tally struct {
	order  []*Operation
	counts map[*Operation]uint64
}

func (t *tally) add(o *Operation, count uint64) {
	if o == nil {
		return
	}
	if _, ok := t.counts[o]; !ok {
		t.order = append(t.order, o)
	}
	t.counts[o] = wire.AddSat(t.counts[o], count)
}

func (t *tally) each(terminal uint32, yield func(Occurrence) bool) bool {
	for _, o := range t.order {
		if !yield(Occurrence{terminal, o, t.counts[o]}) {
			return false
		}
	}
	return true
}

// all yields the operations of a terminal.
func (r *mpiRank) all(terminal uint32, count uint64, yield func(Occurrence) bool) bool {
	if first := r.base(0, terminal); first.until == forever {
		return r.allOf(first.operation, terminal, everywhere, count, yield)
	}
	t, ok := r.tally(terminal)
	if !ok {
		t = r.tallyEach(terminal, count)
	}
	return t.each(terminal, yield)
}

// tally counts calls by the sections that stand for others. It reports false if operations
// differ in what these stand for.
func (r *mpiRank) tally(terminal uint32) (t tally, ok bool) {
	t.counts = make(map[*Operation]uint64)
	add := func(o Occurrence) bool {
		t.add(o.Operation, o.Count)
		return true
	}
	before := func(position uint64) uint64 { return r.before(position, terminal) }
	var m *sequitur.Measure // from when on so many steps have been made
	for position, steps := uint64(0), 0; position < r.read.Len(); steps++ {
		if steps == maxCuts {
			m = r.measure(terminal)
			before = m.Before
		}
		if m != nil {
			if position, _ = m.Find(m.Before(position)); position >= r.read.Len() {
				break
			}
		}
		in := r.section(position)
		if in.times == 0 {
			position = in.until
			continue
		}
		s := r.base(position, terminal)
		part := extent{position, min(s.until, in.until, r.read.Len())}
		if n := before(part.until) - before(position); n > 0 && s.operation != nil {
			if in.times > 1 && (!s.others.has(in.all) || r.varies(s.operation)) {
				return t, false
			}
			r.allOf(s.operation, terminal, part, wire.MulSat(n, in.times), add)
		}
		position = part.until
	}
	return t, true
}

// measure returns how often a terminal occurs.
func (r *mpiRank) measure(terminal uint32) *sequitur.Measure {
	return r.read.Grammar().Measure(func(s sequitur.Symbol) uint64 {
		if s == terminal {
			return 1
		}
		return 0
	})
}

// tallyEach counts calls one by one. If there are too many, it is not known what they are on.
func (r *mpiRank) tallyEach(terminal uint32, count uint64) tally {
	t := tally{counts: make(map[*Operation]uint64)}
	if count > maxRequestCalls {
		e := evaluation{mpiRank: r, extent: everywhere, others: everywhere, blind: true}
		t.add(e.operation(terminal), count)
		return t
	}
	for position := range r.read.Find(0, func(s sequitur.Symbol) bool { return s == terminal }) {
		t.add(r.at(position, terminal), 1)
	}
	return t
}

// allOf yields the operations of calls at some positions, of which there are count.
func (r *mpiRank) allOf(o *Operation, terminal uint32, at extent, count uint64, yield func(Occurrence) bool) bool {
	if o == nil {
		return true
	}
	if !r.varies(o) {
		return yield(Occurrence{terminal, r.resolve(o, at.from), count})
	}
	t := tally{counts: make(map[*Operation]uint64)}
	for position := range r.read.Find(at.from, func(s sequitur.Symbol) bool { return s == terminal }) {
		if position >= at.until {
			break
		}
		t.add(r.resolve(o, position), 1)
	}
	return t.each(terminal, yield)
}

// Repeats returns calls that are the same collective operations, on the same communicators,
// as the calls some rounds before them, in ascending order. There are none unless loops are
// summed up; see [Communicator.Count]. The result must not be changed.
func (r *Rank) Repeats() []groups.Repeat {
	m, ok := r.meanings.(*mpiRank)
	if !ok || len(m.repeats()) == 0 || len(m.requests().persistent) > 0 {
		return nil
	}
	return m.repeats()
}
