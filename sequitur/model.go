package sequitur

import (
	"math"
	"math/bits"

	"github.com/reprise-trace/reprise/internal/adaptive"
)

// A decision is one of the kinds of bits that make up the coded form of a grammar.
type decision int

const (
	opening  decision = iota // whether a rule is next that was not used yet
	ending                   // whether a right-hand side ends
	repeated                 // whether a symbol has a count above 1
	counting                 // bits of the count
	terminal                 // bits of the number of the terminal that a symbol begins with
	fresh                    // bits of how far a new terminal is from the one that was new before
	longer                   // whether a longer rule that begins with the terminal, or rule, is meant
	which                    // bits of the number of this rule among those that do
	decisions
)

// contextsOf is in how many contexts each decision is predicted, maxContexts at most.
var contextsOf = [decisions]int{3, 3, 3, 3, maxContexts, 1, maxContexts, maxContexts}

const (
	maxContexts = 5
	maxPlaces   = 32  // of numbers that have weights of their own
	maxBegun    = 255 // rules that begin with one another, so that it is no long way to any

	bitsPerSymbol = 64 // at most, on average and besides fewBits, so that a reader takes time in proportion to symbols
	fewBits       = 1 << 12
)

// A model predicts the symbols of a grammar, in the order of what they generate, and learns them. It predicts
// from the terminals before, above all: two symbols follow one another once only in a grammar, but what one
// ends with and the other begins with follow one another often. A symbol is coded as the terminal it begins
// with, and as the way from there to ever longer rules, each of which begins with the last.
type model struct {
	adaptive.Coder
	bits     []adaptive.Bit
	shift    int // of hashes, so that they are places in bits
	weights  [decisions][2 * maxPlaces]adaptive.ManyWeights
	contexts [maxContexts]uint64

	terminals []Symbol          // in the order of their first use, which numbers them
	numbers   map[Symbol]uint32 // of terminals
	most      int               // terminals there are
	rules     []modelRule
	begun     [][]uint32 // by terminal: the rules that begin with it

	before [3]Symbol // the last terminals, the last one first
	top    ref       // the last symbol
	recent uint64    // the last steps, two bits each, the last one in the lowest
	left   uint64    // bits that may still be coded
	bad    bool      // what was read cannot be, or more bits were coded than may be
}

// A modelRule is what a model knows of a rule.
type modelRule struct {
	last  [3]Symbol // terminals at its end
	begun []uint32  // the rules that begin with it
	first ref       // which it begins with
	place uint32    // among the rules that begin with that
	depth uint32    // of rules that begin with one another below it
}

// Steps in which a grammar is coded.
const (
	stepSymbol = iota
	stepRule
	stepOpen
	stepCount
)

func (m *model) step(s uint64) { m.recent = m.recent<<2 | s }

// newModel returns the model of a grammar of so many symbols, with so many different terminals.
func newModel(symbols, terminals uint64) *model {
	size := min(max(bits.Len64(symbols)+4, 12), 20)
	m := &model{
		bits: make([]adaptive.Bit, 1<<size), shift: 64 - size,
		numbers: make(map[Symbol]uint32), most: int(terminals), left: bitsPerSymbol*symbols + fewBits,
	}
	for d, n := range contextsOf {
		mean := adaptive.NewManyWeights(n)
		for i := range n {
			mean[2*i] = adaptive.One / int64(n)
		}
		for slot := range m.weights[d] {
			m.weights[d][slot] = mean
		}
	}
	return m
}

// in sets the contexts of decisions.
func (m *model) in(contexts ...uint64) { copy(m.contexts[:], contexts) }

// bit codes a bit of a decision, at a node of it, with the weights of a slot.
func (m *model) bit(d decision, slot int, node uint64, bit uint32) uint32 {
	if m.left == 0 {
		m.bad = true
		return 0
	}
	m.left--
	var mixed [maxContexts]*adaptive.Bit
	n := contextsOf[d]
	for i, c := range m.contexts[:n] {
		h := adaptive.Hash(uint64(d)<<3|uint64(i), node, c) * 0x9e3779b97f4a7c15
		mixed[i] = &m.bits[h>>m.shift]
	}
	return m.MixMany(bit, mixed[:n], &m.weights[d][slot], adaptive.GainOfMany)
}

// flag codes whether something is.
func (m *model) flag(d decision, node int, is bool) bool {
	bit := uint32(0)
	if is {
		bit = 1
	}
	return m.bit(d, min(node, maxPlaces-1), uint64(node), bit) == 1
}

// number codes a number v > 0 of at most so many binary places: how many it has, and those below the first.
func (m *model) number(d decision, most int, v uint64) uint64 {
	places := 1
	for places < most && m.flag(d, places, bits.Len64(v) > places) {
		places++
	}
	number, slot := uint64(1), maxPlaces+min(places, maxPlaces-1)
	for i := places - 2; i >= 0; i-- {
		number = number<<1 | uint64(m.bit(d, slot, uint64(places)<<32^number, uint32(v>>i)&1))
	}
	return number
}

