package extrapolate_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/mpi/extrapolate"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// Programs of which arguments advance from call to call, in loops of so many iterations.
var advancing = []struct {
	name    string
	program func(p *process, outer, inner int)
}{
	{"sweep", func(p *process, outer, inner int) {
		for range outer {
			for i := range inner {
				if p.rank > 0 {
					p.recv(8, p.rank-1, i)
				}
				if p.rank < p.n-1 {
					p.send(8, p.rank+1, i)
				}
			}
			p.allreduce(1)
		}
	}},
	{"records", func(p *process, outer, inner int) {
		for k := range outer * inner {
			p.call("MPI_File_write_at", "n", cst.Int(int64(16*(k*p.n+p.rank))))
		}
	}},
	{"shrinking", func(p *process, outer, inner int) {
		for range outer {
			for k := range inner {
				p.send((inner-k)*p.n, (p.rank+1)%p.n, k)
				p.recv((inner-k)*p.n, (p.rank+p.n-1)%p.n, k)
			}
		}
	}},
}

// TestAdvancing checks that what advances is extrapolated exactly, and is runs in what is made: a trace that is
// as small whatever the iterations.
func TestAdvancing(t *testing.T) {
	if raceDetector {
		t.Skip("long with the race detector, and in one goroutine")
	}
	for _, tt := range advancing {
		t.Run(tt.name, func(t *testing.T) {
			for _, inner := range tier.Some([]int{500, 60, 2000}, 2) {
				record := func(n int) *trace.Trace {
					return run(t, n, func(p *process) { tt.program(p, 4, inner) })
				}
				var traces []*trace.Trace
				for _, n := range []int{4, 8, 16, 64} {
					traces = append(traces, record(n))
				}
				made, r, err := extrapolated(t, traces, 32)
				if err != nil {
					t.Fatalf("%d iterations: %v", inner, err)
				}
				if d := difference(t, made, record(32)); d != "" {
					t.Errorf("%d iterations: %s", inner, d)
				}
				if part, err := made.Part(1); err != nil || part.Streams == nil {
					t.Errorf("%d iterations: no runs, %v", inner, err)
				}
				var file bytes.Buffer
				if err := r.Write(&file); err != nil || file.Len() > 250 {
					t.Errorf("%d iterations: %d bytes, %v", inner, file.Len(), err)
				}
				for _, f := range r.Fits {
					if strings.HasPrefix(f.Function, "+") {
						t.Errorf("%+v is of no argument", f)
					}
				}
			}
		})
	}
}

// TestAdvancingUndetermined checks that what has no expression is told by the name of the argument.
func TestAdvancingUndetermined(t *testing.T) {
	var traces []*trace.Trace
	for _, n := range []int{3, 4, 6, 8} {
		step := n * n * n % 1013
		traces = append(traces, run(t, n, func(p *process) {
			for i := range 1<<17 + 1 {
				p.call("MPI_File_write_at", "n", cst.Int(int64(i*step)))
			}
		}))
	}
	_, err := extrapolate.Make(context.Background(), traces, extrapolate.Options{Ranks: 32, Check: query.Faults})
	if err == nil || !strings.Contains(err.Error(), "step of advancing count of MPI_File_write_at") {
		t.Error(err)
	}
}
