package main

import (
	"fmt"
	"io"
	"iter"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/ti"
)

// A difference is the first place where a trace is not what it was made from.
type difference struct {
	Rank  int    `json:"rank"`
	Call  uint64 `json:"call"`  // of the rank, from 0
	File  string `json:"file"`  // of the input; empty if its calls have ended
	Line  int64  `json:"line"`  // of the file, from 1; 0 if the calls have ended
	Trace string `json:"trace"` // the call in the trace, or empty if the rank has no more
	Input string `json:"input"` // the call in the input, or empty if the rank has no more

	// Missing are the ranks of which the input has no call though the trace has, as a
	// list; only if the difference is that.
	Missing string `json:"missing_ranks,omitempty"`
	missing string // as text

	// Turn is null or, if every rank has the same calls in both but the order of
	// all calls differs, the rank whose call the trace has in this place.
	Turn *int `json:"turn"`
}

func (d *difference) Error() string {
	at := fmt.Sprintf("rank %d, call %d", d.Rank, d.Call)
	switch {
	case d.Turn != nil:
		return fmt.Sprintf("%s: %s is at %s:%d, where the trace has a call of rank %d; the calls of each rank are equal",
			at, d.Input, d.File, d.Line, *d.Turn)
	case d.Trace == "":
		return fmt.Sprintf("%s: %s at %s:%d, nothing more in the trace", at, d.Input, d.File, d.Line)
	case d.Missing != "":
		return "the input has no call of " + d.missing
	case d.Input == "":
		return fmt.Sprintf("%s: %s in the trace, nothing more in the input", at, d.Trace)
	}
	return fmt.Sprintf("%s: %s in the trace, %s at %s:%d", at, d.Trace, d.Input, d.File, d.Line)
}

// A comparison compares what is read with a trace.
type comparison struct {
	trace     *reprise.Trace
	functions []cst.Function
	reader    *rankReader
	ranks     map[int]*comparedRank
	order     order
	disorder  *difference // the first of order, if there is one

	lost         lostRanks // of the trace; nothing of them is compared
	skippedCalls uint64    // of these ranks, in the input
	skippedRanks int       // of these ranks, those in the input
}

// newComparison returns a comparison with the trace at path.
func newComparison(trace *reprise.Trace, path string) *comparison {
	return &comparison{
		trace: trace, functions: ti.Functions(), reader: newRankReader(trace.Merged()), ranks: make(map[int]*comparedRank),
		lost: lostRanks{path: path},
	}
}

// A comparedRank is how far a rank was compared. A signature of the input that
// the table does not know gets a terminal that the grammar does not have.
type comparedRank struct {
	*reprise.Rank // nil if it cannot be read
	table         *cst.Table
	numbers       []int // by index of ti.Functions, the number in table plus one, or 0
	walk          *sequitur.Walker
	run           sequitur.Run // what is left of it
	position      uint64
}

// compare returns nil if the calls that in reads, and their order, are those of
// the trace, a *difference if not. A difference of order is reported only if
// every rank has the same calls: a call that is missing changes the order, too.
// Ranks that cannot be read are left out, in the trace and in the input.
func (c *comparison) compare(in *ti.Reader, bar *progress) error {
	c.order.begin(c.trace)
	defer c.order.stop()
	for {
		call, err := in.Read()
		if err == io.EOF {
			return c.end()
		}
		if err == nil {
			err = c.call(call, in)
		}
		if err == nil {
			err = bar.step(in.Stats().Bytes)
		}
		if err != nil {
			return err
		}
	}
}

// rank returns the place in a rank of the trace, or nil if there is no such rank.
func (c *comparison) rank(rank int) *comparedRank {
	if r := c.ranks[rank]; r != nil || rank >= c.trace.Ranks() {
		return r
	}
	r, err := c.reader.rank(c.trace, rank)
	if err != nil {
		c.lost.add(rank, err)
		c.ranks[rank] = new(comparedRank)
		return c.ranks[rank]
	}
	table, _, _ := cst.Merge(r.Table(), new(cst.Table)) // a copy to add to
	c.ranks[rank] = &comparedRank{Rank: r, table: table, numbers: make([]int, len(c.functions)), walk: r.Walk(0)}
	return c.ranks[rank]
}

