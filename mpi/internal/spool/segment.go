package spool

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/internal/regular"
	"github.com/reprise-trace/reprise/internal/wire"
)

// A ParseError reports where and why a spool was rejected: the Offset in its
// segment of the first byte of the offending field, the Field as it is named in
// the package documentation, and the cause Err.
type ParseError = wire.Error

// Errors that a [ParseError] wraps, for use with [errors.Is]. A segment that
// ends too soon wraps [io.ErrUnexpectedEOF] instead.
var (
	ErrCorrupt = wire.ErrCorrupt
	ErrLimit   = wire.ErrLimit
)

// A SegmentState says what comes after a segment.
type SegmentState uint32

// The states of a segment.
const (
	Open      SegmentState = iota // the thread may append to it, unless it has ended
	Continued                     // the thread has gone on to the next segment
	Broken                        // the thread could get no further segment yet: calls are missing
)

// A Process identifies a process of a run.
type Process struct {
	PID    uint32
	Loaded uint64 // when it loaded the interposer: nanoseconds since 1970
}

// A SegmentHeader is what a segment says of itself.
type SegmentHeader struct {
	Process  Process
	Thread   uint32 // number of the thread; one that has ended leaves it to another
	Sequence uint32 // number of the segment among those of the thread
	Rank     int    // in MPI_COMM_WORLD, −1 if it was not known yet
	Size     int    // of MPI_COMM_WORLD, 0 if it was not known yet
	State    SegmentState
	Lost     uint64 // records of the thread that could not be written, up to now, as far as there are 32 bits for them
	Length   int64  // bytes that the file has
	Written  int64  // bytes that were written to it, at least

	// Cost is the time that recording adds to a call with six arguments, in
	// nanoseconds, as the process measured it when it began its first segment: what
	// a call takes at least. It is zero if the segment does not say.
	Cost float64

	// Job tells the processes that one command of a launcher has started, or one call
	// of MPI_Comm_spawn, from others: it is the same for all of them. It is zero if it
	// is unknown, as for a process that was started without a launcher. Two jobs that
	// did not run at the same time may have the same number.
	Job uint64

	// Machine tells the machine of the process, since it was started, from others. It is zero
	// if the segment does not say.
	Machine uint64

	// Threads is the number of threads of the process that have segments, or are to have
	// one. It is zero if the segment does not say.
	Threads uint32

	// Monotonic is what the monotonic clock of the machine was, in nanoseconds, when
	// the process loaded the interposer: at Process.Loaded since 1970.
	Monotonic int64

	clock clock
	tick  uint64 // the ticks when the segment was begun
	begun int64  // what the monotonic clock was then
}

// Follows reports whether a process may have changed a header to h: what becomes known
// stays, and counts grow. If not, something else wrote to the segment, such as the program.
func (h SegmentHeader) Follows(before SegmentHeader) bool {
	same := h
	same.Rank, same.Size, same.State, same.Lost, same.Threads, same.Written = before.Rank, before.Size,
		before.State, before.Lost, before.Threads, before.Written
	return same == before &&
		(before.Rank < 0 || h.Rank == before.Rank) && (before.Size == 0 || h.Size == before.Size) &&
		(before.State != Continued || h.State == Continued) && h.Lost >= before.Lost &&
		h.Threads >= before.Threads && h.Written >= before.Written
}

// Layout of the header of a segment.
const (
	segmentMagic = "reprisp\x03"

	offsetTable     = 8
	offsetProcess   = 16
	offsetPID       = 24
	offsetThread    = 28
	offsetSequence  = 32
	offsetInvariant = 36
	offsetTicks     = 40
	offsetMonotonic = 56
	offsetCost      = 72
	offsetJob       = 80
	offsetMachine   = 88
	offsetLength    = 96
	offsetCheck     = 104
	offsetRank      = 112
	offsetSize      = 120
	offsetState     = 128
	offsetLost      = 136
	offsetThreads   = 144
	offsetWritten   = 152
	headerSize      = 160
)

