package query

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// A Window is what a rank does between two times.
type Window struct {
	From, To   int64
	First, End uint64  // the positions of the calls are First ≤ p < End
	Usage      []Usage // of calls, in the order of signatures

	// Covered is how long the rank is in at least one call: less than the time in all of
	// them where they overlap. It is +Inf if that is not known: of an estimate, and where
	// a call began before some thousands of others that returned first.
	Covered float64
}

// A Usage is how often calls are made that are of one signature, and how much time
// goes by in them.
type Usage struct {
	// of the trace, see [trace.Trace.Signature]: of equal calls under several, the first
	Signature int         `json:"signature"`
	Call      string      `json:"call,omitempty"` // in words, which who prints it has to set
	Calls     uint64      `json:"calls"`
	Time      Nanoseconds `json:"time_ns"` // a whole number, exact below 2⁵³

	ranks []int // that make them, in an [Activity]
}

// Total returns how many calls there are, and how much time goes by in them.
func (w *Window) Total() (calls uint64, time Nanoseconds) {
	for _, u := range w.Usage {
		calls, time = wire.AddSat(calls, u.Calls), time+u.Time
	}
	return calls, time
}

// Between returns what the rank does between two times, from ≤ to: the calls there, as
// [Overlaps] has it, and as much of their time as lies in between. In an estimate it
// takes as long as reading the grammar; otherwise it decodes the blocks of the calls.
func (c *Clock) Between(from, to int64) (*Window, error) {
	w := &Window{From: from, To: to, Covered: math.Inf(1)}
	if c.source == Series {
		w.Covered = 0
	}
	if c.clock == nil {
		return w, nil
	}
	first, end, err := c.Positions(from, to)
	if err != nil {
		return nil, err
	}
	w.First, w.End = first, end
	if first == end {
		return w, nil
	}
	found, err := c.clock.usage(w)
	if err != nil {
		return nil, err
	}
	w.add(found)
	return w, nil
}

// within returns how much of the time of a call lies in w.
func (w *Window) within(start, duration int64) Nanoseconds {
	return Nanoseconds(max(0, elapsed(max(start, w.From), min(wire.AddTimes(start, duration), w.To))))
}

// usage cuts what overlaps the ends of w off the first call and the last.
func (e *estimate) usage(w *Window) (map[sequitur.Symbol]Usage, error) {
	found := make(map[sequitur.Symbol]Usage) // with ticks
	counts := countPairs(e.pairs.grammar, w.End)
	for p, n := range countPairs(e.pairs.grammar, w.First) {
		counts[p] -= n
	}
	for _, p := range slices.SortedFunc(maps.Keys(counts), pair.compare) { // sums are rounded
		if n := counts[p]; n > 0 {
			u := found[e.numbers[p.terminal]]
			u.Calls += n
			u.Time += Nanoseconds(float64(n) * float64(e.costs.of(p).duration))
			found[e.numbers[p.terminal]] = u
		}
	}
	for n, u := range found {
		u.Time = Nanoseconds(math.Round(math.Ldexp(float64(u.Time), -e.shift)))
		found[n] = u
	}
	for _, position := range slices.Compact([]uint64{w.First, w.End - 1}) {
		p, before := e.pairs.at(position)
		c := e.costs.of(p)
		if start, duration := e.place(c, before+c.weight()); start < maxTime { // as clocks have it, later ones too
			u := found[e.numbers[p.terminal]]
			u.Time = max(0, u.Time-(Nanoseconds(duration)-w.within(start, duration)))
			found[e.numbers[p.terminal]] = u
		}
	}
	return found, nil
}

// usage has equal calls under the signature that is the first on the rank: of calls whose
// arguments vary from call to call, as the first of them.
func (e *rankEstimate) usage(w *Window) (map[sequitur.Symbol]Usage, error) {
	all, err := e.estimate.usage(w)
	if err != nil {
		return nil, err
	}
	found := make(map[sequitur.Symbol]Usage, len(all))
	for position, x := range e.pairs.grammar.FirstUses() {
		if of, ok := all[e.numbers[x]]; ok {
			n := sequitur.Symbol(e.rank.Signature(e.rank.Walk(position).Next().Symbol))
			u := found[n]
			found[n] = Usage{Calls: u.Calls + of.Calls, Time: u.Time + of.Time}
		}
	}
	return found, nil
}

