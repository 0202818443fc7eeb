package timing

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/reprise-trace/reprise/internal/wire"
)

// A resolution is the step T of a clock that counts in units of its own and is
// read in nanoseconds, in units of 2⁻³²: at least 1. The difference of two of its
// readings, each rounded down, is ⌊k·T⌋ or one more.
type resolution uint64

// maxResolution is the largest resolution, 2¹⁶ nanoseconds.
const maxResolution = resolution(1) << 48

// at returns ⌊k·T⌋ modulo 2⁶⁴ and the first three bits after the point.
func (t resolution) at(k int64) (value int64, eighths int) {
	hi, lo := bits.Mul64(uint64(k), uint64(t))
	if k < 0 {
		hi -= uint64(t)
	}
	return int64(hi<<32 | lo>>32), int(lo >> 29 & 7)
}

// split returns the largest k for which ⌊k·T⌋ ≤ v, and what is left of v.
func (t resolution) split(v int64) (k int64, rest uint64, eighths int) {
	mag := uint64(v)
	if v < 0 {
		mag = -mag
	}
	q, _ := bits.Div64(mag>>32, mag<<32, uint64(t))
	k = int64(q)
	if v < 0 {
		k = -k - 1
	}
	at, eighths := t.at(k)
	for {
		next, e := t.at(k + 1)
		if next > v || next < at { // it overflows where v is near the largest
			return k, uint64(v - at), eighths
		}
		k, at, eighths = k+1, next, e
	}
}

// sampleLen is how many values a resolution is sought in.
const sampleLen = 1 << 12

// findResolution returns the resolution of the clock that values are differences
// of, or 0 if they do not show one. It computes with integers alone, so that the
// result is the same everywhere.
func findResolution(values []int64) resolution {
	sample := make([]int64, 0, min(len(values), sampleLen))
	divisor := int64(0)
	for i := 0; i < len(values); i += len(values)/sampleLen + 1 {
		if v := values[i]; v > 0 && v < 1<<30 {
			sample = append(sample, v)
			divisor = gcd(divisor, v)
		}
	}
	if len(sample) < 32 {
		return 0
	}
	if divisor > 1 {
		return resolution(min(divisor, 1<<16)) << 32
	}
	slices.Sort(sample)
	step := commonStep(sample)
	if step < 3 {
		return 0
	}
	// From the last value of one k to the first of the next are T−2 to T+1. Those
	// in the middle are near each other, so that their differences, of few steps,
	// narrow the bounds until they do for the values.
	lo, hi := uint64(step-1)<<32, uint64(step+2)<<32
	middle := sample[len(sample)/2]
	differences := make([]int64, len(sample))
	for i, v := range sample {
		differences[i] = max(v-middle, middle-v)
	}
	slices.Sort(differences)
	lo, hi = narrow(differences, 2, lo, hi)
	lo, hi = narrow(sample, 1, lo, hi)
	t := min(between(lo, hi), maxResolution)
	agree := 0
	for _, v := range sample {
		if _, rest, _ := t.split(v); rest <= 1 {
			agree++
		}
	}
	if agree < len(sample)-len(sample)/16 {
		return 0
	}
	return t
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// commonStep returns the most common difference above 1 of neighbours in a
// sorted sample, the smallest if there are several; 0 for none below 1<<10.
func commonStep(sample []int64) int {
	var counts [1 << 10]int
	for i, v := range sample[1:] {
		if d := v - sample[i]; d > 1 && d < int64(len(counts)) {
			counts[d]++
		}
	}
	best := 0
	for d, n := range counts {
		if n > counts[best] {
			best = d
		}
	}
	return best
}

// narrow returns the bounds of a resolution between lo and hi from a sorted
// sample of values that are a multiple of it, give or take less than slack. A
// value narrows the bounds if they leave only one multiple, and is left out if
// that is not between them.
func narrow(sample []int64, slack int64, lo, hi uint64) (newLo, newHi uint64) {
	for _, v := range sample {
		if v <= slack {
			continue
		}
		below, above := uint64(v-slack)<<32, uint64(v+slack)<<32
		least, most := below/hi+1, (above-1)/lo
		if least != most {
			continue
		}
		if from, to := max(lo, below/most+1), min(hi, above/most); from < to {
			lo, hi = from, to
		}
	}
	return lo, hi
}

// between returns a whole number of nanoseconds between the bounds, if there is
// one, or what is in the middle.
func between(lo, hi uint64) resolution {
	if whole := hi >> 32 << 32; whole >= lo && whole > 0 {
		return resolution(whole)
	}
	return resolution(lo + (hi-lo)/2)
}

// A Compressor is a general method to compress bytes.
type Compressor uint8

// Compressors: Zstandard at the level that compresses best, and LZ4.
const (
	Zstd Compressor = iota
	LZ4
)

func (c Compressor) String() string {
	if c == LZ4 {
		return "lz4"
	}
	return "zstd"
}

// The coders are large, costly to make, and give the same bytes however often
// they were used before, so they are shared.
var (
	zstdEncoders = sync.Pool{New: func() any {
		return must(zstd.NewWriter(nil,
			zstd.WithEncoderLevel(zstd.SpeedBestCompression),
			zstd.WithSingleSegment(true),
			zstd.WithEncoderConcurrency(1),
			zstd.WithEncoderCRC(false)))
	}}
	zstdDecoders = sync.Pool{New: func() any {
		return must(zstd.NewReader(nil,
			zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true),
			zstd.WithDecodeAllCapLimit(true)))
	}}
	lz4Compressors = sync.Pool{New: func() any { return new(lz4.Compressor) }}
)

