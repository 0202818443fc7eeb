package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/reprise-trace/reprise/internal/primed"
	"github.com/reprise-trace/reprise/internal/wire"
)

// A small container has no records: its sections are coded together by package primed, between a
// header of another version and a checksum.

const (
	smallHeader = magic + "\x02"

	// maxSmall is how many bytes the sections of a small container may have, counting 3 more for each.
	maxSmall = 16 << 10

	// maxSmallFile is the length of the longest small container.
	maxSmallFile = 2*maxSmall + int64(len(smallHeader)) + wire.ChecksumLen
)

// An item is a section that a Writer may write to a small container.
type item struct {
	kind    Kind
	key     uint64
	content []byte
}

// hold keeps a section, if it and those that are kept fit in a small container.
func (w *Writer) hold(n name, content []byte) bool {
	if w.o.Encoding != Primed || w.offset > 0 || w.room < len(content)+3 {
		return false
	}
	w.room -= len(content) + 3
	w.held = append(w.held, item{n.kind, n.key, bytes.Clone(content)})
	return true
}

// release writes the sections that are kept as records.
func (w *Writer) release() error {
	list := w.held
	w.held, w.room = nil, 0
	for _, s := range list {
		if err := w.add(s.kind, s.key, s.content); err != nil {
			return err
		}
	}
	return nil
}

// closeSmall writes a small container of the sections that are kept, and reports whether it did. If there are
// none, another container is smaller, or kinds and keys make it too long, they are written as records.
func (w *Writer) closeSmall() bool {
	if len(w.held) == 0 || w.err != nil {
		return false
	}
	var (
		other bytes.Buffer
		large = NewWriter(&other, Options{MaxIndex: w.o.MaxIndex, MaxContent: w.o.MaxContent})
	)
	for _, s := range w.held {
		_ = large.Add(s.kind, s.key, s.content) // of which errors stick
	}
	w.err = large.Close()
	file := appendSmall(nil, sectionsOf(w.held))
	if other.Len() <= len(file) || int64(len(file)) > maxSmallFile {
		_ = w.release() // of which errors stick
		return false
	}
	return w.write(file) == nil
}

func sectionsOf(items []item) []primed.Section {
	list := make([]primed.Section, len(items))
	for i, s := range items {
		list[i] = primed.Section{Kind: uint32(s.kind), Key: s.key, Content: s.content}
	}
	return list
}

func appendSmall(dst []byte, sections []primed.Section) []byte {
	base := len(dst)
	dst = primed.Append(append(dst, smallHeader...), sections)
	return wire.AppendUint32(dst, wire.Checksum(dst[base:]))
}

// readSmall reads a small container, of which the header is not looked at.
func readSmall(r io.ReaderAt, size int64, o Options) (*Reader, error) {
	switch {
	case size < headerLen+wire.ChecksumLen:
		return nil, corrupt(size, "sections", "%d bytes: %w", size, ErrSmall)
	case size > maxSmallFile:
		if end, err := endBefore(r, size); err != nil || end > 0 {
			return nil, followed(end, size, err)
		}
		return nil, corrupt(int64(len(magic)), "header", "version %d, in a file of %d bytes", Version, size)
	}
	file := make([]byte, size)
	if err := readAt(r, file, 0); err != nil {
		return nil, err
	}
	copy(file, smallHeader)
	covered := file[:size-wire.ChecksumLen]
	if have, sum := binary.LittleEndian.Uint32(file[len(covered):]), wire.Checksum(covered); sum != have &&
		!o.SkipChecksum {
		if bytes.HasPrefix(file[headerLen:], []byte(marker)) {
			return nil, corrupt(int64(len(magic)), "header", "version %d, before a record", Version)
		}
		if end, err := endBefore(r, size); err != nil || end > 0 {
			return nil, followed(end, size, err)
		}
		return nil, corrupt(headerLen, "sections", "checksum is %08x, computed %08x: %w", have, sum, ErrSmall)
	}
	sections, err := primed.Parse(covered[headerLen:], maxSmall)
	if err != nil {
		return nil, reject(headerLen, "sections", fmt.Errorf("%w: %w", err, ErrSmall))
	}
	if len(sections) > o.maxSections() {
		return nil, fail(headerLen, "sections", ErrLimit, "%d sections", len(sections))
	}
	entries, contents := make([]entry, len(sections)), make([][]byte, len(sections))
	end := int64(len(covered))
	for i, s := range slices.Backward(sections) {
		at := headerLen + int64(s.Offset)
		entries[i] = entry{kind: Kind(s.Kind), key: s.Key, offset: at, stored: end - at,
			length: int64(len(s.Content)), first: int32(i), form: Primed}
		contents[i], end = s.Content, at
	}
	fr, err := newReader(r, size, o, entries)
	if err != nil {
		return nil, err
	}
	fr.small = contents
	return fr, nil
}

// endField is the field of the error about a small container that other bytes follow, whose offset is where
// it ends.
const endField = "end"

func followed(end, size int64, err error) error {
	if err != nil {
		return err
	}
	return corrupt(end, endField, "%d bytes follow the container", size-end)
}

// endBefore returns where a small container ends that other bytes follow in a file: where a checksum holds; 0
// if nowhere.
func endBefore(r io.ReaderAt, size int64) (int64, error) {
	file := make([]byte, min(size, maxSmallFile+1))
	if err := readAt(r, file, 0); err != nil {
		return 0, err
	}
	copy(file, smallHeader)
	chances := 4 // checksums that hold by accident, of what is no container
	sum := wire.Checksum(file[:headerLen])
	for n := int(headerLen); n+wire.ChecksumLen < len(file) && chances > 0; n++ {
		if binary.LittleEndian.Uint32(file[n:]) == sum {
			if _, err := primed.Parse(file[headerLen:n], maxSmall); err == nil {
				return int64(n + wire.ChecksumLen), nil
			}
			chances--
		}
		sum = wire.UpdateChecksum(sum, file[n:n+1])
	}
	return 0, nil
}

// smallContent returns a copy of the content of a section of a small container.
func (r *Reader) smallContent(e *entry) ([]byte, error) {
	if e.length > r.o.MaxContent {
		return nil, fail(e.offset, "length", ErrLimit,
			"%d bytes in section of kind %d and key %d, at most %d", e.length, e.kind, e.key, r.o.MaxContent)
	}
	return bytes.Clone(r.small[e.first]), nil
}

// salvageSmall is [Salvage] of a small container, of which nothing but the header may be damaged, and that
// other bytes may follow. If it is none, there is no Reader, and if it looks like one the reason.
func salvageSmall(r io.ReaderAt, size int64, o Options) (whole *Reader, losses []Loss, reason, err error) {
	head := make([]byte, min(size, headerLen))
	if err := readAt(r, head, 0); err != nil {
		return nil, nil, nil, err
	}
	small := string(head) == smallHeader
	if !small {
		o.SkipChecksum = false
	}
	whole, err = readSmall(r, size, o)
	var pe *ParseError
	if err != nil && !errors.As(err, &pe) {
		return nil, nil, nil, err
	}
	if err != nil && small && pe.Field == endField {
		losses = []Loss{{Offset: pe.Offset, Len: size - pe.Offset, Err: err}}
		whole, err = readSmall(io.NewSectionReader(r, 0, pe.Offset), pe.Offset, o)
	}
	switch {
	case whole == nil && small:
		return nil, nil, err, nil
	case whole == nil:
		return nil, nil, nil, nil
	case !small:
		losses = []Loss{{Len: headerLen, Err: corrupt(0, "header", "%q is damaged", head)}}
	}
	return whole, losses, nil, nil
}
