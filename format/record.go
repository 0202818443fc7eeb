package format

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"strings"

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
	if len(b) == 0 {
		return fail(0, "header", ErrFormat, "the file is empty")
	}
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
	case v > Version:
		return &VersionError{Have: int(v), Supported: Version}
	}
	return nil
}
