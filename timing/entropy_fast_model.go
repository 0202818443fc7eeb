package timing

import (
	"math/bits"
	"sync"

	"github.com/reprise-trace/reprise/internal/adaptive"
	"github.com/reprise-trace/reprise/internal/bins"
)

// A fastModel codes symbols a nibble at a time, as an entropyModel does bit by bit. What it knows are nibbles in
// contexts: the terminal, from which others begin, the terminal with the symbol of the call before, or if the terminal
// is young that symbol alone, and the terminal with those of the three calls before and the mean of its recent
// symbols. Two of these are mixed.
//
// Where the symbols of a terminal are near each other, in a window of fifteen that moves when they do, one
// nibble is most of them. It is 0 for a symbol elsewhere, which follows. Symbols elsewhere, and those of
// terminals without a window, take as many nibbles as the largest of the block needs, the highest first.
//
// It writes if reader is nil, and is a function of the symbols before, computed with integers. It holds at most about
// half a megabyte, some bytes for each terminal and, if it writes, for each value of the block.
type fastModel struct {
	reader    *ansReader
	intervals []interval // written
	words     []uint32   // scratch of their coding

	lines  []nibble // by a hash of their context and prefix; a tag has further bits of it
	shift  uint     // of a hash to the index of a line
	levels int      // nibbles of a symbol without its fine bits
	fine   int      // low bits of a symbol that are no context

	newest uint8               // the phase that was chosen last, which new terminals have
	phases [bins.Phases]nibble // of what is chosen, given the newest
	roots  [1 << 9]nibble      // of all terminals, by the prefix
	young  [1 << 10]share

	terminals terminalIndex
	states    []fastState
	previous  int32  // symbol without fine bits
	history   uint64 // the terminals of the three calls before
	refused   bool   // a symbol in the window that was not coded so, or a number too large, as no encoder writes them

	// Of the symbol in hand:
	terminal uint64 // its number in the block
	state    *fastState
	follow   uint64 // hashes of contexts
	loop     uint64
}

// A fastState describes the values with a terminal.
type fastState struct {
	near   nibble // of the window
	window int32  // the smallest symbol in it, without fine bits
	hits   int32  // of the window
	mean   int32  // of recent symbols without fine bits, in 16ths
	share  share
	fine   share // of fine bits
	values uint32
	phase  uint8
}

const (
	minNibbles = 1 << 6
	maxNibbles = 1 << 14

	windowLen  = 15
	firmWindow = 8  // hits from which on there is a window
	maxWindow  = 64 // hits

	matureNibble = 8
	youngCount   = 28 // of the terminal's nibble, up to which it is young
)

// Kinds of prefixes, above all bits of symbols.
const (
	nearPrefix = 1 << 40
	finePrefix = 2 << 40
)

// reset makes m ready for a number of symbols of so many nibbles and fine bits. New terminals have the first phase.
func (m *fastModel) reset(values, levels, fine int, first uint8) {
	lines := max(minNibbles, min(maxNibbles, 1<<bits.Len(uint(4*min(values, maxNibbles)))))
	if cap(m.lines) < lines {
		m.lines = make([]nibble, lines)
	}
	m.lines = m.lines[:lines]
	clear(m.lines)
	m.shift = uint(65 - bits.Len(uint(lines)))
	m.levels, m.fine, m.newest = levels, fine, first
	for i := range m.phases {
		m.phases[i] = evenNibbles[phaseBits]
	}
	for i := range m.roots[:2<<(nibbleBits*(levels-1))] {
		m.roots[i] = evenNibbles[nibbleBits]
	}
	for i := range m.young {
		m.young[i] = evenShare
	}
	m.terminals.reset()
	m.states = m.states[:0]
	m.previous, m.history, m.refused = 0, 0, false
	m.intervals = m.intervals[:0]
}

// fastModels has models that are not needed any more. Their tables are large.
var fastModels sync.Pool

func takeFastModel() *fastModel {
	if m, ok := fastModels.Get().(*fastModel); ok {
		return m
	}
	return new(fastModel)
}

// free gives the memory of m to others.
func (m *fastModel) free() {
	m.reader = nil
	fastModels.Put(m)
}

// code codes the symbol of the next call, and the phase of its bins where that may change.
func (m *fastModel) code(terminal, symbol uint32, phase uint8) (uint32, uint8) {
	s := m.begin(terminal)
	if m.fine == 0 && choosesPhase(s.values) {
		s.phase = m.codePhase(phase)
	}
	s.values++
	x := int32(symbol >> m.fine)
	firm := s.hits >= firmWindow && m.levels > 1
	near := uint32(0)
	if firm {
		if d := uint32(x-s.window) + 1; d <= windowLen {
			near = d
		}
		near = m.mixed(&s.near, nearPrefix|uint64(s.window), near)
		x0 := x
		x = s.window + int32(near) - 1
		if near == 0 {
			x = x0
		}
	}
	if near == 0 {
		x = m.whole(x)
		if firm && uint32(x-s.window) < windowLen {
			m.refused = true
		}
	}
	m.end(x)
	symbol = uint32(x)<<m.fine | symbol&(1<<m.fine-1)
	if m.fine > 0 {
		symbol = m.codeFine(symbol)
	}
	return symbol, s.phase
}

