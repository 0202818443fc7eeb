// Package blockindex has the index that a series of blocks begins with: how many calls there are, and where
// the blocks are. Errors name package timing, whose series these are.
package blockindex

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/reprise-trace/reprise/internal/wire"
)

// An Index is the beginning of a series: how many calls there are, and where
// the blocks are. It is immutable.
type Index struct {
	firsts []uint64 // the first call of each block, and the number of calls
	starts []int    // offsets of the blocks in the series, and of their end
	pieces []int    // blocks that begin a piece
}

// ParseWhole reads the index of a series that fills data.
func ParseWhole(data []byte) (Index, error) {
	x, err := Parse(data)
	if size := x.Size(); err == nil && size != len(data) {
		err = &wire.Error{Package: "timing", Offset: int64(min(size, len(data))), Field: "blocks",
			Err: fmt.Errorf("%w: %d bytes, not %d", wire.ErrCorrupt, len(data), size)}
	}
	return x, err
}

// Parse reads the index at the beginning of a series. Not all of the
// blocks need be in data. The error is a [*wire.Error].
func Parse(data []byte) (Index, error) {
	d := wire.NewDecoder("timing", data)
	n := d.Count("blocks", 2)
	x := Index{firsts: make([]uint64, n+1), starts: make([]int, n+1)}
	var calls uint64
	for i := range n {
		at := d.Offset()
		head := d.Uvarint("calls")
		again := head == 0 && i > 0
		if begins := head&1 == 1; i == 0 || begins {
			x.pieces = append(x.pieces, i)
		}
		if head == calls<<1 || head>>1 == 0 && !again || i == 0 && head&1 == 1 {
			d.Corrupt(at, "calls", "%d in block %d", head, i)
		}
		if !again {
			calls = head >> 1
		}
		x.firsts[i+1] = x.firsts[i] + calls
		at = d.Offset()
		x.starts[i+1] = x.starts[i] + int(d.UvarintMax("length", math.MaxInt32))
		if x.firsts[i+1] < calls || x.starts[i+1] < 0 {
			d.Limit(at, "length", "more than %d bytes, or more calls than can be counted", math.MaxInt)
		}
		if d.Err() != nil {
			break
		}
	}
	if base := d.Offset(); x.starts[n] > math.MaxInt-base {
		d.Limit(base, "length", "more than %d bytes of blocks", math.MaxInt-base)
	}
	if err := d.Err(); err != nil {
		return Index{starts: []int{0}, firsts: []uint64{0}}, err
	}
	for i := range x.starts {
		x.starts[i] += d.Offset()
	}
	return x, nil
}

// Len returns the number of calls.
func (x *Index) Len() uint64 { return x.firsts[x.Blocks()] }

// Blocks returns the number of blocks.
func (x *Index) Blocks() int { return len(x.starts) - 1 }

// First returns the first call of a block, i ≤ x.Blocks(): of that number, the number
// of calls. Another number panics, as it does in other methods.
func (x *Index) First(i int) uint64 {
	x.Check(i, x.Blocks()+1)
	return x.firsts[i]
}

// Check panics if block i is not one of n.
func (x *Index) Check(i, n int) {
	if i < 0 || i >= n {
		panic(fmt.Sprintf("timing: block %d of %d", i, x.Blocks()))
	}
}

// Pieces returns the blocks that begin a piece: of one thread after the other, see
// [Join]. Times do not go on from one piece to the next.
func (x *Index) Pieces() []int { return slices.Clip(x.pieces) }

// Range returns where a block, i < x.Blocks(), is in the series, in bytes from its
// beginning.
func (x *Index) Range(i int) (begin, end int) {
	x.Check(i, x.Blocks())
	return x.starts[i], x.starts[i+1]
}

// HeadSize returns the size of the index in bytes.
func (x *Index) HeadSize() int { return x.starts[0] }

// Size returns the size of the series in bytes.
func (x *Index) Size() int { return x.starts[x.Blocks()] }

// Find returns the block that has a call, which must be below Len, and the first
// call of the block.
func (x *Index) Find(call uint64) (block int, first uint64) {
	if call >= x.Len() {
		panic(fmt.Sprintf("timing: call %d of %d", call, x.Len()))
	}
	block = sort.Search(len(x.firsts), func(i int) bool { return x.firsts[i] > call }) - 1
	return block, x.firsts[block]
}

// A Builder encodes an index.
type Builder struct {
	blocks  uint64
	calls   uint64 // of the last block
	entries []byte
}

// Add adds a block of so many calls and bytes, which may begin a piece.
func (b *Builder) Add(calls uint64, size int, piece bool) {
	head := calls << 1
	if piece {
		head |= 1
	} else if calls == b.calls {
		head = 0
	}
	b.blocks, b.calls = b.blocks+1, calls
	b.entries = wire.AppendUvarint(b.entries, head)
	b.entries = wire.AppendUvarint(b.entries, uint64(size))
}

// Blocks returns the number of blocks so far.
func (b *Builder) Blocks() uint64 { return b.blocks }

// Size returns how many bytes the entries of the blocks so far take.
func (b *Builder) Size() int { return len(b.entries) }

// Clip returns a Builder that goes on from where b is, and does not change it.
func (b *Builder) Clip() Builder {
	clipped := *b
	clipped.entries = slices.Clip(b.entries)
	return clipped
}

// Append appends the index to dst.
func (b *Builder) Append(dst []byte) []byte {
	return append(wire.AppendUvarint(dst, b.blocks), b.entries...)
}

// Join returns the series of calls one after the other, as those of the threads of
// a process, from series with one codec. Each remains a piece of its own: its blocks are
// as they were, and its first call comes after no gap. The error is a [*wire.Error].
func Join(list ...[]byte) ([]byte, error) {
	var (
		index  Builder
		blocks []byte
	)
	for _, data := range list {
		x, err := ParseWhole(data)
		if err != nil {
			return nil, err
		}
		for i := range x.Blocks() {
			begin, end := x.Range(i)
			index.Add(x.First(i+1)-x.First(i), end-begin, index.blocks > 0 && slices.Contains(x.pieces, i))
		}
		blocks = append(blocks, data[x.HeadSize():]...)
	}
	return append(index.Append(nil), blocks...), nil
}