// ParseSegmentHeader decodes the header of the segment that begins data.
func ParseSegmentHeader(data []byte) (SegmentHeader, error) {
	if len(data) < headerSize {
		return SegmentHeader{}, parseError(int64(len(data)), "header", io.ErrUnexpectedEOF)
	}
	if magic := string(data[:len(segmentMagic)]); magic != segmentMagic {
		return SegmentHeader{}, parseError(0, "magic", fmt.Errorf("%w: %q", ErrCorrupt, magic))
	}
	order := binary.LittleEndian
	if table := order.Uint64(data[offsetTable:]); table != Fingerprint() {
		return SegmentHeader{}, parseError(offsetTable, "table",
			fmt.Errorf("%w: the interposer has another table of functions, %#x", ErrCorrupt, table))
	}
	if err := checkHeader(data); err != nil {
		return SegmentHeader{}, err
	}
	u := undoubled{data: data}
	h := SegmentHeader{
		Process:  Process{order.Uint32(data[offsetPID:]), order.Uint64(data[offsetProcess:])},
		Thread:   order.Uint32(data[offsetThread:]),
		Sequence: order.Uint32(data[offsetSequence:]),
		Rank:     int(int32(u.read(offsetRank, "rank"))),
		Size:     int(u.read(offsetSize, "size")),
		State:    SegmentState(u.read(offsetState, "state")),
		Lost:     uint64(u.read(offsetLost, "lost")),
		Length:   lengthOf(order.Uint64(data[offsetLength:])),
		Written:  lengthOf(order.Uint64(data[offsetWritten:])),
		Cost:     float64(order.Uint64(data[offsetCost:])) / 1000,
		Job:      order.Uint64(data[offsetJob:]),
		Threads:  u.read(offsetThreads, "threads"),
		Machine:  order.Uint64(data[offsetMachine:]),

		Monotonic: int64(order.Uint64(data[offsetMonotonic:]) & math.MaxInt64),

		tick:  order.Uint64(data[offsetTicks+8:]),
		begun: int64(min(order.Uint64(data[offsetMonotonic+8:]), 1<<61)),
	}
	if u.err != nil {
		return SegmentHeader{}, u.err
	}
	if h.Written < headerSize {
		return SegmentHeader{}, parseError(offsetWritten, "written", fmt.Errorf("%w: %d bytes", ErrCorrupt, h.Written))
	}
	if h.State > Broken {
		return SegmentHeader{}, parseError(offsetState, "state", fmt.Errorf("%w: %d", ErrCorrupt, h.State))
	}
	if h.Size < 0 || h.Size > math.MaxInt32 {
		return SegmentHeader{}, parseError(offsetSize, "size", fmt.Errorf("%w: %d", ErrCorrupt, h.Size))
	}
	if h.Rank < -1 {
		return SegmentHeader{}, parseError(offsetRank, "rank", fmt.Errorf("%w: %d", ErrCorrupt, h.Rank))
	}
	if order.Uint32(data[offsetInvariant:]) != 0 {
		h.clock.first = instant{order.Uint64(data[offsetTicks:]), order.Uint64(data[offsetMonotonic:])}
		if !h.clock.set(instant{order.Uint64(data[offsetTicks+8:]), order.Uint64(data[offsetMonotonic+8:])}) {
			return SegmentHeader{}, parseError(offsetTicks, "ticks",
				fmt.Errorf("%w: the clock stands still", ErrCorrupt))
		}
	}
	return h, nil
}

func parseError(offset int64, field string, err error) error {
	return &ParseError{Package: "spool", Offset: offset, Field: field, Err: err}
}

// An instant is one point in time on both clocks.
type instant struct{ ticks, monotonic uint64 }

// A clock turns ticks into nanoseconds on the monotonic clock of the machine,
// along the line through the first instant that is known and the latest. The
// ticks of the zero clock are nanoseconds.
type clock struct {
	first, latest instant
	rate          float64 // nanoseconds per tick
}

// set sets the latest instant, and reports whether time went by since the first.
func (c *clock) set(i instant) bool {
	if i.ticks <= c.first.ticks || i.monotonic <= c.first.monotonic {
		return false
	}
	c.latest = i
	c.rate = float64(i.monotonic-c.first.monotonic) / float64(i.ticks-c.first.ticks)
	return true
}

// off returns by how many nanoseconds times were off that were told up to some ticks, as the clock was read again
// at an instant: as much of the error then as the ticks are of the way there. It is 0 where ticks are nanoseconds.
func (c *clock) off(ticks uint64, i instant) int64 {
	way, all := int64(ticks-c.latest.ticks), int64(i.ticks-c.latest.ticks)
	if c.rate == 0 || way <= 0 || all <= 0 {
		return 0
	}
	off := math.Abs(float64(c.time(i.ticks)) - float64(min(i.monotonic, math.MaxInt64)))
	return int64(math.Ceil(min(off*min(float64(way)/float64(all), 1), 1<<61)))
}

