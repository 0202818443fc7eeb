package simgrid

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/internal/exporttest"
	"github.com/reprise-trace/reprise/internal/test/foreign"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/simgrid"
	"github.com/reprise-trace/reprise/trace"
)

// actions returns what is written of a trace.
func actions(t testing.TB, tr *trace.Trace, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(context.Background(), &b, tr, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// replay returns the time that SimGrid simulates.
func replay(t testing.TB, lines string, ranks int) float64 {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.ti")
	if err := os.WriteFile(path, []byte(lines), 0o666); err != nil {
		t.Fatal(err)
	}
	return foreign.Replay(t, foreign.Cluster, path, ranks)
}

// TestReplay has SimGrid replay what is written.
func TestReplay(t *testing.T) {
	for _, c := range []struct {
		name        string
		trace       *trace.Trace
		least, most float64 // of the simulated time, in seconds
	}{
		{"TI", testtrace.TI(t, exporttest.Lines), 0.001, 0.0011},
		// Half of the time is that of messages of 8 bytes, which take 1 µs or so.
		{"Stencil", testtrace.Stencil(t, "exact"), 0.0008, 0.01},
		{"StencilStatistics", testtrace.Stencil(t, "statistics"), 0.0004, 0.01},
		{"Messages", testtrace.Recorded(t, "messages.exact"), 0.0003, 0.02},
		{"Startall", testtrace.Recorded(t, "startall.exact"), 0.00001, 0.02},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines := actions(t, c.trace, Options{})
			checkLines(t, lines)
			seconds := replay(t, lines, c.trace.Ranks())
			t.Logf("simulated time: %.6f s", seconds)
			if seconds < c.least || seconds > c.most {
				t.Errorf("%.6f s are simulated, want %.6f to %.6f", seconds, c.least, c.most)
			}
		})
	}
}

