package mixing

import (
	"math/bits"
	"slices"

	"github.com/reprise-trace/reprise/sequitur"
)

// What is coded besides the classes of symbols, which follow.
const (
	markOpen   = iota // a loop begins
	markClose         // the body of a loop ends
	markEnd           // a member ends
	markNext          // the block ends in the middle of a member
	firstClass = iota

	markNone = markNext // before the first class, and of what has no twin
)

// Sets of weights, by what is coded.
const (
	setClass   = 0                // 9 for each length of a match
	setHit     = 9 * matchBuckets // 1, the same
	setCount   = setHit + matchBuckets
	setVariant = setCount + 9
	setValue   = setVariant + 25 // 9 for each of the first streams
	setKept    = setValue + 9*valueSets
	setOpens   = setKept + keptStates*otherStates
	weightSets = setOpens + 1

	valueSets    = 8   // streams that have sets of their own
	matchBuckets = 16  // lengths of matches that are told apart
	mostSince    = 255 // items since a loop that are told apart
	longMatch    = 12  // from this length on, what is expected is asked for first
)

// A level is how much a model has: blocks of many items are worth more of it.
type level uint8

const (
	levelFirst level = iota
	// levelLong has matches that are kept, contexts of up to six items and of the place behind a loop, and
	// weights that settle.
	levelLong
	// levelPolls is levelLong, but that loops of few symbols are forgotten when they end.
	levelPolls
)

// A sequenceModel codes the items of sequences, each predicted by those before it. It reads
// and writes with the same methods: they return what is read, or what they are given.
type sequenceModel struct {
	alone bool // values are left out, in a sample
	mixer
	alphabet Alphabet
	variants [][]uint32 // of each class
	symbols  [][]sequitur.Symbol

	groups  markGroups
	history matcher
	kept    *keptMatch // nil where no match is kept
	polls   *pollModel // nil where loops are not forgotten
	counts  []uint64   // of what is in the history
	chosen  []uint32   // variants, the same
	guess   uint64     // the count of what was expected, 0 if that was something else
	alike   int        // where what was expected stands in the history, −1 if it was something else
	lastAt  []int      // by class: where it stands in the history, −1 before it does
	twins   []uint32   // by class: the one in whose place something alike happened before

	long  bool // contexts are those of levelLong
	since int  // items since a loop ended, or the member began

	position int    // in the body of the loop
	outer    []int  // the positions of the loops around it
	first    uint32 // the first symbol of the last loop

	lastCounts map[uint64][2]uint64 // the last two counts, by what was counted
	variant    uint32               // the last
	lastOf     map[uint32]uint32    // the last of each group
	recent     [8]uint32            // the last ones that differ, the last one first
	following  map[uint64]uint32    // the variant that followed one, or had a position, by group

	value valueModel
}

// newSequenceModel returns the model of an alphabet with a table of contexts of 2^size places, of so many
// values at most.
func newSequenceModel(a Alphabet, size, values int, l level) *sequenceModel {
	m := &sequenceModel{
		mixer: newMixer(size, weightSets, l), alphabet: a, history: newMatcher(max(8, size-6)),
		lastAt: make([]int, len(a.Group)+firstClass), twins: make([]uint32, len(a.Group)+firstClass),
		lastCounts: make(map[uint64][2]uint64), following: make(map[uint64]uint32),
		lastOf: make(map[uint32]uint32), first: markNone,
		value: newValueModel(len(a.Values), values),
	}
	if l >= levelLong {
		m.long, m.kept = true, newKeptMatch(max(minTable, size-4))
	}
	if l == levelPolls {
		m.polls = new(pollModel)
	}
	m.groups = newMarkGroups(&a)
	m.variants, m.symbols = a.members()
	for i := range m.lastAt {
		m.lastAt[i], m.twins[i] = -1, markNone
	}
	return m
}

