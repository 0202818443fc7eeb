package timing

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"

	"github.com/reprise-trace/reprise/internal/wire"
)

// groupLen is the number of symbols that have a width of their own.
const groupLen = 128

// Exponential is the codec that writes the symbols of [Bins] in as many bits as
// 128 of them in a row need. It is fast and knows nothing of signatures.
type Exponential[V Value] struct{ bins *Bins[V] }

// NewExponential returns a codec of relative error epsilon, which must be one
// that [NewBins] accepts.
func NewExponential[V Value](epsilon float64) (*Exponential[V], error) {
	b, err := NewBins[V](epsilon)
	if err != nil {
		return nil, err
	}
	return &Exponential[V]{b}, nil
}

// Name returns "bins" and the relative error.
func (c *Exponential[V]) Name() string { return fmt.Sprintf("bins,epsilon=%g", c.bins.Epsilon()) }

// Guarantee returns the relative error.
func (c *Exponential[V]) Guarantee() Guarantee { return Guarantee(c.bins.Epsilon()) }

// NewEncoder returns an Encoder of a column.
func (c *Exponential[V]) NewEncoder() Encoder[V] { return &exponentialEncoder[V]{bins: c.bins} }

type exponentialEncoder[V Value] struct {
	bins    *Bins[V]
	symbols []int32 // of the block, Max+1 for values that escape
	escapes []V
	packed  bitWriter // empty between groups
}

func (e *exponentialEncoder[V]) Append(_ uint32, v V) V {
	s := e.bins.Symbol(v)
	if s == Escape {
		e.symbols = append(e.symbols, e.bins.Max()+1)
		e.escapes = append(e.escapes, v)
		return v
	}
	e.symbols = append(e.symbols, s)
	return e.bins.Value(s)
}

func (e *exponentialEncoder[V]) AppendBlock(dst []byte) []byte {
	dst = wire.AppendUvarint(dst, uint64(len(e.symbols)))
	if isFloat[V]() {
		dst = appendEscapes(dst, e.escapes)
	}
	for rest := e.symbols; len(rest) > 0; {
		n := min(len(rest), groupLen)
		dst = appendGroup(dst, &e.packed, rest[:n])
		rest = rest[n:]
	}
	e.symbols, e.escapes = e.symbols[:0], e.escapes[:0]
	return dst
}

// appendGroup appends the least of the symbols, the width of their distances
// from it, and these, packed with w.
func appendGroup(dst []byte, w *bitWriter, symbols []int32) []byte {
	least, most := symbols[0], symbols[0]
	for _, s := range symbols {
		least, most = min(least, s), max(most, s)
	}
	width := bits.Len32(uint32(most - least))
	dst = wire.AppendVarint(dst, int64(least))
	dst = append(dst, byte(width))
	for _, s := range symbols {
		w.write(uint32(s-least), width)
	}
	return append(dst, w.finish()...)
}

// NewDecoder returns a Decoder of a block.
func (c *Exponential[V]) NewDecoder(block []byte, o Options) (Decoder[V], error) {
	d := wire.NewDecoder("timing", block)
	values := decodeCount(&d, o)
	dec := &exponentialDecoder[V]{bins: c.bins, values: values, left: values}
	if isFloat[V]() {
		dec.escapes = decodeEscapes(&d, c.bins, values)
	}
	dec.wire = d
	for left := values; left > 0 && d.Err() == nil; left -= groupLen {
		d.Varint("least")
		width := uint64(d.Byte("width"))
		d.Bytes("symbols", int((uint64(min(left, groupLen))*width+7)/8))
	}
	d.End("symbols")
	if err := d.Err(); err != nil {
		return nil, err
	}
	return dec, nil
}

// decodeCount reads the number of values of a block.
func decodeCount(d *wire.Decoder, o Options) int {
	at := d.Offset()
	n := d.Uvarint("values")
	if n > uint64(o.maxValues()) {
		d.Limit(at, "values", "%d in a block, and the limit is %d", n, o.maxValues())
		return 0
	}
	return int(n)
}