// must returns v. The options of the coders are constants, so err is a bug.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// zstdMagic begins every frame, and is left out.
const zstdMagic = "\x28\xb5\x2f\xfd"

// What the head of a piece says, unless it is the length of what is compressed,
// plus one.
const (
	headStored   = 0 // all bytes follow
	headRepeated = 1 // one byte follows, and all are like it
)

// append appends a piece of data to dst, if there are bytes in it.
func (c Compressor) append(dst, data []byte) []byte {
	if len(data) == 0 {
		return dst
	}
	if bytes.Count(data, data[:1]) == len(data) && len(data) > 1 {
		return append(dst, headRepeated, data[0])
	}
	base := len(dst)
	if packed := c.compress(nil, data); len(packed) > 0 && len(packed) < len(data) {
		dst = wire.AppendUvarint(dst, uint64(len(packed))+1)
		dst = append(dst, packed...)
	}
	if len(dst) == base || len(dst)-base > len(data) {
		dst = append(dst[:base], headStored)
		dst = append(dst, data...)
	}
	return dst
}

// compress returns the encoding of data, in storage that grows from dst, or
// nothing if it would be longer.
func (c Compressor) compress(dst, data []byte) []byte {
	if c == LZ4 {
		dst = slices.Grow(dst[:0], len(data))
		enc := lz4Compressors.Get().(*lz4.Compressor)
		n, err := enc.CompressBlock(data, dst[:len(data)])
		lz4Compressors.Put(enc)
		if err != nil { // no room
			return nil
		}
		return dst[:n]
	}
	enc := zstdEncoders.Get().(*zstd.Encoder)
	dst = enc.EncodeAll(data, dst[:0])
	zstdEncoders.Put(enc)
	return dst[len(zstdMagic):]
}

// appendCounted appends the length of data and a piece.
func (c Compressor) appendCounted(dst, data []byte) []byte {
	return c.append(wire.AppendUvarint(dst, uint64(len(data))), data)
}

// decode reads a piece of n bytes and returns dst with these appended.
func (c Compressor) decode(d *wire.Decoder, field string, dst []byte, n int) []byte {
	if n == 0 || d.Err() != nil {
		return dst
	}
	at := d.Offset()
	switch head := d.Uvarint(field); {
	case d.Err() != nil:
	case head == headStored:
		dst = append(dst, d.Bytes(field, n)...)
	case head == headRepeated:
		b := d.Byte(field)
		dst = slices.Grow(dst, n)
		for range n {
			dst = append(dst, b)
		}
	case head-1 > uint64(d.Rest()):
		d.Corrupt(at, field, "%d bytes of %d", head-1, d.Rest())
	default:
		packed := d.Bytes(field, int(head-1))
		var err error
		if dst, err = c.decompress(dst, packed, n); err != nil {
			d.Fail(at, field, err)
		}
	}
	return dst
}

// decompress appends to dst the n bytes that packed encodes.
func (c Compressor) decompress(dst, packed []byte, n int) ([]byte, error) {
	if n>>15 > len(packed) { // as many as zstd, and more than lz4, makes of a byte
		return dst, fmt.Errorf("%w: %d bytes in %d", ErrCorrupt, n, len(packed))
	}
	base := len(dst)
	dst = slices.Grow(dst, n)
	room := dst[base : base : base+n]
	var (
		out []byte
		err error
	)
	if c == LZ4 {
		var m int
		m, err = lz4.UncompressBlock(packed, room[:n])
		out = room[:max(m, 0)]
	} else {
		dec := zstdDecoders.Get().(*zstd.Decoder)
		out, err = dec.DecodeAll(slices.Concat([]byte(zstdMagic), packed), room)
		zstdDecoders.Put(dec)
	}
	if err != nil {
		return dst, fmt.Errorf("%w: %v", ErrCorrupt, err)
	}
	if len(out) != n {
		return dst, fmt.Errorf("%w: %d bytes of %d", ErrCorrupt, len(out), n)
	}
	return append(dst, out...), nil
}

// decodeCounted reads a length, of at most most bytes, and a piece.
func (c Compressor) decodeCounted(d *wire.Decoder, field string, most int) []byte {
	n := d.UvarintMax(field, uint64(most))
	if d.Err() != nil {
		return nil
	}
	return c.decode(d, field, nil, int(n))
}
