package query

import (
	"maps"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
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
	Signature int         `json:"signature"`      // of the trace, see [reprise.Trace.Signature]: of equal calls under several, the first
	Call      string      `json:"call,omitempty"` // in words, which who prints it has to set
	Calls     uint64      `json:"calls"`
	Time      Nanoseconds `json:"time_ns"` // a whole number, exact below 2⁵³
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
	for _, n := range slices.Sorted(maps.Keys(found)) {
		u := found[n]
		u.Signature = int(n)
		w.Usage = append(w.Usage, u)
	}
	return w, nil
}

// within returns how much of the time of a call lies in w.
func (w *Window) within(start, duration int64) Nanoseconds {
	return Nanoseconds(max(0, elapsed(max(start, w.From), min(addTimes(start, duration), w.To))))
}

// usage cuts what overlaps the ends of w off the first call and the last.
func (e *estimate) usage(w *Window) (map[sequitur.Symbol]Usage, error) {
	found := make(map[sequitur.Symbol]Usage) // with ticks
	counts := e.pairs.countBefore(w.End)
	for p, n := range e.pairs.countBefore(w.First) {
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
	for x, position := range firstPositions(e.pairs.grammar) {
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
	var all cover
	err := s.addUsage(w, found, &all)
	w.Covered = all.total()
	return found, err
}

// addUsage adds the calls of the window that are those of the clock.
func (s *seriesClock) addUsage(w *Window, found map[sequitur.Symbol]Usage, all *cover) error {
	first, end := max(w.First, s.first(s.begin)), min(w.End, s.first(s.til))
	if first >= end {
		return nil
	}
	walk := s.rank.Walk(first)
	run := walk.Next()
	var err error
	for _, t := range s.times(first, end, &err) {
		for run.Count == 0 {
			run = walk.Next()
		}
		run.Count--
		if Overlaps(t.Start, t.Duration, w.From, w.To) {
			n := sequitur.Symbol(s.rank.Signature(run.Symbol))
			u := found[n]
			u.Calls++
			u.Time += w.within(t.Start, t.Duration)
			found[n] = u
			all.add(max(t.Start, w.From), min(addTimes(t.Start, t.Duration), w.To))
		}
	}
	return err
}
