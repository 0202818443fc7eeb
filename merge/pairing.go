package merge

import (
	"math"

	"github.com/reprise-trace/reprise/sequitur"
)

// A pairing joins the sequences of two grammars to one of pairs of the terminals
// at equal positions.
type pairing struct {
	equal func(x, y sequitur.Symbol) bool // whether two terminals may be a pair
	most  int                             // pairs there may be

	grammars [2]*sequitur.Grammar
	walkers  [2]*sequitur.Walker
	left     [2]sequitur.Run // what is left of the runs at position
	position uint64

	pairs   []pair // by their numbers
	numbers map[pair]sequitur.Symbol
	steps   int
	loops   [2][]sequitur.Loop
}

type pair struct{ x, y sequitur.Symbol }

func newPairing(g, h *sequitur.Grammar) *pairing {
	p := &pairing{grammars: [2]*sequitur.Grammar{g, h}, numbers: make(map[pair]sequitur.Symbol), most: math.MaxInt}
	p.seek(0)
	return p
}

// seek moves to a position.
func (p *pairing) seek(position uint64) {
	for i, g := range p.grammars {
		p.walkers[i], p.left[i] = g.Walk(position), sequitur.Run{}
	}
	p.position = position
}

// join returns the grammar of the numbers of pairs, which are numbered in the
// order of their first use, and whether there is one.
func (p *pairing) join() (*sequitur.Grammar, bool) {
	const stepsPerLook = 64
	n := p.grammars[0].Len()
	if n != p.grammars[1].Len() {
		return nil, false
	}
	var b sequitur.Builder
	look := 0 // step at which to look for a loop
	for p.position < n {
		if p.steps >= look && p.left[0].Count == 0 && p.left[1].Count == 0 {
			look = p.steps + stepsPerLook
			if period, times := p.loop(); times > 3 {
				body, ok := p.body(period)
				if !ok {
					return nil, false
				}
				b.AppendLoop(body, times)
				p.seek(p.position + (times-1)*period)
				continue
			}
		}
		r, ok := p.next(n - p.position)
		if !ok {
			return nil, false
		}
		b.AppendRun(r.Symbol, r.Count)
	}
	return b.Finish(), true
}

// loop returns the period of a loop that both grammars are in, and how often it
// repeats from here on.
func (p *pairing) loop() (period, times uint64) {
	for i, w := range p.walkers {
		p.loops[i] = w.AppendLoops(p.loops[i][:0])
	}
	for _, x := range p.loops[0] {
		for _, y := range p.loops[1] {
			period := max(x.Period, y.Period)
			if period <= maxPeriod && period%min(x.Period, y.Period) == 0 {
				return period, min(x.Length, y.Length) / period
			}
		}
	}
	return 0, 0
}

// body returns the runs of the next symbols.
func (p *pairing) body(length uint64) ([]sequitur.Run, bool) {
	var body []sequitur.Run
	for length > 0 {
		r, ok := p.next(length)
		if !ok {
			return nil, false
		}
		body = append(body, r)
		length -= r.Count
	}
	return body, true
}

// next returns the next run of one pair, cut off after some symbols. It fails if
// the terminals may not be a pair, or there are too many pairs or steps.
func (p *pairing) next(most uint64) (sequitur.Run, bool) {
	for i := range p.left {
		if p.left[i].Count == 0 {
			p.left[i] = p.walkers[i].Next()
		}
	}
	k := pair{p.left[0].Symbol, p.left[1].Symbol}
	n, ok := p.numbers[k]
	if !ok {
		if len(p.pairs) == p.most || !p.equal(k.x, k.y) {
			return sequitur.Run{}, false
		}
		n = sequitur.Symbol(len(p.pairs))
		p.numbers[k] = n
		p.pairs = append(p.pairs, k)
	}
	count := min(p.left[0].Count, p.left[1].Count, most)
	p.left[0].Count -= count
	p.left[1].Count -= count
	p.position += count
	p.steps++
	return sequitur.Run{Symbol: n, Count: count}, p.steps < maxSteps
}
