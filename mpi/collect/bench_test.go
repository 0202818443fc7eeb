package collect

import (
	"os"
	"runtime"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/tier"

	"github.com/reprise-trace/reprise/mpi/internal/spool"
)

// stencilSpool writes spools of processes whose threads exchange something with two
// neighbours in every round, with tags that repeat after so many rounds.
func stencilSpool(b testing.TB, directory string, processes, threads, rounds, tags int) {
	for n := range processes * threads {
		rank, lane := n/threads, uint32(n%threads)
		w := newSpoolWriter(int32(rank), lane)
		for i := range rounds {
			at, tag := int64(1000*i+1000), i%tags
			w.call(at, "MPI_Irecv", 4096, 1, integers, 1, tag, world, 7000)
			w.call(at+100, "MPI_Irecv", 4104, 1, integers, 2, tag, world, 7008)
			w.call(at+200, "MPI_Isend", 4112, 1, integers, 1, tag, world, 7016)
			w.call(at+300, "MPI_Isend", 4120, 1, integers, 2, tag, world, 7024)
			null := int64(noRequest)
			w.call(at+400, "MPI_Waitall", 4, changes{words{7000, 7008, 7016, 7024},
				words{null, null, null, null}}, nothing{})
			if len(w.data) > 4<<20 || i == rounds-1 {
				if i < rounds-1 {
					w.set(offsetState, uint32(spool.Continued))
				}
				path := spool.Thread{Process: w.id, Thread: lane}.Segment(directory, w.sequence)
				if err := os.WriteFile(path, w.data, 0o600); err != nil {
					b.Fatal(err)
				}
				w.sequence++
				w.header(int32(rank))
			}
		}
	}
}

// BenchmarkCollector collects what stencils have written: calls with six arguments and
// a request, and one that waits for four of them every fifth time.
func BenchmarkCollector(b *testing.B) {
	const rounds = 40_000
	for _, bb := range []struct {
		name          string
		threads, tags int
	}{{"tags=1", 1, 1}, {"tags=1000", 1, 1000}, {"tags=all", 1, rounds}, {"threads=256", 256, 1}} {
		b.Run(bb.name, func(b *testing.B) {
			directory := b.TempDir()
			stencilSpool(b, directory, 1, bb.threads, rounds/bb.threads, bb.tags)
			b.ReportAllocs()
			for b.Loop() {
				c, err := New(directory, Options{Keep: true})
				if err != nil {
					b.Fatal(err)
				}
				if err := c.drain(b.Context()); err != nil || c.Calls() != uint64(5*(rounds/bb.threads)*bb.threads) {
					b.Fatal(c.Calls(), err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*5*rounds), "ns/call")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkKeeping collects what a stencil writes as it does, and keeps it in short or not.
func BenchmarkKeeping(b *testing.B) {
	const rounds = 200_000
	for _, bb := range []struct {
		name    string
		options Options
	}{{"kept=no", Options{}}, {"kept=short", Options{Recoverable: true}}} {
		b.Run(bb.name, func(b *testing.B) {
			kept := int64(0)
			for range b.N {
				b.StopTimer()
				directory := b.TempDir()
				stencilSpool(b, directory, 1, 1, rounds, 1000)
				c, err := New(directory, bb.options)
				if err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				for read := int64(1); read > 0; {
					if read, err = c.Poll(); err != nil {
						b.Fatal(err)
					}
				}
				if c.Calls() != 5*rounds {
					b.Fatal(c.Calls())
				}
				for _, p := range c.processes {
					kept += p.space.taken
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*5*rounds), "ns/call")
			b.ReportMetric(float64(kept)/float64(b.N*5*rounds), "B/call")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// TestMemory collects from sixteen processes, and from many threads, and looks at what
// that holds. What is read of 64 processes with 256 threads each takes no more than 128 MiB.
func TestMemory(t *testing.T) {
	tier.Long(t, "measures memory")
	for _, tt := range []struct {
		processes, threads, rounds int
		limit                      int64
	}{{16, 1, 20_000, 200 << 20}, {2, 256, 50, 512 * 60_000}} {
		directory := t.TempDir()
		stencilSpool(t, directory, tt.processes, tt.threads, tt.rounds, min(tt.rounds/20, 1000))
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		c, err := New(directory, Options{Keep: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		held := int64(after.HeapAlloc) - int64(before.HeapAlloc)
		t.Logf("%d bytes for %d calls of %d processes with %d threads", held, c.Calls(), tt.processes, tt.threads)
		if held > tt.limit {
			t.Errorf("%d bytes, more than %d", held, tt.limit)
		}
		runtime.KeepAlive(c)
	}
	if all := 3 * windowFor(64*256) * 64 * 256; all > 128<<20 {
		t.Errorf("windows of %d bytes", all)
	}
}

// BenchmarkCompare compares what stencils have written with its trace.
func BenchmarkCompare(b *testing.B) {
	const rounds = 40_000
	directory := b.TempDir()
	stencilSpool(b, directory, 1, 1, rounds, 1000)
	part := partOf(b, directory)
	for b.Loop() {
		if n, err := Compare(b.Context(), directory, func(int) Calls {
			return callsOf(part, nil)
		}); err != nil || n != 5*rounds {
			b.Fatal(n, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*5*rounds), "ns/call")
	b.ReportMetric(0, "ns/op")
}