// mark codes a mark or a class.
func (m *sequenceModel) mark(s uint32) uint32 {
	h := &m.history
	base := m.markContexts()
	if m.polls != nil {
		m.polls.see(&base)
		if m.opens(s, &base) {
			m.guess, m.alike = 0, -1
			m.enter(markOpen)
			return markOpen
		}
	}
	expected, ok := h.expected()
	at, kept := h.next, -1
	if m.kept != nil {
		kept = m.kept.next
	}
	guesses, bucket := [2]int{-1, -1}, 0
	if ok {
		guesses[0], bucket = int(expected), min(h.length, matchBuckets-1)
	}
	q, asks := m.question(expected, ok, bucket)
	if asks && m.hit(s, q, &base) {
		s = q.number
	} else {
		if asks && m.kept != nil {
			guesses, bucket = [2]int{int(q.number), guesses[0]}, matchBuckets-1
		}
		s = m.markBits(s, guesses, bucket, &base)
	}
	m.guess, m.alike = 0, -1
	if ok && s == expected {
		m.alike = at
	} else if kept >= 0 && s == h.list[kept] {
		m.alike = kept
	}
	if m.alike >= 0 {
		m.guess = m.counts[m.alike]
	}
	m.enter(s)
	return s
}

// question returns the mark to ask for first, if there is one.
func (m *sequenceModel) question(expected uint32, ok bool, bucket int) (q question, asks bool) {
	h := &m.history
	switch {
	case m.kept != nil:
		return m.kept.question(h, expected, ok)
	case !ok || h.length < longMatch:
		return q, false
	}
	return question{expected, setHit + bucket, hash(4, uint64(min(h.length, 400)))}, true
}

// markContexts returns the contexts of a mark, but for that of the match.
func (m *sequenceModel) markContexts() contexts {
	if m.long {
		return m.longContexts()
	}
	h := &m.history
	last, position := h.before(1), uint64(m.position)
	group := uint64(1) << 32
	alike := uint64(1) << 41 // what followed the twin of the last class
	if last >= firstClass && last < 1<<40 {
		group = uint64(m.alphabet.Group[last-firstClass])
		if at := m.lastAt[m.twins[last]]; at >= 0 && at+1 < len(h.list) {
			alike = uint64(h.list[at+1])
		}
	}
	return contexts{
		hash(0),
		hash(1, last),
		hash(2, last, h.before(2)),
		hash(3, last, h.before(2), h.before(3)),
		hash(4),
		hash(5, position, last),
		hash(6, h.before(2)),
		hash(7, last, h.before(2), h.before(3), h.before(4)),
		hash(8, alike),
		hash(9, position),
		hash(10, alike, last),
		hash(11, uint64(m.first), group),
	}
}

// longContexts is markContexts where no class has a twin.
func (m *sequenceModel) longContexts() contexts {
	h := &m.history
	var orders [7]uint64 // hashes of the last items, of none to six
	for i := 1; i < len(orders); i++ {
		orders[i] = hashNext(orders[i-1], h.before(i))
	}
	last, position, since := h.before(1), uint64(m.position),
		hash(uint64(min(m.since, mostSince)), uint64(len(m.outer)))
	return contexts{
		hash(0),
		hash(1, orders[1]),
		hash(2, orders[2]),
		hash(3, orders[3]),
		hash(4),
		hash(5, position, last),
		hash(6, h.before(2)),
		hash(7, orders[4]),
		hash(8, orders[6]),
		hash(9, since),
		hash(10, since, last),
		hash(11, orders[5]),
	}
}

// hit codes whether the mark is the one that is asked for.
func (m *sequenceModel) hit(s uint32, q question, base *contexts) bool {
	in := *base
	for i := range in {
		in[i] = hashNext(in[i], 1<<32|uint64(q.number))
	}
	in[4] = q.key
	m.find(&in)
	return m.code(bit(s == q.number), 0, q.set) == 1
}

