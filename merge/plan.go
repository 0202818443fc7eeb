package merge

import (
	"context"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/mixing"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// A plan says how the calls of all ranks are written: with a forest of grammars and streams in sections of
// their own, as search.draft does, or with both in blocks of package mixing, as search.tablesInBlocks does.
type plan struct {
	// Shapes are those of the ranks, with what these are in their groups, or without: groups make expressions
	// of more arguments, but may keep apart what would be one.
	shapes []*shape

	// Apart says that shapes are not united: those that differ in values alone are one else, as far as that
	// is smaller.
	apart bool

	// Streams are the arguments whose values stand in streams, which makes signatures fewer.
	streams []layout.StreamArgument
}

// A search looks for the plan with the smallest trace. Cost is the size of the file, or of a sample of it.
// All plans cannot be tried, as each takes as long as writing: the search goes from forest to blocks, from
// shapes with groups to those without, and adds streams one by one, each where what is known by then says
// that it may be smaller. It has a budget of work in proportion to the calls.
type search struct {
	a      *Accumulator
	ctx    context.Context
	order  *sequitur.Grammar // of the calls of different ranks, nil if it is not kept
	whole  int64             // budget
	budget int64             // what is left of it; negative if one trace took more
	drafts int64             // work that the largest trace took, which others will take
	times  int64             // the same, to write times and names when the plan is there
	step   int               // of writing

	// Of a search that is ahead of another one: how much less than its budget would not have changed anything.
	ahead bool
	slack int64
}

// What a trace is searched with. Work is counted in microseconds, as it takes on processors of 2022.
const (
	// What takes long to read must be worth it: blocks and streams, as the calls of a rank with streams have
	// to be expanded. An eighth of what they replace is, and minSaved bytes are.
	minSaved = 256 // bytes

	// Beyond these a reader takes too long.
	maxMixed     = 1 << 19 // symbols of grammars in blocks, all together
	maxStretched = 1 << 16 // the same, with streams
	maxValues    = 1 << 18 // values of streams in blocks: calls that repeat have many more than symbols
	blockSymbols = 1 << 15 // of a block, unless it has one grammar: who wants one of them reads all
	blockValues  = 1 << 16 // the same, values

	// The budget is so much, and as much for each call as it says, so that a recording ends within about 1 s
	// and 1 µs a call. An effort of n multiplies it by 2ⁿ⁻¹. What a trace takes is counted while it is
	// written: so much for each symbol of its grammars, each terminal, and each value of a column that is
	// encoded. To mix takes one for so many bits. Before that, symbols and values in streams are taken to
	// need so much. What is begun to be written in the end may take an eighth of the budget beyond it: 69,602
	// bytes of 54,176 random amounts were 86,024 without, as it lacked 0.3 %. Streams are tried with a part
	// of the budget, and beyond that with what the best trace does not need that is known by then, as much as
	// a sample for each symbol, or with all if that is not left in any case.
	leastBudget   = 1_000_000
	mostBudget    = 1 << 40 // before effort
	callBudget    = 1
	symbolDrafted = 1
	formDrafted   = 2
	valueDrafted  = 1
	bitsMixed     = 3
	symbolWork    = 6
	valueWork     = 3
	overdraft     = 1 << 3 // part of the budget
	trialsPart    = 1 << 2

	// Shapes of at most so many terminals are encoded to see whether uniting them makes the trace smaller,
	// and of so many in all, again and again. Beyond that, an estimate decides.
	maxWeighed      = 1 << 15
	maxWeighedInAll = 1 << 20
	weighedPart     = 1 << 3 // of the budget

	// maxHeld is how many terminals shapes have that are held in memory encoded, while others are tried.
	maxHeld = 1 << 16

	// Arguments that may be varying.
	maxVarying    = 4       // with streams in sections of their own
	maxInBlocks   = 16      // candidates for streams in blocks
	minSignatures = 16      // of one function in a shape that become fewer
	maxPaired     = 1 << 11 // of one function in a shape of which pairs of arguments are looked at
	sampleSymbols = 1 << 13 // of the grammars of the shapes on which they are tried, unless there is one shape
	little        = 1 << 8  // the part by which a sample is smaller at the least for each of them
	mostVain      = 3       // that are tried in a row without one that makes it smaller

	// A trace with streams in blocks is clearly the smallest if it is smaller by clearPart than with a
	// forest. Nothing else is tried then: hpcc on 8 ranks takes 2.6 s for 3.3, and no byte more.
	clearPart = 1 << 4

	// Grammars of so many symbols are tried in blocks without streams, at the most, where there are streams
	// in sections of their own, and taken if they are smaller by streamsSave, as streams tell which arguments
	// vary: random arguments of a few values are smaller by an eighth so.
	maxPlain    = 1 << 17 // symbols
	streamsSave = 10      // a tenth
)

// newSearch returns a search with the budget of the calls of shapes.
func (a *Accumulator) newSearch(ctx context.Context, shapes []*shape, order *sequitur.Grammar) *search {
	s := &search{a: a, ctx: ctx, order: order, budget: leastBudget}
	for _, x := range shapes {
		calls := wire.MulSat(x.grammar.Len(), uint64(x.ranks.len()))
		s.budget += callBudget * int64(min(calls, uint64(mostBudget-s.budget)/callBudget))
	}
	if len(a.series) > 0 {
		s.times = s.budget - leastBudget
	}
	s.budget <<= max(a.effort-1, 0)
	s.whole = s.budget
	return s
}

// smallest returns the smallest trace of shapes that is found, but for times and names. It returns an error
// if the trace could not be read, because it exceeds a limit.
func (s *search) smallest(shapes []*shape) (draft, error) {
	if !knowsGroups(shapes, s.a.size) {
		shapes = s.a.withoutGroups(shapes)
	}
	s.at(inSample)
	t := s.sample(shapes)
	if t.clearly && s.withStreams(shapes, t) && t.draft.size() < t.plain-t.plain/clearPart {
		return t.draft, nil
	}
	return s.best(shapes, t)
}

// best returns the smallest of the traces of shapes that are tried: a forest, with groups or without; its
// grammars in blocks; shapes apart in blocks; and streams in blocks, of the arguments of t.
func (s *search) best(shapes []*shape, t *streamTrial) (draft, error) {
	e, err := s.withoutBlockStreams(shapes)
	if err != nil || s.ctx.Err() != nil {
		return e, err
	}
	if !e.grouped {
		most := e.size()
		if t.overForest {
			most -= worth(most)
		}
		if len(t.arguments) > 0 && s.withStreams(shapes, t) && t.draft.size() < most {
			return t.draft, nil
		}
		return e, nil
	}
	if e.grammars < minSaved && len(t.arguments) == 0 {
		return e, nil
	}
	if !s.affords(1) {
		return e, nil
	}
	// What groups save where grammars are a forest may be less than what blocks save without them.
	without, err := s.best(s.a.withoutGroups(shapes), t)
	if err != nil || s.ctx.Err() != nil || e.size() <= without.size() {
		return e, nil
	}
	return without, nil
}

// withoutBlockStreams returns the best trace that has no streams in blocks. Where some shapes were united,
// they may be smaller apart in blocks, and what has streams may be without them.
func (s *search) withoutBlockStreams(shapes []*shape) (draft, error) {
	e := s.forest(shapes)
	if s.ctx.Err() != nil {
		return e, nil
	}
	if err := s.toBlocks(&e); err != nil || s.ctx.Err() != nil {
		return e, err
	}
	n := len(e.model.shapes)
	united, stretched := n > 1 && n < len(shapes), e.model.streams != nil
	if !s.affords(1) || stretched == united || terminalsOf(shapes) > maxWeighed ||
		stretched && symbolsOf(shapes) > maxPlain {
		return e, nil
	}
	if !e.model.usesGroups {
		shapes = s.a.withoutGroups(shapes)
	}
	apart := s.draft(plan{shapes: shapes, apart: true})
	apart.setOrder(s.ctx, s.a, s.order)
	if s.ctx.Err() != nil {
		return e, nil
	}
	most := e.size()
	if stretched {
		most -= most / streamsSave
	}
	if err := s.toBlocks(&apart); err == nil && apart.sections.size() < most {
		apart.grouped, apart.grammars = e.grouped, e.grammars
		return apart, nil
	}
	return e, nil
}

// forest returns the best trace of shapes with a forest of grammars, with groups or without them.
func (s *search) forest(shapes []*shape) draft {
	s.at(inForest)
	if !slices.ContainsFunc(shapes, (*shape).isGrouped) {
		return s.stretched(shapes)
	}
	if s.a.ranks.len() == 1 {
		alone := *shapes[0] // every value is a constant, and no expression of a group is looked at
		alone.ungrouped = true
		return s.stretched([]*shape{&alone})
	}
	with := s.stretched(shapes)
	if s.ctx.Err() != nil {
		return draft{}
	}
	held := terminalsOf(shapes) <= maxHeld || with.model.usesGroups
	if !s.affords(1) || !held && !s.affords(2) {
		return with
	}
	if !held {
		with = draft{bytes: with.size()} // it is made again should it be the smaller one
	}
	without := s.stretched(s.a.withoutGroups(shapes))
	if s.ctx.Err() == nil && without.size() <= with.size() {
		return without
	}
	if with.model == nil {
		with = s.stretched(shapes)
	}
	with.grouped = true
	with.grammars = max(storedSize(with.sections.grammars), storedSize(without.sections.grammars))
	return with
}

// stretched returns the trace of shapes with a forest, and with streams for arguments as long as each makes
// it smaller by what it is worth: none where grammars take next to nothing, as streams would have to say the
// order of calls.
func (s *search) stretched(shapes []*shape) draft {
	best := s.draft(plan{shapes: shapes})
	if s.affords(1) && best.hasGrammars() {
		best = s.addStreams(best, shapes)
	}
	best.setOrder(s.ctx, s.a, s.order)
	return best
}

// addStreams returns the trace of shapes with streams in sections of their own, as many as make it smaller
// than best.
func (s *search) addStreams(best draft, shapes []*shape) draft {
	var taken []layout.StreamArgument
	held := terminalsOf(shapes) <= maxHeld
	if !held && !s.affords(2) {
		return best
	}
	candidates := varyingCandidates(shapes, s.a.functions.Functions(), false)
	for _, c := range candidates[:min(len(candidates), maxVarying)] {
		least := best.size()
		most := least - worth(least)
		if c.values/valuesPerByte >= most || s.ctx.Err() != nil || !s.affords(1) {
			continue
		}
		if !held && taken == nil {
			best = draft{bytes: least} // it is made again should it be the best
		}
		with := append(slices.Clone(taken), c.arguments()...)
		if e := s.draft(plan{shapes: shapes, streams: with}); e.size() < most {
			best, taken = e, with
		}
	}
	if best.model == nil {
		return s.draft(plan{shapes: shapes})
	}
	return best
}

// hasGrammars reports whether the grammars of e take what streams have to be worth.
func (e *draft) hasGrammars() bool {
	size := storedSize(e.sections.grammars)
	return size >= minSaved || size >= worth(e.size())
}

// worth returns how much smaller a trace of a size has to be with streams than without them.
func worth(size int) int { return min(size/8, minSaved) }

// valuesPerByte is how many different values of a varying argument take a byte, once compressed, at the
// least: each takes a byte or more before that, none is a copy of another, and of a literal or a copy there
// is a bit.
const valuesPerByte = 16

// draft returns the trace of a plan with a forest, with the calls rank by rank.
func (s *search) draft(p plan) draft {
	shapes, x := p.shapes, (*streams)(nil)
	if len(p.streams) > 0 {
		shapes, x = stretch(shapes, s.a.functions.Functions(), p.streams, false)
	}
	made := func(shapes []*shape) draft {
		m := newModel(s.ctx, s.a, shapes, x)
		e := draft{model: m, sections: m.sections(s.ctx, s.a)}
		if s.ctx.Err() == nil {
			s.took(m.work())
		}
		return e
	}
	if !p.apart {
		least := s.budget - s.whole/weighedPart
		weighs := func() bool { return s.budget-s.drafts >= least }
		shapes = factor(s.ctx, shapes, weighs, func(list []*shape) int {
			e := made(list)
			return e.size()
		})
	}
	return made(shapes)
}

// toBlocks writes the grammars of a trace as blocks, if that makes it smaller by what they are worth, of
// signatures in the order of their arguments if that does: blocks do not need them in that of their first
// use, and Refinement takes three eighths less so. It returns an error if the trace could not be read,
// because it exceeds a limit.
func (s *search) toBlocks(e *draft) error {
	s.at(inBlocks)
	m, c := e.model, &e.sections
	if _, err := m.parseTable(c, math.MaxUint64); err != nil {
		return err
	}
	symbols := m.symbols()
	if symbols > maxMixed || int64(symbolWork*symbols) > s.budget {
		return m.checkGrammars(c.grammars)
	}
	size := storedSize(c.grammars)
	if size < minSaved {
		return m.checkGrammars(c.grammars)
	}
	sorted, in := *m, *c
	sorted.sortSignatures()
	in.table, in.streams = sorted.signatureSection(s.ctx, s.a)
	if s.ctx.Err() != nil {
		return nil
	}
	saved := e.size() - in.size() // of the signatures
	if saved <= 0 {
		sorted, in, saved = *m, *c, 0
	}
	var ok bool
	var err error
	s.mixAll(func(left *mixing.Work) {
		ok, err = sorted.toBlocks(s.ctx, &in, s.a, size+saved-max(size/8, minSaved), left)
	})
	switch {
	case err != nil:
		return err
	case !ok:
		return m.checkGrammars(c.grammars)
	}
	e.bytes = 0
	*m, *c = sorted, in
	return nil
}

// took takes the work of a trace from the budget.
func (s *search) took(work int64) {
	s.drafts = max(s.drafts, work)
	s.spend(work)
}

// spend takes work from the budget.
func (s *search) spend(work int64) {
	s.budget -= work
	s.at(s.step)
}

// affords reports whether so many more traces can be written.
func (s *search) affords(drafts int64) bool { return drafts*s.drafts <= s.budget }

// mix calls what mixes, and takes its work from the budget.
func (s *search) mix(do func(left *mixing.Work)) { s.mixWith(s.budget, do) }

// mixAll is mix of what a plan is made of in the end: it may take a part of the budget more than is left, as all of
// it is in vain else.
func (s *search) mixAll(do func(left *mixing.Work)) { s.mixWith(s.budget+s.whole/overdraft, do) }

func (s *search) mixWith(budget int64, do func(left *mixing.Work)) {
	all := mixing.Work(max(budget, 0) * bitsMixed)
	left := all
	do(&left)
	s.spend(int64(all-left) / bitsMixed)
	s.slack = min(s.slack, int64(left)/bitsMixed-1)
}
