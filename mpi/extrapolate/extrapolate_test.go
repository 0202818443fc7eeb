package extrapolate_test

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/extrapolate"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

func open(t interface{ Fatal(...any) }, run merge.Run, parts []merge.Part) *trace.Trace {
	var b bytes.Buffer
	if err := merge.Write(&b, run, parts); err != nil {
		t.Fatal(err)
	}
	return opened(t, b.Bytes())
}

func opened(t interface{ Fatal(...any) }, file []byte) *trace.Trace {
	tr, err := trace.OpenReader(bytes.NewReader(file), int64(len(file)), trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// extrapolated returns a trace that is made of others.
func extrapolated(t interface{ Fatal(...any) }, traces []*trace.Trace, ranks int) (*trace.Trace,
	*extrapolate.Result, error) {
	r, err := extrapolate.Make(context.Background(), traces, extrapolate.Options{Ranks: ranks, Check: query.Faults})
	if err != nil {
		return nil, nil, err
	}
	return writtenTrace(t, r), r, nil
}

// writtenTrace returns the trace that is made.
func writtenTrace(t interface{ Fatal(...any) }, r *extrapolate.Result) *trace.Trace {
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	return opened(t, b.Bytes())
}

// difference returns in what two traces differ, nothing if they do not.
func difference(t interface{ Fatal(...any) }, a, b *trace.Trace) string {
	d, err := query.OpenDiff(context.Background(), a, b, query.DiffOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if d.Equal() {
		return ""
	}
	text := fmt.Sprintf("%d and %d ranks; ranks %v differ", d.A.Ranks, d.B.Ranks, d.Different)
	if d.First != nil {
		text += fmt.Sprintf("; rank %d, position %d: %s and %s", d.First.Rank, d.First.Position, d.First.A, d.First.B)
	}
	return text
}

func square(n int) int {
	for r := 1; ; r++ {
		if r*r >= n {
			return r
		}
	}
}

func TestPrograms(t *testing.T) {
	if raceDetector {
		t.Skip("long with the race detector, and in one goroutine")
	}
	for _, tt := range tier.Some([]struct {
		name    string
		program func(ranks int) programs.Program
		numbers []int
		refused string
	}{
		{"Stencil2D", func(n int) programs.Program {
			return programs.Stencil2D(square(n), square(n), 100)
		}, []int{9, 16, 25, 64, 256}, ""},
		{"Stencil3D", func(n int) programs.Program {
			s := [...]int{2: 8, 3: 27, 4: 64, 5: 125, 6: 216}
			for side, ranks := range s {
				if ranks == n {
					return programs.Stencil3D(side, side, side, 100)
				}
			}
			panic(n)
		}, []int{27, 64, 125, 216}, ""},
		{"GatherBinomial", func(n int) programs.Program {
			return programs.Gather(programs.Binomial, n, 10)
		}, []int{4, 8, 16, 32, 64, 256}, ""},
		{"TripCounts", func(n int) programs.Program { return programs.TripCounts(n, 50) }, []int{4, 8, 16, 32, 64}, ""},
		{"RandomTrips", func(n int) programs.Program { return programs.RandomTrips(n, 1) }, []int{4, 16, 64}, "no"},
	}, 2) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var traces []*trace.Trace
			for _, n := range tt.numbers {
				p := tt.program(n)
				traces = append(traces, open(t, p.Run(), p.Parts()))
			}
			last := len(traces) - 1
			got, r, err := extrapolated(t, traces[:last], tt.numbers[last])
			if err != nil {
				if tt.refused == "" || !strings.Contains(err.Error(), tt.refused) {
					t.Fatal(err)
				}
				return
			}
			for _, f := range r.Fits {
				t.Log(f)
			}
			if d := difference(t, got, traces[last]); d != "" {
				t.Fatal(d)
			}
		})
	}
}

func TestPatterns(t *testing.T) {
	if raceDetector {
		t.Skip("long with the race detector, and in one goroutine")
	}
	for _, tt := range tier.Some(all, 3) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var traces []*trace.Trace
			for _, n := range tt.numbers {
				traces = append(traces, run(t, n, tt.program))
			}
			last := len(traces) - 1
			got, r, err := extrapolated(t, traces[:last], tt.numbers[last])
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range r.Fits {
				t.Log(f)
			}
			if d := difference(t, got, traces[last]); d != "" {
				t.Fatal(d)
			}
		})
	}
}

// TestOrigin checks what a trace that is made says of who made it: what holds of the program and of what
// recorded it, not when and where a run on another number of ranks was.
func TestOrigin(t *testing.T) {
	recorded := func(world bool) (traces []*trace.Trace) {
		for _, n := range []int{4, 8, 16, 32} {
			p := programs.Gather(programs.Binomial, n, 10)
			run := p.Run()
			run.Origin = format.Origin{
				Runs: []string{fmt.Sprint("run ", n)}, Jobs: []string{fmt.Sprint("Slurm ", n)},
				Commands: []string{fmt.Sprint("mpirun -n ", n)}, Hosts: []string{fmt.Sprint("host ", n)},
				Versions: []string{"MPICH"}, Began: time.Unix(int64(n), 0).UTC(),
				Assumptions: []string{"a.c:1 is never true"},
			}
			if world {
				run.Origin.World = n
			}
			traces = append(traces, open(t, run, p.Parts()))
		}
		return traces
	}
	for _, world := range []bool{true, false} {
		got, _, err := extrapolated(t, recorded(world), 64)
		if err != nil {
			t.Fatal(err)
		}
		want := format.Origin{Commands: []string{"mpirun -n 32"}, Versions: []string{"MPICH"},
			Assumptions: []string{"a.c:1 is never true"}}
		if world {
			want.World = 64
		}
		if o := got.Run().Origin; !reflect.DeepEqual(o, want) {
			t.Errorf("%+v, want %+v", o, want)
		}
	}
}

// TestMissing checks that a trace without some of its calls is refused.
func TestMissing(t *testing.T) {
	p := programs.Gather(programs.Binomial, 4, 10)
	run := p.Run()
	run.Origin.Missing = []format.Missing{{Rank: 1, Records: 5, Since: time.Unix(1, 0)}}
	if _, _, err := extrapolated(t, []*trace.Trace{open(t, run, p.Parts())}, 8); err == nil ||
		!strings.Contains(err.Error(), "calls of a trace could not be recorded") {
		t.Error(err)
	}
}
