package query

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/tracer"
)

// iterationSums adds up how long the iterations of each rule take, call by call.
func iterationSums(l *Loops, calls []timedCall) (inCalls, whole []float64) {
	inCalls, whole = make([]float64, len(l.Rules)), make([]float64, len(l.Rules))
	at := 0
	var walk func(rule int) (in, all float64)
	walk = func(rule int) (in, all float64) {
		for t := range l.Grammar.Body(rule) {
			for range t.Count {
				if t.Rule >= 0 {
					i, a := walk(t.Rule)
					in, all = in+i, all+a
					continue
				}
				c := calls[at]
				in, all = in+float64(c.duration), all+float64(c.duration)
				if at > 0 {
					all += float64(c.start - calls[at-1].start - calls[at-1].duration)
				}
				at++
			}
		}
		inCalls[rule], whole[rule] = inCalls[rule]+in, whole[rule]+all
		return in, all
	}
	walk(len(l.Rules) - 1)
	return inCalls, whole
}

// TestLoopSeries compares how long iterations take with their calls, one by one.
func TestLoopSeries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		terms := rapid.SliceOfN(rapid.Int64Range(0, 2), 1, 60).Draw(t, "calls")
		ranks := make([][]timedCall, rapid.IntRange(1, 3).Draw(t, "ranks"))
		for i := range ranks {
			now := int64(0)
			for _, argument := range terms {
				now += rapid.Int64Range(0, 900).Draw(t, "gap")
				duration := rapid.Int64Range(0, 900).Draw(t, "duration")
				ranks[i] = append(ranks[i], timedCall{argument: argument, start: now, duration: duration})
				now += duration
			}
		}
		trace := record(t, func(int) tracer.Options {
			return tracer.Options{Series: exactSeries(), BlockLen: 7}
		}, ranks)
		times, err := OpenTimes(trace)
		if err != nil {
			t.Fatal(err)
		}
		if times, err = times.ReadSeries(t.Context(), Options{}); err != nil {
			t.Fatal(err)
		}
		l, err := times.ShapeLoops(0)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.ReadSeries(t.Context(), rankenc.SetOf(0, 1, 2), Options{}); err != nil {
			t.Fatal(err)
		}
		wantIn, want := make([]float64, len(l.Rules)), make([]float64, len(l.Rules))
		for _, calls := range ranks {
			inCalls, whole := iterationSums(l, calls)
			for rule := range want {
				wantIn[rule], want[rule] = wantIn[rule]+inCalls[rule], want[rule]+whole[rule]
			}
		}
		for rule, of := range l.Rules {
			n := float64(of.Iterations) * float64(len(ranks))
			if of.InCalls != Nanoseconds(wantIn[rule]/n) || of.Time != Nanoseconds(want[rule]/n) {
				t.Fatalf("rule %d: %+v, not %f and %f", rule, of, wantIn[rule]/n, want[rule]/n)
			}
		}
	})
}

// TestLoopShares checks that shares are of the time without MPI_Init and MPI_Finalize, call by call.
func TestLoopShares(t *testing.T) {
	tr := testtrace.Stencil(t, "exact")
	for rank := range tr.Ranks() {
		r := must.Get(tr.Rank(rank))
		l := must.Get(OpenRankLoops(t.Context(), tr, r, Options{}))
		run, end := 0.0, int64(0)
		for c, err := range r.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			if c.Position > 0 {
				run += float64(c.Start - end)
			}
			if end = c.Start + c.Duration; !OutsideRun(c.Function.Name) {
				run += float64(c.Duration)
			}
		}
		if math.Abs(float64(l.Run)-run) > 1 {
			t.Errorf("rank %d: %v, not %v", rank, l.Run, run)
		}
		for rule, of := range l.Rules[:len(l.Rules)-1] {
			if want := float64(of.Time) * float64(of.Iterations) / run; math.Abs(of.Share-want) > 1e-6 {
				t.Errorf("rank %d, rule %d: %v, not %v", rank, rule, of.Share, want)
			}
		}
	}
}
