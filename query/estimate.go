package query

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/trace"
)

const (
	minTime = math.MinInt64
	maxTime = math.MaxInt64
)

// An estimate is the clocks by means of the ranks of a shape. Terminals are the signatures of the shape,
// numbered in the order of their first use. Its ticks are 2⁻ᵏ ns, as small as the sum of all means allows,
// and the weight of a position is how many of them pass between the end of the call before and that of the
// call there.
type estimate struct {
	pairs   *pairs
	numbers []sequitur.Symbol // the signatures
	costs   costs
	begin   int64
	shift   int    // k
	sum, of uint64 // sum ticks of time pass in of ticks of weight; sum ≤ of
}

// A cost is how long a call takes, and the gap before it, in ticks.
type cost struct{ duration, gap int64 }

// weight returns how many ticks pass up to the end of the call.
func (c cost) weight() uint64 { return uint64(max(0, c.duration+c.gap)) }

// Costs are those of the pairs of a shape.
type costs struct {
	each  []cost        // by terminal, where they are the same whatever is before
	first cost          // of the first call, then
	paths map[pair]cost // otherwise
}

func (c *costs) of(p pair) cost {
	switch {
	case c.paths != nil:
		return c.paths[p]
	case p.before == none:
		return c.first
	}
	return c.each[p.terminal]
}

// inCalls returns the costs of calls without the gaps before them.
func (c *costs) inCalls() *costs {
	in := &costs{each: slices.Clone(c.each), first: cost{duration: c.first.duration}, paths: maps.Clone(c.paths)}
	for i := range in.each {
		in.each[i].gap = 0
	}
	for p, of := range in.paths {
		in.paths[p] = cost{duration: of.duration}
	}
	return in
}

// Ticks are chosen so that there are no more than maxTicks, as long as they are not
// longer than a nanosecond.
const (
	maxTicks = 1 << 61
	maxShift = 20
)

// newEstimate returns the clocks of a shape, or the clock of one of its ranks of which times are
// kept.
func (t *Times) newEstimate(s *shapeTimes, own *layout.RankTime) (*estimate, error) {
	begin, err := t.Begin()
	if err != nil {
		return nil, err
	}
	e := &estimate{numbers: s.grammar.FirstUse(), begin: begin}
	numbers := make(map[sequitur.Symbol]sequitur.Symbol, len(e.numbers))
	for i, n := range e.numbers {
		numbers[n] = sequitur.Symbol(i)
	}
	g := s.grammar.Rewrite(func(n sequitur.Symbol) sequitur.Symbol { return numbers[n] })
	signature := func(i sequitur.Symbol) int { return s.signature(e.numbers[i]) }
	counts, all, means := t.meansOfPairs(g, signature)
	overlap := false
	if own != nil {
		function := func(p pair) int { return t.trace.FunctionOf(signature(p.terminal)) }
		scaling := scalingTo(own, all, counts, means, function)
		for i, p := range all {
			means[i] = scaling.of(function(p), means[i])
		}
		overlap = scaling.overlap
		e.begin = begin + own.Begin - t.firstBegin
		if begin != 0 { // that of the times of every call of other ranks
			e.begin = own.Begin
		}
	}
	most := 0.0
	for i, p := range all {
		most += float64(counts[p]) * (math.Abs(means[i][durations]) + math.Abs(means[i][gaps]))
	}
	for e.shift = maxShift; e.shift > 0 && math.Ldexp(most, e.shift) > maxTicks; {
		e.shift--
	}
	e.setCosts(all, means, t.paths)
	e.pairs = newPairs(g, &e.costs)
	e.sum, e.of = e.pairs.total(), e.pairs.total()
	if sum := e.sumOf(counts); most <= maxTicks && sum > 0 {
		e.sum = uint64(sum)
	}
	if overlap && most <= maxTicks {
		e.sum = min(e.of, uint64(e.ticks(float64(own.Span.Middle()))))
	}
	return e, nil
}

// meansOfPairs returns how often the pairs of a grammar follow each other, of whose symbols
// signature says what they are, and in their order the means of each.
func (t *Times) meansOfPairs(g *sequitur.Grammar,
	signature func(sequitur.Symbol) int) (counts map[pair]uint64, all []pair, means [][2]float64) {
	counts = countPairs(g, g.Len())
	all = slices.SortedFunc(maps.Keys(counts), pair.compare)
	means = make([][2]float64, len(all))
	for i, p := range all {
		means[i] = t.meansOf(p, signature)
	}
	return counts, all, means
}

// compare orders pairs.
func (p pair) compare(q pair) int {
	return cmp.Or(cmp.Compare(p.terminal, q.terminal), cmp.Compare(p.before, q.before))
}

// setCosts sets the costs of pairs that have these means, which depend on the call
// before if paths is set.
func (e *estimate) setCosts(all []pair, means [][2]float64, paths bool) {
	if paths {
		e.costs.paths = make(map[pair]cost, len(all))
	} else {
		e.costs.each = make([]cost, len(e.numbers))
	}
	for i, p := range all {
		c := cost{e.ticks(means[i][durations]), e.ticks(means[i][gaps])}
		switch {
		case paths:
			e.costs.paths[p] = c
		case p.before == none:
			e.costs.first = c
		default:
			e.costs.each[p.terminal] = c
		}
	}
}

