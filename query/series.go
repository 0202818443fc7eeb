package query

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"sort"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// A seriesClock is a clock by the times of every call. Each thread that has a piece of
// the series of its own has a seriesClock. It numbers calls as the series does, thread by thread.
type seriesClock struct {
	rank       *trace.Rank
	series     *timing.Series
	slack      slack
	begin, til int // blocks
}

// newSeriesClock returns the clock of a series.
func newSeriesClock(r *trace.Rank, s *timing.Series, slack slack) clock {
	pieces := append(s.Pieces(), s.Blocks())
	var clocks threadClocks
	for i, til := range pieces[1:] {
		clocks = append(clocks, &seriesClock{r, s, slack, pieces[i], til})
	}
	if len(clocks) == 1 {
		return clocks[0]
	}
	return clocks
}

func (s *seriesClock) at(position uint64) (start, duration int64, err error) {
	for t, err := range s.rank.Times(position) {
		return t.Start, t.Duration, err
	}
	return 0, 0, nil
}

// earliest decodes calls for as long as one after them may begin before the first: it begins
// no earlier than the slack of overlap before the end of the call before it.
func (s *seriesClock) earliest(most uint64) (int64, error) {
	least, err := s.series.Start(s.begin)
	if err != nil || s.slack.overlap == 0 && !s.slack.unknown {
		return least, err
	}
	early := wire.AddTimes(wire.AddTimes(s.slack.overlap, s.slack.duration),
		wire.AddTimes(s.slack.start, s.slack.start))
	if s.slack.unknown {
		early = maxTime
	}
	first := s.first(s.begin)
	for _, t := range s.times(first, min(first+most, s.first(s.til)), &err) {
		least = min(least, t.Start)
		if wire.AddTimes(wire.AddTimes(t.Start, t.Duration), -early) >= least {
			break
		}
	}
	return least, err
}

func (s *seriesClock) end() (int64, error) {
	last := s.first(s.til) - 1
	var err error
	for _, t := range s.times(last, last+1, &err) {
		return wire.AddTimes(t.Start, t.Duration), nil
	}
	return 0, err
}

// positions returns the positions of what numbers finds.
func (s *seriesClock) positions(from, to int64) (first, end uint64, err error) {
	first, end, err = s.numbers(from, to)
	if err != nil || first == end {
		return 0, 0, err
	}
	last := end - 1
	for _, t := range s.times(first, first+1, &err) {
		first = t.Position
	}
	for _, t := range s.times(last, last+1, &err) {
		end = t.Position + 1
	}
	return first, end, err
}

// numbers looks at the blocks that may have such calls, from both sides.
func (s *seriesClock) numbers(from, to int64) (first, end uint64, err error) {
	low, high, err := s.blocks(from, to)
	if err != nil {
		return 0, 0, err
	}
	first = s.first(high)
	last := first
	for position, t := range s.times(s.first(low), s.first(high), &err) {
		if Overlaps(t.Start, t.Duration, from, to) {
			first, last = position, position
			break
		}
	}
	if err != nil || first == s.first(high) {
		return first, first, err
	}
	for block := high - 1; block >= low && s.first(block+1) > first; block-- {
		for position, t := range s.times(max(first, s.first(block)), s.first(block+1), &err) {
			if Overlaps(t.Start, t.Duration, from, to) {
				last = position
			}
		}
		if err != nil || last >= s.first(block) {
			break
		}
	}
	return first, last + 1, err
}

// times returns an iterator over the times of the calls first ≤ n < end, which
// ends with an error.
func (s *seriesClock) times(first, end uint64, err *error) iter.Seq2[uint64, trace.TimedCall] {
	return func(yield func(uint64, trace.TimedCall) bool) {
		if first >= end {
			return
		}
		n := first
		for t, e := range s.rank.InSeries(first) {
			if e != nil {
				*err = e
				return
			}
			if !yield(n, t) {
				return
			}
			if n++; n == end {
				return
			}
		}
	}
}

// first returns the number of the first call of a block, or the length if it is the number of
// blocks.
func (s *seriesClock) first(block int) uint64 { return s.series.First(block) }

// blocks returns low ≤ block < high for the blocks of the calls between two times.
//
// Let M be the slack of overlap. What a block begins with is exact. It began no earlier
// than M before the end of the call before. So starts of blocks go back by M at most,
// the calls of a block began no earlier than M before its start, and those of the block
// before ended no later than M after it.
func (s *seriesClock) blocks(from, to int64) (low, high int, err error) {
	if s.slack.unknown {
		return s.begin, s.til, nil
	}
	twice := wire.AddTimes(s.slack.overlap, s.slack.overlap)
	early := wire.AddTimes(twice, wire.AddTimes(s.slack.start, s.slack.duration))
	if low, err = s.blockFrom(wire.AddTimes(from, -early)); err != nil {
		return 0, 0, err
	}
	high, err = s.blockFrom(wire.AddTimes(to, wire.AddTimes(twice, s.slack.start)))
	low = max(s.begin, low-1)
	return low, max(low, high), err
}

