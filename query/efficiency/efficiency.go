package efficiency

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/reprise-trace/reprise/internal/memory"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/otf2"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// ErrTooMany means that more calls have to be executed than [Options] allow.
var ErrTooMany = errors.New("efficiency: too many calls to execute")

// Options configures [Open]. The zero Options is the default configuration.
type Options struct {
	// Times, unless it is nil, are those of the trace: what has been read of them is not read again.
	Times *query.Times

	// Progress, unless it is nil, is called with the number of calls that are replayed so far, or skipped.
	Progress func(calls uint64)

	// Region, unless it is nil, is the part of the run that the efficiency is of. Then there are no Phases.
	Region *query.Region

	// MaxCalls is how many calls are executed at most, those that are skipped aside. Zero means 10¹⁰, which
	// take some hours.
	MaxCalls uint64

	executeAll bool   // of tests: no call is skipped
	every      uint64 // of tests: after how many executed calls Progress is called, unless it is zero
}

// A Run is the efficiency of a run.
type Run struct {
	Ranks  int          `json:"ranks"`
	Source query.Source `json:"source"` // of the times: the least exact of those of the ranks
	// the weakest of those of the times of every call, if the Source is Series
	Guarantee timing.Guarantee `json:"relative_error"`

	// TimesInArchive is that of a [format.Origin].
	TimesInArchive []string `json:"times_in_archive,omitempty"`

	// Scaled says that where times are not those of every call, they are scaled to the sums that the trace
	// keeps of each rank. If they are not, ranks that make the same calls compute alike: the trace does
	// not tell the load balance.
	Scaled bool `json:"scaled_to_rank"`
	Part

	// Phases are in the order of the program, and after them the regions to which it gives names. Unphased says that
	// phases are not known, as the control flows of the ranks are too long to be compared.
	Phases   []Phase `json:"phases"`
	Unphased bool    `json:"phases_unknown"`

	// Unknown are messages and operations of which the trace does not say who takes part, and
	// Outside messages to ranks that are not in the trace. Nobody waits for them in the ideal run.
	Unknown uint64 `json:"unknown_messages"`
	Outside uint64 `json:"outside_messages"`

	// Unreceived are messages to ranks of the trace that it has no receive of. Where it LacksReceives, as
	// [replay.LacksReceives] has it, Serialization and Transfer are not known.
	Unreceived    uint64 `json:"unreceived_messages"`
	LacksReceives bool   `json:"lacks_receives"`
}

// A Part is the efficiency of a run, or of a phase of it.
//
// In an archive, a thread does not compute in regions of MPI, nor in those in which threads wait for each other, such
// as barriers; and a thread that is in nested regions, but for the first of a rank, does not compute outside of them.
// Mean is that of the threads that take part, and so no efficiency exceeds 1.
type Part struct {
	Time  query.Nanoseconds `json:"time_ns"`
	Ideal query.Nanoseconds `json:"ideal_time_ns"` // on a network that takes no time

	// How far these may be off: 0 if they are exact, +Inf if that is not known.
	TimeError  query.Nanoseconds `json:"time_error_ns"`
	IdealError query.Nanoseconds `json:"ideal_time_error_ns"`

	// Threads are those that take part: one of each rank, or all of an archive that make calls.
	Threads int `json:"threads"`

	Total     query.Nanoseconds `json:"computing_ns"` // of all threads
	Mean      query.Nanoseconds `json:"mean_computing_ns"`
	Max       query.Nanoseconds `json:"max_computing_ns"`
	MaxRank   int               `json:"rank_of_max"`
	MaxThread int               `json:"thread_of_max"`

	TotalError query.Nanoseconds `json:"computing_error_ns"`
	MeanError  query.Nanoseconds `json:"mean_computing_error_ns"`
	MaxError   query.Nanoseconds `json:"max_computing_error_ns"`
	MaxKnown   bool              `json:"rank_of_max_known"` // no other computes longer, whatever the errors are

	// Factors are nil if nobody computes, or it is not known how long that took.
	Factors *Factors `json:"efficiency"`

	// Errors are how far the Factors may be off, nil if that is not known: they are estimates then.
	Errors *Factors `json:"efficiency_error"`

	// Longer says that the ideal run takes longer than the recorded one, so that the transfer counts as 1:
	// times are means or not exact, clocks differ, or the replay has ranks wait that did not.
	Longer bool `json:"ideal_longer"`
}

