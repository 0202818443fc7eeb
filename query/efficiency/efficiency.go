package efficiency

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/reprise-trace/reprise/internal/memory"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// ErrTooMany means that more calls have to be executed than [Options] allow.
var ErrTooMany = errors.New("efficiency: too many calls to execute")

// Options configures [Open]. The zero Options is the default configuration.
type Options struct {
	// Progress, unless it is nil, is called with the number of calls that are replayed so far, or skipped.
	Progress func(calls uint64)

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

	// Scaled says that where times are not those of every call, they are scaled to the sums that the trace
	// keeps of each rank. If they are not, ranks that make the same calls compute alike: the trace does
	// not tell the load balance.
	Scaled bool `json:"scaled_to_rank"`
	Part

	// Phases are in the order of the program. Unphased says that they are not known, as the
	// control flows of the ranks are too long to be compared.
	Phases   []Phase `json:"phases"`
	Unphased bool    `json:"phases_unknown"`

	// Unknown are messages and operations of which the trace does not say who takes part, and
	// Outside messages to ranks that are not in the trace. Nobody waits for them in the ideal run.
	Unknown uint64 `json:"unknown_messages"`
	Outside uint64 `json:"outside_messages"`
}

// A Part is the efficiency of a run, or of a phase of it.
type Part struct {
	Time  query.Nanoseconds `json:"time_ns"`
	Ideal query.Nanoseconds `json:"ideal_time_ns"` // on a network that takes no time

	Total   query.Nanoseconds `json:"computing_ns"` // of all ranks
	Mean    query.Nanoseconds `json:"mean_computing_ns"`
	Max     query.Nanoseconds `json:"max_computing_ns"`
	MaxRank int               `json:"rank_of_max"`

	// Factors are nil if nobody computes, or it is not known how long that took.
	Factors *Factors `json:"efficiency"`

	// Longer says that the ideal run takes longer than the recorded one, so that the transfer
	// is above 1: times are means or not exact, clocks differ, or the replay has ranks wait that did not.
	Longer bool `json:"ideal_longer"`
}

// Factors are efficiencies, from 0 to 1 unless the ideal run takes longer than the recorded one. Parallel is
// LoadBalance · Communication, and that is Serialization · Transfer.
type Factors struct {
	Parallel      float64 `json:"parallel"`
	LoadBalance   float64 `json:"load_balance"`
	Communication float64 `json:"communication"`
	Serialization float64 `json:"serialization"`
	Transfer      float64 `json:"transfer"`
}

// A Phase is a loop of the program that is in no other loop.
type Phase struct {
	Part
	Ranks     rankenc.Set           `json:"rank_set"`  // that have it
	MinTrips  uint64                `json:"min_trips"` // how often it goes round on these
	MaxTrips  uint64                `json:"max_trips"`
	Calls     uint64                `json:"calls"`     // of all ranks
	Functions []query.FunctionCount `json:"functions"` // the most frequent first
	Rank      int                   `json:"rank"`      // the first of Ranks
	Position  uint64                `json:"position"`  // where the phase begins on it
}

// Open replays a trace on an ideal network, and returns the efficiency of its run. All ranks must have been
// recorded, with times, each with the calls of one thread. If calls wait for what never happens, as in a run
// that was cut short, it is a [*replay.DeadlockError]. Without times it is [query.ErrNoTimes].
func Open(ctx context.Context, model *semantics.Model, o Options) (*Run, error) {
	need.That(model != nil, "efficiency: no model")
	tr := model.Trace()
	if err := check(tr); err != nil {
		return nil, err
	}
	times, err := query.OpenTimes(tr)
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
	}
	phases, err := findPhases(ctx, tr)
	unphased := errors.Is(err, errTooLong)
	if err != nil && !unphased {
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
	if m.recorded, err = replay.NewRecorded(tr); err != nil {
		return nil, err
	}
	m.steady = m.recorded.Means() && !o.executeAll
	res, err := replay.RunWith(stopping, model, m, replay.Options{Ended: m.ended, EndedAt: m.endedAt,
		Sum: m.computingOf})
	if err := cmp.Or(context.Cause(ctx), m.err, m.recorded.Close(), err); err != nil {
		return nil, err
	}
	run := &Run{Ranks: tr.Ranks(), Source: query.Series, Scaled: true, Phases: []Phase{}, Unphased: unphased,
		Unknown: res.Unknown, Outside: res.Outside}
	whole, parts := new(sums), make([]sums, len(phases))
	for _, r := range m.ranks {
		if r == nil { // it made no call
			continue
		}
		run.Source, run.Guarantee = min(run.Source, r.clock.Source()), max(run.Guarantee, r.clock.Guarantee())
		run.Scaled = run.Scaled && r.scaled
		if err := whole.add(r, r.first, r.end, of); err != nil {
			return nil, err
		}
		for i := range phases {
			if s, ok := phases[i].spans[r.shape]; ok && s.from >= r.first && s.to <= r.end {
				if err := parts[i].add(r, s.from, s.to, of); err != nil {
					return nil, err
				}
			}
		}
	}
	run.Part = whole.part()
	for i := range phases {
		if parts[i].ranks == 0 { // before MPI_Init, or after MPI_Finalize
			continue
		}
		p := phases[i].Phase
		p.Part = parts[i].part()
		run.Phases = append(run.Phases, p)
	}
	return run, nil
}