// ticks returns the nearest number of ticks.
func (e *estimate) ticks(ns float64) int64 {
	return int64(math.RoundToEven(max(-maxTicks, min(math.Ldexp(ns, e.shift), maxTicks))))
}

// sumOf returns how many ticks so many calls of each pair take with their gaps.
func (e *estimate) sumOf(counts map[pair]uint64) int64 {
	sum := int64(0)
	for p, n := range counts {
		c := e.costs.of(p)
		sum += int64(n) * (c.duration + c.gap)
	}
	return sum
}

// time returns the time after so many ticks of weight.
func (e *estimate) time(weight uint64) int64 {
	if e.sum < e.of {
		high, low := bits.Mul64(weight, e.sum)
		weight, _ = bits.Div64(high, low, e.of)
	}
	return e.after(weight >> e.shift)
}

// after returns the time so many nanoseconds after the beginning.
func (e *estimate) after(ns uint64) int64 {
	if ns > uint64(maxTime)-uint64(e.begin) && e.begin >= 0 || ns > maxTime {
		return maxTime
	}
	return e.begin + int64(ns)
}

// place returns the start and the duration of a call that ends after so many ticks of
// weight.
func (e *estimate) place(c cost, weight uint64) (start, duration int64) {
	end := e.time(weight)
	switch ticks := uint64(c.duration); {
	case e.sum == e.of && c.duration >= 0 && ticks <= weight:
		start = e.after((weight - ticks) >> e.shift)
		return start, end - start
	case e.shift > 0:
		duration = (c.duration + 1<<(e.shift-1)) >> e.shift
	default:
		duration = c.duration
	}
	return end - duration, duration
}

func (e *estimate) at(position uint64) (start, duration int64, err error) {
	p, before := e.pairs.at(position)
	c := e.costs.of(p)
	start, duration = e.place(c, before+c.weight())
	return start, duration, nil
}

func (e *estimate) earliest(uint64) (int64, error) {
	start, _, err := e.at(0)
	return start, err
}

func (e *estimate) end() (int64, error) { return e.time(e.pairs.total()), nil }

func (e *estimate) where(time int64) (Place, error) {
	position, at, before := e.find(time)
	p := Place{Position: position}
	if position == e.pairs.grammar.Len() {
		p.Start = e.time(before)
		return p, nil
	}
	c := e.costs.of(at)
	p.Start, p.Duration = e.place(c, before+c.weight())
	p.Inside = p.Start <= time
	return p, nil
}

func (e *estimate) positions(from, to int64) (first, end uint64, err error) {
	length := e.pairs.grammar.Len()
	if first = e.endsFrom(from); first == length {
		return first, first, nil
	}
	if start, duration, err := e.at(first); err != nil || start < from && wire.AddTimes(start, duration) <= from {
		first++
	}
	if end = e.endsFrom(to); to == maxTime {
		end = length
	} else if end < length {
		if start, _, err := e.at(end); err == nil && start < to {
			end++
		}
	}
	return first, max(first, end), nil
}

// endsFrom returns the first position of a call that ends at a time or after it.
func (e *estimate) endsFrom(time int64) uint64 {
	if time == minTime {
		return 0
	}
	position, _, _ := e.find(time - 1)
	return position
}

// find returns the first position of a call that ends after a time, its pair, and the weight
// before it; the number of calls and the weight of all if there is none.
func (e *estimate) find(time int64) (position uint64, at pair, before uint64) {
	if time < e.begin {
		return 0, pair{none, e.pairs.grammar.At(0)}, 0
	}
	ns := uint64(time) - uint64(e.begin) + 1
	if ns == 0 || ns > math.MaxUint64>>e.shift || e.sum == 0 {
		return e.pairs.grammar.Len(), pair{}, e.pairs.total()
	}
	// A call ends later if after it weight·sum/of ≥ ns·2ᵏ.
	high, low := bits.Mul64(ns<<e.shift, e.of)
	if high >= e.sum {
		return e.pairs.grammar.Len(), pair{}, e.pairs.total()
	}
	weight, rest := bits.Div64(high, low, e.sum)
	if rest == 0 {
		weight--
	}
	if weight >= e.pairs.total() {
		return e.pairs.grammar.Len(), pair{}, e.pairs.total()
	}
	return e.pairs.find(weight)
}

// A rankEstimate is an estimate for a rank.
type rankEstimate struct {
	*estimate
	rank *trace.Rank
}

func (e *rankEstimate) calls(from uint64) iter.Seq2[trace.Call, error] {
	return func(yield func(trace.Call, error) bool) {
		if from >= e.rank.Len() {
			return
		}
		at, weight := e.pairs.at(from)
		signatures := e.pairs.grammar.Walk(from)
		var (
			run   sequitur.Run
			again bool // c is that of the second call of the run
			c     cost
		)
		for call, err := range e.rank.Calls(from) {
			if err != nil {
				yield(call, err)
				return
			}
			switch {
			case run.Count == 0:
				run, again = signatures.Next(), false
				at.terminal = run.Symbol
				c = e.costs.of(at)
				at.before = int64(at.terminal)
			case !again:
				c, again = e.costs.of(at), true
			}
			run.Count--
			weight += c.weight()
			call.Timed = true
			call.Start, call.Duration = e.place(c, weight)
			if !yield(call, nil) {
				return
			}
		}
	}
}
