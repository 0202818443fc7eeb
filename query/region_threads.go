package query

import (
	"cmp"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// threadStarts returns the positions where the calls of each thread of a rank begin, in ascending order, if they stand
// one thread after the other: otherwise, or if there is one thread, 0 alone.
func threadStarts(r *trace.Rank, t *trace.Trace) []uint64 {
	alone := []uint64{0}
	if !HasThreads(t) {
		return alone
	}
	thread := make([]int, r.Terminals())
	first, calls := make(map[int]uint64), make(map[int]uint64)
	for x := range thread {
		thread[x] = r.Call(uint32(x)).Thread()
	}
	for position, x := range r.Grammar().FirstUses() {
		if at, ok := first[thread[x]]; !ok || position < at {
			first[thread[x]] = position
		}
	}
	for x, n := range r.Occurrences() {
		calls[thread[x]] += n
	}
	starts := make([]uint64, 0, len(first))
	next := uint64(0)
	for of, at := range first {
		starts = append(starts, at)
		calls[of] += at
	}
	slices.Sort(starts)
	for _, at := range starts {
		if at != next {
			return alone
		}
		for of, begin := range first {
			if begin == at {
				next = calls[of]
			}
		}
	}
	if len(starts) < 2 {
		return alone
	}
	return starts
}

// ThreadSpans returns the calls of each thread of a rank, if they stand one thread after the other, as in a trace of an
// archive: otherwise, or if there is one thread, all calls at once. The rank must have calls.
func ThreadSpans(t *trace.Trace, r *trace.Rank) []trace.Span {
	need.That(t != nil && r != nil, "query: no rank")
	return byThread([]trace.Span{{First: 0, End: r.Len()}}, threadStarts(r, t))
}

// byThread returns spans cut where other threads begin.
func byThread(spans []trace.Span, starts []uint64) []trace.Span {
	if len(starts) == 1 {
		return spans
	}
	var cut []trace.Span
	for _, s := range spans {
		for s.First < s.End {
			i, found := slices.BinarySearch(starts, s.First)
			if found {
				i++
			}
			end := s.End
			if i < len(starts) {
				end = min(end, starts[i])
			}
			cut = append(cut, trace.Span{First: s.First, End: end})
			s.First = end
		}
	}
	return cut
}

// union returns how long at least one of the times lasts that begin and end so. It sorts them.
func union(times []callSpan) float64 {
	slices.SortFunc(times, func(a, b callSpan) int { return cmp.Compare(a.start, b.start) })
	sum, end := 0.0, int64(math.MinInt64)
	for _, s := range times {
		if s.end > end {
			sum += elapsed(max(s.start, end), s.end)
			end = s.end
		}
	}
	return sum
}

// timesIn returns when the rank of a clock comes to each span of a region, and leaves it: from the end of the call of
// its thread before, or the start of its first. Spans are cut where other threads begin.
func (c *Clock) timesIn(g *Region) ([]trace.Span, []callSpan, error) {
	from, to := g.Between()
	starts, time := threadStarts(c.rank, g.trace), c.forward()
	comesTo := func(position uint64) (int64, error) {
		start, duration, err := time(position - 1)
		return wire.AddTimes(start, duration), err
	}
	spans := byThread(g.Spans(c.rank.Number()), starts)
	times := make([]callSpan, len(spans))
	for i, s := range spans {
		var err error
		if _, first := slices.BinarySearch(starts, s.First); first {
			times[i].start, _, err = time(s.First)
		} else {
			times[i].start, err = comesTo(s.First)
		}
		if err != nil {
			return nil, nil, err
		}
		if times[i].end, err = comesTo(s.End); err != nil {
			return nil, nil, err
		}
		times[i].start, times[i].end = max(times[i].start, from), min(times[i].end, to)
	}
	return spans, times, nil
}

// TimeIn returns how long the rank of a clock is in a region: in each span from the end of the call before, or the
// start of its first. A rank of several threads is in it while one of these is.
func (c *Clock) TimeIn(g *Region) (Nanoseconds, error) {
	need.That(g != nil, "query: no region")
	if c.clock == nil {
		return 0, nil
	}
	_, times, err := c.timesIn(g)
	return g.spent(times), err
}

// spent returns how long a rank is in g, of its times there.
func (g *Region) spent(times []callSpan) Nanoseconds {
	if HasThreads(g.trace) {
		return Nanoseconds(union(times))
	}
	sum := 0.0
	for _, s := range times {
		sum += max(0, s.length())
	}
	return Nanoseconds(sum)
}

// addSeries adds the calls of a region to a window, by the times of every call, and what they cover, of the time that
// it returns.
func (c *Clock) addSeries(w *Window, g *Region, found map[sequitur.Symbol]Usage) (Nanoseconds, error) {
	spans, times, err := c.timesIn(g)
	if err != nil {
		return 0, err
	}
	threads := HasThreads(g.trace)
	in, next := cover{most: maxSpans}, 0 // of a span
	if threads {
		in.most = maxParts
	}
	var busy []callSpan
	w.Covered = 0
	add := func() {
		if w.Covered += in.total(); threads {
			if busy = append(busy, in.spans...); in.some || len(busy) > maxParts {
				busy, w.Covered = nil, math.Inf(1)
			}
		}
		in = cover{spans: in.spans[:0], most: in.most}
	}
	err = seriesIn(c.rank, spans, func(terminal sequitur.Symbol, _ uint64, at timing.Time, first bool) error {
		if first {
			add()
			next++
		}
		n := sequitur.Symbol(c.rank.Signature(terminal))
		u := found[n]
		found[n] = Usage{Calls: u.Calls + 1, Time: u.Time + w.within(at.Start, at.Duration)}
		s := times[next-1]
		in.add(max(at.Start, s.start), min(wire.AddTimes(at.Start, at.Duration), s.end))
		return nil
	})
	if add(); threads && !math.IsInf(w.Covered, 1) {
		w.Covered = union(busy)
	}
	return g.spent(times), err
}
