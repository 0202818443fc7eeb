package report

import (
	"context"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/query"
)

// addTimes opens what the trace has of times.
func (p *page) addTimes(_ context.Context, trace *reprise.Trace, _ Options) error {
	var err error
	if p.times, err = query.OpenTimes(trace); err != nil {
		return err
	}
	series, _, err := trace.SeriesRanks()
	if err != nil {
		return err
	}
	p.hasSeries = series.Len() > 0 && series.Equal(trace.RankSet())
	p.guarantee, err = p.times.Guarantee()
	return err
}
