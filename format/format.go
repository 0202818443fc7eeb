// Package format implements the container of a trace: a file of sections,
// each a run of bytes under a kind and a key, that is written front to back,
// read in any order, and walked when it is damaged. What a kind or a key means
// is the business of the caller. It also has the types of what a trace says of the run as
// a whole, such as [Origin], [Name] and [Clock]: package merge writes them, and package
// trace reads them.
//
// A [Writer] appends sections to an io.Writer. A [Reader] opens a file by
// reading its header and its index, then reads the sections it is asked for.
// [Salvage] needs neither footer nor index and finds what is intact. If all
// sections have few bytes, they may be coded together instead, see [Primed].
//
//	w := format.NewWriter(&file, format.Options{})
//	…
//	err := w.Add(kind, key, content)
//	err = w.Close()
//
// The same sections, added in the same order, make the same bytes. docs/format.md
// has the layout of the file.
//
// # Limits
//
// Input is checked whoever wrote it. A Reader allocates in proportion to the
// bytes of the file, never to a number in it. [Options.MaxIndex] bounds the
// index and so the number of sections, [Options.MaxContent] what one section
// may expand to; on the way there memory grows with what was decoded, beyond
// 1 MiB and 64 times the stored bytes. A window takes at most 16 MiB more.
package format

import (
	"errors"
	"fmt"
	"math"

	"github.com/reprise-trace/reprise/internal/wire"
)

// A ParseError reports where and why a file was rejected: Offset from the start
// of the file, Field as named in docs/format.md, and Err, which
// wraps [ErrCorrupt], [ErrLimit], [ErrFormat], [ErrEncoding] or
// [io.ErrUnexpectedEOF]. A failure of the underlying reader is not a ParseError.
type ParseError = wire.Error

// Errors that a [ParseError] wraps, for use with [errors.Is].
var (
	ErrCorrupt = wire.ErrCorrupt
	ErrLimit   = wire.ErrLimit

	// ErrFormat means that the file is no container, not a damaged one either.
	ErrFormat = errors.New("not a container file")

	// ErrSmall means that a small container is cut off or damaged: nothing of it can be salvaged.
	ErrSmall = errors.New("the file is cut off or damaged, and nothing can be read of a file this small")

	// ErrEncoding means that the file holds a section in an encoding that this
	// version of the package does not know.
	ErrEncoding = errors.New("unknown encoding")
)

// Version is the latest version of the format that this package reads. Small containers have it, others
// have version 1.
const Version = 2

// A VersionError reports a file in a later version of the format.
type VersionError struct {
	Have      int // version of the file
	Supported int // latest version this package reads
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("format: file has version %d, supported is version %d", e.Have, e.Supported)
}

// A Kind says what a section holds. Kinds are assigned by the caller.
type Kind uint32

// An Encoding says how the content of a section is stored.
type Encoding uint8

// The encodings. Zstd is the smallest of sections, LZ4 the fastest that compresses.
const (
	Zstd Encoding = iota
	None
	LZ4

	alias // the content is that of an earlier record

	// Primed is that of all sections together, if they have 16 KiB at most: one that knows what is
	// typical of traces. If they have more, it is Zstd.
	Primed

	encodingBits = 3
)

func (e Encoding) String() string {
	switch e {
	case Zstd:
		return "zstd"
	case None:
		return "none"
	case LZ4:
		return "lz4"
	case Primed:
		return "primed"
	}
	return fmt.Sprintf("encoding(%d)", uint8(e))
}

// hasLength reports whether the length of the content is written down, being
// neither the number of stored bytes nor that of another record.
func (e Encoding) hasLength() bool { return e != None && e != alias }

// Options configures a [Writer], a [Reader] and [Salvage]. The zero Options is
// the default configuration.
type Options struct {
	// Encoding is how a Writer stores content and, if it is Zstd, the index.
	// Content that does not become smaller is stored as it is.
	// Zero means Zstd. A Reader ignores it.
	Encoding Encoding

	// MaxIndex is the length of the longest index to write or accept, in bytes
	// before compression. An index takes at least 3 bytes for each section, and
	// Salvage accepts one section for every 3 bytes. Zero means 64 MiB.
	MaxIndex int64

	// MaxContent is the length of the longest content to write or accept, in
	// bytes. Zero means 1 GiB.
	MaxContent int64

	// Memory is how many bytes what is made of the file may take, see [Reader.Memory]. A
	// Writer and Salvage ignore it.
	// Zero means 512 MiB, or 512 times the length of the file if that is more.
	Memory int64

	// SkipChecksum accepts input whose checksums do not match. The structure is
	// checked either way. A Writer ignores it.
	SkipChecksum bool
}

func (o Options) withDefaults() Options {
	if o.MaxIndex == 0 {
		o.MaxIndex = 64 << 20
	}
	if o.MaxContent == 0 {
		o.MaxContent = 1 << 30
	}
	o.MaxIndex = min(o.MaxIndex, math.MaxInt32)
	o.MaxContent = min(o.MaxContent, int64(math.MaxInt-maxHeadLen-wire.ChecksumLen))
	return o
}

// maxSections is the largest number of sections an index may have.
func (o Options) maxSections() int { return int(o.MaxIndex / minIndexEntryLen) }

// A Section describes one section of a file.
type Section struct {
	Kind     Kind
	Key      uint64
	Encoding Encoding // of the stored bytes
	Len      int64    // bytes of content
	Offset   int64    // of the record of the section, from the start of the file
	Size     int64    // bytes of that record, all included
	Source   int64    // offset of the record that holds the content, often Offset
}

// shared reports whether the content of s is held by an earlier section.
func (s Section) shared() bool { return s.Source != s.Offset }

// corrupt returns a [ParseError] whose cause wraps [ErrCorrupt].
func corrupt(off int64, field, format string, args ...any) error {
	return fail(off, field, ErrCorrupt, format, args...)
}

// fail returns a [ParseError] with a cause that wraps err.
func fail(off int64, field string, err error, format string, args ...any) error {
	return reject(off, field, fmt.Errorf("%w: "+format, append([]any{err}, args...)...))
}

// reject returns a [ParseError] with the cause err.
func reject(off int64, field string, err error) error {
	return &ParseError{Package: "format", Offset: off, Field: field, Err: err}
}

// AppendText appends a listing of r for people and for tests, one line for the
// file and one for each section, to dst and returns the extended slice. The
// error is always nil; it is there for [encoding.TextAppender].
func (r *Reader) AppendText(dst []byte) ([]byte, error) {
	dst = fmt.Appendf(dst, "container version=%d sections=%d size=%d\n", r.version(), len(r.entries), r.size)
	for _, s := range r.All() {
		dst = fmt.Appendf(dst, "section kind=%d key=%d offset=%d size=%d ", s.Kind, s.Key, s.Offset, s.Size)
		if s.shared() {
			dst = fmt.Appendf(dst, "same=%d len=%d\n", s.Source, s.Len)
		} else {
			dst = fmt.Appendf(dst, "encoding=%v len=%d\n", s.Encoding, s.Len)
		}
	}
	return dst, nil
}
