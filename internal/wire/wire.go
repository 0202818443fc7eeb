// Package wire holds what the encodings of the module share: a cursor over input
// nobody vouches for, the variable-length integers, the checksum, and the error
// that says where input was rejected.
//
// # Integers
//
// An unsigned integer is a base-128 varint, least significant group first, in
// its shortest form. A signed integer is zig-zag coded first. A longer form of
// the same number is rejected, so a value has exactly one encoding.
//
// # Limits
//
// A [Decoder] allocates nothing. [Decoder.Count] refuses a number of elements
// that the rest of the input cannot hold, so what a caller allocates follows
// from the bytes it holds and never from a number in them.
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
)

// Causes that an [Error] wraps, for use with [errors.Is]. Input that ends too
// soon wraps [io.ErrUnexpectedEOF] instead.
var (
	ErrCorrupt = errors.New("corrupt input")
	ErrLimit   = errors.New("input exceeds limit")
)

// LeastMemory is how many bytes of memory readers take by default if a file is short. It is a variable so
// that tests of what is too large need not be large.
var LeastMemory uint64 = 512 << 20

// DefaultMemory returns how many bytes what is made of a file of size bytes may take if nobody says it.
func DefaultMemory(size int64) uint64 {
	const perByte = 512
	return max(LeastMemory, MulSat(perByte, uint64(max(0, size))))
}

