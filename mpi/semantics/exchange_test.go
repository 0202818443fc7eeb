package semantics_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/trace"
)

// exchangeText writes what a call exchanges.
func exchangeText(x semantics.Exchange) string {
	with := map[semantics.Partners]string{
		semantics.Nobody: "nothing", semantics.SomeUnknown: "unknown", semantics.EachOther: "each other",
		semantics.EachHigher: "each higher",
		semantics.Listed:     fmt.Sprint(x.Peers),
	}[x.With]
	switch {
	case x.With <= semantics.SomeUnknown:
		return with
	case x.Blocks != nil:
		return fmt.Sprintf("%s %d", with, x.Blocks)
	case x.From:
		return fmt.Sprintf("from %s %d", with, x.Bytes)
	}
	return fmt.Sprintf("%s %d", with, x.Bytes)
}

// exchanges returns what the calls of a rank exchange.
func exchanges(t tester, m *semantics.Model, rank int) (list []string) {
	t.Helper()
	r, err := m.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	each(t, m, rank, func(_ uint64, _ trace.Call, o *semantics.Operation) {
		if o != nil {
			list = append(list, exchangeText(r.Exchange(o)))
		}
	})
	return list
}

func TestExchange(t *testing.T) {
	counts := []any{1, 2, 3}
	m := mpiModel(t, 3, func(rank int, r *recording) {
		one := func(name string, pairs ...any) { r.call(name, append(pairs, "comm", world)...) }
		one("MPI_Barrier")
		one("MPI_Bcast", "count", 2, "datatype", "MPI_INT", "root", 1)
		one("MPI_Bcast", "count", 2, "datatype", "MPI_INT", "root", 2)
		one("MPI_Reduce", "count", 2, "datatype", "MPI_INT", "root", 2)
		one("MPI_Gatherv", "sendcount", 2, "sendtype", 7, "root", 2)
		one("MPI_Scan", "count", 2, "datatype", "MPI_INT")
		one("MPI_Allreduce", "count", 0, "datatype", 7)
		one("MPI_Alltoallv", "sendcounts", counts, "sendtype", "MPI_INT")
		one("MPI_Alltoallv", "sendcounts", []any{4, 0, 4}, "sendtype", "MPI_INT")
		one("MPI_Alltoallv", "sendcounts", []any{4, 4}, "sendtype", "MPI_INT")
		one("MPI_Scatterv", "sendcounts", counts, "sendtype", "MPI_INT", "root", 1)
		r.call("MPI_Bcast", "count", 1, "datatype", "MPI_INT", "root", 1, "comm", 9)
		r.call("MPI_Allreduce", "count", 1, "datatype", "MPI_INT", "comm", "MPI_COMM_SELF")
		one("MPI_Reduce_scatter", "recvcounts", counts, "datatype", "MPI_INT")
	})
	want := []string{
		"nothing", "each other 8", "nothing", "[2] 8", "[2] -1", "each higher 8", "nothing",
		"each other [4 8 12]", "each other 16", "unknown",
		"each other [4 8 12]", "unknown", "nothing", "each other [4 8 12]",
	}
	if got := exchanges(t, m, 1); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// What a persistent request exchanges is what the one does that has its id at the start, even
// if both have equal sums.
func TestExchangeStarted(t *testing.T) {
	a := request(0, 0)
	m := mpiModel(t, 3, func(rank int, r *recording) {
		for _, counts := range [][]any{{1, 2, 3}, {2, 1, 3}} {
			r.call("MPI_Alltoallv_init", "sendcounts", counts, "sendtype", "MPI_CHAR", "recvcounts",
				[]any{2, 2, 2}, "recvtype", "MPI_CHAR", "comm", world, "request", a)
			r.call("MPI_Start", "request", a)
			r.call("MPI_Wait", "request", a)
			r.call("MPI_Request_free", "request", a)
		}
	})
	want := []string{"each other [1 2 3]", "nothing", "nothing", "each other [2 1 3]", "nothing", "nothing"}
	if got := exchanges(t, m, 2); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// In graphs of which all processes name all edges, neighbours follow from these. Where ranks
// are reordered, the neighbours that a process named are not its own.
func TestExchangeGraphs(t *testing.T) {
	m := mpiModel(t, 3, func(rank int, r *recording) {
		r.call("MPI_Graph_create", "comm_old", world, "nnodes", 3, "index", []any{1, 3, 4}, "edges",
			[]any{1, 2, 0, 1}, "reorder", 0, "comm_graph", 0)
		r.call("MPI_Neighbor_alltoallv", "sendcounts", []any{5, 6}, "sendtype", "MPI_CHAR", "comm", 0)
		r.call("MPI_Neighbor_alltoall", "sendcount", 2, "sendtype", "MPI_CHAR", "recvcount", 2, "recvtype",
			"MPI_CHAR", "comm", 0)
		for _, newrank := range []int{rank, 2 - rank} {
			r.call("MPI_Dist_graph_create_adjacent", "comm_old", world, "indegree", 1, "sources", []any{1},
				"outdegree", 1, "destinations", []any{2},
				"reorder", 1, "comm_dist_graph", 1, "newrank", newrank)
			r.call("MPI_Neighbor_allgather", "sendcount", 1, "sendtype", "MPI_INT", "comm", 1)
		}
	})
	want := []string{"nothing", "[2 0] [5 6]", "[2 0] 2", "nothing", "[2] 4", "nothing", "unknown"}
	if got := exchanges(t, m, 1); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// Actions of SimGrid are of all ranks, unless their counts are not.
func TestExchangeActions(t *testing.T) {
	m, err := semantics.Open(t.Context(), testtrace.TI(t, `0 init
1 init
0 bcast 10 0 1 
1 bcast 10 0 1 
0 alltoallv 30 10 20 30 10 20 0 1
1 alltoallv 30 10 20 30 10 20 0 1
0 reducescatter 3 4 0 1
1 reducescatter 3 4 0 1
0 gatherv 3 1 2 3 0 1 1
1 gatherv 3 1 2 3 0 1 1
0 scan 5 0 1 
1 scan 5 0 1 
`))
	if err != nil {
		t.Fatal(err)
	}
	for rank, want := range [][]string{
		{"each other 40", "each other 160", "each other 16", "unknown", "each higher 20"},
		{"nothing", "each other 80", "each other 12", "unknown", "each higher 20"},
	} {
		if got := exchanges(t, m, rank); !slices.Equal(got, want) {
			t.Errorf("rank %d: %q\nwant %q", rank, got, want)
		}
	}
}
