package query

import (
	"context"
	"iter"
	"math"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/parallel"
	"github.com/reprise-trace/reprise/internal/sums"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// RunTimes are times of a run as it was recorded. The run begins when the last rank returns from MPI_Init,
// and ends when the last rank calls MPI_Finalize: a rank that calls it early waits in it for the others. The
// startup is before the run, the shutdown after it. A run without MPI_Init begins with the first call of all
// ranks, and one that no rank finalizes ends with the end of the last.
type RunTimes struct {
	Run      Nanoseconds `json:"run_ns"`
	Startup  Nanoseconds `json:"startup_ns"`   // from the first call of all ranks to the beginning of the run
	Shutdown Nanoseconds `json:"shutdown_ns"`  // from the end of the run to the end of the last call
	Error    Nanoseconds `json:"run_error_ns"` // how far each of these may be off, if the clocks of ranks agree

	Begin      int64       `json:"-"` // of the run, as a [Clock] has it
	BeginError Nanoseconds `json:"-"` // how far it may be off
	endError   Nanoseconds // how far the end may be off
	Worlds     int         `json:"-"` // MPI_COMM_WORLDs that begin by then: calls of all but the last count as startup
}

// end returns when the run ended, as a [Clock] has it.
func (r *RunTimes) end() int64 { return wire.AddTimes(r.Begin, int64(r.Run)) }

// RunCalls are the calls of a rank in the run: positions First ≤ p < End, without MPI_Init and the calls
// before it. If Finalized is set, the last of them is MPI_Finalize.
//
// Calls of a rank with several threads are one thread after the other: those that come after MPI_Finalize by
// their position are in the run, and End is the number of all calls.
type RunCalls struct {
	First, End uint64
	Finalized  bool
	finalize   uint64 // position
}

// InStartup reports whether ranks call a function to join the run.
func InStartup(function string) bool { return function == "MPI_Init" || function == "MPI_Init_thread" }

// InShutdown reports whether ranks call a function to leave the run.
func InShutdown(function string) bool { return function == "MPI_Finalize" }

// OutsideRun reports whether calls of a function begin or end the run, so that their time is none of it.
func OutsideRun(function string) bool { return InStartup(function) || InShutdown(function) }

// CompareOutside compares functions, such that those that are [OutsideRun] are the greater.
func CompareOutside(a, b string) int {
	switch x, y := OutsideRun(a), OutsideRun(b); {
	case x == y:
		return 0
	case x:
		return 1
	}
	return -1
}

// RunCallsOf returns which calls of a rank of a trace are in the run.
func RunCallsOf(t *trace.Trace, r *trace.Rank) RunCalls {
	need.That(t != nil && r != nil, "query: no rank")
	functions := t.Functions()
	return runCallsOf(t, r.Len(), func(is func(function string) bool) iter.Seq2[uint64, sequitur.Symbol] {
		return r.Find(0, func(s sequitur.Symbol) bool { return is(functions[r.Function(s)].Name) })
	})
}

// runCallsOfShape is [RunCallsOf] for each rank of a shape, without reading one.
func runCallsOfShape(t *trace.Trace, s *trace.Shape) RunCalls {
	functions, all := t.Functions(), sums.Of(s.Grammar)
	return runCallsOf(t, s.Grammar.Len(), func(is func(function string) bool) iter.Seq2[uint64, sequitur.Symbol] {
		return all.Measure(func(n sequitur.Symbol) uint64 {
			if is(functions[t.FunctionOf(int(n))].Name) {
				return 1
			}
			return 0
		}).From(0)
	})
}

// runCallsOf returns which of n calls are in the run, of which find finds those of some functions.
func runCallsOf(
	t *trace.Trace, n uint64, find func(is func(function string) bool) iter.Seq2[uint64, sequitur.Symbol],
) RunCalls {
	run := RunCalls{End: n}
	first := func(is func(function string) bool) (position uint64, ok bool) {
		for p := range find(is) {
			return p, true
		}
		return 0, false
	}
	if p, ok := first(InStartup); ok {
		run.First = p + 1
	}
	if p, ok := first(InShutdown); ok && p >= run.First {
		if run.End, run.finalize, run.Finalized = p+1, p, true; HasThreads(t) {
			run.End = n
		}
	}
	return run
}

// Run returns the times of the run, of all ranks of the trace: by the times of every call of a rank, else by
// what the trace keeps of it. It returns nil if the trace has neither of a rank that made calls. It reads
// shapes, and each rank that has the times of every call. Where [Times.RunOfSums] knows better how long something
// took, that counts.
func (t *Times) Run(ctx context.Context) (*RunTimes, error) {
	f, err := t.runFinder()
	if err != nil {
		return nil, err
	}
	if err := f.readSeries(ctx); err != nil {
		return nil, err
	}
	run, err := f.run(ctx, f.of)
	if err != nil || run == nil || run.Error == 0 {
		return run, err
	}
	kept, err := f.run(ctx, f.ofSums)
	if err == nil && kept != nil && kept.Error < run.Error {
		run.Run, run.Startup, run.Shutdown, run.Error = kept.Run, kept.Startup, kept.Shutdown, kept.Error
		run.endError = run.BeginError + kept.Error
	}
	return run, err
}

// RunOfSums is [Times.Run] by what the trace keeps of each rank, nil if it does not tell it.
func (t *Times) RunOfSums(ctx context.Context) (*RunTimes, error) {
	f, err := t.runFinder()
	if err != nil {
		return nil, err
	}
	return f.run(ctx, f.ofSums)
}

// nearer returns the times of the run, and those of ranks that these are from: by the times of every call, or by what
// the trace keeps of each rank if sums is set and the end of the run is known better so.
func (f *runFinder) nearer(ctx context.Context, sums bool) (*RunTimes, func(rank int) (*runSpan, error), error) {
	run, err := f.run(ctx, f.of)
	if err != nil || !sums {
		return run, f.of, err
	}
	kept, err := f.run(ctx, f.ofSums)
	if kept != nil && (run == nil || kept.endError < run.endError) {
		return kept, f.ofSums, err
	}
	return run, f.of, err
}

// run returns the times of the run from those of the ranks, nil if one is not known.
func (f *runFinder) run(ctx context.Context, of func(rank int) (*runSpan, error)) (*RunTimes, error) {
	var all *runSpan
	for _, rank := range f.times.trace.RankSet().All() {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		span, err := of(rank)
		if err != nil || span == nil {
			return nil, err
		}
		if all == nil {
			all = span
		}
		all.add(span)
	}
	if all == nil {
		return nil, nil
	}
	if all.begin == math.MinInt64 {
		all.begin = all.first
	}
	if all.begin > all.end {
		if elapsed(all.end, all.begin) > all.off+all.endOff { // nothing is in the run
			return nil, nil
		}
		all.begin, all.off = all.end, max(all.off, all.endOff) // only times that are not exact have it so
	}
	off := all.off + all.endOff + all.finalizeOff
	if all.finalizeOff > 0 { // the shutdown is from an end to another
		off += all.endOff
	}
	return &RunTimes{Run: Nanoseconds(elapsed(all.begin, all.end)), Startup: Nanoseconds(elapsed(all.first, all.begin)),
		Shutdown: Nanoseconds(elapsed(all.end, all.last)), Begin: all.begin,
		Worlds: max(1, len(f.times.trace.Run().Worlds)),
		Error:  Nanoseconds(off), BeginError: Nanoseconds(all.off),
		endError: Nanoseconds(all.endOff + all.finalizeOff)}, nil
}

// A runSpan is when ranks made their first call, the run began and ended for them, and their last call ended.
type runSpan struct {
	first, begin, end, last int64   // begin is −2⁶³ without MPI_Init
	off                     float64 // how far the begin may be off, in nanoseconds
	endOff                  float64 // how far the end may be off, but for the time of MPI_Finalize
	finalizeOff             float64 // how far that may be off

	// What is before MPI_Init, with the gap before it, and after MPI_Finalize.
	gaps, calls interval
}

// add adds another rank.
func (s *runSpan) add(o *runSpan) {
	s.first, s.begin = min(s.first, o.first), max(s.begin, o.begin)
	s.end, s.last = max(s.end, o.end), max(s.last, o.last)
	s.off, s.endOff = max(s.off, o.off), max(s.endOff, o.endOff)
	s.finalizeOff = max(s.finalizeOff, o.finalizeOff)
}

// A shapeRun is the calls in the run of the ranks of a shape, and how long those before MPI_Init and after
// MPI_Finalize take on any rank, with the gaps between them.
type shapeRun struct {
	RunCalls
	before, after           interval
	gapsAround, callsAround interval // in before and after
}

// An interval is how long something takes, at least and at most.
type interval struct{ low, high Nanoseconds }

// add adds what takes time besides.
func (i *interval) add(o interval) { i.low, i.high = i.low+o.low, i.high+o.high }

// A runFinder finds the runSpans of the ranks of a trace.
type runFinder struct {
	times             *Times
	timed             rankenc.Set
	shapes            map[int]shapeRun
	startup, shutdown interval // calls of these
}

func (t *Times) runFinder() (*runFinder, error) {
	timed, _, err := t.trace.SeriesRanks()
	return &runFinder{times: t, timed: timed, shapes: make(map[int]shapeRun),
		startup: t.boundsOfFunctions(InStartup), shutdown: t.boundsOfFunctions(InShutdown)}, err
}

// of returns the runSpan of a rank, nil if it is not known.
func (f *runFinder) of(rank int) (*runSpan, error) {
	if !f.timed.Contains(rank) {
		return f.ofSums(rank)
	}
	shape, err := f.shapeOf(rank)
	if err != nil {
		return nil, err
	}
	return f.times.spanInSeries(rank, shape.RunCalls)
}

// ofSums returns the runSpan of a rank by what the trace keeps of it, nil if it does not tell it.
func (f *runFinder) ofSums(rank int) (*runSpan, error) {
	t := f.times
	if t.ranks == nil {
		return nil, nil
	}
	shape, err := f.shapeOf(rank)
	if err != nil {
		return nil, err
	}
	kept, ok := t.ranks.Find(rank)
	if !ok || kept.Span.High == math.MaxInt64 || math.IsInf(float64(shape.before.high+shape.after.high), 1) {
		return nil, nil
	}
	return f.kept(&kept, shape), nil
}

// shapeOf returns the shapeRun of the shape of a rank.
func (f *runFinder) shapeOf(rank int) (shapeRun, error) {
	number, _ := f.times.trace.ShapeOf(rank)
	shape, known := f.shapes[number]
	if known {
		return shape, nil
	}
	of, err := f.times.trace.Shape(number)
	if err != nil {
		return shape, err
	}
	shape = f.shape(of)
	f.shapes[number] = shape
	return shape, nil
}

// readSeries reads the runSpans of ranks with the times of every call, several at once. Errors are left to of.
func (f *runFinder) readSeries(ctx context.Context) error {
	if f.timed.Len() > maxRunSpans {
		return nil
	}
	ranks := make([]int, 0, f.timed.Len())
	for _, rank := range f.timed.All() {
		if _, err := f.shapeOf(rank); err == nil {
			ranks = append(ranks, rank)
		}
	}
	return parallel.Each(ctx, 0, len(ranks), func(i int) error {
		number, _ := f.times.trace.ShapeOf(ranks[i])
		_, _ = f.times.spanInSeries(ranks[i], f.shapes[number].RunCalls)
		return nil
	})
}

// maxRunSpans is of how many ranks the runSpans are kept that are read from the times of every call.
const maxRunSpans = 1 << 16

// spanInSeries returns the runSpan of a rank with the times of every call, which is read once.
func (t *Times) spanInSeries(rank int, calls RunCalls) (*runSpan, error) {
	t.mu.Lock()
	s, ok := t.spans[rank]
	t.mu.Unlock()
	if ok {
		return &s, nil
	}
	r, err := t.trace.Rank(rank)
	if err != nil {
		return nil, err
	}
	c, err := t.Clock(r)
	if err != nil {
		return nil, err
	}
	of, err := c.runSpan(calls)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.spans == nil {
		t.spans = make(map[int]runSpan)
	}
	if len(t.spans) < maxRunSpans {
		t.spans[rank] = *of
	}
	return of, nil
}

// mostAround is how many calls before MPI_Init, or after MPI_Finalize, are looked at.
const mostAround = 1 << 12

// shape returns the shapeRun of a shape.
func (f *runFinder) shape(of *trace.Shape) shapeRun {
	s := shapeRun{RunCalls: runCallsOfShape(f.times.trace, of)}
	add := func(to *interval, from, end uint64, gap func(position uint64) bool) {
		if end > from+mostAround {
			*to = interval{0, Nanoseconds(math.Inf(1))}
			return
		}
		for w := of.Grammar.Walk(from); from < end; from++ {
			signature := int(w.Next().Symbol)
			if gap(from) {
				of := f.times.boundsOf(gaps, signature)
				to.add(of)
				s.gapsAround.add(of)
			}
			took := f.times.boundsOf(durations, signature)
			to.add(took)
			s.callsAround.add(took)
		}
	}
	if s.First > 1 {
		add(&s.before, 0, s.First-1, func(position uint64) bool { return position > 0 })
		of := f.times.boundsOf(gaps, int(of.Grammar.At(s.First-1)))
		s.before.add(of)
		s.gapsAround.add(of)
	}
	if s.Finalized {
		add(&s.after, s.End, of.Grammar.Len(), func(uint64) bool { return true })
	}
	return s
}

// boundsOf returns how long calls of a signature take, or the gaps before them, on any rank.
func (t *Times) boundsOf(kind, signature int) interval {
	s := t.statistics(kind, signature)
	if s == nil || s.Count == 0 {
		return interval{0, Nanoseconds(math.Inf(1))}
	}
	return interval{Nanoseconds(max(0, s.Min)), Nanoseconds(max(0, s.Max))}
}

// kept returns the runSpan of a rank by what the trace keeps of it.
func (f *runFinder) kept(of *layout.RankTime, shape shapeRun) *runSpan {
	t := f.times
	s := &runSpan{first: of.Begin - t.firstBegin, begin: math.MinInt64, off: layout.BeginError,
		endOff: float64(of.Span.Error() + layout.BeginError)}
	if begin, err := t.Begin(); err == nil && begin != 0 { // as [Times.newEstimate] has it
		s.first = of.Begin
	}
	s.last = wire.AddTimes(s.first, of.Span.Middle())
	s.end, s.gaps, s.calls = s.last, shape.gapsAround, shape.callsAround
	in := func(is func(function string) bool, around, each interval) (time int64, off float64) {
		sum := interval{}
		for _, calls := range of.Functions {
			if is(t.trace.Functions()[calls.Function].Name) {
				time, off := both(middle(calls.Sum), Nanoseconds(calls.Sum.Error()), each.low, each.high)
				sum.add(interval{time - off, time + off})
			}
		}
		sum.add(around)
		return int64((sum.low + sum.high) / 2), float64(sum.high-sum.low) / 2
	}
	if shape.First > 0 {
		time, off := in(InStartup, shape.before, f.startup)
		s.begin, s.off = wire.AddTimes(s.first, time), s.off+off
	}
	if shape.Finalized {
		time, off := in(InShutdown, shape.after, f.shutdown)
		s.end, s.finalizeOff = wire.AddTimes(s.last, -time), off
	}
	return s
}

// boundsOfFunctions returns how long calls of some functions take, on any rank.
func (t *Times) boundsOfFunctions(is func(function string) bool) interval {
	all := interval{Nanoseconds(math.Inf(1)), 0}
	for n := range t.trace.Signatures() {
		if is(t.trace.Functions()[t.trace.FunctionOf(n)].Name) {
			of := t.boundsOf(durations, n)
			all.low, all.high = min(all.low, of.low), max(all.high, of.high)
		}
	}
	return all
}

// runSpan returns the runSpan of the rank of a clock, which makes calls, and whose times of every call are known.
func (c *Clock) runSpan(calls RunCalls) (*runSpan, error) {
	s := &runSpan{begin: math.MinInt64}
	if err := c.setEnds(calls, s); err != nil {
		return nil, err
	}
	if calls.First > 0 {
		if err := c.endOfStartup(calls, s); err != nil {
			return nil, err
		}
	}
	if g := c.Guarantee(); g != timing.Exact { // MPI_Finalize begins when the run ends
		if s.endOff = c.startsOff(); calls.Finalized {
			s.finalizeOff = above(elapsed(s.end, s.last), g)
		} else {
			_, duration, err := c.Time(c.rank.Len() - 1)
			if err != nil {
				return nil, err
			}
			s.endOff += above(float64(duration), g)
		}
	}
	return s, c.addAround(calls, s)
}

// setEnds sets when the first call began and the last one ended, and when the run ended. A series is read to its
// end once, if that is where MPI_Finalize is.
func (c *Clock) setEnds(calls RunCalls, s *runSpan) (err error) {
	of, single := c.clock.(*seriesClock)
	if !single || !calls.Finalized || calls.finalize != c.rank.Len()-1 {
		if s.first, s.last, err = c.Span(); err == nil && calls.Finalized {
			s.end, err = c.Start(calls.finalize)
		} else {
			s.end = s.last
		}
		return err
	}
	if s.first, err = of.earliest(maxBegins); err != nil {
		return err
	}
	start, duration, err := of.at(calls.finalize)
	s.end, s.last = start, wire.AddTimes(start, duration)
	return err
}

// endOfStartup sets when MPI_Init returned: by how long it took or, where times are not exact and that tells more,
// by the gap to the next call.
func (c *Clock) endOfStartup(calls RunCalls, s *runSpan) error {
	start, duration, err := c.Time(calls.First - 1)
	if err != nil {
		return err
	}
	s.begin = wire.AddTimes(start, duration)
	if c.Guarantee() == timing.Exact {
		return nil
	}
	starts := c.startsOff()
	if s.off = above(float64(duration), c.Guarantee()); calls.First > 1 { // the start of the first call is exact
		s.off += starts
	}
	for next, err := range c.rank.Times(calls.First) {
		if err != nil {
			return err
		}
		off := above(float64(next.Delta), c.Guarantee()) + starts
		if c.rank.Series().Form() == timing.Gaps && next.Delta >= 0 && off < s.off {
			s.begin, s.off = max(start, wire.SubTimes(next.Start, next.Delta)), off
		}
		break
	}
	return nil
}

// above returns how far a time may be off that a codec of a guarantee has.
func above(time float64, g timing.Guarantee) float64 {
	if g >= 1 {
		return math.Inf(1)
	}
	return time * float64(g) / (1 - float64(g))
}

// startsOff returns how far starts of the rank of a clock of a series are off at most, +Inf if that is not known.
func (c *Clock) startsOff() float64 {
	if c.starts == maxTime {
		return math.Inf(1)
	}
	return float64(c.starts)
}

// addAround adds what is before MPI_Init and after MPI_Finalize.
func (c *Clock) addAround(calls RunCalls, s *runSpan) error {
	if calls.First+c.rank.Len()-calls.End > mostAround {
		s.gaps.high, s.calls.high = Nanoseconds(math.Inf(1)), Nanoseconds(math.Inf(1))
		return nil
	}
	end := int64(0) // of the call before
	at := func(position, to uint64, gapOfNext bool) error {
		for ; position < to; position++ {
			start, duration, err := c.Time(position)
			if err != nil {
				return err
			}
			if position > 0 {
				gap := Nanoseconds(max(0, elapsed(end, start)))
				s.gaps.add(interval{gap, gap})
			}
			if end = wire.AddTimes(start, duration); !gapOfNext || position+1 < to {
				s.calls.add(interval{Nanoseconds(duration), Nanoseconds(duration)})
			}
		}
		return nil
	}
	if calls.First > 1 { // the gap before MPI_Init, too, but not how long it took
		if err := at(0, calls.First, true); err != nil {
			return err
		}
	}
	if !calls.Finalized || calls.End == c.rank.Len() {
		return nil
	}
	start, duration, err := c.Time(calls.finalize)
	if err != nil {
		return err
	}
	end = wire.AddTimes(start, duration)
	return at(calls.End, c.rank.Len(), false)
}

// ComparedTimes are those by which a run is compared with another.
type ComparedTimes struct {
	RunTimes
	Outside Nanoseconds `json:"outside_ns"` // of all ranks together, outside calls
}

// ComparedTimesOf returns the times of a run: see [Times.Run]. It takes as long as [Times.ByRank].
func ComparedTimesOf(ctx context.Context, t *trace.Trace) (*ComparedTimes, error) {
	need.That(t != nil, "query: no trace")
	times, err := OpenTimes(t)
	if err != nil {
		return nil, err
	}
	run, err := times.Run(ctx)
	if err != nil || run == nil {
		return nil, err
	}
	profile, err := OpenProfile(ctx, t, Options{})
	if err != nil {
		return nil, err
	}
	b, err := times.ByRank(ctx, profile, !times.HasRanks(Options{}), Options{})
	if err != nil {
		return nil, err
	}
	compared := &ComparedTimes{RunTimes: *run}
	for _, r := range b.Ranks {
		compared.Outside += max(r.Span-r.Time, 0)
	}
	return compared, nil
}
