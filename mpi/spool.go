package mpi

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Thread is what a spool holds of one thread of a process.
type Thread struct {
	Process Process
	Thread  uint32
	Paths   []string // of its segments, in order
}

// ListSpool returns the threads that have segments in a spool directory, sorted
// by process and thread. It goes by the names of the files alone: one with a name
// that the interposer does not give is left out.
func ListSpool(directory string) ([]Thread, error) {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return nil, fmt.Errorf("mpi: %w", err)
	}
	var segments []segmentName
	for _, e := range entries {
		if s, ok := parseSegmentName(e.Name()); ok {
			segments = append(segments, s)
		}
	}
	slices.SortFunc(segments, segmentName.compare)
	var threads []Thread
	for i, s := range segments {
		if i == 0 || s.process != segments[i-1].process || s.thread != segments[i-1].thread {
			threads = append(threads, Thread{Process: s.process, Thread: s.thread})
		}
		last := &threads[len(threads)-1]
		last.Paths = append(last.Paths, filepath.Join(directory, s.name()))
	}
	return threads, nil
}

// Segment returns the path of a segment of t in a spool directory, which may not
// exist.
func (t Thread) Segment(directory string, sequence uint32) string {
	return filepath.Join(directory, segmentName{t.Process, t.Thread, sequence}.name())
}

// A segmentName is what the name of a segment's file says.
type segmentName struct {
	process          Process
	thread, sequence uint32
}

func (s segmentName) name() string {
	return fmt.Sprintf("%d-%x.%d.%d.spool", s.process.PID, s.process.Loaded, s.thread, s.sequence)
}

func (s segmentName) compare(t segmentName) int {
	return cmp.Or(
		cmp.Compare(s.process.PID, t.process.PID),
		cmp.Compare(s.process.Loaded, t.process.Loaded),
		cmp.Compare(s.thread, t.thread),
		cmp.Compare(s.sequence, t.sequence),
	)
}

func parseSegmentName(name string) (segmentName, bool) {
	part := strings.FieldsFunc(name, func(c rune) bool { return c == '-' || c == '.' })
	if len(part) != 5 {
		return segmentName{}, false
	}
	pid, err1 := strconv.ParseUint(part[0], 10, 32)
	loaded, err2 := strconv.ParseUint(part[1], 16, 64)
	thread, err3 := strconv.ParseUint(part[2], 10, 32)
	sequence, err4 := strconv.ParseUint(part[3], 10, 32)
	s := segmentName{Process{uint32(pid), loaded}, uint32(thread), uint32(sequence)}
	return s, cmp.Or(err1, err2, err3, err4) == nil && s.name() == name
}

// maxSegment is the largest segment that a ThreadReader reads. A segment is as
// large as the one call that did not fit another.
const maxSegment = 1 << 30

// A ThreadReader reads the records of one thread from the files of a spool that
// nobody writes to.
type ThreadReader struct {
	decoder Decoder
	paths   []string
}

// Open returns a reader of the records of t.
func (t Thread) Open() *ThreadReader { return &ThreadReader{paths: t.Paths} }

// Next returns the next record, which is valid until the next call. The error is
// [io.EOF] at the end.
func (r *ThreadReader) Next() (*Record, error) {
	for {
		record, err := r.decoder.Next()
		if !errors.Is(err, io.EOF) || len(r.paths) == 0 {
			return record, err
		}
		if err := r.open(r.paths[0]); err != nil {
			return nil, fmt.Errorf("%s: %w", r.paths[0], err)
		}
		r.paths = r.paths[1:]
	}
}

func (r *ThreadReader) open(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() > maxSegment {
		return parseError(0, "segment", fmt.Errorf("%w: %d bytes", ErrLimit, info.Size()))
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return r.decoder.Segment(data)
}

// Decoder returns the decoder that the reader uses, for the header of the segment
// and for the calls that have not ended.
func (r *ThreadReader) Decoder() *Decoder { return &r.decoder }
