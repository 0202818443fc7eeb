package tracer

import (
	"slices"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/running"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/timing"
)

// A bound keeps what a Recorder holds from growing with a run that never repeats.
type bound struct {
	size      int64        // of the trace in the end; 0 if there is no bound
	limit     int          // of what is held, see merge.Part.Held
	condensed []merge.Part // of rank 0: the calls before those of the grammar, none or one
	condenser merge.Condenser
	untimed   bool // the times of every call were left out
}

const (
	// Of what does not repeat, a symbol of a grammar and a byte of a signature take a bit of a trace at
	// least: with more of them for each of its bytes, calls would have to give way in the end.
	heldPerByte = 8

	leastHeld   = 1 << 16
	condensedTo = 4       // of the limit, the part that is left at most
	callsPerFit = 1 << 10 // after which what is held is looked at
)

func newBound(size int64, keep merge.Keep) bound {
	return bound{size: size, limit: max(leastHeld, heldPerByte*int(min(size, 1<<24))),
		condenser: merge.Condenser{Keep: keep}}
}

// fit condenses what is held if it is too much.
func (r *Recorder) fit() {
	if r.grammar.Len()%callsPerFit != 0 {
		return
	}
	if s := r.times.series; s != nil && int64(s.Size()) > r.bound.size {
		r.times.series, r.bound.untimed = nil, true
	}
	held := r.grammar.Symbols() + r.table.Size()
	for _, p := range r.bound.condensed {
		held += p.Held()
	}
	if held > r.bound.limit {
		r.condense()
	}
}

// condense condenses all calls so far, and goes on with the same functions, and without histograms
// and the times of every call.
func (r *Recorder) condense() {
	functions := r.table.Functions()
	part, err := r.bound.condenser.Condense(r.take(0, r.table.Take(r.grammar.Finish()), r.times.finish(0)),
		r.bound.limit/condensedTo)
	if err != nil { // of parts that nobody records
		r.misuse.add(err)
	}
	r.bound.condensed = []merge.Part{part}
	r.bound.limit = max(r.bound.limit, 2*part.Held()) // what cannot give way grows
	r.table = running.Table{}
	r.table.Constant()
	for _, f := range functions {
		r.table.Declare(f)
	}
	r.times = times{begin: r.times.begin, end: r.times.end, calls: r.times.calls}
}

// take returns the part of a rank, of what was condensed and the calls after that.
func (r *Recorder) take(rank int, c running.Calls, times *merge.Times) merge.Part {
	p := merge.Part{Rank: rank, Table: c.Table, Grammar: c.Grammar, Groups: r.groups, Times: times}
	if c.Streams != nil {
		p.Streams = &merge.Streams{Slots: c.Slots, Runs: c.Streams}
		if times != nil {
			times.Durations, times.Gaps = renamed(times, c.Renamed)
		}
	}
	if r.bound.untimed {
		p.Bounded = &format.Bounded{Untimed: true}
	}
	if len(r.bound.condensed) == 0 {
		return p
	}
	joined, err := merge.Join(rank, new(merge.ThreadOrder), ofRank(rank, r.bound.condensed[0]), p)
	if err != nil { // as above
		r.misuse.add(err)
	}
	joined.Groups = r.groups
	return joined
}

// ofRank returns a condensed part as that of a rank. It shares memory with p.
func ofRank(rank int, p merge.Part) merge.Part {
	p.Rank = rank
	if p.Bounded != nil && len(p.Bounded.Stretches) > 0 {
		b := *p.Bounded
		for _, list := range p.Bounded.Stretches {
			b.Stretches = map[int][]format.Stretch{rank: list}
		}
		p.Bounded = &b
	}
	if p.Times != nil {
		times := *p.Times
		for _, list := range []*[]timing.Statistics{&times.Durations.Statistics, &times.Gaps.Statistics} {
			*list = slices.Clone(*list)
			for i := range *list {
				if s := &(*list)[i]; s.Count > 0 {
					s.MinRank, s.MaxRank = uint32(rank), uint32(rank)
				}
			}
		}
		p.Times = &times
	}
	return p
}

// renamed returns the statistics of times by other terminals, of which several may be one.
func renamed(t *merge.Times, to []uint32) (durations, gaps timing.Summary) {
	own, all := layout.Summaries{t.Durations, t.Gaps}, layout.Summaries{}
	all.MergeAs(&own, to)
	return all[0], all[1]
}
