package waits

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// Why it is not known which calls wait.
var (
	// errNotTimed means that the trace does not have the times of every call of all ranks that were recorded.
	errNotTimed = errors.New("waits: the trace does not have the times of every call of all ranks")

	// errSwitched means that ranks switched recording off and on, and messages do not fit each other.
	errSwitched = errors.New("waits: ranks switched recording off, so which messages belong together is not known")

	// errNotExact means that the trace was made to fit a size, and does not have each call as it was.
	errNotExact = errors.New("waits: the trace was made to fit a size, and does not have each call as it was")

	// ErrUnasked means that the trace has more than [query.MaxUnasked] calls, and [Options] do not ask for them.
	ErrUnasked = errors.New("waits: the trace has too many calls to read their times without being asked for")

	// ErrUnknownCalls means that it is not known what the calls of the trace do.
	ErrUnknownCalls = errors.New(
		"waits: it is not known what the calls do: they are neither those of MPI nor of SimGrid")
)

// A ClocksError says that the clocks of ranks differ: collective operations end on one rank before others begin them,
// so that it is not known which calls wait.
type ClocksError struct {
	Apart      query.Nanoseconds // by how much they differ at least
	Unreceived uint64            // as that of a Run that LacksReceives, else 0
}

func (e *ClocksError) Error() string {
	s := "waits: the clocks of ranks differ by " + text.Duration(e.Apart) +
		" or more: collective operations end on one rank before others begin them"
	if e.Unreceived > 0 {
		s += "; and the trace has no receive of " + text.Plural(e.Unreceived, "message")
	}
	return s
}

// Options configures [Open]. The zero Options is about all ranks.
type Options struct {
	// Ranks are those whose waits are told, and what caused these. Nil means all.
	Ranks *rankenc.Set

	// Region is the part of each rank's calls whose waits are told, wherever their causes are. Nil means all. For a part
	// of a run, there is no critical path.
	Region *query.Region

	// Series asks for the times of every call, however many there are. Without it, those of
	// [query.MaxUnasked] calls are read at most.
	Series bool

	// Calls are ranks whose calls that waited are listed one by one. Nil means none.
	Calls *rankenc.Set

	// Pairs asks for what caused the waits of each Victim.
	Pairs bool

	// Times, unless it is nil, are those of the trace: what has been read of them is not read again.
	Times *query.Times

	// Progress, unless it is nil, is called with the number of calls that are done.
	Progress func(calls uint64)
}

// A Run says which calls of a run waited, and why.
type Run struct {
	// Time is the run, as [query.RunTimes] has it, or how long ranks are in the Region on average.
	Time  query.Nanoseconds `json:"run_ns"`
	Ranks int               `json:"ranks"` // that were recorded

	Waits     uint64            `json:"calls"`         // that waited
	Wait      query.Nanoseconds `json:"wait_ns"`       // of these
	WaitError query.Nanoseconds `json:"wait_error_ns"` // how far Wait may be off

	// Guarantee is that of the durations of calls. Short are calls that waited less than times or clocks may be
	// off: they do not count as waits.
	Guarantee timing.Guarantee `json:"relative_error"`
	Short     uint64           `json:"short_waits"`

	Causes  []Cause  `json:"causes"`  // those of most waiting first
	Victims []Victim `json:"victims"` // the same
	Path    Path     `json:"critical_path"`

	// Pairs are those of most waiting first, if Options ask for them. Of many, the first 262,144 different ones are
	// told.
	Pairs []Pair `json:"pairs,omitempty"`

	// Calls are those that waited, by rank, in the order of their positions, if Options ask for them.
	Calls map[int][]Call `json:"-"`

	// These make no rank wait. Unknown are messages and operations of which the trace does not
	// say who takes part, Outside those with ranks that are not in the trace, and Unmatched calls that waited
	// for a message or an operation that is not in it.
	Unknown   uint64 `json:"unknown_messages"`
	Outside   uint64 `json:"outside_messages"`
	Unmatched uint64 `json:"unmatched_calls"`

	// Unreceived are messages to ranks of the trace that it has no receive of. Where it LacksReceives, as
	// [replay.LacksReceives] has it, waits for messages are not known, and others may be longer.
	Unreceived    uint64 `json:"unreceived_messages"`
	LacksReceives bool   `json:"lacks_receives"`

	// Unsought is what else calls of the run may wait for that is not looked for, such as files.
	Unsought []string `json:"not_looked_for,omitempty"`
}

