package query

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// MaxLoopCalls is how many calls [OpenRankLoops] and [OpenShapeLoops] read the times of at most: it takes
// some ten seconds.
const MaxLoopCalls = 20_000_000

// OpenRankLoops returns the loops of a rank of a trace: with its own times, if the trace has those of every
// call, of [MaxLoopCalls] calls at most, and otherwise with those of all ranks, scaled to its sums if the
// trace has these. Reading every call takes as long as [Times.ReadSeries] and [Loops.ReadSeries], and else it
// is [Times.RankLoops].
func OpenRankLoops(ctx context.Context, t *trace.Trace, r *trace.Rank, o Options) (*Loops, error) {
	need.That(t != nil && r != nil, "query: no rank of a trace")
	return openLoops(ctx, t, rankenc.SetOf(r.Number()), r.Len(), o, func(times *Times) (*Loops, error) {
		if l := times.RankLoops(r); o.Region != nil {
			return l.within(o.Region, o.Region.Spans(r.Number()))
		} else {
			return l, nil
		}
	})
}

// OpenShapeLoops returns the loops of the ranks of a shape: with the times of these alone, if the trace has
// those of every call of each of them, of [MaxLoopCalls] calls at most, and otherwise with those of all
// ranks. It takes as long as [OpenRankLoops] does for all of these ranks. It panics unless there is such a
// shape.
func OpenShapeLoops(ctx context.Context, t *trace.Trace, number int, o Options) (*Loops, error) {
	need.That(t != nil, "query: no trace")
	s, err := t.Shape(number)
	if err != nil {
		return nil, err
	}
	return openLoops(ctx, t, s.Ranks, s.Grammar.Len(), o, func(times *Times) (*Loops, error) {
		l, err := times.ShapeLoops(number)
		if err != nil || o.Region == nil {
			return l, err
		}
		spans := o.Region.Spans(s.Ranks.At(0))
		for _, rank := range s.Ranks.All() {
			if !slices.Equal(o.Region.Spans(rank), spans) {
				return nil, errApart
			}
		}
		return l.within(o.Region, spans)
	})
}

// errApart is the error of the loops of a shape in a region.
var errApart = errors.New("query: the ranks of the shape have other calls in this part of the run: choose ranks")

// openLoops returns the loops of ranks that make so many calls each, by the times that tell most of them.
func openLoops(ctx context.Context, t *trace.Trace, ranks rankenc.Set, calls uint64, o Options,
	of func(*Times) (*Loops, error)) (*Loops, error) {
	times, err := OpenTimes(t)
	if err != nil {
		return nil, err
	}
	_, series, err := times.Known()
	if err != nil {
		return nil, err
	}
	timed := ranks.Difference(series).Len() == 0
	unread := timed && uint64(ranks.Len()) > MaxLoopCalls/max(1, calls)
	if !timed || unread {
		l, err := of(times)
		if err == nil {
			l.Unread = unread
		}
		return l, err
	}
	guarantee, err := times.Guarantee()
	if err != nil {
		return nil, err
	}
	o.Ranks = &ranks
	own, err := times.ReadSeries(ctx, o)
	if err != nil {
		return nil, err
	}
	l, err := of(own)
	if err != nil {
		return nil, err
	}
	l.Guarantee = guarantee
	return l, l.ReadSeries(ctx, ranks, o)
}

