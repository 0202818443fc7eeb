package query

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/tracer"
)

// A threadProgram is a thread in regions, and when it is in one of a name, or in calls of that.
type threadProgram struct {
	recorder       *tracer.Recorder
	numbers        map[string]int
	thread, now    int64
	regions, calls map[string][]callSpan
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
	for range rapid.IntRange(0, 4).Draw(t, "calls") {
		p.now += rapid.Int64Range(0, 50).Draw(t, "gap")
		if name := fmt.Sprint("r", len(regions)); len(regions) < 3 && rapid.Bool().Draw(t, "region") {
			p.call("Enter", name, 0)
			begin := p.now
			p.in(t, append(regions, name)...)
			p.call("Leave", name, 0)
			p.regions[name] = append(p.regions[name], callSpan{begin, p.now})
			continue
		}
		begin := p.now
		p.call("work", "", rapid.Int64Range(0, 50).Draw(t, "duration"))
		for _, name := range regions {
			p.calls[name] = append(p.calls[name], callSpan{begin, p.now})
		}
	}
}

// TestRegionsOfThreads compares how long a rank is in regions of its threads, which are placed one after the other,
// with when they were.
func TestRegionsOfThreads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		regions, calls := make(map[string][]callSpan), make(map[string][]callSpan)
		var parts []merge.Part
		for thread := range rapid.Int64Range(2, 5).Draw(t, "threads") {
			r, err := tracer.New(tracer.Options{Series: exactSeries()})
			if err != nil {
				t.Fatal(err)
			}
			p := &threadProgram{recorder: r, thread: thread, numbers: make(map[string]int), regions: regions, calls: calls}
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
			if g.Mean != in || g.InCalls != inCalls || *g.Exclusive > in {
				t.Fatalf("%s takes %v, %v in calls, %v exclusive, want %v, %v", g.Name, g.Mean, g.InCalls, *g.Exclusive, in,
					inCalls)
			}
			delete(regions, g.Name)
		}
		if len(regions) > 0 {
			t.Fatalf("no regions %v", regions)
		}
	})
}
