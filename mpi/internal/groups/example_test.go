package groups_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/internal/groups"
	"github.com/reprise-trace/reprise/mpi/internal/resolve"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// Six processes split all by whether their rank is odd. All call their part comm#0.
func Example() {
	comm, integer := cst.HandleOf("comm"), cst.Type{Kind: cst.KindInt}
	split := cst.Function{Name: "MPI_Comm_split", Params: []cst.Param{
		{Name: "comm", Type: comm}, {Name: "color", Type: integer}, {Name: "key", Type: integer},
		{Name: "newcomm", Type: comm, Direction: cst.Out},
	}}
	run := merge.Run{Ranks: 6}
	var parts []merge.Part
	for rank := range run.Ranks {
		var r tracer.Recorder
		r.Call(r.Declare(split), cst.Handle(-3), cst.Int(int64(rank%2)), cst.Int(0), cst.Handle(0))
		parts = append(parts, r.Finish(rank))
	}
	var file bytes.Buffer
	if err := merge.Write(&file, run, parts); err != nil {
		log.Fatal(err)
	}

	tr, err := trace.OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()), trace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	all, err := groups.Resolve(context.Background(), tr, groups.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, rank := range tr.RankSet().All() {
		m, _ := all.At(rank, resolve.Local{Class: "comm", ID: 0}, 1)
		fmt.Println(rank, "is", m.Rank, "of", m.Group.Members, "in", m.Group.Name())
	}
	// Output:
	// 0 is 0 of [0 2 4] in world/0:0
	// 1 is 0 of [1 3 5] in world/0:1
	// 2 is 1 of [0 2 4] in world/0:0
	// 3 is 1 of [1 3 5] in world/0:1
	// 4 is 2 of [0 2 4] in world/0:0
	// 5 is 2 of [1 3 5] in world/0:1
}
