package efficiency

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// An ideal is a machine on which ranks compute as long as they did, and nothing else takes time. It takes
// note of when ranks come to where phases begin and end. If all times are means, it is a
// [replay.SteadyMachine].
type ideal struct {
	every uint64 // executed calls between calls of progress
	replay.Instant
	trace    *trace.Trace
	recorded *replay.Recorded
	times    *query.Times
	run      *query.RunTimes // nil if they are not known
	phases   []*query.Region
	ranks    []*rank // all of them; nil for one without calls

	steady   bool
	executed uint64
	most     uint64 // that may be executed
	calls    uint64 // that were executed, or skipped
	progress func(uint64)
	stop     context.CancelCauseFunc
	err      error
}

// A rank describes one of them.
type rank struct {
	number int
	thread int
	clock  *query.Clock

	means   []mean // by terminal, if the trace does not have the times of every call
	scaled  bool   // they are the rank's own, or there are none
	outside []bool // by terminal: the function is not one of MPI

	// The run is the calls at first ≤ position < end, but only the gap before the last of them if that is
	// MPI_Finalize.
	first, end uint64
	finalized  bool

	// Counted is the first of them that begins after the last rank has returned from MPI_Init, and gap how
	// long before it that was.
	counted uint64
	gap     replay.Time

	marks     []uint64 // positions that are to be marked, ascending
	marked    map[uint64]moment
	came      map[uint64]int64 // when it came to marks in the recorded run, as far as calls before them were read
	next      uint64           // position behind the last call
	computing replay.Time
}

// A mean is that of the gaps before calls, and of how long these take.
type mean struct{ gap, duration replay.Time }

// A moment is when a rank comes to a position in the ideal run, and how much it has computed by then.
type moment struct{ at, computing replay.Time }

// Steady reports whether calls of one signature on a rank always take the same time.
func (m *ideal) Steady() bool { return m.steady }

// toldEvery is how many executed calls are between calls of Progress.
const toldEvery = 1 << 16

// Compute returns what the trace says of a call.
func (m *ideal) Compute(c *replay.Call) (before, within replay.Time) {
	r := m.ranks[c.Rank.Number()]
	if r == nil { // it cannot be read
		return 0, 0
	}
	if r.next == 0 {
		r.thread = c.Thread
	}
	if c.Thread != r.thread {
		m.fail(fmt.Errorf(
			"efficiency: rank %d makes calls in several threads, and it is not known when one waits for another", r.number))
		return 0, 0
	}
	m.calls += c.Position + 1 - r.next
	r.next = c.Position + 1
	if m.executed++; m.progress != nil && m.executed%m.every == 0 {
		m.progress(m.calls)
	}
	if m.executed > m.most {
		m.fail(fmt.Errorf("%w: more than %d are not in loops that can be skipped", ErrTooMany, m.most))
	}
	if r.means == nil {
		before, within = m.recorded.Compute(c)
		r.come(m.recorded, c.Position)
	} else if mean := &r.means[c.Terminal]; c.Local {
		before, within = mean.gap, mean.duration
	} else {
		before = mean.gap
	}
	switch {
	case c.Position < r.counted: // in the startup
		return 0, 0
	case c.Position == 0:
		before = 0
	case c.Position == r.counted:
		before = min(before, r.gap)
	}
	r.computing += before
	if r.outside[c.Terminal] {
		r.computing += within
	}
	return before, within
}

// endedAt returns the calls before those positions of a rank that are to be marked.
func (m *ideal) endedAt(of *semantics.Rank) (positions []uint64) {
	if of.Len() == 0 {
		return nil
	}
	r := m.rank(of.Rank)
	if r == nil {
		return nil
	}
	m.ranks[r.number] = r
	for _, p := range r.marks {
		positions = append(positions, p-1)
	}
	return positions
}

// computingOf returns what is added up of a rank.
func (m *ideal) computingOf(of *semantics.Rank) *replay.Time {
	if r := m.ranks[of.Number()]; r != nil {
		return &r.computing
	}
	return nil
}

// ended takes note of the end of a call that endedAt has returned.
func (m *ideal) ended(c *replay.Call, start, end replay.Time) {
	r := m.ranks[c.Rank.Number()]
	if len(r.marks) == 0 || c.Position+1 != r.marks[0] { // one of another thread
		return
	}
	if r.finalized && c.Position+1 == r.end {
		end = start
	}
	r.mark(end)
}

// fail ends the replay.
func (m *ideal) fail(err error) {
	if m.err == nil {
		m.err = err
		m.stop(err)
	}
}

