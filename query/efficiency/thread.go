package efficiency

import (
	"fmt"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// A thread is one of a rank.
type thread struct {
	rank        *rank
	number      int
	begin, stop uint64 // its calls
	excluded    bool   // it is none of a processor

	// The run is the calls at first ≤ position < end, but only the gap before the last of them if that is
	// MPI_Finalize.
	first, end uint64
	finalized  bool

	// Counted is the first of them that begins after the last rank has returned from MPI_Init, and gap how
	// long before it that was.
	counted uint64
	gap     replay.Time
	offset  replay.Time // when the first call begins, since the beginning of the run

	marks     []uint64 // positions that are to be marked, ascending
	marked    map[uint64]moment
	came      map[uint64]came // when it came to marks in the recorded run, as far as calls before them were read
	next      uint64          // position behind the last call
	computing replay.Time
	atBegin   replay.Time // in calls that may be before the run begins or in it, as their times are not exact

	// In an archive: whether the thread does not compute in each of the regions that it is in, the innermost last, and
	// whether it is in regions at all, so that it does not compute outside of these.
	waits []bool
	nests bool
}

// A bracket is what a call enters or leaves.
type bracket struct{ enters, leaves, waits bool }

// severalThreads is the error of a rank with threads that is not of an archive.
func severalThreads(rank int) error {
	return fmt.Errorf(
		"efficiency: rank %d makes calls in several threads, and it is not known when one waits for another", rank)
}

// computes reports whether the thread computes between calls.
func (t *thread) computes() bool {
	if n := len(t.waits); n > 0 {
		return !t.waits[n-1]
	}
	return !t.nests
}

// take takes a call that may enter a region, or leave one.
func (t *thread) take(b bracket) {
	switch n := len(t.waits); {
	case b.enters:
		t.waits = append(t.waits, b.waits)
	case b.leaves && n > 0:
		t.waits = t.waits[:n-1]
	}
}

// threadAt returns the thread that makes the call at a position.
func (r *rank) threadAt(position uint64) *thread {
	if t := r.last; t != nil && position >= t.begin && position < t.stop {
		return t
	}
	i, found := slices.BinarySearchFunc(r.threads, position, func(t *thread, p uint64) int {
		if t.begin <= p {
			return -1
		}
		return 1
	})
	if !found {
		i--
	}
	r.last = r.threads[i]
	return r.last
}

// setThreads sets the threads of a rank. Several can be told apart in an archive, with the times of every call.
func (m *ideal) setThreads(r *rank, of *trace.Rank) error {
	spans := []trace.Span{{First: 0, End: of.Len()}}
	if m.archive != nil {
		spans = query.ThreadSpans(m.trace, of)
	}
	if len(spans) > 1 && r.clock.Source() != query.Series {
		return fmt.Errorf("efficiency: rank %d has several threads, and when these run is only known from the times "+
			"of every call: compress the archive with --times exact or all", r.number)
	}
	began, err := r.clock.Start(0)
	if err != nil {
		return err
	}
	if m.run != nil {
		began = max(began, m.run.Begin)
	}
	for i, s := range spans {
		t := &thread{rank: r, begin: s.First, stop: s.End, next: s.First, first: s.First, end: s.End,
			marked: make(map[uint64]moment), came: make(map[uint64]came), gap: math.MaxInt64}
		call := of.CallAt(s.First)
		t.number = call.Thread()
		t.excluded = m.archive != nil && !m.archive.OnProcessor(r.number, t.number)
		if len(spans) == 1 {
			calls := query.RunCallsOf(m.trace, of)
			t.first, t.end, t.finalized = calls.First, calls.End, calls.Finalized
		} else {
			t.setRun(m.trace, of)
		}
		if err := t.setCounted(m.run, of); err != nil {
			return err
		}
		if i > 0 {
			start, err := r.clock.Start(s.First)
			if err != nil {
				return err
			}
			t.offset = picoseconds(float64(wire.SubTimes(start, began)))
			for terminal, b := range r.bracket {
				call := of.Call(uint32(terminal))
				t.nests = t.nests || b.enters && call.Thread() == t.number
			}
		}
		t.setMarks(m.phases)
		r.threads = append(r.threads, t)
	}
	return nil
}

// setRun finds the calls of one of several threads that are in the run.
func (t *thread) setRun(tr *trace.Trace, of *trace.Rank) {
	functions := tr.Functions()
	find := func(is func(function string) bool) (position uint64, ok bool) {
		for p := range of.Find(t.begin, func(x uint32) bool { return is(functions[of.Function(x)].Name) }) {
			return p, p < t.stop
		}
		return 0, false
	}
	if p, ok := find(query.InStartup); ok {
		t.first = p + 1
	}
	if p, ok := find(query.InShutdown); ok && p >= t.first {
		t.end, t.finalized = p+1, true
	}
}

// setMarks sets the positions that are to be marked.
func (t *thread) setMarks(phases []*query.Region) {
	t.marks = append(t.marks, t.first, t.counted, min(t.counted+1, t.end), t.end)
	for _, g := range phases {
		for _, s := range t.spansIn(g) {
			t.marks = append(t.marks, s.First, s.End)
		}
	}
	slices.Sort(t.marks)
	if t.marks = slices.Compact(t.marks); t.marks[0] == t.begin {
		t.mark(t.offset)
	}
}

// setCounted finds the first call after the startup of a run.
func (t *thread) setCounted(run *query.RunTimes, of *trace.Rank) error {
	t.counted = t.first
	if run == nil || t.first == 0 {
		return nil
	}
	if len(t.rank.threads) == 0 {
		first, _, err := t.rank.clock.Positions(run.Begin, math.MaxInt64)
		if err != nil {
			return err
		}
		t.counted = max(t.counted, min(first, t.stop))
	}
	start := t.rank.clock.Start
	if t.rank.clock.Source() == query.Series { // which reads no block twice
		times := of.ReadTimes(t.counted)
		start = func(uint64) (int64, error) {
			at, err := times.Next()
			return at.Start, err
		}
	}
	for ; t.counted < t.end; t.counted++ {
		at, err := start(t.counted)
		if err != nil {
			return err
		}
		if at >= run.Begin {
			t.gap = picoseconds(float64(wire.SubTimes(at, run.Begin)))
			return nil
		}
	}
	return nil
}

// mark marks the next position that is to be marked, to which the thread comes at a time.
func (t *thread) mark(at replay.Time) {
	t.marked[t.marks[0]] = moment{at, t.computing}
	t.marks = t.marks[1:]
}

// come takes note of when the thread comes to a mark in the recorded run, which is read at the call before it.
func (t *thread) come(times *replay.Recorded, before uint64) {
	marked := len(t.marks) > 0 && before+1 == t.marks[0]
	if !marked && before > t.begin {
		return
	}
	at, ok := times.Last()
	if ok && before == t.begin {
		t.came[before] = came{at: at.Start, off: t.rank.off}
	}
	if ok && marked {
		t.came[before+1] = t.after(at.Start, at.Duration, before+1)
	}
}

// A came is when a thread came to a position in the recorded run, and by how many nanoseconds that may be off.
type came struct {
	at  int64
	off float64
}

// recorded returns when the thread came to a position in the recorded run.
func (t *thread) recorded(position uint64) (came, error) {
	if at, ok := t.came[position]; ok {
		return at, nil
	}
	if position == t.begin {
		start, _, err := t.rank.clock.Time(position)
		return came{start, t.rank.off}, err
	}
	start, duration, err := t.rank.clock.Time(position - 1)
	return t.after(start, duration, position), err
}

// after returns when the thread comes to a position, by the times of the call before that.
func (t *thread) after(start, duration int64, position uint64) came {
	if t.finalized && position == t.end {
		return came{start, t.rank.off}
	}
	took := float64(duration)
	return came{wire.AddTimes(start, duration), t.rank.off + spread(took, t.rank.clock.Guarantee()).high - took}
}

// spansIn returns the spans of a region that are in the run, as far as the thread makes their calls.
func (t *thread) spansIn(g *query.Region) []trace.Span {
	spans := slices.Clone(g.Spans(t.rank.number))
	for i := range spans {
		s := &spans[i]
		s.First, s.End = max(s.First, t.begin), min(s.End, t.stop)
		if g.Kind == query.TimesRegion {
			s.First, s.End = max(s.First, t.first), min(s.End, t.end)
		}
	}
	return slices.DeleteFunc(spans, func(s trace.Span) bool {
		return s.First < t.first || s.End > t.end || s.First >= s.End
	})
}
