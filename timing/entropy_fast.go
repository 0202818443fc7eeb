package timing

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
)

// A fastCodec is an entropyCodec that codes symbols a nibble at a time.
type fastCodec struct{ entropyCodec }

// NewEntropyFast returns the codec that does what that of [NewEntropy] does in about a third of the time, with some
// percent more bits: bins of relative error epsilon, from 0.0001 to 0.5, and adaptive modelling.
func NewEntropyFast(epsilon float64) (Codec, error) {
	b, err := newBinned("entropy-fast", epsilon)
	if err != nil {
		return nil, err
	}
	c := &fastCodec{entropyCodec{binned: b}}
	for math.Ldexp(epsilon, int(c.fine)) < coarseEpsilon {
		c.fine++
	}
	return c, nil
}

// NewEncoder returns an Encoder of a column. It keeps 28 bytes or more for each value of the block in hand.
func (c *fastCodec) NewEncoder() Encoder {
	return &fastEncoder{entropyEncoder{codec: &c.entropyCodec}}
}

type fastEncoder struct{ entropyEncoder }

func (e *fastEncoder) AppendBlock(dst []byte) []byte {
	dst = wire.AppendUvarint(dst, uint64(e.calls.n))
	if e.calls.n == 0 {
		e.restart()
		return dst
	}
	m := takeFastModel()
	levels := nibblesOf(uint32(e.most-e.least) >> e.codec.fine)
	dst = wire.AppendVarint(dst, int64(e.least))
	dst = append(dst, byte(levels)|e.first<<lowBits)
	m.reset(e.calls.n, levels, int(e.codec.fine), e.first)
	for i := range e.calls.n {
		call := e.calls.at(i)
		m.code(call.terminal, uint32(call.symbol-e.least), call.phase)
	}
	e.restart()
	words, state := appendIntervals(m.words[:0], m.intervals)
	dst = slices.Grow(dst, binary.MaxVarintLen64+4*len(words))
	dst = wire.AppendUvarint(dst, state)
	for i := len(words) - 1; i >= 0; i-- {
		dst = binary.BigEndian.AppendUint32(dst, words[i])
	}
	m.words = words
	m.free()
	return dst
}

// nibblesOf returns how many nibbles symbols up to most take.
func nibblesOf(most uint32) int { return max(1, (bits.Len32(most)+nibbleBits-1)/nibbleBits) }

// maxNibblesOf is more than any symbol takes, without fine bits.
const maxNibblesOf = 3

// NewDecoder returns a Decoder of a block. Apart from what each terminal needs, it holds no more than about half a
// megabyte.
func (c *fastCodec) NewDecoder(block []byte, o Options) (Decoder, error) {
	w := wire.NewDecoder("timing", block)
	d := &fastDecoder{codec: c, values: decodeCount(&w, o), offset: len(block), lowest: noSymbol}
	if d.left = d.values; d.left == 0 {
		w.End("values")
		return d, w.Err()
	}
	var first uint8
	d.least, d.levels, first = c.decodeHead(&w, "levels", 1, maxNibblesOf)
	at := w.Offset()
	d.reader.state = w.Uvarint("state")
	if w.Err() == nil && (d.reader.state < ansLow || d.reader.state >= ansHigh) {
		w.Corrupt(at, "state", "%d", d.reader.state)
	}
	d.offset = w.Offset()
	if w.Rest()%4 != 0 {
		w.Corrupt(d.offset, "symbols", "%d bytes, which are no words", w.Rest())
	}
	d.reader.words = w.Bytes("symbols", w.Rest())
	if w.Err() != nil {
		return nil, w.Err()
	}
	d.model = takeFastModel()
	d.model.reader = &d.reader
	d.model.reset(d.left, d.levels, int(c.fine), first)
	return d, nil
}

type fastDecoder struct {
	codec   *fastCodec
	offset  int // of the symbols
	values  int // in the block
	left    int // of them
	levels  int
	least   int32
	lowest  int32 // of the symbols so far, less the least
	highest int32
	model   *fastModel // until the end
	reader  ansReader
	err     error
}

func (d *fastDecoder) Len() int { return d.values }

func (d *fastDecoder) Decode(dst []int64, terminals []uint32) error {
	checkTerminals(len(dst), terminals)
	if d.err != nil {
		return d.err
	}
	for i := range dst {
		if d.left == 0 {
			return endOfBlock(d.offset)
		}
		d.left--
		symbol, phase := d.model.code(terminals[i], 0, 0)
		x, b := int32(symbol), d.codec.bins
		if phase > 0 {
			b = d.codec.phases[phase]()
		}
		d.lowest, d.highest = min(d.lowest, x), max(d.highest, x)
		s := x + d.least
		if limit := b.Max(); s > limit || s < -limit {
			return d.corrupt("symbol %d of %d", s, limit)
		}
		if d.reader.ended {
			return d.corrupt("%d values are left at the end of the words", d.left)
		}
		dst[i] = b.Value(s)
	}
	if d.left == 0 && d.model != nil {
		return d.end()
	}
	return nil
}

// end checks, after the last value, that the block is the only one with these values in these phases.
func (d *fastDecoder) end() error {
	refused := d.model.refused
	d.model.free()
	d.model = nil
	switch {
	case d.lowest != 0 || nibblesOf(uint32(d.highest)>>d.codec.fine) != d.levels:
		return d.corrupt("from %d to %d in %d nibbles", d.lowest, d.highest, d.levels)
	case refused:
		return d.corrupt("a symbol in the window that is coded as others, or a nibble of too many bits")
	case !d.reader.finished():
		return d.corrupt("the words end otherwise")
	}
	return nil
}

func (d *fastDecoder) corrupt(format string, args ...any) error {
	d.err = &ParseError{Package: "timing", Offset: int64(d.offset), Field: "symbols",
		Err: fmt.Errorf("%w: "+format, append([]any{ErrCorrupt}, args...)...)}
	return d.err
}
