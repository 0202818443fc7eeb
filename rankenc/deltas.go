package rankenc

import (
	"fmt"

	"github.com/reprise-trace/reprise/internal/wire"
)

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
	n := (count + blockLen - 1) / blockLen
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
