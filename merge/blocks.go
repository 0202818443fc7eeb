package merge

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/mixing"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// toBlocks sets the sections of c that say what the sequences are to blocks, and reports whether these
// take no more than most bytes, and no more work than is left. It returns an error if the signatures could not
// be read.
func (m *model) toBlocks(ctx context.Context, c *sections, a *Accumulator, most int, left *mixing.Work) (bool, error) {
	table, err := m.parseTable(c, math.MaxUint64)
	if err != nil {
		return false, err
	}
	blocks := m.blocks(ctx, most, table.Alphabet(), left)
	if blocks == nil {
		return false, nil
	}
	c.grammars = blocks
	flags := byte(layout.FlagBlocks)
	if c.order != nil {
		flags |= layout.FlagInterleaved
	}
	c.run = m.appendRun(nil, a, flags, c.grammarBytes())
	return true, nil
}

// parseTable reads the signatures as a reader will that has so much memory.
func (m *model) parseTable(c *sections, memory uint64) (*layout.Table, error) {
	signatures, _ := c.table.contents()
	return layout.ParseTable(signatures, m.functions, m.sets, m.size, c.table.lists, memory)
}

// symbols returns the number of symbols in all grammars.
func (m *model) symbols() int {
	n := 0
	for i := range m.forest.Len() {
		n += m.forest.Grammar(i).Symbols()
	}
	return n
}

// sortSignatures numbers the signatures in the order of their functions and arguments, which are
// few expressions where there is a choice.
func (m *model) sortSignatures() {
	number := make([]sequitur.Symbol, len(m.signatures))
	old := make(map[*signature]int, len(m.signatures))
	m.signatures = slices.Clone(m.signatures)
	for i, x := range m.signatures {
		of := *x
		of.fits = slices.Clone(x.fits)
		m.signatures[i], old[&of] = &of, i
	}
	m.choose()
	slices.SortStableFunc(m.signatures, m.compareSignatures)
	for i, x := range m.signatures {
		number[old[x]] = sequitur.Symbol(i)
	}
	m.forest = m.forest.Rewrite(func(s sequitur.Symbol) sequitur.Symbol { return number[s] })
}

// A choice is an expression of a slot of a function.
type choice struct {
	function, slot int
	which          fits
	expr           string
}

// choose leaves one expression to each slot of a rank that several fit: that which most signatures
// of the function have there, counted as often as they are used. Refinement takes a quarter less so.
func (m *model) choose() {
	counts := make(map[choice]int)
	m.eachChoice(func(x *signature, slot int, which fits) {
		counts[m.choiceOf(x, slot, which)] += len(x.uses)
	})
	m.eachChoice(func(x *signature, slot int, which fits) {
		best := x.fits[slot] & -x.fits[slot]
		if counts[m.choiceOf(x, slot, which)] > counts[m.choiceOf(x, slot, best)] {
			x.fits[slot] = which
		}
	})
}

// eachChoice calls do with the expressions of each slot that go with the rank in the run, and of
// constants that do.
func (m *model) eachChoice(do func(x *signature, slot int, which fits)) {
	for _, x := range m.signatures {
		for slot, all := range x.fits {
			if all&(fitsShift|fitsRing) == 0 || all.isGrouped() {
				continue
			}
			for left := all & (fitsConstant | fitsShift | fitsRing); left != 0; left &= left - 1 {
				do(x, slot, left&-left)
			}
		}
	}
}

func (m *model) choiceOf(x *signature, slot int, which fits) choice {
	b, _ := m.columns.formula(x, slot, which).Expr.AppendBinary(nil)
	return choice{x.function, slot, which, string(b)}
}

// compareSignatures compares the functions of signatures, and then their arguments as they are
// written.
func (m *model) compareSignatures(x, y *signature) int {
	if d := cmp.Or(x.function-y.function, slices.Compare(x.lengths, y.lengths)); d != 0 {
		return d
	}
	for k := range min(len(x.fits), len(y.fits)) {
		e, ok := m.columns.preferred(x, k)
		f, ok2 := m.columns.preferred(y, k)
		if !ok || !ok2 {
			if ok != ok2 {
				return cmp.Compare(x.fits[k], y.fits[k])
			}
			continue
		}
		v, constant := e.Constant()
		w, constant2 := f.Constant()
		if constant && constant2 && e.Grouped == f.Grouped {
			if v != w {
				return cmp.Compare(v, w)
			}
			continue
		}
		if d := cmp.Or(cmp.Compare(x.fits[k]&-x.fits[k], y.fits[k]&-y.fits[k]), compareExprs(e.Expr, f.Expr)); d != 0 {
			return d
		}
	}
	return 0
}

// compareExprs compares how expressions are written.
func compareExprs(e, f rankenc.Expr) int {
	x, _ := e.AppendBinary(nil)
	y, _ := f.AppendBinary(nil)
	return bytes.Compare(x, y)
}

// storedSize returns the size of sections in a file.
func storedSize(contents [][]byte) int {
	var n layout.Counter
	w := format.NewWriter(&n, format.Options{}) // of which errors stick
	for i, c := range contents {
		w.Add(layout.KindGrammars, uint64(i), c)
	}
	w.Close()
	return int(n)
}

// blocks returns the sections of grammars in blocks, nil if they take more than most bytes or more work than
// is left, or are more than a trace may have.
func (m *model) blocks(ctx context.Context, most int, alphabet mixing.Alphabet, left *mixing.Work) [][]byte {
	var (
		blocks [][]byte
		sizes  []int
		all    int
	)
	trials := m.trials
	for members := range m.blockMembers() {
		before := len(blocks)
		var ok bool
		if len(trials) > 0 {
			blocks, ok = trials[0].Append(blocks, most-all, left)
			trials = trials[1:]
		} else {
			blocks, ok = mixing.Append(ctx, blocks, members, alphabet, most-all, left)
		}
		if !ok || len(blocks) > layout.MaxBlocks || ctx.Err() != nil {
			return nil
		}
		for i, block := range blocks[before:] {
			all += len(block)
			if sizes = append(sizes, 0); i == 0 {
				sizes[before] = len(members)
			}
		}
	}
	blocks[0] = append(layout.AppendBlocks(nil, sizes), blocks[0]...)
	if storedSize(blocks) > most {
		return nil
	}
	return blocks
}

// blockMembers returns an iterator over the members of each block.
func (m *model) blockMembers() iter.Seq[[]mixing.Member] {
	return func(yield func([]mixing.Member) bool) {
		var members []mixing.Member
		symbols, values := 0, 0
		for i := range m.forest.Len() {
			x, n := m.member(i), 0
			for _, list := range x.Streams {
				n += len(list)
			}
			symbols, values = symbols+x.Grammar.Symbols(), values+n
			if len(members) > 0 && (symbols > blockSymbols || values > blockValues) {
				if !yield(members) {
					return
				}
				members, symbols, values = nil, x.Grammar.Symbols(), n
			}
			members = append(members, x)
		}
		yield(members)
	}
}

// member returns the grammar of a shape and its streams, as they stand in a block.
func (m *model) member(shape int) mixing.Member {
	x := mixing.Member{Grammar: m.forest.Grammar(shape)}
	if m.streams != nil && m.streams.inBlocks != nil {
		x.Streams = m.streams.ofMember(m.shapes[shape])
	}
	return x
}
