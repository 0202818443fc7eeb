package query

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/tracer"
)

// A threadProgram is a thread in regions, and when it is in one of a name, or in calls of that.
type threadProgram struct {
	recorder       *tracer.Recorder
	numbers        map[string]int
	thread, now    int64
	since          int64 // when the thread came to the innermost region, or came back to it
	regions, calls map[string][]callSpan
	own, ownCalls  map[string][]callSpan // in no region in it
}

// call records a call of a function of the thread.
func (p *threadProgram) call(function, region string, duration int64) {
	var params []cst.Param
	var args []cst.Value
	if p.thread > 0 {
		params, args = append(params, testtrace.Param("thread", cst.KindInt)), append(args, cst.Int(p.thread))
	}
	if region != "" {
		params, args = append(params, testtrace.Param("region", cst.KindString)), append(args, cst.String(region))
	}
	if _, ok := p.numbers[function]; !ok {
		p.numbers[function] = p.recorder.Declare(testtrace.Function(function, params...))
	}
	p.recorder.CallAt(p.numbers[function], p.now, duration, args...)
	p.now += duration
}

// in draws what the thread does in some regions.
func (p *threadProgram) in(t *rapid.T, regions ...string) {
	inner := ""
	if n := len(regions); n > 0 {
		inner = regions[n-1]
	}
	leave := func() {
		if inner != "" {
			p.own[inner] = append(p.own[inner], callSpan{p.since, p.now})
		}
		p.since = p.now
	}
	for range rapid.IntRange(0, 4).Draw(t, "calls") {
		p.now += rapid.Int64Range(0, 50).Draw(t, "gap")
		if name := fmt.Sprint("r", len(regions), rapid.IntRange(0, 1).Draw(t, "name")); len(regions) < 5 &&
			rapid.Bool().Draw(t, "region") {
			p.call("Enter", name, 0)
			leave()
			begin := p.now
			p.in(t, append(slices.Clip(regions), name)...)
			p.call("Leave", name, 0)
			p.own[name] = append(p.own[name], callSpan{p.since, p.now})
			p.since = p.now
			p.regions[name] = append(p.regions[name], callSpan{begin, p.now})
			continue
		}
		begin := p.now
		p.call("work", "", rapid.Int64Range(0, 50).Draw(t, "duration"))
		for _, name := range regions {
			p.calls[name] = append(p.calls[name], callSpan{begin, p.now})
		}
		if inner != "" {
			p.ownCalls[inner] = append(p.ownCalls[inner], callSpan{begin, p.now})
		}
	}
}

// TestRegionsOfThreads compares how long a rank is in regions of its threads, which are placed one after the other,
// with when they were.
func TestRegionsOfThreads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		regions, calls := make(map[string][]callSpan), make(map[string][]callSpan)
		own, ownCalls := make(map[string][]callSpan), make(map[string][]callSpan)
		var parts []merge.Part
		for thread := range rapid.Int64Range(1, 5).Draw(t, "threads") {
			o := tracer.Options{Series: exactSeries(), BlockLen: rapid.IntRange(1, 20).Draw(t, "block")}
			r, err := tracer.New(o)
			if err != nil {
				t.Fatal(err)
			}
			p := &threadProgram{recorder: r, thread: thread, numbers: make(map[string]int), regions: regions,
				calls: calls, own: own, ownCalls: ownCalls}
			p.now = rapid.Int64Range(0, 100).Draw(t, "start")
			p.call("work", "", 1)
			p.in(t)
			parts = append(parts, r.Finish(0))
		}
		part, err := merge.Join(0, nil, parts...)
		if err != nil {
			t.Fatal(err)
		}
		tr := write(t, merge.Run{Ranks: 1, Source: "test"}, []merge.Part{part})
		profile, err := OpenRegionProfile(t.Context(), tr, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range profile.Regions {
			if g.Kind != NamedRegion {
				continue
			}
			in, inCalls := Nanoseconds(union(regions[g.Name])), Nanoseconds(union(calls[g.Name]))
			exclusive := Nanoseconds(union(own[g.Name]) - union(ownCalls[g.Name]))
			if g.Mean != in || g.InCalls != inCalls || *g.Exclusive != exclusive {
				t.Fatalf("%s takes %v, %v in calls, %v exclusive, want %v, %v, %v", g.Name, g.Mean, g.InCalls,
					*g.Exclusive, in, inCalls, exclusive)
			}
			delete(regions, g.Name)
		}
		if len(regions) > 0 {
			t.Fatalf("no regions %v", regions)
		}
	})
}

