package collect

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/reprise-trace/reprise/mpi"
)

const (
	headerSize = 128     // bytes before the first record of a segment
	chunk      = 1 << 16 // bytes that are read at once
	maxSegment = 1 << 30 // bytes of the largest segment
)

// A stream reads the records of one thread from its segments, which the thread may
// still be writing to.
type stream struct {
	decoder mpi.Decoder
	keep    bool                         // the segments, when they are read
	segment func(sequence uint32) string // its path
	opened  uint32                       // segments
	path    string                       // of the latest
	file    *os.File
	data    []byte // the segment up to the end of its records
	spare   []byte // the segment before
	state   mpi.SegmentState
	lost    uint64 // records that earlier segments lack
	bytes   int64  // read
	dry     bool   // there was nothing more when it was last looked for
	err     error
}

// next returns the next record, or nil if there is none yet.
func (s *stream) next() *mpi.Record {
	for s.err == nil && !s.dry {
		r, err := s.decoder.Next()
		if err == nil {
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
	s.err = fmt.Errorf("%s: %w", s.path, err)
	if s.file != nil {
		s.file.Close()
		s.file = nil
	}
}

// more reads what has come, and reports whether there is any.
func (s *stream) more() (bool, error) {
	for {
		if s.file == nil && !s.open() {
			return false, s.err
		}
		grown, err := s.read()
		if err != nil || grown {
			return grown, err
		}
		if s.state == mpi.Open {
			return false, nil
		}
		if err := s.close(); err != nil {
			return false, err
		}
	}
}

// open opens the next segment, and reports whether there is one.
func (s *stream) open() bool {
	path := s.segment(s.opened)
	file, err := os.Open(path)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.err = err
		}
		return false
	}
	// The decoder refers to the segment before until it knows the next one.
	s.path, s.file, s.data, s.spare, s.state = path, file, s.spare[:0], s.data, mpi.Open
	s.opened++
	return true
}

// close leaves a segment that is read.
func (s *stream) close() error {
	s.lost += s.decoder.Header().Lost
	s.file.Close()
	s.file = nil
	if s.keep {
		return nil
	}
	return os.Remove(s.path)
}

// read reads the records that have come since it was last called, and reports
// whether there are any. What is read first may be older than what is read last, so
// everything is read again once it is known to be there.
func (s *stream) read() (bool, error) {
	var header [headerSize]byte
	if _, err := s.file.ReadAt(header[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	if header[0] == 0 {
		return false, nil // the segment is being made
	}
	h, err := mpi.ParseSegmentHeader(header[:])
	if err != nil {
		return false, err
	}
	first := len(s.data) == 0
	from := max(len(s.data), headerSize)
	end, err := s.grow(from)
	if err != nil {
		return false, err
	}
	if _, err := s.file.ReadAt(s.data[from:end], int64(from)); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	s.data = s.data[:end]
	copy(s.data, header[:])
	s.state = h.State
	if end == from && !first {
		return false, nil
	}
	s.bytes += int64(end - from)
	return end > from, s.decoder.Segment(s.data)
}

// grow reads from an offset on, where a record begins or the records end, and
// returns the offset of the end.
func (s *stream) grow(from int) (end int, err error) {
	end = from
	for have := from; ; {
		if have > maxSegment {
			return 0, fmt.Errorf("%w: the segment has more than %d bytes", mpi.ErrLimit, maxSegment)
		}
		s.data = extend(s.data, have+chunk)
		n, err := s.file.ReadAt(s.data[have:], int64(have))
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		have += n
		for have-end >= 8 {
			size := int(binary.LittleEndian.Uint32(s.data[end:]))
			if size == 0 {
				return end, nil
			}
			if size < 8 || size%8 != 0 || size > maxSegment {
				return have, nil // the decoder says what is wrong
			}
			end += size
		}
		if n == 0 {
			return min(end, have), nil
		}
		// A record that is longer than what was read: there is more, if the segment
		// is so long.
		if end > have {
			if info, err := s.file.Stat(); err != nil {
				return 0, err
			} else if info.Size() < int64(end) {
				return have, nil
			}
			s.data = extend(s.data, end)
			n, err := s.file.ReadAt(s.data[have:end], int64(have))
			if err != nil && !errors.Is(err, io.EOF) {
				return 0, err
			}
			if have += n; have < end {
				return have, nil
			}
		}
	}
}

// extend returns data with a length of n bytes at least, of which the first are
// those of data.
func extend(data []byte, n int) []byte {
	if n <= cap(data) {
		return data[:n]
	}
	grown := make([]byte, n, max(n, min(2*cap(data), n+1<<20)))
	copy(grown, data)
	return grown
}
