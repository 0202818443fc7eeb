package prediction

import (
	"cmp"
	"context"
	"iter"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/replay/loggps"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

// MaxFollowed is of how many calls the critical path is followed, unless [Options] say it.
const MaxFollowed = 20_000_000

// Options configures [Open].
type Options struct {
	Machine loggps.Parameters // such as [loggps.Default] returns

	// Seed is what times depend on that are drawn from histograms, and the order of calls of which the trace
	// does not keep it.
	Seed uint64

	// MaxFollowed is how many calls a run has at most of which the critical path is followed, and of which it is
	// looked for how many draws are the same on all ranks, see [replay.Recorded.Together]. Zero means the
	// constant.
	MaxFollowed uint64

	// Ended, unless it is nil, is called with each call when it ends: see [replay.Options].
	Ended func(c *replay.Call, start, end replay.Time)

	// Progress, unless it is nil, is called with the number of calls that are replayed so far, or skipped. If
	// the run is replayed several times, a call counts as a share in each.
	Progress func(calls uint64)
}

// A Run is a run as it is predicted, from when all ranks return from MPI_Init, at once, to when the last
// calls MPI_Finalize.
type Run struct {
	Computing string             `json:"computing"` // by what it is known: see [ComputingOf]
	Time      query.Nanoseconds  `json:"run_ns"`
	Recorded  *query.Nanoseconds `json:"recorded_ns"` // how long the run took, by [query.Times.Run]; nil without times
	Calls     uint64             `json:"calls"`
	Messages  uint64             `json:"messages"`
	Slowest   *Slowest           `json:"slowest_rank,omitempty"`
	Ranks     []Rank             `json:"by_rank"`
	Path      *Path              `json:"critical_path"` // nil if it was not followed

	Scaled bool `json:"-"` // computing that is not from the times of every call comes to the sums of each rank
}

// A Slowest is the rank that computes longest.
type Slowest struct {
	Rank      int               `json:"rank"`
	Computing query.Nanoseconds `json:"computing_ns"`
	Mean      query.Nanoseconds `json:"mean_ns"` // of all ranks
}

// A Rank is how a rank spends its time.
type Rank struct {
	Rank      int               `json:"rank"`
	End       query.Nanoseconds `json:"end_ns"`
	Computing query.Nanoseconds `json:"computing_ns"`
	Sending   query.Nanoseconds `json:"sending_ns"`
	Waiting   query.Nanoseconds `json:"waiting_ns"`
}

// A Path is what the end of the run depends on.
type Path struct {
	Computing query.Nanoseconds `json:"computing_ns"`
	Steps     []Step            `json:"signatures"` // those of most time first
	Ranks     []PathRank        `json:"by_rank"`
}

// A Step is what the critical path has of the calls with a signature.
type Step struct {
	Signature int               `json:"signature"`
	Call      string            `json:"call,omitempty"` // in words, which who prints it has to set
	Calls     uint64            `json:"calls"`
	Computing query.Nanoseconds `json:"computing_ns"` // before these calls
	Within    query.Nanoseconds `json:"time_ns"`
}

// A PathRank is how long the critical path is on a rank.
type PathRank struct {
	Rank      int               `json:"rank"`
	Computing query.Nanoseconds `json:"computing_ns"`
	Within    query.Nanoseconds `json:"time_ns"`
}

// nanoseconds returns a time in nanoseconds, rounded.
func nanoseconds(t replay.Time) query.Nanoseconds {
	return query.Nanoseconds(math.Round(float64(t) / float64(replay.Nanosecond)))
}

// Amounts is by what computing is known if the trace says how much of it there is.
const Amounts = "amounts"

// ComputingOf returns by what it is known how long the ranks of a trace compute: the name of a
// [query.Source], or [Amounts]. Uncounted are ranks of which it is not known: their computing counts as none.
func ComputingOf(t *trace.Trace) (computing string, uncounted rankenc.Set, err error) {
	need.That(t != nil, "prediction: no trace")
	times, err := query.OpenTimes(t)
	if err != nil {
		return "", uncounted, err
	}
	best, series, err := times.Known()
	switch {
	case err != nil:
		return "", uncounted, err
	case best == query.Series && !times.Summarized():
		uncounted = t.RankSet().Difference(series)
	case best == query.None && slices.ContainsFunc(t.Functions(), semantics.HasAmount):
		return Amounts, uncounted, nil
	case best == query.None:
		uncounted = t.RankSet()
	}
	return best.String(), uncounted, nil
}

// Open replays the trace of a model on a machine, and returns how long the run takes on it. If calls wait for
// what never happens, as in a run that was cut short, it is a [*replay.DeadlockError].
func Open(ctx context.Context, model *semantics.Model, o Options) (*Run, error) {
	need.That(model != nil, "prediction: no model")
	t := model.Trace()
	recorded, err := replay.NewRecorded(t)
	if err != nil {
		return nil, err
	}
	recorded.Draw(o.Seed)
	recorded.Speed(o.Machine.Speed)
	recorded.Bound(func(rank *trace.Rank) (first, last uint64) {
		of := query.RunCallsOf(t, rank)
		if of.Finalized && !query.HasThreads(t) {
			return of.First, of.End - 1
		}
		return of.First, of.End
	})
	run := &Run{Ranks: []Rank{}}
	if run.Computing, _, err = ComputingOf(t); err != nil {
		return nil, err
	}
	if run.Computing == query.Statistics.String() || run.Computing == query.Histograms.String() {
		if run.Scaled, err = scaleToRanks(t, recorded); err != nil {
			return nil, err
		}
	}
	calls, err := callsOf(t)
	if err != nil {
		return nil, err
	}
	times, err := query.OpenTimes(t)
	if err != nil {
		return nil, err
	}
	took, err := times.Run(ctx)
	if err != nil {
		return nil, err
	}
	few := calls <= cmp.Or(o.MaxFollowed, MaxFollowed)
	if took != nil {
		run.Recorded = &took.Run
		if few {
			whole := replay.Time(took.Run) * replay.Nanosecond
			if err := recorded.Together(ctx, model, whole, o.ofReplays(calls)); err != nil {
				return nil, err
			}
		}
	}
	machine, err := loggps.New(o.Machine, t.Ranks(), recorded)
	if err != nil {
		return nil, err
	}
	result, err := replay.RunWith(ctx, model, machine, replay.Options{
		Ended: o.Ended, CriticalPath: few, Seed: o.Seed, Progress: o.Progress,
	})
	if err := cmp.Or(err, recorded.Err()); err != nil {
		return nil, err
	}
	run.fill(result)
	return run, nil
}

// replays is how often a run is replayed, at the most: twice to tell which draws are the same on all ranks.
const replays = 3

// ofReplays returns what tells the progress of the replays of so many calls before the last, or nil if nobody is
// told. As soon as it is called, that of the last is what is left.
func (o *Options) ofReplays(calls uint64) func(before int, done uint64) {
	tell := o.Progress
	if tell == nil {
		return nil
	}
	share := func(before int, done uint64) { tell(calls/replays*uint64(before) + done/replays) }
	return func(before int, done uint64) {
		share(before, done)
		o.Progress = func(done uint64) { share(replays-1, done) }
	}
}

// callsOf returns how many calls all ranks make.
func callsOf(t *trace.Trace) (calls uint64, err error) {
	for number := range t.Shapes() {
		if ranks := t.ShapeRanks(number).Len(); ranks > 0 {
			s, err := t.Shape(number)
			if err != nil {
				return 0, err
			}
			calls = wire.AddSat(calls, wire.MulSat(s.Grammar.Len(), uint64(ranks)))
		}
	}
	return calls, nil
}

// scaleToRanks has the means of a rank come to the sums that the trace keeps of it, and reports whether it
// keeps any. Those of a rank with several threads do not say how long each of them computes.
func scaleToRanks(t *trace.Trace, recorded *replay.Recorded) (bool, error) {
	kept := false
	err := t.ReadSection(layout.KindRankTimes, 0, func([]byte) error { kept = true; return nil })
	if !kept || err != nil || query.HasThreads(t) {
		return false, err
	}
	times, err := query.OpenTimes(t)
	if err != nil {
		return false, err
	}
	recorded.Scale(func(rank *trace.Rank) iter.Seq2[uint32, replay.Mean] {
		loops := times.RankLoops(rank)
		if !loops.Scaled {
			return nil
		}
		return func(yield func(uint32, replay.Mean) bool) {
			for terminal, m := range loops.Means() {
				if !yield(terminal, replay.Mean(m)) {
					return
				}
			}
		}
	})
	return true, nil
}

// fill sets what the result of the replay says.
func (a *Run) fill(r *replay.Result) {
	a.Time, a.Calls, a.Messages = nanoseconds(r.End), r.Calls, r.Messages
	sum := 0.0
	for _, rank := range r.Ranks {
		a.Ranks = append(a.Ranks, Rank{rank.Rank, nanoseconds(rank.End), nanoseconds(rank.Computing),
			nanoseconds(rank.Sending), nanoseconds(rank.Waiting)})
		sum += float64(rank.Computing)
		if c := nanoseconds(rank.Computing); c > 0 && (a.Slowest == nil || c > a.Slowest.Computing) {
			a.Slowest = &Slowest{Rank: rank.Rank, Computing: c}
		}
	}
	if a.Slowest != nil {
		a.Slowest.Mean = nanoseconds(replay.Time(sum / float64(len(r.Ranks))))
	}
	if r.Path == nil {
		return
	}
	a.Path = &Path{Steps: []Step{}, Ranks: []PathRank{}}
	computing := replay.Time(0)
	for _, s := range r.Path.Steps {
		if computing += s.Computing; s.Computing+s.Calls == 0 {
			continue
		}
		a.Path.Steps = append(a.Path.Steps, Step{Signature: s.Signature, Calls: s.Count,
			Computing: nanoseconds(s.Computing), Within: nanoseconds(s.Calls)})
	}
	a.Path.Computing = nanoseconds(computing)
	slices.SortStableFunc(a.Path.Steps, func(x, y Step) int {
		return cmp.Compare(y.Computing+y.Within, x.Computing+x.Within)
	})
	for _, rank := range r.Path.Ranks {
		a.Path.Ranks = append(a.Path.Ranks, PathRank{rank.Rank, nanoseconds(rank.Computing), nanoseconds(rank.Calls)})
	}
}
