package query

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/timing"
)

// A RankPlace is where a rank is at a time.
type RankPlace struct {
	Rank   int    `json:"rank"`
	Source Source `json:"source"` // of the clock; None if there are no times, and then there is no place
	Len    uint64 `json:"calls"`  // of the rank

	Guarantee timing.Guarantee `json:"relative_error"` // as that of the clock

	Place
	Call reprise.Call `json:"-"` // at the position, with its times, if there is one
}

// At returns where each rank of the options is at a time, which like those of the places
// counts from [Times.Begin], in ascending order of ranks: see [Clock.At]. Ranks without calls are left out.
// Ranks whose times of every call are lost count as unreadable: where they are is an
// estimate, and they are left out if the trace has nothing else.
func (t *Times) At(ctx context.Context, time int64, o Options) ([]RankPlace, error) {
	begin, err := t.Begin()
	if err != nil {
		return nil, err
	}
	ranks := o.ranks(t.trace)
	places := make([]RankPlace, len(ranks))
	err = t.eachClock(ctx, ranks, o, func(i int, c *Clock) error {
		place, err := c.At(addTimes(begin, time))
		if err != nil {
			return err
		}
		p := RankPlace{Rank: ranks[i], Source: c.Source(), Guarantee: c.Guarantee(), Len: c.Len(), Place: place}
		if p.Source != None && p.Position < p.Len {
			p.Call = c.Rank().Call(c.Rank().Walk(p.Position).Next().Symbol)
			p.Call.Timed, p.Call.Start, p.Call.Duration = true, p.Start, p.Duration
		}
		p.Start -= begin
		places[i] = p
		return nil
	})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(places, func(p RankPlace) bool { return p.Len == 0 }), nil
}

// eachClock calls do with the clocks of ranks, several at once, by their place in the
// list.
func (t *Times) eachClock(ctx context.Context, ranks []int, o Options, do func(i int, c *Clock) error) error {
	var lost failures
	done := progress{tell: o.Progress}
	err := o.each(ctx, len(ranks), func(i int) error {
		if err := t.withClock(ranks[i], func(c *Clock) error { return do(i, c) }); err != nil {
			lost.add(ranks[i], err)
		}
		done.add(1)
		return nil
	})
	if err == nil {
		err = o.tell(&lost)
	}
	return err
}

// withClock calls do with the clock of a rank: with an estimate if the times of every
// call are lost, which is an error then.
func (t *Times) withClock(rank int, do func(*Clock) error) error {
	r, err := t.trace.Rank(rank)
	if err != nil {
		return err
	}
	lost := r.LostTimes()
	c, err := t.Clock(r)
	if err == nil && (lost == nil || c.Source() != None) {
		err = do(c)
	}
	return cmp.Or(err, lost)
}

// An Activity is what ranks do between two times, which count from [Times.Begin].
type Activity struct {
	From   int64       `json:"from_ns"`
	To     *int64      `json:"to_ns"`    // nil for the end
	Begin  int64       `json:"begin_ns"` // [Times.Begin], by the clock of the trace
	Source Source      `json:"source"`   // the least exact of those of the ranks; None if some have no times, which are left out
	Calls  uint64      `json:"calls"`    // of all ranks
	Time   Nanoseconds `json:"time_ns"`  // likewise, in calls

	Guarantee timing.Guarantee `json:"relative_error"` // the weakest of those of the ranks, see [Clock.Guarantee]

	Ranks      []RankActivity  `json:"by_rank,omitzero"`
	Signatures []Usage         `json:"signatures,omitzero"` // in their order
	Functions  []FunctionUsage `json:"functions,omitzero"`  // those of most time first, then of most calls, then by name
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
}

// Activity returns what the ranks of the options do between two times, from ≤ to, of which
// math.MaxInt64 is the end: see [Clock.Between]. Ranks whose times of every call are
// lost count as unreadable: what they do is an estimate, and they are left out if the
// trace has nothing else.
func (t *Times) Activity(ctx context.Context, from, to int64, o Options) (*Activity, error) {
	first, err := t.Begin()
	if err != nil {
		return nil, err
	}
	var (
		mu         sync.Mutex
		a          = &Activity{From: from, Begin: first, Source: Series}
		signatures = make(map[int]Usage)
		functions  = make(map[string]*FunctionUsage)
		ranks      = o.ranks(t.trace)
	)
	from = addTimes(first, from)
	if to < maxTime {
		a.To = new(int64)
		*a.To = to
		to = addTimes(first, to)
	}
	err = t.eachClock(ctx, ranks, o, func(i int, c *Clock) error {
		w, err := c.Between(from, to)
		if err != nil {
			return err
		}
		begin, end, err := c.Span()
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		if a.Source = min(a.Source, c.Source()); c.Source() == None {
			return nil
		}
		a.Guarantee = max(a.Guarantee, c.Guarantee())
		r := RankActivity{Rank: ranks[i], First: w.First, End: w.End, Span: Nanoseconds(span(from, to, begin, end))}
		r.Calls, r.Time = w.Total()
		if r.Outside = Nanoseconds(math.Inf(1)); !math.IsInf(w.Covered, 1) {
			r.Outside = max(0, r.Span-Nanoseconds(w.Covered))
		}
		a.Ranks = append(a.Ranks, r)
		own := make(map[string]bool)
		for _, u := range w.Usage {
			sum := signatures[u.Signature]
			signatures[u.Signature] = Usage{Signature: u.Signature, Calls: wire.AddSat(sum.Calls, u.Calls), Time: sum.Time + u.Time}
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
	a.finish(signatures, functions)
	return a, nil
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
