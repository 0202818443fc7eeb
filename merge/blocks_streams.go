package merge

import (
	"context"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/mixing"
	"github.com/reprise-trace/reprise/sequitur"
)

const (
	// maxStretched is how many symbols the grammars of a trace have of which streams stand in blocks, at
	// the most: each value takes as long to read.
	maxStretched = 1 << 16

	// maxValues is how many values the streams of a trace have, at the most: calls that repeat have
	// many more than their grammars have symbols.
	maxValues = 1 << 18

	// sampleSymbols is how many symbols the grammars have, at the most, of the shapes that are written
	// to see which arguments should be elastic, unless there is one.
	sampleSymbols = 1 << 13

	// little is the part of the size of a sample that it is smaller by at the least for each argument or
	// pair: calls that have some are expanded to be read.
	little = 1 << 8

	// clearPart is the part by which a trace is smaller with streams in blocks than with a forest, at the least, for
	// nothing else to be tried, as each trial takes as long, and clearInSample that by which a sample is smaller than in blocks without streams.
	clearPart     = 1 << 4
	clearInSample = 1 << 7
)

// A streamTrial is what is known of streams in blocks before anything else is tried.
type streamTrial struct {
	arguments []layout.StreamArgument // that make a sample smaller, none if streams are not worth it
	sampled   bool                    // the sample is clearly smaller with these than without groups,
	clearly   bool                    // and than with them
	plain     int                     // size of the trace with a forest, and without streams
	draft     draft                   // the trace with streams in blocks, without a model if it was not made
}

// tryStreams looks for the arguments that are to have streams in blocks, in a sample of shapes.
func (a *Accumulator) tryStreams(ctx context.Context, shapes []*shape, order *sequitur.Grammar) (t streamTrial) {
	if a.condensed || symbolsOf(shapes) > maxStretched {
		return t
	}
	without := a.withoutGroups(shapes)
	candidates := elasticCandidates(without, a.functions.Functions(), true)
	if len(candidates) == 0 {
		return t
	}
	plain := a.factored(ctx, shapes, nil)
	grouped := slices.ContainsFunc(shapes, (*shape).isGrouped)
	if ctx.Err() != nil || !worthStretching(without, &plain) && !(grouped && nearlyWorth(&plain)) {
		return t
	}
	plain.setOrder(ctx, a, order)
	arguments, size, least := a.elasticInBlocks(ctx, sampleOf(without), candidates[:min(len(candidates), maxInBlocks)])
	if len(arguments) == 0 || ctx.Err() != nil {
		return t
	}
	t = streamTrial{arguments: arguments, plain: plain.size(), sampled: least < size-size/clearInSample}
	if !t.sampled || len(shapes) != len(without) {
		return t
	}
	if grouped {
		size = a.sizeInBlocks(ctx, sampleOf(shapes), nil)
	}
	t.clearly = least < size-size/clearInSample
	return t
}

// stretchInBlocks makes the trace of shapes with streams in its blocks, and reports whether it is smaller than most
// bytes.
func (t *streamTrial) stretchInBlocks(ctx context.Context, a *Accumulator, shapes []*shape, order *sequitur.Grammar, most int) bool {
	if t.draft.model == nil {
		e, ok := a.draftInBlocks(ctx, a.withoutGroups(shapes), t.arguments)
		if !ok {
			return false
		}
		if order != nil {
			e.sections.order, _ = order.AppendBinary(nil)
			e.sections.run = e.model.appendRun(nil, a, layout.FlagBlocks|layout.FlagInterleaved, e.sections.grammarBytes())
		}
		t.draft = e
	}
	return t.draft.size() < most
}

// worthStretching reports whether streams in blocks are tried of shapes, whose trace without them is e. They are not
// where grammars take next to nothing, as streams would have to say the order of calls, or where a symbol of
// them takes less than a bit of the trace: then all of it is predicted already.
func worthStretching(shapes []*shape, e *draft) bool {
	return symbolsOf(shapes) <= min(maxStretched, 8*e.size()) && storedSize(e.sections.grammars) >= worth(e.size())
}

// nearlyWorth reports whether streams in blocks may be worth trying without groups, where e has groups: without them its grammars are hardly
// more than twice as large.
func nearlyWorth(e *draft) bool { return 2*storedSize(e.sections.grammars) >= worth(e.size()) }

// elasticInBlocks returns the arguments that make the trace of shapes smaller in blocks, each by a little
// at least, and all by what streams are worth, or none: of the candidates, those without which there are
// fewest signatures are tried first. Plain is the size without streams, and least that with these.
func (a *Accumulator) elasticInBlocks(ctx context.Context, shapes []*shape, candidates []candidate) (taken []layout.StreamArgument, plain, least int) {
	plain = a.sizeInBlocks(ctx, shapes, nil)
	least = plain
	for _, c := range candidates {
		with := slices.Clone(taken)
		for _, e := range c.arguments() {
			if !slices.Contains(with, e) {
				with = append(with, e)
			}
		}
		if len(with) == len(taken) {
			continue
		}
		if n := a.sizeInBlocks(ctx, shapes, with); n < least-least/little {
			least, taken = n, with
		}
	}
	if plain-least < worth(plain) {
		return nil, plain, plain
	}
	return taken, plain, least
}

// draftInBlocks returns the trace of shapes with streams of arguments in blocks, rank by rank, and whether
// there is one.
func (a *Accumulator) draftInBlocks(ctx context.Context, shapes []*shape, arguments []layout.StreamArgument) (draft, bool) {
	e, ok := a.tablesInBlocks(ctx, shapes, arguments)
	if !ok {
		return e, false
	}
	ok, err := e.model.toBlocks(ctx, &e.sections, a, math.MaxInt)
	return e, ok && err == nil
}

// sizeInBlocks returns about the size of that trace, as far as arguments make a difference.
func (a *Accumulator) sizeInBlocks(ctx context.Context, shapes []*shape, arguments []layout.StreamArgument) int {
	e, ok := a.tablesInBlocks(ctx, shapes, arguments)
	if !ok {
		return math.MaxInt
	}
	table, err := e.model.parseTable(&e.sections, math.MaxUint64)
	if err != nil {
		return math.MaxInt
	}
	size, alphabet := e.sections.size(), table.Alphabet()
	for members := range e.model.blockMembers() {
		n, ok := mixing.Len(ctx, members, alphabet)
		if !ok {
			return math.MaxInt
		}
		size += n
	}
	return size
}

// tablesInBlocks returns that trace without its grammars.
func (a *Accumulator) tablesInBlocks(ctx context.Context, shapes []*shape, arguments []layout.StreamArgument) (draft, bool) {
	var x *streams
	if len(arguments) > 0 {
		if shapes, x = stretch(shapes, a.functions.Functions(), arguments, true); x.inBlocksLen() > maxValues {
			return draft{}, false
		}
	}
	m := newModel(ctx, a, shapes, x)
	if ctx.Err() != nil {
		return draft{}, false
	}
	m.sortSignatures()
	return draft{model: m, sections: m.tables(ctx, a)}, ctx.Err() == nil
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
