package query

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/memory"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// A ByRank is what each of some ranks spends its time in.
type ByRank struct {
	// Source is Series if the times of every call were read, and Statistics if the times are those
	// that a trace keeps of each rank, which are rounded: see docs/times.md.
	Source Source `json:"source"`

	// Guarantee is the weakest of those of the times of every call, if the Source is Series.
	Guarantee timing.Guarantee `json:"relative_error"`

	Ranks []RankProfile `json:"by_rank,omitzero"` // in ascending order

	// Functions are those of most wait time first, then of most time; of startup and shutdown last.
	Functions []FunctionRanks `json:"functions,omitzero"`

	Run *RunTimes `json:"run,omitempty"` // of all ranks of the trace; nil if they are not known
}

// A RankProfile is what a rank spends its time in. Span is from when it returns from MPI_Init to the end of the
// run, see [RunTimes], and Time in calls of that, the wait in MPI_Finalize for the last rank included. Without
// these, they are those of all its calls.
type RankProfile struct {
	RankActivity

	Startup  Nanoseconds `json:"startup_ns"`  // in MPI_Init
	Shutdown Nanoseconds `json:"shutdown_ns"` // in MPI_Finalize

	Start Nanoseconds `json:"start_ns"`      // of its first call, since that of the first rank
	Error Nanoseconds `json:"time_error_ns"` // how far Time may be off

	// OutsideError is how far Outside may be off, which is +Inf if calls overlap.
	OutsideError Nanoseconds `json:"outside_error_ns"`

	Functions []RankFunction `json:"functions,omitzero"` // those of most time first

	wait Nanoseconds // in MPI_Finalize for the last rank, in Time
}

// A RankFunction is how long the calls of a function take on a rank.
type RankFunction struct {
	Name  string      `json:"function"`
	Calls uint64      `json:"calls"`
	Time  Nanoseconds `json:"time_ns"`
	Error Nanoseconds `json:"time_error_ns"` // how far Time may be off
	Mean  Nanoseconds `json:"mean_ns"`
	Max   Nanoseconds `json:"max_ns"` // it is this at most
}

// A FunctionRanks is how long the calls of a function take on ranks, and how much that differs.
type FunctionRanks struct {
	Name  string      `json:"function"`
	Calls uint64      `json:"calls"`
	Ranks int         `json:"ranks"` // that call it
	Time  Nanoseconds `json:"time_ns"`
	Error Nanoseconds `json:"time_error_ns"` // how far Time may be off

	// Wait is the imbalance time: the sum over the ranks of how often one calls the function,
	// times by how much its mean duration is above that of the rank where it is least. It is 0 if
	// it is not known: if it is not longer than it may be off.
	Wait      Nanoseconds `json:"wait_ns"`
	WaitError Nanoseconds `json:"wait_error_ns"` // how far Wait may be off

	Mean Nanoseconds `json:"mean_ns"`
	Max  Nanoseconds `json:"max_ns"` // it is this at most
	Fast RankMean    `json:"fastest"`
	Slow RankMean    `json:"slowest"`
}

// HasRanks reports whether the trace keeps times of ranks of the options that make calls, of each
// of them: those that [Times.ByRank] returns without reading series.
func (t *Times) HasRanks(o Options) bool {
	if t.ranks == nil {
		return false
	}
	all := o.among(t.trace.RankSet())
	return all.Len() > 0 && all.Difference(t.ranks.Ranks()).Len() == 0
}

