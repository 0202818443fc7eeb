package proxy

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
)

// TestMissing checks calls that need a communicator of which an earlier one, with the same id, is made by a
// call that is left out: they are made for the later one, and counted for the earlier. What only the earlier
// one is used for is left out.
func TestMissing(t *testing.T) {
	parent := testtrace.MPICall("MPI_Comm_get_parent", "parent", 5)
	dup := testtrace.MPICall("MPI_Comm_dup", "comm", "MPI_COMM_WORLD", "newcomm", 5)
	barrier := testtrace.MPICall("MPI_Barrier", "comm", 5)
	split := testtrace.MPICall("MPI_Comm_split", "comm", 5, "color", 0, "key", 0, "newcomm", 6)
	bcast := testtrace.MPICall("MPI_Bcast", "buffer", 7, "count", 1, "datatype", "MPI_BYTE", "root", 0, "comm", 6)
	leave := testtrace.MPICall("MPI_Comm_disconnect", "comm", 5)
	free := testtrace.MPICall("MPI_Comm_free", "comm", 5)
	calls := []testtrace.Call{testtrace.MPICall("MPI_Init"), parent, barrier, barrier, split, bcast, leave,
		dup, barrier, free}
	trace := testtrace.Record(t, merge.Run{}, false, [][]testtrace.Call{calls, calls})
	p, err := Generate(context.Background(), trace, Options{Name: "run.rpz"})
	if err != nil {
		t.Fatal(err)
	}
	const needs = "needs an object of class comm that is not made"
	want := []LeftOut{
		{Function: "MPI_Barrier", Reason: needs, Calls: 4}, {Function: "MPI_Bcast", Reason: needs, Calls: 2},
		{Function: "MPI_Comm_disconnect", Reason: needs, Calls: 2},
		{Function: "MPI_Comm_get_parent",
			Reason: "reaches beyond the calls of these processes, or has no meaning for them", Calls: 2},
		{Function: "MPI_Comm_split", Reason: needs, Calls: 2},
	}
	main := p.Files[0].Text
	if !slices.Equal(p.LeftOut, want) || p.Calls != 8 {
		t.Errorf("%d calls, left out %v", p.Calls, p.LeftOut)
	}
	for _, text := range []string{"left out at times: 4 calls, which " + needs,
		"if (comm[0] != MPI_COMM_NULL)", "MPI_Comm_free(&comm[0])"} {
		if !strings.Contains(main, text) {
			t.Errorf("no %s in\n%s", text, main)
		}
	}
	if strings.Contains(main, "MPI_Bcast(") || strings.Contains(main, "if (comm[0] != MPI_COMM_NULL) MPI_Comm_free") {
		t.Errorf("%s", main)
	}
}

// TestOfAnotherRank checks that an object which only other ranks make is not there.
func TestOfAnotherRank(t *testing.T) {
	makes := []testtrace.Call{testtrace.MPICall("MPI_Init"),
		testtrace.MPICall("MPI_Comm_dup", "comm", "MPI_COMM_SELF", "newcomm", 5),
		testtrace.MPICall("MPI_Barrier", "comm", 5)}
	uses := []testtrace.Call{testtrace.MPICall("MPI_Init"), testtrace.MPICall("MPI_Barrier", "comm", 5)}
	p, err := Generate(context.Background(), testtrace.Record(t, merge.Run{}, false,
		[][]testtrace.Call{makes, uses}), Options{})
	want := []LeftOut{{Function: "MPI_Barrier", Reason: "needs an object of class comm that is not made", Calls: 1}}
	if err != nil || !slices.Equal(p.LeftOut, want) || p.Calls != 4 {
		t.Errorf("%v: %+v", err, p.LeftOut)
	}
}

// TestTableOfRanks checks that a table of ranks and the function of a rank have two names.
func TestTableOfRanks(t *testing.T) {
	lock := func(rank int) testtrace.Call {
		return testtrace.MPICall("MPI_Win_flush", "rank", rank, "win", 3)
	}
	window := testtrace.MPICall("MPI_Win_create", "base", 7, "size", 8, "disp_unit", 1, "info",
		"MPI_INFO_NULL", "comm", "MPI_COMM_WORLD", "win", 3)
	calls := []testtrace.Call{testtrace.MPICall("MPI_Init"), window, lock(1), lock(7), lock(2), lock(5)}
	p, err := Generate(context.Background(), testtrace.Record(t, merge.Run{}, false,
		[][]testtrace.Call{calls, calls[:2]}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if main := p.Files[0].Text; strings.Contains(main, "int rank_0[]") ||
		!strings.Contains(main, "void rank_0(") || !strings.Contains(main, "ranks_0[") {
		t.Errorf("%s", main)
	}
}