// checkLines checks that package simgrid understands every line.
func checkLines(t testing.TB, lines string) {
	t.Helper()
	r := simgrid.NewReader(strings.NewReader(lines), simgrid.Options{})
	for {
		_, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if report := r.Report(true); report.Foreign != "" || len(report.Incomplete) > 0 {
		t.Errorf("%+v", report)
	}
}

// TestSpeed checks that computing takes the time that it took: on hosts of half the speed,
// with half the flops, nothing changes.
func TestSpeed(t *testing.T) {
	tr := testtrace.Stencil(t, "exact")
	sum := func(o Options) (flops float64) {
		for line := range strings.Lines(actions(t, tr, o)) {
			var rank int
			var n float64
			if _, err := fmt.Sscanf(line, "%d compute %f", &rank, &n); err == nil {
				flops += n
			}
		}
		return flops
	}
	one, half := sum(Options{}), sum(Options{FlopsPerSecond: 5e8})
	if one == 0 || half < one*0.49 || half > one*0.51 {
		t.Errorf("%v flops at 1e9 a second, and %v at half of that", one, half)
	}
}

// TestTI checks that the lines of a trace of SimGrid come back.
func TestTI(t *testing.T) {
	const odd = "0 init\n0 ibcast 10 0 6 \n# a comment\n0 what is this\n0 finalize\n"
	for _, lines := range []string{exporttest.Lines, odd} {
		if got := actions(t, testtrace.TI(t, lines), Options{}); got != lines {
			t.Errorf("%q becomes %q", lines, got)
		}
	}
}

// TestMessages checks the actions of the calls of one rank.
func TestMessages(t *testing.T) {
	lines := actions(t, testtrace.Recorded(t, "messages.exact"), Options{})
	for _, c := range []struct {
		action string
		want   int // number of lines of rank 0
	}{
		{"irecv 3 1 80 6", 1}, {"send 1 1 40 6", 1}, {"wait 3 0 1", 1}, // MPI_Sendrecv
		{"irecv 1 2 40 6", 1}, {"send 3 2 40 6", 1}, // MPI_Sendrecv_replace
		{"irecv 3 3 1 6", 1}, {"isend 1 3 0 6", 1}, {"wait 3 0 3", 1}, {"wait 0 1 3", 1}, // no bytes
		{"wait 3 0 4", 2}, {"wait 0 1 4", 2}, // MPI_Waitany
		{"wait 0 1 5", 1}, {"irecv 3 5 4 6", 0}, // of no process
		{"recv 2 6 400 6", 1}, {"irecv 3 7 400 6", 1}, {"irecv -555 8 400 6", 3}, {"wait -556 0 8", 3}, // any source
		{"irecv 3 9 40 6", 4}, {"isend 1 9 40 6", 4}, {"wait 3 0 9", 4}, {"wait 0 1 9", 4}, // persistent
		{"recv 1 10 8000 6", 1},
		{"barrier", 4}, {"bcast 800 1 6 ", 1}, {"bcast 800 2 6 ", 1}, {"reduce 40 0 2 6 ", 1}, {"reduce 40 0 1 6 ", 1},
		{"allreduce 40 0 6 ", 4}, {"scan 40 0 6 ", 2}, {"exscan 40 0 6 ", 2},
		{"gather 40 40 1 6 6", 1}, {"scatter 40 40 3 6 6", 1}, {"scatter 40 40 0 6 6", 1},
		{"allgather 40 40 6 6", 2}, {"alltoall 40 40 6 6", 2},
		{"gatherv 0 0 0 0 0 1 6 6", 1}, {"scatterv 0 40 80 120 0 0 6 6", 1},
		{"allgatherv 0 0 40 80 120 6 6", 1}, {"allgatherv 120 120 80 40 0 6 6", 1},
		{"reducescatter 0 40 80 120 0 6", 1}, {"reducescatter 120 80 40 0 0 6", 1},
		{"reducescatter 28 28 28 28 0 6", 2},
		{"alltoallv 28 4 8 12 4 28 4 8 12 4 6 6", 1},
	} {
		if got := strings.Count(lines, "\n0 "+c.action+"\n"); got != c.want {
			t.Errorf("%d of %q, want %d", got, c.action, c.want)
		}
	}
	if t.Failed() {
		for line := range strings.Lines(lines) {
			if strings.HasPrefix(line, "0 ") && !strings.Contains(line, "compute") {
				t.Log(line)
			}
		}
	}
}

func TestUnsupported(t *testing.T) {
	comm := cst.Param{Name: "comm", Type: cst.HandleOf("comm")}
	datatype := cst.Param{Name: "datatype", Type: cst.HandleOf("datatype")}
	count := testtrace.Param("count", cst.KindInt)
	one := func(name string, params []cst.Param, args ...cst.Value) *trace.Trace {
		call := testtrace.Call{Function: testtrace.Function(name, params...), Args: args}
		return testtrace.Record(t, merge.Run{}, false, [][]testtrace.Call{{call}, {call}})
	}
	persistent := func() *trace.Trace {
		request := cst.Param{Name: "request", Type: cst.HandleOf("request"), Direction: cst.Out}
		made := testtrace.Call{Function: testtrace.Function("MPI_Barrier_init", comm, request),
			Args: []cst.Value{cst.Handle(-3), cst.Handle(1)}}
		request.Direction = cst.InOut
		started := testtrace.Call{Function: testtrace.Function("MPI_Start", request), Args: []cst.Value{cst.Handle(1)}}
		return testtrace.Record(t, merge.Run{}, false, [][]testtrace.Call{{made, started}, {made, started}})
	}
	for _, c := range []struct {
		name  string
		trace *trace.Trace
		want  string
	}{
		{"Halves", testtrace.Recorded(t, "halves.exact"), "this is of the communicator world"},
		{"Datatype", one("MPI_Send", []cst.Param{count, datatype, testtrace.Param("dest", cst.KindRank),
			testtrace.Param("tag", cst.KindTag), comm},
			cst.Int(1), cst.Handle(77), cst.Rank(0), cst.Tag(1), cst.Handle(-3)), "how many bytes"},
		{"PersistentCollective", persistent(), "persistent collective"},
		{"Put", one("MPI_Put", []cst.Param{testtrace.Param("target_rank", cst.KindRank)}, cst.Rank(0)), "one-sided"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Write(t.Context(), io.Discard, c.trace, Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "MPI_") {
				t.Errorf("error %v, want %s", err, c.want)
			}
			t.Log(err)
		})
	}
	if err := Write(t.Context(), io.Discard, testtrace.Hostile(t, true), Options{}); !errors.Is(err, errUnknown) {
		t.Errorf("error %v, want %v", err, errUnknown)
	}
}

func write(ctx context.Context, w io.Writer, t *trace.Trace, o export.Options) error {
	return Write(ctx, w, t, Options{Options: o})
}

func TestBounds(t *testing.T) { exporttest.CheckBounds(t, write) }

func BenchmarkWrite(b *testing.B) { exporttest.BenchmarkWrite(b, write) }