// ReadSeries sets how long iterations take to the means of these themselves, by the times of every
// call of those of some ranks whose loops l are that have these: sums of the means of calls are only
// estimates of them where equal calls take longer in one loop than in another. It decodes
// every call, and takes time in proportion to their number.
func (l *Loops) ReadSeries(ctx context.Context, ranks rankenc.Set, o Options) error {
	timed, _, err := l.times.trace.SeriesRanks()
	if err != nil {
		return err
	}
	ranks = ranks.Intersection(timed)
	if l.Source == None || l.Grammar.Len() == 0 || ranks.Len() == 0 {
		return nil
	}
	bodies := make([][]sequitur.Term, len(l.Rules))
	for rule := range bodies {
		for t := range l.Grammar.Body(rule) {
			bodies[rule] = append(bodies[rule], t)
		}
	}
	var (
		mu   sync.Mutex
		sums = make([][2]uint64, len(l.Rules)) // in calls, and in all
		done = progress{tell: o.Progress}
	)
	err = o.each(ctx, ranks.Len(), func(i int) error {
		defer done.add(1)
		r, err := l.times.trace.Folded(ranks.At(i), nil)
		if err != nil {
			return err
		}
		w := loopTimes{bodies: bodies, sums: make([][2]uint64, len(bodies))}
		w.enter(len(bodies) - 1)
		if err := w.read(ctx, r, l.region); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for rule := range sums {
			for k := range sums[rule] {
				sums[rule][k] += w.sums[rule][k]
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for rule := range l.Rules {
		of := &l.Rules[rule]
		n := float64(of.Iterations) * float64(ranks.Len())
		of.InCalls, of.Time = Nanoseconds(float64(int64(sums[rule][0]))/n), Nanoseconds(float64(int64(sums[rule][1]))/n)
		of.Share = 0
	}
	l.share()
	return nil
}

// A loopTimes goes through the loops of a rank along its calls. Sums are of nanoseconds and wrap
// around, so that differences of them are right if they are below 2⁶³.
type loopTimes struct {
	bodies [][]sequitur.Term
	stack  []loopFrame
	now    [2]uint64   // in the calls so far, and with the gaps before them
	sums   [][2]uint64 // the same, of all iterations of each rule
}

// A loopFrame is an iteration of a rule that has begun.
type loopFrame struct {
	rule, term int
	left       uint64 // rounds of the term
	since      [2]uint64
}

// enter begins an iteration of a rule, and of the rules that begin with it.
func (w *loopTimes) enter(rule int) {
	for {
		first := w.bodies[rule][0]
		w.stack = append(w.stack, loopFrame{rule: rule, left: first.Count, since: w.now})
		if first.Rule < 0 {
			return
		}
		rule = first.Rule
	}
}

// next goes on behind a call: it ends the iterations that end with it.
func (w *loopTimes) next() {
	for len(w.stack) > 0 {
		f := &w.stack[len(w.stack)-1]
		body := w.bodies[f.rule]
		if f.left--; f.left == 0 && f.term+1 < len(body) {
			f.term++
			f.left = body[f.term].Count
		}
		if f.left > 0 {
			if rule := body[f.term].Rule; rule >= 0 {
				w.enter(rule)
			}
			return
		}
		for k := range w.now {
			w.sums[f.rule][k] += w.now[k] - f.since[k]
		}
		w.stack = w.stack[:len(w.stack)-1]
	}
}

// read reads the calls of a rank in a region, of all if that is nil.
func (w *loopTimes) read(ctx context.Context, r *trace.Rank, g *Region) error {
	end, gaps := int64(math.MinInt64), r.Series() != nil && r.Series().Form() == timing.Gaps
	steps := 0
	return seriesOf(r, g, func(_ sequitur.Symbol, position uint64, at timing.Time, first bool) error {
		gap := at.Start - end
		switch {
		case position == 0:
			gap = 0
		case gaps:
			gap = at.Delta // to which the error of a long call before does not add
		case first:
			before, err := endBefore(r, position)
			if err != nil {
				return err
			}
			gap = at.Start - before
		}
		end = at.Start + at.Duration
		w.now[0] += uint64(at.Duration)
		w.now[1] += uint64(at.Duration) + uint64(gap)
		w.next()
		if steps++; steps%checkEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return nil
	})
}

// endBefore returns when the call before a position ended.
func endBefore(r *trace.Rank, position uint64) (int64, error) {
	for at, err := range r.Times(position - 1) {
		return at.Start + at.Duration, err
	}
	return 0, nil
}
