package collect

import (
	"errors"
	"io"
	"syscall"

	"github.com/reprise-trace/reprise/mpi/internal/spool"
)

const (
	maxKept = 128 << 20 // bytes of what was read of a process, at most
	spare   = 4 << 30   // bytes of the file system that are left to others, or a quarter of it
)

// space is what is left to keep what was read of a process.
type space struct {
	taken int64
	none  bool                                      // from now on nothing is kept
	free  func(directory string) (free, all uint64) // of the file system; nil for freeSpace
}

// left reports whether what is read of another segment may be kept.
func (s *space) left(directory string) bool {
	of := freeSpace
	if s.free != nil {
		of = s.free
	}
	free, all := of(directory)
	s.none = s.none || s.taken >= maxKept || free < min(spare, all/4)
	return !s.none
}

// keepRead keeps what was read of a segment since it last did, and says if that was the last of it.
func (s *stream) keepRead(last bool) {
	n, err := s.keeper.Flush(last)
	if s.space.taken += int64(n); err != nil {
		s.keeper, s.space.none = nil, true
	}
}

var errHalfKept = errors.New("only the beginning of it was kept")

// readKept reads the next records of a segment that another collector has kept.
func (s *stream) readKept() (bool, error) {
	if s.last {
		s.header.State = spool.Continued
		return false, nil
	}
	header, records, last, err := s.kept.Next()
	switch {
	case errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE):
		return false, nil // another time
	case errors.Is(err, io.EOF):
		return false, errHalfKept
	case err != nil:
		return false, err
	}
	if err := s.setHeader([headerSize]byte(header)); err != nil {
		return false, err
	}
	if s.offset == 0 {
		if err := s.begin(); err != nil {
			return false, err
		}
	}
	if s.last = last; !last {
		s.header.State = spool.Open // whatever the thread had done meanwhile, there is more
	}
	return len(records) > 0, s.decode(len(records), records, nil)
}
