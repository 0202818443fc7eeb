package mixing

import (
	"sync"

	"github.com/reprise-trace/reprise/internal/adaptive"
)

// mixedContexts is how many contexts predict a bit.
const mixedContexts = 12

// contexts are the contexts in which a bit is predicted, as hashes.
type contexts [mixedContexts]uint64

// A contextTable holds what was learned in contexts. It has a fixed size: a new context takes the place
// of another one, in pairs that of the one of two in which less was learned.
type contextTable struct {
	places []place
	shift  int
	paired bool
}

// A place holds what was learned of some bits in one context, such as three in a row, of which
// each has a place of its own for the bits before it. It is half a line of the cache.
type place struct {
	check uint32
	bits  [7]adaptive.Bit
}

// placeSize is how many bytes a place takes.
const placeSize = 32

// tables holds tables that nobody uses any more: a new one costs as much as what it is used for in a
// small block.
var tables sync.Pool

// newContextTable returns a table of 2^size places.
func newContextTable(size int, paired bool) contextTable {
	t := contextTable{shift: 64 - size, paired: paired}
	if old, ok := tables.Get().(*[]place); ok && cap(*old) >= 1<<size {
		t.places = (*old)[:1<<size]
		clear(t.places)
	} else {
		t.places = make([]place, 1<<size)
	}
	return t
}

// free lets others use the table.
func (t *contextTable) free() {
	places := t.places
	tables.Put(&places)
	t.places = nil
}

// find returns what was learned in a context.
func (t *contextTable) find(context uint64) *[7]adaptive.Bit {
	if t.paired {
		return t.pairOf(context).of(context)
	}
	return t.at(context).of(context)
}

// at returns the place of a context, which another one may have.
func (t *contextTable) at(context uint64) *place { return &t.places[context>>(t.shift&63)] }

// of returns what was learned in a context that has the place, and now has it if it had not.
func (p *place) of(context uint64) *[7]adaptive.Bit {
	if check := uint32(context); p.check != check {
		*p = place{check: check}
	}
	return &p.bits
}

// pair is two places that share a line of the cache.
type pair [2]place

// pairOf returns the pair of places of which a context may have one.
func (t *contextTable) pairOf(context uint64) *pair {
	i := context >> (t.shift & 63) &^ 1
	return (*pair)(t.places[i : i+2])
}

// of returns what was learned in a context that has one of the places, and now has one if it had none.
func (p *pair) of(context uint64) *[7]adaptive.Bit {
	check := uint32(context)
	switch {
	case p[0].check == check:
		return &p[0].bits
	case p[1].check == check:
		return &p[1].bits
	}
	x := &p[0]
	if p[1].bits[0].Seen() < x.bits[0].Seen() {
		x = &p[1]
	}
	*x = place{check: check}
	return &x.bits
}

// hash returns a hash of numbers, the same in every process: what is written depends on it.
// Numbers that were made to collide are only predicted worse.
func hash(numbers ...uint64) uint64 {
	h := uint64(0)
	for _, n := range numbers {
		h = hashNext(h, n)
	}
	return h
}

func hashNext(h, n uint64) uint64 {
	h = (h ^ n ^ 0x9e3779b97f4a7c15) * 0xd6e8feb86659fd93
	return (h ^ h>>32) * 0x9fb21c651e98df25
}

// A mixer codes bits that several contexts predict.
type mixer struct {
	adaptive.Coder
	table   contextTable
	weights []adaptive.ManyWeights
	learned []uint32 // how often weights did that settle, nil if they do not
	found   [mixedContexts]*[7]adaptive.Bit
	mixed   [mixedContexts]*adaptive.Bit
	coded   int // bits
}

// newMixer returns a mixer with a table of 2^size places, and so many sets of weights.
func newMixer(size, sets int, l level) mixer {
	m := mixer{table: newContextTable(size, l >= levelLong), weights: make([]adaptive.ManyWeights, sets)}
	if l >= levelLong {
		m.learned = make([]uint32, sets)
	}
	for i := range m.weights {
		m.weights[i] = adaptive.NewManyWeights(mixedContexts)
	}
	return m
}

// find looks up contexts. It finds all places before it looks at any of them: most are in no cache, and
// are fetched at once then.
func (m *mixer) find(in *contexts) {
	if m.table.paired {
		m.findInPairs(in)
		return
	}
	var at [mixedContexts]*place
	for i, h := range in {
		at[i] = m.table.at(h)
	}
	for i, h := range in {
		m.found[i] = at[i].of(h)
	}
}

func (m *mixer) findInPairs(in *contexts) {
	var at [mixedContexts]*pair
	for i, h := range in {
		at[i] = m.table.pairOf(h)
	}
	for i, h := range in {
		m.found[i] = at[i].of(h)
	}
}

// code codes a bit in the contexts that were looked up, with a set of weights. The node says
// which of the bits it is that have places there, from 0 to 6.
func (m *mixer) code(bit uint32, node, set int) uint32 {
	m.coded++
	for i, bits := range m.found {
		m.mixed[i] = &bits[node]
	}
	gain := int64(adaptive.GainOfMany)
	if m.learned != nil {
		gain = adaptive.SettlingGain(m.learned[set])
		m.learned[set]++
	}
	return m.MixMany(bit, m.mixed[:], &m.weights[set], gain)
}
