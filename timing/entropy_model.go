package timing

import (
	"math/bits"
	"sync"

	"github.com/reprise-trace/reprise/internal/adaptive"
	"github.com/reprise-trace/reprise/internal/bins"
)

// A line predicts the bits of up to four levels of the tree of symbols in one
// context: bit i has the children 2i and 2i+1, and 1 is the root. Bit 0 is whether
// the symbol is below this root at all.
type line [16]adaptive.Bit

// The contexts of which each has a prediction.
const (
	anyContext      = iota // all values
	previousContext        // the symbol of the call before
	terminalContext        // the terminal
	followContext          // the terminal, and the symbol of the call before
	loopContext            // the terminal, those of the three calls before, and the mean of its recent symbols
	contexts
)

const (
	minLines = 1 << 6
	maxLines = 1 << 14

	topLevels = 3 // of the tree in the line of its root; lines below have lowLevels
	lowLevels = 4

	firmHits = 16 // after which a guess is coded before the top of the tree
	maxHits  = 64
)

// The prefixes that are not those of a node: of the line at the root, once for
// values without a firm guess and once for those that the guess missed.
const (
	missPrefix = 0
	rootPrefix = 1
)

// An entropyState describes the values with a terminal.
type entropyState struct {
	mean  int32 // of recent symbols without fine bits, in 16ths
	guess uint8 // the top of the symbol that is guessed
	hits  uint8 // of the guess, halved at each miss

	phase  uint8 // of the bins of the next value
	values uint32
}

// An entropyModel codes symbols, numbers of a fixed count of bits, given the
// terminals. The bits of a symbol lead from the root of a tree to a leaf, the
// highest first, and the bit at each node is coded with a probability of its own.
// The model is a function of the symbols before, computed with integers. It holds
// at most about a megabyte, and some bytes for each terminal.
type entropyModel struct {
	coder  adaptive.Coder
	mature [levelSets][3]int64                   // weights of predictions, in units of 1/2²⁰
	young  [levelSets][countSets][contexts]int64 // the same, by how often the terminal's bit learned

	lineTable
	shift  uint // of a hash to the index of a line
	levels int  // of the tree below those at the root; a multiple of lowLevels
	fine   uint // low bits of a symbol that are no context

	newest uint8             // the phase that was chosen last, which new terminals have
	phases [bins.Phases]line // of what is chosen, given the newest

	terminals terminalIndex
	states    []entropyState
	previous  int32 // symbol without fine bits
	history   [3]uint32
	refused   bool // a guess that was right, which no encoder does
	prior     *entropyPrior

	// Of the symbol in hand:
	terminal uint32 // by its number in the block: that in the trace is another where series are joined
	state    *entropyState
	fresh    bool // no symbol with the terminal came before
	prefix   uint32
	hashes   [contexts]uint64 // of contexts; once hashed is true
	hashed   bool
	at       [contexts]*line // of the prefix; only that of terminalContext is always set
}

// A lineTable holds lines by a hash of their context and prefix.
type lineTable struct {
	lines []line   // each valid for the context and prefix that have its tag
	tags  []uint16 // 0 for none
}

// lineTables has tables that decoders do not need any more. A table is large,
// and to clear its memory takes a part of the time that a block takes.
var lineTables sync.Pool

// takeTable gives m a table that is not needed any more, if there is one.
func (m *entropyModel) takeTable() {
	if t, ok := lineTables.Get().(*lineTable); ok {
		m.lineTable = *t
	}
}

// returnTable gives the table of m to others.
func (m *entropyModel) returnTable() {
	if t := m.lineTable; cap(t.lines) == maxLines {
		lineTables.Put(&t)
		m.lineTable = lineTable{}
	}
}

