package timing

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"

	"github.com/reprise-trace/reprise/internal/bins"
	"github.com/reprise-trace/reprise/internal/wire"
)

// groupLen is the number of symbols that have a width of their own.
const groupLen = 128

// binned is what the codecs of bins have in common.
type binned struct {
	bins   *bins.Bins // in phase 0
	phases phased
	name   string
}

// newBinned returns it, for a codec with the parameter epsilon and others.
func newBinned(name string, epsilon float64) (binned, error) {
	b, err := bins.New(epsilon)
	if err != nil {
		return binned{}, err
	}
	return binned{b, newPhased(b), fmt.Sprintf("%s,epsilon=%g", name, epsilon)}, nil
}

// phased reports whether bins have phases: narrow ones do not, as values spread over more of them, and tables of bins
// are large.
func (c *binned) phased() bool { return c.bins.Epsilon() >= coarseEpsilon }

func (c *binned) Name() string         { return c.name }
func (c *binned) Guarantee() Guarantee { return Guarantee(c.bins.Epsilon()) }

// An exponentialCodec is that of NewExponential.
type exponentialCodec struct{ binned }

// NewExponential returns the codec that writes bins of relative error epsilon, from
// 0.0001 to 0.5, in as many bits as 128 in a row need. It is fast
// and knows nothing of signatures.
func NewExponential(epsilon float64) (Codec, error) {
	b, err := newBinned("bins", epsilon)
	if err != nil {
		return nil, err
	}
	return &exponentialCodec{b}, nil
}

// NewEncoder returns an Encoder of a column.
func (c *exponentialCodec) NewEncoder() Encoder { return &exponentialEncoder{codec: c, bins: c.bins} }

type exponentialEncoder struct {
	codec   *exponentialCodec
	bins    *bins.Bins // of the group in hand
	symbols []int32    // of the block
	phases  []uint8    // of its groups
	recent  [triedGroups * groupLen]int64
	packed  bitWriter // empty between groups
}

// triedGroups is how many groups are packed in all phases to choose one.
const triedGroups = 2

func (e *exponentialEncoder) Append(_ uint32, v int64) int64 {
	n := len(e.symbols)
	if n%groupLen == 0 {
		e.begin(n / groupLen)
	}
	e.recent[n%len(e.recent)] = v
	s := e.bins.Symbol(v)
	e.symbols = append(e.symbols, s)
	return e.bins.Value(s)
}

// begin begins a group. After 8, 64, 512 groups and so on it may have other bins.
func (e *exponentialEncoder) begin(group int) {
	phase := uint8(0)
	if group == 0 {
		e.bins = e.codec.bins
	} else {
		phase = e.phases[group-1]
	}
	if group >= 8 && group&(group-1) == 0 && bits.TrailingZeros(uint(group))%3 == 0 && e.codec.phased() {
		phase = e.bestPhase(phase)
		e.bins = e.codec.phases[phase]()
	}
	e.phases = append(e.phases, phase)
}

// bestPhase returns the phase in which the recent groups take the fewest bits: that which they have, if no other is
// better.
func (e *exponentialEncoder) bestPhase(now uint8) uint8 {
	best, least := now, math.MaxInt
	for k := range uint8(bins.Phases) {
		phase := (now + k) % bins.Phases
		b, width := e.codec.phases[phase](), 0
		for i := 0; i < len(e.recent); i += groupLen {
			first := b.Symbol(e.recent[i])
			lowest, most := first, first
			for _, v := range e.recent[i : i+groupLen] {
				s := b.Symbol(v)
				lowest, most = min(lowest, s), max(most, s)
			}
			width += bits.Len32(uint32(most - lowest))
		}
		if width < least {
			best, least = phase, width
		}
	}
	return best
}

func (e *exponentialEncoder) AppendBlock(dst []byte) []byte {
	dst = wire.AppendUvarint(dst, uint64(len(e.symbols)))
	for i, phase := range e.phases {
		first := i * groupLen
		dst = appendGroup(dst, &e.packed, e.symbols[first:min(first+groupLen, len(e.symbols))], phase)
	}
	e.symbols, e.phases = e.symbols[:0], e.phases[:0]
	return dst
}

