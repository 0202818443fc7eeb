package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"

	"github.com/reprise-trace/reprise/internal/wire"
)

// A Loss is a range of a file in which [Salvage] found no intact section.
type Loss struct {
	Offset int64 // from the start of the file
	Len    int64 // may be zero, for what is missing at the end
	Err    error // why; a [*ParseError]

	// Known reports that the range begins with a section, which was of this kind and key: its
	// head is intact, or the index has it.
	Known bool
	Kind  Kind
	Key   uint64
}

func (l Loss) String() string {
	what := "no section"
	if l.Known {
		what = fmt.Sprintf("section of kind %d and key %d", l.Kind, l.Key)
	}
	return fmt.Sprintf("%d bytes at offset %d, %s: %v", l.Len, l.Offset, what, l.Err)
}

// Salvage walks a file from front to back, without its index, and returns a
// Reader of the sections whose checksums hold, and what lies between them, in
// the order of the file. No losses means that all checksums hold, unless they are
// skipped, and that [NewReader] gives the same sections; no content is decoded.
// A section is valid only in its place: what follows bytes that were inserted or
// removed is lost.
//
// Salvage takes time linear in size. Memory grows with the number of sections
// and of losses, of which there may be one for every 3 bytes of
// [Options.MaxIndex], and with the index, which is reported as a loss if it is
// not valid, exceeds that limit or, nothing else being lost, is not that of the
// sections.
//
// An error means that nothing was found: there is no container, or one of a
// later version. If the limit is exceeded, Salvage returns what it found so far
// with an error that wraps [ErrLimit]. Failures of r are wrapped, never losses.
func Salvage(r io.ReaderAt, size int64, o Options) (*Reader, []Loss, error) {
	if r == nil {
		return nil, nil, errNoFile
	}
	size = max(size, 0)
	whole, losses, smallErr, err := salvageSmall(r, size, o.withDefaults())
	if whole != nil || err != nil {
		return whole, losses, err
	}
	s := salvage{
		window: window{r: r, size: size, buf: make([]byte, 0, min(size, windowLen))},
		o:      o.withDefaults(),
		names:  make(map[name]struct{}),
	}
	headerErr, indexErr, err := s.frame()
	if err != nil {
		return nil, nil, err
	}
	if smallErr != nil {
		headerErr = smallErr
	}
	if headerErr != nil {
		s.losses = append(s.losses, Loss{Len: min(size, headerLen), Err: headerErr})
	}
	limitErr, err := s.walk()
	switch {
	case err != nil:
		return nil, nil, err
	case headerErr != nil && len(s.entries) == 0:
		return nil, nil, headerErr
	case indexErr == nil && limitErr == nil:
		if err := s.index(); err != nil {
			return nil, nil, err
		}
	}
	// Other versions have other checksums, or no records: these are of this one.
	have := version
	if v := (*VersionError)(nil); errors.As(headerErr, &v) {
		have = v.Have
	} else if smallErr != nil {
		have = Version
	}
	if have != version {
		s.losses[0].Err = corrupt(int64(len(magic)), "header",
			"version %d, where the sections are of version %d", have, version)
	}
	s.finish(indexErr)
	fr, err := newReader(r, size, s.o, s.entries)
	if err == nil {
		err = limitErr
	}
	return fr, s.losses, err
}

// A salvage is the state of one walk.
type salvage struct {
	window
	o       Options
	off     int64 // of the walk
	end     int64 // of the records, as far as known
	entries []entry
	names   map[name]struct{}
	losses  []Loss
	open    bool // the last of losses ends where the next section begins
}