// ByRank returns what the ranks of p spend their time in: by what the trace keeps of each of
// them or, if series is set, by the times of every call, which takes as long as
// [Times.ReadSeries]. Ranks without such times are left out.
func (t *Times) ByRank(ctx context.Context, p *Profile, series bool, o Options) (*ByRank, error) {
	need.That(p != nil, "query: no profile")
	b := &ByRank{Source: Statistics}
	var bounds map[string]*timing.Statistics // of rounded sums
	calls := newShapesOfRanks(t.trace, p)
	err := memory.Check(t.trace, "ranks", uint64(calls.ranks.Len()), rankMemory)
	switch {
	case err != nil:
	case series:
		err = b.readSeries(ctx, t, calls, o)
	case t.ranks != nil:
		bounds = p.boundsOfFunctions()
		b.addKept(t, calls, bounds)
	}
	if err != nil {
		return nil, err
	}
	b.sumFunctions(bounds)
	if b.Run, err = t.Run(ctx); err != nil || b.Run == nil {
		return b, err
	}
	f, err := t.runFinder()
	if err != nil {
		return nil, err
	}
	run, of, err := f.nearer(ctx, !series)
	for i := range b.Ranks {
		var s *runSpan
		if err == nil {
			s, err = of(b.Ranks[i].Rank)
		}
		if err == nil && s != nil {
			b.Ranks[i].setRun(run, s)
		}
	}
	return b, err
}

// setRun leaves the startup and the shutdown out of the time of the rank, and of its functions the last.
func (r *RankProfile) setRun(run *RunTimes, of *runSpan) {
	off, left := Nanoseconds(0), false
	for _, f := range r.Functions {
		switch {
		case InStartup(f.Name):
			r.Startup, off = r.Startup+f.Time, off+f.Error
		case InShutdown(f.Name):
			r.Shutdown, off, left = r.Shutdown+f.Time, off+f.Error, true
		}
	}
	slices.SortStableFunc(r.Functions, func(f, g RankFunction) int { return CompareOutside(f.Name, g.Name) })
	both := r.Startup + r.Shutdown
	if both == 0 || math.IsInf(float64(both+r.Span), 1) {
		return
	}
	wait := Nanoseconds(0)
	if left {
		wait, off = Nanoseconds(elapsed(of.end, run.end())), off+run.endError+Nanoseconds(of.endOff)
	}
	gap, call := (of.gaps.low+of.gaps.high)/2, (of.calls.low+of.calls.high)/2
	if math.IsInf(float64(gap+call), 1) {
		r.Outside, r.OutsideError = Nanoseconds(math.Inf(1)), Nanoseconds(math.Inf(1))
		return
	}
	inRun := Nanoseconds(0) // at least, by the functions
	for _, f := range r.Functions {
		if !OutsideRun(f.Name) {
			inRun += max(0, f.Time-f.Error)
		}
	}
	r.Time = max(0, r.Time-both-call, inRun-call) + wait
	r.wait = wait
	r.Error += off + (of.calls.high-of.calls.low)/2
	r.Outside, r.OutsideError = max(0, r.Outside-gap), r.OutsideError+(of.gaps.high-of.gaps.low)/2
	if r.Span = max(0, r.Span-both-gap-call+wait); !math.IsInf(float64(r.Outside), 1) {
		r.Span = r.Time + r.Outside
	}
}

// ShapesOfRanks are what the ranks of a profile call, which those of a shape have in common.
type shapesOfRanks struct {
	trace   *trace.Trace
	byShape map[int]*ShapeProfile
	ranks   rankenc.Set
}

func newShapesOfRanks(tr *trace.Trace, p *Profile) *shapesOfRanks {
	s := &shapesOfRanks{trace: tr, byShape: make(map[int]*ShapeProfile, len(p.Shapes))}
	sets := make([]rankenc.Set, len(p.Shapes))
	for i := range p.Shapes {
		s.byShape[p.Shapes[i].Shape], sets[i] = &p.Shapes[i], p.Shapes[i].Ranks
	}
	s.ranks = rankenc.Set{}.Union(sets...)
	return s
}

// of returns what a rank calls, nil if it is not one of the profile.
func (s *shapesOfRanks) of(rank int) *ShapeProfile {
	number, ok := s.trace.ShapeOf(rank)
	if shape := s.byShape[number]; ok && shape != nil && shape.Ranks.Contains(rank) {
		return shape
	}
	return nil
}

