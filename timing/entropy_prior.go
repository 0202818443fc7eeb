package timing

import (
	"slices"

	"github.com/reprise-trace/reprise/internal/adaptive"
	"github.com/reprise-trace/reprise/internal/bins"
)

// Ranks of a parallel program take much the same time for the same calls. A block of one can begin with what the
// models have learned from blocks of others, in place of nothing: its prior. Terminals of the blocks are the same if
// they have the same number, in the order of their first use in each. So that symbols are the same, too, they count
// from the smallest one that the bins have.

// An entropyPrior is what a model of blocks has learned from some. It is immutable.
type entropyPrior struct {
	codec  string // its name
	mature [levelSets][3]int64
	young  [levelSets][countSets][contexts]int64
	phases [bins.Phases]line
	lineTable
	shift  uint
	states []entropyState
}

// copy sets l to the line with a hash, and a tag from it, if there is one. Lines age here, as few of them are needed.
func (p *entropyPrior) copy(l *line, h uint64, tag uint16) {
	if i := h >> (p.shift & 63); i < uint64(len(p.tags)) && p.tags[i] == tag {
		*l = p.lines[i]
		l.age()
	}
}

// sharedLevels returns the number of levels below those at the root of symbols that count from the smallest one.
func (c *entropyCodec) sharedLevels() int { return lowLines(uint32(2*c.bins.Max()+2)) * lowLevels }

// smallest returns from where symbols count in blocks with a prior. Phases have one symbol more than bins.
func (c *entropyCodec) smallest() int32 { return -c.bins.Max() - 1 }

// An entropyTrainer learns from blocks, one after the other.
type entropyTrainer struct {
	codec *entropyCodec
	model entropyModel
	none  []byte
}

// newTrainer returns an entropyTrainer of blocks that have about so many values together.
func (c *entropyCodec) newTrainer(values int) *entropyTrainer {
	t := &entropyTrainer{codec: c}
	t.model.reset(values, c.sharedLevels(), c.fine, 0, nil)
	return t
}

// learn learns from the values of a block.
func (t *entropyTrainer) learn(b *codedBlock) {
	m := &t.model
	before := m.states
	m.newest, m.previous, m.history = b.first, 0, [3]uint32{}
	m.terminals.reset()
	m.states, m.prior = nil, &entropyPrior{states: before}
	m.coder.Write(t.none[:0])
	for i := range b.calls.n {
		c := b.calls.at(i)
		m.code(c.terminal, uint32(c.symbol-t.codec.smallest()), c.phase)
	}
	t.none = m.coder.Finish()
	if len(m.states) < len(before) {
		m.states = append(m.states, before[len(m.states):]...)
	}
	m.prior = nil
}

// priorCount is how often a prediction of a prior has learned at most: then it adapts fast to another block.
const priorCount = 8

// prior returns what was learned so far.
func (t *entropyTrainer) prior() *entropyPrior {
	m := &t.model
	p := &entropyPrior{codec: t.codec.Name(), mature: m.mature, young: m.young, phases: m.phases, shift: m.shift,
		lineTable: lineTable{slices.Clone(m.lines), slices.Clone(m.tags)}, states: slices.Clone(m.states)}
	for i := range p.phases {
		p.phases[i].age()
	}
	return p
}

func (l *line) age() {
	for i, b := range l {
		if n := b.Seen(); n > priorCount {
			l[i] = b - adaptive.Bit(n-priorCount)
		}
	}
}

// A codedBlock is a block as its values are coded.
type codedBlock struct {
	calls callList // without values
	first uint8
}

// appendShared appends the coding of the block with a prior, which is decoded by openShared.
func (c *entropyCodec) appendShared(dst []byte, b *codedBlock, prior *entropyPrior) []byte {
	var m entropyModel
	m.takeTable()
	m.reset(b.calls.n, c.sharedLevels(), c.fine, b.first, prior)
	m.coder.Write(append(dst, b.first))
	for i := range b.calls.n {
		call := b.calls.at(i)
		m.code(call.terminal, uint32(call.symbol-c.smallest()), call.phase)
	}
	m.returnTable()
	return m.coder.Finish()
}

// appendPlainBlock appends the coding of the block as an encoder does.
func (c *entropyCodec) appendPlainBlock(dst []byte, b *codedBlock) []byte {
	least := b.calls.at(0).symbol
	most := least
	for i := range b.calls.n {
		s := b.calls.at(i).symbol
		least, most = min(least, s), max(most, s)
	}
	var m entropyModel
	m.takeTable()
	dst, _ = c.appendPlain(dst, b, least, most, &m, nil)
	m.returnTable()
	return dst
}

// openShared returns a decoder of a block of so many values that has a prior.
func (c *entropyCodec) openShared(block []byte, values int, prior *entropyPrior) (*entropyDecoder, error) {
	d := &entropyDecoder{codec: c, values: values, left: values, offset: 1, least: c.smallest(), shared: true}
	if len(block) == 0 || block[0] >= bins.Phases || block[0] > 0 && !c.phased() {
		d.offset = 0
		return nil, d.corrupt("no phase")
	}
	d.model.takeTable()
	d.model.reset(values, c.sharedLevels(), c.fine, block[0], prior)
	d.model.coder.Read(block[1:])
	return d, nil
}

// read reads the values of a block, of calls with these terminals, as they are coded.
func (d *entropyDecoder) read(terminals []uint32) (*codedBlock, error) {
	b := &codedBlock{first: d.model.newest}
	for _, t := range terminals {
		s, phase, err := d.next(t)
		if err != nil {
			return nil, err
		}
		b.calls.add(entropyCall{terminal: t, symbol: s, phase: phase})
	}
	return b, nil
}
