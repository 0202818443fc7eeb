package format

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/reprise-trace/reprise/internal/wire"
)

const (
	magic     = "\x8frpz\r\n\n"
	version   = 1
	header    = magic + "\x01"
	headerLen = int64(len(header))

	marker   = "\xf5\x9d"
	checkLen = 2

	// minRecordLen is the length of the shortest record, an alias.
	minRecordLen = len(marker) + 1 + 1 + 1 + wire.ChecksumLen

	// maxHeadLen is the length of the longest head: marker, four uvarints of
	// which the first has at most 35 bits, and check.
	maxHeadLen = len(marker) + 5 + 3*binary.MaxVarintLen64 + checkLen
)

// An entry is one section, as a record and the index describe it.
type entry struct {
	key    uint64
	offset int64 // of the record, from the start of the file
	stored int64 // bytes after the head; of an alias, distance to its record
	length int64 // bytes of content
	first  int32 // index of the entry that holds the content, often this one
	kind   Kind
	form   Encoding
}

func (e *entry) formAndKind() uint64 { return uint64(e.kind)<<encodingBits | uint64(e.form) }

// headLen returns the length of what precedes the stored bytes of e; of an
// alias, what precedes the checksum.
func (e *entry) headLen() int64 {
	n := len(marker) + uvarintLen(e.formAndKind()) + uvarintLen(e.key) + uvarintLen(uint64(e.stored))
	if e.form.hasLength() {
		n += uvarintLen(uint64(e.length))
	}
	if e.form != alias {
		n += checkLen
	}
	return int64(n)
}

// recordLen returns the length of the record of e. It saturates, so that the
// result may be compared with what a file holds.
func (e *entry) recordLen() int64 {
	n := e.headLen() + wire.ChecksumLen
	if e.form == alias {
		return n
	}
	if e.stored > math.MaxInt64-n {
		return math.MaxInt64
	}
	return n + e.stored
}

// appendHead appends the part of the record of e that precedes its stored
// bytes, or, of an alias, its checksum.
func (e *entry) appendHead(dst []byte) []byte {
	base := len(dst)
	dst = append(dst, marker...)
	dst = wire.AppendUvarint(dst, e.formAndKind())
	dst = wire.AppendUvarint(dst, e.key)
	dst = wire.AppendUvarint(dst, uint64(e.stored))
	if e.form.hasLength() {
		dst = wire.AppendUvarint(dst, uint64(e.length))
	}
	if e.form != alias {
		dst = binary.LittleEndian.AppendUint16(dst, headCheck(dst[base:], e.offset))
	}
	return dst
}

// parseHead reads the head of the record at offset off from data, which begins
// there; an alias it reads whole. It returns false if no record begins there.
// The stored bytes may be damaged or lie beyond the end of the file, and first
// is not set. It takes constant time.
func parseHead(data []byte, off int64, skipChecksum bool) (entry, bool) {
	if !bytes.HasPrefix(data, []byte(marker)) {
		return entry{}, false
	}
	d := wire.NewDecoder("format", data)
	d.Bytes("marker", len(marker))
	form := d.UvarintMax("form", math.MaxUint32<<encodingBits|(1<<encodingBits-1))
	e := entry{
		offset: off,
		kind:   Kind(form >> encodingBits),
		form:   Encoding(form & (1<<encodingBits - 1)),
	}
	e.key = d.Uvarint("key")
	e.stored = int64(d.UvarintMax("stored", math.MaxInt64))
	if e.length = e.stored; e.form.hasLength() {
		e.length = int64(d.UvarintMax("length", math.MaxInt64))
	}
	covered := data[:d.Offset()]
	var sound bool
	if e.form == alias {
		sound = d.Uint32("crc") == wire.UpdateChecksum(seed(off), covered)
	} else {
		check := d.Bytes("check", checkLen)
		sound = len(check) == checkLen && binary.LittleEndian.Uint16(check) == headCheck(covered, off)
	}
	if d.Err() != nil || !(sound || skipChecksum) || !e.plausible() {
		return entry{}, false
	}
	return e, true
}

// plausible reports whether a Writer could have written the lengths of e.
func (e *entry) plausible() bool {
	return e.form != Zstd && e.form != LZ4 || e.stored < e.length
}

// seed returns the checksum of what precedes every checksum of this version:
// the header, and the offset of what is covered.
func seed(off int64) uint32 {
	return wire.Checksum(wire.AppendUint64([]byte(header), uint64(off)))
}

func headCheck(head []byte, off int64) uint16 {
	return uint16(wire.UpdateChecksum(seed(off), head))
}

func uvarintLen(v uint64) int {
	n := 1
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}

// checkHeader checks the first bytes of a file. They may be fewer than a header
// has only if the file is that short.
func checkHeader(b []byte) error {
	if len(b) < len(header) && strings.HasPrefix(header, string(b)) {
		return fail(int64(len(b)), "header", io.ErrUnexpectedEOF, "the file has %d bytes", len(b))
	}
	if !bytes.HasPrefix(b, []byte(magic)) {
		if bytes.Contains(b, []byte("rpz\r")) || bytes.Contains(b, []byte("rpz\n")) {
			return corrupt(0, "header", "%q is damaged, as by a transfer in text mode", b)
		}
		return fail(0, "header", ErrFormat, "the file begins with %q", b)
	}
	switch v := b[len(magic)]; {
	case v == 0:
		return corrupt(int64(len(magic)), "header", "version 0")
	case v > version:
		return &VersionError{Have: int(v), Supported: version}
	}
	return nil
}

