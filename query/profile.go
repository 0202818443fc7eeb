package query

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// A Profile says how often ranks of a trace made which calls, and how long that took.
// Counts that exceed 2⁶⁴−1 are 2⁶⁴−1.
type Profile struct {
	Ranks int    `json:"ranks"` // that made calls
	Calls uint64 `json:"calls"` // of all of them

	// Functions are those with calls, the most frequent first, then by name.
	// Functions of one name, with other parameters, are one.
	Functions []FunctionProfile `json:"functions,omitzero"`

	// Signatures are those of [trace.Trace.Signature] with calls, in their order.
	Signatures []SignatureProfile `json:"signatures,omitzero"`

	// Shapes are those of the ranks, in their order: ranks of one shape make each
	// call equally often.
	Shapes []ShapeProfile `json:"shapes,omitzero"`

	// Timed says that there are durations: those of [Profile.SetTimes], or statistics of
	// all calls of the trace, which there are not if the profile is of some of its ranks.
	Timed bool `json:"timed"`
}

// Durations are how long calls take, in nanoseconds.
type Durations struct {
	Total     Nanoseconds `json:"-"`             // Sum, as a number to reckon with
	Sum       whole       `json:"time_ns"`       // empty if it is not known
	Error     Nanoseconds `json:"time_error_ns"` // how far Sum may be off: 0 if it is exact, +Inf if that is not known
	Mean      Nanoseconds `json:"mean_ns"`
	Deviation Nanoseconds `json:"standard_deviation_ns"`
	Min       int64       `json:"min_ns"`
	Max       int64       `json:"max_ns"`
	MinRank   int         `json:"rank_of_min"` // the lowest ranks that had them
	MaxRank   int         `json:"rank_of_max"`
}

// durationsOf returns what statistics tell, nil if they are of no calls.
func durationsOf(s *timing.Statistics) *Durations {
	if s == nil || s.Count == 0 {
		return nil
	}
	d := &Durations{
		Total: Nanoseconds(s.Sum()), Sum: whole(s.Integer().String()), Error: Nanoseconds(s.SumError()),
		Mean: Nanoseconds(s.Mean()), Deviation: Nanoseconds(s.StandardDeviation()),
		Min: s.Min, Max: s.Max, MinRank: int(s.MinRank), MaxRank: int(s.MaxRank),
	}
	unknown := Nanoseconds(math.Inf(1))
	if s.SumError() == math.MaxUint64 {
		d.Error = unknown
	}
	if s.Count == math.MaxInt64 {
		d.Total, d.Sum, d.Error, d.Mean, d.Deviation = unknown, "", unknown, unknown, unknown
	}
	return d
}

// Nanoseconds are a time; +Inf if it is not known, which is null in JSON.
type Nanoseconds float64

// MarshalJSON writes a whole number, or null if n is not known.
func (n Nanoseconds) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(n), 0) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, math.Round(float64(n)), 'f', 0, 64), nil
}

// A whole is a whole number in decimal digits, which a float64 may have to round; empty if it is
// not known, which is null in JSON.
type whole string

// MarshalJSON writes the digits.
func (w whole) MarshalJSON() ([]byte, error) { return []byte(cmp.Or(string(w), "null")), nil }

// UnmarshalJSON reads what MarshalJSON has written.
func (w *whole) UnmarshalJSON(text []byte) error {
	if *w = whole(text); *w == "null" {
		*w = ""
	}
	return nil
}

// A FunctionProfile is what ranks did in a function.
type FunctionProfile struct {
	Name  string     `json:"function"`
	Calls uint64     `json:"calls"`
	Ranks int        `json:"ranks"`          // that called it
	Time  *Durations `json:"time,omitempty"` // of its calls; nil if that is not known

	// OfRanks are the times that the trace keeps of each rank, which who needs them has to set
	// where there is no Time: see [Times.ByRank].
	OfRanks *FunctionRanks `json:"of_ranks,omitempty"`

	statistics *timing.Statistics // that the trace has of its calls, nil if there are none
}

// A SignatureProfile is what ranks did in calls that are alike.
type SignatureProfile struct {
	Signature int    `json:"signature"` // number in the trace
	Function  string `json:"function"`
	Call      string `json:"call,omitempty"` // in words, which who prints it has to set
	Calls     uint64 `json:"calls"`
	Ranks     int    `json:"ranks"`

	// Time is as in FunctionProfile. Where a rank has equal calls under several
	// signatures, the first has all of them, with their times, and the others none, as
	// [trace.Shape.Counts] and [trace.Trace.Summaries] say.
	Time *Durations `json:"time,omitempty"`

	statistics *timing.Statistics // of Time
	shapes     []int              // that make the call, of [Profile.Shapes]
}