// blockFrom returns a block that began at a time or after it, while the block before it
// began before: that, if starts do not go back, which they do by the slack of overlap at
// most. It is the number of blocks if the last began before.
func (s *seriesClock) blockFrom(time int64) (int, error) {
	var err error
	block := s.begin + sort.Search(s.til-s.begin, func(i int) bool {
		start, e := s.series.Start(s.begin + i)
		if e != nil && err == nil {
			err = e
		}
		return start >= time
	})
	return block, err
}

// where looks at the blocks of the calls at a time, and on to the next call that ends
// later.
func (s *seriesClock) where(time int64) (Place, error) {
	low, high, err := s.blocks(time, wire.AddTimes(time, 1))
	if err != nil {
		return Place{}, err
	}
	none := s.rank.Len()
	of := Place{Position: none}
	for n, t := range s.times(s.first(low), s.first(s.til), &err) {
		if n >= s.first(high) && of.Position < none {
			break
		}
		switch {
		case wire.AddTimes(t.Start, t.Duration) <= time:
		case t.Start <= time && (!of.Inside || t.Start >= of.Start):
			of = Place{t.Position, true, t.Start, t.Duration}
		case of.Position == none:
			of = Place{t.Position, false, t.Start, t.Duration}
		}
	}
	if err == nil && of.Position == none {
		of.Start, err = s.end()
	}
	return of, err
}

func (s *seriesClock) calls(from uint64) iter.Seq2[trace.Call, error] {
	return s.rank.Calls(from)
}

// threadClocks are the clocks of the threads of a rank.
type threadClocks []*seriesClock

func (c threadClocks) at(position uint64) (start, duration int64, err error) {
	return c[0].at(position)
}

// where returns the place in the call that began last of all threads, or else before the
// call that begins first.
func (c threadClocks) where(time int64) (Place, error) {
	var best Place
	none := c[0].rank.Len()
	for i, s := range c {
		p, err := s.where(time)
		if err != nil {
			return Place{}, err
		}
		better := false
		switch {
		case i == 0:
			better = true
		case p.Inside != best.Inside:
			better = p.Inside
		case (p.Position == none) != (best.Position == none):
			better = best.Position == none
		default:
			if better = p.Start < best.Start; p.Inside || p.Position == none {
				better = p.Start >= best.Start
			}
		}
		if better {
			best = p
		}
	}
	return best, nil
}

func (c threadClocks) positions(from, to int64) (first, end uint64, err error) {
	for _, s := range c {
		f, e, err := s.positions(from, to)
		if err != nil {
			return 0, 0, err
		}
		if f == e {
			continue
		}
		if first == end {
			first = f
		}
		first, end = min(first, f), max(end, e)
	}
	return first, end, nil
}

func (c threadClocks) earliest(most uint64) (int64, error) {
	least := int64(maxTime)
	for _, s := range c {
		begin, err := s.earliest(most)
		if err != nil {
			return 0, err
		}
		least = min(least, begin)
	}
	return least, nil
}

func (c threadClocks) end() (int64, error) {
	last := int64(minTime)
	for _, s := range c {
		end, err := s.end()
		if err != nil {
			return 0, err
		}
		last = max(last, end)
	}
	return last, nil
}

func (c threadClocks) calls(from uint64) iter.Seq2[trace.Call, error] { return c[0].calls(from) }

// usage knows what is covered as long as the covers keep all spans.
func (c threadClocks) usage(w *Window) (map[sequitur.Symbol]Usage, error) {
	found := make(map[sequitur.Symbol]Usage)
	var spans []callSpan
	known := true
	for _, s := range c {
		own := cover{most: maxSpans}
		first, end, err := s.numbers(w.From, w.To)
		if err == nil {
			err = s.addUsage(w, first, end, found, &own)
		}
		if err != nil {
			return nil, err
		}
		spans = append(spans, own.spans...)
		known = known && !own.some
	}
	slices.SortFunc(spans, func(a, b callSpan) int { return cmp.Compare(a.end, b.end) })
	all := cover{most: maxSpans}
	for _, s := range spans {
		all.add(s.start, s.end)
	}
	if w.Covered = math.Inf(1); known {
		w.Covered = all.total()
	}
	return found, nil
}