// appendGroup appends the least of the symbols, the width of their distances
// from it with the phase of their bins, and these, packed with w.
func appendGroup(dst []byte, w *bitWriter, symbols []int32, phase uint8) []byte {
	least, most := symbols[0], symbols[0]
	for _, s := range symbols {
		least, most = min(least, s), max(most, s)
	}
	width := bits.Len32(uint32(most - least))
	dst = wire.AppendVarint(dst, int64(least))
	dst = append(dst, byte(width)|phase<<widthBits)
	for _, s := range symbols {
		w.write(uint32(s-least), width)
	}
	return append(dst, w.finish()...)
}

// widthBits is how many bits the width of symbols has, which is at most 31.
const widthBits = 5

// NewDecoder returns a Decoder of a block.
func (c *exponentialCodec) NewDecoder(block []byte, o Options) (Decoder, error) {
	d := wire.NewDecoder("timing", block)
	values := decodeCount(&d, o)
	dec := &exponentialDecoder{codec: c, bins: c.bins, values: values, left: values}
	dec.wire = d
	for left := values; left > 0 && d.Err() == nil; left -= groupLen {
		d.Varint("least")
		width := uint64(d.Byte("width") & (1<<widthBits - 1))
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

// endOfBlock is the error of a Decoder when more values are asked for than the
// block has, which ends at an offset.
func endOfBlock(offset int) error {
	return &ParseError{Package: "timing", Offset: int64(offset), Field: "values", Err: io.ErrUnexpectedEOF}
}

type exponentialDecoder struct {
	codec   *exponentialCodec
	bins    *bins.Bins   // of the group
	wire    wire.Decoder // at the next group
	values  int          // in the block
	left    int          // in the groups that follow
	symbols []int32      // of group, those that are left to decode
	group   [groupLen]int32
	packed  [groupLen*4 + 8]byte
}

func (d *exponentialDecoder) Decode(dst []int64, terminals []uint32) error {
	checkTerminals(len(dst), terminals)
	for len(dst) > 0 {
		if len(d.symbols) == 0 && !d.readGroup() {
			if err := d.wire.Err(); err != nil {
				return err
			}
			return endOfBlock(d.wire.Offset())
		}
		n := min(len(dst), len(d.symbols))
		for i, s := range d.symbols[:n] {
			dst[i] = d.bins.Value(s)
		}
		dst, d.symbols = dst[n:], d.symbols[n:]
	}
	return nil
}

func (d *exponentialDecoder) Len() int { return d.values }

// readGroup unpacks the next group, and reports whether there is one.
func (d *exponentialDecoder) readGroup() bool {
	if d.left == 0 || d.wire.Err() != nil {
		return false
	}
	n := min(d.left, groupLen)
	at := d.wire.Offset()
	least, head := d.wire.Varint("least"), d.wire.Byte("width")
	width, phase := int(head&(1<<widthBits-1)), head>>widthBits
	if phase > 0 && !d.codec.phased() {
		d.wire.Corrupt(at, "width", "a phase of bins that have none")
		return false
	}
	if d.bins = d.codec.bins; phase > 0 {
		d.bins = d.codec.phases[phase]()
	}
	if limit := int64(d.bins.Max()); least < -limit || least > limit {
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
// exist, and that they are written in the only way.
func (d *exponentialDecoder) checkGroup(at int, least int32, width int, packed []byte) bool {
	lowest, most := d.symbols[0], d.symbols[0]
	for _, s := range d.symbols {
		lowest, most = min(lowest, s), max(most, s)
	}
	used := len(d.symbols) * width & 7
	switch {
	case lowest != least || bits.Len32(uint32(most-least)) != width || used > 0 && packed[len(packed)-1]>>used != 0:
		d.wire.Corrupt(at, "symbols", "not packed in the least number of bits")
	case most > d.bins.Max():
		d.wire.Corrupt(at, "symbols", "symbol %d of %d", most, d.bins.Max())
	default:
		return true
	}
	d.symbols = nil
	return false
}
