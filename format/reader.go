package format

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sort"

	"github.com/reprise-trace/reprise/internal/compress"
	"github.com/reprise-trace/reprise/internal/wire"
)

// A Reader gives access to the sections of a file. Its methods may be called
// from several goroutines at once if those of the underlying reader may, as
// io.ReaderAt demands.
type Reader struct {
	r       io.ReaderAt
	size    int64
	o       Options
	entries []entry  // in the order of their records
	order   []uint32 // of entries by kind and key; nil if that is their order
	small   [][]byte // contents of the sections of a small container
}

// tailLen is how much NewReader reads of the end of a file at first. It holds
// the index of some hundred sections.
const tailLen = 4 << 10

var errNoFile = errors.New("format: no file to read")

// NewReader returns a Reader of the file of the given size that r reads. It
// reads the header, the footer and the index, and sections only if they have few bytes. A file of a later
// version gives a [*VersionError], one that is no container, is damaged or
// exceeds a limit a [*ParseError].
func NewReader(r io.ReaderAt, size int64, o Options) (*Reader, error) {
	if r == nil {
		return nil, errNoFile
	}
	o = o.withDefaults()
	head := make([]byte, max(0, min(size, headerLen)))
	if err := readAt(r, head, 0); err != nil {
		return nil, err
	}
	if err := checkHeader(head); err != nil {
		return nil, err
	}
	if head[len(magic)] == smallHeader[len(magic)] {
		return readSmall(r, size, o)
	}
	if size < headerLen+footerLen {
		return nil, fail(size, "footer", io.ErrUnexpectedEOF, "the file has %d bytes: %s", size, salvageable)
	}
	entries, err := readIndex(r, size, o)
	if err != nil {
		return nil, err
	}
	return newReader(r, size, o, entries)
}

// newReader returns a Reader of entries, which it owns, unless two of them have
// the same kind and key.
func newReader(r io.ReaderAt, size int64, o Options, entries []entry) (*Reader, error) {
	fr := &Reader{r: r, size: size, o: o, entries: entries}
	if !slices.IsSortedFunc(entries, compareNames) {
		fr.order = make([]uint32, len(entries))
		for i := range fr.order {
			fr.order[i] = uint32(i)
		}
		slices.SortFunc(fr.order, func(i, j uint32) int {
			return cmp.Or(compareNames(entries[i], entries[j]), cmp.Compare(i, j))
		})
	}
	for i := 1; i < len(entries); i++ {
		if a, b := fr.nth(i-1), fr.nth(i); compareNames(*a, *b) == 0 {
			return nil, corrupt(b.offset, "index", "second section of kind %d and key %d", b.kind, b.key)
		}
	}
	return fr, nil
}

func compareNames(a, b entry) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.key, b.key))
}

// nth returns the entry at position i in the order of kinds and keys.
func (r *Reader) nth(i int) *entry {
	if r.order != nil {
		return &r.entries[r.order[i]]
	}
	return &r.entries[i]
}

// readIndex returns the entries of the index of the file.
func readIndex(r io.ReaderAt, size int64, o Options) ([]entry, error) {
	tail := make([]byte, min(size-headerLen, tailLen))
	if err := readAt(r, tail, size-int64(len(tail))); err != nil {
		return nil, err
	}
	f, err := parseFooter(tail[int64(len(tail))-footerLen:], size)
	if err != nil {
		return nil, err
	}
	if f.content > o.MaxIndex {
		return nil, fail(size-footerLen, "footer", ErrLimit, "index of %d bytes, at most %d", f.content, o.MaxIndex)
	}
	// The index is preceded by room for the frame header it was stripped of.
	buf := make([]byte, compress.Room+int(f.stored+footerLen))
	index := buf[compress.Room:]
	missing := max(0, len(index)-len(tail))
	copy(index[missing:], tail[max(0, len(tail)-len(index)):])
	if err := readAt(r, index[:missing], f.offset); err != nil {
		return nil, err
	}
	lengths := index[f.stored:][:footerLen-wire.ChecksumLen-int64(len(footerMark))]
	if sum := f.indexSum(index[:f.stored], lengths); sum != f.sum && !o.SkipChecksum {
		return nil, corrupt(f.offset, "index", "checksum is %08x, computed %08x: %s", f.sum, sum, salvageable)
	}
	return f.decodeIndex(buf[:compress.Room+int(f.stored)])
}

// readAt fills p from offset off of r. Its errors are those of r: a file that
// ends before the size the caller gave is not one that was written too short.
func readAt(r io.ReaderAt, p []byte, off int64) error {
	if len(p) == 0 {
		return nil
	}
	n, err := r.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("format: read of %d bytes at offset %d: %w", len(p), off, err)
}

func (r *Reader) version() int {
	if r.small != nil {
		return Version
	}
	return version
}