// A slack says how far the times of calls, as a series has them, may be out of the order
// in which the calls stand in the trace, which is that in which they returned. It bounds
// where in the series the calls between two times are. All are at least 0, in
// nanoseconds.
type slack struct {
	// A call begins at most so long before the end of the call before it, as it was.
	overlap int64

	// A start is off by at most start, and a duration by at most duration.
	start, duration int64

	unknown bool // there are no statistics: calls may be anywhere
}

// slackOf returns the slack of a series of a guarantee, and with a bound of starts unless that is 0, of
// calls of signatures. It is as small as the statistics of these calls on all ranks tell: where no call
// overlaps the one before, as in one thread without calls in calls, and the series is exact, it is 0.
func (t *Times) slackOf(signatures []sequitur.Symbol, timed func(sequitur.Symbol) int, g timing.Guarantee,
	starts int64) slack {
	var s slack
	longest, most := 0.0, 0.0 // the longest gap, and duration
	for _, n := range signatures {
		of, before := t.statistics(durations, timed(n)), t.statistics(gaps, timed(n))
		if of == nil || of.Min < 0 || before == nil && layout.NoSummary(&t.summaries[gaps]) {
			return slack{unknown: true}
		}
		most = max(most, float64(of.Max))
		if before == nil { // nothing comes before the first call of a rank
			continue
		}
		longest = max(longest, math.Abs(float64(before.Min)), math.Abs(float64(before.Max)))
		if before.Min < 0 {
			s.overlap = max(s.overlap, min(of.Max, -max(before.Min, -maxTime)))
		}
	}
	if g != timing.Exact {
		s.start = ceiling(longest * min(float64(g), 1))
		if starts > 0 {
			s.start = min(s.start, t.aligned(starts))
		}
		s.duration = ceiling(most * float64(g))
	}
	return s
}

// overlap returns how long before the end of the call before it on its rank a call of the
// trace began at most, as far as statistics tell.
func (t *Times) overlap() int64 {
	s, ok := t.slack(timing.Exact)
	if !ok {
		return maxTime
	}
	return s.overlap
}

// startError returns how far the starts of a series of a guarantee are off at most, as far
// as statistics tell; maxTime if they do not.
func (t *Times) startError(g timing.Guarantee) int64 {
	if g == timing.Exact {
		return 0
	}
	if s, ok := t.slack(g); ok {
		return s.start
	}
	if starts := t.starts(); starts > 0 {
		return t.aligned(starts)
	}
	return maxTime
}

// aligned returns how long a time is at most once clocks are aligned, the fastest of which may be slowed down
// by less than a hundredth.
func (t *Times) aligned(time int64) int64 {
	if len(t.trace.Run().Clocks) == 0 {
		return time
	}
	return wire.AddTimes(time, time/100+1)
}

// durationError returns how far durations are off at most, as startError.
func (t *Times) durationError(g timing.Guarantee) int64 {
	if g == timing.Exact {
		return 0
	}
	s, ok := t.slack(g)
	if !ok {
		return maxTime
	}
	return s.duration
}

// knownStartError returns startError and how far clocks may be off from one time to another, nil if
// statistics or the clocks do not tell.
func (t *Times) knownStartError(g timing.Guarantee, from, to int64) *int64 {
	off, clocks := t.startError(g), int64(0)
	for _, c := range t.trace.Run().Clocks {
		if c.Error < 0 {
			return nil
		}
		// where the starts may have been
		clocks = max(clocks, layout.ClockError(&c, wire.SubTimes(from, off), wire.AddTimes(to, off)))
	}
	if off = wire.AddTimes(off, clocks); off < maxTime {
		return &off
	}
	return nil
}

// slack returns that of a series of a guarantee of any calls, and whether statistics tell.
func (t *Times) slack(g timing.Guarantee) (slack, bool) {
	var signatures []sequitur.Symbol
	for n := range t.trace.Signatures() {
		if t.source(n) != None {
			signatures = append(signatures, sequitur.Symbol(n))
		}
	}
	s := t.slackOf(signatures, func(n sequitur.Symbol) int { return int(n) }, g, t.starts())
	return s, !s.unknown && len(signatures) > 0
}

// ceiling returns a number of nanoseconds above ns.
func ceiling(ns float64) int64 {
	if ns = math.Ceil(ns) + 1; ns < maxTime {
		return int64(ns)
	}
	return maxTime
}

// elapsed returns how much time goes by from one time to another.
func elapsed(from, to int64) float64 {
	if d := to - from; d < 0 == (to < from) {
		return float64(d)
	}
	return float64(to) - float64(from)
}