// markBits codes a mark bit by bit: the group of a class, and then which one of it. Two guesses say
// what it is likely to be, or −1.
func (m *sequenceModel) markBits(s uint32, guesses [2]int, bucket int, base *contexts) uint32 {
	e := expectation{[2]int64{-1, -1}, hash(4, uint64(bucket)), setClass + 9*bucket}
	g := m.groups.of(s)
	for i, guess := range guesses {
		if guess >= 0 {
			e.guesses[i] = int64(m.groups.of(uint32(guess)))
		}
	}
	g = int(m.tree(uint32(g), bits.Len(uint(len(m.groups)-2)), base, e))
	first, n := m.groups.at(g)
	if n <= 1 {
		return first
	}
	within := expectation{[2]int64{-1, -1}, hash(5, uint64(bucket)), e.set}
	for i, guess := range guesses {
		if e.guesses[i] == int64(g) {
			within.guesses[i] = int64(guess) - int64(first)
		}
	}
	in := *base
	for i := range in {
		in[i] = hashNext(in[i], 1<<40|uint64(g))
	}
	return first + m.tree(s-first, bits.Len(uint(n-1)), &in, within)
}

// markGroups has the first mark of each group, and the end: a mark that is no class is its own group, and
// classes of a group that follow each other are one.
type markGroups []uint32

func newMarkGroups(a *Alphabet) markGroups {
	var g markGroups
	for s := range uint32(firstClass) {
		g = append(g, s)
	}
	for c, group := range a.Group {
		if c == 0 || group != a.Group[c-1] {
			g = append(g, uint32(c)+firstClass)
		}
	}
	return append(g, uint32(len(a.Group))+firstClass)
}

// of returns the group of a mark.
func (g markGroups) of(s uint32) int {
	i, found := slices.BinarySearch(g, s)
	if !found {
		i--
	}
	return i
}

// at returns the first mark of a group, and how many it has: none if there is no such group.
func (g markGroups) at(group int) (first uint32, n int) {
	if group+1 >= len(g) {
		return g[len(g)-1], 0
	}
	return g[group], int(g[group+1] - g[group])
}

// An expectation is what a number is expected to be: one of two guesses, −1 if there are none.
type expectation struct {
	guesses [2]int64
	context uint64 // of how right they are
	set     int    // the first of 9 sets of weights
}

// tree codes a number of n bits, in contexts.
func (m *sequenceModel) tree(v uint32, n int, base *contexts, e expectation) uint32 {
	node, near := uint32(1), 0 // all bits so far, and those since contexts were looked up
	for i := n - 1; i >= 0; i-- {
		if near == 0 {
			var in contexts
			for k, h := range base {
				in[k] = hashNext(h, uint64(node))
			}
			m.find(&in)
			near = 1
		}
		var next [2]uint64
		for k, g := range e.guesses {
			if next[k] = 2; g >= 0 && uint32(g)>>(i+1)|1<<(n-i-1) == node {
				next[k] = uint64(g) >> i & 1
			}
		}
		m.found[4] = m.table.find(hash(e.context, next[0], next[1], uint64(near)))
		bit := m.code(v>>i&1, near-1, e.set+3*int(next[1])+int(next[0]))
		node = node<<1 | bit
		if near = near<<1 | int(bit); near >= 8 {
			near = 0
		}
	}
	return node &^ (1 << n)
}

// enter goes on by a mark.
func (m *sequenceModel) enter(s uint32) {
	if m.polls != nil {
		if m.polls.ended = 0; s == markOpen {
			m.polls.begin(m)
		}
	}
	if int(s) < len(m.lastAt) {
		m.lastAt[s] = len(m.history.list)
	}
	if last := m.history.before(1); last == markOpen {
		m.first = s
	}
	if m.kept != nil {
		m.kept.add(&m.history, s)
	} else {
		m.history.add(s)
	}
	m.counts, m.chosen = append(m.counts, 1), append(m.chosen, 0)
	m.position++
	m.since++
	switch s {
	case markOpen:
		m.outer = append(m.outer, m.position)
		m.position = 0
	case markClose:
		m.since = 0
		if last := len(m.outer) - 1; last >= 0 {
			m.position, m.outer = m.outer[last], m.outer[:last]
		}
		if m.polls != nil {
			m.polls.end(m)
		}
	case markEnd:
		m.position, m.since, m.outer = 0, 0, m.outer[:0]
	}
}