// begin sets the contexts of the next symbol.
func (m *fastModel) begin(terminal uint32) *fastState {
	n := m.terminals.number(terminal)
	if n == len(m.states) {
		m.states = append(m.states,
			fastState{mean: m.previous << 4, share: evenShare, fine: evenShare, phase: m.newest})
	}
	s := &m.states[n]
	m.state, m.terminal = s, uint64(n)
	m.follow = adaptive.Hash(followContext, m.terminal, uint64(m.previous))
	m.loop = adaptive.Hash(loopContext, m.terminal<<32|uint64(s.mean>>5), m.history)
	return s
}

// end learns the symbol, without its fine bits.
func (m *fastModel) end(x int32) {
	s := m.state
	if uint32(x-s.window) < windowLen && s.hits > 0 {
		s.hits = min(s.hits+1, maxWindow)
	} else if s.hits = s.hits*3/4 - 1; s.hits <= 0 {
		s.window, s.hits = max(x-windowLen/2, 0), 1
		s.near = evenNibbles[nibbleBits]
	}
	if s.values == 1 {
		s.mean = x << 4
	} else {
		s.mean += (x<<4 - s.mean) >> 2
	}
	m.previous = x
	m.history = (m.history<<16 | m.terminal) & (1<<48 - 1)
}

// whole codes a symbol, without its fine bits.
func (m *fastModel) whole(x int32) int32 {
	prefix := uint32(1)
	for level := m.levels - 1; level >= 0; level-- {
		root := &m.roots[prefix&uint32(len(m.roots)-1)]
		own := m.find(m.terminal+1, uint64(prefix), root)
		next := uint32(x) >> (level * nibbleBits) & 15
		young := own.seen() < countLimit
		next = m.mixed(own, uint64(prefix), next)
		if young {
			root.learn(next)
		}
		prefix = prefix<<nibbleBits | next
	}
	return int32(prefix - 1<<(m.levels*nibbleBits))
}

// codeFine codes the low bits of a symbol.
func (m *fastModel) codeFine(symbol uint32) uint32 {
	prefix := uint64(symbol>>m.fine) | 1<<20
	for left := m.fine; left > 0; {
		n := min(left, nibbleBits)
		left -= n
		own := m.find(m.terminal+1, finePrefix|prefix, &evenNibbles[n])
		x := symbol >> left & (1<<n - 1)
		if own.seen() < youngCount {
			x = m.mixed(own, finePrefix|prefix, x)
		} else {
			loop := m.find(m.loop, finePrefix|prefix, own)
			x = m.pair(own, loop, &m.state.fine, x)
			own.learn(x)
			loop.learn(x)
		}
		prefix = prefix<<n | uint64(m.below(x, n))
	}
	return uint32(prefix &^ (1 << (20 + m.fine)))
}

// codePhase codes the phase that is chosen for a terminal.
func (m *fastModel) codePhase(phase uint8) uint8 {
	m.newest = uint8(m.below(m.alone(&m.phases[m.newest], uint32(phase)), phaseBits))
	return m.newest
}

// below returns a nibble that has so many bits.
func (m *fastModel) below(x uint32, bits int) uint32 {
	m.refused = m.refused || x>>bits > 0
	return x & (1<<bits - 1)
}

// alone codes a number that one nibble predicts.
func (m *fastModel) alone(b *nibble, x uint32) uint32 {
	w := share(evenShare)
	x = m.pair(b, b, &w, x)
	b.learn(x)
	return x
}

// mixed codes a number after a prefix. The nibble own predicts it from the terminal alone.
func (m *fastModel) mixed(own *nibble, prefix uint64, x uint32) uint32 {
	loop := m.find(m.loop, prefix, own)
	var follow *nibble
	w := &m.state.share
	seen := own.seen()
	young := seen < youngCount
	if young {
		follow = m.find(adaptive.Hash(previousContext, uint64(m.previous), 0), prefix, own)
		w = &m.young[seen<<4|follow.seen()>>3<<2|loop.seen()>>3]
	} else {
		follow = m.find(m.follow, prefix, own)
	}
	x = m.pair(follow, loop, w, x)
	if young || min(follow.seen(), loop.seen()) < matureNibble {
		own.learn(x)
	}
	follow.learn(x)
	loop.learn(x)
	return x
}

// pair codes a number that two nibbles predict.
func (m *fastModel) pair(a, b *nibble, w *share, x uint32) uint32 {
	if m.reader != nil {
		return m.reader.mixed(a, b, w)
	}
	m.intervals = append(m.intervals, mixed(a, b, w, x))
	return x
}

// find returns the nibble of a context and a prefix. It replaces what is there if that is the one of others, by a
// young one that predicts as its parent does.
func (m *fastModel) find(hash, prefix uint64, parent *nibble) *nibble {
	h := (hash ^ prefix*0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9
	b := &m.lines[h>>(m.shift&63)]
	tag := h>>20&(lane0&^countLimit) | 1<<15
	if b[0]&(lane0&^countLimit) != tag {
		*b = *parent
		b[0] = b[0]&^lane0 | min(parent.seen(), 1) | tag
	}
	return b
}
