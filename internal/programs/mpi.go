package programs

import (
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
)

// Numbers of functions.
const (
	mpiInit = iota
	mpiCommSize
	mpiCommRank
	mpiSend
	mpiRecv
	mpiIsend
	mpiIrecv
	mpiWaitall
	mpiAllreduce
	mpiAlltoallv
	mpiFinalize
)

var (
	typeInt     = cst.Type{Kind: cst.KindInt}
	typeInts    = cst.ArrayOf(typeInt)
	typeRank    = cst.Type{Kind: cst.KindRank}
	typePointer = cst.Type{Kind: cst.KindPointer}

	buffer      = cst.Param{Name: "buf", Type: typePointer}
	output      = cst.Param{Name: "buf", Type: typePointer, Direction: cst.Out}
	count       = cst.Param{Name: "count", Type: typeInt}
	datatype    = cst.Param{Name: "datatype", Type: cst.HandleOf("datatype")}
	destination = cst.Param{Name: "dest", Type: typeRank}
	source      = cst.Param{Name: "source", Type: typeRank}
	tag         = cst.Param{Name: "tag", Type: cst.Type{Kind: cst.KindTag}}
	comm        = cst.Param{Name: "comm", Type: cst.HandleOf("comm")}
	request     = cst.Param{Name: "request", Type: cst.HandleOf("request"), Direction: cst.Out}
)

// functions are the functions of MPI that the programs call, without statuses.
var functions = [...]cst.Function{
	mpiInit:     {Name: "MPI_Init"},
	mpiCommSize: {Name: "MPI_Comm_size", Params: []cst.Param{comm, {Name: "size", Type: typeInt, Direction: cst.Out}}},
	mpiCommRank: {Name: "MPI_Comm_rank", Params: []cst.Param{comm, {Name: "rank", Type: typeRank, Direction: cst.Out}}},
	mpiSend:     {Name: "MPI_Send", Params: []cst.Param{buffer, count, datatype, destination, tag, comm}},
	mpiRecv:     {Name: "MPI_Recv", Params: []cst.Param{output, count, datatype, source, tag, comm}},
	mpiIsend:    {Name: "MPI_Isend", Params: []cst.Param{buffer, count, datatype, destination, tag, comm, request}},
	mpiIrecv:    {Name: "MPI_Irecv", Params: []cst.Param{output, count, datatype, source, tag, comm, request}},
	mpiWaitall: {Name: "MPI_Waitall", Params: []cst.Param{
		count, {Name: "array_of_requests", Type: cst.ArrayOf(request.Type), Direction: cst.InOut}}},
	mpiAllreduce: {Name: "MPI_Allreduce", Params: []cst.Param{
		{Name: "sendbuf", Type: typePointer}, {Name: "recvbuf", Type: typePointer, Direction: cst.Out},
		count, datatype, {Name: "op", Type: cst.HandleOf("op")}, comm}},
	mpiAlltoallv: {Name: "MPI_Alltoallv", Params: []cst.Param{
		{Name: "sendbuf", Type: typePointer}, {Name: "sendcounts", Type: typeInts}, {Name: "sdispls", Type: typeInts},
		{Name: "sendtype", Type: datatype.Type},
		{Name: "recvbuf", Type: typePointer, Direction: cst.Out}, {Name: "recvcounts", Type: typeInts}, {Name: "rdispls", Type: typeInts},
		{Name: "recvtype", Type: datatype.Type}, comm}},
	mpiFinalize: {Name: "MPI_Finalize"},
}

// Handles that are there from the start.
var (
	world  = cst.Handle(0)
	double = cst.Handle(0)
	sum    = cst.Handle(0)
)

// anySource is the rank that stands for any source.
const anySource = -2

// names are what these numbers are called.
var names = []merge.Name{
	{Kind: cst.KindRank, Value: anySource, Name: "MPI_ANY_SOURCE"},
	{Kind: cst.KindHandle, Class: "comm", Value: world.Int(), Name: "MPI_COMM_WORLD"},
	{Kind: cst.KindHandle, Class: "datatype", Value: double.Int(), Name: "MPI_DOUBLE"},
	{Kind: cst.KindHandle, Class: "op", Value: sum.Int(), Name: "MPI_SUM"},
}

// A message is what one call sends or receives.
type message struct {
	buffer int // the segment that has nothing else in it
	count  int
	peer   int
	tag    int
}

func pointer(segment int) cst.Value { return cst.PointerTo(cst.Pointer{Segment: int64(segment)}) }

func (r *recorder) send(m message) { r.blocking(mpiSend, m) }
func (r *recorder) recv(m message) { r.blocking(mpiRecv, m) }

func (r *recorder) blocking(fn int, m message) {
	r.call(fn, pointer(m.buffer), cst.Int(int64(m.count)), double, cst.Rank(int64(m.peer)), cst.Tag(int64(m.tag)), world)
}

func (r *recorder) isend(m message) { r.nonblocking(mpiIsend, m) }
func (r *recorder) irecv(m message) { r.nonblocking(mpiIrecv, m) }

func (r *recorder) nonblocking(fn int, m message) {
	r.call(fn, pointer(m.buffer), cst.Int(int64(m.count)), double, cst.Rank(int64(m.peer)), cst.Tag(int64(m.tag)), world,
		cst.Handle(r.requests))
	r.requests++
}

// manyRequests are the first requests; a slice of it is an array of them.
var manyRequests = func() []cst.Value {
	list := make([]cst.Value, 64)
	for i := range list {
		list[i] = cst.Handle(int64(i))
	}
	return list
}()

// waitall waits for all open requests, at most 64.
func (r *recorder) waitall() {
	r.call(mpiWaitall, cst.Int(r.requests), cst.Array(manyRequests[:r.requests]...))
	r.requests = 0
}

// allreduce sums up numbers of all processes. Segments −1 and −2 have them.
func (r *recorder) allreduce(count int) {
	r.call(mpiAllreduce, pointer(-1), pointer(-2), cst.Int(int64(count)), double, sum, world)
}

// alltoallv sends so many numbers to each process and receives so many from it.
// Segments 0 and 1 have them, one part after the other.
func (r *recorder) alltoallv(send, receive []int) {
	counts := func(list []int) (counts, displacements cst.Value) {
		c, d := make([]cst.Value, len(list)), make([]cst.Value, len(list))
		at := 0
		for i, n := range list {
			c[i], d[i] = cst.Int(int64(n)), cst.Int(int64(at))
			at += n
		}
		return cst.Array(c...), cst.Array(d...)
	}
	sent, sendAt := counts(send)
	received, receiveAt := counts(receive)
	r.call(mpiAlltoallv, pointer(0), sent, sendAt, double, pointer(1), received, receiveAt, double, world)
}
