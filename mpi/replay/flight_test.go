package replay_test

import (
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// inFlight records a call that had not returned when the recording ended, with numbers as
// arguments.
func inFlight(r *testtrace.Recording, name string, args map[string]any) {
	n, _ := spec.Lookup(name)
	f := cst.Function{Name: name}
	var values []cst.Value
	for _, p := range spec.Functions()[n].Params {
		v, ok := args[p.Name]
		if !ok {
			continue
		}
		f.Params = append(f.Params, cst.Param{Name: p.Name, Type: p.Type, Direction: p.Direction})
		switch v := v.(type) {
		case []int:
			var ids []cst.Value
			for _, id := range v {
				ids = append(ids, cst.Handle(int64(id)))
			}
			values = append(values, cst.Array(ids...))
		case int:
			values = append(values, map[cst.Kind]func(int64) cst.Value{
				cst.KindRank: cst.Rank, cst.KindTag: cst.Tag, cst.KindHandle: cst.Handle, cst.KindInt: cst.Int,
			}[p.Type.Kind](int64(v)))
		}
	}
	f.Params, values = append(f.Params, spec.InFlight.Param()), append(values, cst.Int(0))
	r.Call(r.Declare(f), values...)
}

var worldID, anySource = constant("MPI_COMM_WORLD"), constant("MPI_ANY_SOURCE")

// constant returns the number of a constant of MPI.
func constant(name string) int {
	list := spec.Constants()
	return int(list[slices.IndexFunc(list, func(c spec.Constant) bool { return c.Name == name })].ID)
}

// TestInFlight replays calls that had not returned when the recording ended: those wait that
// have something to wait for.
func TestInFlight(t *testing.T) {
	waits := func(name string, ids ...int) func(r *testtrace.Recording) {
		return func(r *testtrace.Recording) {
			receive(r, "MPI_Irecv", 1, 0, "request", 0)
			receive(r, "MPI_Irecv", 1, 1, "request", 1)
			if len(ids) == 1 {
				inFlight(r, name, map[string]any{"request": ids[0]})
			} else {
				inFlight(r, name, map[string]any{"array_of_requests": ids})
			}
		}
	}
	for _, tt := range []struct {
		name string
		call func(r *testtrace.Recording) // of rank 0, to which rank 1 sends a message with tag 0
		want []string                     // that it waits for
	}{
		{"Recv", func(r *testtrace.Recording) {
			inFlight(r, "MPI_Recv", map[string]any{"source": 1, "tag": 1, "comm": worldID})
		}, []string{"a message from rank 1, tag 1 (rank 1 sent one with tag 0, which it does not receive)"}},
		{"RecvOfWhatCame", func(r *testtrace.Recording) {
			inFlight(r, "MPI_Recv", map[string]any{"source": 1, "tag": 0, "comm": worldID})
		}, nil},
		{"Barrier", func(r *testtrace.Recording) { inFlight(r, "MPI_Barrier", map[string]any{"comm": worldID}) }, []string{"rank 1 to make the call"}},
		{"Wait", waits("MPI_Wait", 1), []string{"a message from rank 1, tag 1"}},
		{"WaitForWhatCame", waits("MPI_Wait", 0), nil},
		{"Waitall", waits("MPI_Waitall", 0, 1), []string{"a message from rank 1, tag 1"}},
		{"Waitany", waits("MPI_Waitany", 0, 1), nil},
		{"Probe", func(r *testtrace.Recording) {
			inFlight(r, "MPI_Probe", map[string]any{"source": anySource, "tag": 1, "comm": worldID})
		}, []string{"a message from rank 1, tag 1 (rank 1 sent one with tag 0, which it does not receive)"}},
		{"ProbeOfWhatCame", func(r *testtrace.Recording) {
			inFlight(r, "MPI_Probe", map[string]any{"source": anySource, "tag": 0, "comm": worldID})
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var parts []merge.Part
			for rank := range 2 {
				var r testtrace.Recording
				if rank == 0 {
					tt.call(&r)
				} else {
					send(&r, "MPI_Send", 0, 0)
				}
				parts = append(parts, r.Finish(rank))
			}
			_, err := replay.Run(ctx, open(t, testtrace.Write(t, merge.Run{Ranks: 2}, parts)), late{})
			if err == nil && tt.want == nil {
				return
			}
			var got []string
			for _, w := range isDeadlock(t, err).Waiting {
				for _, wait := range w.Waits {
					got = append(got, wait.String())
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("waits for %q, want %q", got, tt.want)
			}
		})
	}
}

// TestIntercommunicator replays messages and collective operations between two groups.
func TestIntercommunicator(t *testing.T) {
	model := modelOf(t, 4, func(rank int, r *testtrace.Recording) {
		r.MPI(1, "MPI_Comm_split", "comm", world, "color", rank/2, "key", rank, "newcomm", 0)
		r.MPI(1, "MPI_Intercomm_create", "local_comm", 0, "local_leader", 0, "peer_comm", world, "remote_leader", 2-rank/2*2, "tag", 1, "newintercomm", 1)
		if rank < 2 { // to the same rank of the other group
			r.MPI(1, "MPI_Send", "count", 1, "datatype", "MPI_BYTE", "dest", rank, "tag", 0, "comm", 1)
		} else {
			r.MPI(1, "MPI_Recv", "count", 1, "datatype", "MPI_BYTE", "source", rank-2, "tag", 0, "comm", 1)
		}
		root := any("MPI_PROC_NULL")
		switch {
		case rank == 1:
			root = "MPI_ROOT"
		case rank > 1:
			root = 1
		}
		r.MPI(1, "MPI_Bcast", "count", 1, "datatype", "MPI_INT", "root", root, "comm", 1)
		r.MPI(1, "MPI_Barrier", "comm", 1)
	})
	res, err := replay.Run(ctx, model, late{})
	if err != nil {
		t.Fatal(err)
	}
	if res.Messages != 2 || res.Collectives != 5 || res.Unknown+res.Unreceived > 0 {
		t.Errorf("%+v", *res)
	}
}

// TestRecordedTimes checks that ranks compute as long as they did.
func TestRecordedTimes(t *testing.T) {
	for _, times := range []string{"exact", "statistics"} {
		trace := testtrace.Stencil(t, times)
		machine, err := replay.NewRecorded(trace)
		if err != nil {
			t.Fatal(err)
		}
		model := open(t, trace)
		res, err := replay.Run(ctx, model, machine)
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range res.Ranks {
			rank, err := trace.Rank(of.Rank)
			if err != nil {
				t.Fatal(err)
			}
			calls, err := model.Of(rank, of.Rank)
			if err != nil {
				t.Fatal(err)
			}
			want, end := int64(0), int64(-1)
			for c := range rank.Calls() {
				if end >= 0 {
					want += c.Start - end
				}
				if calls.At(c.Position, c.Terminal) == nil {
					want += c.Duration
				}
				end = c.Start + c.Duration
			}
			if got := int64(of.Computing / replay.Nanosecond); times == "exact" && got != want || got == 0 {
				t.Errorf("%s: rank %d computes %d ns, %d in the run", times, of.Rank, got, want)
			}
		}
		if err := machine.Close(); err != nil {
			t.Error(err)
		}
	}
}
