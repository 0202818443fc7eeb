package timing

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/reprise-trace/reprise/internal/wire"
)

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