// member codes which symbol of a class follows.
func (m *sequenceModel) member(class uint32, s sequitur.Symbol) sequitur.Symbol {
	variants := m.variants[class]
	group := m.alphabet.Group[class]
	own, ok := m.lastOf[group]
	after, at := hash(0, uint64(own), uint64(group)), hash(1, uint64(m.position), uint64(group))
	if !ok {
		after = hash(2, uint64(group))
	}
	i := 0
	if len(variants) > 1 {
		i, _ = slices.BinarySearch(variants, m.alphabet.Variant[s])
		i = m.memberBits(class, i, [4]int{m.placeOf(variants, after), m.placeOf(variants, at),
			m.recentPlace(variants), m.alikePlace(variants)})
	}
	if i >= len(variants) {
		return sequitur.MaxSymbol + 1
	}
	m.variant = variants[i]
	m.lastOf[group], m.chosen[len(m.chosen)-1] = m.variant, m.variant
	m.following[after], m.following[at] = m.variant, m.variant
	m.use(m.variant)
	return m.symbols[class][i]
}

// use notes that a variant was the last one.
func (m *sequenceModel) use(v uint32) {
	i := slices.Index(m.recent[:], v)
	if i < 0 {
		i = len(m.recent) - 1
	}
	copy(m.recent[1:i+1], m.recent[:i])
	m.recent[0] = v
}

// recentPlace returns the place in a list of the variant that was used last, of those in the
// list, or what is none.
func (m *sequenceModel) recentPlace(variants []uint32) int {
	for _, v := range m.recent {
		if i, found := slices.BinarySearch(variants, v); found {
			return i
		}
	}
	return -1
}

// alikePlace returns the place in a list of the variant that the class had where it was expected to follow, or
// what is none.
func (m *sequenceModel) alikePlace(variants []uint32) int {
	var v uint32
	ok := m.alike >= 0
	if ok {
		v = m.chosen[m.alike]
	} else if m.polls != nil && len(m.polls.open) > 0 {
		v, ok = m.polls.variant(m)
	}
	if !ok {
		return -1
	}
	i, found := slices.BinarySearch(variants, v)
	if !found {
		return -2
	}
	return i
}

// placeOf returns the place of the variant that followed, in a list, or what is none.
func (m *sequenceModel) placeOf(variants []uint32, key uint64) int {
	v, ok := m.following[key]
	if !ok {
		return -1
	}
	i, found := slices.BinarySearch(variants, v)
	if !found {
		return -2
	}
	return i
}

// memberBits codes place i among those of a class, where four places may be expected: after the
// last variant of the group, at the position, that of the last one in the class, and that of the match.
func (m *sequenceModel) memberBits(class uint32, i int, expected [4]int) int {
	n := bits.Len(uint(len(m.variants[class]) - 1))
	node := 1
	next := func(place, k int) int {
		switch {
		case place < 0:
			return 2 - place
		case place>>(k+1)|1<<(n-k-1) != node:
			return 2
		}
		return place >> k & 1
	}
	near := uint64(min(m.history.length, matchBuckets))
	c, g, p := uint64(class), uint64(m.alphabet.Group[class]), uint64(m.position)
	last := uint64(m.variant)
	for k := n - 1; k >= 0; k-- {
		x, y, z, w := next(expected[0], k), next(expected[1], k), next(expected[2], k), next(expected[3], k)
		e, f, r, a, node64 := uint64(x), uint64(y), uint64(z), uint64(w), uint64(node)
		before := m.history.before(2)
		in := contexts{
			hash(40, e, r), hash(41, f, r), hash(42, c, node64), hash(43, c, e, f), hash(44, last, c, node64),
			hash(45, p, c, node64),
			hash(46, g, a), hash(47, before, c, node64), hash(48, a, near), hash(49, g, e, a), hash(50, g, r),
			hash(51, g, e, f, r),
		}
		m.find(&in)
		node = node<<1 | int(m.code(uint32(i>>k&1), 0, setVariant+5*x+y))
	}
	return node &^ (1 << n)
}