// time returns the time of ticks in nanoseconds.
func (c *clock) time(ticks uint64) int64 {
	if c.rate == 0 {
		return int64(min(ticks, math.MaxInt64))
	}
	elapsed := float64(int64(ticks-c.latest.ticks)) * c.rate
	const limit = 1 << 61
	elapsed = max(-limit, min(elapsed, limit))
	return int64(min(c.latest.monotonic, limit)) + int64(elapsed)
}

// A Thread is what a spool holds of one thread of a process.
type Thread struct {
	Process Process
	Thread  uint32
	Paths   []string // of its segments, in order
}

// List returns the threads that have segments in a spool directory, or of which something was
// kept, sorted by process and thread. It goes by the names of the files alone: one with a name
// that neither the interposer nor a [Keeper] gives is left out.
func List(directory string) ([]Thread, error) {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	var segments []segmentName
	var kept []Thread
	for _, e := range entries {
		if s, ok := parseSegmentName(e.Name()); ok {
			segments = append(segments, s)
		} else if s, ok := spareName(directory, e); ok {
			segments = append(segments, s)
		} else if t, ok := parseKeptName(e.Name()); ok {
			kept = append(kept, t)
		}
	}
	slices.SortFunc(segments, segmentName.compare)
	var threads []Thread
	for i, s := range segments {
		if i == 0 || s.process != segments[i-1].process || s.thread != segments[i-1].thread {
			threads = append(threads, Thread{Process: s.process, Thread: s.thread})
		}
		last := &threads[len(threads)-1]
		last.Paths = append(last.Paths, filepath.Join(directory, cmp.Or(s.spare, s.name())))
	}
	for _, t := range kept {
		if at, found := slices.BinarySearchFunc(threads, t, Thread.compare); !found {
			threads = slices.Insert(threads, at, t)
		}
	}
	return threads, nil
}

func (t Thread) compare(u Thread) int {
	return segmentName{process: t.Process, thread: t.Thread}.compare(segmentName{process: u.Process, thread: u.Thread})
}

// Segment returns the path of a segment of t in a spool directory, which may not
// exist.
func (t Thread) Segment(directory string, sequence uint32) string {
	return filepath.Join(directory, segmentName{process: t.Process, thread: t.Thread, sequence: sequence}.name())
}

// Spare returns the path of the spare file in a spool directory that has a segment of t, "" if there is none.
// A process takes such files where it cannot make others.
func (t Thread) Spare(directory string, sequence uint32) string {
	wanted := segmentName{process: t.Process, thread: t.Thread, sequence: sequence}
	for i := range spares {
		name := fmt.Sprintf(spareFormat, t.Process.PID, t.Process.Loaded, i)
		if s, ok := readSpare(directory, name); ok && s.compare(wanted) == 0 {
			return filepath.Join(directory, name)
		}
	}
	return ""
}

// The interposer opens some spare files when a process starts. They are empty until one is a segment, which
// its header says.
const (
	spares      = 2
	spareSuffix = ".spare"
	spareFormat = "%d-%x.%d" + spareSuffix
)

// spareName returns the name of the segment that an entry of a directory is, if that is a spare file with
// one.
func spareName(directory string, e fs.DirEntry) (segmentName, bool) {
	if !strings.HasSuffix(e.Name(), spareSuffix) {
		return segmentName{}, false
	}
	if info, err := e.Info(); err != nil || info.Size() == 0 {
		return segmentName{}, false
	}
	return readSpare(directory, e.Name())
}

// readSpare returns the name of the segment that a spare file has, if it has one.
func readSpare(directory, name string) (segmentName, bool) {
	file, err := regular.Open(filepath.Join(directory, name))
	if err != nil {
		return segmentName{}, false
	}
	defer file.Close()
	head := make([]byte, headerSize)
	if _, err := io.ReadFull(file, head); err != nil {
		return segmentName{}, false
	}
	h, err := ParseSegmentHeader(head)
	if err != nil || !strings.HasPrefix(name, fmt.Sprintf("%d-%x.", h.Process.PID, h.Process.Loaded)) {
		return segmentName{}, false
	}
	return segmentName{h.Process, h.Thread, h.Sequence, name}, true
}

// A segmentName is what the name of a segment's file says.
type segmentName struct {
	process          Process
	thread, sequence uint32
	spare            string // the name of the file, if it is a spare one
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
	s := segmentName{Process{uint32(pid), loaded}, uint32(thread), uint32(sequence), ""}
	return s, cmp.Or(err1, err2, err3, err4) == nil && s.name() == name
}

// maxRecord is the largest record that a ThreadReader reads. That of a call has all of its arguments.
const maxRecord = 1 << 28