// frame checks what encloses the records and sets where they begin and end. It
// returns what is wrong with the header, what is wrong with the index or the
// footer, and a failure to read.
func (s *salvage) frame() (headerErr, indexErr, err error) {
	b, err := s.peek(0, int(headerLen))
	if err != nil {
		return nil, nil, err
	}
	headerErr = checkHeader(b[:min(len(b), len(header))])
	s.off, s.end = min(s.size, headerLen), s.size
	if s.size < headerLen+footerLen {
		return headerErr, fail(s.size, "footer", io.ErrUnexpectedEOF, "the file has %d bytes", s.size), nil
	}
	if b, err = s.peek(s.size-footerLen, int(footerLen)); err != nil {
		return nil, nil, err
	}
	f, indexErr := parseFooter(b, s.size)
	if indexErr != nil {
		return headerErr, indexErr, nil
	}
	if !s.o.SkipChecksum {
		sum, err := s.checksum(f.offset, s.size-wire.ChecksumLen-int64(len(footerMark)))
		if err != nil {
			return nil, nil, err
		}
		if sum != f.sum {
			return headerErr, corrupt(f.offset, "index", "checksum is %08x, computed %08x", f.sum, sum), nil
		}
	}
	s.end = f.offset
	return headerErr, nil, nil
}

