package columns

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"sort"

	"github.com/reprise-trace/reprise/internal/wire"
)

// appendBits appends numbers of width bits each to dst, the least significant
// bits first in every byte. Unused bits of the last byte are zero. Numbers are
// below 2^width, 0 ≤ width ≤ 64.
func appendBits(dst []byte, count int, width uint, number func(i int) uint64) []byte {
	if width == 0 {
		return dst
	}
	var (
		rest uint64 // bits not yet written, of which there are held
		held uint
	)
	for i := range count {
		v := number(i)
		rest |= v << held
		n := held + width
		if n < 64 {
			held = n
		} else {
			dst = wire.AppendUint64(dst, rest)
			rest, held = v>>(64-held), n-64 // a shift by 64 gives 0
		}
		for held >= 8 {
			dst = append(dst, byte(rest))
			rest, held = rest>>8, held-8
		}
	}
	if held > 0 {
		dst = append(dst, byte(rest))
	}
	return dst
}

// bitsAt returns the number of width bits that begins at the given bit of data.
func bitsAt(data []byte, bit int, width uint) uint64 {
	if width == 0 {
		return 0
	}
	var (
		v    uint64
		have uint
		k    = bit >> 3
	)
	if width <= maxLoaded && k+8 <= len(data) {
		return binary.LittleEndian.Uint64(data[k:]) >> (bit & 7) & (1<<width - 1)
	}
	v, have = uint64(data[k])>>(bit&7), uint(8-bit&7)
	for k++; have < width; k, have = k+1, have+8 {
		v |= uint64(data[k]) << have
	}
	return v & (1<<width - 1) // 1<<64 is 0, and 0−1 all ones
}

// bitsLen returns the number of bytes that count numbers of width bits take.
func bitsLen(count int, width uint) uint64 {
	n := wire.MulSat(uint64(count), uint64(width))
	return n/8 + (n%8+7)/8
}

// decodeBits reads what appendBits wrote for count numbers of width bits.
func decodeBits(d *wire.Decoder, field string, count int, width uint) []byte {
	at := d.Offset()
	size := bitsLen(count, width)
	if size > uint64(d.Rest()) {
		d.Corrupt(at, field, "%d numbers of %d bits in %d bytes", count, width, d.Rest())
		return nil
	}
	data := d.Bytes(field, int(size))
	if used := uint(count) * width % 8; used > 0 && d.Err() == nil && data[size-1]>>used != 0 {
		d.Corrupt(at, field, "bits after the last number are set")
	}
	return append([]byte(nil), data...)
}

// width returns the number of bits that v takes.
func width(v uint64) uint { return uint(bits.Len64(v)) }

// decodeWidth reads a number of bits.
func decodeWidth(d *wire.Decoder) uint { return uint(d.UvarintMax("width", 64)) }

// runs are values of which neighbours are often equal.
type runs struct {
	ends   []int // ends[i] is the position after the last one of run i
	values []int64
}

func newRuns(values []int64, limit int) body {
	r := &runs{}
	for i, v := range values {
		if n := len(r.values); n == 0 || r.values[n-1] != v {
			if 2*n >= limit {
				return nil
			}
			r.ends, r.values = append(r.ends, i), append(r.values, v)
		}
		r.ends[len(r.ends)-1] = i + 1
	}
	return r
}

func (r *runs) at(i int, _, _ int64) int64 { return r.values[sort.SearchInts(r.ends, i+1)] }

func (r *runs) text() string { return fmt.Sprintf("%d runs", len(r.ends)) }

func (r *runs) append(dst []byte) []byte {
	dst = append(dst, headRuns)
	dst = wire.AppendUvarint(dst, uint64(len(r.ends)))
	end, value := 0, int64(0)
	for i, v := range r.values {
		dst = wire.AppendVarint(dst, v-value)
		if i < len(r.values)-1 {
			dst = wire.AppendUvarint(dst, uint64(r.ends[i]-end-1))
		}
		end, value = r.ends[i], v
	}
	return dst
}

