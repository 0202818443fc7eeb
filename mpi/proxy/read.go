package proxy

import (
	"errors"
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/trace"
)

// read reads what all shapes call.
func (g *generator) read() error {
	if g.size > MaxRanks {
		return fmt.Errorf("%w: %d ranks, at most %d", errLimit, g.size, MaxRanks)
	}
	if g.stretches() {
		return errors.New("proxy: the trace was made to fit a size, and does not have the order of all calls")
	}
	g.grammars, g.folded = make([]*sequitur.Grammar, g.trace.Shapes()), make([]map[uint32]uint32, g.trace.Shapes())
	budget := maxValues
	for number := range g.trace.Shapes() {
		calls := make(map[uint32]*call)
		g.calls = append(g.calls, calls)
		if g.trace.ShapeRanks(number).Len() == 0 {
			continue
		}
		shape, err := g.trace.Shape(number)
		if err != nil {
			return err
		}
		var ranks []int
		for _, rank := range shape.Ranks.All() {
			ranks = append(ranks, rank)
		}
		streams := false
		for n, times := range shape.Grammar.Occurrences() {
			c := &call{shape: number, signature: shape.Signature(int(n)), ranks: ranks, times: times}
			for _, p := range c.signature.Function.Params {
				if p.Name == trace.ThreadParam {
					return errors.New("proxy: several threads of a rank call MPI, and a program has one")
				}
			}
			if i, ok := spec.Lookup(c.signature.Function.Name); ok {
				c.function = &spec.Functions()[i]
			}
			c.left = c.unable()
			if budget -= len(ranks) * len(c.signature.Args); budget < 0 {
				return fmt.Errorf("%w: more than %d arguments of ranks", errLimit, maxValues)
			}
			varies, err := c.read()
			if err != nil {
				return err
			}
			streams = streams || varies
			calls[n] = c
		}
		if streams {
			if err := g.readStreams(shape, calls, ranks, &budget); err != nil {
				return err
			}
		}
		for _, c := range calls {
			if c.left == "" && c.switches() {
				c.left = "switches recording off or on, so that calls are missing"
			}
		}
		own := ownRequests(calls)
		for _, c := range calls {
			if c.left == "" {
				c.countVain(own)
			}
		}
		g.grammars[number], g.folded[number] = g.fold(shape, calls)
		if g.written += g.grammars[number].Symbols(); g.written > maxSource {
			return fmt.Errorf("%w: loops of more than %d calls", errLimit, maxSource)
		}
	}
	g.findForeign()
	return g.readGaps()
}

// stretches reports whether the order of some calls is not known.
func (g *generator) stretches() bool {
	for number := range g.trace.Shapes() {
		ranks := g.trace.ShapeRanks(number)
		if ranks.Len() > 0 && len(layout.StretchesOf(g.trace.Run().Bounded, int(ranks.At(0)))) > 0 {
			return true
		}
	}
	return false
}

// read reads the arguments of a call, and reports whether some of them vary from call to call.
func (c *call) read() (varies bool, err error) {
	for _, a := range c.signature.Args {
		v := &values{ranks: c.ranks}
		for _, x := range a.Values {
			v.varies = v.varies || x.Form == trace.Stream
		}
		if len(a.Values) == 1 && a.Values[0].Form == trace.Expression && !a.Values[0].InGroup {
			v.expr = &a.Values[0]
		}
		if v.varies {
			v.of = make([][]cst.Value, len(c.ranks))
			varies = true
		} else {
			for _, rank := range c.ranks {
				x, err := a.At(rank)
				if err != nil {
					return false, err
				}
				v.of = append(v.of, []cst.Value{x})
			}
		}
		c.args = append(c.args, v)
	}
	return varies, nil
}

// readStreams reads the values that vary from call to call: those of all calls of all ranks.
func (g *generator) readStreams(shape *trace.Shape, calls map[uint32]*call, ranks []int, budget *int) error {
	length := shape.Grammar.Len()
	if length > min(maxValues, uint64(maxReads/len(ranks))) {
		return fmt.Errorf("%w: %d calls of %d ranks with arguments that vary", errLimit, length, len(ranks))
	}
	list := shape.Grammar.AppendSymbols(nil)
	spare := make(map[*values][]cst.Value)
	for k, rank := range ranks {
		if err := g.ctx.Err(); err != nil {
			return err
		}
		for _, c := range calls {
			for _, v := range c.args {
				if v.varies {
					v.of[k] = spare[v][:0]
				}
			}
		}
		if err := g.readStreamsOf(calls, list, k, rank, budget); err != nil {
			return err
		}
		for _, c := range calls {
			for _, v := range c.args {
				if !v.varies || k == 0 {
					continue
				}
				if spare[v] = nil; slices.EqualFunc(v.of[k], v.of[0], cst.Value.Equal) {
					*budget += len(v.of[k])
					spare[v], v.of[k] = v.of[k], v.of[0]
				}
			}
		}
	}
	return nil
}

// readStreamsOf reads the values of the k-th rank, which makes a list of calls.
func (g *generator) readStreamsOf(calls map[uint32]*call, list []uint32, k, rank int, budget *int) error {
	r, err := g.trace.Rank(rank)
	if err != nil {
		return err
	}
	walker := r.Walk(0)
	for i := 0; i < len(list); {
		run := walker.Next()
		if run.Count == 0 {
			return fmt.Errorf("proxy: rank %d has %d calls, not %d", rank, i, len(list))
		}
		args := r.Call(run.Symbol).Args
		for range run.Count {
			for j, v := range calls[list[i]].args {
				if v.varies {
					v.of[k] = append(v.of[k], args[j])
					*budget--
				}
			}
			i++
		}
		if *budget < 0 {
			return fmt.Errorf("%w: more than %d values", errLimit, maxValues)
		}
	}
	return nil
}