func (s *seriesClock) usage(w *Window) (map[sequitur.Symbol]Usage, error) {
	found := make(map[sequitur.Symbol]Usage)
	all := cover{most: maxSpans}
	err := s.addUsage(w, w.First, w.End, found, &all)
	w.Covered = all.total()
	return found, err
}

// addUsage adds the calls of the window, first ≤ n < end, that are those of the clock.
func (s *seriesClock) addUsage(w *Window, first, end uint64, found map[sequitur.Symbol]Usage, all *cover) error {
	var err error
	for _, t := range s.times(first, end, &err) {
		if Overlaps(t.Start, t.Duration, w.From, w.To) {
			n := sequitur.Symbol(s.rank.Signature(t.Terminal))
			u := found[n]
			u.Calls++
			u.Time += w.within(t.Start, t.Duration)
			found[n] = u
			all.add(max(t.Start, w.From), min(wire.AddTimes(t.Start, t.Duration), w.To))
		}
	}
	return err
}

// maxSpans is how many spans a cover keeps.
const maxSpans = 4096

// A cover is how much time calls take together that may overlap. They are added in the
// order in which they end, about: where it finds that they go farther back than the spans
// it keeps, the sum is not known.
type cover struct {
	spans []callSpan // apart, in order
	sum   float64
	gone  int64 // end of the last that is not kept
	some  bool  // whether there are such
	lost  bool
	most  int // spans that are kept
}

type callSpan struct{ start, end int64 }

func (s callSpan) length() float64 { return elapsed(s.start, s.end) }

// add adds a call.
func (c *cover) add(start, end int64) {
	if end <= start {
		return
	}
	s := callSpan{start, end}
	for n := len(c.spans) - 1; n >= 0 && c.spans[n].end >= s.start; n-- {
		s = callSpan{min(s.start, c.spans[n].start), max(s.end, c.spans[n].end)}
		c.sum -= c.spans[n].length()
		c.spans = c.spans[:n]
	}
	c.sum += s.length()
	c.lost = c.lost || c.some && s.start < c.gone
	if c.spans = append(c.spans, s); len(c.spans) > c.most {
		c.gone, c.some = c.spans[c.most/2].end, true
		c.spans = append(c.spans[:0], c.spans[c.most/2+1:]...)
	}
}

// total returns the sum, +Inf if it is not known.
func (c *cover) total() float64 {
	if c.lost {
		return math.Inf(1)
	}
	return c.sum
}

// A RankPlace is where a rank is at a time.
type RankPlace struct {
	Rank   int    `json:"rank"`
	Source Source `json:"source"` // of the clock; None if there are no times, and then there is no place
	Len    uint64 `json:"calls"`  // of the rank

	Guarantee timing.Guarantee `json:"relative_error"` // as that of the clock

	// StartError is how many nanoseconds the start may be off at most, if the Source is Series, as
	// that of [Skew].
	StartError *int64 `json:"start_error_ns,omitzero"`

	Place
	Call trace.Call `json:"-"` // at the position, with its times, if there is one
}

// At returns where each rank of the options is at a time, which like those of the places
// counts from [Times.Begin], in ascending order of ranks: see [Clock.At]. Ranks without calls are left out.
// Ranks whose times of every call are lost count as unreadable: where they are is an
// estimate, and they are left out if the trace has nothing else. The error is [ErrNoTimes] if there are no
// times of any rank that has calls.
func (t *Times) At(ctx context.Context, time int64, o Options) ([]RankPlace, error) {
	begin, err := t.Begin()
	if err != nil {
		return nil, err
	}
	ranks, err := o.ranks(t.trace, rankMemory)
	if err != nil {
		return nil, err
	}
	places := make([]RankPlace, len(ranks))
	err = t.eachClock(ctx, ranks, o, func(i int, c *Clock) error {
		place, err := c.At(wire.AddTimes(begin, time))
		if err != nil {
			return err
		}
		p := RankPlace{Rank: ranks[i], Source: c.Source(), Guarantee: c.Guarantee(), Len: c.rank.Len(), Place: place}
		if p.Source != None && p.Position < p.Len {
			p.Call = c.rank.CallAt(p.Position)
			p.Call.Timed, p.Call.Start, p.Call.Duration = true, p.Start, p.Duration
		}
		p.Start = wire.SubTimes(p.Start, begin)
		places[i] = p
		return nil
	})
	if err != nil {
		return nil, err
	}
	places = slices.DeleteFunc(places, func(p RankPlace) bool { return p.Len == 0 })
	if len(places) > 0 && !slices.ContainsFunc(places, func(p RankPlace) bool { return p.Source != None }) {
		return nil, ErrNoTimes
	}
	t.setStartErrors(places, begin, wire.AddTimes(begin, time))
	return places, nil
}