// Factors are efficiencies, from 0 to 1. Parallel is
// LoadBalance · Communication, and that is Serialization · Transfer.
type Factors struct {
	Parallel      float64  `json:"parallel"`
	LoadBalance   float64  `json:"load_balance"`
	Communication float64  `json:"communication"`
	Serialization *float64 `json:"serialization"` // nil if the trace lacks receives, like Transfer
	Transfer      *float64 `json:"transfer"`
}

// A Phase is a loop of the program that is in no other loop, or a region to which the program gives a name.
type Phase struct {
	Part
	*query.Region
}

// Open replays a trace on an ideal network, and returns the efficiency of its run. All ranks must have been
// recorded, with times, each with the calls of one thread, or be of an archive of OTF2 with the times of every call:
// see [Part]. If calls wait for what never happens, as in a run
// that was cut short, it is a [*replay.DeadlockError]. Without times it is [query.ErrNoTimes].
func Open(ctx context.Context, model *semantics.Model, o Options) (*Run, error) {
	need.That(model != nil, "efficiency: no model")
	tr := model.Trace()
	if err := check(tr); err != nil {
		return nil, err
	}
	times, err := o.Times, error(nil)
	if times == nil {
		times, err = query.OpenTimes(tr)
	}
	if err != nil {
		return nil, err
	}
	best, _, err := times.Known()
	switch {
	case err != nil:
		return nil, err
	case best == query.None:
		return nil, query.ErrNoTimes
	}
	most := cmp.Or(o.MaxCalls, maxCalls)
	if best == query.Series {
		if err := checkCalls(tr, most); err != nil {
			return nil, err
		}
		if err := tr.DecodeTimes(ctx); err != nil {
			return nil, err
		}
	}
	phases, unphased, err := phasesOf(ctx, tr, o.Region)
	if err != nil {
		return nil, err
	}
	stopping, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	const rankMemory = 5 << 10 // as that of a replay
	if err := memory.Check(tr, "ranks", uint64(tr.Ranks()), rankMemory); err != nil {
		return nil, err
	}
	of, err := times.Run(ctx)
	if err != nil {
		return nil, err
	}
	m := &ideal{trace: tr, times: times, run: of, phases: phases, ranks: make([]*rank, tr.Ranks()), stop: stop,
		most: most, progress: o.Progress, every: cmp.Or(o.every, toldEvery)}
	if m.archive, err = otf2.SemanticsOf(tr); err != nil {
		return nil, err
	}
	if m.recorded, err = replay.NewRecorded(tr); err != nil {
		return nil, err
	}
	bounded, err := times.RunOfSums(ctx)
	if err != nil {
		return nil, err
	}
	m.bounds, err = times.ComputingBounds(bounded, func(name string) bool { return spec.Base(name) == name })
	if err != nil {
		return nil, err
	}
	m.steady = m.recorded.Means() && !o.executeAll
	res, err := replay.RunWith(stopping, model, m, replay.Options{Ended: m.ended, EndedAt: m.endedAt,
		Sum: m.computingOf})
	if err := cmp.Or(context.Cause(ctx), m.err, m.recorded.Err(), err); err != nil {
		return nil, err
	}
	run := &Run{TimesInArchive: tr.Run().Origin.Times, Ranks: tr.Ranks(), Source: query.Series, Scaled: true,
		Phases: []Phase{}, Unphased: unphased, Unknown: res.Unknown, Outside: res.Outside,
		Unreceived: res.Unreceived, LacksReceives: replay.LacksReceives(res.Messages, res.Unreceived)}
	whole, parts := &sums{run: of, whole: o.Region == nil}, make([]*sums, len(phases))
	for i := range parts {
		parts[i] = &sums{run: of}
	}
	for _, r := range m.ranks {
		if r == nil { // it made no call
			continue
		}
		run.Source, run.Guarantee = min(run.Source, r.clock.Source()), max(run.Guarantee, r.clock.Guarantee())
		run.Scaled = run.Scaled && r.scaled
		for _, t := range r.threads {
			if t.excluded {
				continue
			}
			if err := whole.add(t, []trace.Span{{First: t.first, End: t.end}}); err != nil {
				return nil, err
			}
			for i, g := range phases {
				if err := parts[i].add(t, t.spansIn(g)); err != nil {
					return nil, err
				}
			}
		}
	}
	if run.Part = whole.part(run.LacksReceives); o.Region != nil {
		run.Part = parts[0].part(run.LacksReceives)
		return run, nil
	}
	for i, g := range phases {
		if parts[i].threads > 0 { // it is not before MPI_Init, nor after MPI_Finalize
			run.Phases = append(run.Phases, Phase{parts[i].part(run.LacksReceives), g})
		}
	}
	return run, nil
}

