package groups_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/tier"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/internal/groups"
	"github.com/reprise-trace/reprise/mpi/internal/resolve"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// A recording is the calls of a rank.
type recording struct{ tracer.Recorder }

// call records a call of a function of the table with the arguments that are named
// first, in pairs of a name and a number, an array, or the number of an object.
func (r *recording) call(name string, pairs ...any) {
	n, ok := spec.Lookup(name)
	if !ok {
		panic(name)
	}
	f := cst.Function{Name: name}
	var args []cst.Value
	for i := 0; i < len(pairs); i += 2 {
		k := slices.IndexFunc(spec.Functions()[n].Params, func(p spec.Param) bool { return p.Name == pairs[i] })
		p := cst.Param{Name: pairs[i].(string), Type: cst.Type{Kind: cst.KindInt}, Direction: cst.Out}
		if k >= 0 {
			p.Type, p.Direction = spec.Functions()[n].Params[k].Type, spec.Functions()[n].Params[k].Direction
		} else if p.Name == "thread" {
			p.Direction = cst.In
		} else if p.Name != "error" {
			panic(p.Name)
		}
		f.Params = append(f.Params, p)
		args = append(args, value(p.Type, pairs[i+1]))
	}
	r.Call(r.Declare(f), args...)
}

func value(t cst.Type, v any) cst.Value {
	if list, ok := v.([]int); ok {
		var values []cst.Value
		for _, n := range list {
			values = append(values, value(*t.Elem, n))
		}
		return cst.Array(values...)
	}
	switch n := int64(v.(int)); t.Kind {
	case cst.KindHandle:
		return cst.Handle(n)
	case cst.KindRank:
		return cst.Rank(n)
	case cst.KindTag:
		return cst.Tag(n)
	default:
		return cst.Int(n)
	}
}

// Ids of constants.
const (
	null  = -1 // MPI_COMM_NULL
	self  = -2
	world = -3
)

// traceOf returns the trace of a run.
func traceOf(t rapid.TB, ranks int, record func(rank int, r *recording)) *trace.Trace {
	t.Helper()
	var parts []merge.Part
	for rank := range ranks {
		var r recording
		record(rank, &r)
		parts = append(parts, r.Finish(rank))
	}
	return testtrace.Write(t, merge.Run{Ranks: ranks}, parts)
}