// decodeEscapes reads a number of values that escape bins, at most as many as
// there are values, and returns their bits.
func decodeEscapes[V Value](d *wire.Decoder, bins *Bins[V], values int) []byte {
	at := d.Offset()
	escapes := d.Bytes("escapes", 8*d.Count("escapes", 8))
	if n := len(escapes) / 8; n > values {
		d.Corrupt(at, "escapes", "%d among %d values", n, values)
		return nil
	}
	for rest := escapes; len(rest) > 0; rest = rest[8:] {
		if v := fromBits[V](binary.LittleEndian.Uint64(rest)); bins.Symbol(v) != Escape {
			d.Corrupt(d.Offset()-len(rest), "escapes", "%v has a bin", v)
			return nil
		}
	}
	return escapes
}

// appendEscapes appends what decodeEscapes reads.
func appendEscapes[V Value](dst []byte, escapes []V) []byte {
	dst = wire.AppendUvarint(dst, uint64(len(escapes)))
	for _, v := range escapes {
		dst = wire.AppendUint64(dst, toBits(v))
	}
	return dst
}

// endOfBlock is the error of a Decoder when more values are asked for than the
// block has, which ends at an offset.
func endOfBlock(offset int) error {
	return &ParseError{Package: "timing", Offset: int64(offset), Field: "values", Err: io.ErrUnexpectedEOF}
}

type exponentialDecoder[V Value] struct {
	bins    *Bins[V]
	wire    wire.Decoder // at the next group
	values  int          // in the block
	left    int          // in the groups that follow
	symbols []int32      // of group, those that are left to decode
	escapes []byte       // that are left
	group   [groupLen]int32
	packed  [groupLen*4 + 8]byte
}

func (d *exponentialDecoder[V]) Decode(dst []V, _ []uint32) error {
	for len(dst) > 0 {
		if len(d.symbols) == 0 && !d.readGroup() {
			if err := d.wire.Err(); err != nil {
				return err
			}
			return endOfBlock(d.wire.Offset())
		}
		n := min(len(dst), len(d.symbols))
		for i, s := range d.symbols[:n] {
			if isFloat[V]() && s > d.bins.max {
				dst[i] = fromBits[V](binary.LittleEndian.Uint64(d.escapes))
				d.escapes = d.escapes[8:]
				continue
			}
			dst[i] = d.bins.Value(s)
		}
		dst, d.symbols = dst[n:], d.symbols[n:]
	}
	return nil
}

func (d *exponentialDecoder[V]) Len() int { return d.values }

// readGroup unpacks the next group, and reports whether there is one.
func (d *exponentialDecoder[V]) readGroup() bool {
	if d.left == 0 || d.wire.Err() != nil {
		return false
	}
	n := min(d.left, groupLen)
	at := d.wire.Offset()
	least, width := d.wire.Varint("least"), int(d.wire.Byte("width"))
	if limit := int64(d.bins.max); least < -limit || least > limit+1 || width > 31 {
		d.wire.Corrupt(at, "least", "%d, and symbols of %d bits", least, width)
		return false
	}
	packed := d.wire.Bytes("symbols", (n*width+7)/8)
	clear(d.packed[copy(d.packed[:], packed):][:8])
	for i := range d.group[:n] {
		code := uint32(binary.LittleEndian.Uint64(d.packed[i*width>>3:])>>(i*width&7)) & (1<<width - 1)
		d.group[i] = int32(least) + int32(code)
	}
	d.left -= n
	d.symbols = d.group[:n]
	return d.checkGroup(at, int32(least), width, packed)
}

// checkGroup checks the symbols of a group that begins at an offset: that they
// exist, that they are written in the only way, and that there is a value for
// each that escapes.
func (d *exponentialDecoder[V]) checkGroup(at int, least int32, width int, packed []byte) bool {
	lowest, most, escapes := d.symbols[0], d.symbols[0], 0
	for _, s := range d.symbols {
		lowest, most = min(lowest, s), max(most, s)
		if s > d.bins.max {
			escapes++
		}
	}
	highest := d.bins.max
	if isFloat[V]() {
		highest++
	}
	used := len(d.symbols) * width & 7
	switch {
	case lowest != least || bits.Len32(uint32(most-least)) != width || used > 0 && packed[len(packed)-1]>>used != 0:
		d.wire.Corrupt(at, "symbols", "not packed in the least number of bits")
	case most > highest:
		d.wire.Corrupt(at, "symbols", "symbol %d of %d", most, highest)
	case escapes > len(d.escapes)/8 || d.left == 0 && escapes < len(d.escapes)/8:
		d.wire.Corrupt(at, "symbols", "%d escapes, where %d are left", escapes, len(d.escapes)/8)
	default:
		return true
	}
	d.symbols = nil
	return false
}