// setStartErrors sets how far the starts of places at a time may be off, which count from begin.
func (t *Times) setStartErrors(places []RankPlace, begin, time int64) {
	from, to := time, time
	for _, p := range places {
		if p.Source == Series {
			start := wire.AddTimes(begin, p.Start)
			from, to = min(from, start), max(to, start)
		}
	}
	known := make(map[timing.Guarantee]*int64)
	for i := range places {
		p := &places[i]
		if p.Source != Series {
			continue
		}
		if _, ok := known[p.Guarantee]; !ok {
			known[p.Guarantee] = t.knownStartError(p.Guarantee, from, to)
		}
		p.StartError = known[p.Guarantee]
	}
}

// eachClock calls do with the clocks of ranks, several at once, by their place in the
// list.
func (t *Times) eachClock(ctx context.Context, ranks []int, o Options, do func(i int, c *Clock) error) error {
	done := progress{tell: o.Progress}
	return o.each(ctx, len(ranks), func(i int) error {
		defer done.add(1)
		r, err := t.trace.Folded(ranks[i], nil)
		if err != nil {
			return err
		}
		c, err := t.Clock(r)
		if err != nil {
			return err
		}
		return do(i, c)
	})
}

// An Activity is what ranks do between two times, which count from [Times.Begin].
type Activity struct {
	From  int64  `json:"from_ns"`
	To    *int64 `json:"to_ns"`    // nil for the end
	Begin int64  `json:"begin_ns"` // [Times.Begin], by the clock of the trace
	// the least exact of those of the ranks; None if some have no times, which are left out
	Source Source      `json:"source"`
	Calls  uint64      `json:"calls"`   // of all ranks
	Time   Nanoseconds `json:"time_ns"` // the same, in calls

	// Guarantee is the weakest of those of the ranks, see [Clock.Guarantee]: of a call that
	// lies over From or To, too, the end may be off by that part of all its duration.
	Guarantee timing.Guarantee `json:"relative_error"`

	// StartError is how many nanoseconds each start may be off at most, if the Source is Series, as
	// that of [Skew].
	StartError *int64 `json:"start_error_ns,omitzero"`

	Ranks      []RankActivity `json:"by_rank,omitzero"`
	Signatures []Usage        `json:"signatures,omitzero"` // in their order
	// those of most time first, then of most calls, then by name
	Functions []FunctionUsage `json:"functions,omitzero"`

	Present int         `json:"ranks"`   // how many of Ranks were there, or are expected to
	Span    Nanoseconds `json:"span_ns"` // of all of Ranks; +Inf if one ends later than times go
}

// A RankActivity is what a rank does between two times.
type RankActivity struct {
	Rank  int         `json:"rank"`
	First uint64      `json:"first"` // the positions of the calls are First ≤ p < End
	End   uint64      `json:"end"`
	Calls uint64      `json:"calls"`
	Time  Nanoseconds `json:"time_ns"` // in calls

	// Span is the time from its first call to its last, as much of that as lies in
	// between; +Inf if the last ends later than times go.
	Span Nanoseconds `json:"span_ns"`

	// Outside is how much of the Span the rank is in no call: +Inf if that is not known,
	// see [Window.Covered].
	Outside Nanoseconds `json:"outside_ns"`
}

// A FunctionUsage is how often a function is called, by how many ranks, and how much time
// goes by in it. Functions of one name are one.
type FunctionUsage struct {
	Name  string      `json:"function"`
	Calls uint64      `json:"calls"`
	Ranks int         `json:"ranks"`
	Time  Nanoseconds `json:"time_ns"`

	of rankenc.Set // the Ranks of a [SiteUsage]
}

