package rankenc

import (
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
)

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
