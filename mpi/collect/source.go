package collect

import (
	"cmp"
	"slices"
	"time"

	"github.com/reprise-trace/reprise/mpi"
	"github.com/reprise-trace/reprise/symbolic"
)

// lag is how long, in nanoseconds, a thread of a running process may take to write a
// record of what it did when others have written theirs.
const lag = 1e9

var started = time.Now()

// now returns the time in nanoseconds on a clock that goes like that of the records.
func now() int64 { return time.Since(started).Nanoseconds() }

// A source is the records of the threads of one process, in the order of time.
type source struct {
	id      mpi.Process
	threads []*thread
	first   int64 // time of the first record
	latest  int64 // time of the latest record that was seen

	// ahead is by how much, at least, the clock of the records is ahead of now, for what
	// is read was written before. That clock began with the machine: until something was
	// read, nothing is known to be written.
	ahead int64
}

// A thread is one of a process.
type thread struct {
	stream
	lane    uint32
	number  int64 // among those that made calls, −1 for one that has made none
	record  *mpi.Record
	given   []int64 // ids of what the calls that are waiting were given
	waiting []waiting
	step    step
	moved   symbolic.Allocation // after the first step
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
// a Resized is handed over in two steps: see [thread.step].
func (s *source) consume(ended bool, listed int64, take func(*thread, *mpi.Record)) (more bool) {
	for _, t := range s.threads {
		t.dry, t.left = false, quota
	}
	if len(s.threads) == 1 && s.consumeAlone(ended, take) {
		return s.threads[0].limited()
	}
	written := max(lag, listed+s.ahead) // all records up to this time, but for the lag
	defer func() { s.ahead = max(s.ahead, s.latest-now()) }()
	for {
		t := s.earliest()
		// What a thread has beyond its quota may be the earliest.
		if t == nil || slices.ContainsFunc(s.threads, (*thread).limited) {
			break
		}
		if !ended && t.time() > written-lag {
			return false
		}
		if t.record.Type == mpi.Resized && t.step == whole {
			t.step = first
			take(t, t.record)
			t.step = second
			continue
		}
		take(t, t.take())
		t.step = whole
	}
	return slices.ContainsFunc(s.threads, (*thread).limited)
}

// consumeAlone hands over the records of the only thread that is known, and reports
// whether that was right: not if there are others by now, whose records may be earlier
// than what is left.
func (s *source) consumeAlone(ended bool, take func(*thread, *mpi.Record)) bool {
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
func (s *source) add(directory string, found mpi.Thread, keep bool) {
	at, known := slices.BinarySearchFunc(s.threads, found.Thread, func(t *thread, n uint32) int { return cmp.Compare(t.lane, n) })
	if known {
		return
	}
	t := &thread{lane: found.Thread, number: -1}
	t.keep = keep
	t.segment = func(sequence uint32) string { return found.Segment(directory, sequence) }
	s.threads = slices.Insert(s.threads, at, t)
}

// take returns the next record, or nil if there is none yet.
func (t *thread) take() *mpi.Record {
	r := t.record
	if t.record = nil; r == nil {
		r = t.next()
	}
	return r
}

// earliest returns the thread that has the earliest record, or nil.
func (s *source) earliest() *thread {
	var next *thread
	for _, t := range s.threads {
		if t.record == nil {
			if t.record = t.next(); t.record == nil {
				continue
			}
			s.see(t.record)
		}
		if next == nil || t.time() < next.time() {
			next = t
		}
	}
	return next
}

// time returns when the record of the thread that is next counts, or the next step of
// it.
func (t *thread) time() int64 {
	if t.record.Type == mpi.Resized && t.step == whole {
		return t.record.Start
	}
	return timeOf(t.record)
}

// see takes note of the time of a record.
func (s *source) see(r *mpi.Record) {
	at := timeOf(r)
	if s.first == 0 && r.Type != mpi.Known && r.Type != mpi.Region {
		s.first = at
	}
	s.latest = max(s.latest, at)
}

// timeOf returns when a record counts.
func timeOf(r *mpi.Record) int64 {
	if r.Type == mpi.Began || r.Type == mpi.Released {
		return r.Start
	}
	return r.End
}
