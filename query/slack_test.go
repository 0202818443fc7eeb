package query

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/test/mutate"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// drawThreads draws the calls of several threads, and of functions that calls call, in
// the order in which they return. Some are long.
func drawThreads(t *rapid.T) []timedCall {
	var calls []timedCall
	begin := rapid.SampledFrom([]int64{-1000, 0, 1e18}).Draw(t, "begin")
	for thread := range rapid.Int64Range(1, 3).Draw(t, "threads") {
		now := begin + rapid.Int64Range(0, 50).Draw(t, "first")
		for range rapid.IntRange(1, 40).Draw(t, "calls") {
			start := now + rapid.SampledFrom([]int64{0, 1, 5, 100, 3000}).Draw(t, "gap")
			now = start + rapid.SampledFrom([]int64{0, 1, 3, 20, 400, 10000}).Draw(t, "duration")
			calls = append(calls, timedCall{thread % 2, thread, start, now - start})
			if inner := (now - start) / 4; rapid.IntRange(0, 3).Draw(t, "inner") == 0 {
				calls = append(calls, timedCall{1, 7, start + inner, inner}, timedCall{1, 8, start + 2*inner, inner})
			}
		}
	}
	slices.SortStableFunc(calls, func(a, b timedCall) int {
		return cmp.Compare(a.start+a.duration, b.start+b.duration)
	})
	return calls
}

// lossySeries returns a codec of some relative error.
func lossySeries(t rapid.TB, relative float64, form timing.Form) *timing.SeriesCodec {
	t.Helper()
	c, err := timing.NewEntropy(relative)
	if err != nil {
		t.Fatal(err)
	}
	return must.Get(timing.NewSeriesCodec(c, c, form))
}

// testThreads compares clocks of series of calls that overlap with their calls, one by
// one.
func testThreads(t *rapid.T) {
	o := tracer.Options{Series: exactSeries(), BlockLen: rapid.IntRange(1, 20).Draw(t, "block")}
	if relative := rapid.SampledFrom([]float64{0, 0.01, 0.1, 0.5}).Draw(t, "error"); relative > 0 {
		o.Series = lossySeries(t, relative, rapid.SampledFrom(
			[]timing.Form{timing.Gaps, timing.Intervals}).Draw(t, "form"))
	}
	tr := record(t, func(int) tracer.Options { return o }, [][]timedCall{drawThreads(t)})
	c := openClock(t, tr, 0)
	var calls []trace.Call
	for call, err := range c.Calls(0) {
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, call)
	}
	all := signatures(t, c, tr)
	for range 20 {
		checkAt(t, c, calls)
		checkBetween(t, c, calls, all)
	}
}

func TestThreads(t *testing.T) { rapid.Check(t, testThreads) }

func FuzzThreads(f *testing.F) { mutate.Fuzz(f, rapid.MakeFuzz(testThreads)) }

// TestBegin checks that the run begins with the call that began first, though others of
// its rank returned before it, on ranks whose calls are in blocks of any length.
func TestBegin(t *testing.T) { rapid.Check(t, testBegin) }

func testBegin(t *rapid.T) {
	o := tracer.Options{Series: exactSeries(), BlockLen: rapid.IntRange(1, 20).Draw(t, "block")}
	var ranks [][]timedCall
	for range rapid.IntRange(1, 3).Draw(t, "ranks") {
		ranks = append(ranks, drawThreads(t))
	}
	times, err := OpenTimes(record(t, func(int) tracer.Options { return o }, ranks))
	if err != nil {
		t.Fatal(err)
	}
	first := int64(maxTime)
	for _, calls := range ranks {
		for _, c := range calls {
			first = min(first, c.start)
		}
	}
	if begin, err := times.Begin(); err != nil || begin != first {
		t.Fatalf("the run began at %d, %v, want %d", begin, err, first)
	}
}

// TestBeginBounded checks how many calls are looked at for the beginning of a run in
// which a call lasts as long as all others.
func TestBeginBounded(t *testing.T) {
	for _, most := range []int64{maxBegins - 1, maxBegins} {
		calls := []timedCall{}
		for i := range most {
			calls = append(calls, timedCall{0, 0, 10 + 10*i, 5})
		}
		calls = append(calls, timedCall{1, 1, 0, 10 * most})
		times, err := OpenTimes(record(t, func(int) tracer.Options {
			return tracer.Options{Series: exactSeries()}
		}, [][]timedCall{calls}))
		if err != nil {
			t.Fatal(err)
		}
		want := int64(0)
		if most == maxBegins {
			want = 10
		}
		if begin, err := times.Begin(); err != nil || begin != want {
			t.Errorf("after %d calls, the run began at %d, %v, want %d", most, begin, err, want)
		}
	}
}
