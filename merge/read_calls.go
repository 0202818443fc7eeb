package merge

import (
	"fmt"
	"iter"
	"sync"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/sequitur"
)

// Calls are what one rank called. Their methods may be called from several
// goroutines at once.
type Calls struct {
	rank  int
	table *cst.Table

	// The terminals, call by call, if that is shorter than the grammar is likely
	// to be, which is made of them when it is asked for. Otherwise list is nil.
	list    []sequitur.Symbol
	once    sync.Once
	grammar *sequitur.Grammar

	groups map[uint32]Group // of terminals, where the trace has them

	// Which signature of the shape each terminal stands for: the one with its number
	// if sources is nil.
	shape   *Shape
	sources []uint32
	firsts  []uint32 // likewise, but always the first one
}

// setGroup takes note of the group of a terminal, if the signature that r read last
// has one.
func (c *Calls) setGroup(r *rankReader, terminal sequitur.Symbol) {
	if !r.grouped {
		return
	}
	if c.groups == nil {
		c.groups = make(map[uint32]Group)
	}
	c.groups[terminal] = r.group
}

// Calls reads the calls of a rank. A rank that made none has no signatures. An
// error about the file is a [*SectionError].
func (t *Trace) Calls(rank int) (*Calls, error) {
	if rank < 0 || rank >= t.run.Ranks {
		return nil, fmt.Errorf("merge: there is no rank %d in a run of %d", rank, t.run.Ranks)
	}
	c := &Calls{rank: rank, grammar: &sequitur.Grammar{}}
	c.table, _, _ = cst.Merge(t.functions, &cst.Table{})
	number, ok := t.index.find(rank)
	if !ok {
		return c, nil
	}
	s, err := t.Shape(number)
	if err != nil {
		return nil, err
	}
	if n := s.Grammar.Len(); t.calls != nil && t.calls[sequitur.Symbol(rank)] != n {
		return nil, &SectionError{KindInterleaving, 0, -1, corrupt("%d calls of rank %d, which has %d", t.calls[sequitur.Symbol(rank)], rank, n)}
	}
	c.shape = s
	r := newRankReader(s, rank)
	if r.template.elastic {
		err = c.expand(r)
	} else {
		err = c.rewrite(r)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// rewrite sets the grammar to that of the shape of a rank.
func (c *Calls) rewrite(r *rankReader) error {
	terminals := make([]sequitur.Symbol, len(r.shape.signatures))
	same := true // as the numbers of the signatures
	for i := range terminals {
		fn, args, err := r.signature(i)
		if err != nil {
			return err
		}
		terminals[i] = c.table.InternRun(fn, 0, args...)
		c.setGroup(r, terminals[i])
		c.setSource(terminals[i], i)
		same = same && terminals[i] == sequitur.Symbol(i)
	}
	if c.grammar = r.template.grammar; !same {
		c.grammar = c.grammar.Rewrite(func(x sequitur.Symbol) sequitur.Symbol { return terminals[x] })
	} else {
		c.sources, c.firsts = nil, nil
	}
	return nil
}

// Len returns the number of calls.
func (c *Calls) Len() uint64 {
	if c.list != nil {
		return uint64(len(c.list))
	}
	return c.grammar.Len()
}

// Listed reports whether the calls are held one by one, as where their arguments vary
// without a pattern: then [Calls.Walk] goes through them, but [Calls.Grammar] has to make
// a grammar of them.
func (c *Calls) Listed() bool { return c.list != nil }

// Table returns the signatures of the terminals, whose functions are those of
// [Trace.Functions] and whose counts are zero: [Calls.Occurrences] has them. It must
// not be changed.
func (c *Calls) Table() *cst.Table { return c.table }

// Signature returns the number of the signature of the trace that a terminal,
// terminal < c.Table().Len(), stands for: the first, if it stands for several.
// [Trace.Signature] describes it, and [Trace.Summaries] has the times of its calls.
func (c *Calls) Signature(terminal uint32) int {
	if c.firsts != nil {
		terminal = c.firsts[terminal]
	}
	return int(c.shape.signatures[terminal])
}

// Walk returns a Walker of the terminals of the calls from a position on, which
// costs as much as [sequitur.Grammar.At] at most.
func (c *Calls) Walk(position uint64) *sequitur.Walker {
	if c.list != nil {
		return sequitur.WalkSymbols(c.list[min(position, uint64(len(c.list))):])
	}
	return c.grammar.Walk(position)
}

// Find returns an iterator over the positions, from a given one on, of the calls
// whose terminals are to be kept, and these terminals. Keep must always say the same of
// a terminal. What is between such calls is skipped
// as [sequitur.Measure.From] does; of calls whose arguments vary without a pattern,
// it is gone through.
func (c *Calls) Find(position uint64, keep func(terminal sequitur.Symbol) bool) iter.Seq2[uint64, sequitur.Symbol] {
	if c.list == nil {
		return c.grammar.Measure(func(x sequitur.Symbol) uint64 {
			if keep(x) {
				return 1
			}
			return 0
		}).From(position)
	}
	return func(yield func(uint64, sequitur.Symbol) bool) {
		for ; position < uint64(len(c.list)); position++ {
			if x := c.list[position]; keep(x) && !yield(position, x) {
				return
			}
		}
	}
}

// Grammar returns the calls as a grammar over terminals. Where the arguments of
// calls vary without a pattern, it is made call by call the first time, and
// [Calls.Walk] does without it.
func (c *Calls) Grammar() *sequitur.Grammar {
	if c.list != nil {
		c.once.Do(func() {
			var b sequitur.Builder
			for _, x := range c.list {
				b.Append(x)
			}
			c.grammar = b.Finish()
		})
	}
	return c.grammar
}

// Occurrences returns an iterator over the terminals, in ascending order, and how
// many calls each stands for.
func (c *Calls) Occurrences() iter.Seq2[sequitur.Symbol, uint64] {
	if c.list == nil {
		return c.grammar.Occurrences()
	}
	return func(yield func(sequitur.Symbol, uint64) bool) {
		counts := make([]uint64, c.table.Len())
		for _, x := range c.list {
			counts[x]++
		}
		for x, n := range counts {
			if !yield(sequitur.Symbol(x), n) {
				return
			}
		}
	}
}

// Part reads the part of a rank, whose functions are those of [Trace.Functions]
// and whose counts are zero: the grammar has these. A rank that made no calls
// has no signatures and an empty grammar. An error about the file is a
// [*SectionError].
func (t *Trace) Part(rank int) (Part, error) {
	c, err := t.Calls(rank)
	if err != nil {
		return Part{}, err
	}
	return Part{Rank: rank, Table: c.table, Grammar: c.Grammar(), groups: c.groups}, nil
}
