package format

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/reprise-trace/reprise/internal/compress"
	"github.com/reprise-trace/reprise/internal/wire"
)

// A Writer writes a container to an io.Writer, front to back. It keeps no content, but for the first 16 KiB
// if the encoding is [Primed], only a hash and a few words for each section and a buffer as long as the
// longest record. A Writer must not be used by two goroutines at once.
type Writer struct {
	w       io.Writer
	o       Options
	offset  int64 // bytes written
	entries []entry
	names   map[name]struct{}
	first   map[[sha256.Size]byte]int32 // hash of content -> entry that holds it
	scratch []byte
	held    []item // sections that may become a small container
	room    int    // for more of them
	longest int64  // content
	err     error  // the first failure, or errClosed
}

// A name identifies a section in its file.
type name struct {
	key  uint64
	kind Kind
}

var errClosed = errors.New("format: use of a closed Writer")

// NewWriter returns a Writer that writes to w, nothing before the first Add.
// An invalid option, and that there is no w, is reported by the first Add or by Close.
func NewWriter(w io.Writer, o Options) *Writer {
	fw := &Writer{
		w:     w,
		o:     o.withDefaults(),
		names: make(map[name]struct{}),
		first: make(map[[sha256.Size]byte]int32),
	}
	if w == nil {
		fw.err = errors.New("format: a Writer to nothing")
	} else if o.Encoding == Primed {
		fw.room = maxSmall
	} else if o.Encoding > LZ4 {
		fw.err = fmt.Errorf("format: cannot write: %w: %v", ErrEncoding, o.Encoding)
	}
	return fw
}

// Add writes one section, with one call of the underlying writer, or keeps it for later. It does not
// retain content. Content equal to that of an earlier section, of whatever kind,
// takes about a dozen bytes. Two sections must not have the same kind and key.
// After an error the file is incomplete, and every later call returns that error.
func (w *Writer) Add(kind Kind, key uint64, content []byte) error {
	if w.err != nil {
		return w.err
	}
	if err := w.admit(name{key, kind}, content); err != nil {
		w.err = err
		return err
	}
	if w.hold(name{key, kind}, content) {
		return nil
	}
	if err := w.release(); err != nil {
		return err
	}
	return w.add(kind, key, content)
}

// add writes one section.
func (w *Writer) add(kind Kind, key uint64, content []byte) error {
	w.begin()
	e := entry{kind: kind, key: key, offset: w.offset, length: int64(len(content)), first: int32(len(w.entries))}
	record := w.record(&e, content)
	if err := w.write(record); err != nil {
		return err
	}
	w.entries = append(w.entries, e)
	return nil
}

// admit checks that a section may be added, and takes its name.
func (w *Writer) admit(n name, content []byte) error {
	if _, ok := w.names[n]; ok {
		return fmt.Errorf("format: section of kind %d and key %d added twice", n.kind, n.key)
	}
	if int64(len(content)) > w.o.MaxContent {
		return fmt.Errorf("format: section of kind %d and key %d: %w: %d bytes, at most %d",
			n.kind, n.key, ErrLimit, len(content), w.o.MaxContent)
	}
	if len(w.names) >= w.o.maxSections() {
		return fmt.Errorf("format: %w: more than %d sections", ErrLimit, len(w.names))
	}
	w.names[n] = struct{}{}
	w.longest = max(w.longest, int64(len(content)))
	return nil
}

// begin writes the header unless that is done.
func (w *Writer) begin() {
	if w.offset == 0 {
		w.write([]byte(header))
	}
}

// record returns the record of e, in w.scratch, and completes e.
func (w *Writer) record(e *entry, content []byte) []byte {
	hash := sha256.Sum256(content)
	if first, ok := w.first[hash]; ok {
		e.form, e.first = alias, first
		e.stored = e.offset - w.entries[first].offset
		w.scratch = e.appendHead(w.scratch[:0])
		return w.seal(0, e.offset)
	}
	w.first[hash] = e.first
	start := w.encode(e, content)
	e.stored = int64(len(w.scratch) - start)
	start -= int(e.headLen())
	e.appendHead(w.scratch[start:start])
	return w.seal(start, e.offset)
}

// encode leaves the stored bytes of content at the end of w.scratch, with room
// for a head before them, returns where they begin, and sets e.form.
func (w *Writer) encode(e *entry, content []byte) int {
	w.scratch = slices.Grow(w.scratch[:0], maxHeadLen)[:maxHeadLen]
	start, smaller := maxHeadLen, false
	switch e.form = w.o.Encoding; e.form {
	case Zstd, Primed:
		e.form = Zstd
		if len(content) > 0 {
			w.scratch, start = compress.AppendZstd(w.scratch, content)
			smaller = true
		}
	case LZ4:
		w.scratch, smaller = compress.AppendLZ4(w.scratch, content)
	}
	if smaller && len(w.scratch)-start+uvarintLen(uint64(len(content))) < len(content) {
		return start
	}
	e.form = None
	w.scratch = append(w.scratch[:maxHeadLen], content...)
	return maxHeadLen
}

// seal ends the record at offset off, which w.scratch[start:] holds, with its
// checksum and returns it.
func (w *Writer) seal(start int, off int64) []byte {
	w.scratch = wire.AppendUint32(w.scratch, wire.UpdateChecksum(seed(off), w.scratch[start:]))
	return w.scratch[start:]
}

// write writes p unless an earlier write failed.
func (w *Writer) write(p []byte) error {
	if w.err != nil {
		return w.err
	}
	n, err := w.w.Write(p)
	w.offset += int64(n)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	if err != nil {
		w.err = fmt.Errorf("format: write at offset %d: %w", w.offset, err)
	}
	return w.err
}

// Close writes the index and the footer. It does not close the underlying
// writer. Close returns the first error of w, and nil if called again after it
// succeeded.
func (w *Writer) Close() error {
	if w.err == errClosed {
		return nil
	}
	if w.closeSmall() {
		w.end()
		return nil
	}
	w.begin()
	if w.err != nil {
		return w.err
	}
	index := appendIndex(nil, w.entries)
	content := len(index)
	if int64(content) > w.o.MaxIndex {
		w.err = fmt.Errorf("format: %w: index of %d bytes, at most %d", ErrLimit, content, w.o.MaxIndex)
		return w.err
	}
	if w.o.Encoding == Zstd || w.o.Encoding == Primed {
		if b, start := compress.AppendZstd(nil, index); len(b)-start < content {
			index = b[start:]
		}
	}
	if err := w.write(appendFooter(index, w.offset, content)); err != nil {
		return err
	}
	w.end()
	return nil
}

// end frees what w holds.
func (w *Writer) end() {
	*w = Writer{err: errClosed, offset: w.offset, longest: w.longest}
}

// Written returns how many bytes were written, and the length of the longest content. What is read is
// compared with them, see [Options].
func (w *Writer) Written() (size, longest int64) { return w.offset, w.longest }
