package collect

import (
	"os"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/mutate"
	"github.com/reprise-trace/reprise/mpi/internal/spool"
)

// FuzzCollector collects the segments of two threads that anyone may have written. It
// must not panic; whatever it takes makes a trace, and is compared with it.
func FuzzCollector(f *testing.F) {
	w := newSpoolWriter(0, 0)
	w.irecv(100, anySource, 1, 7000)
	w.call(200, "MPI_Waitany", 1, changes{words{7000}, words{int64(noRequest)}}, 0, outcome{3, 1})
	w.call(300, "MPI_Recv_init", 4096, 1, integers, 1, 1, world, 7100)
	w.call(400, "MPI_Startall", 1, changes{words{7100}, words{7100}})
	w.call(500, "MPI_Waitsome", 1, changes{words{7100}, words{7100}}, 1, words{0}, nothing{})
	w.call(600, "MPI_Comm_dup", world, 9000)
	w.words(recordAllocate, 0, 0, 700, 8192, 64)
	w.call(800, "MPI_Send", 8200, 1, integers, 1, 1, 9000)
	w.words(recordResize, 0, 0, 900, 16384, 128, 890, 8192)
	w.words(recordRelease, 0, 0, 1000, 16384)
	w.call(1100, "MPI_Comm_free", changes{9000, int(constantValue("MPI_COMM_NULL"))})
	f.Add(w.data[headerSize:], []byte{})
	second := &spoolWriter{}
	second.begin(150, flagOutermost, "MPI_Wait", changes{7000, noRequest}, nothing{})
	second.end(250, flagOutermost, "MPI_Wait", changes{7000, noRequest}, nothing{})
	f.Add(w.data[headerSize:], second.data)
	mutate.Fuzz(f, func(t *testing.T, first, second []byte) {
		directory := t.TempDir()
		for lane, body := range [][]byte{first, second} {
			w := &spoolWriter{id: spool.Process{PID: 1, Loaded: 1}, lane: uint32(lane)}
			w.header(0)
			w.data = append(w.data, body...)
			seal(w.data[headerSize:], headerSize)
			if lane == 0 || len(body) > 0 {
				path := spool.Thread{Process: w.id, Thread: w.lane}.Segment(directory, 0)
				if err := os.WriteFile(path, w.data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		c, err := New(directory, Options{Keep: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := c.Finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		if c, err = New(directory, Options{Keep: true}); err != nil {
			t.Fatal(err)
		}
		if err := c.drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, p := range c.ranked() {
			if p.problems() != nil {
				return // what cannot be read is not compared
			}
			part, err := p.part(0, true)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Compare(t.Context(), directory, func(int) Calls { return callsOf(part, nil) }); err != nil {
				t.Fatal(err)
			}
		}
	})
}
