package merge

import (
	"context"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/internal/layout"
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
)

// stretchInBlocks returns the trace of shapes with streams in its blocks, if that is smaller than
// best. They are those of arguments that make a sample smaller, one after the other. None is tried where
// grammars take next to nothing, as streams would have to say the order of calls, or where a symbol of
// them takes less than a bit of the trace: then all of it is predicted already.
func (a *Accumulator) stretchInBlocks(ctx context.Context, shapes []*shape, best draft) draft {
	if symbols := symbolsOf(shapes); symbols > min(maxStretched, 8*best.size()) || storedSize(best.sections.grammars) < worth(best.size()) {
		return best
	}
	shapes = a.withoutGroups(shapes)
	candidates := elasticCandidates(shapes, a.functions.Functions(), true)
	if len(candidates) == 0 {
		return best
	}
	arguments := a.elasticInBlocks(ctx, sampleOf(shapes), candidates[:min(len(candidates), maxInBlocks)])
	if len(arguments) == 0 || ctx.Err() != nil {
		return best
	}
	e, ok := a.draftInBlocks(ctx, shapes, arguments)
	if ok && best.sections.order != nil {
		e.sections.order = best.sections.order
		e.sections.run = e.model.appendRun(nil, a, layout.FlagBlocks|layout.FlagInterleaved, e.sections.grammarBytes())
	}
	if !ok || e.size() >= best.size() {
		return best
	}
	return e
}

// elasticInBlocks returns the arguments that make the trace of shapes smaller in blocks, each by a little
// at least, and all by what streams are worth, or none: of the candidates, those without which there are
// fewest signatures are tried first.
func (a *Accumulator) elasticInBlocks(ctx context.Context, shapes []*shape, candidates []candidate) []layout.StreamArgument {
	var (
		taken []layout.StreamArgument
		plain = a.sizeInBlocks(ctx, shapes, nil)
		least = plain
	)
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
		return nil
	}
	return taken
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
	table, err := e.model.parseTable(&e.sections)
	if err != nil {
		return math.MaxInt
	}
	size, alphabet := e.sections.size(), table.Alphabet()
	for members := range e.model.blockMembers() {
		n, ok := sequitur.MixedLen(ctx, members, alphabet)
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