func decodeRuns(d *wire.Decoder, count int) body {
	at := d.Offset()
	n := d.Count("runs", 1)
	if n > count || n < 1 {
		d.Corrupt(at, "runs", "%d for %d values", n, count)
	}
	if d.Err() != nil {
		return nil
	}
	r := &runs{ends: make([]int, n), values: make([]int64, n)}
	end, value := 0, int64(0)
	for i := range n {
		at := d.Offset()
		change := d.Varint("value")
		if value += change; change == 0 && i > 0 {
			d.Corrupt(at, "value", "two runs of %d", value)
		}
		if i < n-1 {
			end += 1 + int(d.UvarintMax("run", uint64(max(count-end-1-(n-1-i), 0))))
		} else {
			end = count
		}
		if d.Err() != nil {
			return nil
		}
		r.ends[i], r.values[i] = end, value
	}
	return r
}

// packed are values as bits: what they are more than the least.
type packed struct {
	least int64
	width uint
	bits  []byte
}

func newPacked(values []int64, limit int) body {
	least, most := slices.Min(values), slices.Max(values)
	p := &packed{least: least, width: width(uint64(most) - uint64(least))}
	if bitsLen(len(values), p.width) >= uint64(limit) {
		return nil
	}
	p.bits = appendBits(nil, len(values), p.width, func(i int) uint64 { return uint64(values[i]) - uint64(least) })
	return p
}

func (p *packed) at(i int, _, _ int64) int64 {
	return p.least + int64(bitsAt(p.bits, i*int(p.width), p.width))
}

func (p *packed) text() string { return fmt.Sprintf("%d bits a value", p.width) }

func (p *packed) append(dst []byte) []byte {
	dst = append(dst, headPacked)
	dst = wire.AppendVarint(dst, p.least)
	dst = wire.AppendUvarint(dst, uint64(p.width))
	return append(dst, p.bits...)
}

func decodePacked(d *wire.Decoder, count int) body {
	p := &packed{least: d.Varint("least"), width: decodeWidth(d)}
	p.bits = decodeBits(d, "values", count, p.width)
	return p
}

// dictionary are values as bits: which they are of the distinct ones.
type dictionary struct {
	values []int64 // ascending, at least 1
	bits   []byte
}

func newDictionary(values []int64, limit int) body {
	number := make(map[int64]int)
	for _, v := range values {
		if _, ok := number[v]; ok {
			continue
		}
		number[v] = 0
		if n := len(number); uint64(n)+bitsLen(len(values), width(uint64(n-1))) >= uint64(limit) {
			return nil
		}
	}
	b := &dictionary{values: make([]int64, 0, len(number))}
	for v := range number {
		b.values = append(b.values, v)
	}
	slices.Sort(b.values)
	for i, v := range b.values {
		number[v] = i
	}
	b.bits = appendBits(nil, len(values), b.width(), func(i int) uint64 { return uint64(number[values[i]]) })
	return b
}

func (b *dictionary) width() uint { return width(uint64(len(b.values) - 1)) }

func (b *dictionary) at(i int, _, _ int64) int64 {
	w := b.width()
	return b.values[min(bitsAt(b.bits, i*int(w), w), uint64(len(b.values)-1))]
}

func (b *dictionary) text() string { return fmt.Sprintf("%d distinct values", len(b.values)) }

func (b *dictionary) append(dst []byte) []byte {
	dst = append(dst, headDictionary)
	dst = wire.AppendUvarint(dst, uint64(len(b.values)-1))
	dst = wire.AppendVarint(dst, b.values[0])
	for i, v := range b.values[1:] {
		dst = wire.AppendUvarint(dst, uint64(v)-uint64(b.values[i])-1)
	}
	return append(dst, b.bits...)
}

