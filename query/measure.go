package query

import (
	"context"
	"sync"

	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
)

// A measured is what the times of every call tell of a signature.
type measured struct {
	bins  logBins // of durations
	ranks int     // of which the times are known
	fast  RankMean
	slow  RankMean
}

// ReadSeries returns times as t has them, but with statistics made of the times of every
// call, of the ranks that have these. It decodes every call: it takes time in proportion
// to their number, some 30 to 300 ns for each and goroutine, as the codec does. Memory
// does not depend on their number.
func (t *Times) ReadSeries(ctx context.Context, o Options) (*Times, error) {
	timed, _, err := t.trace.SeriesRanks()
	if err != nil {
		return nil, err
	}
	var ranks []int
	for _, rank := range o.ranks(t.trace) {
		if timed.Contains(rank) {
			ranks = append(ranks, rank)
		}
	}
	n := t.trace.Signatures()
	m := t.with([2]merge.Summary{{Statistics: make([]timing.Statistics, n)}, {Statistics: make([]timing.Statistics, n)}})
	m.measured = make([]*measured, n)
	var (
		mu   sync.Mutex
		lost failures
		done = progress{tell: o.Progress}
	)
	err = o.each(ctx, len(ranks), func(i int) error {
		sites, err := t.measure(ctx, ranks[i])
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			lost.add(ranks[i], err)
		default:
			mu.Lock()
			m.add(ranks[i], sites)
			mu.Unlock()
		}
		done.add(1)
		return nil
	})
	if err == nil {
		err = o.tell(&lost)
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// A rankSite is the times of the calls of a rank that are of one signature.
type rankSite struct {
	statistics [2]timing.Statistics // of durations and of gaps
	bins       logBins
}

// measure returns the times of the calls of a rank, by signature: of equal calls under
// several, the first has all, as in the summaries of a trace.
func (t *Times) measure(ctx context.Context, rank int) (map[int]*rankSite, error) {
	r, err := t.trace.Rank(rank)
	if err != nil {
		return nil, err
	}
	var (
		sites = make(map[int]*rankSite)
		walk  = r.Walk(0)
		run   sequitur.Run
		site  *rankSite
		end   int64 // of the call before
		first = true
		calls uint64
	)
	for at, err := range r.Times(0) {
		if err != nil {
			return nil, err
		}
		if run.Count == 0 {
			run = walk.Next()
			n := r.Signature(run.Symbol)
			if site = sites[n]; site == nil {
				site = new(rankSite)
				sites[n] = site
			}
		}
		run.Count--
		site.statistics[durations].Add(uint32(rank), at.Duration)
		site.bins.add(at.Duration)
		if !first {
			gap := at.Start - end
			if r.Series().Form() == timing.Gaps {
				gap = at.Delta // to which the error of a long call before does not add
			}
			site.statistics[gaps].Add(uint32(rank), gap)
		}
		end, first = at.Start+at.Duration, false
		if calls++; calls%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return sites, r.LostTimes()
}

// add adds the times of a rank. The result does not depend on the order of ranks.
func (t *Times) add(rank int, sites map[int]*rankSite) {
	for n, s := range sites {
		for i := range s.statistics {
			t.summaries[i].Statistics[n].Merge(&s.statistics[i])
		}
		m := t.measured[n]
		if m == nil {
			m = new(measured)
			t.measured[n] = m
		}
		mean := RankMean{rank, Nanoseconds(s.statistics[durations].Mean())}
		if m.ranks == 0 || mean.Mean < m.fast.Mean || mean.Mean == m.fast.Mean && rank < m.fast.Rank {
			m.fast = mean
		}
		if m.ranks == 0 || mean.Mean > m.slow.Mean || mean.Mean == m.slow.Mean && rank < m.slow.Rank {
			m.slow = mean
		}
		m.ranks++
		m.bins.merge(&s.bins)
	}
}
