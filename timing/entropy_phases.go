package timing

import (
	"math"
	"math/bits"
	"sync"

	"github.com/reprise-trace/reprise/internal/bins"
)

// The times of one kind of call crowd about few values. Where these lie at the end of a bin, two bins have them, and
// which of the two it is takes a part of a bit for each call. So bins can begin in several places, the phases of
// package bins, and each terminal has those in which its recent values take the fewest bits. The encoder chooses
// them, after a number of values that is small at first, and the block says which they are.

// phased has the bins of a relative error in all phases, made when they are first asked for.
type phased [bins.Phases]func() *bins.Bins

func newPhased(first *bins.Bins) (p phased) {
	p[0] = func() *bins.Bins { return first }
	for phase := 1; phase < len(p); phase++ {
		p[phase] = sync.OnceValue(func() *bins.Bins {
			b, err := bins.NewAt(first.Epsilon(), phase)
			if err != nil {
				panic("timing: " + err.Error()) // the error of first is one that bins have
			}
			return b
		})
	}
	return p
}

// choosesPhase reports whether a terminal of which there are so many values in the block has other bins from the next
// one on: after 32, and whenever there are four times as many.
func choosesPhase(values uint32) bool {
	return values >= 32 && values&(values-1) == 0 && bits.TrailingZeros32(values)%2 == 1
}

const (
	phaseWindow  = 128 // recent values of a terminal by which its phase is chosen
	newBinBits   = 2   // what a value takes that is in another bin than those before
	leastSavings = 8   // the part of what values take that another phase has to save
)

// bestPhase returns the phase in which the recent values of a terminal take the fewest bits, if it has so many values
// and will have as many again: now, that which it has, unless another saves enough.
func (p *phased) bestPhase(recent []int64, values uint32, now uint8) uint8 {
	best, least := now, int64(math.MaxInt64)
	for k := range uint8(bins.Phases) {
		phase := (now + k) % bins.Phases
		cost, different := binCost(p[phase](), recent)
		if k == 0 {
			cost -= cost / leastSavings
		} else {
			cost += different * newBinBits << logBits * int64(len(recent)) / int64(values)
		}
		if cost < least {
			best, least = phase, cost
		}
	}
	return best
}

// binCost returns about how many bits the bins of values take, in units of 2^−logBits: their entropy; and how many
// different ones there are.
func binCost(b *bins.Bins, values []int64) (cost, different int64) {
	var counts [256]uint8 // of symbols, but for their higher bits: those of one terminal are near each other
	cost = countLogs[len(values)]
	for _, v := range values {
		c := &counts[uint8(b.Symbol(v))]
		if *c == 0 {
			different++
		}
		cost -= countLogs[*c+1] - countLogs[*c]
		*c++
	}
	return cost, different
}

const logBits = 8

// countLogs has n·log₂n of counts n, in units of 2^−logBits, rounded, so that no processor has others.
var countLogs = func() (list [phaseWindow + 1]int64) {
	for n := 1; n < len(list); n++ {
		list[n] = int64(math.Round(float64(n) * math.Log2(float64(n)) * (1 << logBits)))
	}
	return list
}()

// A phaseState is what an encoder knows of a terminal.
type phaseState struct {
	bins   *bins.Bins // of the phase
	values uint32     // of the block
	phase  uint8
	last   int32 // the number of the last of the values; −1 for none
}

// A phaseChooser chooses the bins of values.
type phaseChooser struct {
	terminals terminalIndex
	states    []phaseState
	newest    uint8 // the phase that was chosen last, which new terminals have
	recent    []int64
}

// restart forgets the terminals of a block, and the phase of new ones: a block follows from its values alone.
func (p *phaseChooser) restart() {
	p.terminals.reset()
	p.states = p.states[:0]
	p.newest = 0
}

// next returns the state of the terminal of the next value, of calls that had values before.
func (p *phaseChooser) next(all *phased, terminal uint32, calls *callList) *phaseState {
	n := p.terminals.number(terminal)
	if n == len(p.states) {
		p.states = append(p.states, phaseState{bins: all[p.newest](), phase: p.newest, last: -1})
	}
	s := &p.states[n]
	if choosesPhase(s.values) {
		p.recent = p.recent[:0]
		for i := s.last; i >= 0 && len(p.recent) < phaseWindow; {
			c := calls.at(int(i))
			p.recent, i = append(p.recent, c.value), c.before
		}
		s.phase = all.bestPhase(p.recent, s.values, s.phase)
		p.newest, s.bins = s.phase, all[s.phase]()
	}
	return s
}