// mark marks the next position that is to be marked, to which the rank comes at a time.
func (r *rank) mark(at replay.Time) {
	r.marked[r.marks[0]] = moment{at, r.computing}
	r.marks = r.marks[1:]
}

// come takes note of when the rank comes to a mark in the recorded run, which is read at the call before it.
func (r *rank) come(times *replay.Recorded, before uint64) {
	marked := len(r.marks) > 0 && before+1 == r.marks[0]
	if !marked && before > 0 {
		return
	}
	t, ok := times.Last()
	if ok && before == 0 {
		r.came[0] = t.Start
	}
	if ok && marked {
		r.came[before+1] = r.after(t.Start, t.Duration, before+1)
	}
}

// recorded returns when the rank came to a position in the recorded run.
func (r *rank) recorded(position uint64) (int64, error) {
	if at, ok := r.came[position]; ok {
		return at, nil
	}
	if position == 0 {
		start, _, err := r.clock.Time(0)
		return start, err
	}
	start, duration, err := r.clock.Time(position - 1)
	return r.after(start, duration, position), err
}

// after returns when the rank comes to a position, by the times of the call before that.
func (r *rank) after(start, duration int64, position uint64) int64 {
	if r.finalized && position == r.end {
		return start
	}
	return wire.AddTimes(start, duration)
}

// spansIn returns the spans of a region that are in the run.
func (r *rank) spansIn(g *query.Region) []trace.Span {
	spans := slices.Clone(g.Spans(r.number))
	for i := range spans {
		if g.Kind == query.TimesRegion {
			spans[i].First, spans[i].End = max(spans[i].First, r.first), min(spans[i].End, r.end)
		}
	}
	return slices.DeleteFunc(spans, func(s trace.Span) bool {
		return s.First < r.first || s.End > r.end || s.First >= s.End
	})
}

// rank returns a rank before its first call, nil if it cannot be read.
func (m *ideal) rank(of *trace.Rank) *rank {
	r := &rank{number: of.Number(), scaled: true, end: of.Len(), marked: make(map[uint64]moment),
		came:    make(map[uint64]int64),
		outside: make([]bool, of.Terminals())}
	var err error
	if r.clock, err = m.times.Clock(of); err == nil && r.clock.Source() == query.None {
		err = query.ErrNoTimes
	}
	if err != nil {
		m.fail(err)
		return nil
	}
	calls := query.RunCallsOf(m.trace, of)
	r.first, r.end, r.finalized = calls.First, calls.End, calls.Finalized
	if err := r.setCounted(m.run); err != nil {
		m.fail(err)
		return nil
	}
	functions := m.trace.Functions()
	for terminal := range r.outside {
		name := functions[of.Function(uint32(terminal))].Name
		r.outside[terminal] = spec.Base(name) == name
	}
	if r.clock.Source() != query.Series {
		r.setMeans(m.times.RankLoops(of), of)
	}
	r.marks = append(r.marks, r.first, r.counted, min(r.counted+1, r.end), r.end)
	for _, g := range m.phases {
		for _, s := range r.spansIn(g) {
			r.marks = append(r.marks, s.First, s.End)
		}
	}
	slices.Sort(r.marks)
	if r.marks = slices.Compact(r.marks); r.marks[0] == 0 {
		r.mark(0)
	}
	return r
}

// setCounted finds the first call after the startup of a run.
func (r *rank) setCounted(run *query.RunTimes) error {
	r.counted, r.gap = r.first, math.MaxInt64
	if run == nil || r.first == 0 {
		return nil
	}
	first, _, err := r.clock.Positions(run.Begin, math.MaxInt64)
	for r.counted = max(r.counted, first); err == nil && r.counted < r.end; r.counted++ {
		var start int64
		if start, err = r.clock.Start(r.counted); start >= run.Begin {
			r.gap = picoseconds(float64(wire.SubTimes(start, run.Begin)))
			return err
		}
	}
	return err
}

// setMeans sets the means of calls and of the gaps before them.
func (r *rank) setMeans(loops *query.Loops, of *trace.Rank) {
	r.scaled, r.means = loops.Scaled, make([]mean, of.Terminals())
	for s, m := range loops.Means() {
		r.means[s] = mean{picoseconds(m.Gap), picoseconds(m.Duration)}
	}
}

// picoseconds returns nanoseconds as a Time, none if they are negative.
func picoseconds(ns float64) replay.Time {
	if ns > 0 {
		return replay.Time(min(math.Round(ns*float64(replay.Nanosecond)), 1<<62))
	}
	return 0
}