// A Site is calls of one function in one place of the program.
type Site struct {
	Function string `json:"function"`
	Place    string `json:"site,omitempty"` // such as solver.f90:212 exchange_; empty if it is not known
}

// A Delay is computing of a rank, or its calls of a Site, that took longer than those of others did.
type Delay struct {
	Rank   int   `json:"rank"`
	InCall bool  `json:"in_call"`         // in calls of To
	From   *Site `json:"after,omitempty"` // the calls before the computing; nil for none, as before MPI_Init
	To     Site  `json:"before"`          // the calls that came after it
}

// A Cause is a Delay, and how long others waited because of it.
type Cause struct {
	Delay
	Cost query.Nanoseconds `json:"cost_ns"` // waiting of all ranks

	// Direct is the part of it that ranks waited for the rank of the Delay itself. In the rest, another passed
	// the delay on: it waited as well.
	Direct query.Nanoseconds `json:"direct_ns"`
}

// A Victim is calls of a rank in one place that waited in one way.
type Victim struct {
	Site
	Kind  string            `json:"kind"` // such as late sender
	Rank  int               `json:"rank"`
	Calls uint64            `json:"calls"` // that waited
	Wait  query.Nanoseconds `json:"wait_ns"`
	Error query.Nanoseconds `json:"wait_error_ns"` // how far Wait may be off
	Max   query.Nanoseconds `json:"max_ns"`        // the longest wait

	// For is the rank that it waited for most, and ForWait for how long.
	For     int               `json:"for_rank"`
	ForWait query.Nanoseconds `json:"for_wait_ns"`
}

// A Pair is calls of a Victim, and what made them wait.
type Pair struct {
	Cause Delay `json:"cause"`

	Site
	Kind string            `json:"kind"` // as that of a Victim
	Rank int               `json:"rank"` // that waited
	Wait query.Nanoseconds `json:"wait_ns"`

	// Position is that of the call of the rank there that waited longest because of the Cause.
	Position uint64 `json:"longest_position"`
}

// A Call waited from its start for another rank.
type Call struct {
	Position uint64
	Kind     string // as that of a Victim
	Wait     query.Nanoseconds
	For      int // the rank that it waited for
}

// A Path is the critical path of a run: what happened one after the other, on the ranks that others waited for,
// without MPI_Init, what is before it, and MPI_Finalize.
type Path struct {
	Time query.Nanoseconds `json:"time_ns"`

	// Imbalance is by how much the path has more of calls and computing than ranks have on average, as far as it
	// has more: what is lost on it because ranks do not do the same.
	Imbalance query.Nanoseconds `json:"imbalance_ns"`

	Steps []Step `json:"steps"` // those of most time first
}

// A Step is what a critical path has of a Delay.
type Step struct {
	Delay
	Time query.Nanoseconds `json:"time_ns"`

	// Mean is how long ranks take for the same on average, those included that have nothing of it.
	Mean query.Nanoseconds `json:"mean_ns"`
}

// wrongOrderKind is the kind of a late sender whose message was received before one that had been sent earlier.
const wrongOrderKind = "wrong order"

// Open finds the calls of a run that waited for other ranks, by when calls started and ended, and what caused
// that. It costs a replay: see [replay.Waits]. With an error of a context that is done it returns nothing.
//
// An error is [replay.ErrThreadsUnordered], [ErrUnasked], [ErrUnknownCalls], a [*ClocksError] or another that tells why the
// trace does not say which calls waited, as where it does not have the times of every call of all ranks, or too
// little of the run.
func Open(ctx context.Context, model *semantics.Model, o Options) (*Run, error) {
	need.That(model != nil, "waits: no model")
	tr := model.Trace()
	if err := check(model, o.Series); err != nil {
		return nil, err
	}
	r, err := newRecording(model, o)
	if err != nil {
		return nil, err
	}
	if err := tr.DecodeTimes(ctx); err != nil {
		return nil, err
	}
	if r.run, err = r.times.Run(ctx); err != nil {
		return nil, err
	}
	stopping, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r.stop = stop
	res, err := replay.Waits(stopping, model, r, o.Progress)
	if err != nil {
		return nil, fmt.Errorf("waits: %w", err)
	}
	if res.Switched && (r.early || res.Unmatched+res.Unreceived > 0) {
		return nil, errSwitched
	}
	lacks := replay.LacksReceives(res.Messages, res.Unreceived)
	if query.ClocksDiffer(r.apart.early, r.apart.calls) {
		differ := &ClocksError{Apart: query.Nanoseconds(r.apart.by)}
		if lacks {
			differ.Unreceived = res.Unreceived
		}
		return nil, differ
	}
	run := r.answer()
	if run.Time, err = r.timeIn(o.Region); err != nil {
		return nil, err
	}
	run.Ranks, run.Guarantee = tr.Content().Recorded.Len(), r.guarantee
	run.Unknown, run.Outside, run.Unmatched = res.Unknown, res.Outside, res.Unmatched
	run.Unreceived, run.LacksReceives = res.Unreceived, lacks
	run.Unsought = unsought(tr)
	if o.Region == nil {
		run.Path = r.path(res)
	}
	return run, nil
}