// addKept adds what the trace keeps of ranks.
func (b *ByRank) addKept(t *Times, calls *shapesOfRanks, bounds map[string]*timing.Statistics) {
	for i := range t.ranks.Len() {
		of := t.ranks.At(i)
		shape := calls.of(of.Rank)
		if shape == nil {
			continue
		}
		r := RankProfile{RankActivity: RankActivity{Rank: of.Rank, End: shape.Calls, Calls: shape.Calls}}
		r.Span, r.Start = middle(of.Span), Nanoseconds(of.Begin-t.firstBegin)
		functions, threads := make(map[string]*RankFunction), false
		for _, f := range of.Functions {
			fn := &t.trace.Functions()[f.Function]
			name := fn.Name
			threads = threads || len(fn.Params) > 0 && fn.Params[0].Name == trace.ThreadParam
			known := functions[name]
			if known == nil {
				known = &RankFunction{Name: name}
				functions[name] = known
			}
			known.Time += middle(f.Sum)
			known.Error += Nanoseconds(f.Sum.Error())
			known.Max = max(known.Max, Nanoseconds(f.Max.High))
		}
		r.setFunctions(functions, shape, bounds)
		r.setOutside(of, threads)
		b.Ranks = append(b.Ranks, r)
	}
}

// middle returns the middle of a range, +Inf of one that may be of longer times than there are.
func middle(r layout.Range) Nanoseconds {
	if r.High == math.MaxInt64 {
		return Nanoseconds(math.Inf(1))
	}
	return Nanoseconds(r.Middle())
}

// setOutside sets the time outside calls and, if no calls overlap, that in calls. Those of several
// threads may overlap by less than what is not known of sums.
func (r *RankProfile) setOutside(of layout.RankTime, threads bool) {
	inCalls, off := Nanoseconds(of.Span.Middle()-of.Gaps.Middle()), Nanoseconds(of.Span.Error()+of.Gaps.Error())
	if threads || math.IsInf(float64(r.Span+r.Time), 1) || math.Abs(float64(inCalls-r.Time)) > float64(off+r.Error) {
		r.Outside, r.OutsideError = Nanoseconds(math.Inf(1)), Nanoseconds(math.Inf(1))
		return
	}
	r.Outside, r.OutsideError = Nanoseconds(of.Gaps.Middle()), Nanoseconds(of.Gaps.Error())
	if off < r.Error {
		r.Time, r.Error = max(0, inCalls), off
	}
}

// boundsOfFunctions returns the statistics of the calls of each function, if there are any. No
// call of any rank is shorter or longer than these say.
func (p *Profile) boundsOfFunctions() map[string]*timing.Statistics {
	bounds := make(map[string]*timing.Statistics)
	for _, f := range p.Functions {
		if f.statistics != nil && f.statistics.Count > 0 {
			bounds[f.Name] = f.statistics
		}
	}
	return bounds
}

// setFunctions sets the functions of a rank of a shape, and the sums of their times, narrowed to
// what bounds allow if these are not nil.
func (r *RankProfile) setFunctions(times map[string]*RankFunction, shape *ShapeProfile,
	bounds map[string]*timing.Statistics) {
	for _, f := range shape.Functions {
		of := RankFunction{Name: f.Name}
		if known := times[f.Name]; known != nil {
			of = *known
		}
		of.Calls = f.Calls
		if bounds != nil {
			of.narrow(bounds[f.Name])
		}
		of.Mean = of.Time / Nanoseconds(f.Calls)
		r.Time, r.Error = r.Time+of.Time, r.Error+of.Error
		r.Functions = append(r.Functions, of)
	}
	slices.SortStableFunc(r.Functions, func(f, g RankFunction) int { return cmp.Compare(g.Time, f.Time) })
}

