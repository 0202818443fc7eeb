package main

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/ti"
)

// isTI reports whether a trace was made from a SimGrid trace, or merged from
// several, and holds nothing else.
func isTI(trace *reprise.Trace) bool {
	if !slices.Contains(strings.Split(trace.Run().Source, sourceSeparator), ti.Source) {
		return false
	}
	_, err := newConverter(trace)
	return err == nil
}

// A counter counts the calls of a trace from its grammars, without expanding
// them.
type callCounter struct {
	trace *reprise.Trace
	ranks *rankReader
	lost  *lostRanks
	bar   *progress

	shapes    []*merge.Shape // those that can be read, nil for the others
	readable  []int          // ranks of each shape that can be read
	done      int            // ranks that were looked at
	functions []uint64       // calls of each function

	toTI func(reprise.Call) ti.Call // nil: no text
	text uint64                     // bytes of the calls as text
	line []byte
}

func newCallCounter(trace *reprise.Trace, path string, bar *progress) *callCounter {
	c := &callCounter{
		trace: trace, ranks: newRankReader(trace.Merged()), lost: &lostRanks{path: path}, bar: bar,
		shapes: make([]*merge.Shape, trace.Merged().Shapes()), readable: make([]int, trace.Merged().Shapes()),
		functions: make([]uint64, len(trace.Functions())),
	}
	if isTI(trace) {
		c.toTI, _ = newConverter(trace)
	}
	return c
}

// count counts all calls. It returns an error only if the work was cancelled.
func (c *callCounter) count(ctx context.Context) error {
	for number := range c.shapes {
		set, err := c.trace.Merged().ShapeRanks(number), error(nil)
		if c.shapes[number], err = c.trace.Merged().Shape(number); err != nil {
			for _, rank := range set.All() {
				c.lost.add(int(rank), err)
			}
			continue
		}
		for _, rank := range set.All() {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			c.rank(int(rank), number)
		}
		c.shape(c.shapes[number], c.readable[number])
	}
	return nil
}

// rank counts the text of a rank. If there is no text, the first rank of a shape
// stands for the others.
func (c *callCounter) rank(rank, shape int) {
	c.done++
	if c.toTI == nil && c.readable[shape] > 0 {
		c.readable[shape]++
		return
	}
	c.bar.show(uint64(c.done))
	r, err := c.ranks.rank(c.trace, rank)
	if err != nil {
		c.lost.add(rank, err)
		return
	}
	c.readable[shape]++
	for s, count := range r.Occurrences() {
		if c.toTI == nil {
			break
		}
		if c.line, err = ti.AppendCall(c.line[:0], c.toTI(r.Call(s))); err != nil {
			c.toTI = nil // a call that is not a line: there is no text
			break
		}
		c.text = wire.AddSat(c.text, wire.MulSat(count, uint64(len(c.line))))
	}
}

// shape counts the calls of so many ranks of a shape.
func (c *callCounter) shape(s *merge.Shape, ranks int) {
	for signature, count := range s.Grammar.Occurrences() {
		f := &c.functions[c.trace.Merged().FunctionOf(int(signature))]
		*f = wire.AddSat(*f, wire.MulSat(count, uint64(ranks)))
	}
}

// sorted returns the calls of each function by name, the greatest first.
func (c *callCounter) sorted() []functionCount {
	calls := make(map[string]uint64)
	for i, f := range c.trace.Functions() {
		if c.functions[i] > 0 {
			calls[f.Name] = wire.AddSat(calls[f.Name], c.functions[i])
		}
	}
	list := make([]functionCount, 0, len(calls))
	for name, n := range calls {
		list = append(list, functionCount{name, n})
	}
	slices.SortFunc(list, func(a, b functionCount) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name))
	})
	return list
}
