package merge

import (
	"math"
	"slices"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/mixing"
)

// A streamTrial is what is known of streams in blocks before anything else is tried.
type streamTrial struct {
	arguments  []layout.StreamArgument // that make a sample smaller, none if streams are not worth it
	clearly    bool                    // the sample is smaller with these also than with groups
	overForest bool                    // it is worth it only in place of a forest
	plain      int                     // size of the trace with a forest, and without streams
	draft      draft                   // the trace with streams in blocks, without a model if it was not made
	tried      draft                   // the same, but for its blocks, if the sample was all
}

// sample looks for the arguments that are to have streams in blocks, in a sample of shapes.
func (s *search) sample(shapes []*shape) *streamTrial {
	none := new(streamTrial)
	if s.a.condensed || symbolsOf(shapes) > maxStretched {
		return none
	}
	without := s.a.withoutGroups(shapes)
	candidates := varyingCandidates(without, s.a.functions.Functions(), true)
	if len(candidates) == 0 {
		return none
	}
	all, sample := symbolsOf(without), sampleOf(without)
	inBlocks := s.begin(func(s *search) inBlocksTrial {
		return s.sizeInBlocks(plan{shapes: sample}, all, 0, nil, false)
	})
	defer inBlocks.end()
	plain := s.draft(plan{shapes: shapes})
	if s.ctx.Err() != nil || !worthStretching(without, &plain) {
		return none
	}
	forest := plain.sections.size()
	plain.setOrder(s.ctx, s.a, s.order)
	candidates = candidates[:min(len(candidates), maxInBlocks)]
	arguments, size, best := s.streamArguments(without, candidates, forest, inBlocks)
	if len(arguments) == 0 || s.ctx.Err() != nil {
		return none
	}
	t := &streamTrial{arguments: arguments, plain: plain.size(), overForest: size-best.size < worth(size)}
	if len(sampleOf(without)) == len(without) {
		t.tried = best.draft
	}
	if len(shapes) != len(without) {
		return t
	}
	if slices.ContainsFunc(shapes, (*shape).isGrouped) {
		size = s.sizeInBlocks(plan{shapes: sampleOf(shapes)}, symbolsOf(shapes), 0, &best, false).size
	}
	t.clearly = best.size < size && !t.overForest
	return t
}

// worthStretching reports whether streams in blocks are tried of shapes, whose trace without them is e. They
// are not where grammars take next to nothing, as streams would have to say the order of calls, or where a
// symbol of them takes less than a bit of the trace: then all of it is predicted already.
func worthStretching(shapes []*shape, e *draft) bool {
	return symbolsOf(shapes) <= min(maxStretched, 8*e.size()) && e.hasGrammars()
}

// sampleOf returns the first shapes that have few symbols together, one at least.
func sampleOf(shapes []*shape) []*shape {
	n := 1
	for n < len(shapes) && symbolsOf(shapes[:n+1]) <= sampleSymbols {
		n++
	}
	return shapes[:n]
}

// symbolsOf returns the number of symbols in the grammars of shapes.
func symbolsOf(shapes []*shape) int {
	n := 0
	for _, s := range shapes {
		n += s.grammar.Symbols()
	}
	return n
}

// streamArguments returns the arguments that make the trace of a sample of shapes smaller in blocks, each by a
// little at least, and all by what streams are worth, or none: of the candidates, those without which there are
// fewest signatures are tried first, as long as one of the last few is taken. Plain is the size without streams, and
// best is the sample with these. InBlocks is the trial of the sample without streams. Forest is the size of the trace
// with a forest: where grammars are too small for blocks of their own, streams replace that.
func (s *search) streamArguments(
	shapes []*shape, candidates []candidate, forest int, inBlocks *attempt,
) (taken []layout.StreamArgument, plain int, best inBlocksTrial) {
	all, others := symbolsOf(shapes), s.drafts
	if len(shapes) > 1 {
		others += s.whole / weighedPart
	}
	least := worth(forest)
	if sample := sampleOf(shapes); len(sample) < len(shapes) {
		forest, shapes = 0, sample // it is of other shapes
	}
	best = inBlocks.result(s)
	plain = best.size
	need := best.work + others // as the plan without streams is made of the best forest
	taken, best = takeStreams(candidates, best, func(with []layout.StreamArgument, best *inBlocksTrial) inBlocksTrial {
		if best.size < plain { // nothing else is made first if it is clear
			need = best.work + s.drafts
		}
		return s.sizeInBlocks(plan{shapes: shapes, streams: with}, all, need, best, true)
	})
	if plain-best.size < worth(plain) && forest-best.size < least {
		return nil, plain, best
	}
	return taken, plain, best
}

// takeStreams returns the arguments of candidates with which a trial is smaller by a little than with those that are
// taken before them, and the best trial. It ends after some candidates in a row that are in vain.
func takeStreams(candidates []candidate, best inBlocksTrial,
	try func(with []layout.StreamArgument, best *inBlocksTrial) inBlocksTrial,
) (taken []layout.StreamArgument, of inBlocksTrial) {
	for vain := 0; len(candidates) > 0 && vain < mostVain; candidates = candidates[1:] {
		with := slices.Clone(taken)
		for _, e := range candidates[0].arguments() {
			if !slices.Contains(with, e) {
				with = append(with, e)
			}
		}
		if len(with) == len(taken) {
			continue
		}
		vain++
		if t := try(with, &best); t.size < best.size-best.size/little {
			best, taken, vain = t, with, 0
		}
	}
	return taken, best
}

