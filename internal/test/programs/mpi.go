package programs

import (
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
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
	mpiWait
	mpiIprobe
	mpiTest
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
	flag        = cst.Param{Name: "flag", Type: typeInt, Direction: cst.Out}
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
		{Name: "recvbuf", Type: typePointer, Direction: cst.Out}, {Name: "recvcounts", Type: typeInts},
		{Name: "rdispls", Type: typeInts},
		{Name: "recvtype", Type: datatype.Type}, comm}},
	mpiFinalize: {Name: "MPI_Finalize"},
	mpiWait:     {Name: "MPI_Wait", Params: []cst.Param{{Name: "request", Type: request.Type, Direction: cst.InOut}}},
	mpiIprobe:   {Name: "MPI_Iprobe", Params: []cst.Param{source, tag, comm, flag}},
	mpiTest: {Name: "MPI_Test", Params: []cst.Param{
		{Name: "request", Type: request.Type, Direction: cst.InOut}, flag}},
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
var names = []format.Name{
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
	r.call(fn, pointer(m.buffer), cst.Int(int64(m.count)), double, cst.Rank(int64(m.peer)),
		cst.Tag(int64(m.tag)), world)
}

func (r *recorder) isend(m message) { r.nonblocking(mpiIsend, 0, m) }
func (r *recorder) irecv(m message) { r.nonblocking(mpiIrecv, 0, m) }

// nonblocking sends or receives so many bytes behind the beginning of the buffer.
func (r *recorder) nonblocking(fn, offset int, m message) {
	buffer := cst.PointerTo(cst.Pointer{Segment: int64(m.buffer), Displacement: int64(offset)})
	r.call(fn, buffer, cst.Int(int64(m.count)), double, cst.Rank(int64(m.peer)), cst.Tag(int64(m.tag)), world,
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

// waits waits for the open requests one by one.
func (r *recorder) waits() {
	for i := range r.requests {
		r.call(mpiWait, cst.Handle(i))
	}
	r.requests = 0
}

// polls probes for a message from anybody and tests the first request, so many times in vain.
func (r *recorder) polls(vain uint64) {
	for range vain {
		r.iprobe(0)
		r.call(mpiTest, cst.Handle(0), cst.Int(0))
	}
}

// iprobe probes for a message from anybody; found is 0 or 1.
func (r *recorder) iprobe(found int) {
	r.call(mpiIprobe, cst.Rank(anySource), cst.Tag(0), world, cst.Int(int64(found)))
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

// A Tree is a tree of all ranks, of which rank 0 is the root.
type Tree int

const (
	// Binomial is the tree that MPI libraries use: the parent of a rank has the
	// lowest one bit of the rank cleared.
	Binomial Tree = iota

	// Halving cuts the ranks in two, again and again; the first rank of the upper
	// part is a child of the first of the lower one, which is not the larger one.
	Halving

	// Heap gives rank r the children 2r+1 and 2r+2.
	Heap
)

func (t Tree) String() string { return [...]string{"Binomial", "Halving", "Heap"}[t] }

// A branch is a rank with all that are below it in a tree.
type branch struct {
	rank int
	size int // number of ranks
}

// node returns the parent of a rank, −1 for the root, the number of ranks in its
// own branch, and the branches of its children in the order in which it receives
// from them.
func (t Tree) node(rank, ranks int) (parent, size int, children []branch) {
	switch t {
	case Binomial:
		return binomial(rank, ranks)
	case Halving:
		return halving(rank, ranks)
	}
	return heap(rank, ranks)
}

func binomial(rank, ranks int) (parent, size int, children []branch) {
	low := 1
	for ; rank&low == 0 && rank+low < ranks; low *= 2 {
		children = append(children, branch{rank + low, min(low, ranks-rank-low)})
	}
	if rank == 0 {
		return -1, ranks, children
	}
	low = rank & -rank
	return rank - low, min(low, ranks-rank), children
}

func halving(rank, ranks int) (parent, size int, children []branch) {
	parent, size = -1, ranks
	for first, n := 0, ranks; n > 1; {
		half := n / 2
		switch {
		case rank < first+half:
			if rank == first {
				children = append(children, branch{first + half, n - half})
			}
			n = half
			continue
		case rank == first+half:
			parent, size = first, n-half
		}
		first, n = first+half, n-half
	}
	slices.Reverse(children)
	return parent, size, children
}

func heap(rank, ranks int) (parent, size int, children []branch) {
	below := func(rank int) (size int) {
		for lo, hi := rank, rank; lo < ranks; lo, hi = 2*lo+1, 2*hi+2 {
			size += min(hi, ranks-1) - lo + 1
		}
		return size
	}
	for child := 2*rank + 1; child <= 2*rank+2 && child < ranks; child++ {
		children = append(children, branch{child, below(child)})
	}
	if rank == 0 {
		return -1, ranks, children
	}
	return (rank - 1) / 2, below(rank), children
}

// Gather is what Nek5000 does, after Wang et al., "Near-Lossless MPI Tracing",
// §4.3.2: at the beginning and at the end every rank sends a message to rank 0,
// which receives them one by one; in each iteration between them the ranks gather
// what they have on a tree. Ranks relative to the caller are the same in the one
// case, absolute ranks in the other.
func Gather(tree Tree, ranks int, iterations uint64) Program {
	const block = 64 // numbers that each rank has
	return newProgram(fmt.Sprintf("Gather%v/%d", tree, ranks), ranks, func(r *recorder, rank int) {
		direct := func(tag int) {
			if rank > 0 {
				r.send(message{0, 1, 0, tag})
				return
			}
			for peer := 1; peer < ranks; peer++ {
				r.recv(message{1, 1, peer, tag})
			}
		}
		parent, size, children := tree.node(rank, ranks)
		direct(1)
		r.loop(iterations, func() {
			for _, child := range children {
				r.recv(message{2, block * child.size, child.rank, 3})
			}
			if parent >= 0 {
				r.send(message{2, block * size, parent, 3})
			}
			r.allreduce(1)
		})
		direct(2)
	})
}
