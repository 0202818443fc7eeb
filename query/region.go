package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// A RegionKind says how a Region is chosen.
type RegionKind string

// PhaseRegion is an outermost loop of the program, LoopRegion one in a phase, NamedRegion one to which the program
// gives a name, by MPI_Pcontrol, Caliper or NVTX, or that an archive of OTF2 has, and TimesRegion the calls that a time of the run overlaps.
const (
	PhaseRegion RegionKind = "phase"
	LoopRegion  RegionKind = "loop"
	NamedRegion RegionKind = "named"
	TimesRegion RegionKind = "times"
)

// A Region is the part of each rank's calls that a question is about. A rank is in it from the end of the call before
// each of its spans to the end of the last call of that.
type Region struct {
	Kind   RegionKind `json:"kind"`
	Number int        `json:"number,omitzero"` // of a phase or a loop, from 1 on

	// Name is that of a NamedRegion, or the function and line of a loop, such as solve() solver.c:120: empty
	// if the trace does not have call sites.
	Name string `json:"name,omitempty"`

	Ranks     rankenc.Set     `json:"rank_set"`  // that have it
	MinTrips  uint64          `json:"min_trips"` // how often a loop goes round on these, or they come to a NamedRegion
	MaxTrips  uint64          `json:"max_trips"`
	Calls     uint64          `json:"calls"`              // of all ranks
	Functions []FunctionCount `json:"functions,omitzero"` // the most frequent first; not of TimesRegion
	Rank      int             `json:"rank"`               // the first of Ranks
	Position  uint64          `json:"position"`           // where it begins on that
	Depth     int             `json:"depth,omitzero"`     // of a Loop, 1 if it is in no other loop than its phase

	trace    *trace.Trace
	byShape  map[int][]trace.Span // where all ranks of a shape have the same
	byRank   map[int][]trace.Span
	from, to int64 // of Times, by the clock of the trace
	parts    int   // spans in these maps
	loops    []*loop
	own      *Region // of a NamedRegion: what is in no region in it
}

// maxParts is how many spans the shapes or ranks of a Region may have: some 16 MB.
const maxParts = 1 << 20

// Spans returns the calls of a rank that are in g, in ascending order.
func (g *Region) Spans(rank int) []trace.Span {
	need.That(g != nil && g.trace != nil, "query: no region")
	if spans, ok := g.byRank[rank]; ok {
		return spans
	}
	if shape, ok := g.trace.ShapeOf(rank); ok && g.Ranks.Contains(rank) {
		return g.byShape[shape]
	}
	return nil
}

// Contains reports whether the call of a rank at a position is in g.
func (g *Region) Contains(rank int, position uint64) bool {
	spans := g.Spans(rank)
	i, found := slices.BinarySearchFunc(spans, position, func(s trace.Span, p uint64) int {
		return cmp.Compare(s.First, p)
	})
	return found || i > 0 && position < spans[i-1].End
}

// Between returns the times between which what happens is in g, of TimesRegion, by the clock of the trace: −2⁶³ and
// 2⁶³−1 if all of its calls are.
func (g *Region) Between() (from, to int64) {
	if g == nil || g.Kind != TimesRegion {
		return math.MinInt64, math.MaxInt64
	}
	return g.from, g.to
}

// String returns the kind with the number or name, such as phase 2, solve() solver.c:120.
func (g *Region) String() string {
	need.That(g != nil, "query: no region")
	name := string(g.Kind)
	switch {
	case g.Kind == NamedRegion:
		name = "region"
	case g.Number > 0:
		name += " " + strconv.Itoa(g.Number)
	}
	if g.Name != "" {
		name += ", " + g.Name
	}
	return name
}

// finish puts functions in order.
func (g *Region) finish() {
	slices.SortFunc(g.Functions, func(a, b FunctionCount) int { return byCalls(a.Calls, b.Calls, a.Name, b.Name) })
}

