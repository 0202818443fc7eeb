package timing

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"

	"github.com/reprise-trace/reprise/internal/wire"
)

// The smallest and the largest relative error that [NewBins] accepts.
const (
	MinEpsilon = 1e-4
	MaxEpsilon = 0.5
)

// Bins maps values to symbols, the numbers of exponential bins, such that the
// representative of a value's bin differs from the value by at most ε relative
// to it. Zero has symbol 0 and is exact. A value v > 0 has a symbol s with
// 0 < s ≤ Max, and −v has the symbol −s. Symbols grow with the values.
//
// The bins are as few as possible: the bin after [.., a−1] has the representative
// ⌊a·(1+ε)⌋ = r and ends with ⌊r/(1−ε)⌋, so that integers below 1/ε are bins of
// their own, and bins grow by (1+ε)/(1−ε) later on.
//
// Bins are immutable and do not depend on the machine.
type Bins struct {
	asked   float64
	epsilon uint64   // asked·2³², rounded down
	hi      []uint64 // the largest number of each bin
	rep     []uint64 // its representative
	slot    []int32  // the bin of the smallest number with this length and prefix
	bits    uint     // of the prefix
}

// NewBins returns bins of relative error epsilon, which is from [MinEpsilon] to
// [MaxEpsilon]. They are made for the multiple of 2⁻³² below it.
func NewBins(epsilon float64) (*Bins, error) {
	if !(epsilon >= MinEpsilon && epsilon <= MaxEpsilon) {
		return nil, fmt.Errorf("timing: epsilon %g is not from %g to %g", epsilon, MinEpsilon, MaxEpsilon)
	}
	b := &Bins{asked: epsilon, epsilon: uint64(math.Ldexp(epsilon, 32)), hi: []uint64{0}, rep: []uint64{0}}
	const limit = 1 << 63
	for last := uint64(0); last < limit; {
		rep := scaleUp(last+1, b.epsilon)
		last = min(scaleOut(rep, b.epsilon), limit)
		b.hi, b.rep = append(b.hi, last), append(b.rep, min(rep, limit-1))
	}
	b.fillSlots()
	return b, nil
}

// fillSlots makes the table in which symbol looks. A slot, an m-bit prefix of a
// number after its first bit, is not wider than a bin, so that the numbers of a slot
// are in at most two bins: 2⁻ᵐ ≤ 2ε. A slot of 2ᵏ numbers from a on has 2ᵏ ≤ 2εa, so
// that ⌊εa⌋ ≥ 2ᵏ⁻¹, and the bin of a then has at least 1+2·2ᵏ⁻¹ numbers.
func (b *Bins) fillSlots() {
	b.bits = uint(bits.LeadingZeros32(uint32(b.epsilon)))
	b.slot = make([]int32, 64<<b.bits)
	s := int32(1)
	for i := range b.slot {
		length, prefix := uint(i)>>b.bits, uint64(i)&(1<<b.bits-1)
		first := 1<<length | prefix<<(64-b.bits)>>(64-length)
		for s < b.Max() && b.hi[s] < first {
			s++
		}
		b.slot[i] = s
	}
}

// Max returns the largest symbol; the smallest is −Max.
func (b *Bins) Max() int32 { return int32(len(b.hi) - 1) }

// Epsilon returns the relative error that the bins were asked for.
func (b *Bins) Epsilon() float64 { return b.asked }

// Symbol returns the symbol of v.
func (b *Bins) Symbol(v int64) int32 {
	// Both signs take the same way, since they come as the times do, without order.
	sign := v >> 63
	s := b.symbol(uint64((v ^ sign) - sign))
	return (s ^ int32(sign)) - int32(sign)
}

// symbol returns the bin of n ≤ 2⁶³.
func (b *Bins) symbol(n uint64) int32 {
	if n == 0 {
		return 0
	}
	zeros := uint(bits.LeadingZeros64(n))
	s := b.slot[(63-zeros)<<b.bits|uint(n<<zeros<<1>>(64-b.bits))]
	if n > b.hi[s] {
		s++
	}
	return s
}