// A ThreadReader reads the records of one thread from the files of a spool that
// nobody writes to.
type ThreadReader struct {
	decoder  Decoder
	repeats  Repeats
	paths    []string
	rest     []byte // records of the segment that are not expanded
	offset   int64  // of them
	expanded [2][]byte
	damage   error // of the segment, behind what is decoded
}

// Open returns a reader of the records of t.
func (t Thread) Open() *ThreadReader { return &ThreadReader{paths: t.Paths} }

// Next returns the next record, which is valid until the next call. The error is
// [io.EOF] at the end.
func (r *ThreadReader) Next() (*Record, error) {
	for {
		record, err := r.decoder.Next()
		switch {
		case !errors.Is(err, io.EOF):
			return record, err
		case len(r.rest) > 0:
			err = r.more()
		case r.damage != nil:
			return nil, r.damage
		case len(r.paths) == 0:
			return nil, err
		default:
			if err = r.open(r.paths[0]); err != nil {
				err = fmt.Errorf("%s: %w", r.paths[0], err)
			}
			r.paths = r.paths[1:]
		}
		if err != nil {
			return nil, err
		}
	}
}

// more has the decoder decode more records of the segment, all of which are intact.
func (r *ThreadReader) more() error {
	const window = 1 << 20
	begin := r.offset
	records, n := r.repeats.Expand(r.expanded[1][:0], r.rest, begin, window)
	r.expanded[0], r.expanded[1] = records, r.expanded[0]
	r.rest, r.offset = r.rest[n:], r.offset+int64(n)
	return r.decoder.Continue(records, func(at int) int64 { return r.repeats.Offset(at, begin) })
}

func (r *ThreadReader) open(path string) error {
	f, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	data, n, err := readIntact(f, info.Size())
	if err != nil {
		return err
	}
	h, err := ParseSegmentHeader(data)
	if err != nil {
		return err
	}
	switch {
	case info.Size() < h.Length:
		r.damage = fmt.Errorf("%s: %w", path, ErrorOfLength(info.Size(), h.Length))
	case len(data)-n >= 8 && binary.LittleEndian.Uint64(data[n:]) != 0:
		r.damage = fmt.Errorf("%s: %w", path, ErrorOfRecord(int64(n)))
	case int64(n) < h.Written:
		r.damage = fmt.Errorf("%s: %w", path, ErrorOfEnd(int64(n), h.Written))
	}
	r.repeats.Begin(h)
	r.rest, r.offset = data[headerSize:n], headerSize
	return r.decoder.Segment(data[:headerSize])
}

// readIntact reads the header of a segment, its records up to the end or to the first one that is not
// as it was written, which begins at n, and some bytes more. However large the file is, it holds some
// four times what is intact at most, and one record of at most maxRecord.
func readIntact(r io.ReaderAt, size int64) (data []byte, n int, err error) {
	const few = 1 << 20
	var repeats Repeats
	var scratch []byte
	n = headerSize
	for want := int64(few); ; want = max(want, 2*int64(len(data))) {
		begin := len(data)
		data = append(data, make([]byte, min(want, size)-int64(begin))...)
		if _, err := r.ReadAt(data[begin:], int64(begin)); err != nil && err != io.EOF {
			return nil, 0, err
		}
		if len(data) < headerSize {
			return data, n, nil
		}
		if begin == 0 {
			h, err := ParseSegmentHeader(data)
			if err != nil {
				return data, n, nil // the caller sees it
			}
			repeats.Begin(h)
		}
		for read := -1; read != 0; n += read {
			scratch, read = repeats.Expand(scratch[:0], data[n:], int64(n), few)
		}
		if int64(len(data)) == size {
			return data, n, nil
		}
		want = int64(n) + 8
		if len(data)-n >= 8 {
			record := int64(SizeOf(binary.LittleEndian.Uint64(data[n:])))
			if want = int64(n) + record; record == 0 || record > maxRecord || want <= int64(len(data)) || want > size {
				return data, n, nil
			}
		}
	}
}

// ErrorOfLength returns the error of a segment that is shorter than it was made.
func ErrorOfLength(is, was int64) error {
	return parseError(is, "records", fmt.Errorf("%w: the file was made with %d bytes", io.ErrUnexpectedEOF, was))
}

// ErrorOfEnd returns the error of a segment of which more was written than there are records.
func ErrorOfEnd(at, written int64) error {
	return parseError(at, "record", fmt.Errorf("%w: %d bytes were written, and zeros follow", ErrCorrupt, written))
}

// Decoder returns the decoder that the reader uses, for the header of the segment
// and for the calls that have not ended.
func (r *ThreadReader) Decoder() *Decoder { return &r.decoder }
