package collect

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/reprise-trace/reprise/internal/regular"
	"github.com/reprise-trace/reprise/mpi/internal/spool"
)

// A stream reads the records of one thread from its segments, which the thread may
// still be writing to.
type stream struct {
	decoder spool.Decoder
	keep    bool                         // the segments, when they are read
	segment func(sequence uint32) string // its path
	owner   spool.Thread                 // of the segments
	opened  uint32                       // segments
	late    bool                         // there were segments, but not the first one
	path    string                       // of the latest
	file    *os.File                     // nil if it is not open, or is one that was kept
	// what another collector has kept of segments that are not there, nil if nothing
	kept    *spool.KeptReader
	inKept  bool                // the segment is one of those,
	last    bool                // of which all was read,
	wasKept bool                // or the one before was
	keeper  *spool.Keeper       // keeps the segments in short that are removed, nil if none is
	space   *space              // that it may take
	header  spool.SegmentHeader // as it was read last,
	head    [headerSize]byte    // and its bytes
	offset  int64               // in the segment, behind the records that were read
	cutAt   int64               // the length of its file if that is shorter than it was made, else 0
	window  int
	read    []byte // records that were read last, and more
	repeats spool.Repeats
	records []byte // those in full
	spare   []byte
	bytes   int64 // read
	left    int   // bytes that may be read in this round, or less than none
	dry     bool  // there was nothing more in this round
	err     error

	overwritten bool // something else than the recorder has written to a header

	taken int64 // time of the latest of them
	full  int64 // the same when a segment was read after which there was space for none; 0 if there was for all that were read
}

// next returns the next record, or nil if there is none yet.
func (s *stream) next() *spool.Record {
	for s.err == nil && !s.dry {
		r, err := s.decoder.Next()
		if err == nil {
			s.taken = max(s.taken, timeOf(r))
			return r
		}
		if !errors.Is(err, io.EOF) {
			s.fail(err)
		} else if more, err := s.more(); err != nil {
			s.fail(err)
		} else {
			s.dry = !more
		}
	}
	return nil
}

// fail ends the stream: what follows cannot be read.
func (s *stream) fail(err error) {
	if of := new(fs.PathError); errors.As(err, &of) { // who says it names the file
		err = of.Err
	} else if errors.Is(err, regular.ErrIrregular) {
		err = regular.ErrIrregular
	}
	s.err = err
	s.release()
}

// more reads what has come, and reports whether there is any. No file is open
// afterwards unless there is.
func (s *stream) more() (bool, error) {
	if s.left <= 0 {
		s.release()
		return false, nil
	}
	for {
		if s.file == nil && !s.inKept {
			if ok, err := s.open(); !ok {
				return false, err
			}
		}
		grown, err := s.readMore()
		if err != nil || grown {
			return grown, err
		}
		if s.header.State != spool.Continued {
			s.release()
			return false, nil
		}
		if err := s.ended(); err != nil {
			return false, err
		}
		if err := s.close(); err != nil {
			return false, err
		}
	}
}

// ended returns an error if more was, or may have been, written to the segment than was read, when there is
// no more to come.
func (s *stream) ended() error {
	switch {
	case s.inKept || s.wasKept || s.path == "":
		return nil
	case s.cutAt > 0:
		return spool.ErrorOfLength(s.cutAt, s.header.Length)
	case s.offset < s.header.Written:
		return spool.ErrorOfEnd(s.offset, s.header.Written)
	}
	return nil
}

// open opens the segment that is being read, or the next one, and reports whether
// there is one.
func (s *stream) open() (bool, error) {
	path, next := s.path, s.path == ""
	if next {
		path = s.segment(s.opened)
	}
	file, err := regular.Open(path)
	if next && errors.Is(err, fs.ErrNotExist) {
		if spare := s.owner.Spare(filepath.Dir(path), s.opened); spare != "" {
			path = spare
			file, err = regular.Open(path)
		}
	}
	switch {
	case errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE):
		return false, nil // another time
	case next && errors.Is(err, fs.ErrNotExist):
		if s.kept == nil || !s.kept.More() {
			return false, nil
		}
		s.inKept, s.wasKept = true, true
	case err != nil:
		return false, err
	default:
		s.file, s.kept, s.wasKept = file, nil, false // what was kept of it is not all
	}
	if next {
		s.path, s.offset, s.cutAt, s.header.State, s.last = path, 0, 0, spool.Open, false
		s.opened++
	}
	return true, nil
}

// release closes the file of a segment of which there may be more.
func (s *stream) release() {
	if s.file != nil {
		s.file.Close()
		s.file = nil
	}
}

// close leaves a segment that is read.
func (s *stream) close() error {
	s.release()
	path := s.path
	s.path = ""
	if s.keep || s.inKept {
		s.inKept = false
		return nil
	}
	if s.keeper != nil {
		s.keeper.Add(s.head[:], nil) // that there is no more is to be told, too
		s.keepRead(true)
	}
	return os.Remove(path)
}

