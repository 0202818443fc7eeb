package timing

import (
	"fmt"
	"math"
	"math/bits"
	"sync"

	"github.com/reprise-trace/reprise/internal/bins"
	"github.com/reprise-trace/reprise/internal/wire"
)

// An entropyCodec writes the symbols of bins in about as many bits as
// they are surprising, given what came before: the terminal, the values of the
// calls before with any terminal and with this one, and the terminals of the
// three calls before, which tell where in a loop the call stands. What it knows of these
// it learns from the block itself, so that a block has no tables.
type entropyCodec struct {
	binned
	fine uint // low bits of symbols that are no context, 0 of bins that have phases
}

// coarseEpsilon is the relative error from which on bins are wide enough to be a context.
const coarseEpsilon = 1.0 / 16

// NewEntropy returns the codec that writes bins of relative error epsilon, from
// 0.0001 to 0.5, in as many bits as remain after adaptive modelling.
func NewEntropy(epsilon float64) (Codec, error) {
	b, err := newBinned("entropy", epsilon)
	if err != nil {
		return nil, err
	}
	c := &entropyCodec{binned: b}
	for math.Ldexp(epsilon, int(c.fine)) < coarseEpsilon {
		c.fine++
	}
	return c, nil
}

// NewEncoder returns an Encoder of a column. It keeps 24 bytes for each value of
// the block in hand.
func (c *entropyCodec) NewEncoder() Encoder { return &entropyEncoder{codec: c} }

type entropyEncoder struct {
	codec  *entropyCodec
	phases phaseChooser
	first  uint8    // the phase of terminals that are new in the block, until another is chosen
	calls  callList // of the block
	least  int32    // of the symbols of the block
	most   int32
	model  entropyModel
	number []byte // of the block, or of the one before
}

// An entropyCall is a value of a block.
type entropyCall struct {
	terminal uint32
	symbol   int32
	value    int64
	before   int32 // the number of the value with the terminal before it; −1 for none
	phase    uint8
}

// A callList is the values of a block. It grows by parts that lists share, since to get memory takes longer than to
// fill it.
type callList struct {
	parts []*callPart
	n     int
}

type callPart [1 << 10]entropyCall

var callParts = sync.Pool{New: func() any { return new(callPart) }}

func (l *callList) at(i int) *entropyCall { return &l.parts[i/len(callPart{})][i%len(callPart{})] }

func (l *callList) add(c entropyCall) {
	if l.n%len(callPart{}) == 0 {
		l.parts = append(l.parts, callParts.Get().(*callPart))
	}
	*l.at(l.n) = c
	l.n++
}

// reset makes l empty, and gives its parts to others.
func (l *callList) reset() {
	for i, p := range l.parts {
		callParts.Put(p)
		l.parts[i] = nil
	}
	l.parts, l.n = l.parts[:0], 0
}

func (e *entropyEncoder) Append(terminal uint32, v int64) int64 {
	call := entropyCall{terminal: terminal, value: v}
	b := e.codec.bins
	if e.codec.phased() {
		t := e.phases.next(&e.codec.phases, terminal, &e.calls)
		call.before, call.phase = t.last, t.phase
		t.last, t.values = int32(e.calls.n), t.values+1
		b = t.bins
	}
	s := b.Symbol(v)
	call.symbol = s
	e.calls.add(call)
	if e.calls.n == 1 {
		e.least, e.most = s, s
	}
	e.least, e.most = min(e.least, s), max(e.most, s)
	return b.Value(s)
}

func (e *entropyEncoder) AppendBlock(dst []byte) []byte {
	dst, e.number = e.codec.appendPlain(dst, &codedBlock{e.calls, e.first}, e.least, e.most, &e.model, e.number[:0])
	e.restart()
	return dst
}

// restart begins the next block.
func (e *entropyEncoder) restart() {
	e.calls.reset()
	e.least, e.most, e.first = 0, 0, 0
	e.phases.restart()
}

// appendPlain appends the coding of a block, whose symbols are from least to most, with a model whose memory it
// takes. It returns memory of the number.
func (c *entropyCodec) appendPlain(dst []byte, b *codedBlock, least, most int32, m *entropyModel,
	number []byte,
) (extended, memory []byte) {
	dst = wire.AppendUvarint(dst, uint64(b.calls.n))
	if b.calls.n == 0 {
		return dst, number
	}
	low := lowLines(uint32(most - least))
	dst = wire.AppendVarint(dst, int64(least))
	dst = append(dst, byte(low)|b.first<<lowBits)
	m.reset(b.calls.n, low*lowLevels, c.fine, b.first, nil)
	m.coder.Write(number)
	for i := range b.calls.n {
		call := b.calls.at(i)
		m.code(call.terminal, uint32(call.symbol-least), call.phase)
	}
	number = m.coder.Finish()
	return append(wire.AppendUvarint(dst, uint64(len(number))), number...), number
}

