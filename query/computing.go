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
			if p.before == none || InStartup(t.trace.Functions()[function(p.terminal)].Name) {
				continue
			}
			time := float64(counts[p]) * max(0, scaling.of(function(p.terminal), means[i])[gaps])
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