// check checks that efficiencies can be had of a trace.
func check(t *trace.Trace) error {
	if !t.Content().Exact {
		return errors.New(
			"efficiency: the trace was made to fit a size, and not all of its calls are as they were: record without --bounded")
	}
	recorded, all := t.Content().Recorded, t.Ranks()
	if n := recorded.Len(); n < all {
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

// Sums are what ranks did between two positions of each.
type sums struct {
	ranks                int
	begin, end           int64 // recorded, in ns
	idealBegin, idealEnd replay.Time
	max                  replay.Time // computing
	total                float64     // computing, that may be too much for a Time
	maxRank              int
}

// add adds a rank of a run.
func (s *sums) add(r *rank, from, to uint64, run *query.RunTimes) error {
	begin, err := r.recorded(from)
	if err != nil {
		return err
	}
	if run != nil && r.first > 0 {
		begin = max(begin, run.Begin)
	}
	end, err := r.recorded(to)
	if err != nil {
		return err
	}
	a, b := r.marked[from], r.marked[to]
	if s.ranks == 0 {
		s.begin, s.end, s.idealBegin, s.idealEnd, s.maxRank = begin, end, a.at, b.at, r.number
	}
	s.ranks++
	s.begin, s.end = min(s.begin, begin), max(s.end, end)
	s.idealBegin, s.idealEnd = min(s.idealBegin, a.at), max(s.idealEnd, b.at)
	computing := b.computing - a.computing
	if s.total += float64(computing); computing > s.max {
		s.max, s.maxRank = computing, r.number
	}
	return nil
}

// part returns the efficiency.
func (s *sums) part() Part {
	time, ideal := float64(uint64(s.end)-uint64(s.begin)), float64(s.idealEnd-s.idealBegin)/float64(replay.Nanosecond)
	total, most := s.total/float64(replay.Nanosecond), float64(s.max)/float64(replay.Nanosecond)
	p := Part{Time: query.Nanoseconds(time), Ideal: query.Nanoseconds(ideal), Total: query.Nanoseconds(total),
		Max: query.Nanoseconds(most), MaxRank: s.maxRank}
	if s.ranks == 0 {
		return p
	}
	mean := total / float64(s.ranks)
	p.Mean, p.Longer = query.Nanoseconds(mean), ideal > time
	if most > 0 && time > 0 {
		p.Factors = &Factors{Parallel: mean / time, LoadBalance: mean / most, Communication: most / time,
			Serialization: most / ideal, Transfer: ideal / time}
	}
	return p
}

// A Scaling compares a run with a reference.
type Scaling struct {
	Speedup                float64 `json:"speedup"` // time of the reference / time
	ComputationScalability float64 `json:"computation_scalability"`
	Global                 float64 `json:"global"` // Parallel · ComputationScalability
}

// Compare compares runs of one program with the first of the fewest ranks, and returns which that is, and how
// each compares with it: nil if one of the two has no Factors. Computation scalability is the computing of
// all ranks of the reference over that of a run, for a problem of one size; with weak, for a problem that
// grows with the ranks, it is that of their means.
func Compare(runs []*Run, weak bool) (reference int, scaling []*Scaling) {
	for i, r := range runs {
		need.That(r != nil, "efficiency: no run to compare")
		if r.Ranks < runs[reference].Ranks {
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
	s := &Scaling{Speedup: float64(reference.Time / r.Time), ComputationScalability: float64(reference.Total / r.Total)}
	if weak {
		s.ComputationScalability = float64(reference.Mean / r.Mean)
	}
	s.Global = r.Factors.Parallel * s.ComputationScalability
	return s
}