// reset makes m ready for a number of symbols of topLevels+levels bits. New terminals have the first phase. The prior
// is nil, or that of symbols of as many bits.
func (m *entropyModel) reset(values, levels int, fine uint, first uint8, prior *entropyPrior) {
	lines := max(minLines, min(maxLines, 1<<bits.Len(uint(4*min(values, maxLines)))))
	if cap(m.lines) < lines {
		m.lines, m.tags = make([]line, lines), make([]uint16, lines)
	}
	m.lines, m.tags = m.lines[:lines], m.tags[:lines]
	clear(m.tags)
	m.shift = uint(65 - bits.Len(uint(lines)))
	m.levels, m.fine = levels, fine
	for i := range m.mature {
		m.mature[i] = [3]int64{adaptive.One / 3, adaptive.One / 3, adaptive.One / 3}
		for k := range m.young[i] {
			for j := range m.young[i][k] {
				m.young[i][k][j] = adaptive.One / contexts
			}
		}
	}
	m.newest, m.phases = first, [bins.Phases]line{}
	m.terminals.reset()
	m.states = m.states[:0]
	m.previous, m.history, m.refused = 0, [3]uint32{}, false
	if m.prior = prior; prior != nil {
		m.mature, m.young, m.phases = prior.mature, prior.young, prior.phases
	}
}

// code codes the symbol of the next call, and the phase of its bins where that may change.
func (m *entropyModel) code(terminal, symbol uint32, phase uint8) (uint32, uint8) {
	m.begin(terminal)
	t := m.state
	if m.fine == 0 && choosesPhase(t.values) {
		t.phase = m.codePhase(phase)
	}
	t.values++
	h := m.levels // that are left
	prefix := m.top(symbol >> h)
	for h > 0 {
		m.enter(prefix)
		h -= lowLevels
		prefix = prefix<<lowLevels | m.walk(1, symbol>>h, lowLevels, min(h, maxLevel))&(1<<lowLevels-1)
	}
	symbol = prefix &^ (1 << (topLevels + m.levels))
	m.end(int32(symbol >> m.fine))
	return symbol, t.phase
}

// codePhase codes the phase that is chosen for a terminal.
func (m *entropyModel) codePhase(phase uint8) uint8 {
	l := &m.phases[m.newest]
	node := uint32(1)
	for i := phaseBits - 1; i >= 0; i-- {
		node = node<<1 | m.coder.Adapt(&l[node], l[node], uint32(phase)>>i&1)
	}
	m.newest = uint8(node) & (bins.Phases - 1)
	return m.newest
}

const phaseBits = 3 // of bins.Phases

// top codes the top levels of a symbol, and returns the prefix of the line below.
// Most symbols of a terminal are below the same node at this depth, and one bit
// says so, in place of three.
func (m *entropyModel) top(top uint32) (prefix uint32) {
	s := m.state
	guess := uint32(s.guess)
	root := uint32(rootPrefix)
	if s.hits >= firmHits {
		m.enter(guess | 1<<topLevels)
		hit := uint32(0)
		if top == guess {
			hit = 1
		}
		if m.walk(0, hit, 1, guessLevel) != 0 {
			s.hits = min(s.hits+1, maxHits)
			return guess | 1<<topLevels
		}
		root = missPrefix
	}
	m.enter(root)
	top = m.walk(1, top, topLevels, min(m.levels, maxLevel)) & (1<<topLevels - 1)
	if top == guess {
		m.refused = m.refused || root == missPrefix
		s.hits = min(s.hits+1, maxHits)
	} else if s.hits /= 2; s.hits == 0 {
		s.guess = uint8(top)
	}
	return top | 1<<topLevels
}

// begin sets the contexts of the next symbol, but for hashes that may not be
// needed.
func (m *entropyModel) begin(terminal uint32) {
	n := m.terminals.number(terminal)
	m.fresh = n == len(m.states)
	if m.fresh {
		s := entropyState{mean: m.previous << 4}
		if m.prior != nil && n < len(m.prior.states) {
			s, m.fresh = m.prior.states[n], false
		}
		s.phase, s.values = m.newest, 0
		m.states = append(m.states, s)
	}
	m.state = &m.states[n]
	m.terminal = uint32(n)
	m.hashes[terminalContext] = adaptive.Hash(terminalContext, uint64(n), 0)
	m.hashed = false
}

// end learns the symbol, without its fine bits.
func (m *entropyModel) end(symbol int32) {
	if m.fresh {
		m.state.mean = symbol << 4
	} else {
		m.state.mean += (symbol<<4 - m.state.mean) >> 2
	}
	m.previous = symbol
	m.history[2], m.history[1], m.history[0] = m.history[1], m.history[0], m.terminal
}

