package query

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/tracer"
)

// TestByRank compares what ranks spend their time in with the sums of the durations of the calls,
// added up one by one: by what the trace keeps of ranks, and by the times of every call.
func TestByRank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ranks [][]timedCall
		for range rapid.IntRange(1, 5).Draw(t, "ranks") {
			var calls []timedCall
			now := rapid.Int64Range(0, 1<<30).Draw(t, "begin")
			for i := range int64(rapid.IntRange(0, 20).Draw(t, "calls")) {
				d := rapid.Int64Range(0, 1<<rapid.IntRange(0, 40).Draw(t, "scale")).Draw(t, "duration")
				calls = append(calls, timedCall{rapid.Int64Range(0, 1).Draw(t, "function"), i % 3, now, d})
				now += d + rapid.Int64Range(0, 1<<20).Draw(t, "gap")
			}
			ranks = append(ranks, calls)
		}
		trace := record(t, func(int) tracer.Options { return tracer.Options{Series: exactSeries()} }, ranks)
		var o Options
		if rapid.Bool().Draw(t, "some") {
			o.Ranks = of(rankenc.SetOf(0, 2))
		}
		times, err := OpenTimes(trace)
		if err != nil {
			t.Fatal(err)
		}
		p, err := OpenProfile(context.Background(), trace, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, series := range []bool{false, true} {
			b, err := times.ByRank(context.Background(), p, series, o)
			if err != nil {
				t.Fatal(err)
			}
			if some := times.HasRanks(o); some != (len(ranksOf(t, trace, o)) > 0) {
				t.Fatalf("the trace has times of the ranks: %v", some)
			}
			checkByRank(t, b, ranks, o)
			for _, r := range b.Ranks {
				if series != (b.Source == Series) || series && r.Error > 0 {
					t.Fatalf("by %v, with an error of %v", b.Source, r.Error)
				}
			}
		}
	})
}

// TestByRankRounded has ranks whose sums differ by half a percent, and are far apart when they are
// rounded. The wait time is what calls can take beyond the shortest at most, and is told only
// if it is more than it may be off.
func TestByRankRounded(t *testing.T) {
	for _, n := range []int{60, 600} {
		var ranks [][]timedCall
		for rank := range n {
			var calls []timedCall
			for i := range int64(10) {
				calls = append(calls, timedCall{0, 0, i * 100_000_000, 418_000 + int64(rank%2)*2000})
			}
			ranks = append(ranks, calls)
		}
		trace := record(t, func(int) tracer.Options { return tracer.Options{} }, ranks)
		times, err := OpenTimes(trace)
		if err != nil {
			t.Fatal(err)
		}
		p, err := OpenProfile(t.Context(), trace, Options{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := times.ByRank(t.Context(), p, false, Options{})
		if err != nil {
			t.Fatal(err)
		}
		f, wait, bound := b.Functions[0], Nanoseconds(n/2*10*2000), Nanoseconds(n*10*2000)
		if math.Abs(float64(f.Wait-wait)) > float64(f.WaitError) || f.Wait+f.WaitError > bound ||
			f.Wait > 0 && f.Wait <= f.WaitError {
			t.Errorf("%d ranks wait for %v ± %v, want %v, at most %v", n, f.Wait, f.WaitError, wait, bound)
		}
		if f.Max > 420_000 || f.Slow.Mean > 420_000 || f.Fast.Mean < 418_000 {
			t.Errorf("%+v", f)
		}
	}
}

func checkByRank(t *rapid.T, b *ByRank, ranks [][]timedCall, o Options) {
	near := func(what string, got, want, off Nanoseconds) {
		t.Helper()
		if math.Abs(float64(got-want)) > float64(off)+1e-6*math.Abs(float64(want)) {
			t.Fatalf("%s is %v ± %v, want %v", what, got, off, want)
		}
	}
	type sum struct {
		calls       uint64
		ranks       int
		time, least float64
	}
	all := make(map[string]*sum)
	first := int64(math.MaxInt64)
	for _, calls := range ranks {
		if len(calls) > 0 {
			first = min(first, calls[0].start)
		}
	}
	list := b.Ranks
	for rank, calls := range ranks {
		if len(calls) == 0 || o.Ranks != nil && !o.Ranks.Contains(rank) {
			continue
		}
		if len(list) == 0 || list[0].Rank != rank || list[0].Calls != uint64(len(calls)) {
			t.Fatalf("%+v, want rank %d", list, rank)
		}
		r, own, longest := list[0], make(map[string]*sum), make(map[string]int64)
		list = list[1:]
		var time Nanoseconds
		for _, c := range calls {
			name := functions[c.function].Name
			if own[name] == nil {
				own[name] = new(sum)
			}
			own[name].calls++
			own[name].time += float64(c.duration)
			longest[name] = max(longest[name], c.duration)
			time += Nanoseconds(c.duration)
		}
		last := calls[len(calls)-1]
		span := Nanoseconds(last.start + last.duration - calls[0].start)
		near("the time in calls", r.Time, time, r.Error)
		near("the span", r.Span, span, span/1024)
		near("the start", r.Start, Nanoseconds(calls[0].start-first), 1<<13)
		near("the time outside", r.Outside, span-time, r.OutsideError)
		if r.OutsideError > (span-time)/4096 {
			t.Fatalf("the time outside is %v ± %v", r.Outside, r.OutsideError)
		}
		if len(r.Functions) != len(own) {
			t.Fatalf("%+v, want %v", r.Functions, own)
		}
		for _, f := range r.Functions {
			of := own[f.Name]
			near(f.Name, f.Time, Nanoseconds(of.time), f.Error)
			if f.Calls != of.calls || f.Max < Nanoseconds(longest[f.Name]) {
				t.Fatalf("%+v, want %+v, at most %d", f, of, longest[f.Name])
			}
			s := all[f.Name]
			if s == nil {
				s = &sum{least: math.Inf(1)}
				all[f.Name] = s
			}
			s.calls, s.ranks, s.time, s.least = s.calls+of.calls, s.ranks+1, s.time+of.time,
				min(s.least, of.time/float64(of.calls))
		}
	}
	if len(list) > 0 || len(b.Functions) != len(all) {
		t.Fatalf("%+v and %+v are left", list, b.Functions)
	}
	for _, f := range b.Functions {
		s := all[f.Name]
		near("all of "+f.Name, f.Time, Nanoseconds(s.time), f.Error)
		wait := s.time - float64(s.calls)*s.least
		near("the wait time of "+f.Name, f.Wait, Nanoseconds(wait), f.WaitError+1e-6*f.Time)
		if f.Wait > 0 && f.Wait <= f.WaitError || f.Slow.Mean > f.Max {
			t.Fatalf("%+v: a wait time that is not known, or a mean beyond the longest call", f)
		}
		if f.Calls != s.calls || f.Ranks != s.ranks || f.Fast.Mean > f.Slow.Mean {
			t.Fatalf("%+v, want %+v", f, s)
		}
	}
}