func decodeDictionary(d *wire.Decoder, count int) body {
	n := d.Count("distinct", 1)
	first := d.Varint("value")
	if d.Err() != nil {
		return nil
	}
	b := &dictionary{values: make([]int64, n+1)}
	b.values[0] = first
	for i := range n {
		at := d.Offset()
		b.values[i+1] = b.values[i] + int64(d.Uvarint("value")) + 1
		if d.Err() == nil && b.values[i+1] <= b.values[i] {
			d.Corrupt(at, "value", "%d after %d", b.values[i+1], b.values[i])
		}
		if d.Err() != nil {
			return nil
		}
	}
	at := d.Offset()
	b.bits = decodeBits(d, "indexes", count, b.width())
	if d.Err() != nil {
		return nil
	}
	if n+1 < 1<<b.width() {
		for i := range count {
			if v := bitsAt(b.bits, i*int(b.width()), b.width()); v > uint64(n) {
				d.Corrupt(at, "indexes", "value number %d of %d", v, n+1)
				return nil
			}
		}
	}
	return b
}

// blockLen is the number of values in a block of deltas, of which a read sums
// up half on average.
const blockLen = 64

// deltas are values that differ little from their neighbours, in blocks: the
// first value of each, and as bits what the steps to the next are more than the
// least step.
type deltas struct {
	blocks []block
	bits   []byte // those of a block begin at a byte
}

type block struct {
	first, step int64
	width       uint
	offset      int // in bits, in bytes
}

// blockValues returns how many of count values are in block k.
func blockValues(count, k int) int { return min(count-k*blockLen, blockLen) }

func newDeltas(values []int64, limit int) body {
	b := &deltas{}
	for len(values) > 0 {
		v := values[:min(len(values), blockLen)]
		values = values[len(v):]
		next := block{first: v[0], offset: len(b.bits)}
		if len(v) > 1 {
			next.step = v[1] - v[0]
		}
		for i := 1; i < len(v); i++ {
			next.step = min(next.step, v[i]-v[i-1])
		}
		rest := func(i int) uint64 { return uint64(v[i+1]) - uint64(v[i]) - uint64(next.step) }
		for i := range len(v) - 1 {
			next.width = max(next.width, width(rest(i)))
		}
		b.bits = appendBits(b.bits, len(v)-1, next.width, rest)
		b.blocks = append(b.blocks, next)
		if 3*len(b.blocks)+len(b.bits) >= limit {
			return nil
		}
	}
	return b
}

func (b *deltas) at(i int, _, _ int64) int64 {
	k := &b.blocks[i/blockLen]
	v := k.first
	for j := range i % blockLen {
		v += k.step + int64(bitsAt(b.bits[k.offset:], j*int(k.width), k.width))
	}
	return v
}

func (b *deltas) text() string { return fmt.Sprintf("%d blocks of deltas", len(b.blocks)) }

func (b *deltas) append(dst []byte) []byte {
	dst = append(dst, headDeltas)
	first := int64(0)
	for _, k := range b.blocks {
		dst = wire.AppendVarint(dst, k.first-first)
		dst = wire.AppendVarint(dst, k.step)
		dst = wire.AppendUvarint(dst, uint64(k.width))
		first = k.first
	}
	return append(dst, b.bits...)
}

func decodeDeltas(d *wire.Decoder, count int) body {
	at := d.Offset()
	n := count/blockLen + min(count%blockLen, 1)
	if n > d.Rest()/3 {
		d.Corrupt(at, "deltas", "%d blocks in %d bytes", n, d.Rest())
		return nil
	}
	b := &deltas{blocks: make([]block, n)}
	first := int64(0)
	for k := range b.blocks {
		first += d.Varint("first")
		b.blocks[k] = block{first: first, step: d.Varint("step"), width: decodeWidth(d)}
	}
	for k := range b.blocks {
		next := &b.blocks[k]
		next.offset = len(b.bits)
		b.bits = append(b.bits, decodeBits(d, "deltas", blockValues(count, k)-1, next.width)...)
		if d.Err() != nil {
			return nil
		}
	}
	return b
}