// unsought returns what calls of a trace may wait for that is not looked for, by their functions.
func unsought(tr *trace.Trace) (list []string) {
	for _, of := range []struct {
		what string
		is   func(function string) bool
	}{
		{"ranks that compute while others access their windows", func(f string) bool { return strings.HasPrefix(f, "MPI_Win_lock") }},
		{"files", func(f string) bool { return spec.RoleOf(f).Collective && spec.RoleOf(f).On == "fh" }},
	} {
		if slices.ContainsFunc(tr.Functions(), func(f cst.Function) bool { return of.is(f.Name) }) {
			list = append(list, of.what)
		}
	}
	if query.HasThreads(tr) {
		list = append(list, "threads of the same rank")
	}
	return list
}

// check reports why the trace does not say which calls waited.
func check(model *semantics.Model, all bool) error {
	tr := model.Trace()
	series, _, err := tr.SeriesRanks()
	switch {
	case err != nil:
		return err
	case !tr.Content().Exact:
		return errNotExact
	case !model.Known():
		return ErrUnknownCalls
	case tr.RankSet().Difference(series).Len() > 0 || series.Len() == 0:
		return errNotTimed
	case all:
		return nil
	}
	calls := uint64(0)
	for number := range tr.Shapes() {
		ranks := tr.ShapeRanks(number).Len()
		if ranks == 0 {
			continue
		}
		s, err := tr.Shape(number)
		if err != nil {
			return err
		}
		calls = wire.AddSat(calls, wire.MulSat(s.Grammar.Len(), uint64(ranks)))
	}
	if calls > query.MaxUnasked {
		return ErrUnasked
	}
	return nil
}

// timeIn returns how long the run takes, or how long ranks are in a region on average, unless that is nil.
func (r *recording) timeIn(g *query.Region) (query.Nanoseconds, error) {
	switch {
	case g == nil && r.run == nil:
		return 0, nil
	case g == nil:
		return r.run.Run, nil
	}
	sum := query.Nanoseconds(0)
	for _, rank := range g.Ranks.All() {
		of, err := r.trace.Folded(rank, nil)
		if err != nil {
			return 0, err
		}
		c, err := r.times.Clock(of)
		if err != nil {
			return 0, err
		}
		in, err := c.TimeIn(g)
		if err != nil {
			return 0, err
		}
		sum += in
	}
	return sum / query.Nanoseconds(max(1, r.trace.Content().Recorded.Len())), nil
}

// answer returns what was found.
func (r *recording) answer() *Run {
	run := &Run{Short: r.short}
	for k, v := range r.victims {
		most, rank := 0.0, -1
		for other, wait := range v.by {
			if wait > most || wait == most && other < rank {
				most, rank = wait, other
			}
		}
		run.Victims = append(run.Victims, Victim{Kind: kindName(k.kind), Rank: k.rank, Site: r.sites[k.site],
			Calls: v.calls,
			Wait:  query.Nanoseconds(v.wait), Error: query.Nanoseconds(v.off), Max: query.Nanoseconds(v.max),
			For: rank, ForWait: query.Nanoseconds(most)})
		run.Waits += v.calls
	}
	slices.SortFunc(run.Victims, func(a, b Victim) int {
		return cmp.Or(cmp.Compare(b.Wait, a.Wait), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Kind, b.Kind),
			a.Site.compare(b.Site))
	})
	for _, v := range run.Victims {
		run.Wait, run.WaitError = run.Wait+v.Wait, run.WaitError+v.Error
	}
	for k, c := range r.causes {
		run.Causes = append(run.Causes, Cause{Delay: r.delay(k), Cost: query.Nanoseconds(c.cost),
			Direct: query.Nanoseconds(c.direct)})
	}
	slices.SortFunc(run.Causes, func(a, b Cause) int {
		return cmp.Or(cmp.Compare(b.Cost, a.Cost), a.Delay.compare(&b.Delay))
	})
	r.addDetails(run)
	return run
}