// Value returns the representative of the bin with symbol s, where
// −Max ≤ s ≤ Max.
func (b *Bins) Value(s int32) int64 {
	sign := s >> 31
	rep := int64(b.rep[(s^sign)-sign])
	return (rep ^ int64(sign)) - int64(sign)
}

// scaleUp returns ⌊a·(1+ε)⌋.
func scaleUp(a, epsilon uint64) uint64 {
	hi, lo := bits.Mul64(a, epsilon)
	return a + (hi<<32 | lo>>32)
}

// scaleOut returns ⌊a/(1−ε)⌋, or the largest uint64 if that overflows.
func scaleOut(a, epsilon uint64) uint64 {
	if a>>32 >= 1<<32-epsilon {
		return math.MaxUint64
	}
	q, _ := bits.Div64(a>>32, a<<32, 1<<32-epsilon)
	return q
}

// groupLen is the number of symbols that have a width of their own.
const groupLen = 128

// An exponentialCodec writes the symbols of [Bins] in as many bits as
// 128 of them in a row need. It is fast and knows nothing of signatures.
type exponentialCodec struct{ bins *Bins }

// NewExponential returns the codec that writes bins of relative error epsilon, which
// must be one that [NewBins] accepts, in as many bits as 128 in a row need. It is fast
// and knows nothing of signatures.
func NewExponential(epsilon float64) (Codec, error) {
	b, err := NewBins(epsilon)
	if err != nil {
		return nil, err
	}
	return &exponentialCodec{b}, nil
}

// Name returns "bins" and the relative error.
func (c *exponentialCodec) Name() string { return fmt.Sprintf("bins,epsilon=%g", c.bins.Epsilon()) }

// Guarantee returns the relative error.
func (c *exponentialCodec) Guarantee() Guarantee { return Guarantee(c.bins.Epsilon()) }

// NewEncoder returns an Encoder of a column.
func (c *exponentialCodec) NewEncoder() Encoder { return &exponentialEncoder{bins: c.bins} }

type exponentialEncoder struct {
	bins    *Bins
	symbols []int32   // of the block
	packed  bitWriter // empty between groups
}

func (e *exponentialEncoder) Append(_ uint32, v int64) int64 {
	s := e.bins.Symbol(v)
	e.symbols = append(e.symbols, s)
	return e.bins.Value(s)
}

func (e *exponentialEncoder) AppendBlock(dst []byte) []byte {
	dst = wire.AppendUvarint(dst, uint64(len(e.symbols)))
	for rest := e.symbols; len(rest) > 0; {
		n := min(len(rest), groupLen)
		dst = appendGroup(dst, &e.packed, rest[:n])
		rest = rest[n:]
	}
	e.symbols = e.symbols[:0]
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
func (c *exponentialCodec) NewDecoder(block []byte, o Options) (Decoder, error) {
	d := wire.NewDecoder("timing", block)
	values := decodeCount(&d, o)
	dec := &exponentialDecoder{bins: c.bins, values: values, left: values}
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

// endOfBlock is the error of a Decoder when more values are asked for than the
// block has, which ends at an offset.
func endOfBlock(offset int) error {
	return &ParseError{Package: "timing", Offset: int64(offset), Field: "values", Err: io.ErrUnexpectedEOF}
}

type exponentialDecoder struct {
	bins    *Bins
	wire    wire.Decoder // at the next group
	values  int          // in the block
	left    int          // in the groups that follow
	symbols []int32      // of group, those that are left to decode
	group   [groupLen]int32
	packed  [groupLen*4 + 8]byte
}

func (d *exponentialDecoder) Decode(dst []int64, _ []uint32) error {
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
	least, width := d.wire.Varint("least"), int(d.wire.Byte("width"))
	if limit := int64(d.bins.Max()); least < -limit || least > limit || width > 31 {
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
