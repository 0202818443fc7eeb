package query

import (
	"context"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/clocks"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/piecewise"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/timing"
)

// align returns the clocks of a trace, which are not aligned yet, with their alignments: see [AlignTrace].
func (m *Match) align(ctx context.Context, times *Times, o Options) ([]format.Clock, error) {
	run := times.trace.Run()
	list := slices.Clone(run.Clocks)
	if len(list) < 2 {
		return list, nil
	}
	guarantee, err := times.Guarantee()
	if err != nil {
		return nil, err
	}
	a := aligner{run: run, guarantee: guarantee, most: times.durationError(guarantee)}
	channels, err := m.receives(ctx, times, o, a.differ)
	if err != nil {
		return nil, err
	}
	jobs, err := m.operations(ctx, times, o)
	if err != nil {
		return nil, err
	}
	a.clocks = clocks.New(len(list))
	a.addAll(channels, jobs)
	aligned, _ := a.clocks.Align(times.startError(guarantee))
	for i, c := range aligned {
		list[i].Alignment, list[i].Later, list[i].Contradicted = c.Alignment, c.Later, c.Contradicted
		list[i].Error, list[i].Errors, list[i].Early, list[i].Jumps = c.Error, c.Errors, c.Early, c.Jumps
	}
	return list, nil
}

// An aligner takes what bounds the differences of clocks.
type aligner struct {
	run       merge.Run
	guarantee timing.Guarantee // of times
	most      int64            // how far any duration may be off
	clocks    *clocks.Clocks
}

// addAll adds facts about the clocks.
func (a *aligner) addAll(channels []*lateChannel, jobs []*skewJob) {
	for i, c := range a.run.Clocks {
		for _, r := range c.Readings {
			a.clocks.AddReading(i, r.Time, wire.AddTimes(r.Time, r.Offset), r.Error)
		}
	}
	for _, c := range channels {
		a.addMessages(c)
	}
	for _, j := range jobs {
		a.addOperations(j)
	}
}

// differ reports whether two ranks have different clocks.
func (a *aligner) differ(from, to int) bool {
	i, j := a.run.ClockOf(from), a.run.ClockOf(to)
	return i >= 0 && j >= 0 && i != j
}

// addMessages adds the messages of a channel that were looked at.
func (a *aligner) addMessages(c *lateChannel) {
	from, to := a.run.ClockOf(c.source), a.run.ClockOf(c.destination)
	for i, signature := range c.signatures {
		if signature >= 0 && c.sent[i].start < maxTime {
			a.clocks.Add(from, to, c.sent[i].start, a.endOf(c.received[i]))
		}
	}
}

// endOf returns when a call had ended at the latest, if it began when its start says.
func (a *aligner) endOf(t callTime) int64 {
	duration, off := max(0, t.duration), a.most
	if a.guarantee < 1 {
		off = min(off, ceiling(float64(duration)*float64(a.guarantee)/(1-float64(a.guarantee))))
	}
	return wire.AddTimes(t.start, wire.AddTimes(duration, off))
}

// A flow says which members of a collective operation must have entered it before which others leave it.
type flow int

const (
	noFlow   flow = iota
	allToAll      // all, before any
	rootToAll
	allToRoot
)

// NeedsAll reports whether no member of a collective operation leaves the function before all have entered it, if it
// moves data at all.
func NeedsAll(function string) bool {
	switch function {
	case "MPI_Barrier", "MPI_Allreduce", "MPI_Allgather", "MPI_Alltoall", "MPI_Reduce_scatter_block":
		return true
	}
	return false
}

// ClocksDiffer reports whether clocks of ranks differ, as so many ends of operations that NeedsAll names, of so many
// that were looked at, come before a member begins the operation: a tenth of them, and four at least.
func ClocksDiffer(early, of uint64) bool { return early >= 4 && early >= of/10 }

// flowOf returns that of a collective operation of a member.
func flowOf(function string, o *semantics.Operation) flow {
	if o.Communicator.IsInter() {
		return noFlow
	}
	moves := max(o.Sent, o.Received) > 0
	switch {
	case NeedsAll(function) && (moves || function == "MPI_Barrier"):
		return allToAll
	case !moves:
		return noFlow
	}
	switch function {
	case "MPI_Bcast", "MPI_Scatter":
		return rootToAll
	case "MPI_Gather", "MPI_Reduce":
		return allToRoot
	}
	return noFlow
}

// A visit is when the last of the members that have a clock entered an operation, and when the first of them
// left it.
type visit struct{ entered, left int64 }

