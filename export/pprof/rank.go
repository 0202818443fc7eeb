package pprof

import (
	"math"

	"github.com/reprise-trace/reprise/export/internal/events"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/trace"
)

// outside is the function of what happens between calls.
const outside = "(outside calls)"

// rank adds the calls of a rank.
func (b *builder) rank(rank int) error {
	read, err := b.Trace.Rank(rank)
	if err != nil {
		return err
	}
	r := &ranked{builder: b, read: read, who: rank}
	if !b.byRank {
		r.who, _ = b.Trace.ShapeOf(rank)
	}
	first, end, err := r.choose()
	if err != nil {
		return err
	}
	if first == end {
		return nil
	}
	if !b.byRank {
		b.shares(r.who, rank)
	}
	return r.add(first, end)
}

// shares has a rank share the samples of a shape.
func (b *builder) shares(shape, rank int) {
	if b.shapes[shape] == nil {
		b.shapes[shape] = new(rankenc.SetBuilder)
	}
	b.shapes[shape].Add(rank)
}

// A ranked is a rank whose calls are added.
type ranked struct {
	*builder
	read  *trace.Rank
	who   int
	clock *query.Clock // nil if there are no times
}

// choose returns the positions of the calls that are wanted, and makes the clock.
func (r *ranked) choose() (first, end uint64, err error) {
	if r.Times == nil {
		return 0, r.read.Len(), nil
	}
	clock, err := r.Times.Clock(r.read)
	if err != nil {
		return 0, 0, err
	}
	if clock.Source() == query.None {
		return 0, r.read.Len(), nil
	}
	r.clock = clock
	from, to, err := clock.Span()
	if err != nil {
		return 0, 0, err
	}
	first, end = 0, r.read.Len()
	if r.between {
		if first, end, err = clock.Positions(r.from, r.to); err != nil {
			return 0, 0, err
		}
		from, to = max(from, r.from), min(to, r.to)
	}
	if first < end {
		if !r.begun {
			r.begin, r.end, r.begun = from, to, true
		}
		r.begin, r.end = min(r.begin, from), max(r.end, to)
	}
	return first, end, nil
}

// add adds the calls first ≤ position < end.
func (r *ranked) add(first, end uint64) error {
	g := r.read.Grammar()
	counts := r.tree.count(g, first, end, func(s sequitur.Symbol) string { return r.name(s) })
	times, err := r.sums(first, end, counts)
	if err != nil {
		return err
	}
	for _, c := range counts {
		if c.calls == 0 {
			continue
		}
		t := &times[c.terminal]
		text := ""
		if r.byRank {
			text = r.printer.Canonical(r.read.Signature(c.terminal))
		}
		if !r.loops {
			c.node = 0
		}
		in, out := t.take(c.calls)
		call := r.read.Call(c.terminal)
		site := r.sites.Of(&call)
		if site != "" {
			site = events.Readable(site)
		}
		r.builder.add(key{c.node, r.name(c.terminal), text, site, r.who}, c.calls, in)
		if out != 0 {
			r.builder.add(key{c.node, outside, text, site, r.who}, 0, out)
		}
		r.calls += uint64(c.calls)
	}
	return nil
}

// name returns the name of the function of a terminal, which comes from a file.
func (r *ranked) name(terminal uint32) string {
	return events.Readable(r.read.Call(terminal).Function.Name)
}

// A timeSum is the time of equal calls of a rank, and that between them and the calls
// before, which is handed out to samples.
type timeSum struct {
	in, out      float64
	calls, taken int64 // all, and those that samples have
}

// take returns the time of so many calls more. All together have all of it.
func (t *timeSum) take(calls int64) (in, out int64) {
	part := func(sum float64, n int64) int64 {
		v := math.Round(sum * (float64(n) / float64(t.calls)))
		if v >= math.MaxInt64 {
			return math.MaxInt64
		}
		return int64(max(v, math.MinInt64))
	}
	before := t.taken
	t.taken += calls
	return part(t.in, t.taken) - part(t.in, before), part(t.out, t.taken) - part(t.out, before)
}

// sums returns the times of the calls first ≤ position < end by terminal.
func (r *ranked) sums(first, end uint64, counts []count) ([]timeSum, error) {
	sums := make([]timeSum, r.read.Terminals())
	for _, c := range counts {
		sums[c.terminal].calls += c.calls
	}
	switch {
	case r.clock == nil:
	case r.clock.Source() == query.Series:
		return sums, r.addSeries(sums, first, end)
	default:
		loops := r.Times.RankLoops(r.read)
		for terminal := range sums {
			if s := &sums[terminal]; s.calls > 0 {
				in, out := loops.Mean(sequitur.Symbol(terminal))
				s.in, s.out = in*float64(s.calls), out*float64(s.calls)
			}
		}
	}
	return sums, nil
}

// addSeries adds up the times of every call. What overlaps the call before is no time
// between them.
func (r *ranked) addSeries(sums []timeSum, first, end uint64) error {
	last, known := int64(0), false
	for call, err := range r.read.Calls(first) {
		if err != nil {
			return err
		}
		at := call.Position
		if at == end || at%(1<<16) == 0 && r.ctx.Err() != nil {
			return nil
		}
		s := &sums[call.Terminal]
		s.in += float64(call.Duration)
		if known {
			s.out += float64(max(0, wire.SubTimes(call.Start, last)))
		}
		end := wire.AddTimes(call.Start, call.Duration)
		if last, known = max(last, end), true; at == first {
			last = end
		}
	}
	return nil
}
