package query

import (
	"testing"

	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/tracer"
)

// TestTimesGuarantee asks traces of ranks with several codecs for the weakest guarantee.
func TestTimesGuarantee(t *testing.T) {
	rough := func(epsilon float64, starts int64) tracer.Options {
		codec, err := timing.NewEntropy(epsilon)
		if err != nil {
			t.Fatal(err)
		}
		c := must.Get(timing.NewSeriesCodec(codec, codec, timing.Gaps))
		c.Starts = starts
		return tracer.Options{Series: c}
	}
	for name, c := range map[string]struct {
		options []tracer.Options // by rank
		want    timing.Guarantee
		starts  int64
	}{
		"statistics": {[]tracer.Options{{}, {}}, timing.Exact, 0},
		"exact":      {[]tracer.Options{{Series: exactSeries()}, {Series: exactSeries()}}, timing.Exact, 0},
		"some":       {[]tracer.Options{{}, rough(0.02, 0), {}}, 0.02, 0},
		"several": {[]tracer.Options{rough(0.02, 7), {Series: exactSeries()}, rough(0.1, 0),
			rough(0.05, 7)}, 0.1, 0},
		"bounded": {[]tracer.Options{{}, rough(0.02, 7), {Series: exactSeries()}, rough(0.1, 9)}, 0.1, 9},
	} {
		ranks := make([][]timedCall, len(c.options))
		for i := range ranks {
			ranks[i] = []timedCall{{start: 0, duration: 100}, {start: 1000, duration: 50}}
		}
		times, err := OpenTimes(record(t, func(rank int) tracer.Options { return c.options[rank] }, ranks))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := times.Guarantee(); err != nil || got != c.want {
			t.Errorf("%s: %v, want %v (%v)", name, got, c.want, err)
		}
		if got := times.starts(); got != c.starts {
			t.Errorf("%s: starts within %d, want %d", name, got, c.starts)
		}
		if off := times.startError(c.want); c.starts > 0 && off != c.starts {
			t.Errorf("%s: starts are %d off, want %d", name, off, c.starts)
		}
	}
}
