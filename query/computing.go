package query

import (
	"math"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/trace"
)

// A Computing is what a rank computes between calls of two signatures, all times together.
type Computing struct {
	Time   Nanoseconds
	Before uint64  // position of a call that comes after it
	After  *uint64 // position of a call before it; nil if these are not always of one signature
}

// LongestComputing returns where a rank computes longest in the run, by the mean gap before the calls of each
// signature on all ranks, scaled to what the trace keeps of the rank. It returns nil if there are no such
// means. It takes time in proportion to the grammar of the rank's shape.
func (t *Times) LongestComputing(r *trace.Rank) (*Computing, error) {
	need.That(r != nil, "query: no rank")
	number, ok := t.trace.ShapeOf(r.Number())
	own := t.ownOf(r)
	if !ok || own == nil {
		return nil, nil
	}
	shape, err := t.shape(number)
	if err != nil || shape.source == None {
		return nil, err
	}
	function := func(s sequitur.Symbol) int { return t.trace.FunctionOf(shape.signature(s)) }
	counts, all, means := t.meansOfPairs(shape.grammar, shape.signature)
	run := RunCallsOf(t.trace, r)
	if run.First+r.Len()-run.End > mostAround {
		return nil, nil
	}
	outside := make(map[pair]uint64) // how many of each are before MPI_Init returns, or after MPI_Finalize
	before := int64(none)
	leave := func(from, end uint64) {
		for w := shape.grammar.Walk(from); from < end; from++ {
			terminal := w.Next().Symbol
			outside[pair{before, uint32(terminal)}]++
			before = int64(terminal)
		}
	}
	leave(0, run.First)
	if run.Finalized && run.End < r.Len() {
		before = int64(shape.grammar.At(run.End - 1))
		leave(run.End, r.Len())
	}
	scaling := scalingTo(own, all, counts, means, func(p pair) int { return function(p.terminal) })
	if scaling.overlap {
		return nil, nil
	}
	var longest *Computing
	at := make(map[sequitur.Symbol]uint64)
	for position, s := range shape.grammar.FirstUses() {
		at[s] = position
	}
	for i := 0; i < len(all); { // pairs of one terminal are one after the other
		of := Computing{Before: at[all[i].terminal]}
		first, most := i, 0.0
		for ; i < len(all) && all[i].terminal == all[first].terminal; i++ {
			p := all[i]
			if p.before == none {
				continue
			}
			time := float64(counts[p]-min(counts[p], outside[p])) * max(0,
				scaling.of(function(p.terminal), means[i])[gaps])
			if of.Time += Nanoseconds(time); time > most {
				before := at[sequitur.Symbol(p.before)]
				most, of.After = time, &before
			}
		}
		if most < float64(of.Time) { // the gaps after each are not known
			of.After = nil
		}
		if of.Time > 0 && !math.IsInf(float64(of.Time), 0) && (longest == nil || of.Time > longest.Time) {
			longest = &of
		}
	}
	return longest, nil
}