// walk moves s.off over records to s.end. The first result is that the limit
// was exceeded, the second a failure to read.
func (s *salvage) walk() (limitErr, err error) {
	for s.off < s.end {
		if len(s.entries)+len(s.losses) >= s.o.maxSections() {
			return fail(s.off, "record", ErrLimit, "more than %d sections and losses", s.o.maxSections()), nil
		}
		data, err := s.peek(s.off, maxHeadLen)
		if err != nil {
			return nil, err
		}
		data = data[:min(int64(len(data)), s.end-s.off)]
		e, ok := parseHead(data, s.off, s.o.SkipChecksum)
		n := e.recordLen()
		switch {
		case !ok:
			if !s.open {
				s.lose(Loss{Err: corrupt(s.off, "record", "no head")})
			}
			err = s.seek()
		case n > s.end-s.off:
			// The head is believed only as to what was here: something intact
			// may follow before the place where the record should end.
			s.endLoss()
			s.lose(Loss{Known: true, Kind: e.kind, Key: e.key,
				Err: fail(s.off, "record", io.ErrUnexpectedEOF, "%d of %d bytes", s.end-s.off, n)})
			err = s.seek()
		default:
			s.endLoss()
			err = s.record(e, n)
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// record takes the record of e, which has n bytes, and moves s.off past it.
func (s *salvage) record(e entry, n int64) error {
	reason, err := s.check(&e, n)
	if err != nil {
		return err
	}
	if reason != nil {
		s.lose(Loss{Known: true, Kind: e.kind, Key: e.key, Err: reason})
	} else {
		s.names[name{e.key, e.kind}] = struct{}{}
		s.entries = append(s.entries, e)
	}
	s.off += n
	s.endLoss()
	return nil
}

// check returns why e, whose record has n bytes, is no section, or completes it.
func (s *salvage) check(e *entry, n int64) (reason, err error) {
	if e.form != alias && !s.o.SkipChecksum {
		at := e.offset + n - wire.ChecksumLen
		sum, err := s.checksum(e.offset, at)
		if err != nil {
			return nil, err
		}
		b, err := s.peek(at, wire.ChecksumLen)
		if err != nil {
			return nil, err
		}
		if have := binary.LittleEndian.Uint32(b); have != sum {
			return corrupt(e.offset, "crc", "checksum is %08x, computed %08x", have, sum), nil
		}
	}
	if _, ok := s.names[name{e.key, e.kind}]; ok {
		return corrupt(e.offset, "record", "second section of this kind and key"), nil
	}
	e.first = int32(len(s.entries))
	if e.form != alias {
		return nil, nil
	}
	i := sort.Search(len(s.entries), func(i int) bool { return s.entries[i].offset >= e.offset-e.stored })
	if i == len(s.entries) || s.entries[i].offset != e.offset-e.stored || s.entries[i].form == alias {
		return corrupt(e.offset, "back", "the record at offset %d, which holds the content, is lost",
			e.offset-e.stored), nil
	}
	e.first, e.length = int32(i), s.entries[i].length
	return nil, nil
}

// lose begins a loss at s.off unless one is open.
func (s *salvage) lose(l Loss) {
	if s.open {
		return
	}
	l.Offset = s.off
	s.losses = append(s.losses, l)
	s.open = true
}

// endLoss ends the open loss, if there is one, at s.off.
func (s *salvage) endLoss() {
	if s.open {
		l := &s.losses[len(s.losses)-1]
		l.Len = s.off - l.Offset
		s.open = false
	}
}

// index reports the loss of the index, whose checksum holds, if it is not that of
// the file. The walk has come to it. The result is a failure to read.
func (s *salvage) index() error {
	entries, reason := readIndex(s.r, s.size, s.o)
	if pe := (*ParseError)(nil); reason != nil && !errors.As(reason, &pe) {
		return reason
	}
	if reason == nil && len(s.losses) == 0 && !slices.Equal(entries, s.entries) {
		reason = corrupt(s.end, "index", "is not that of the records")
	}
	if reason == nil {
		s.endLoss()
		s.identify(entries)
	}
	if reason != nil {
		s.endLoss()
		s.lose(Loss{Err: reason})
		s.off = s.size
	}
	return nil
}

// identify divides losses where sections of the index begin that are lost.
func (s *salvage) identify(index []entry) {
	if len(s.losses) == 0 {
		return
	}
	var divided []Loss
	for _, l := range s.losses {
		end := l.Offset + l.Len
		i := sort.Search(len(index), func(i int) bool { return index[i].offset >= l.Offset })
		for ; i < len(index) && index[i].offset < end &&
			len(s.entries)+len(s.losses)+len(divided) < s.o.maxSections(); i++ {
			e := index[i]
			if _, ok := s.names[name{e.key, e.kind}]; ok {
				continue
			}
			if e.offset == l.Offset && !l.Known {
				l.Known, l.Kind, l.Key = true, e.kind, e.key
			} else if e.offset > l.Offset {
				l.Len = e.offset - l.Offset
				divided = append(divided, l)
				l = Loss{Offset: e.offset, Err: corrupt(e.offset, "record", "no head"), Known: true,
					Kind: e.kind, Key: e.key}
			}
			l.Len = end - l.Offset
		}
		divided = append(divided, l)
	}
	s.losses = divided
}

// finish ends the walk and reports the loss of the index, if it is lost.
func (s *salvage) finish(indexErr error) {
	if s.off < s.end { // stopped by the limit
		s.endLoss()
		return
	}
	if indexErr != nil {
		if s.open && !s.losses[len(s.losses)-1].Known {
			s.losses[len(s.losses)-1].Err = indexErr
		} else {
			s.endLoss()
			s.lose(Loss{Err: indexErr})
		}
	}
	s.endLoss()
}

// seek moves s.off to the next byte that may begin a marker, or to s.end.
func (s *salvage) seek() error {
	for s.off++; s.off < s.end; {
		b, err := s.peek(s.off, 1)
		if err != nil {
			return err
		}
		b = b[:min(int64(len(b)), s.end-s.off)]
		if i := bytes.IndexByte(b, marker[0]); i >= 0 {
			s.off += int64(i)
			return nil
		}
		s.off += int64(len(b))
	}
	return nil
}

// A window is a stretch of a file in memory, moved forward as needed.
type window struct {
	r    io.ReaderAt
	size int64
	base int64 // offset in the file of buf
	buf  []byte
}

const windowLen = 64 << 10

// peek returns what is in memory of the bytes from offset off, at least n of
// them, or all up to the end of the file. They are valid until the next call.
// off ≤ w.size, n ≤ windowLen.
func (w *window) peek(off int64, n int) ([]byte, error) {
	held := w.base + int64(len(w.buf))
	if off < w.base || (held < w.size && off > held-int64(n)) {
		w.base, w.buf = off, w.buf[:min(w.size-off, int64(cap(w.buf)))]
		if err := readAt(w.r, w.buf, off); err != nil {
			return nil, err
		}
	}
	return w.buf[off-w.base:], nil
}

// checksum returns the checksum of what lies from offset off to offset end.
func (w *window) checksum(off, end int64) (uint32, error) {
	sum := seed(off)
	for off < end {
		b, err := w.peek(off, 1)
		if err != nil {
			return 0, err
		}
		b = b[:min(int64(len(b)), end-off)]
		sum = wire.UpdateChecksum(sum, b)
		off += int64(len(b))
	}
	return sum, nil
}
