package report

import (
	"math"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/sequitur"
)

// Clocks are what a timeline has of the times of a trace.
type clocks struct {
	trace *reprise.Trace
	times *query.Times
	best  query.Source // of the ranks that were added
	worst query.Source
	any   bool
}

// openClocks opens the clocks of ranks. Whether some ranks are timed is decided for
// all of them, because a page has one axis.
func openClocks(trace *reprise.Trace, times *query.Times, ranks map[int]*reprise.Rank) (*clocks, error) {
	c := &clocks{trace: trace, times: times}
	for _, r := range ranks {
		clock, err := times.Clock(r)
		if err != nil {
			return nil, err
		}
		source := clock.Source()
		if !c.any || source < c.worst {
			c.worst = source
		}
		c.best, c.any = max(c.best, source), true
	}
	return c, nil
}

// timed reports whether all ranks have times.
func (c *clocks) timed() bool { return c.any && c.worst != query.None }

// model returns what a timeline has of the times of a rank that has calls.
func (c *clocks) model(r *reprise.Rank) (*model, error) {
	if !c.timed() {
		return &model{}, nil
	}
	clock, err := c.times.Clock(r)
	if err != nil {
		return nil, err
	}
	if clock.Source() == query.Series {
		return seriesModel(r)
	}
	return c.estimated(clock)
}

// estimated returns the model of a clock that is an estimate. Where times depend on the
// call before, which the model does not know, it is exact at anchors.
func (c *clocks) estimated(clock *query.Clock) (*model, error) {
	r := clock.Rank()
	n := r.Table().Len()
	m := &model{durations: make([]float64, n), gaps: make([]float64, n)}
	for terminal := range n {
		duration, gap := c.times.Mean(r.Signature(uint32(terminal)))
		ends := max(0, duration+gap)
		m.durations[terminal] = tenth(min(max(0, duration), ends))
		m.gaps[terminal] = tenth(ends - m.durations[terminal])
	}
	inner := uint64(0)
	if clock.Source() == query.Histograms {
		inner = min(r.Len(), maxAnchors/4)
	}
	for i := range inner {
		position := i * (r.Len() / inner)
		start, err := clock.Start(position)
		if err != nil {
			return nil, err
		}
		m.edges, m.times = append(m.edges, int64(position)*2), append(m.times, start)
	}
	begin, end, err := clock.Span()
	if err != nil {
		return nil, err
	}
	if inner == 0 {
		m.edges, m.times = []int64{0}, []int64{begin}
	}
	m.edges, m.times = append(m.edges, int64(r.Len()-1)*2+1), append(m.times, end)
	return m, nil
}

// A model is what a timeline has of the times of a rank.
type model struct {
	durations []float64 // by terminal, in ns; nil without times
	gaps      []float64
	edges     []int64 // anchors
	times     []int64
	bound     float64 // of the error of what is between anchors, in ns
}

// maxKept is of how many calls the times are kept in memory, which allows for the best
// anchors.
const maxKept = 4 << 20

// seriesModel returns the model of a rank that has the times of every call.
func seriesModel(r *reprise.Rank) (*model, error) {
	n := r.Table().Len()
	m := &model{durations: make([]float64, n), gaps: make([]float64, n)}
	counts := make([]float64, n)
	keep := r.Len() <= maxKept
	var kept []reprise.Time
	every := max(1, r.Len()/(maxAnchors/2))
	walk, run, end, position := r.Walk(0), sequitur.Run{}, int64(0), uint64(0)
	for t, err := range r.Times(0) {
		if err != nil {
			return nil, err
		}
		if run.Count == 0 {
			run = walk.Next()
		}
		run.Count--
		if position > 0 {
			m.gaps[run.Symbol] += float64(max(0, t.Start-end))
		}
		m.durations[run.Symbol] += float64(t.Duration)
		counts[run.Symbol]++
		end = t.Start + t.Duration
		switch {
		case keep:
			kept = append(kept, t)
		case position%every == 0 || position == r.Len()-1:
			m.edges, m.times = append(m.edges, int64(position)*2), append(m.times, t.Start)
		}
		position++
	}
	for i, c := range counts {
		if c > 0 {
			m.durations[i], m.gaps[i] = tenth(m.durations[i]/c), tenth(m.gaps[i]/c)
		}
	}
	if keep {
		m.anchor(r, kept)
	}
	return m, nil
}

// anchor chooses anchors among the edges of all calls: as few as keep the clock within
// a tolerance, and the smallest tolerance, to a factor of 2, for which there are not too
// many.
func (m *model) anchor(r *reprise.Rank, kept []reprise.Time) {
	if len(kept) == 0 {
		return
	}
	first, last := kept[0], kept[len(kept)-1]
	for m.bound = max(1, float64(last.Start+last.Duration-first.Start)/(1<<24)); ; m.bound *= 2 {
		a := anchors{tolerance: m.bound, most: maxAnchors}
		walk, run, at := r.Walk(0), sequitur.Run{}, 0.0
		for i, t := range kept {
			if run.Count == 0 {
				run = walk.Next()
			}
			run.Count--
			at += m.gaps[run.Symbol]
			a.add(edge{int64(i) * 2, at, t.Start})
			at += m.durations[run.Symbol]
			a.add(edge{int64(i)*2 + 1, at, t.Start + t.Duration})
			if a.tooMany() {
				break
			}
		}
		if a.finish(); !a.tooMany() || m.bound > math.MaxInt64 {
			m.edges, m.times = a.edges, a.times
			return
		}
	}
}

// tenth rounds to a tenth of a nanosecond.
func tenth(ns float64) float64 { return math.Round(ns*10) / 10 }
