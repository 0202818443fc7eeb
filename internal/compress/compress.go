// Package compress compresses bytes that stand inside other encodings, which know the
// length of what was compressed:
//
//	packed, start := compress.AppendZstd(nil, content) // packed[start:] is kept
//	frame := append(make([]byte, compress.Room), kept...)
//	content, err := compress.DecodeZstd(nil, frame, length)
//
// No frame headers are kept. The same content gives the same bytes. Decoding allocates
// in proportion to what it is given and to what it decodes, whatever the length that it
// is told; errors wrap [wire.ErrCorrupt].
package compress

import (
	"bytes"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/reprise-trace/reprise/internal/wire"
)

const (
	zstdMagic    = "\x28\xb5\x2f\xfd"
	zstdBlockMax = 128 << 10 // bytes a block expands to

	// Room is how many bytes DecodeZstd needs in front of the blocks.
	Room = len(zstdMagic) + 2 // magic, descriptor, window descriptor

	minWindowLog = 10
	maxWindowLog = 23

	// lz4MaxRatio bounds the expansion of lz4: one more byte of a match length
	// stands for at most 255 bytes.
	lz4MaxRatio = 255

	// Content up to eagerLen + eagerRatio·stored is allocated at once, longer
	// content as it is decoded.
	eagerLen   = 1 << 20
	eagerRatio = 64
)

// The coders are large, costly to make, and give the same bytes however often
// they were used before, so they are shared.
var (
	zstdEncoders = pool{New: func() any {
		return must(zstd.NewWriter(nil,
			zstd.WithEncoderLevel(zstd.SpeedBestCompression),
			zstd.WithWindowSize(1<<maxWindowLog),
			zstd.WithEncoderConcurrency(1),
			zstd.WithEncoderCRC(false)))
	}}
	zstdDecoders = pool{New: func() any {
		return must(zstd.NewReader(nil,
			zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(1<<maxWindowLog),
			zstd.WithDecodeAllCapLimit(true)))
	}}
	lz4Compressors = pool{New: func() any { return new(lz4.Compressor) }}
)

// must returns v. The options of the coders are constants, so err is a bug.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// AppendZstd appends the blocks that encode content to dst, preceded by a frame
// header. It returns the extended slice and where in it the blocks begin.
func AppendZstd(dst, content []byte) ([]byte, int) {
	base := len(dst)
	enc := held.get()
	dst = enc.EncodeAll(content, dst)
	held.put(enc)
	var h zstd.Header
	if err := h.Decode(dst[base:]); err != nil {
		panic(err) // the encoder wrote no frame
	}
	return dst, base + h.HeaderSize
}

// AppendLZ4 appends the block that encodes content to dst and reports whether
// it is shorter than content. If not, what was appended means nothing.
func AppendLZ4(dst, content []byte) ([]byte, bool) {
	if len(content) < 2 {
		return dst, false
	}
	base := len(dst)
	dst = slices.Grow(dst, len(content)-1)
	c := lz4Compressors.Get().(*lz4.Compressor)
	n, err := c.CompressBlock(content, dst[base:base+len(content)-1])
	lz4Compressors.Put(c)
	if err != nil || n == 0 { // no room, or nothing to gain
		return dst, false
	}
	return dst[:base+n], true
}

// zstdHeader returns a frame header for the blocks of content of that length.
func zstdHeader(length int64) [Room]byte {
	log := min(max(bits.Len64(uint64(max(length, 1)-1)), minWindowLog), maxWindowLog)
	h := [Room]byte{len(zstdMagic) + 1: byte(log-minWindowLog) << 3}
	copy(h[:], zstdMagic)
	return h
}