// An Error reports where and why input was rejected.
type Error struct {
	Package string // that rejected it, and has a section of docs/format.md
	Offset  int64  // of the first byte of the offending field
	Field   string // name used in that section
	Err     error  // wraps ErrCorrupt, ErrLimit or io.ErrUnexpectedEOF
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s: %s at offset %d: %v", e.Package, e.Field, e.Offset, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ChecksumLen is the length in bytes of an encoded checksum.
const ChecksumLen = 4

// Checksum returns the CRC-32C of data.
func Checksum(data []byte) uint32 { return crc32.Checksum(data, castagnoli) }

// UpdateChecksum returns the CRC-32C of what sum covers followed by data.
func UpdateChecksum(sum uint32, data []byte) uint32 { return crc32.Update(sum, castagnoli, data) }

// AddSat returns x+y, or the largest uint64 if that overflows.
func AddSat(x, y uint64) uint64 {
	if x > math.MaxUint64-y {
		return math.MaxUint64
	}
	return x + y
}

// AddTimes returns t+u, or the int64 nearest to it.
func AddTimes(t, u int64) int64 {
	sum := t + u
	if (t < 0) == (u < 0) && (sum < 0) != (t < 0) {
		return nearest(t)
	}
	return sum
}

// SubTimes returns t−u, or the int64 nearest to it.
func SubTimes(t, u int64) int64 {
	if difference := t - u; (t < 0) == (u < 0) || (difference < 0) == (t < 0) {
		return difference
	}
	return nearest(t)
}

// nearest returns the least or the greatest int64, which has the sign of t.
func nearest(t int64) int64 {
	if t < 0 {
		return math.MinInt64
	}
	return math.MaxInt64
}

// MulSat returns x·y, or the largest uint64 if that overflows.
func MulSat(x, y uint64) uint64 {
	if y != 0 && x > math.MaxUint64/y {
		return math.MaxUint64
	}
	return x * y
}

// AppendUvarint appends v to dst in its shortest form.
func AppendUvarint(dst []byte, v uint64) []byte { return binary.AppendUvarint(dst, v) }

// AppendVarint appends v to dst, zig-zag coded, in its shortest form.
func AppendVarint(dst []byte, v int64) []byte { return binary.AppendVarint(dst, v) }

// AppendUint32 appends v to dst as four bytes, little-endian.
func AppendUint32(dst []byte, v uint32) []byte { return binary.LittleEndian.AppendUint32(dst, v) }

// AppendUint64 appends v to dst as eight bytes, little-endian.
func AppendUint64(dst []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(dst, v) }

// AppendString appends the length of s as an unsigned integer, then s.
func AppendString(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// A Decoder reads fields from a byte slice. The first failure sticks: reads
// after it return zero, so callers check [Decoder.Err] once per element, not
// once per field. Slices it returns alias the input.
type Decoder struct {
	pkg  string
	data []byte
	off  int // 0 ≤ off ≤ len(data)
	err  error
}

// NewDecoder returns a Decoder of data whose errors name the package pkg.
func NewDecoder(pkg string, data []byte) Decoder { return Decoder{pkg: pkg, data: data} }

// Err returns nil or the first failure, an [*Error].
func (d *Decoder) Err() error { return d.err }

// Offset returns the position of the next unread byte.
func (d *Decoder) Offset() int { return d.off }

// Rest returns the number of unread bytes.
func (d *Decoder) Rest() int { return len(d.data) - d.off }

// Peek returns the next unread byte, and 0 if there is none.
func (d *Decoder) Peek() byte {
	if d.off == len(d.data) {
		return 0
	}
	return d.data[d.off]
}

// Since returns the bytes between the offset at and the next unread byte.
func (d *Decoder) Since(at int) []byte { return d.data[at:d.off:d.off] }

// Fail records that field, which begins at offset at, was rejected for cause
// err, unless an earlier failure is already recorded.
func (d *Decoder) Fail(at int, field string, err error) {
	if d.err == nil {
		d.err = &Error{Package: d.pkg, Offset: int64(at), Field: field, Err: err}
	}
}

// Corrupt is Fail with a cause that wraps [ErrCorrupt].
func (d *Decoder) Corrupt(at int, field, format string, args ...any) {
	if d.err == nil {
		d.Fail(at, field, fmt.Errorf("%w: "+format, append([]any{ErrCorrupt}, args...)...))
	}
}

// Limit is Fail with a cause that wraps [ErrLimit].
func (d *Decoder) Limit(at int, field, format string, args ...any) {
	if d.err == nil {
		d.Fail(at, field, fmt.Errorf("%w: "+format, append([]any{ErrLimit}, args...)...))
	}
}

// Uvarint reads an unsigned integer.
func (d *Decoder) Uvarint(field string) uint64 {
	if d.err != nil {
		return 0
	}
	if d.off < len(d.data) && d.data[d.off] < 0x80 {
		d.off++
		return uint64(d.data[d.off-1])
	}
	v, n := binary.Uvarint(d.data[d.off:])
	switch {
	case n == 0:
		d.Fail(d.off, field, io.ErrUnexpectedEOF)
		return 0
	case n < 0:
		d.Corrupt(d.off, field, "varint overflows 64 bits")
		return 0
	case d.data[d.off+n-1] == 0:
		d.Corrupt(d.off, field, "varint is not minimal")
		return 0
	}
	d.off += n
	return v
}

// UvarintMax reads an unsigned integer that must not exceed limit.
func (d *Decoder) UvarintMax(field string, limit uint64) uint64 {
	at := d.off
	v := d.Uvarint(field)
	if v > limit {
		d.Corrupt(at, field, "%d is more than %d", v, limit)
		return 0
	}
	return v
}

// Varint reads a signed integer.
func (d *Decoder) Varint(field string) int64 {
	u := d.Uvarint(field)
	return int64(u>>1) ^ -int64(u&1)
}

// Byte reads one byte.
func (d *Decoder) Byte(field string) byte {
	b := d.Bytes(field, 1)
	if d.err != nil {
		return 0
	}
	return b[0]
}

// Uint32 reads four bytes, little-endian.
func (d *Decoder) Uint32(field string) uint32 {
	b := d.Bytes(field, 4)
	if d.err != nil {
		return 0
	}
	return binary.LittleEndian.Uint32(b)
}

// Uint64 reads eight bytes, little-endian.
func (d *Decoder) Uint64(field string) uint64 {
	b := d.Bytes(field, 8)
	if d.err != nil {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

// Bytes reads n bytes. The result aliases the input.
func (d *Decoder) Bytes(field string, n int) []byte {
	if d.err != nil {
		return nil
	}
	if n < 0 || n > d.Rest() {
		d.Fail(d.off, field, io.ErrUnexpectedEOF)
		return nil
	}
	at := d.off
	d.off += n
	return d.Since(at)
}

// String reads a length and that many bytes. The result aliases the input.
func (d *Decoder) String(field string) []byte {
	return d.Bytes(field, d.Count(field, 1))
}

// Count reads the number of elements that follow, each at least size bytes
// long. It refuses a number that the rest of the input cannot hold, so the
// caller may allocate that many.
func (d *Decoder) Count(field string, size int) int {
	at := d.off
	v := d.Uvarint(field)
	if d.err != nil {
		return 0
	}
	if v > uint64(d.Rest()/size) {
		d.Corrupt(at, field, "%d elements in %d bytes", v, d.Rest())
		return 0
	}
	return int(v)
}

// Embed reads what parse finds at the beginning of the unread bytes of d. Parse returns the bytes
// after it. Where it fails with an [*Error], d does with that of its field, at the offset in d.
func Embed[T any](d *Decoder, parse func(data []byte) (v T, rest []byte, err error)) T {
	var none T
	if d.err != nil {
		return none
	}
	v, rest, err := parse(d.data[d.off:])
	if err == nil {
		d.off = len(d.data) - len(rest)
		return v
	}
	var e *Error
	if errors.As(err, &e) {
		d.Fail(d.off+int(e.Offset), e.Field, e.Err)
	} else {
		d.Fail(d.off, d.pkg, err)
	}
	return none
}

// End requires that every byte was read.
func (d *Decoder) End(field string) {
	if d.Rest() > 0 {
		d.Corrupt(d.off, field, "%d bytes after the last field", d.Rest())
	}
}
