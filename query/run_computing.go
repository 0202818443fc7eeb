package query

import (
	"math"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/trace"
)

// ComputingBounds returns how long ranks compute in a run at least and at most, by the sums that the trace keeps of
// each: outside calls, and in those of functions that computes is true of. It is from 0 to +Inf for a rank of which
// they do not tell it: calls overlap, or the trace keeps none. What a rank computes before the last one has returned
// from MPI_Init, and so is not in the run, is in no sum: it is from the least to the most that the shortest and the
// longest gaps and calls of the signatures there allow.
func (t *Times) ComputingBounds(run *RunTimes, computes func(function string) bool) (
	of func(rank int) (low, high Nanoseconds, err error), err error) {
	need.That(computes != nil, "query: no functions")
	f, err := t.runFinder()
	if err != nil {
		return nil, err
	}
	unknown := t.ranks == nil || run == nil || t.overlap() > 0 || HasThreads(t.trace)
	return func(rank int) (low, high Nanoseconds, err error) {
		if unknown {
			return 0, Nanoseconds(math.Inf(1)), nil
		}
		kept, ok := t.ranks.Find(rank)
		if !ok || kept.Gaps.High == math.MaxInt64 {
			return 0, Nanoseconds(math.Inf(1)), nil
		}
		calls, err := f.shapeOf(rank)
		if err != nil {
			return 0, 0, err
		}
		low = Nanoseconds(kept.Gaps.Low) - calls.gapsAround.high
		high = Nanoseconds(kept.Gaps.High) - calls.gapsAround.low
		for _, c := range kept.Functions {
			if computes(t.trace.Functions()[c.Function].Name) {
				high += middle(c.Sum) + Nanoseconds(c.Sum.Error())
			}
		}
		if calls.First > 0 {
			number, _ := t.trace.ShapeOf(rank)
			shape, err := t.trace.Shape(number)
			if err != nil {
				return 0, 0, err
			}
			s := f.kept(&kept, calls)
			before, off := Nanoseconds(elapsed(s.begin, run.Begin)), Nanoseconds(s.off)+run.BeginError
			if math.IsInf(float64(off), 1) {
				return 0, high, nil
			}
			in := t.gapsWithin(shape, calls.First, interval{max(0, before-off), before + off})
			low, high = low-in.high, high-in.low
		}
		low, high = max(0, low), max(0, min(high, run.Run+run.Error))
		return min(low, high), high, nil
	}, nil
}

// gapsWithin returns how long ranks of a shape are outside calls in a time that begins with the gap before a call.
func (t *Times) gapsWithin(of *trace.Shape, from uint64, time interval) interval {
	in, left := interval{}, interval{time.low, time.high}
	for w, n := of.Grammar.Walk(from), from; n < min(of.Grammar.Len(), from+mostAround); n++ {
		signature := int(w.Next().Symbol)
		gap, call := t.boundsOf(gaps, signature), t.boundsOf(durations, signature)
		in.add(interval{min(gap.low, left.low), min(gap.high, left.high)})
		left.low, left.high = max(0, left.low-gap.low-call.high), max(0, left.high-gap.high-call.low)
		if left == (interval{}) {
			break
		}
	}
	in.high += left.high
	return in
}