// resolved resolves the objects of a trace without errors.
func resolved(t testing.TB, tr *trace.Trace) *resolve.Groups {
	t.Helper()
	all, err := groups.Resolve(context.Background(), tr, groups.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// describe returns the name and the members of what a rank calls an object at the
// end of its calls.
func describe(all *resolve.Groups, rank int, class string, id int64) string {
	m, ok := all.At(rank, resolve.Local{Class: class, ID: id}, 1<<40)
	if !ok {
		return "none"
	}
	text := fmt.Sprint(m.Group.Name(), " ", m.Group.Members)
	if m.Group.Remote != nil {
		text += fmt.Sprint(" ", m.Group.Remote)
	}
	return text
}

// TestKinds creates an object in each way and checks its name and members.
func TestKinds(t *testing.T) {
	tests := []struct {
		name   string
		record func(rank int, r *recording)
		class  string
		want   []string // of object 0 of each of four ranks
	}{
		{"Nothing", func(rank int, r *recording) {
			r.call("MPI_Barrier", "comm", world)
		}, "comm", []string{"none", "none", "none", "none"}},
		{"Dup", func(rank int, r *recording) {
			r.call("MPI_Comm_dup", "comm", world, "newcomm", 0)
		}, "comm", slices.Repeat([]string{"world/0 [0 1 2 3]"}, 4)},
		{"Self", func(rank int, r *recording) {
			if rank == 2 {
				r.call("MPI_Comm_dup", "comm", self, "newcomm", 0)
			} else {
				r.call("MPI_Barrier", "comm", world)
			}
		}, "comm", []string{"none", "none", "self2/0 [2]", "none"}},
		{"Window", func(rank int, r *recording) {
			r.call("MPI_Win_create", "size", rank, "comm", world, "win", 0)
		}, "win", slices.Repeat([]string{"world/0 [0 1 2 3]"}, 4)},
		{"File", func(rank int, r *recording) {
			r.call("MPI_File_open", "comm", world, "amode", 1, "fh", 0)
		}, "file", slices.Repeat([]string{"world/0 [0 1 2 3]"}, 4)},
		{"Freed", func(rank int, r *recording) {
			r.call("MPI_Win_allocate", "comm", world, "win", 0)
			r.call("MPI_Win_free", "win", 0)
			r.call("MPI_Comm_free", "comm", null)
		}, "win", []string{"none", "none", "none", "none"}},
		{"Split", func(rank int, r *recording) {
			if rank == 3 {
				r.call("MPI_Comm_split", "comm", world, "color", -5, "key", 0, "newcomm", null)
				return
			}
			r.call("MPI_Comm_split", "comm", world, "color", rank%2, "key", -rank, "newcomm", 0)
		}, "comm", []string{"world/0:0 [2 0]", "world/0:1 [1]", "world/0:0 [2 0]", "none"}},
		{"SplitType", func(rank int, r *recording) {
			r.call("MPI_Comm_split_type", "comm", world, "key", 0, "newcomm", 0, "leader", 2*(rank/2)+1,
				"newrank", 1-rank%2)
		}, "comm", []string{"world/0:1 [1 0]", "world/0:1 [1 0]", "world/0:3 [3 2]", "world/0:3 [3 2]"}},
		{"Create", func(rank int, r *recording) {
			if rank == 0 {
				r.call("MPI_Comm_create", "comm", world, "newcomm", null)
				return
			}
			r.call("MPI_Comm_create", "comm", world, "newcomm", 0, "leader", 3, "newrank", 3-rank)
		}, "comm", []string{"none", "world/0:3 [3 2 1]", "world/0:3 [3 2 1]", "world/0:3 [3 2 1]"}},
		{"CreateGroup", func(rank int, r *recording) {
			if rank%2 == 1 {
				r.call("MPI_Comm_create_group", "comm", world, "tag", 7, "newcomm", 0, "members", []int{3, 1})
			} else {
				r.call("MPI_Barrier", "comm", world)
			}
		}, "comm", []string{"none", "world/g3.0 [3 1]", "none", "world/g3.0 [3 1]"}},
		{"Topologies", func(rank int, r *recording) {
			result := 1
			if rank == 3 {
				result = null
			}
			r.call("MPI_Graph_create", "comm_old", world, "nnodes", 3, "reorder", 0, "comm_graph", result)
			r.call("MPI_Dist_graph_create", "comm_old", world, "reorder", 1, "comm_dist_graph", 0, "newrank", 3-rank)
		}, "comm", slices.Repeat([]string{"world/1 [3 2 1 0]"}, 4)},
		{"Intercomm", func(rank int, r *recording) {
			r.call("MPI_Comm_split", "comm", world, "color", rank%2, "key", 0, "newcomm", 1)
			if rank < 2 {
				r.call("MPI_Intercomm_create", "local_comm", 1, "local_leader", 0, "peer_comm", world,
					"remote_leader", 1-rank, "tag", 9, "newintercomm", 0)
			} else {
				r.call("MPI_Intercomm_create", "local_comm", 1, "local_leader", 0, "tag", 9, "newintercomm", 0)
			}
		}, "comm", slices.Repeat([]string{"world/0:0/0 [0 2] [1 3]"}, 4)},
		{"Failed", func(rank int, r *recording) {
			r.call("MPI_Comm_dup", "comm", world, "error", 13)
			r.call("MPI_Comm_dup", "comm", world, "newcomm", 0)
		}, "comm", slices.Repeat([]string{"world/0 [0 1 2 3]"}, 4)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			all := resolved(t, traceOf(t, 4, tt.record))
			for rank, want := range tt.want {
				if got := describe(all, rank, tt.class, 0); !strings.HasPrefix(got, want) {
					t.Errorf("rank %d: %s, want %s", rank, got, want)
				}
			}
		})
	}
}

// TestWorlds has four processes in two worlds, of which the first starts the second.
func TestWorlds(t *testing.T) {
	var parts []merge.Part
	for rank := range 4 {
		var r recording
		r.call("MPI_Comm_dup", "comm", world, "newcomm", 1)
		if rank < 2 {
			r.call("MPI_Comm_spawn", "root", 0, "comm", world, "error", 13)
			r.call("MPI_Comm_spawn", "root", 0, "comm", world, "intercomm", 7)
			r.call("MPI_Comm_spawn", "root", 0, "comm", world, "intercomm", 0)
		} else {
			r.call("MPI_Comm_get_parent", "parent", 0)
			r.call("MPI_Comm_get_parent", "parent", 0)
		}
		r.call("MPI_Intercomm_merge", "intercomm", 0, "newintracomm", 2, "newrank", 3-rank)
		parts = append(parts, r.Finish(rank))
	}
	worlds := []format.World{{First: 0, Parent: -1}, {First: 2, Parent: 1, Spawn: 1}}
	tr := testtrace.Write(t, merge.Run{Ranks: 4, Worlds: worlds}, parts)
	all, err := groups.Resolve(context.Background(), tr, groups.Options{})
	if want := "resolve: rank 0: creation 1 on world0, spawn: call 2: which processes it starts is not recorded"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	for id, want := range [][]string{
		slices.Repeat([]string{"world0/2 [0 1] [2 3]"}, 4),
		{"world0/0 [0 1]", "world0/0 [0 1]", "world1/0 [2 3]", "world1/0 [2 3]"},
		slices.Repeat([]string{"world0/2/0 [3 2 1 0]"}, 4),
	} {
		for rank, want := range want {
			if got := describe(all, rank, "comm", int64(id)); got != want {
				t.Errorf("comm %d of rank %d: %s, want %s", id, rank, got, want)
			}
		}
	}
}

// TestMerge checks the order of an intercommunicator that is merged, as recorded.
func TestMerge(t *testing.T) {
	all := resolved(t, traceOf(t, 4, func(rank int, r *recording) {
		r.call("MPI_Comm_split", "comm", world, "color", rank%2, "key", 0, "newcomm", 0)
		r.call("MPI_Intercomm_create", "local_comm", 0, "local_leader", 0, "peer_comm", world,
			"remote_leader", 1-rank%2, "tag", 9, "newintercomm", 1)
		r.call("MPI_Intercomm_merge", "intercomm", 1, "high", 0, "newintracomm", 2, "newrank", 2*(1-rank%2)+rank/2)
		r.call("MPI_Comm_disconnect", "comm", 1)
	}))
	for rank := range 4 {
		if got := describe(all, rank, "comm", 2); !strings.HasSuffix(got, "[1 3 0 2]") {
			t.Errorf("rank %d: %s", rank, got)
		}
		if got := describe(all, rank, "comm", 1); got != "none" {
			t.Errorf("rank %d: disconnected, but %s", rank, got)
		}
	}
}

// TestCartSub cuts a grid that MPI has reordered, or a duplicate of it, to planes and
// these to lines.
func TestCartSub(t *testing.T) {
	const ranks = 12 // 2×3×2
	for _, dup := range []bool{false, true} {
		all := resolved(t, traceOf(t, ranks, func(rank int, r *recording) {
			r.call("MPI_Cart_create", "comm_old", world, "ndims", 3, "dims", []int{2, 3, 2}, "reorder", 1,
				"comm_cart", 0, "newrank", ranks-1-rank)
			grid := 0
			if dup {
				r.call("MPI_Comm_dup", "comm", 0, "newcomm", 3)
				grid = 3
			}
			r.call("MPI_Cart_sub", "comm", grid, "remain_dims", []int{1, 0, 1}, "newcomm", 1)
			r.call("MPI_Cart_sub", "comm", 1, "remain_dims", []int{0, 1}, "newcomm", 2)
			r.call("MPI_Cart_sub", "comm", 2, "remain_dims", []int{0}, "newcomm", 4)
			r.call("MPI_Cart_sub", "comm", grid, "remain_dims", []int{0, 1, 0}, "newcomm", 5)
		}))
		for rank := range ranks {
			place := ranks - 1 - rank
			x, y := place/6, place/2%3
			world := func(place int) int { return ranks - 1 - place }
			plane := []int{world(2 * y), world(2*y + 1), world(6 + 2*y), world(6 + 2*y + 1)}
			line := []int{world(6*x + 2*y), world(6*x + 2*y + 1)}
			first := place - 2*y
			column := []int{world(first), world(first + 2), world(first + 4)}
			for id, want := range map[int64][]int{1: plane, 2: line, 4: {rank}, 5: column} {
				if got := describe(all, rank, "comm", id); !strings.HasSuffix(got, fmt.Sprint(" ", want)) {
					t.Errorf("duplicate: %v, rank %d: communicator %d is %s, want %v", dup, rank, id, got, want)
				}
			}
		}
	}
}

// TestLongRuns checks positions between many calls that are no creations, which are
// not looked at, and in loops of calls that are.
func TestLongRuns(t *testing.T) {
	const rounds = 50
	barriers := 3 << 20
	if !tier.Nightly {
		barriers >>= 6
	}
	tr := traceOf(t, 2, func(rank int, r *recording) {
		for range rounds {
			for i := range 4 {
				r.call("MPI_Bcast", "root", i%2, "comm", world)
			}
			r.call("MPI_Comm_dup", "comm", world, "newcomm", 0)
			r.call("MPI_Comm_free", "comm", 0)
		}
		for range barriers {
			r.call("MPI_Barrier", "comm", world)
		}
		r.call("MPI_Comm_dup", "comm", world, "newcomm", 0)
	})
	all := resolved(t, tr)
	dup := resolve.Local{Class: "comm", ID: 0}
	for k := range uint64(rounds) {
		for i := range uint64(6) {
			m, ok := all.At(1, dup, 6*k+i)
			if want := fmt.Sprint("world/", k); ok != (i >= 4) || ok && m.Group.Name() != want {
				t.Fatalf("call %d: %v, %v", 6*k+i, m, ok)
			}
		}
	}
	last := uint64(6*rounds + barriers)
	if _, ok := all.At(0, dup, last-1); ok {
		t.Error("the last is there before it is created")
	}
	if m, ok := all.At(0, dup, last); !ok || m.Group.Name() != fmt.Sprint("world/", rounds) {
		t.Errorf("%v, %v", m, ok)
	}
	for _, o := range []groups.Options{{MaxCalls: 2*(2*rounds+1) - 1}, {MaxRanks: 1}} {
		if _, err := groups.Resolve(context.Background(), tr, o); !errors.Is(err, groups.ErrLimit) {
			t.Errorf("%+v: err = %v", o, err)
		}
	}
	if _, err := groups.Resolve(context.Background(), tr,
		groups.Options{MaxCalls: 2 * (2*rounds + 1), MaxRanks: 2}); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := groups.Resolve(ctx, tr, groups.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

// TestInconsistent checks what is said of traces that contradict themselves, and that
// the rest is resolved.
func TestInconsistent(t *testing.T) {
	tests := []struct {
		name   string
		record func(rank int, r *recording)
		want   string
	}{
		{"MissingCall", func(rank int, r *recording) {
			if rank == 0 {
				r.call("MPI_Comm_split", "comm", world, "color", 1, "key", 1, "newcomm", 1)
			}
		}, "resolve: rank 1: creation 1 on world, split: no such call"},
		{"OtherRank", func(rank int, r *recording) {
			r.call("MPI_Comm_create", "comm", world, "newcomm", 1, "leader", 0, "newrank", 0)
		}, "call 1 makes it rank 0, not 1 of 2"},
		{"NoGrid", func(rank int, r *recording) {
			r.call("MPI_Cart_sub", "comm", world, "remain_dims", []int{1}, "newcomm", 1)
		}, "resolve: rank 0: split: call 1: the process grid is not known"},
		{"Outside", func(rank int, r *recording) {
			r.call("MPI_Comm_spawn", "maxprocs", 1, "comm", world, "intercomm", 1)
			r.call("MPI_Comm_dup", "comm", 1, "newcomm", 2)
		}, "resolve: rank 0: creation 1 on world, spawn: call 1: which processes it starts is not recorded"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			all, err := groups.Resolve(context.Background(), traceOf(t, 2, func(rank int, r *recording) {
				r.call("MPI_Comm_dup", "comm", world, "newcomm", 0)
				tt.record(rank, r)
			}), groups.Options{})
			var ge *resolve.GroupError
			if err == nil || !errors.As(err, &ge) || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("err = %v, want %s", err, tt.want)
			}
			if asks := strings.HasSuffix(err.Error(), ": were several runs recorded together?"); asks != (tt.name == "MissingCall") {
				t.Errorf("err = %v", err)
			}
			if got := describe(all, 1, "comm", 0); got != "world/0 [0 1]" {
				t.Errorf("the duplicate is %s", got)
			}
		})
	}
}

// looped returns the trace of a run of which each rank makes the calls of a round so many
// times.
func looped(t rapid.TB, ranks int, rounds uint64, record func(rank int, r *recording)) *trace.Trace {
	t.Helper()
	var parts []merge.Part
	for rank := range ranks {
		var r recording
		record(rank, &r)
		p := r.Finish(rank)
		var runs []sequitur.Run
		for _, s := range p.Grammar.AppendSymbols(nil) {
			runs = append(runs, sequitur.Run{Symbol: s, Count: 1})
		}
		var b sequitur.Builder
		b.AppendLoop(runs, rounds)
		p.Grammar = b.Finish()
		parts = append(parts, p)
	}
	return testtrace.Write(t, merge.Run{Ranks: ranks}, parts)
}

// TestTooManyCalls checks that a loop of very many rounds ends with an error, at once.
func TestTooManyCalls(t *testing.T) {
	tr := looped(t, 2, 1<<40, func(_ int, r *recording) {
		r.call("MPI_Comm_dup", "comm", world, "newcomm", 0)
		r.call("MPI_Comm_free", "comm", 0)
	})
	all, err := groups.Resolve(context.Background(), tr, groups.Options{})
	var limit *groups.LimitError
	if !errors.As(err, &limit) || !errors.Is(err, groups.ErrLimit) || all != nil {
		t.Errorf("%v, %v", all, err)
	}
}

// TestThreads has a thread that uses a communicator which the first thread has made and
// freed, and makes others with an id that is used again: its calls stand behind those of the
// first thread.
func TestThreads(t *testing.T) {
	tr := traceOf(t, 2, func(rank int, r *recording) {
		r.call("MPI_Comm_dup", "comm", world, "newcomm", 0)
		r.call("MPI_Comm_dup", "comm", 0, "newcomm", 1)
		for range 2 {
			r.call("MPI_Comm_dup", "comm", 0, "newcomm", 2)
			r.call("MPI_Comm_free", "comm", 2)
		}
		r.call("MPI_Comm_free", "comm", 1)
		r.call("MPI_Comm_free", "comm", 0)
		r.call("MPI_Barrier", "thread", 1, "comm", 0)
		r.call("MPI_Comm_dup", "thread", 1, "comm", 1, "newcomm", 2)
		r.call("MPI_Comm_free", "thread", 1, "comm", 2)
	})
	all := resolved(t, tr)
	for _, tt := range []struct {
		id       int64
		position uint64
		want     string
	}{{0, 8, "world/0"}, {1, 9, "world/0/0"}, {2, 3, "world/0/1"}, {2, 5, "world/0/2"},
		{2, 10, "world/0/0/0"}, {0, 0, "world/0"}} {
		m, ok := all.At(1, resolve.Local{Class: "comm", ID: tt.id}, tt.position)
		if !ok || m.Group.Name() != tt.want {
			t.Errorf("%d at %d is %+v, %v, want %s", tt.id, tt.position, m.Group, ok, tt.want)
		}
	}
	if _, ok := all.At(1, resolve.Local{Class: "comm", ID: 2}, 8); ok {
		t.Error("a communicator that is made several times is there when it is freed")
	}
}
