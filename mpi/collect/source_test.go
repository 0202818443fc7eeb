package collect

import (
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/mpi/internal/spool"
)

// twoThreads returns a spool with the records of two threads, of which the second begins
// in the midst of the first.
func twoThreads() (first, second *spoolWriter) {
	first, second = newSpoolWriter(0, 0), newSpoolWriter(0, 1)
	const begun = 1e15 // ns, longer than any machine has been on
	first.isend(begun, 1, 7000)
	second.isend(begun+100, 2, 7001)
	first.isend(begun+200, 3, 7002)
	for _, w := range []*spoolWriter{first, second} {
		w.set(offsetThreads, 2)
	}
	return first, second
}

// lanesOf returns the threads of the calls that a source hands over, in order.
func lanesOf(s *source, ended bool, listed int64) (lanes []uint32) {
	s.consume(ended, listed, func(t *thread, r *spool.Record) {
		if r.Type == spool.Call {
			lanes = append(lanes, t.lane)
		}
	})
	return lanes
}

// TestSecondThread has a thread whose segment is found after records of the first were
// read that are later than its own.
func TestSecondThread(t *testing.T) {
	directory := t.TempDir()
	first, second := twoThreads()
	first.write(t, directory)
	s := &source{id: first.id}
	s.add(directory, spool.Thread{Process: first.id}, &Options{Keep: true})
	if got := lanesOf(s, false, now()); got != nil {
		t.Errorf("calls of threads %d were handed over when not all threads were known", got)
	}
	second.write(t, directory)
	s.add(directory, spool.Thread{Process: first.id, Thread: 1}, &Options{Keep: true})
	if got := lanesOf(s, true, now()); !slices.Equal(got, []uint32{0, 1, 0}) {
		t.Errorf("in the order of threads %d", got)
	}
}

// TestListedBefore has threads that were looked for so long ago that there may be others
// by now with records as early as those that are there.
func TestListedBefore(t *testing.T) {
	directory := t.TempDir()
	first, second := twoThreads()
	for _, w := range []*spoolWriter{first, second} {
		w.write(t, directory)
	}
	s := &source{id: first.id}
	listed := now()
	for lane := range uint32(2) {
		s.add(directory, spool.Thread{Process: first.id, Thread: lane}, &Options{Keep: true})
	}
	if got := lanesOf(s, false, listed); got != nil {
		t.Errorf("calls of threads %d were handed over before the clock was known", got)
	}
	if got := lanesOf(s, false, listed); got != nil {
		t.Errorf("calls of threads %d were handed over that are later than the list of threads", got)
	}
	if got := lanesOf(s, false, listed+2*lag); !slices.Equal(got, []uint32{0, 1, 0}) {
		t.Errorf("in the order of threads %d", got)
	}
}