// Regions returns the regions of a trace in the order of the program: phases, each before the loops in it, and then
// the named ones in the order of their names. With [ErrUnphased] it returns only these. Loops whose calls are also
// elsewhere in their phases are left out, and regions that begin too often to be held.
//
// It costs what comparing the grammars of shapes does and, for a loop, to find each place where it begins.
func Regions(ctx context.Context, t *trace.Trace) ([]*Region, error) {
	need.That(t != nil, "query: no trace")
	named, err := namedRegions(ctx, t)
	if err != nil {
		return nil, err
	}
	phases, err := findPhases(ctx, t)
	if err != nil {
		if errors.Is(err, ErrUnphased) {
			return named, err
		}
		return nil, err
	}
	var list []*Region
	loops := 0
	for i, p := range phases {
		p.Number = i + 1
		list = append(list, p)
		for _, l := range p.loops {
			loops++
			g, err := l.region(ctx, p)
			if err != nil {
				return nil, err
			}
			if g.Number = loops; g.parts > 0 && g.parts <= maxParts {
				list = append(list, g)
			}
		}
		p.loops = nil
	}
	return append(list, named...), nil
}

// A Selection chooses a Region: one of its fields.
type Selection struct {
	Phase string // the number of a phase, or the name of a phase, of its function, or of a NamedRegion
	Loop  int    // the number of a loop, from 1 on

	// Calls that From ≤ time < To overlaps, which count from [Times.Begin]. Between has to be set.
	Between  bool
	From, To int64 // To is 2⁶³−1 for the end
}

// OpenRegion returns the region that a selection chooses, nil if it chooses nothing. The error says which there are if
// there is none, or that times are not known.
func OpenRegion(ctx context.Context, t *trace.Trace, s Selection) (*Region, error) {
	need.That(t != nil, "query: no trace")
	switch {
	case s.Between:
		return regionBetween(ctx, t, s)
	case s.Phase == "" && s.Loop == 0:
		return nil, nil
	}
	all, unphased := Regions(ctx, t)
	if unphased != nil && !errors.Is(unphased, ErrUnphased) {
		return nil, unphased
	}
	number, err := strconv.Atoi(s.Phase)
	phases, loops := 0, 0
	for _, g := range all {
		switch g.Kind {
		case PhaseRegion:
			if phases++; err == nil && g.Number == number && s.Loop == 0 {
				return g, nil
			}
		case LoopRegion:
			if loops = g.Number; s.Loop == g.Number {
				return g, nil
			}
		}
	}
	if s.Loop != 0 {
		return nil, cmp.Or(unphased, fmt.Errorf("there is no loop %d: the trace has %s", s.Loop,
			numbersOf(loops, "loop")))
	}
	for _, matches := range []func(g *Region) bool{
		func(g *Region) bool { return g.Kind == NamedRegion && g.Name == s.Phase },
		func(g *Region) bool { return g.Kind == PhaseRegion && g.Name == s.Phase },
		func(g *Region) bool { return g.Kind == PhaseRegion && strings.HasPrefix(g.Name, s.Phase+"() ") },
	} {
		if i := slices.IndexFunc(all, matches); i >= 0 {
			return all[i], nil
		}
	}
	if unphased != nil {
		return nil, unphased
	}
	var names []string
	for _, g := range all {
		if g.Kind == NamedRegion {
			names = append(names, strconv.Quote(g.Name))
		}
	}
	what := numbersOf(phases, "phase")
	if len(names) > 0 {
		what += ", and the regions " + strings.Join(names, ", ")
	}
	return nil, fmt.Errorf("there is no phase %s: the trace has %s", s.Phase, what)
}

// numbersOf returns which numbers there are.
func numbersOf(n int, what string) string {
	switch n {
	case 0:
		return "no " + what + "s"
	case 1:
		return what + " 1"
	}
	return fmt.Sprintf("%ss 1 to %d", what, n)
}

