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

	seconds []uint32 // where they follow from the first terminal: of each, the second
	pairs   []pair   // by their numbers
	numbers map[pair]sequitur.Symbol
	steps   int
	loops   [2][]sequitur.Loop
}

type pair struct{ x, y sequitur.Symbol }

func newPairing(g, h *sequitur.Grammar) *pairing {
	return &pairing{grammars: [2]*sequitur.Grammar{g, h}, numbers: make(map[pair]sequitur.Symbol), most: math.MaxInt}
}

// seek moves to a position.
func (p *pairing) seek(position uint64) {
	for i, g := range p.grammars {
		p.walkers[i], p.left[i] = g.Walk(position), sequitur.Run{}
	}
	p.position = position
}

// Bounds of the work of joining two grammars.
const (
	maxSteps  = 1 << 26 // runs that are looked at
	maxPeriod = 1 << 16 // symbols of a loop that is looked at once
)

// join returns the grammar of the numbers of pairs, which are numbered in the
// order of their first use, and whether there is one.
func (p *pairing) join() (*sequitur.Grammar, bool) {
	var (
		b    sequitur.Builder
		body []sequitur.Run
	)
	ok := p.walk(func(r sequitur.Run, looped bool) {
		if looped {
			body = append(body, r)
		} else {
			b.AppendRun(r.Symbol, r.Count)
		}
	}, func(times uint64) {
		b.AppendLoop(body, times)
		body = body[:0]
	})
	if !ok {
		return nil, false
	}
	return b.Finish(), true
}

// follow returns which terminal of the second grammar is in a pair with each of the first, which are so many and
// numbered in the order of their first use, and whether only one is, for all. Then the grammar of pairs is the first.
func (p *pairing) follow(terminals int) ([]uint32, bool) {
	p.seconds = make([]uint32, 0, terminals)
	ok := p.walk(func(sequitur.Run, bool) {}, func(uint64) {}) && len(p.seconds) == terminals
	seconds := p.seconds
	p.seconds = nil
	return seconds, ok
}

// walk calls run for the runs of pairs in order, of loops those of the first time, and then end with how many times there
// are. It reports whether there are pairs at all positions.
func (p *pairing) walk(run func(r sequitur.Run, looped bool), end func(times uint64)) bool {
	const stepsPerLook = 64
	p.seek(0)
	p.steps = 0
	n := p.grammars[0].Len()
	if n != p.grammars[1].Len() {
		return false
	}
	look := 0 // step at which to look for a loop
	for p.position < n {
		if p.steps >= look && p.left[0].Count == 0 && p.left[1].Count == 0 {
			look = p.steps + stepsPerLook
			if period, times := p.loop(); times > 3 {
				for first := p.position + period; p.position < first; {
					r, ok := p.next(first - p.position)
					if !ok {
						return false
					}
					run(r, true)
				}
				end(times)
				p.seek(p.position + (times-1)*period)
				continue
			}
		}
		r, ok := p.next(n - p.position)
		if !ok {
			return false
		}
		run(r, false)
	}
	return true
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

// next returns the next run of one pair, cut off after some symbols. It fails if
// the terminals may not be a pair, or there are too many pairs or steps.
func (p *pairing) next(most uint64) (sequitur.Run, bool) {
	for i := range p.left {
		if p.left[i].Count == 0 {
			p.left[i] = p.walkers[i].Next()
		}
	}
	n, ok := p.number(pair{p.left[0].Symbol, p.left[1].Symbol})
	if !ok {
		return sequitur.Run{}, false
	}
	count := min(p.left[0].Count, p.left[1].Count, most)
	p.left[0].Count -= count
	p.left[1].Count -= count
	p.position += count
	p.steps++
	return sequitur.Run{Symbol: n, Count: count}, p.steps < maxSteps
}

// number returns the number of a pair, and whether there may be such a pair.
func (p *pairing) number(k pair) (sequitur.Symbol, bool) {
	if p.seconds != nil {
		if int(k.x) == len(p.seconds) && p.equal(k.x, k.y) {
			p.seconds = append(p.seconds, k.y)
		}
		return k.x, int(k.x) < len(p.seconds) && p.seconds[k.x] == k.y
	}
	n, ok := p.numbers[k]
	if !ok {
		if len(p.pairs) == p.most || !p.equal(k.x, k.y) {
			return 0, false
		}
		n = sequitur.Symbol(len(p.pairs))
		p.numbers[k] = n
		p.pairs = append(p.pairs, k)
	}
	return n, true
}