// A ShapeProfile is what each rank of a shape did.
type ShapeProfile struct {
	Shape     int             `json:"shape"` // number in the trace
	Ranks     rankenc.Set     `json:"rank_set"`
	Calls     uint64          `json:"calls_each"`     // of each rank
	Functions []FunctionCount `json:"functions_each"` // of each rank, the most frequent first, then by name
}

// A FunctionCount is how often a function is called.
type FunctionCount struct {
	Name  string `json:"function"`
	Calls uint64 `json:"calls"`
}

// OpenProfile counts the calls of a trace. It reads the grammars of shapes, and of ranks
// only what [trace.Shape.Counts] does.
func OpenProfile(ctx context.Context, t *trace.Trace, o Options) (*Profile, error) {
	need.That(t != nil, "query: no trace")
	p, err := countCalls(ctx, t, o)
	if err != nil || p.Ranks < t.Content().Recorded.Len() {
		return p, err
	}
	durations, _, err := t.Summaries()
	if err != nil {
		return nil, err
	}
	p.addTimes(durations, t)
	return p, nil
}

// countCalls returns the profile of a trace without times.
func countCalls(ctx context.Context, t *trace.Trace, o Options) (*Profile, error) {
	merged := t
	p := profiler{trace: merged, counts: !o.Functions, shapes: make([]ShapeProfile, merged.Shapes()),
		signatures: make([][]trace.SignatureCount, merged.Shapes())}
	done := progress{tell: o.Progress}
	err := o.each(ctx, merged.Shapes(), func(number int) error {
		ranks := o.among(merged.ShapeRanks(number))
		if ranks.Len() == 0 {
			return nil
		}
		defer done.add(ranks.Len())
		return p.shape(ctx, number, ranks)
	})
	if err != nil {
		return nil, err
	}
	return p.sum(), nil
}

// A profiler holds what the shapes of a trace have.
type profiler struct {
	trace      *trace.Trace
	shapes     []ShapeProfile
	counts     bool                     // signatures are counted
	signatures [][]trace.SignatureCount // of each shape
}

// shape counts the calls of ranks of a shape.
func (p *profiler) shape(ctx context.Context, number int, ranks rankenc.Set) error {
	s, err := p.trace.Shape(number)
	if err != nil {
		return err
	}
	if p.counts {
		if p.signatures[number], err = s.Counts(ctx, ranks); err != nil {
			return err
		}
	}
	of := ShapeProfile{Shape: number, Ranks: ranks, Calls: s.Grammar.Len()}
	calls := make(map[string]uint64)
	for n, count := range s.Grammar.Occurrences() {
		calls[p.function(int(n))] += count // of a rank, which are at most 2⁶³
	}
	for name, n := range calls {
		of.Functions = append(of.Functions, FunctionCount{name, n})
	}
	slices.SortFunc(of.Functions, func(a, b FunctionCount) int { return byCalls(a.Calls, b.Calls, a.Name, b.Name) })
	p.shapes[number] = of
	return nil
}

// byCalls orders by number of calls, the largest first, and then by name.
func byCalls(a, b uint64, nameA, nameB string) int {
	return cmp.Or(cmp.Compare(b, a), cmp.Compare(nameA, nameB))
}

// function returns the name of the function of a signature.
func (p *profiler) function(signature int) string {
	return p.trace.Functions()[p.trace.FunctionOf(signature)].Name
}

// sum adds up what the shapes have.
func (p *profiler) sum() *Profile {
	var (
		result     Profile
		signatures = make([]SignatureProfile, p.trace.Signatures())
		functions  = make(map[string]*FunctionProfile)
	)
	for number, s := range p.shapes {
		ranks := s.Ranks.Len()
		if ranks == 0 {
			continue
		}
		result.Shapes = append(result.Shapes, s)
		result.Ranks += ranks
		result.Calls = addProduct(result.Calls, s.Calls, ranks)
		for _, n := range p.signatures[number] {
			of := &signatures[n.Signature]
			of.shapes = append(of.shapes, len(result.Shapes)-1)
			of.Calls = wire.AddSat(of.Calls, n.Calls)
			of.Ranks += n.Ranks
		}
		for _, f := range s.Functions {
			of := functions[f.Name]
			if of == nil {
				of = &FunctionProfile{Name: f.Name}
				functions[f.Name] = of
			}
			of.Calls = addProduct(of.Calls, f.Calls, ranks)
			of.Ranks += ranks
		}
	}
	for n, s := range signatures {
		if s.Calls > 0 {
			s.Signature, s.Function = n, p.function(n)
			result.Signatures = append(result.Signatures, s)
		}
	}
	for _, f := range functions {
		result.Functions = append(result.Functions, *f)
	}
	slices.SortFunc(result.Functions, func(a, b FunctionProfile) int {
		return byCalls(a.Calls, b.Calls, a.Name, b.Name)
	})
	return &result
}