// withStreams makes the trace of shapes with the streams of t in its blocks, and reports whether there is
// one. It may take all that is left of the budget: once a sample is smaller so, no other plan is as likely to be
// the smallest.
func (s *search) withStreams(shapes []*shape, t *streamTrial) bool {
	if t.draft.model != nil {
		return true
	}
	e, ok := t.tried, true
	if e.model == nil {
		e, ok = s.tablesInBlocks(plan{shapes: s.a.withoutGroups(shapes), streams: t.arguments},
			func(values, work int) bool { return values <= maxValues && int64(work) <= s.budget })
	}
	if !ok {
		return false
	}
	t.tried = draft{}
	if s.order != nil {
		e.sections.order, _ = s.order.AppendBinary(nil)
	}
	var err error
	s.mixAll(func(left *mixing.Work) { ok, err = e.model.toBlocks(s.ctx, &e.sections, s.a, math.MaxInt, left) })
	if !ok || err != nil {
		return false
	}
	t.draft = e
	return true
}

// An inBlocksTrial is what sizeInBlocks finds.
type inBlocksTrial struct {
	size   int
	tables int   // of that, all but blocks
	work   int64 // to make it of all shapes
	draft  draft // of the sample, but for its blocks
}

// blockRivals are the blocks of a trial, to which those of another are compared.
type blockRivals struct {
	trials []*mixing.Trial
	tables int
	limits bool
}

// rivalsOf returns the blocks of a trial, none if that is nil. If those that are compared are to be smaller, and there
// is one, it limits them: what tables save, the half of the block must not take already.
func rivalsOf(like *inBlocksTrial, smaller bool) *blockRivals {
	if like == nil || like.draft.model == nil {
		return new(blockRivals)
	}
	trials := like.draft.model.trials
	return &blockRivals{trials, like.tables, smaller && len(trials) == 1}
}

// next returns the rival of the next block, after tables of a size if it is the first.
func (r *blockRivals) next(tables int) (of mixing.Rival) {
	if len(r.trials) > 0 {
		of = mixing.Rival{Trial: r.trials[0], Limited: r.limits, More: max(0, r.tables-tables)}
		r.trials = r.trials[1:]
	}
	return of
}

// sizeInBlocks returns about the size of the trace of a plan, which is that of a sample of shapes that have so many
// symbols in all, as far as streams make a difference, and the work to make it of all of them. The size is too large
// if that is more than what is left of the budget, or if the sample itself would take from what is kept for another
// plan, unless that cannot be made any more; or, if it has to be smaller than another trial, if it is not where half of
// it is known. Its blocks are about as large as those of that trial, unless it is nil.
func (s *search) sizeInBlocks(
	p plan, all int, kept int64, like *inBlocksTrial, smaller bool,
) inBlocksTrial {
	none := inBlocksTrial{size: math.MaxInt}
	sampled := max(symbolsOf(p.shapes), 1)
	ofAll := func(n int64) int64 { return n * int64(all) / int64(sampled) }
	before := s.budget
	e, ok := s.tablesInBlocks(p, func(values, work int) bool {
		if ofAll(int64(values)) > maxValues {
			return false
		}
		slack := s.budget - int64(work) - ofAll(int64(work+work/8))
		if kept <= s.budget {
			slack = min(slack, max(s.budget-kept, s.budget-s.whole+s.whole/trialsPart)-int64(work))
		}
		s.slack = min(s.slack, slack)
		return slack >= 0
	})
	if !ok {
		return none
	}
	table, err := e.model.parseTable(&e.sections, math.MaxUint64)
	if err != nil {
		return none
	}
	size, alphabet := e.sections.size(), table.Alphabet()
	tables, rivals := size, rivalsOf(like, smaller)
	for members := range e.model.blockMembers() {
		var t *mixing.Trial
		s.mix(func(left *mixing.Work) { t, ok = mixing.Try(s.ctx, members, alphabet, rivals.next(size), left) })
		if !ok {
			return none
		}
		size += t.Len()
		e.model.trials = append(e.model.trials, t)
	}
	return inBlocksTrial{size, tables, ofAll(before - s.budget), e}
}

// tablesInBlocks returns the trace of a plan with blocks, but for these, and whether it is made: if affords allows so
// many values of streams, and about so much work.
func (s *search) tablesInBlocks(p plan, affords func(values, work int) bool) (draft, bool) {
	shapes, x, values := p.shapes, (*streams)(nil), 0
	if len(p.streams) > 0 {
		shapes, x = stretch(shapes, s.a.functions.Functions(), p.streams, true)
		values = x.inBlocksLen()
	}
	if !affords(values, symbolWork*symbolsOf(shapes)+valueWork*values) {
		return draft{}, false
	}
	m := newModel(s.ctx, s.a, shapes, x)
	if s.ctx.Err() != nil {
		return draft{}, false
	}
	m.sortSignatures()
	e := draft{model: m, sections: m.tables(s.ctx, s.a)}
	s.spend(m.work())
	return e, s.ctx.Err() == nil
}
