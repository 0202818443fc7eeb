package report_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/report"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// tenth are options by which times are kept at most 10 % off.
func tenth(t testing.TB) tracer.Options {
	t.Helper()
	codec, err := timing.NewEntropy(0.1)
	if err != nil {
		t.Fatal(err)
	}
	return tracer.Options{Series: must.Get(timing.NewSeriesCodec(codec, codec, timing.Gaps))}
}

// TestErrorOfTimes looks for what a page says of how exact its times are.
func TestErrorOfTimes(t *testing.T) {
	const off, differ = "at most 10 % for durations, and for starts at most 10 % of the longest gap",
		"so the two differ"
	bounded := tenth(t)
	bounded.Series.Starts = 10_000
	for name, c := range map[string]struct {
		options     tracer.Options
		says, never []string
	}{
		"tenth":   {tenth(t), []string{off, differ, "<small>at most 10 % off</small>"}, nil},
		"bounded": {bounded, []string{off + " between calls nearby, and 10.0 µs."}, nil},
		"exact": {exact(), []string{"as they were measured", "<small>exact</small>"},
			[]string{"% off", "% for durations", differ}},
		"statistics": {tracer.Options{}, []string{"not the times of every call"},
			[]string{"% off", "% for durations", differ}},
	} {
		html := string(render(t, timed(t, 3, 50, c.options), report.Options{}))
		for _, text := range c.says {
			if !strings.Contains(html, text) {
				t.Errorf("%s: the page does not say %q", name, text)
			}
		}
		for _, text := range c.never {
			if strings.Contains(html, text) {
				t.Errorf("%s: the page says %q", name, text)
			}
		}
	}
}

// unequal returns a trace of two ranks of which the second takes three times as long for
// the calls that both make.
func unequal(t testing.TB, o tracer.Options) *trace.Trace {
	t.Helper()
	var parts []merge.Part
	for rank, took := range []int64{10_000, 30_000} {
		r, err := tracer.New(o)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"work", "first", "second"} {
			r.Declare(cst.Function{Name: name})
		}
		for i := range int64(100) {
			r.CallAt(0, i*50_000, took)
		}
		r.CallAt(1+rank, 6_000_000, 1000)
		parts = append(parts, r.Finish(rank))
	}
	return opened(t, merge.Run{Ranks: 2, Source: "test"}, parts)
}

// TestLoopTimes compares the times of the loops of two shapes: by the times of every call
// they are those of their ranks, and by statistics those of all.
func TestLoopTimes(t *testing.T) {
	work := regexp.MustCompile(`<span class="call"[^>]*>work\(\)</span><span class="t">([^<]*)</span>`)
	for name, c := range map[string]struct {
		options tracer.Options
		want    [2]string
		says    string
	}{
		"series":     {exact(), [2]string{"10.0 µs", "30.0 µs"}, "means of the ranks of the shape"},
		"statistics": {tracer.Options{}, [2]string{"20.0 µs", "20.0 µs"}, "means of the calls of all ranks."},
	} {
		html := render(t, unequal(t, c.options), report.Options{})
		found := work.FindAllSubmatch(html, -1)
		if len(found) != 2 || string(found[0][1]) != c.want[0] || string(found[1][1]) != c.want[1] {
			t.Errorf("%s: work takes %q, want %q", name, found, c.want)
		}
		if !strings.Contains(string(html), c.says) {
			t.Errorf("%s: the page does not say %q", name, c.says)
		}
	}
}
