package query

import (
	"testing"

	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/tracer"
)

// TestTimesGuarantee asks traces of ranks with several codecs for the weakest guarantee.
func TestTimesGuarantee(t *testing.T) {
	rough := func(epsilon float64) tracer.Options {
		codec, err := timing.NewEntropy(epsilon)
		if err != nil {
			t.Fatal(err)
		}
		return tracer.Options{Series: timing.NewSeriesCodec(codec, codec, timing.Gaps)}
	}
	for name, c := range map[string]struct {
		options []tracer.Options // by rank
		want    timing.Guarantee
	}{
		"statistics": {[]tracer.Options{{}, {}}, timing.Exact},
		"exact":      {[]tracer.Options{{Series: exactSeries()}, {Series: exactSeries()}}, timing.Exact},
		"some":       {[]tracer.Options{{}, rough(0.02), {}}, 0.02},
		"several":    {[]tracer.Options{rough(0.02), {Series: exactSeries()}, rough(0.1), rough(0.05)}, 0.1},
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
	}
}
