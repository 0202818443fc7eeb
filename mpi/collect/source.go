package collect

import (
	"cmp"
	"container/heap"
	"slices"
	"time"

	"github.com/reprise-trace/reprise/mpi/internal/spool"
	"github.com/reprise-trace/reprise/symbolic"
	"github.com/reprise-trace/reprise/tracer"
)

// lag is how long, in nanoseconds, a thread of a running process may take to write a
// record of what it did when others have written theirs.
const lag = 1e9

var started = time.Now()

// now returns the time in nanoseconds on a clock that goes like that of the records.
func now() int64 { return time.Since(started).Nanoseconds() }

// A source is the records of the threads of one process, in the order of time.
type source struct {
	id      spool.Process
	threads []*thread
	first   int64 // time of the first record
	latest  int64 // time of the latest record that was seen

	// ahead is by how much, at least, the clock of the records is ahead of now, for what
	// is read was written before. That clock began with the machine: until something was
	// read, nothing is known to be written.
	ahead int64

	line    line // threads with records, in a round
	limited bool // one of them has used up its quota
	window  int  // bytes of a thread that are read at once
	space   space
}

// A thread is one of a process.
type thread struct {
	stream
	lane   uint32
	number int64 // among those that made calls, −1 for one that has made none
	epoch  int   // up to which it has waited for others, see ordering

	recorder *tracer.Recorder // of its calls, nil if it has made none
	declared []int            // numbers in it of the variants of functions of the process, or −1

	record  *spool.Record
	given   []int64       // ids of what the calls that are waiting were given
	sized   []sizedObject // objects that MPI was asked about for the next call
	unsized bool          // there were more
	waiting []waiting
	step    step
	moved   symbolic.Allocation // after the first step
	sites   sites

	changes         []segmentChange // that stand before its next call
	declaredChanges map[symbolic.Change]int
}

// A step says what of a record is handed over.
type step uint8

const (
	whole  step = iota
	first       // what a Resized frees, when that begins
	second      // what it allocates, when that is there
)

// quota is how many bytes of a thread are read in a round, so that one that never
// pauses does not keep others waiting.
const quota = 16 << 20

// consume hands records that there are to a function, as many as make a round, and
// reports whether there may be more. All threads are known that had segments at the time
// listed. If the process has ended, the rounds hand over all of them. Of several threads,
// a Resized is handed over in two steps: see thread.step.
func (s *source) consume(ended bool, listed int64, take func(*thread, *spool.Record)) (more bool) {
	s.limited = false
	for _, t := range s.threads {
		t.dry, t.left, t.window = false, quota, cmp.Or(s.window, window)
	}
	if len(s.threads) == 1 && s.consumeAlone(ended, take) {
		return s.threads[0].limited()
	}
	written := max(lag, listed+s.ahead) // all records up to this time, but for the lag
	defer func() { s.ahead = max(s.ahead, s.latest-now()) }()
	s.line = s.line[:0]
	for _, t := range s.threads {
		if s.look(t) {
			s.line = append(s.line, t)
		}
	}
	heap.Init(&s.line)
	// What a thread has beyond its quota may be the earliest.
	for len(s.line) > 0 && !s.limited {
		t := s.line[0]
		if !ended && t.time() > written-lag {
			return false
		}
		if t.record.Type == spool.Resized && t.step == whole {
			t.step = first
			take(t, t.record)
			t.step = second
		} else {
			take(t, t.take())
			t.step = whole
		}
		if s.look(t) {
			heap.Fix(&s.line, 0)
		} else {
			heap.Pop(&s.line)
		}
	}
	return s.limited
}

// look has the next record of a thread at hand, and reports whether there is one.
func (s *source) look(t *thread) bool {
	if t.record != nil {
		return true
	}
	if t.record = t.next(); t.record == nil {
		s.limited = s.limited || t.limited()
		return false
	}
	s.see(t.record)
	return true
}

// A line is a heap of threads with records, by their times.
type line []*thread

func (l line) Len() int { return len(l) }

func (l line) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(l[i].time(), l[j].time()), cmp.Compare(l[i].lane, l[j].lane)) < 0
}

func (l line) Swap(i, j int) { l[i], l[j] = l[j], l[i] }

func (l *line) Push(t any) { *l = append(*l, t.(*thread)) }

func (l *line) Pop() any {
	last := len(*l) - 1
	t := (*l)[last]
	*l = (*l)[:last]
	return t
}

// consumeAlone hands over the records of the only thread that is known, and reports
// whether that was right: not if there are others by now, whose records may be earlier
// than what is left.
func (s *source) consumeAlone(ended bool, take func(*thread, *spool.Record)) bool {
	t := s.threads[0]
	for {
		if t.record == nil {
			if t.record = t.next(); t.record == nil {
				return true
			}
			s.see(t.record)
		}
		if t.header.Threads > 1 && !ended {
			return false
		}
		take(t, t.take())
	}
}

// limited reports whether the thread has used up its quota, and has no record left
// of it.
func (t *thread) limited() bool { return t.record == nil && t.left <= 0 && t.err == nil }

// add takes note of a thread, which may be known.
func (s *source) add(directory string, found spool.Thread, o *Options) {
	at, known := slices.BinarySearchFunc(s.threads, found.Thread, func(t *thread, n uint32) int {
		return cmp.Compare(t.lane, n)
	})
	if known {
		s.threads[at].keep = o.Keep
		return
	}
	t := &thread{lane: found.Thread, number: -1}
	t.owner, t.header.Rank = found, -1
	t.kept = found.Kept(directory)
	t.late = !slices.Contains(found.Paths, found.Segment(directory, 0))
	if t.keep = o.Keep; o.Recoverable && !o.Keep {
		t.keeper, t.space = found.NewKeeper(directory), &s.space
		t.space.free = o.free
	}
	t.segment = func(sequence uint32) string { return found.Segment(directory, sequence) }
	s.threads = slices.Insert(s.threads, at, t)
}

// take returns the next record, or nil if there is none yet.
func (t *thread) take() *spool.Record {
	r := t.record
	if t.record = nil; r == nil {
		r = t.next()
	}
	return r
}

// time returns when the record of the thread that is next counts, or the next step of
// it.
func (t *thread) time() int64 {
	if t.record.Type == spool.Resized && t.step == whole {
		return t.record.Start
	}
	return timeOf(t.record)
}

// see takes note of the time of a record.
func (s *source) see(r *spool.Record) {
	at := timeOf(r)
	if s.first == 0 && r.Type != spool.Known && r.Type != spool.Region && r.Type != spool.Module &&
		r.Type != spool.Callers {
		s.first = at
	}
	s.latest = max(s.latest, at)
}

// timeOf returns when a record counts.
func timeOf(r *spool.Record) int64 {
	if r.Type == spool.Began || r.Type == spool.Released || r.Type == spool.Unmapped {
		return r.Start
	}
	return r.End
}

const (
	headerSize = 160     // bytes before the first record of a segment
	window     = 1 << 18 // bytes that are read at once, if there are few threads
	maxRecord  = 1 << 30 // bytes of the largest record
)

// windowFor returns how many bytes of each of so many threads are read at once. Each keeps
// three windows: of what it has read, and of these records in full, now and before, as what it did last may be the
// earliest of the next round.
func windowFor(threads int) int {
	const all, least = 128 << 20, 4 << 10
	return min(window, max(all/(3*max(threads, 1)), least))
}