// narrow narrows the time of the calls to what is possible where none is longer than Max nor, if
// all is not nil, shorter or longer than all calls of the function.
func (f *RankFunction) narrow(all *timing.Statistics) {
	least := Nanoseconds(math.Inf(-1))
	if all != nil {
		least, f.Max = Nanoseconds(all.Min), min(f.Max, max(0, Nanoseconds(all.Max)))
	}
	n := Nanoseconds(f.Calls)
	f.Time, f.Error = both(f.Time, f.Error, n*least, n*f.Max)
}

// both returns the middle of the times that are within an error of a time and from low to high, and
// how far it may be off: the time as it is if there are none, or it or its error is not known.
func both(time, off, low, high Nanoseconds) (Nanoseconds, Nanoseconds) {
	if math.IsInf(float64(time+off), 1) {
		return time, off
	}
	low, high = max(low, time-off), min(high, time+off)
	if low > high {
		return time, off
	}
	return low + (high-low)/2, (high - low) / 2
}

// readSeries adds ranks by the times of their calls.
func (b *ByRank) readSeries(ctx context.Context, t *Times, calls *shapesOfRanks, o Options) error {
	timed, _, err := t.trace.SeriesRanks()
	if err != nil {
		return err
	}
	chosen := calls.ranks.Intersection(timed)
	o.Ranks = &chosen
	activity, err := t.activity(ctx, math.MinInt64, math.MaxInt64, o)
	if err != nil {
		return err
	}
	b.Source, b.Guarantee = Series, activity.Guarantee
	b.Ranks = make([]RankProfile, len(activity.Ranks))
	var mu sync.Mutex
	o.Progress = nil
	return o.each(ctx, len(b.Ranks), func(i int) error {
		r := RankProfile{RankActivity: activity.Ranks[i]}
		sites, err := t.measure(ctx, r.Rank, o.Region)
		if err != nil {
			return err
		}
		functions := make(map[string]*RankFunction)
		for n, s := range sites {
			name := t.trace.Functions()[t.trace.FunctionOf(n)].Name
			known := functions[name]
			if known == nil {
				known = &RankFunction{Name: name}
				functions[name] = known
			}
			d := durationsOf(&s.statistics[durations])
			known.Time, known.Error, known.Max = known.Time+d.Total, known.Error+d.Error,
				max(known.Max, Nanoseconds(d.Max))
		}
		r.Time = 0
		r.setFunctions(functions, calls.of(r.Rank), nil)
		r.OutsideError = r.Error
		r.Start, err = t.startOf(r.Rank)
		mu.Lock()
		b.Ranks[i] = r
		mu.Unlock()
		return err
	})
}

// startOf returns when the first call of a rank began, since that of the first rank.
func (t *Times) startOf(rank int) (Nanoseconds, error) {
	begin, err := t.Begin()
	if err != nil {
		return 0, err
	}
	r, err := t.trace.Folded(rank, nil)
	if err != nil {
		return 0, err
	}
	c, err := t.Clock(r)
	if err != nil {
		return 0, err
	}
	first, _, err := c.Span()
	return max(0, Nanoseconds(float64(first)-float64(begin))), err
}