// readMore reads records that have come since it was last called, and reports whether
// there are any. What is read first may be older than what is read last, so everything
// is read again once it is known to be there, unless the thread had left the segment before.
func (s *stream) readMore() (bool, error) {
	if s.inKept {
		return s.readKept()
	}
	if there, err := s.readHeader(); err != nil || !there {
		return false, err
	}
	if s.offset == 0 {
		if err := s.begin(); err != nil {
			return false, err
		}
		if s.keeper != nil && !s.space.left(filepath.Dir(s.path)) {
			s.keeper = nil
		}
	}
	left := s.header.State == spool.Continued
	if !left {
		if some, err := s.grown(); err != nil || !some {
			return false, err
		}
	}
	n, err := s.find()
	if err != nil || n == 0 {
		return false, err
	}
	if !left {
		if _, err := s.file.ReadAt(s.read[:n], s.offset); err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
	}
	if _, err := s.readHeader(); err != nil { // for the threads that there are by now
		return false, err
	}
	begin := s.offset
	if cap(s.spare) > 2*s.window {
		s.spare = nil // there are more threads by now, or it was for a large record
	}
	records, n := s.repeats.Expand(s.spare[:0], s.read[:n], begin, s.window)
	if n == 0 {
		if s.cutAt > 0 {
			return false, s.ended()
		}
		return false, spool.ErrorOfRecord(s.offset)
	}
	// The decoder refers to the records before until it knows of these.
	s.records, s.spare = records, s.records
	if s.keeper != nil && !s.keep {
		if s.keeper.Add(s.head[:], records); s.keeper.Len() >= s.window {
			s.keepRead(false)
		}
	}
	return true, s.decode(n, records, func(at int) int64 { return s.repeats.Offset(at, begin) })
}

// grown reports whether there is a record behind those that were read. It reads nothing else, as most threads
// do nothing most of the time.
func (s *stream) grown() (bool, error) {
	var first [8]byte
	if _, err := s.file.ReadAt(first[:], s.offset); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return binary.LittleEndian.Uint64(first[:]) != 0, nil
}

// begin begins a segment, of which the header was read.
func (s *stream) begin() error {
	if s.file != nil {
		if info, err := s.file.Stat(); err != nil {
			return err
		} else if info.Size() < s.header.Length {
			s.cutAt = info.Size()
		}
	}
	s.offset = headerSize
	s.repeats.Begin(s.header)
	return s.decoder.Segment(s.head[:])
}

// decode has the decoder decode records that are so many bytes of the segment.
func (s *stream) decode(n int, records []byte, offset func(int) int64) error {
	s.offset += int64(n)
	s.bytes += int64(n)
	s.left -= len(records)
	return s.decoder.Continue(records, offset)
}

// readHeader reads the header of the segment, and reports whether it is there: the
// segment may be being made.
func (s *stream) readHeader() (there bool, err error) {
	var data [headerSize]byte
	for try := range 2 {
		n, err := s.file.ReadAt(data[:], 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		if data[0] == 0 && s.offset == 0 {
			return false, nil
		}
		if n < headerSize && s.offset == 0 { // a process gives it the length first
			_, err := spool.ParseSegmentHeader(data[:n])
			return false, err
		}
		if _, err := spool.ParseSegmentHeader(data[:]); err == nil || try > 0 {
			break // else it may be changing
		}
	}
	return true, s.setHeader(data)
}

// setHeader takes note of the header of a segment. What is known of the segment counts if the
// program has written over it, or of the rank if it was another in the segment before.
func (s *stream) setHeader(data [headerSize]byte) error {
	h, err := spool.ParseSegmentHeader(data[:])
	switch known := s.header; {
	case s.offset == 0 && err != nil:
		return err
	case s.offset > 0 && (err != nil || !h.Follows(known)):
		s.overwritten = true
		return nil
	case s.offset == 0 && (h.Process != s.owner.Process || h.Thread != s.owner.Thread || h.Sequence != s.opened-1):
		return fmt.Errorf(
			"%w: these are the records of process %d, thread %d, segment %d: the file is a copy, or has the name of another",
			spool.ErrCorrupt, h.Process.PID, h.Thread, h.Sequence)
	case s.opened > 1 && known.Rank >= 0 && h.Rank != known.Rank:
		s.overwritten = true
		h.Rank, h.Size = known.Rank, known.Size
	}
	s.header, s.head = h, data
	if s.offset == 0 && h.Lost > 0 && s.full == 0 {
		s.full = s.taken
	}
	return nil
}

// find returns how many bytes of records there are behind those that were read: those
// that are in a window, or one that is larger.
func (s *stream) find() (int, error) {
	if len(s.read) > s.window {
		s.read = nil // there are more threads by now, or it was for a large record
	}
	have, err := s.fill(s.window)
	if err != nil {
		return 0, err
	}
	end := 0
	for have-end >= 8 {
		first := binary.LittleEndian.Uint64(s.read[end:])
		size := spool.SizeOf(first)
		switch {
		case first == 0:
			return end, nil
		case size == 0:
			return have, nil // which is not intact
		case size > have-end && end > 0:
			return end, nil
		case size > have:
			if have, err = s.fill(size); err != nil || have < size {
				return have, err
			}
		}
		end += size
	}
	return end, nil
}

// fill reads so many bytes behind the records that were read, or as many as there
// are.
func (s *stream) fill(n int) (int, error) {
	if n > len(s.read) {
		info, err := s.file.Stat()
		if err != nil {
			return 0, err
		}
		left := info.Size() - s.offset
		if int64(n) > left {
			n = int(max(left, 0))
		}
		if n > maxRecord {
			return 0, fmt.Errorf("%w: a record has %d bytes", spool.ErrLimit, n)
		}
		if n > len(s.read) {
			s.read = make([]byte, max(n, min(s.window, int(left))))
		}
	}
	have, err := s.file.ReadAt(s.read[:min(n, len(s.read))], s.offset)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return have, err
}
