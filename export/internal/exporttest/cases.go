// Package exporttest has what the tests of the exports have in common: cases of traces to
// export, bounds that all exports keep, and what rows a table is to have.
package exporttest

import (
	"context"
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

// A Case is a trace to export, and what of it.
type Case struct {
	Name    string
	Trace   *trace.Trace
	Options export.Options
}

// Cases returns traces of all kinds.
func Cases(t testing.TB) []Case {
	t.Helper()
	some := rankenc.SetOf(1, 3)
	stencil, statistics := testtrace.Stencil(t, "exact"), testtrace.Stencil(t, "statistics")
	lines := testtrace.TI(t, Lines)
	return []Case{
		{"Recorded", stencil, export.Options{}},
		{"Chosen", stencil, export.Options{Ranks: &some,
			Between: &export.Interval{From: 267_500_000, To: 267_600_000}}},
		{"Statistics", statistics, export.Options{}},
		{"TI", lines, export.Options{}},
		{"TIChosen", lines, export.Options{Ranks: &some, Between: &export.Interval{From: 1500, To: 3000}}},
		{"Hostile", testtrace.Hostile(t, true), export.Options{}},
		{"SameStart", testtrace.SameStart(t), export.Options{}},
		{"HostileWithoutTimes", testtrace.Hostile(t, false), export.Options{}},
	}
}

// Lines are a trace of SimGrid of four ranks.
const Lines = `0 init
0 send 1 0 10 1
0 compute 1000000
0 allreduce 5 0 0 
0 finalize
1 init
1 recv 0 0 10 1
1 allreduce 5 0 0 
1 finalize
2 init
2 allreduce 5 0 0 
2 finalize
3 init
3 allreduce 5 0 0 
3 finalize
`

// A Writer writes the calls of a trace.
type Writer func(context.Context, io.Writer, *trace.Trace, export.Options) error

// CheckBounds checks that what a Writer holds does not grow with the number of calls,
// and that it stops when it is told to.
func CheckBounds(t *testing.T, write Writer) {
	t.Helper()
	t.Run("Memory", func(t *testing.T) {
		small, large := allocated(t, write, 10_000), allocated(t, write, 1_000_000)
		if large > small+64<<10 {
			t.Errorf("%d bytes are allocated for 100 times the calls that need %d", large, small)
		}
	})
	t.Run("Cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		o := export.Options{Progress: func(uint64) error { cancel(); return nil }}
		if err := write(ctx, io.Discard, Stencils(t, 1_000_000), o); !errors.Is(err, context.Canceled) {
			t.Errorf("%v after it was cancelled", err)
		}
	})
	t.Run("Progress", func(t *testing.T) {
		stop := errors.New("stop")
		o := export.Options{Progress: func(calls uint64) error {
			if calls >= 50_000 {
				return stop
			}
			return nil
		}}
		if err := write(t.Context(), io.Discard, Stencils(t, 1_000_000), o); !errors.Is(err, stop) {
			t.Errorf("%v after progress said stop", err)
		}
	})
	t.Run("Full", func(t *testing.T) {
		if err := write(t.Context(), full{}, testtrace.Stencil(t, "exact"), export.Options{}); !errors.Is(err,
			errFull) {
			t.Errorf("%v from a full disk", err)
		}
	})
	t.Run("Time", func(t *testing.T) {
		for _, between := range []export.Interval{{From: -1, To: 1}, {From: 6, To: 5}, {To: -1}} {
			if err := write(t.Context(), io.Discard, testtrace.Stencil(t, "exact"),
				export.Options{Between: &between}); err == nil {
				t.Errorf("%+v is no error", between)
			}
		}
	})
}

var errFull = errors.New("full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// allocated returns how many bytes writing a trace of so many calls allocates.
func allocated(t *testing.T, write Writer, calls uint64) uint64 {
	t.Helper()
	tr := Stencils(t, calls)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	if err := write(t.Context(), io.Discard, tr, export.Options{}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Stencils returns a trace of about so many calls of four ranks.
func Stencils(t testing.TB, calls uint64) *trace.Trace {
	t.Helper()
	p := programs.Stencil2D(2, 2, calls/24)
	return testtrace.Write(t, p.Run(), p.Parts())
}

// BenchmarkWrite measures a Writer on a trace without times, and on one that is
// estimated from statistics.
func BenchmarkWrite(b *testing.B, write Writer) {
	for _, c := range []Case{{"trace=Stencil2D", Stencils(b, 1_000_000), export.Options{}},
		{"trace=Recorded", testtrace.Stencil(b, "exact"), export.Options{}}} {
		b.Run(c.Name, func(b *testing.B) {
			var calls uint64
			for _, number := range c.Trace.RankSet().All() {
				rank, err := c.Trace.Rank(number)
				if err != nil {
					b.Fatal(err)
				}
				calls += rank.Len()
			}
			var size counter
			for b.Loop() {
				size = 0
				if err := write(b.Context(), &size, c.Trace, c.Options); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(calls), "ns/call")
			b.ReportMetric(float64(size)/float64(calls), "B/call")
			b.ReportMetric(0, "ns/op")
		})
	}
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
