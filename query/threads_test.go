package query

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// TestJoinedThreads compares what a clock says of a rank whose threads were recorded apart with
// the calls of all of them.
func TestJoinedThreads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := tracer.Options{Series: exactSeries(), BlockLen: rapid.IntRange(1, 20).Draw(t, "block")}
		var (
			parts    []merge.Part
			recorded []timedCall
			ends     []int // of the threads that made calls
		)
		for thread := range rapid.Int64Range(1, 4).Draw(t, "threads") {
			r, err := tracer.New(o)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range functions {
				r.Declare(f)
			}
			before := len(recorded)
			for _, c := range drawCalls(t, rapid.Bool().Draw(t, "overlap")) {
				c.argument += 10 * thread
				r.CallAt(int(c.function), c.start, c.duration, cst.Int(c.argument))
				recorded = append(recorded, c)
			}
			if len(recorded) > before {
				ends = append(ends, len(recorded))
			}
			parts = append(parts, r.Finish(0))
		}
		if len(recorded) == 0 {
			return
		}
		part, err := merge.Join(0, nil, parts...)
		if err != nil {
			t.Fatal(err)
		}
		tr := write(t, merge.Run{Ranks: 1, Source: "test"}, []merge.Part{part})
		c := openClock(t, tr, 0)
		var calls []trace.Call
		begin, end := int64(math.MaxInt64), int64(math.MinInt64)
		for call, err := range c.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			position := call.Position
			if w := recorded[position]; call.Start != w.start || call.Duration != w.duration ||
				call.Args[0].Int() != w.argument {
				t.Fatalf("call %d is %+v, want %+v", position, call, w)
			}
			calls = append(calls, call)
			begin, end = min(begin, call.Start), max(end, call.Start+call.Duration)
			if start, duration, err := c.Time(position); err != nil || start != call.Start ||
				duration != call.Duration {
				t.Fatalf("call %d was %d, %d, %v, want %+v", position, start, duration, err, call)
			}
		}
		last := end
		if len(ends) == 1 { // of calls that overlap, the last to return may not end last
			l := calls[len(calls)-1]
			last = l.Start + l.Duration
		}
		b, e, err := c.Span()
		if err != nil || len(calls) != len(recorded) || b != begin || e > end || len(ends) == 1 && e != last {
			t.Fatalf("%d calls from %d to %d, %v, want %d from %d to %d", len(calls), b, e, err,
				len(recorded), begin, end)
		}
		for range 10 {
			checkThreadsAt(t, c, calls, ends)
			checkBetween(t, c, calls, signatures(t, c, tr))
		}
		checkWithin(t, c, tr, calls)
	})
}

// checkWithin compares what a clock says of a region with the calls in its spans.
func checkWithin(t *rapid.T, c *Clock, tr *trace.Trace, calls []trace.Call) {
	g := &Region{Kind: LoopRegion, trace: tr, byRank: make(map[int][]trace.Span)}
	var n uint64
	var inCalls, spent Nanoseconds
	for at := 0; at < len(calls); {
		first := rapid.IntRange(at, len(calls)-1).Draw(t, "first")
		at = rapid.IntRange(first+1, len(calls)).Draw(t, "end")
		g.byRank[0] = append(g.byRank[0], trace.Span{First: uint64(first), End: uint64(at)})
		for _, call := range calls[first:at] {
			n, inCalls = n+1, inCalls+Nanoseconds(call.Duration)
		}
		begin := calls[0].Start
		if first > 0 {
			begin = calls[first-1].Start + calls[first-1].Duration
		}
		spent += Nanoseconds(max(0, calls[at-1].Start+calls[at-1].Duration-begin))
	}
	w, took, err := c.within(g, math.MinInt64, math.MaxInt64)
	if err != nil {
		t.Fatal(err)
	}
	if found, sum := w.Total(); found != n || sum != inCalls || took != spent {
		t.Fatalf("%d calls take %v of %v, want %d, %v of %v", found, sum, took, n, inCalls, spent)
	}
}

// checkThreadsAt looks for the call that began last of those under way or else, of the
// first calls of all threads that end later, for the one that begins first.
func checkThreadsAt(t *rapid.T, c *Clock, calls []trace.Call, ends []int) {
	at := drawTime(t, calls, "time")
	want := Place{Position: c.rank.Len(), Start: math.MinInt64}
	first := 0
	for _, end := range ends {
		ahead := false
		for i, call := range calls[first:end] {
			place := Place{uint64(first + i), call.Start <= at, call.Start, call.Duration}
			switch {
			case call.Start+call.Duration <= at:
			case place.Inside && (!want.Inside || call.Start >= want.Start):
				want, ahead = place, true
			case !ahead && !want.Inside && (want.Position == c.rank.Len() || call.Start < want.Start):
				want = place
				ahead = true
			default:
				ahead = true
			}
		}
		first = end
	}
	got, err := c.At(at)
	if err != nil {
		t.Fatal(err)
	}
	if want.Position == c.rank.Len() {
		_, want.Start, _ = c.Span()
	}
	if got != want {
		t.Fatalf("at %d: %+v, want %+v", at, got, want)
	}
}
