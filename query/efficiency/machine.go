package efficiency

import (
	"context"
	"fmt"
	"math"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/otf2"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// An ideal is a machine on which ranks compute as long as they did, and nothing else takes time. It takes
// note of when ranks come to where phases begin and end. If all times are means, it is a
// [replay.SteadyMachine].
type ideal struct {
	every uint64 // executed calls between calls of progress
	replay.Instant
	trace    *trace.Trace
	archive  *otf2.Semantics // nil if the trace was not made of an archive of OTF2
	recorded *replay.Recorded
	times    *query.Times
	run      *query.RunTimes                                         // nil if they are not known
	bounds   func(rank int) (low, high query.Nanoseconds, err error) // of computing
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
	clock  *query.Clock

	off     float64 // how many nanoseconds starts are off at most; +Inf if that is not known
	gaps    bool    // the series of the rank has the gaps themselves
	bounds  extent  // of its computing in the run, by the sums that the trace keeps of it
	means   []mean  // by terminal, if the trace does not have the times of every call
	scaled  bool    // they are the rank's own, or there are none
	outside []bool  // by terminal: the thread computes in the call
	bracket []bracket

	threads []*thread // in the order of their calls, which do not alternate
	last    *thread   // that made the call before
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
	t := r.threadAt(c.Position)
	if t.next == t.begin {
		t.number = c.Thread
	}
	if c.Thread != t.number {
		m.fail(severalThreads(r.number))
		return 0, 0
	}
	m.calls += c.Position + 1 - t.next
	t.next = c.Position + 1
	if m.executed++; m.progress != nil && m.executed%m.every == 0 {
		m.progress(m.calls)
	}
	if m.executed > m.most {
		m.fail(fmt.Errorf("%w: more than %d are not in loops that can be skipped", ErrTooMany, m.most))
	}
	if r.means == nil {
		before, within = m.recorded.Compute(c)
		t.come(m.recorded, c.Position)
		m.addAtBegin(t, c)
	} else if mean := &r.means[c.Terminal]; c.Local {
		before, within = mean.gap, mean.duration
	} else {
		before = mean.gap
	}
	switch {
	case c.Position == t.begin:
		before = t.offset
	case c.Position < t.counted: // in the startup
		before = 0
	case c.Position == t.counted:
		before = min(before, t.gap)
	}
	if c.Position < t.counted {
		within = 0
	}
	if t.computes() && c.Position != t.begin {
		t.computing += before
	}
	if r.outside[c.Terminal] {
		t.computing += within
	}
	t.take(r.bracket[c.Terminal])
	return before, within
}

// addAtBegin adds a call to those that may be before the run begins or in it, as far as is known.
func (m *ideal) addAtBegin(t *thread, c *replay.Call) {
	at, ok := m.recorded.Last()
	if m.run == nil || t.first == 0 || !ok || !c.Local && !t.rank.outside[c.Terminal] {
		return
	}
	off := float64(m.run.BeginError) + t.rank.off
	if off > 0 && math.Abs(float64(wire.SubTimes(at.Start, m.run.Begin))) <= off {
		t.atBegin += picoseconds(spread(float64(at.Duration), t.rank.clock.Guarantee()).high)
	}
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
	for _, t := range r.threads {
		for _, p := range t.marks {
			positions = append(positions, p-1)
		}
	}
	return positions
}

// computingOf returns what is added up of a rank, of whose calls some may be skipped: they are of one thread.
func (m *ideal) computingOf(of *semantics.Rank) *replay.Time {
	if r := m.ranks[of.Number()]; r != nil && len(r.threads) == 1 {
		return &r.threads[0].computing
	}
	return nil
}

// ended takes note of the end of a call that endedAt has returned.
func (m *ideal) ended(c *replay.Call, start, end replay.Time) {
	t := m.ranks[c.Rank.Number()].threadAt(c.Position)
	if len(t.marks) == 0 || c.Position+1 != t.marks[0] { // one of another thread
		return
	}
	if t.finalized && c.Position+1 == t.end {
		end = start
	}
	t.mark(end)
}

// fail ends the replay.
func (m *ideal) fail(err error) {
	if m.err == nil {
		m.err = err
		m.stop(err)
	}
}

// rank returns a rank before its first call, nil if it cannot be read.
func (m *ideal) rank(of *trace.Rank) *rank {
	r := &rank{number: of.Number(), scaled: true, outside: make([]bool, of.Terminals())}
	var err error
	if r.clock, err = m.times.Clock(of); err == nil && r.clock.Source() == query.None {
		err = query.ErrNoTimes
	}
	if err != nil {
		m.fail(err)
		return nil
	}
	functions := m.trace.Functions()
	r.bracket = make([]bracket, of.Terminals())
	for terminal := range r.outside {
		name := functions[of.Function(uint32(terminal))].Name
		r.outside[terminal] = spec.Base(name) == name && !m.waits(name)
		if m.archive != nil && (name == "Enter" || name == "Leave") {
			call := of.Call(uint32(terminal))
			if region, begins, ok := query.MarkerOf(&call); ok {
				r.bracket[terminal] = bracket{enters: begins, leaves: !begins, waits: m.waits(region)}
			}
		}
	}
	low, high, err := m.bounds(r.number)
	if err != nil {
		m.fail(err)
		return nil
	}
	r.bounds = extent{float64(low), float64(high)}
	switch off := r.clock.StartError(); {
	case r.clock.Source() != query.Series:
		r.off = math.Inf(1)
	case off == math.MaxInt64:
		r.off = math.Inf(1)
	default:
		r.off = float64(off)
	}
	if err := m.setThreads(r, of); err != nil {
		m.fail(err)
		return nil
	}
	if series := of.Series(); series != nil {
		r.gaps = series.Form() == timing.Gaps
	}
	if r.clock.Source() != query.Series {
		r.setMeans(m.times.RankLoops(of), of)
	}
	return r
}

// waits reports whether a thread of an archive does not compute in a region.
func (m *ideal) waits(region string) bool { return m.archive != nil && m.archive.Waits(region) }

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
