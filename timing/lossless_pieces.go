package timing

import (
	"bytes"
	"math/bits"
	"slices"

	"github.com/reprise-trace/reprise/internal/compress"
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
	if packed := c.compress(data); len(packed) > 0 && len(packed) < len(data) {
		dst = wire.AppendUvarint(dst, uint64(len(packed))+1)
		dst = append(dst, packed...)
	}
	if len(dst) == base || len(dst)-base > len(data) {
		dst = append(dst[:base], headStored)
		dst = append(dst, data...)
	}
	return dst
}

// compress returns what data becomes, or nothing if that is known to be longer.
func (c Compressor) compress(data []byte) []byte {
	if c == LZ4 {
		packed, ok := compress.AppendLZ4(nil, data)
		if !ok {
			return nil
		}
		return packed
	}
	packed, start := compress.AppendZstd(nil, data)
	return packed[start:]
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
	if c == LZ4 {
		return compress.DecodeLZ4(dst, packed, int64(n))
	}
	frame := append(make([]byte, compress.Room, compress.Room+len(packed)), packed...)
	return compress.DecodeZstd(dst, frame, int64(n))
}

// decodeCounted reads a length, of at most most bytes, and a piece.
func (c Compressor) decodeCounted(d *wire.Decoder, field string, most int) []byte {
	n := d.UvarintMax(field, uint64(most))
	if d.Err() != nil {
		return nil
	}
	return c.decode(d, field, nil, int(n))
}
