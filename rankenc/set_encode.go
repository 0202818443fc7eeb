package rankenc

import (
	"bytes"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/reprise-trace/reprise/internal/wire"
)

const (
	// minBitmap is the size in bytes up to which no list has a smaller bitmap.
	minBitmap = 16
	// maxSparse is how many ranks for each byte of a list make it too regular
	// for a bitmap to be tried, so that the memory this takes is bounded by the
	// size of the list.
	maxSparse = 16
)

// AppendBinary appends the encoding of s to dst and returns the extended slice.
// The error is always nil; it is there for [encoding.BinaryAppender].
func (s Set) AppendBinary(dst []byte) ([]byte, error) {
	if s.bitmap != nil {
		return appendBitmap(dst, s.bitmap), nil
	}
	return appendItems(dst, s.items), nil
}

// MarshalBinary returns the encoding of s.
func (s Set) MarshalBinary() ([]byte, error) { return s.AppendBinary(nil) }

func appendItems(dst []byte, items []item) []byte {
	dst = wire.AppendUvarint(dst, uint64(len(items))<<1)
	least := uint64(0) // smallest rank the item could start with
	for i := range items {
		it := &items[i]
		dst = wire.AppendUvarint(dst, (uint64(it.start)-least)<<2|uint64(it.depth))
		dst = wire.AppendUvarint(dst, uint64(it.length-1))
		span := uint64(it.length - 1)
		for _, d := range it.dims[:it.depth] {
			dst = wire.AppendUvarint(dst, uint64(d.stride)-(span+2))
			dst = wire.AppendUvarint(dst, uint64(d.count-2))
			span += uint64(d.stride) * uint64(d.count-1)
		}
		least = it.last() + 2
	}
	return dst
}

func appendBitmap(dst []byte, b *roaring.Bitmap) []byte {
	var buf bytes.Buffer
	if _, err := b.WriteTo(&buf); err != nil {
		panic(err) // a Buffer accepts everything
	}
	dst = wire.AppendUvarint(dst, uint64(buf.Len())<<1|1)
	return append(dst, buf.Bytes()...)
}

// smallerBitmap returns the ranks of s as a bitmap if they are few enough for
// their list and the bitmap takes fewer bytes, and nil otherwise. The result
// depends on the ranks alone.
func (s Set) smallerBitmap() *roaring.Bitmap {
	size := len(appendItems(nil, s.items))
	if size <= minBitmap || s.n > maxSparse*size {
		return nil
	}
	b := roaring.New()
	buf := make([]uint32, 0, 1024)
	for _, r := range s.All() {
		if len(buf) == cap(buf) {
			b.AddMany(buf)
			buf = buf[:0]
		}
		buf = append(buf, uint32(r))
	}
	b.AddMany(buf)
	b.RunOptimize()
	if len(appendBitmap(nil, b)) >= size {
		return nil
	}
	return b
}
