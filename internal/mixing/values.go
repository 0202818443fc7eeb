package mixing

import (
	"math/bits"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// maxSteps is how many steps there may be from one item to the next, and from the end of a loop to its
// beginning, on the way to the values of a block: a loop of a few bytes stands for many of them.
const maxSteps = 1 << 24

// holds reports whether the streams of a member have as many values as its symbols take, all of
// which there are.
func (a *Alphabet) holds(x Member) bool {
	if len(x.Streams) != len(a.Values) {
		return false
	}
	taken := make([]uint64, len(a.Values))
	if a.Streams != nil {
		for s, n := range x.Grammar.Occurrences() {
			for _, stream := range a.Streams[a.Class[s]] {
				taken[stream] = wire.AddSat(taken[stream], n)
			}
		}
	}
	for i, list := range x.Streams {
		outside := func(v uint32) bool { return int(v) >= len(a.Values[i]) }
		if uint64(len(list)) != taken[i] || slices.ContainsFunc(list, outside) {
			return false
		}
	}
	return true
}

// takes reports whether there are values for an item, of which the body says it already.
func (a *Alphabet) takes(x *item) bool {
	if x.body == nil {
		return a.Streams != nil && a.Streams[a.Class[x.symbol]] != nil
	}
	return slices.ContainsFunc(x.body, func(y item) bool { return y.takes })
}

// markTakes says of all items whether there are values for them.
func (a *Alphabet) markTakes(list []item) {
	for i := range list {
		a.markTakes(list[i].body)
		list[i].takes = a.takes(&list[i])
	}
}

// A valueModel has what predicts the values of streams: what came before them. Numbers of values
// are one more than in a Member, so that 0 is none.
type valueModel struct {
	streams [][]uint32 // those of the member
	next    []int      // how many of each there were in the member
	count   int        // of values in all
	steps   int        // that were taken
	most    int        // values
	outside bool       // a value was read that there is not

	last        [][2]uint32       // the last two of each stream
	lastOf      map[uint64]uint32 // the last one, by class, or by class and the value before it
	following   map[uint64]uint32 // the one that followed two
	differences map[uint64]int64  // the last one, from the last value of the class or from the one before
}

// newValueModel returns the model of n streams of so many values at most.
func newValueModel(n, most int) valueModel {
	return valueModel{
		next: make([]int, n), most: most, last: make([][2]uint32, n),
		lastOf: make(map[uint64]uint32), following: make(map[uint64]uint32), differences: make(map[uint64]int64),
	}
}

// begin begins the streams of a member: those to be written, nil if they are read.
func (v *valueModel) begin(streams [][]uint32) {
	if v.streams = streams; streams == nil && len(v.next) > 0 {
		v.streams = make([][]uint32, len(v.next))
	}
	clear(v.next)
}

// tooMany reports whether there are more values than there may be, or they took too many steps.
func (v *valueModel) tooMany() bool { return v.count > v.most || v.steps > maxSteps }

// ends reports whether there is nothing more to be read or written.
func (v *valueModel) ends() bool { return v.outside || v.tooMany() }

// values codes the values that items take, one after the other.
func (m *sequenceModel) values(list []item) {
	for i := range list {
		x := &list[i]
		if m.value.steps++; !x.takes {
			continue
		}
		for n := x.count; n > 0 && !m.value.ends(); n-- {
			if x.body == nil {
				m.valuesOf(x.symbol)
			} else {
				m.values(x.body)
			}
		}
	}
}

// valuesOf codes the values that a symbol takes.
func (m *sequenceModel) valuesOf(s sequitur.Symbol) {
	v := &m.value
	before := taken{stream: -1}
	for _, stream := range m.alphabet.Streams[m.alphabet.Class[s]] {
		n := uint32(0)
		if !m.Reading() {
			n = v.streams[stream][v.next[stream]]
		}
		if n = m.valueOf(stream, s, before, n); n >= uint32(len(m.alphabet.Values[stream])) {
			v.outside = true
			return
		}
		if m.Reading() {
			v.streams[stream] = append(v.streams[stream], n)
		}
		v.next[stream]++
		v.count++
		before = taken{stream, n}
	}
}

// A taken value is what a symbol took from a stream, from none if that is −1.
type taken struct {
	stream int
	number uint32
}

// A valueContext is where a value stands, and what is expected there.
type valueContext struct {
	stream   int
	values   []int64
	own      uint64 // key of the class
	pair     uint64 // key of the class and of the value that the symbol took before
	two      uint64 // key of the last two of the stream
	last     [2]uint32
	ofClass  uint32 // the last one
	linear   uint32 // the one that differs from that as the last one did, if there is such a one
	ofPair   uint32 // the last one after the value before
	sum      uint32 // the one that differs from the value before as the last one did
	followed uint32 // the one that followed the last two
}

// context returns where the next value of a stream stands.
func (m *sequenceModel) context(stream int, class uint32, before taken) valueContext {
	v, x, c := &m.value, uint64(stream), uint64(class)
	t := valueContext{stream: stream, values: m.alphabet.Values[stream], last: v.last[stream]}
	t.own = hash(0, x, c)
	t.pair = hash(1, x, c, uint64(int64(before.stream)), uint64(before.number))
	t.two = hash(2, x, uint64(t.last[0]), uint64(t.last[1]))
	t.ofClass, t.ofPair, t.followed = v.lastOf[t.own], v.lastOf[t.pair], v.following[t.two]
	if int(t.ofClass) > len(t.values) { // of another stream, whose key was made to collide
		t.ofClass = 0
	}
	if t.ofClass > 0 {
		t.linear = numberOf(t.values, t.values[t.ofClass-1]+v.differences[t.own])
	}
	if before.stream >= 0 {
		t.sum = numberOf(t.values, m.alphabet.Values[before.stream][before.number]+v.differences[hash(3, x, c)])
	}
	return t
}

// numberOf returns the number of a value, 0 if there is none.
func numberOf(values []int64, v int64) uint32 {
	i, found := slices.BinarySearch(values, v)
	if !found {
		return 0
	}
	return uint32(i) + 1
}

// valueOf codes a value of a stream, by its number in a Member. The symbol took the one before.
func (m *sequenceModel) valueOf(stream int, s sequitur.Symbol, before taken, n uint32) uint32 {
	class := m.alphabet.Class[s]
	t := m.context(stream, class, before)
	x, c, w := uint64(stream), uint64(class), hash(uint64(int64(before.stream)), uint64(before.number))
	twin := m.value.lastOf[hash(0, x, uint64(m.twins[class+firstClass]))]
	in := contexts{
		hash(60, x),
		hash(61, c),
		hash(62, x, uint64(t.last[0])),
		hash(63, c, uint64(t.ofClass)),
		hash(64),
		hash(65, t.two),
		hash(66, x, w),
		hash(67, c, w, uint64(t.ofPair)),
		hash(68, uint64(s), x),
		hash(69, x, uint64(twin), uint64(t.linear)),
		hash(70, c, uint64(m.position)),
		hash(71, c, uint64(t.sum)),
	}
	e := expectation{context: hash(64, x), set: setValue + 9*min(stream, valueSets-1)}
	for i, guesses := range [2][2]uint32{{t.sum, t.ofPair}, {t.linear, t.followed}} {
		g := guesses[0]
		if g == 0 {
			g = guesses[1]
		}
		e.guesses[i] = int64(g) - 1
	}
	n = m.tree(n, bits.Len(uint(len(t.values)-1)), &in, e)
	m.value.learn(&t, hash(3, x, c), before, m.alphabet.Values, n)
	return n
}

// learn takes note of the number of a value.
func (v *valueModel) learn(t *valueContext, sum uint64, before taken, values [][]int64, n uint32) {
	if n >= uint32(len(t.values)) {
		return
	}
	if before.stream >= 0 {
		v.differences[sum] = t.values[n] - values[before.stream][before.number]
	}
	if t.ofClass > 0 {
		v.differences[t.own] = t.values[n] - t.values[t.ofClass-1]
	}
	v.lastOf[t.own], v.lastOf[t.pair], v.following[t.two] = n+1, n+1, n+1
	v.last[t.stream] = [2]uint32{n + 1, t.last[0]}
}