// addOperations adds those that were looked at. Where all members wait for all, it adds what the clocks say
// of that of the lowest, which takes as long as there are clocks, not pairs of them.
func (a *aligner) addOperations(j *skewJob) {
	clock := make([]int, len(j.members)) // −1 without times
	for i, rank := range j.members {
		if clock[i] = -1; j.starts[i] != nil {
			clock[i] = a.run.ClockOf(rank)
		}
	}
	visits := make(map[int]visit)
	for i, call := range j.calls {
		f := j.flows[i]
		if f == noFlow {
			continue
		}
		clear(visits)
		hub, root := -1, visit{}
		for member, k := range clock {
			if k < 0 {
				continue
			}
			at := j.starts[member][i]
			end := a.endOf(at)
			v, ok := visits[k]
			if !ok {
				v = visit{at.start, end}
			}
			visits[k] = visit{max(v.entered, at.start), min(v.left, end)}
			if f == allToAll && (hub < 0 || k < hub) || f != allToAll && j.members[member] == call.Root {
				hub, root = k, visit{at.start, end}
			}
		}
		if f == allToAll && hub >= 0 {
			root = visits[hub]
		}
		for k, v := range visits {
			if hub < 0 || k == hub {
				continue
			}
			if f != allToRoot {
				a.clocks.Add(hub, k, root.entered, v.left)
			}
			if f != rootToAll {
				a.clocks.Add(k, hub, v.entered, root.left)
			}
		}
	}
}

// clockErrors say how far the clocks of machines may be off, at times that may themselves be off by so much.
type clockErrors struct {
	run merge.Run
	off int64
}

// clocks returns the errors of the clocks at times of the weakest guarantee.
func (t *Times) clocks() (clockErrors, error) {
	guarantee, err := t.Guarantee()
	return clockErrors{t.trace.Run(), t.startError(guarantee)}, err
}

// explain reports whether a difference between times of two ranks may be none, by how far their clocks may be
// off then.
func (e clockErrors) explain(rank int, time int64, other int, otherTime int64, difference float64) bool {
	if len(e.run.Clocks) == 0 {
		return false
	}
	i, j := e.run.ClockOf(rank), e.run.ClockOf(other)
	switch {
	case i >= 0 && i == j:
		return false
	case i < 0 || j < 0 || e.run.Clocks[i].Error < 0 || e.run.Clocks[j].Error < 0:
		return true
	}
	return math.Abs(difference) <= e.at(i, time)+e.at(j, otherTime)
}

// onClock returns times of two ranks that are as far from each other as the clock says that both have: where
// it jumps, so that messages arrive after they are sent, it tells no other difference between them. Those of
// different clocks stay as they are.
func (e clockErrors) onClock(rank int, time int64, other int, otherTime int64) (int64, int64) {
	if len(e.run.Clocks) == 0 {
		return time, otherTime
	}
	i := e.run.ClockOf(rank)
	if i < 0 || i != e.run.ClockOf(other) || len(e.run.Clocks[i].Jumps) == 0 {
		return time, otherTime
	}
	jumps := piecewise.Jumps(e.run.Clocks[i].Jumps)
	return jumps.Undo(time), jumps.Undo(otherTime)
}

// at returns how far a clock may be off at a time.
func (e clockErrors) at(clock int, time int64) float64 {
	return float64(layout.ClockError(&e.run.Clocks[clock], wire.SubTimes(time, e.off), wire.AddTimes(time, e.off)))
}

// Differences tell how far apart times of ranks are, and by how much that may be off.
type Differences struct{ errors clockErrors }

// Differences returns how far apart the starts of calls are that have times of their own. It costs what
// [Times.Guarantee] does.
func (t *Times) Differences() (*Differences, error) {
	errors, err := t.clocks()
	return &Differences{errors}, err
}

// Of returns how much time goes by from the start of a call of a rank to that of a call of another, in
// nanoseconds, and by how much that may be off: by the codec of times and by the clocks of the machines, +Inf
// if that is not known.
func (d *Differences) Of(rank int, time int64, other int, otherTime int64) (ns, off float64) {
	e := &d.errors
	if off = 2 * float64(e.off); e.off == maxTime {
		off = math.Inf(1)
	}
	from, to := e.onClock(rank, time, other, otherTime)
	ns = elapsed(from, to)
	if len(e.run.Clocks) == 0 {
		return ns, off
	}
	i, j := e.run.ClockOf(rank), e.run.ClockOf(other)
	switch {
	case i >= 0 && i == j:
	case i < 0 || j < 0 || e.run.Clocks[i].Error < 0 || e.run.Clocks[j].Error < 0:
		off = math.Inf(1)
	default:
		off += e.at(i, time) + e.at(j, otherTime)
	}
	return ns, off
}