// DecodeZstd appends to dst the content of the given length that follows from
// the blocks in frame[Room:]. It overwrites what precedes them.
func DecodeZstd(dst, frame []byte, length int64) ([]byte, error) {
	h := zstdHeader(length)
	copy(frame, h[:])
	blocks, err := countBlocks(frame[Room:])
	if err != nil {
		return nil, err
	}
	if length > int64(blocks)*zstdBlockMax {
		return nil, fmt.Errorf("%w: %d blocks of zstd for %d bytes", wire.ErrCorrupt, blocks, length)
	}
	d := zstdDecoders.Get().(*zstd.Decoder)
	defer zstdDecoders.Put(d)
	if length <= eagerLen+eagerRatio*int64(len(frame)) {
		return decodeAtOnce(d, dst, frame, int(length))
	}
	return decodeStream(d, dst, frame, int(length))
}

// decodeAtOnce allocates length bytes and decodes frame into them.
func decodeAtOnce(d *zstd.Decoder, dst, frame []byte, length int) ([]byte, error) {
	base := len(dst)
	dst = slices.Grow(dst, length)
	room := dst[base : base : base+length]
	out, err := d.DecodeAll(frame, room)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", wire.ErrCorrupt, err)
	}
	if len(out) != length {
		return nil, fmt.Errorf("%w: zstd gives %d bytes of %d", wire.ErrCorrupt, len(out), length)
	}
	if length > 0 && &out[0] != &room[:1][0] {
		return append(dst, out...), nil
	}
	return dst[:base+length], nil
}

// decodeStream decodes frame step by step, each of which at most doubles
// the memory, so that the memory follows from what was decoded.
func decodeStream(d *zstd.Decoder, dst, frame []byte, length int) ([]byte, error) {
	base := len(dst)
	if err := d.Reset(bytes.NewReader(frame)); err != nil {
		return nil, fmt.Errorf("%w: %v", wire.ErrCorrupt, err)
	}
	defer d.Reset(nil)
	for have := 0; have < length; have = len(dst) - base {
		step := min(max(have, eagerLen), length-have)
		dst = slices.Grow(dst, step)
		n, err := io.ReadFull(d, dst[len(dst):len(dst)+step])
		if err != nil {
			return nil, fmt.Errorf("%w: zstd gives %d bytes of %d: %v", wire.ErrCorrupt, have+n, length, err)
		}
		dst = dst[:len(dst)+step]
	}
	var more [1]byte
	if n, err := io.ReadFull(d, more[:]); n > 0 || err != io.EOF {
		return nil, fmt.Errorf("%w: zstd gives more than %d bytes", wire.ErrCorrupt, length)
	}
	return dst, nil
}

// countBlocks returns the number of zstd blocks in data, of which the last, and
// no other, must be marked as the last and end data.
func countBlocks(data []byte) (int, error) {
	for n := 1; len(data) >= 3; n++ {
		h := uint32(data[0]) | uint32(data[1])<<8 | uint32(data[2])<<16
		size := int(h >> 3)
		if kind := h >> 1 & 3; kind == 1 { // one byte, repeated
			size = 1
		}
		data = data[3:]
		if size > len(data) {
			break
		}
		data = data[size:]
		if h&1 == 0 {
			continue
		}
		if len(data) > 0 {
			return 0, fmt.Errorf("%w: %d bytes after the last zstd block", wire.ErrCorrupt, len(data))
		}
		return n, nil
	}
	return 0, fmt.Errorf("%w: no last zstd block", wire.ErrCorrupt)
}

// DecodeLZ4 appends the content of the given length that block encodes to dst.
func DecodeLZ4(dst, block []byte, length int64) ([]byte, error) {
	if length > lz4MaxRatio*int64(len(block)) {
		return nil, fmt.Errorf("%w: %d bytes of lz4 for %d bytes", wire.ErrCorrupt, len(block), length)
	}
	base := len(dst)
	dst = slices.Grow(dst, int(length))[:base+int(length)]
	n, err := lz4.UncompressBlock(block, dst[base:])
	if err != nil {
		return nil, fmt.Errorf("%w: %v", wire.ErrCorrupt, err)
	}
	if int64(n) != length {
		return nil, fmt.Errorf("%w: lz4 gives %d bytes of %d", wire.ErrCorrupt, n, length)
	}
	return dst, nil
}