// addDetails adds pairs and calls that were asked for.
func (r *recording) addDetails(run *Run) {
	for k, p := range r.pairs {
		if p.wait > 0 {
			run.Pairs = append(run.Pairs, Pair{Cause: r.delay(k.cause), Site: r.sites[k.site], Kind: kindName(k.kind),
				Rank: k.rank, Wait: query.Nanoseconds(p.wait), Position: p.position})
		}
	}
	slices.SortFunc(run.Pairs, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(b.Wait, a.Wait), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Kind, b.Kind),
			a.Site.compare(b.Site), a.Cause.compare(&b.Cause))
	})
	if r.listed == nil {
		return
	}
	run.Calls = make(map[int][]Call)
	for rank, list := range r.calls {
		calls := make([]Call, len(list))
		for i, c := range list {
			calls[i] = Call{c.position, kindName(c.kind), query.Nanoseconds(c.wait), int(c.by)}
		}
		slices.SortFunc(calls, func(a, b Call) int { return cmp.Compare(a.Position, b.Position) })
		run.Calls[rank] = calls
	}
}

// kindName returns the name of a kind of a victim.
func kindName(kind uint8) string {
	if kind == wrongOrder {
		return wrongOrderKind
	}
	return replay.WaitKind(kind).String()
}

// path returns the critical path of a run.
func (r *recording) path(res *replay.WaitsResult) Path {
	var p Path
	of := r.timesOf(res.Path, res.Time, r.keyOf)
	ofAny := func(d *replay.Delay) delayKey { return r.keyOf(d).ofAny() }
	more, means := r.timesOf(res.Path, res.Time, ofAny), r.timesOf(res.All, res.Time, ofAny)
	for k := range means {
		means[k] /= float64(max(1, r.trace.Content().Recorded.Len()))
		more[k] = max(0, more[k]-means[k])
	}
	for k, time := range of {
		p.Steps = append(p.Steps, Step{r.delay(k), query.Nanoseconds(time), query.Nanoseconds(means[k.ofAny()])})
	}
	p.Imbalance = query.Nanoseconds(sumOf(more))
	p.Time = query.Nanoseconds(sumOf(of))
	slices.SortFunc(p.Steps, func(a, b Step) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), a.Delay.compare(&b.Delay))
	})
	return p
}

// timesOf returns how long delays are that have shares of a time, without those that are not in the run.
func (r *recording) timesOf(list []replay.Delay, of replay.Time,
	key func(*replay.Delay) delayKey) map[delayKey]float64 {
	times := make(map[delayKey]float64)
	for i := range list {
		d, k := &list[i], key(&list[i])
		if r.isOutside(k) {
			continue
		}
		times[k] += d.Share * float64(of) / float64(replay.Nanosecond)
	}
	return times
}

// isOutside reports whether a delay is not in the run: a call that begins or ends it, or computing before the first
// call of a rank, or before MPI_Init, as in archives of OTF2, where the program begins with a call of its own.
func (r *recording) isOutside(k delayKey) bool {
	f := r.sites[k.to].Function
	if k.inCall {
		return query.OutsideRun(f)
	}
	return query.InStartup(f) || k.from < 0 && (query.OutsideRun(f) || r.startsUp())
}

// startsUp reports whether a rank calls MPI_Init.
func (r *recording) startsUp() bool {
	return slices.ContainsFunc(r.sites, func(s Site) bool { return query.InStartup(s.Function) })
}

// sumOf returns the sum of times, the shortest first, so that it is always the same.
func sumOf(times map[delayKey]float64) (sum float64) {
	for _, time := range slices.Sorted(maps.Values(times)) {
		sum += time
	}
	return sum
}

func (s Site) compare(o Site) int {
	return cmp.Or(cmp.Compare(s.Function, o.Function), cmp.Compare(s.Place, o.Place))
}

func (d *Delay) compare(o *Delay) int {
	from := func(d *Delay) Site {
		if d.From == nil {
			return Site{}
		}
		return *d.From
	}
	in := func(d *Delay) int {
		if d.InCall {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(d.Rank, o.Rank), cmp.Compare(in(d), in(o)), d.To.compare(o.To), from(d).compare(from(o)))
}