// TestRegionsAtOnce compares the profile of all regions with what ranks do in one after the other, also where calls
// overlap, and where there are only statistics.
func TestRegionsAtOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := tracer.Options{}
		if rapid.Bool().Draw(t, "series") {
			o.Series = exactSeries()
		}
		overlap := rapid.Bool().Draw(t, "overlap")
		var parts []merge.Part
		for rank := range rapid.IntRange(1, 3).Draw(t, "ranks") {
			r, err := tracer.New(o)
			if err != nil {
				t.Fatal(err)
			}
			p := &threadProgram{recorder: r, numbers: make(map[string]int), regions: make(map[string][]callSpan),
				calls: make(map[string][]callSpan), own: make(map[string][]callSpan),
				ownCalls: make(map[string][]callSpan)}
			p.call("work", "", 1)
			p.in(t)
			if overlap { // with all before
				r.CallAt(p.numbers["work"], 0, p.now)
			}
			parts = append(parts, r.Finish(rank))
		}
		tr := write(t, merge.Run{Ranks: len(parts), Source: "test"}, parts)
		profile, err := OpenRegionProfile(t.Context(), tr, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if profile.Regions == nil {
			t.Fatal("no list of regions")
		}
		times := must.Get(OpenTimes(tr))
		for _, g := range profile.Regions {
			a, err := times.activity(t.Context(), 0, maxTime, Options{Region: g.Region})
			if err != nil {
				t.Fatal(err)
			}
			n, sum, inCalls := 0, Nanoseconds(0), Nanoseconds(0)
			for _, of := range a.Ranks {
				if of.Calls == 0 {
					continue
				}
				n, sum = n+1, sum+of.Span
				if inCalls += min(of.Time, of.Span); of.Outside <= of.Span {
					inCalls += of.Span - of.Outside - min(of.Time, of.Span)
				}
			}
			sum, inCalls = sum/Nanoseconds(max(1, n)), inCalls/Nanoseconds(max(1, n))
			near := func(x, y Nanoseconds) bool { return math.Abs(float64(x-y)) <= 2 }
			if o.Series != nil {
				near = func(x, y Nanoseconds) bool { return x == y }
			}
			if profile.Source != a.Source || profile.Guarantee != a.Guarantee || !near(g.Mean, sum) ||
				!near(g.InCalls, inCalls) {
				t.Fatalf("%v: %v and %v in calls, by %v, want %v and %v, by %v", g, g.Mean, g.InCalls, profile.Source,
					sum, inCalls, a.Source)
			}
		}
	})
}

// TestNestedRegions checks that what a profile of regions allocates is in proportion to them, however they nest.
func TestNestedRegions(t *testing.T) {
	allocated := func(levels int) float64 {
		r := must.Get(tracer.New(tracer.Options{Series: exactSeries()}))
		p := &threadProgram{recorder: r, numbers: make(map[string]int)}
		for level := range levels {
			p.now += int64(level % 7)
			p.call("Enter", fmt.Sprint(level), 0)
		}
		p.call("work", "", 5)
		for level := range levels {
			p.call("Leave", fmt.Sprint(levels-1-level), 0)
		}
		tr := testtrace.Open(t, testtrace.File(t, merge.Run{Ranks: 1}, []merge.Part{r.Finish(0)}))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if p := must.Get(OpenRegionProfile(t.Context(), tr, Options{})); len(p.Regions) < levels {
			t.Fatalf("%d regions", len(p.Regions))
		}
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	if few, many := allocated(250), allocated(1000); many > 6*few {
		t.Errorf("%.0f bytes for 250 levels and %.0f for 1000", few, many)
	}
}