// sumFunctions sets the functions of all ranks.
func (b *ByRank) sumFunctions(bounds map[string]*timing.Statistics) {
	type leastMean struct{ low, high Nanoseconds }
	functions, fastest := make(map[string]*FunctionRanks), make(map[string]*leastMean)
	for _, r := range b.Ranks {
		for _, f := range r.Functions {
			of, least := functions[f.Name], fastest[f.Name]
			n := Nanoseconds(f.Calls)
			if of == nil {
				of = &FunctionRanks{Name: f.Name, Fast: RankMean{r.Rank, f.Mean}, Slow: RankMean{r.Rank, f.Mean}}
				least = &leastMean{Nanoseconds(math.Inf(1)), Nanoseconds(math.Inf(1))}
				functions[f.Name], fastest[f.Name] = of, least
			}
			of.Calls, of.Ranks = wire.AddSat(of.Calls, f.Calls), of.Ranks+1
			of.Time, of.Error, of.Max = of.Time+f.Time, of.Error+f.Error, max(of.Max, f.Max)
			if f.Mean < of.Fast.Mean {
				of.Fast = RankMean{r.Rank, f.Mean}
			}
			if f.Mean > of.Slow.Mean {
				of.Slow = RankMean{r.Rank, f.Mean}
			}
			least.low, least.high = min(least.low, (f.Time-f.Error)/n), min(least.high, (f.Time+f.Error)/n)
		}
	}
	for name, of := range functions {
		if all := bounds[name]; all != nil && all.Count == of.Calls && all.SumError() < math.MaxUint64 {
			sum, off := Nanoseconds(all.Sum()), Nanoseconds(all.SumError())
			of.Time, of.Error = both(of.Time, of.Error, sum-off, sum+off)
		}
		of.setWait(fastest[name].low, fastest[name].high)
		b.Functions = append(b.Functions, *of)
	}
	slices.SortFunc(b.Functions, func(f, g FunctionRanks) int {
		return cmp.Or(CompareOutside(f.Name, g.Name), cmp.Compare(g.Wait, f.Wait),
			cmp.Compare(g.Time, f.Time), cmp.Compare(f.Name, g.Name))
	})
}

// setWait sets the mean and the wait time, where the mean of the fastest rank is from low to high.
func (f *FunctionRanks) setWait(low, high Nanoseconds) {
	n := Nanoseconds(f.Calls)
	f.Mean = f.Time / n
	if math.IsInf(float64(f.Time), 1) {
		f.Wait, f.WaitError, f.Error = f.Time, f.Time, f.Time
		return
	}
	if f.Ranks == 1 {
		return
	}
	least, most := max(0, f.Time-f.Error-n*high), max(0, f.Time+f.Error-n*low)
	f.Wait = max(least, min(f.Time-n*f.Fast.Mean, most))
	if f.WaitError = max(most-f.Wait, f.Wait-least); f.Wait <= f.WaitError {
		f.Wait, f.WaitError = 0, most
	}
}

// A SlowRank is the rank that is outside calls longest, for which others wait.
type SlowRank struct {
	Rank    int         `json:"rank"`
	Outside Nanoseconds `json:"outside_ns"`
	Mean    Nanoseconds `json:"mean_ns"`          // of all ranks
	Error   Nanoseconds `json:"outside_error_ns"` // how far these may be off
}

// Slowest returns the slowest rank, nil if it is not known: of one rank, and where calls overlap.
func (b *ByRank) Slowest() *SlowRank {
	if len(b.Ranks) < 2 {
		return nil
	}
	slowest, sum, off := b.Ranks[0], Nanoseconds(0), Nanoseconds(0)
	for _, r := range b.Ranks {
		off = max(off, r.OutsideError)
		if sum += r.Outside; r.Outside > slowest.Outside {
			slowest = r
		}
	}
	if math.IsInf(float64(sum), 1) {
		return nil
	}
	return &SlowRank{slowest.Rank, slowest.Outside, sum / Nanoseconds(len(b.Ranks)), off}
}

// LoadBalance returns the mean of the time that ranks are outside calls over the longest, as
// [github.com/reprise-trace/reprise/query/efficiency] has it; false if it is not known, as for [ByRank.Slowest].
func (b *ByRank) LoadBalance() (balance float64, ok bool) {
	s := b.Slowest()
	if s == nil || s.Outside <= s.Error {
		return 0, false
	}
	return float64(s.Mean / s.Outside), true
}

// A CallShare is the share of the run that ranks spend in at least one call: Time over Span of a [RankProfile], less
// where the calls of threads overlap.
type CallShare struct {
	Min     float64 `json:"min_share"`
	Mean    float64 `json:"mean_share"` // of the time of all ranks together
	Max     float64 `json:"max_share"`
	MinRank int     `json:"rank_of_min"`
	MaxRank int     `json:"rank_of_max"`
}