// enter goes to the lines of a prefix. At first it finds only that of the
// terminal, which is often enough.
func (m *entropyModel) enter(prefix uint32) {
	m.prefix = prefix
	m.at[terminalContext] = m.find(m.hashes[terminalContext], prefix)
}

// enterAll finds the lines of the prefix that walk mixes.
func (m *entropyModel) enterAll() {
	if !m.hashed {
		t, p, mean := uint64(m.terminal), uint64(m.previous), uint64(m.state.mean>>5)
		m.hashes[previousContext] = adaptive.Hash(previousContext, p, 0)
		m.hashes[followContext] = adaptive.Hash(followContext, t, p)
		m.hashes[loopContext] = adaptive.Hash(loopContext+mean*0xa0761d6478bd642f, t<<32|uint64(m.history[0]),
			uint64(m.history[1])<<32|uint64(m.history[2]))
		m.hashed = true
	}
	m.at[followContext] = m.find(m.hashes[followContext], m.prefix)
	m.at[loopContext] = m.find(m.hashes[loopContext], m.prefix)
	m.at[previousContext] = nil
}

// find returns the line of a context and a prefix. It replaces what is there if
// that is the line of others.
func (m *entropyModel) find(hash uint64, prefix uint32) *line {
	h := (hash ^ uint64(prefix)*0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9
	i := h >> (m.shift & 63)
	tag := uint16(h>>24) | 1
	if m.tags[i] != tag {
		m.tags[i] = tag
		m.lines[i] = line{}
		if m.prior != nil {
			m.prior.copy(&m.lines[i], h, tag)
		}
	}
	return &m.lines[i]
}

const (
	// There are weights for each level, counted from the leaves, and of young
	// bits by the logarithm of how often they learned.
	levelSets  = 16
	maxLevel   = 10 // of the last bit in a line; from there on they share weights
	guessLevel = 15 // of the bit for the guess
	countSets  = 8  // more than log₂ matureCount

	matureCount = 32 // of the terminal's bit, from which on fewer contexts are mixed
	sureCount   = 30 // from which on a bit is trusted that is sure
)

// walk codes the last count bits of a number in the lines that were entered, from
// a node on, and returns the node it comes to. The last bit is at a
// level; levels count from the leaves up. A bit that was nearly always the same with
// the terminal is predicted from that alone.
func (m *entropyModel) walk(node, number uint32, count, level int) uint32 {
	l1 := m.at[terminalContext]
	var l2, l3 *line
	for i := count - 1; i >= 0; i-- {
		bit := number >> (i & 31) & 1
		b1 := &l1[node&15]
		x1 := *b1
		if x1.Seen() >= sureCount && (x1>>22+1)&1023 < 2 {
			node = node<<1 | m.coder.Adapt(b1, x1, bit)
			continue
		}
		if l2 == nil {
			m.enterAll()
			l2, l3 = m.at[followContext], m.at[loopContext]
		}
		at := (level + i) & (levelSets - 1)
		if x1.Seen() < matureCount {
			node = node<<1 | m.walkYoung(node, at, bit)
			continue
		}
		node = node<<1 | m.coder.Mix3(bit, x1, b1, &l2[node&15], &l3[node&15], &m.mature[at])
	}
	return node
}

// walkYoung codes a bit that the terminal has not often had. Wider contexts help
// then.
func (m *entropyModel) walkYoung(node uint32, level int, bit uint32) uint32 {
	if m.at[previousContext] == nil {
		m.at[anyContext] = m.find(m.hashes[anyContext], m.prefix)
		m.at[previousContext] = m.find(m.hashes[previousContext], m.prefix)
	}
	var x [contexts]adaptive.Bit
	for i, l := range m.at {
		x[i] = l[node&15]
	}
	x[anyContext] = x[anyContext].Or(adaptive.Even)
	x[previousContext] = x[previousContext].Or(x[anyContext])
	x[terminalContext] = x[terminalContext].Or(x[anyContext])
	x[followContext] = x[followContext].Or(x[terminalContext])
	x[loopContext] = x[loopContext].Or(x[terminalContext])

	seen := bits.Len32(x[terminalContext].Seen()+1) - 1
	bit = m.coder.Mix(bit, x[:], m.young[level][seen&(countSets-1)][:])
	for i, l := range m.at {
		l[node&15] = x[i]
	}
	return bit
}