// A SiteUsage is how often a function is called from one place of the program, by how many ranks, and how much
// time goes by in it.
type SiteUsage struct {
	Site string `json:"site"` // as that of a [SiteProfile]
	FunctionUsage
}

// BySite returns the activity in the places where calls were made, of a trace that says it: those of most time first,
// then of most calls.
func (a *Activity) BySite(t *trace.Trace) []SiteUsage {
	need.That(t != nil, "query: no trace")
	names := SitesOf(t)
	common := names.common()
	type key struct{ site, function string }
	sites := make(map[key]*SiteUsage)
	for _, u := range a.Signatures {
		signature := t.Signature(u.Signature)
		ranks := rankenc.SetOf(u.ranks...)
		k := key{names.siteOf(signature, []int{ranks.At(0), ranks.At(ranks.Len() - 1)}, common),
			signature.Function.Name}
		if sites[k] == nil {
			sites[k] = &SiteUsage{Site: k.site, FunctionUsage: FunctionUsage{Name: k.function}}
		}
		of := sites[k]
		of.Calls, of.Time = wire.AddSat(of.Calls, u.Calls), of.Time+u.Time
		of.of = of.of.Union(ranks)
		of.Ranks = of.of.Len()
	}
	var list []SiteUsage
	for _, of := range sites {
		list = append(list, *of)
	}
	slices.SortFunc(list, func(f, g SiteUsage) int {
		return cmp.Or(cmp.Compare(g.Time, f.Time), cmp.Compare(g.Calls, f.Calls), cmp.Compare(f.Name, g.Name),
			cmp.Compare(f.Site, g.Site))
	})
	return list
}

// Activity returns what the ranks of the options do between two times, from ≤ to, of which
// math.MaxInt64 is the end, see [Clock.Between], or in the Region of the options, unless that is nil or of times. The error is [ErrNoTimes] if those of them that make calls
// have no times, unless there is a Region that is not of times, and [ErrNoSeries] if the options ask for the times of every call, and no rank has them.
func (t *Times) Activity(ctx context.Context, from, to int64, o Options) (*Activity, error) {
	if _, series, err := t.Known(); err != nil {
		return nil, err
	} else if o.Series && series.Len() == 0 {
		return nil, ErrNoSeries
	}
	a, err := t.activity(ctx, from, to, o)
	if err != nil || a.Source != None || o.Region != nil && o.Region.Kind != TimesRegion {
		return a, err
	}
	ranks, err := o.ranks(t.trace, rankMemory)
	if err != nil {
		return nil, err
	}
	if len(ranks) > 0 {
		return nil, ErrNoTimes
	}
	return a, nil
}