const (
	zstdMagic     = "\x28\xb5\x2f\xfd"
	zstdHeaderLen = len(zstdMagic) + 2 // magic, descriptor, window descriptor
	zstdBlockMax  = 128 << 10          // bytes a block expands to

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
	zstdEncoders = sync.Pool{New: func() any {
		return must(zstd.NewWriter(nil,
			zstd.WithEncoderLevel(zstd.SpeedBestCompression),
			zstd.WithWindowSize(1<<maxWindowLog),
			zstd.WithEncoderConcurrency(1),
			zstd.WithEncoderCRC(false)))
	}}
	zstdDecoders = sync.Pool{New: func() any {
		return must(zstd.NewReader(nil,
			zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(1<<maxWindowLog),
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

// appendZstd appends the blocks that encode content to dst, preceded by a frame
// header. It returns the extended slice and where in it the blocks begin.
func appendZstd(dst, content []byte) ([]byte, int) {
	base := len(dst)
	enc := zstdEncoders.Get().(*zstd.Encoder)
	dst = enc.EncodeAll(content, dst)
	zstdEncoders.Put(enc)
	var h zstd.Header
	if err := h.Decode(dst[base:]); err != nil {
		panic(err) // the encoder wrote no frame
	}
	return dst, base + h.HeaderSize
}

// appendLZ4 appends the block that encodes content to dst and reports whether
// it is shorter than content. If not, what was appended means nothing.
func appendLZ4(dst, content []byte) ([]byte, bool) {
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
func zstdHeader(length int64) [zstdHeaderLen]byte {
	log := min(max(bits.Len64(uint64(max(length, 1)-1)), minWindowLog), maxWindowLog)
	h := [zstdHeaderLen]byte{len(zstdMagic) + 1: byte(log-minWindowLog) << 3}
	copy(h[:], zstdMagic)
	return h
}

// decodeZstd appends to dst the content of the given length that follows from
// the blocks in frame[zstdHeaderLen:]. It overwrites what precedes them.
func decodeZstd(dst, frame []byte, length int64) ([]byte, error) {
	h := zstdHeader(length)
	copy(frame, h[:])
	blocks, err := countBlocks(frame[zstdHeaderLen:])
	if err != nil {
		return nil, err
	}
	if length > int64(blocks)*zstdBlockMax {
		return nil, fmt.Errorf("%w: %d blocks of zstd for %d bytes", ErrCorrupt, blocks, length)
	}
	d := zstdDecoders.Get().(*zstd.Decoder)
	defer zstdDecoders.Put(d)
	if length <= eagerLen+eagerRatio*int64(len(frame)) {
		return decodeZstdAtOnce(d, dst, frame, int(length))
	}
	return decodeZstdStream(d, dst, frame, int(length))
}

// decodeZstdAtOnce allocates length bytes and decodes frame into them.
func decodeZstdAtOnce(d *zstd.Decoder, dst, frame []byte, length int) ([]byte, error) {
	base := len(dst)
	dst = slices.Grow(dst, length)
	room := dst[base : base : base+length]
	out, err := d.DecodeAll(frame, room)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrCorrupt, err)
	}
	if len(out) != length {
		return nil, fmt.Errorf("%w: zstd gives %d bytes of %d", ErrCorrupt, len(out), length)
	}
	if length > 0 && &out[0] != &room[:1][0] {
		return append(dst, out...), nil
	}
	return dst[:base+length], nil
}

// decodeZstdStream decodes frame step by step, each of which at most doubles
// the memory, so that the memory follows from what was decoded.
func decodeZstdStream(d *zstd.Decoder, dst, frame []byte, length int) ([]byte, error) {
	base := len(dst)
	if err := d.Reset(bytes.NewReader(frame)); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrCorrupt, err)
	}
	defer d.Reset(nil)
	for have := 0; have < length; have = len(dst) - base {
		step := min(max(have, eagerLen), length-have)
		dst = slices.Grow(dst, step)
		n, err := io.ReadFull(d, dst[len(dst):len(dst)+step])
		if err != nil {
			return nil, fmt.Errorf("%w: zstd gives %d bytes of %d: %v", ErrCorrupt, have+n, length, err)
		}
		dst = dst[:len(dst)+step]
	}
	var more [1]byte
	if n, err := io.ReadFull(d, more[:]); n > 0 || err != io.EOF {
		return nil, fmt.Errorf("%w: zstd gives more than %d bytes", ErrCorrupt, length)
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
			return 0, fmt.Errorf("%w: %d bytes after the last zstd block", ErrCorrupt, len(data))
		}
		return n, nil
	}
	return 0, fmt.Errorf("%w: no last zstd block", ErrCorrupt)
}

// decodeLZ4 appends the content of the given length that block encodes to dst.
func decodeLZ4(dst, block []byte, length int64) ([]byte, error) {
	if length > lz4MaxRatio*int64(len(block)) {
		return nil, fmt.Errorf("%w: %d bytes of lz4 for %d bytes", ErrCorrupt, len(block), length)
	}
	base := len(dst)
	dst = slices.Grow(dst, int(length))[:base+int(length)]
	n, err := lz4.UncompressBlock(block, dst[base:])
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrCorrupt, err)
	}
	if int64(n) != length {
		return nil, fmt.Errorf("%w: lz4 gives %d bytes of %d", ErrCorrupt, n, length)
	}
	return dst, nil
}
