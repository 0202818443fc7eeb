package cst_test

import (
	"fmt"

	"github.com/reprise-trace/reprise/cst"
)

func Example() {
	var table cst.Table
	send := table.Declare(cst.Function{Name: "MPI_Send", Params: []cst.Param{
		{Name: "buf", Type: cst.Type{Kind: cst.KindPointer}},
		{Name: "count", Type: cst.Type{Kind: cst.KindInt}},
		{Name: "datatype", Type: cst.HandleOf("datatype")},
		{Name: "dest", Type: cst.Type{Kind: cst.KindRank}},
		{Name: "tag", Type: cst.Type{Kind: cst.KindTag}},
		{Name: "comm", Type: cst.HandleOf("comm")},
	}})
	buf := cst.PointerTo(cst.Pointer{Segment: 3, Displacement: 16})
	var terminals []uint32
	for i := range 10 {
		dest := cst.Rank(int64(5 + i%2))
		terminal := table.Intern(send, buf, cst.Int(1), cst.Handle(2), dest, cst.Tag(99), cst.Handle(0))
		terminals = append(terminals, terminal)
	}
	fmt.Println(terminals)

	var terminal uint32
	for fn, args := range table.All() {
		call := cst.AppendCall(nil, table.Functions()[fn], args)
		fmt.Printf("%d: %d × %s\n", terminal, table.Count(terminal), call)
		terminal++
	}
	enc, _ := table.AppendBinary(nil)
	again, err := cst.Parse(enc)
	fmt.Println(len(enc), "bytes,", again.Len(), "signatures,", err)
	// Output:
	// [0 1 0 1 0 1 0 1 0 1]
	// 0: 5 × MPI_Send(buf=seg3+16, count=1, datatype=2, dest=5, tag=99, comm=0)
	// 1: 5 × MPI_Send(buf=seg3+16, count=1, datatype=2, dest=6, tag=99, comm=0)
	// 82 bytes, 2 signatures, <nil>
}

func ExampleMerge() {
	bcast := cst.Function{Name: "MPI_Bcast", Params: []cst.Param{
		{Name: "root", Type: cst.Type{Kind: cst.KindRank}},
	}}
	var a, b cst.Table
	a.Intern(a.Declare(bcast), cst.Rank(0))
	b.Intern(b.Declare(cst.Function{Name: "MPI_Finalize"}))
	b.Intern(b.Declare(bcast), cst.Rank(0))

	merged, fromA, fromB := cst.Merge(&a, &b)
	fmt.Println(merged.Len(), "signatures, from a:", fromA, "from b:", fromB)
	// Output:
	// 2 signatures, from a: [0] from b: [1 0]
}

func ExampleFunctionOf() {
	type send struct {
		Dest  int    `cst:"dest,rank"`
		Comm  int    `cst:"comm,handle=comm"`
		Sizes []int  `cst:"sizes"`
		Error string `cst:"error,out"`
	}
	f, err := cst.FunctionOf[send]("send")
	if err != nil {
		panic(err)
	}
	var table cst.Table
	fn := table.Declare(f)
	for dest := range 4 {
		args, err := cst.ValuesOf(send{Dest: dest % 2, Sizes: []int{8, 64}})
		if err != nil {
			panic(err)
		}
		table.Intern(fn, args...)
	}
	for fn, args := range table.All() {
		fmt.Println(string(cst.AppendCall(nil, table.Functions()[fn], args)))
	}
	_, err = cst.FunctionOf[struct{ Peer *send }]("send")
	fmt.Println(err)
	// Output:
	// send(dest=0, comm=0, sizes=[8 64], error="")
	// send(dest=1, comm=0, sizes=[8 64], error="")
	// cst: field Peer of struct { Peer *cst_test.send }: *cst_test.send is no argument: its kind is ptr
}