// addProduct returns a sum to which n is added so many times.
func addProduct(sum, n uint64, times int) uint64 {
	return wire.AddSat(sum, wire.MulSat(n, uint64(times)))
}

// SetTimes sets the durations of the calls to those of times of the same ranks, as
// [Times.ReadSeries] reads them.
func (p *Profile) SetTimes(t *Times) {
	need.That(t != nil, "query: no times")
	p.addTimes(t.summaries[durations], t.trace)
}

// addTimes adds the durations of all calls of the trace: statistics or, if there are
// none, those of the values in histograms.
func (p *Profile) addTimes(durations timing.Summary, t *trace.Trace) {
	if layout.NoSummary(&durations) {
		return
	}
	p.Timed = true
	all := make([]timing.Statistics, t.Signatures())
	copy(all, durations.Statistics)
	if len(durations.Statistics) == 0 {
		for path, h := range durations.Histograms.All() {
			if int(path.Terminal) < len(all) {
				all[path.Terminal].Merge(h.Statistics())
			}
		}
	}
	for i := range p.Signatures {
		s := &p.Signatures[i]
		need.Index(s.Signature, len(all), "query: signature")
		s.Time, s.statistics = durationsOf(&all[s.Signature]), &all[s.Signature]
	}
	byName := make(map[string]*timing.Statistics)
	for n := range all {
		name := t.Functions()[t.FunctionOf(n)].Name
		if byName[name] == nil {
			byName[name] = new(timing.Statistics)
		}
		byName[name].Merge(&all[n])
	}
	for i := range p.Functions {
		f := &p.Functions[i]
		f.statistics = byName[f.Name]
		f.Time = durationsOf(f.statistics)
	}
}

// RanksInCalls returns the ranks with a call that had not returned when the recording ended, of one function
// or, if its name is empty, of any. It reads the grammars of shapes, no ranks.
func RanksInCalls(ctx context.Context, t *trace.Trace, function string, o Options) (rankenc.Set, error) {
	need.That(t != nil, "query: no trace")
	return ranksWhose(ctx, t, o, func(functions []*cst.Function) bool {
		return slices.ContainsFunc(functions, func(f *cst.Function) bool {
			return (function == "" || f.Name == function) && spec.OutcomeOf(f) == spec.InFlight
		})
	})
}

// RanksWithout returns the ranks that made calls but none of a function: without MPI_Finalize, those that did
// not come to it, or did not record it, but for ranks that use sessions alone and have ended some. It reads
// the grammars of shapes, no ranks.
func RanksWithout(ctx context.Context, t *trace.Trace, function string, o Options) (rankenc.Set, error) {
	need.That(t != nil, "query: no trace")
	return ranksWhose(ctx, t, o, func(functions []*cst.Function) bool {
		began, ended := false, false
		for _, f := range functions {
			role := spec.RoleOf(f.Name)
			if began = began || role.Begins == "world"; f.Name == function {
				return false
			}
			ended = ended || role.EndsSession && spec.OutcomeOf(f) == spec.Succeeded
		}
		return !spec.RoleOf(function).Ends || began || !ended
	})
}

// ranksWhose returns the ranks that made calls of functions for which is holds.
func ranksWhose(ctx context.Context, t *trace.Trace, o Options, is func([]*cst.Function) bool) (rankenc.Set, error) {
	chosen := make([]rankenc.Set, t.Shapes())
	err := o.each(ctx, t.Shapes(), func(number int) error {
		if o.among(t.ShapeRanks(number)).Len() == 0 {
			return nil
		}
		s, err := t.Shape(number)
		if err != nil {
			return err
		}
		var functions []*cst.Function
		for _, n := range s.Grammar.FirstUse() {
			functions = append(functions, &t.Functions()[t.FunctionOf(int(n))])
		}
		if is(functions) {
			chosen[number] = o.among(s.Ranks)
		}
		return nil
	})
	return rankenc.Set{}.Union(chosen...), err
}