// place is where something is among the symbols of right-hand sides in one another.
func place(n, depth int) int { return min(n, 3)<<2 | min(depth, 3) }

// opens codes whether a rule begins that was not used yet, behind n symbols of a right-hand side.
func (m *model) opens(n, depth int, is bool) bool {
	at := place(n, depth)
	m.in(m.recent&0xff, uint64(m.before[0])<<8|uint64(at), uint64(m.top))
	if is = m.flag(opening, at, is); is {
		m.step(stepOpen)
	}
	return is
}

// ends codes whether a right-hand side ends behind n symbols. The start rule is at depth 0.
func (m *model) ends(n, depth int, is bool) bool {
	if n == 0 || n == 1 && depth > 0 {
		return false
	}
	m.in(0, uint64(m.before[0]), m.recent&0xff)
	return m.flag(ending, place(n, depth), is)
}

// closes makes a rule that begins with a symbol the one that was used last.
func (m *model) closes(first ref) {
	number := uint32(len(m.rules))
	begun, depth := m.begunWith(first), uint32(1)
	if first.isRule() {
		depth += m.rules[first.rule()].depth
	}
	m.bad = m.bad || depth > maxBegun
	rule := modelRule{last: m.before, first: first, place: uint32(len(*begun)), depth: depth}
	*begun = append(*begun, number)
	m.rules = append(m.rules, rule)
	m.top = ruleRef(number)
	m.step(stepRule)
}

// begunWith returns the rules that begin with a symbol that was used.
func (m *model) begunWith(s ref) *[]uint32 {
	if s.isRule() {
		return &m.rules[s.rule()].begun
	}
	return &m.begun[m.numbers[s.terminal()]]
}

// symbol codes a terminal, or a rule that was used before.
func (m *model) symbol(s ref) ref {
	var way [maxBegun + 1]ref // to s, backwards
	left := 0
	for ; !m.Reading() && s.isRule(); left++ {
		way[left] = s
		s = m.rules[s.rule()].first
	}
	s = ref(m.firstTerminal(s.terminal()))
	b := m.before
	for !m.bad {
		begun := *m.begunWith(s)
		m.in(0, uint64(s), adaptive.Hash(1, uint64(s), uint64(b[0])), adaptive.Hash(2, uint64(s), uint64(b[1])),
			adaptive.Hash(3, uint64(s), m.recent&0xff))
		if len(begun) == 0 || !m.flag(longer, 0, left > 0) {
			break
		}
		at := uint64(1)
		if left > 0 {
			left--
			at += uint64(m.rules[way[left].rule()].place)
		}
		at = m.number(which, bits.Len(uint(len(begun))), at) - 1
		if m.bad = at >= uint64(len(begun)); !m.bad {
			s = ruleRef(begun[at])
		}
	}
	if m.step(stepSymbol); s.isRule() {
		m.before = m.rules[s.rule()].last
	} else {
		m.before = [3]Symbol{s.terminal(), b[0], b[1]}
	}
	m.top = s
	return s
}

// firstTerminal codes the terminal that a symbol begins with.
func (m *model) firstTerminal(t Symbol) Symbol {
	b := m.before
	m.in(0, uint64(b[0])<<8|m.recent&0xff, adaptive.Hash(1, uint64(b[0]), uint64(b[1])),
		adaptive.Hash(2, uint64(b[1]), uint64(b[2])), uint64(m.top))
	number, known := m.numbers[t]
	if !known {
		number = uint32(len(m.terminals))
	}
	at, width := uint64(1), bits.Len(uint(m.most-1))
	for i := width - 1; i >= 0; i-- {
		at = at<<1 | uint64(m.bit(terminal, min(width-i, maxPlaces-1), at, number>>i&1))
	}
	at -= 1 << width
	switch {
	case at >= uint64(m.most) || at > uint64(len(m.terminals)):
		m.bad = true
		return 0
	case at < uint64(len(m.terminals)):
		return m.terminals[at]
	}
	last := Symbol(1<<32 - 1)
	if at > 0 {
		last = m.terminals[at-1]
	}
	distance := int64(int32(t - last - 1))
	m.in(0)
	v := m.number(fresh, 33, uint64(distance<<1^distance>>63)+1) - 1
	t = last + 1 + Symbol(v>>1^-(v&1))
	if _, known := m.numbers[t]; known || t > MaxSymbol || v > math.MaxUint32 {
		m.bad = true
		return 0
	}
	m.numbers[t] = uint32(at)
	m.terminals, m.begun = append(m.terminals, t), append(m.begun, nil)
	return t
}

// count codes how often the last symbol is repeated.
func (m *model) count(count uint64) uint64 {
	m.in(m.recent&0xff, uint64(m.top), uint64(m.before[0]))
	if !m.flag(repeated, 0, count > 1) {
		return 1
	}
	m.step(stepCount)
	m.in(0, uint64(m.before[0]), uint64(m.top))
	return m.number(counting, 63, count-1) + 1
}