// activity is Activity, in which ranks without times do nothing.
func (t *Times) activity(ctx context.Context, from, to int64, o Options) (*Activity, error) {
	first, err := t.Begin()
	if err != nil {
		return nil, err
	}
	var (
		mu         sync.Mutex
		a          = &Activity{From: from, Begin: first, Source: Series}
		signatures = make(map[int]Usage)
		functions  = make(map[string]*FunctionUsage)
	)
	ranks, err := o.ranks(t.trace, fewPerRank)
	if err != nil {
		return nil, err
	}
	from = wire.AddTimes(first, from)
	if to < maxTime {
		a.To = new(int64)
		*a.To = to
		to = wire.AddTimes(first, to)
	}
	if o.Region != nil && o.Region.Kind == TimesRegion {
		from, to = o.Region.Between()
	}
	err = t.eachClock(ctx, ranks, o, func(i int, c *Clock) error {
		w, spent, err := c.within(o.Region, from, to)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		if a.Source = min(a.Source, c.Source()); c.Source() == None &&
			(o.Region == nil || o.Region.Kind == TimesRegion) {
			return nil
		}
		a.Guarantee = max(a.Guarantee, c.Guarantee())
		r := RankActivity{Rank: ranks[i], First: w.First, End: w.End, Span: spent}
		r.Calls, r.Time = w.Total()
		if r.Outside = Nanoseconds(math.Inf(1)); !math.IsInf(w.Covered, 1) {
			r.Outside = max(0, r.Span-Nanoseconds(w.Covered))
		}
		a.Ranks = append(a.Ranks, r)
		own := make(map[string]bool)
		for _, u := range w.Usage {
			sum := signatures[u.Signature]
			signatures[u.Signature] = Usage{Signature: u.Signature, Calls: wire.AddSat(sum.Calls, u.Calls),
				Time: sum.Time + u.Time, ranks: append(sum.ranks, r.Rank)}
			name := t.trace.Functions()[t.trace.FunctionOf(u.Signature)].Name
			if functions[name] == nil {
				functions[name] = &FunctionUsage{Name: name}
			}
			functions[name].add(u, !own[name])
			own[name] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if a.Source == Series {
		a.StartError = t.knownStartError(a.Guarantee, from, to)
	}
	a.finish(signatures, functions)
	return a, nil
}

// within returns what the rank does in a region, and how long it is there: between two times, if that is nil or of
// times.
func (c *Clock) within(g *Region, from, to int64) (*Window, Nanoseconds, error) {
	if g == nil || g.Kind == TimesRegion {
		w, err := c.Between(from, to)
		if err != nil {
			return nil, 0, err
		}
		begin, end, err := c.Span()
		return w, Nanoseconds(span(from, to, begin, end)), err
	}
	all := &Window{From: math.MinInt64, To: math.MaxInt64, Covered: math.Inf(1)}
	spans := g.Spans(c.rank.Number())
	if len(spans) > 0 {
		all.First, all.End = spans[0].First, spans[len(spans)-1].End
	}
	found := make(map[sequitur.Symbol]Usage)
	switch {
	case c.source == Series:
		spent, err := c.addSeries(all, g, found)
		all.add(found)
		return all, spent, err
	case c.clock == nil: // it is known what calls there are
		for x, n := range c.rank.Within(spans) {
			signature := sequitur.Symbol(c.rank.Signature(x))
			found[signature] = Usage{Calls: found[signature].Calls + n}
		}
	default:
		for _, s := range spans {
			w := &Window{From: all.From, To: all.To, First: s.First, End: s.End}
			in, err := c.clock.usage(w)
			if err != nil {
				return nil, 0, err
			}
			for n, u := range in {
				of := found[n]
				found[n] = Usage{Calls: of.Calls + u.Calls, Time: of.Time + u.Time}
			}
		}
	}
	all.add(found)
	spent, err := c.TimeIn(g)
	return all, spent, err
}

// add adds what calls there are.
func (w *Window) add(found map[sequitur.Symbol]Usage) {
	for _, n := range slices.Sorted(maps.Keys(found)) {
		u := found[n]
		u.Signature = int(n)
		w.Usage = append(w.Usage, u)
	}
}

// span returns how much of the time from begin to end lies between two times.
func span(from, to, begin, end int64) float64 {
	if end == maxTime && to == maxTime {
		return math.Inf(1)
	}
	return max(0, elapsed(max(from, begin), min(to, end)))
}

// add adds calls of a rank, which may have been counted.
func (f *FunctionUsage) add(u Usage, newRank bool) {
	f.Calls, f.Time = wire.AddSat(f.Calls, u.Calls), f.Time+u.Time
	if newRank {
		f.Ranks++
	}
}

// finish puts everything in order.
func (a *Activity) finish(signatures map[int]Usage, functions map[string]*FunctionUsage) {
	if len(a.Ranks) == 0 {
		a.Source = None
	}
	slices.SortFunc(a.Ranks, func(r, s RankActivity) int { return r.Rank - s.Rank })
	for _, r := range a.Ranks {
		a.Calls, a.Time = wire.AddSat(a.Calls, r.Calls), a.Time+r.Time
		if a.Span += r.Span; r.Span > 0 || r.Calls > 0 {
			a.Present++
		}
	}
	for _, n := range slices.Sorted(maps.Keys(signatures)) {
		a.Signatures = append(a.Signatures, signatures[n])
	}
	for _, f := range functions {
		a.Functions = append(a.Functions, *f)
	}
	slices.SortFunc(a.Functions, func(f, g FunctionUsage) int {
		return cmp.Or(cmp.Compare(g.Time, f.Time), cmp.Compare(g.Calls, f.Calls), cmp.Compare(f.Name, g.Name))
	})
}