// regionBetween returns the calls that a time overlaps.
func regionBetween(ctx context.Context, t *trace.Trace, s Selection) (*Region, error) {
	times, err := OpenTimes(t)
	if err != nil {
		return nil, err
	}
	begin, err := times.Begin()
	if err != nil {
		return nil, err
	}
	g := &Region{Kind: TimesRegion, trace: t, byRank: make(map[int][]trace.Span), from: wire.AddTimes(begin, s.From),
		to: math.MaxInt64, MinTrips: 1, MaxTrips: 1}
	if s.To < maxTime {
		g.to = wire.AddTimes(begin, s.To)
	}
	var o Options
	ranks, err := o.ranks(t, fewPerRank)
	if err != nil {
		return nil, err
	}
	spans, timed := make([]trace.Span, len(ranks)), make([]bool, len(ranks))
	err = times.eachClock(ctx, ranks, o, func(i int, c *Clock) (err error) {
		timed[i] = c.Source() != None
		spans[i].First, spans[i].End, err = c.Positions(g.from, g.to)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(ranks) > 0 && !slices.Contains(timed, true) {
		return nil, ErrNoTimes
	}
	var some rankenc.SetBuilder
	for i, rank := range ranks {
		if n := spans[i].End - spans[i].First; n > 0 {
			g.byRank[rank] = spans[i : i+1]
			some.Add(rank)
			g.Calls = wire.AddSat(g.Calls, n)
		}
	}
	if g.Ranks = some.Finish(); g.Ranks.Len() > 0 {
		g.Rank = g.Ranks.At(0)
		g.Position = g.byRank[g.Rank][0].First
	}
	return g, nil
}

// cutOf returns the grammar of spans of what g generates.
func cutOf(g *sequitur.Grammar, spans []trace.Span) (*sequitur.Grammar, error) {
	parts := make([][2]uint64, len(spans))
	for i, s := range spans {
		parts[i] = [2]uint64{s.First, s.End}
	}
	return g.Cut(parts...)
}

// A RegionPart is what some ranks of a shape call in a region, as signatures of the trace.
type RegionPart struct {
	Ranks   rankenc.Set
	Grammar *sequitur.Grammar
}

// Parts returns what the ranks of a shape call in g, those with equal spans together: nothing if none is in it.
func (g *Region) Parts(number int) ([]RegionPart, error) {
	need.That(g != nil && g.trace != nil, "query: no region")
	s, err := g.trace.Shape(number)
	if err != nil {
		return nil, err
	}
	var parts []RegionPart
	add := func(ranks rankenc.Set, spans []trace.Span) error {
		if ranks.Len() == 0 || len(spans) == 0 {
			return nil
		}
		cut, err := cutOf(s.Grammar, spans)
		parts = append(parts, RegionPart{ranks, cut})
		return err
	}
	if len(g.byRank) == 0 {
		return parts, add(s.Ranks, g.byShape[number])
	}
	groups := make(map[string]*rankenc.SetBuilder)
	var order []string
	for _, rank := range s.Ranks.All() {
		key := fmt.Sprint(g.Spans(rank))
		if groups[key] == nil {
			groups[key], order = new(rankenc.SetBuilder), append(order, key)
		}
		groups[key].Add(rank)
	}
	for _, key := range order {
		ranks := groups[key].Finish()
		if ranks.Len() == 0 {
			continue
		}
		if err := add(ranks, g.Spans(ranks.At(0))); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// forward returns a function that is as [Clock.Time], and decodes no block twice for positions in ascending order.
func (c *Clock) forward() func(position uint64) (start, duration int64, err error) {
	if c.source != Series {
		return c.Time
	}
	var (
		times = c.rank.ReadTimes(0)
		next  uint64
		at    timing.Time
	)
	return func(position uint64) (start, duration int64, err error) {
		if position >= next {
			times.Seek(position)
			at, err = times.Next()
			next = position + 1
		}
		return at.Start, at.Duration, err
	}
}

// seriesOf reads the times of the calls of a rank that are in a region, or of all if that is nil, with their terminals
// and positions, and decodes no block twice. First says that a call is the first of a span.
func seriesOf(r *trace.Rank, g *Region,
	do func(terminal sequitur.Symbol, position uint64, at timing.Time, first bool) error) error {
	o := Options{Region: g}
	return seriesIn(r, o.spans(r), do)
}

// seriesIn is seriesOf, of calls in some spans.
func seriesIn(r *trace.Rank, spans []trace.Span,
	do func(terminal sequitur.Symbol, position uint64, at timing.Time, first bool) error) error {
	times := r.ReadTimes(0)
	for _, s := range spans {
		times.Seek(s.First)
		walk, run := r.Walk(s.First), sequitur.Run{}
		for position := s.First; position < s.End; position++ {
			at, err := times.Next()
			if err == io.EOF { // it has no times
				return nil
			}
			if err != nil {
				return err
			}
			if run.Count == 0 {
				run = walk.Next()
			}
			run.Count--
			if err := do(run.Symbol, position, at, position == s.First); err != nil {
				return err
			}
		}
	}
	return nil
}