// lowLines returns the number of lines below that at the root for symbols up to
// most.
func lowLines(most uint32) int {
	return (max(bits.Len32(most), topLevels) - topLevels + lowLevels - 1) / lowLevels
}

// noSymbol is more than any symbol.
const noSymbol = 1<<31 - 1

// maxLow is the largest number of lines below that at the root, for which a symbol
// and its prefix fit in 32 bits. It has lowBits bits.
const (
	maxLow  = 6
	lowBits = 3
)

// NewDecoder returns a Decoder of a block. Apart from what each terminal needs,
// it holds no more than about a megabyte.
func (c *entropyCodec) NewDecoder(block []byte, o Options) (Decoder, error) {
	w := wire.NewDecoder("timing", block)
	d := &entropyDecoder{codec: c, values: decodeCount(&w, o), offset: len(block)}
	if d.left = d.values; d.left == 0 {
		w.End("values")
		return d, w.Err()
	}
	var first uint8
	d.least, d.low, first = c.decodeHead(&w, "low", 0, maxLow)
	number := w.String("symbols")
	d.offset = w.Offset() - len(number)
	w.End("symbols")
	if w.Err() != nil {
		return nil, w.Err()
	}
	d.lowest = noSymbol
	d.model.takeTable()
	d.model.reset(d.left, d.low*lowLevels, c.fine, first, nil)
	d.model.coder.Read(number)
	return d, nil
}

// decodeHead returns the least symbol of a block, a number from least to most that a field has, and the phase of
// terminals that are new in it.
func (c *entropyCodec) decodeHead(w *wire.Decoder, field string, least, most int) (symbol int32, n int, first uint8) {
	at := w.Offset()
	s := w.Varint("least")
	if limit := int64(c.bins.Max()) + 1; s < -limit || s > limit {
		w.Corrupt(at, "least", "symbol %d of %d", s, limit)
	}
	at = w.Offset()
	b := w.Byte(field)
	n, first = int(b&(1<<lowBits-1)), b>>lowBits
	if n < least || n > most || first >= bins.Phases || first > 0 && !c.phased() {
		w.Corrupt(at, field, "%#x is no number from %d to %d and a phase", b, least, most)
	}
	return int32(s), n, first
}

type entropyDecoder struct {
	codec   *entropyCodec
	offset  int // of the symbols
	values  int // in the block
	left    int // of them
	low     int
	least   int32
	lowest  int32 // of the symbols so far, less the least
	highest int32
	model   entropyModel
	shared  bool // with a prior
	err     error
}

func (d *entropyDecoder) Decode(dst []int64, terminals []uint32) error {
	checkTerminals(len(dst), terminals)
	if d.err != nil {
		return d.err
	}
	for i := range dst {
		s, phase, err := d.next(terminals[i])
		if err != nil {
			return err
		}
		b := d.codec.bins
		if phase > 0 {
			b = d.codec.phases[phase]()
		}
		dst[i] = b.Value(s)
	}
	return nil
}

// next returns the next symbol, and the phase of its bins.
func (d *entropyDecoder) next(terminal uint32) (s int32, phase uint8, err error) {
	if d.left == 0 {
		return 0, 0, endOfBlock(d.offset)
	}
	d.left--
	symbol, phase := d.model.code(terminal, 0, 0)
	x, b := int32(symbol), d.codec.bins
	if phase > 0 {
		b = d.codec.phases[phase]()
	}
	d.lowest, d.highest = min(d.lowest, x), max(d.highest, x)
	if s, limit := int64(x)+int64(d.least), int64(b.Max()); s > limit || s < -limit {
		return 0, 0, d.corrupt("symbol %d of %d", s, limit)
	}
	if d.model.coder.Ended() {
		return 0, 0, d.corrupt("%d values are left at the end of the number", d.left)
	}
	if d.left == 0 {
		if err := d.end(); err != nil {
			return 0, 0, err
		}
	}
	return x + d.least, phase, nil
}

func (d *entropyDecoder) Len() int { return d.values }

// end checks, after the last value, that the block is the only one with these values in these phases.
func (d *entropyDecoder) end() error {
	d.model.returnTable()
	switch {
	case !d.shared && (d.lowest != 0 || lowLines(uint32(d.highest)) != d.low):
		return d.corrupt("from %d to %d in %d lines", d.lowest, d.highest, d.low+1)
	case d.model.refused:
		return d.corrupt("a guess that is refused and right")
	case !d.model.coder.Finished():
		return d.corrupt("the number ends otherwise")
	}
	return nil
}

func (d *entropyDecoder) corrupt(format string, args ...any) error {
	d.err = &ParseError{Package: "timing", Offset: int64(d.offset), Field: "symbols",
		Err: fmt.Errorf("%w: "+format, append([]any{ErrCorrupt}, args...)...)}
	return d.err
}