// Memory returns how many bytes what is made of the file may take. The Reader itself does
// not need it: it is for packages that expand what sections hold.
func (r *Reader) Memory() uint64 {
	if r.o.Memory > 0 {
		return uint64(r.o.Memory)
	}
	return wire.DefaultMemory(r.size)
}

// MaxContent returns the length of the longest content that r reads, in bytes.
func (r *Reader) MaxContent() int64 { return r.o.MaxContent }

// All returns an iterator over the sections in the order they were added, with
// their positions in it.
func (r *Reader) All() iter.Seq2[int, Section] {
	return func(yield func(int, Section) bool) {
		for i := range r.entries {
			if !yield(i, r.section(&r.entries[i])) {
				return
			}
		}
	}
}

// Lookup returns the section of that kind and key. It takes time logarithmic in
// the number of sections.
func (r *Reader) Lookup(kind Kind, key uint64) (Section, bool) {
	if e := r.find(kind, key); e != nil {
		return r.section(e), true
	}
	return Section{}, false
}

func (r *Reader) find(kind Kind, key uint64) *entry {
	want := entry{kind: kind, key: key}
	i := sort.Search(len(r.entries), func(i int) bool { return compareNames(*r.nth(i), want) >= 0 })
	if i == len(r.entries) || compareNames(*r.nth(i), want) != 0 {
		return nil
	}
	return r.nth(i)
}

func (r *Reader) section(e *entry) Section {
	first := &r.entries[e.first]
	s := Section{
		Kind:     e.kind,
		Key:      e.key,
		Encoding: first.form,
		Len:      e.length,
		Offset:   e.offset,
		Size:     e.recordLen(),
		Source:   first.offset,
	}
	if r.small != nil {
		s.Size = e.stored
	}
	return s
}

// Content returns the content of the section of r that has the kind and key of
// s. It reads that section only, and checks it.
func (r *Reader) Content(s Section) (content []byte, err error) {
	e := r.find(s.Kind, s.Key)
	if e == nil {
		return nil, fmt.Errorf("format: no section of kind %d and key %d", s.Kind, s.Key)
	}
	if r.small != nil {
		return r.smallContent(e)
	}
	first := &r.entries[e.first]
	if first.form > alias {
		return nil, fail(first.offset, "form", ErrEncoding, "%v of section of kind %d and key %d", first.form,
			e.kind, e.key)
	}
	if first.length > r.o.MaxContent {
		return nil, fail(first.offset, "length", ErrLimit, "%d bytes in section of kind %d and key %d, at most %d",
			first.length, e.kind, e.key, r.o.MaxContent)
	}
	if first.form == None {
		return r.readRecord(first, 0)
	}
	record, err := r.readRecord(first, compress.Room)
	if err != nil {
		return nil, err
	}
	if first.form == LZ4 {
		content, err = compress.DecodeLZ4(nil, record[compress.Room:], first.length)
	} else {
		content, err = compress.DecodeZstd(nil, record, first.length)
	}
	if err != nil {
		return nil, reject(first.offset, "stored", fmt.Errorf("section of kind %d and key %d: %w", e.kind, e.key, err))
	}
	return content, nil
}

// Check returns an error if the section of r that has the kind and key of s is not
// stored as its checksum says. It does not decode the content, as [Reader.Content]
// does, and checks the record of a section whose content an earlier one holds, too.
func (r *Reader) Check(s Section) error {
	e := r.find(s.Kind, s.Key)
	if e == nil {
		return fmt.Errorf("format: no section of kind %d and key %d", s.Kind, s.Key)
	}
	if r.small != nil { // its checksum is that of all
		return nil
	}
	_, err := r.readRecord(&r.entries[e.first], 0)
	if err == nil && e.form == alias {
		_, err = r.readRecord(e, 0)
	}
	return err
}

// readRecord reads the record of e, checks it against e and returns its stored bytes,
// with room before them.
func (r *Reader) readRecord(e *entry, room int) ([]byte, error) {
	headLen, n := int(e.headLen()), int(e.recordLen())
	buf := make([]byte, room+n)
	record := buf[room:]
	if err := readAt(r.r, record, e.offset); err != nil {
		return nil, err
	}
	head := e.appendHead(make([]byte, 0, maxHeadLen))
	if r.o.SkipChecksum {
		head = head[:headLen-checkLen]
	}
	if !bytes.HasPrefix(record, head) {
		return nil, corrupt(e.offset, "record", "head is not that of the section of kind %d and key %d", e.kind, e.key)
	}
	covered := record[:n-wire.ChecksumLen]
	have := binary.LittleEndian.Uint32(record[len(covered):])
	if sum := wire.UpdateChecksum(seed(e.offset), covered); sum != have && !r.o.SkipChecksum {
		return nil, corrupt(e.offset, "crc", "section of kind %d and key %d: checksum is %08x, computed %08x",
			e.kind, e.key, have, sum)
	}
	copy(record, covered[headLen:])
	return buf[:room+len(covered)-headLen], nil
}