// Share returns which share of the run the ranks are in calls, nil if it is not known: where calls overlap.
func (b *ByRank) Share() *CallShare {
	s := &CallShare{Min: math.Inf(1)}
	time, span := Nanoseconds(0), Nanoseconds(0)
	for _, r := range b.Ranks {
		inCalls := r.Time
		if inCalls+r.Outside > r.Span+1 { // calls of threads overlap
			inCalls = r.Span - r.Outside
		}
		share := float64(inCalls / r.Span)
		if math.IsInf(float64(r.Outside), 1) || math.IsNaN(share) {
			return nil
		}
		if share < s.Min {
			s.Min, s.MinRank = share, r.Rank
		}
		if share > s.Max {
			s.Max, s.MaxRank = share, r.Rank
		}
		time, span = time+inCalls, span+r.Span
	}
	if len(b.Ranks) == 0 {
		return nil
	}
	s.Mean = float64(time / span)
	return s
}

// The ranks of a shape have estimates of their own if these have at most so many symbols together.
const maxOwnSymbols = 1 << 24

// A scaling makes means that are those of the calls of all ranks those of a rank.
type scaling struct {
	durations map[int]float64 // factors, by function
	gaps      float64         // factor
	overlap   bool            // the calls take more time than the rank has, so that they must overlap
}

// of returns the means of the calls of a function.
func (s *scaling) of(function int, means [2]float64) [2]float64 {
	return [2]float64{means[durations] * s.durations[function], means[gaps] * s.gaps}
}

// scalingTo returns what makes the means of pairs, which are those of the calls of all ranks, those
// of a rank: the means of each function, and those of the gaps, are multiplied by what brings
// their sum into the range of that of the rank, and to where it runs as long as it did, if calls do
// not overlap. Counts has its calls of each pair.
func scalingTo(of *layout.RankTime, all []pair, counts map[pair]uint64, means [][2]float64,
	function func(pair) int) *scaling {
	sums, gap := make(map[int]float64), 0.0
	for i, p := range all {
		sums[function(p)] += float64(counts[p]) * means[i][durations]
		gap += float64(counts[p]) * means[i][gaps]
	}
	s := &scaling{durations: make(map[int]float64), gaps: 1}
	inCalls, outside := 0.0, into(of.Gaps, gap)
	for _, f := range of.Functions {
		if sum := sums[f.Function]; sum > 0 {
			s.durations[f.Function] = into(f.Sum, sum)
			inCalls += into(f.Sum, sum)
		}
	}
	span := into(of.Span, inCalls+outside)
	lacks := span - outside - inCalls
	room := math.Abs(limit(of.Gaps, lacks) - outside)
	for _, f := range of.Functions {
		if time, ok := s.durations[f.Function]; ok {
			room += math.Abs(limit(f.Sum, lacks) - time)
		}
	}
	if math.Abs(lacks) > room {
		s.overlap, outside = inCalls > span, span-inCalls
	} else if lacks != 0 { // but for rounding, these are the same: each gives the same part of what it can
		part := math.Abs(lacks) / room
		outside += part * (limit(of.Gaps, lacks) - outside)
		for _, f := range of.Functions {
			if time, ok := s.durations[f.Function]; ok {
				s.durations[f.Function] = time + part*(limit(f.Sum, lacks)-time)
			}
		}
	}
	if gap > 0 && outside >= 0 {
		s.gaps = outside / gap
	}
	for f := range s.durations {
		s.durations[f] /= sums[f]
	}
	return s
}

// limit returns the end of a range towards which a time moves that lacks so much.
func limit(r layout.Range, lacks float64) float64 {
	if lacks < 0 {
		return float64(r.Low)
	}
	return float64(r.High)
}

// into returns the time in a range that is nearest to another.
func into(r layout.Range, time float64) float64 {
	return max(float64(r.Low), min(time, float64(r.High)))
}