// phasesOf returns the regions whose efficiencies are to be found: one, unless that is nil. Unphased says that phases
// are not known.
func phasesOf(ctx context.Context, t *trace.Trace, one *query.Region) (list []*query.Region, unphased bool, err error) {
	if one != nil {
		return []*query.Region{one}, false, nil
	}
	all, err := query.Regions(ctx, t)
	if unphased = errors.Is(err, query.ErrUnphased); err != nil && !unphased {
		return nil, false, err
	}
	for _, g := range all {
		if g.Kind != query.LoopRegion {
			list = append(list, g)
		}
	}
	return list, unphased, nil
}

// check checks that efficiencies can be had of a trace.
func check(t *trace.Trace) error {
	if !t.Content().Exact {
		return errors.New(
			"efficiency: the trace was made to fit a size, and not all of its calls are as they were: record without --bounded")
	}
	recorded, all := t.Content().Recorded, t.Ranks()
	if n := recorded.Len(); n < all && t.Run().Source == otf2.Source {
		return fmt.Errorf(
			"efficiency: the archive that the trace was made of has events of %d of %d processes, and those of all are needed",
			n, all)
	} else if n < all {
		return fmt.Errorf(
			"efficiency: the trace has %d of %d ranks, and all are needed: reprise merge puts the parts of a run together", n, all)
	}
	if n := t.RankSet().Len(); n < all {
		return fmt.Errorf("efficiency: only %d of %d ranks have calls that can be read, and all are needed", n, all)
	}
	return nil
}

// checkCalls checks that a trace has not too many calls to be executed one by one.
func checkCalls(t *trace.Trace, most uint64) error {
	calls := uint64(0)
	for i := range t.Shapes() {
		s, err := t.Shape(i)
		if err != nil {
			return err
		}
		calls = wire.AddSat(calls, wire.MulSat(s.Grammar.Len(), uint64(t.ShapeRanks(i).Len())))
	}
	if calls > most {
		return fmt.Errorf("%w: the trace has %d, whose times are not means, and at most %d are executed",
			ErrTooMany, calls, most)
	}
	return nil
}

// maxCalls is how many calls are executed, unless Options say it.
const maxCalls = uint64(10_000_000_000)

// A Scaling compares a run with a reference.
type Scaling struct {
	Speedup                float64 `json:"speedup"` // time of the reference / time
	ComputationScalability float64 `json:"computation_scalability"`
	Global                 float64 `json:"global"` // Parallel · ComputationScalability

	Errors *Scaling `json:"scaling_error,omitempty"` // how far these may be off, nil if that is not known
}

// Compare compares runs of one program with the first of the fewest threads, and returns which that is, and how
// each compares with it: nil if one of the two has no Factors. Computation scalability is the computing of
// all ranks of the reference over that of a run, for a problem of one size; with weak, for a problem that
// grows with the ranks, it is that of their means.
func Compare(runs []*Run, weak bool) (reference int, scaling []*Scaling) {
	for i, r := range runs {
		need.That(r != nil, "efficiency: no run to compare")
		if r.Threads < runs[reference].Threads {
			reference = i
		}
	}
	for _, r := range runs {
		scaling = append(scaling, r.scaling(runs[reference], weak))
	}
	return reference, scaling
}

func (r *Run) scaling(reference *Run, weak bool) *Scaling {
	if r.Factors == nil || reference.Factors == nil {
		return nil
	}
	time, total := quotient(reference.Time, reference.TimeError, r.Time, r.TimeError),
		quotient(reference.Total, reference.TotalError, r.Total, r.TotalError)
	s := &Scaling{Speedup: float64(reference.Time / r.Time),
		ComputationScalability: float64(reference.Total / r.Total)}
	if weak {
		s.ComputationScalability = float64(reference.Mean / r.Mean)
		total = quotient(reference.Mean, reference.MeanError, r.Mean, r.MeanError)
	}
	s.Global = r.Factors.Parallel * s.ComputationScalability
	if r.Errors == nil || math.IsInf(time.high+total.high, 1) {
		return s
	}
	parallel := extent{r.Factors.Parallel, r.Factors.Parallel}.plus(r.Errors.Parallel)
	if r == reference { // it is compared with itself
		time, total = extent{1, 1}, extent{1, 1}
	}
	s.Errors = &Scaling{Speedup: time.off(s.Speedup), ComputationScalability: total.off(s.ComputationScalability),
		Global: extent{parallel.low * total.low, min(1, parallel.high) * total.high}.off(s.Global)}
	return s
}
