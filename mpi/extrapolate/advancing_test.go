package extrapolate_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"pgregory.net/rapid"

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

// TestRandomAdvancing draws loops in which a count advances by a step, both expressions of the rank, its place
// and the number of ranks, of which some are none that extrapolate has: what is not refused is what the program
// calls.
func TestRandomAdvancing(t *testing.T) {
	if raceDetector {
		t.Skip("long with the race detector, and in one goroutine")
	}
	drawFew(t, "12")
	var drawn outcome
	asRuns, test := 0, t
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SampledFrom(runs).Draw(t, "numbers")
		place, d := drawGrid(t, numbers), &drawing{}
		first, step := d.number(t, "first"), d.number(t, "step")
		outer, inner := rapid.IntRange(1, 3).Draw(t, "outer"), rapid.IntRange(15, 60).Draw(t, "inner")
		scale := rapid.IntRange(0, 2).Draw(t, "scale") // of the iterations, by the number of ranks
		program := func(p *process) {
			place(p)
			for k := range outer {
				for i := range inner + []int{0, p.n, 3 * (p.n - 1)}[scale] {
					p.call("MPI_File_write_at", "n", cst.Int(int64(first(p, k, 0)+i*step(p, k, 0))))
				}
				p.allreduce(1)
			}
		}
		last := len(numbers) - 1
		var traces []*trace.Trace
		for _, n := range numbers[:last] {
			traces = append(traces, run(t, n, program))
		}
		got, r, err := extrapolated(t, traces, numbers[last])
		drawn.programs++
		if err != nil {
			return
		}
		drawn.accepted++
		if part, err := got.Part(0); err == nil && part.Streams != nil {
			asRuns++
		}
		if diff := difference(t, got, run(t, numbers[last], program)); diff != "" {
			t.Fatal(diff, r.Grid, r.Fits, d.text)
		}
	})
	test.Logf("%d programs drawn, %d extrapolated, %d of them as runs", drawn.programs, drawn.accepted, asRuns)
}
