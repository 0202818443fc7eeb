package query

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/tracer"
)

// testMoment compares what all ranks do with what each of them does by its clock.
func testMoment(t *rapid.T) {
	var ranks [][]timedCall
	for range rapid.IntRange(1, 4).Draw(t, "ranks") {
		ranks = append(ranks, drawCalls(t, false))
	}
	o, _ := drawOptions(t)
	trace := record(t, func(int) tracer.Options { return o }, ranks)
	times, err := OpenTimes(trace)
	if err != nil {
		t.Fatal(err)
	}
	begin, err := times.Begin()
	if err != nil {
		t.Fatal(err)
	}
	from := begin + rapid.Int64Range(-10, 3000).Draw(t, "from")
	to := from + rapid.Int64Range(0, 3000).Draw(t, "to")
	var q Options
	if rapid.Bool().Draw(t, "one") {
		q.Ranks = of(rankenc.SetOf(len(ranks) - 1))
	}
	places, err := times.At(context.Background(), from-begin, q)
	if err != nil {
		t.Fatal(err)
	}
	a, err := times.Activity(context.Background(), from-begin, to-begin, q)
	if err != nil {
		t.Fatal(err)
	}
	earliest := int64(maxTime)
	var (
		calls uint64
		time  Nanoseconds
		names = make(map[string]int)
	)
	for rank := range ranks {
		if len(ranks[rank]) == 0 {
			continue
		}
		c := openClock(t, trace, rank)
		start, end, err := c.Span()
		if err != nil {
			t.Fatal(err)
		}
		earliest = min(earliest, start)
		if q.Ranks != nil && rank != len(ranks)-1 {
			continue
		}
		at, err := c.At(from)
		at.Start -= begin
		if err != nil || len(places) == 0 || places[0].Rank != rank || places[0].Place != at ||
			places[0].Source != c.Source() {
			t.Fatalf("rank %d is at %+v, %v, want %+v", rank, places, err, at)
		}
		if p := places[0]; p.Position < c.rank.Len() && p.Call.Args[0].Int() != ranks[rank][p.Position].argument {
			t.Fatalf("rank %d is at %+v, want %+v", rank, p.Call, ranks[rank][p.Position])
		}
		places = places[1:]
		w, err := c.Between(from, to)
		if err != nil {
			t.Fatal(err)
		}
		r := RankActivity{Rank: rank, First: w.First, End: w.End,
			Span: Nanoseconds(max(0, min(to, end)-max(from, start)))}
		r.Calls, r.Time = w.Total()
		r.Outside = Nanoseconds(math.Inf(1))
		if c.Source() == Series {
			r.Outside = r.Span - Nanoseconds(w.Covered)
		}
		if len(a.Ranks) == 0 || a.Ranks[0] != r {
			t.Fatalf("rank %d does %+v, want %+v", rank, a.Ranks, r)
		}
		a.Ranks = a.Ranks[1:]
		calls, time = calls+r.Calls, time+r.Time
		var own []string
		for _, u := range w.Usage {
			own = append(own, functions[trace.FunctionOf(u.Signature)].Name)
		}
		for _, name := range slices.Compact(slices.Sorted(slices.Values(own))) {
			names[name]++
		}
	}
	if len(places) > 0 || len(a.Ranks) > 0 || a.Calls != calls || a.Time != time {
		t.Fatalf("%v and %+v are left, want %d calls and %g ns", places, a, calls, time)
	}
	for _, f := range a.Functions {
		calls, time = calls-f.Calls, time-f.Time
		if names[f.Name] != f.Ranks {
			t.Fatalf("%+v, want %v", f, names)
		}
	}
	if calls != 0 || time != 0 || len(names) != len(a.Functions) {
		t.Fatalf("functions are short of %d calls and %g ns", calls, time)
	}
	if earliest != maxTime && earliest != begin {
		t.Fatalf("the first call began at %d, want %d", begin, earliest)
	}
}

func TestMoment(t *testing.T) { rapid.Check(t, testMoment) }
