package perfetto_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/export/internal/events"
	"github.com/reprise-trace/reprise/export/internal/exporttest"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/foreign"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
)

// TestCategories has the trace processor find the categories of calls.
func TestCategories(t *testing.T) {
	p := foreign.FindTraceProcessor(t)
	f := func(name string) testtrace.Call {
		return testtrace.Call{Function: testtrace.Function(name, testtrace.Param("n", cst.KindInt)),
			Args: []cst.Value{cst.Int(1)}}
	}
	var calls []testtrace.Call
	want := []string{
		"MPI_Allreduce mpi.collective", "MPI_Comm_rank mpi.other", "MPI_File_open mpi.io",
		"MPI_File_write_all mpi.io", "MPI_Ibarrier mpi.collective", "MPI_Iprobe mpi.p2p",
		"MPI_Isend_c mpi.p2p", "MPI_Put mpi.rma", "MPI_Send mpi.p2p", "MPI_Waitall mpi.p2p",
		"MPI_Win_fence mpi.rma", "MPI_Win_lock mpi.rma", "query other",
	}
	for i, w := range want {
		name, _, _ := strings.Cut(w, " ")
		c := f(name)
		c.Start, c.Duration = int64(10*i), 5
		calls = append(calls, c)
	}
	mpi := testtrace.Record(t, merge.Run{Source: "MPI"}, true, [][]testtrace.Call{calls})
	actions := testtrace.TI(t, exporttest.Lines)
	for _, format := range formats {
		for _, tt := range []struct {
			c    exporttest.Case
			want []string
		}{
			{exporttest.Case{Trace: mpi}, want},
			{exporttest.Case{Trace: actions}, []string{"allreduce mpi.collective", "compute other",
				"finalize mpi.other", "init mpi.other", "recv mpi.p2p", "send mpi.p2p"}},
		} {
			rows := p.Query(t, file(t, tt.c, format),
				"SELECT DISTINCT name || ' ' || category FROM slice WHERE category IS NOT NULL ORDER BY 1")
			var got []string
			for _, r := range rows[0] {
				got = append(got, text(r[0]))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%s: %q, want %q", format.name, got, tt.want)
			}
		}
	}
}

// TestRun has the trace processor find what is known of a run, and when it began.
func TestRun(t *testing.T) {
	p := foreign.FindTraceProcessor(t)
	began := time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC)
	run := merge.Run{Source: "test", Origin: format.Origin{Commands: []string{"./app 5"},
		Versions: []string{"MPICH 4.0.2"}, Hosts: []string{"n1", "n2"}, Began: began}}
	f := testtrace.Function("f", testtrace.Param("n", cst.KindInt))
	trace := testtrace.Record(t, run, true,
		[][]testtrace.Call{{{Function: f, Args: []cst.Value{cst.Int(1)}, Start: 1_000, Duration: 10}}})
	rows := p.Query(t, file(t, exporttest.Case{Trace: trace}, formats[0]), foreign.Faults,
		"SELECT SUBSTR(key, 7) || '=' || display_value FROM slice JOIN args USING (arg_set_id) WHERE name = 'run' ORDER BY 1",
		"SELECT clock_value FROM clock_snapshot WHERE clock_name = 'REALTIME'", "SELECT ts FROM slice WHERE name = 'f'")
	if len(rows[0]) > 0 {
		t.Errorf("the trace processor finds faults: %q", rows[0])
	}
	if got, want := fmt.Sprint(rows[1]),
		"[[began=2026-03-01T12:00:00.000000005Z] [hosts=n1; n2] [program=./app 5] [ranks=1] [source=test] [times=as recorded] [versions=MPICH 4.0.2]]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := fmt.Sprint(rows[2], rows[3]), fmt.Sprintf("[[%d]] [[0]]", began.UnixNano()); got != want {
		t.Errorf("the run and its call began at %s, want %s", got, want)
	}
}

// TestCollectiveFlows has the trace processor find one flow through the calls of each collective
// operation.
func TestCollectiveFlows(t *testing.T) {
	p := foreign.FindTraceProcessor(t)
	for _, name := range []string{"stencil", "messages"} {
		c := exporttest.Case{Name: name, Trace: testtrace.Recorded(t, name+".exact")}
		call := fmt.Sprintf(
			"(SELECT slice.id, process || ' call ' || EXTRACT_ARG(slice.arg_set_id, 'debug.position') AS call "+
				"FROM slice JOIN (%s) AS place ON place.id = slice.track_id)", formats[0].tracks)
		rows := p.Query(t, file(t, c, formats[0]), foreign.Faults,
			fmt.Sprintf("SELECT trace_id, a.call, b.call FROM flow JOIN %s AS a ON a.id = slice_out JOIN %s AS b ON b.id = slice_in WHERE trace_id >= %d", call, call, uint64(events.FirstCollective)))
		if len(rows[0]) > 0 {
			t.Errorf("the trace processor finds faults: %q", rows[0])
		}
		calls := make(map[string]map[string]bool)
		arrows := make(map[string]int)
		for _, r := range rows[1] {
			id := text(r[0])
			if calls[id] == nil {
				calls[id] = make(map[string]bool)
			}
			arrows[id]++
			calls[id][text(r[1])], calls[id][text(r[2])] = true, true
		}
		var got []string
		for id, members := range calls {
			if arrows[id] != len(members)-1 {
				t.Errorf("%s: %d arrows between %d calls", name, arrows[id], len(members))
			}
			got = append(got, strings.Join(slices.Sorted(func(yield func(string) bool) {
				for m := range members {
					if !yield(m) {
						return
					}
				}
			}), ", "))
		}
		slices.Sort(got)
		if want := instances(t, c); !slices.Equal(got, want) {
			t.Errorf("%s: flows through %d operations, want %d:\n%.300q\n%.300q", name, len(got), len(want), got, want)
		}
	}
}

// instances returns the calls of each collective operation of at least two members.
func instances(t *testing.T, c exporttest.Case) (list []string) {
	t.Helper()
	model, err := semantics.Open(t.Context(), c.Trace)
	if err != nil {
		t.Fatal(err)
	}
	match, err := query.OpenMatch(t.Context(), model, query.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range match.Instances {
		for k := range of.Count {
			var members []string
			for _, rank := range of.Members.All() {
				call, err := match.Call(int(rank), of.Communicator, k)
				if err != nil {
					t.Fatal(err)
				}
				if call.Function != "" {
					members = append(members, string(placeOf(int(rank), call.Position)))
				}
			}
			if slices.Sort(members); len(members) > 1 {
				list = append(list, strings.Join(members, ", "))
			}
		}
	}
	slices.Sort(list)
	return list
}
