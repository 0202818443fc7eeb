package trace

import (
	"iter"
	"sort"
	"sync"

	"github.com/reprise-trace/reprise/internal/sums"
	"github.com/reprise-trace/reprise/sequitur"
)

// A flow is which calls a rank makes in which order, without the values of its own. Ranks of a shape without
// streams share flows: that of the shape, or that of a union of some of its signatures. A rank with streams
// has its own.
type flow struct {
	calls sequence // by their terminals

	// Which signature of the shape, its i-th, each terminal stands for: the one with its number if of is nil.
	of      []uint32
	several map[uint32]bool // terminals that stand for signatures with different expressions, too
	varied  *varied         // nil without streams
	kept    []uint64        // by function, slots whose values are among those of varied where they advance
}

// Varied are the values of streams in the calls of terminals.
type varied struct {
	values []int64            // slot by slot
	begin  []uint32           // of those of each terminal
	others map[[2]uint32]bool // terminals, and signatures that they stand for besides the one that of says
}

// in returns the values of a terminal, and those after them.
func (v *varied) in(terminal uint32) []int64 { return v.values[v.begin[terminal]:] }

// noCalls is the flow of ranks that made no calls.
var noCalls = &flow{calls: grammarCalls{&sequitur.Grammar{}}}

// signatureOf returns the signature of the shape, its i-th, that a terminal stands for:
// the first, if it stands for several.
func (f *flow) signatureOf(terminal uint32) int {
	if f.of == nil {
		return int(terminal)
	}
	return int(f.of[terminal])
}

// A sequence is calls by their terminals: a grammar or, if that is likely to be longer, a list of them one by
// one. A Grammar and its methods say what those do that it has in common with a sequence.
type sequence interface {
	Len() uint64
	Walk(position uint64) *sequitur.Walker
	Occurrences() iter.Seq2[sequitur.Symbol, uint64]
	FirstUses() iter.Seq2[uint64, sequitur.Symbol]

	// grammar returns the calls as a grammar.
	grammar() *sequitur.Grammar

	// some returns those of the calls whose terminals are to be kept.
	some(keep func(terminal sequitur.Symbol) bool) someCalls
}

// SomeCalls are the calls of a sequence with some terminals.
type someCalls interface {
	// from returns an iterator over their positions from a given one on, and their terminals.
	from(position uint64) iter.Seq2[uint64, sequitur.Symbol]
	// before returns how many there are before a position.
	before(position uint64) uint64
	// at returns the position of the n-th, from 0 on.
	at(n uint64) uint64
}

// GrammarCalls are a sequence that is a grammar.
type grammarCalls struct{ *sequitur.Grammar }

func (c grammarCalls) grammar() *sequitur.Grammar { return c.Grammar }

func (c grammarCalls) some(keep func(sequitur.Symbol) bool) someCalls {
	return measuredCalls{sums.Of(c.Grammar).Measure(func(x sequitur.Symbol) uint64 {
		if keep(x) {
			return 1
		}
		return 0
	})}
}

// MeasuredCalls are some calls of a grammar.
type measuredCalls struct{ *sums.Measure }

func (c measuredCalls) from(position uint64) iter.Seq2[uint64, sequitur.Symbol] {
	return c.From(position)
}

func (c measuredCalls) before(position uint64) uint64 { return c.Before(position).Weight }

func (c measuredCalls) at(n uint64) uint64 {
	position, _, _ := c.Find(n)
	return position
}

// ListedCalls are a sequence that is a list, of which a grammar is made when it is asked for.
type listedCalls struct {
	list      []sequitur.Symbol
	terminals int
	made      func() *sequitur.Grammar
}

func newListedCalls(list []sequitur.Symbol, terminals int) *listedCalls {
	return &listedCalls{list, terminals, sync.OnceValue(func() *sequitur.Grammar {
		var b sequitur.Builder
		for _, x := range list {
			b.Append(x)
		}
		return b.Finish()
	})}
}

func (c *listedCalls) Len() uint64 { return uint64(len(c.list)) }

func (c *listedCalls) Walk(position uint64) *sequitur.Walker {
	return sequitur.WalkSymbols(c.list[min(position, uint64(len(c.list))):])
}

func (c *listedCalls) Occurrences() iter.Seq2[sequitur.Symbol, uint64] {
	return func(yield func(sequitur.Symbol, uint64) bool) {
		counts := make([]uint64, c.terminals)
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

func (c *listedCalls) FirstUses() iter.Seq2[uint64, sequitur.Symbol] {
	return func(yield func(uint64, sequitur.Symbol) bool) {
		seen := make([]bool, c.terminals)
		for position, x := range c.list {
			if !seen[x] && !yield(uint64(position), x) {
				return
			}
			seen[x] = true
		}
	}
}

func (c *listedCalls) grammar() *sequitur.Grammar { return c.made() }

func (c *listedCalls) some(keep func(sequitur.Symbol) bool) someCalls {
	return &filteredCalls{list: c.list, keep: keep}
}

// FilteredCalls are some calls of a list.
type filteredCalls struct {
	list []sequitur.Symbol
	keep func(sequitur.Symbol) bool

	once      sync.Once
	positions []uint64 // once they are asked for
}

func (c *filteredCalls) from(position uint64) iter.Seq2[uint64, sequitur.Symbol] {
	return func(yield func(uint64, sequitur.Symbol) bool) {
		for at := position; at < uint64(len(c.list)); at++ {
			if x := c.list[at]; c.keep(x) && !yield(at, x) {
				return
			}
		}
	}
}

// all returns all positions.
func (c *filteredCalls) all() []uint64 {
	c.once.Do(func() {
		for at := range c.from(0) {
			c.positions = append(c.positions, at)
		}
	})
	return c.positions
}

func (c *filteredCalls) before(position uint64) uint64 {
	all := c.all()
	return uint64(sort.Search(len(all), func(i int) bool { return all[i] >= position }))
}

func (c *filteredCalls) at(n uint64) uint64 { return c.all()[n] }