// call compares the next call of the input, which in has read last, with that of
// the trace.
func (c *comparison) call(call ti.Call, in *ti.Reader) error {
	r := c.rank(call.Rank)
	if r != nil && r.Rank == nil {
		if r.position++; r.position == 1 {
			c.skippedRanks++
		}
		c.skippedCalls++
		return nil
	}
	d := difference{Rank: call.Rank}
	equal := false
	if r != nil {
		d.Call = r.position
		if r.run.Count == 0 {
			r.run = r.walk.Next()
		}
		equal = r.run.Count > 0 && r.terminal(c.functions, call) == r.run.Symbol
	}
	inTurn := true
	if c.disorder == nil && equal {
		inTurn = c.inTurn(call.Rank)
	}
	if !equal || !inTurn {
		d.File, d.Line = in.Place()
		d.Input = string(cst.AppendCall(nil, c.functions[call.Function], call.Args))
		if r != nil && r.run.Count > 0 {
			d.Trace = r.Rank.Call(r.run.Symbol).String()
		}
	}
	if !equal {
		return &d
	}
	if !inTurn {
		turn := c.order.rank
		d.Turn, c.disorder = &turn, &d
	}
	r.run.Count--
	r.position++
	return nil
}

// terminal returns what stands for the signature of a call in the rank's table.
func (r *comparedRank) terminal(functions []cst.Function, call ti.Call) sequitur.Symbol {
	if r.numbers[call.Function] == 0 {
		r.numbers[call.Function] = r.table.Declare(functions[call.Function]) + 1
	}
	return r.table.Intern(r.numbers[call.Function]-1, call.Args...)
}

// inTurn reports whether the next call of the trace, disregarding ranks that
// cannot be read, is one of this rank, and goes on to the one after it.
func (c *comparison) inTurn(rank int) bool {
	for c.order.left == 0 {
		c.order.next()
		r := c.rank(c.order.rank)
		switch {
		case r.Rank == nil:
			c.order.left = 0
		case c.order.walk == nil:
			c.order.left = r.Len()
		}
	}
	c.order.left--
	return c.order.rank == rank
}

// end checks that the trace has no calls beyond the end of the input.
func (c *comparison) end() error {
	for rank := range c.trace.Active() {
		r := c.rank(rank)
		if r.Rank == nil {
			continue
		}
		for _, call := range r.CallsFrom(r.position) {
			d := &difference{Rank: rank, Call: r.position, Trace: call.String()}
			if r.position == 0 {
				missing := c.missing()
				d.Missing, d.missing = missing.String(), text.Ranks(missing)
			}
			return d
		}
	}
	if c.disorder != nil {
		return c.disorder
	}
	return nil
}

// missing returns the ranks of the trace of which the input has no call.
func (c *comparison) missing() rankenc.Set {
	var ranks []int
	for rank := range c.trace.Active() {
		if r := c.ranks[rank]; r == nil || r.Rank != nil && r.position == 0 {
			ranks = append(ranks, rank)
		}
	}
	return rankenc.SetOf(ranks...)
}

// An order is a place in the order of the calls of a trace.
type order struct {
	rank   int              // whose turn it is
	left   uint64           // calls of rank that come before those of another
	walk   *sequitur.Walker // of an interleaving; nil if the order is rank by rank
	active func() (rank int, ok bool)
	stop   func()
}

func (o *order) begin(trace *reprise.Trace) {
	if g := trace.Run().Interleaving; g != nil {
		o.walk = g.Walk(0)
	}
	o.active, o.stop = iter.Pull(trace.Active())
}

// next goes on to the next turn, of which there must be one. Rank by rank, the
// caller knows how many calls it has.
func (o *order) next() {
	if o.walk == nil {
		o.rank, _ = o.active()
		return
	}
	turn := o.walk.Next()
	o.rank, o.left = int(turn.Symbol), turn.Count
}
