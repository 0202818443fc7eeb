package extrapolate_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/extrapolate"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// chain returns the trace of a program whose ranks send to the next, if there is one: first or after they
// receive.
func chain(t *testing.T, ranks int, receiveFirst func(rank int) bool, lost func(rank int) bool) *trace.Trace {
	message := func(name, peer string) cst.Function {
		integer := cst.Type{Kind: cst.KindInt}
		return cst.Function{Name: name, Params: []cst.Param{
			{Name: "count", Type: integer}, {Name: "datatype", Type: cst.HandleOf("datatype")},
			{Name: peer, Type: cst.Type{Kind: cst.KindRank}},
			{Name: "tag", Type: cst.Type{Kind: cst.KindTag}}, {Name: "comm", Type: cst.HandleOf("comm")},
		}}
	}
	var parts []merge.Part
	for rank := range ranks {
		var r tracer.Recorder
		send, receive := r.Declare(message("MPI_Ssend", "dest")), r.Declare(message("MPI_Recv", "source"))
		call := func(fn, peer int) {
			r.Call(fn, cst.Int(1), cst.Handle(-33), cst.Rank(int64(peer)), cst.Tag(0), cst.Handle(-3))
		}
		exchange := []func(){func() { call(send, (rank+1)%ranks) }, func() { call(receive, (rank+ranks-1)%ranks) }}
		if lost(rank) {
			exchange = exchange[:1]
		} else if receiveFirst(rank) {
			slices.Reverse(exchange)
		}
		for _, do := range exchange {
			do()
		}
		parts = append(parts, r.Finish(rank))
	}
	return open(t, merge.Run{Ranks: ranks, Source: "MPI"}, parts)
}

// TestFaults checks that what would hang is told by its calls, unless the traces that it is made of hang,
// too.
func TestFaults(t *testing.T) {
	never := func(int) bool { return false }
	for _, tt := range []struct {
		name        string
		first, lost func(rank int) bool
		want        string
	}{
		{"none", func(rank int) bool { return rank == 0 }, never, ""},
		{"deadlock", func(int) bool { return true }, never, "a deadlock"},
		{"no partner", never, func(rank int) bool { return rank == 3 }, "MPI_Ssend"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list, err := query.Faults(context.Background(), chain(t, 8, tt.first, tt.lost))
			if err != nil {
				t.Fatal(err)
			}
			if text := strings.Join(list, "; "); tt.want == "" && text != "" || !strings.Contains(text, tt.want) {
				t.Errorf("faults are %q, want %q", text, tt.want)
			}
		})
	}
}

// TestForce checks that what does not extrapolate is taken from the nearest rank, and is told.
func TestForce(t *testing.T) {
	const odd = 7919
	program := func(p *process) { p.send(p.rank*odd%13*p.n%11, (p.rank+1)%p.n, 0) }
	traces := []*trace.Trace{run(t, 4, program), run(t, 8, program), run(t, 32, program)}
	if _, err := extrapolate.Make(context.Background(), traces,
		extrapolate.Options{Ranks: 64, Check: query.Faults}); err == nil {
		t.Fatal("made without force")
	}
	r, err := extrapolate.Make(context.Background(), traces,
		extrapolate.Options{Ranks: 64, Force: true, Check: query.Faults})
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(r.Forced, "\n"); !strings.Contains(text,
		"count of MPI_Send has no expression: taken from the trace of 32 ranks") {
		t.Error(text)
	}
}

// TestForcedIsTold checks that a forced run says which of its expressions the traces do not determine, and what
// cannot be right in it, and that of several programs the one with the fewest faults is taken.
func TestForcedIsTold(t *testing.T) {
	program := func(p *process) {
		p.allreduce(2*p.n + 1)
		p.send(1, (p.rank+1)%p.n, 0)
	}
	traces := []*trace.Trace{run(t, 4, program), run(t, 8, program)}
	asked := 0
	faults := func(_ context.Context, made *trace.Trace) ([]string, error) {
		if made.Ranks() != 16 {
			return nil, nil
		}
		asked++
		return []string{"a call without a partner"}, nil
	}
	r, err := extrapolate.Make(t.Context(), traces, extrapolate.Options{Ranks: 16, Force: true, Check: faults})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Faults) != 1 || asked < 2 || len(r.Forced) == 0 {
		t.Errorf("faults %v of %d runs, forced %v", r.Faults, asked, r.Forced)
	}
	for _, f := range r.Fits {
		if f.Traces < 1 || f.Traces > len(traces) {
			t.Errorf("%v holds in %d of %d traces", f, f.Traces, len(traces))
		}
	}
	r, err = extrapolate.Make(t.Context(), traces, extrapolate.Options{Ranks: 16, Force: true})
	if err != nil || len(r.Faults) > 0 {
		t.Errorf("%v, %v", r.Faults, err)
	}
}
