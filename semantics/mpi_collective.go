package semantics

import (
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// A collect is a collective call as it is taken apart.
type collect struct {
	*evaluation
	arguments
	scope scope

	sendInPlace, recvInPlace bool
	atRoot, outside          bool // of an intercommunicator, outside: the caller takes no part
}

// collective says what a collective call on data gives and gets.
func (e *evaluation) collective(o *Operation, p *spec.Role, args arguments, s scope) {
	c := collect{evaluation: e, arguments: args, scope: s, sendInPlace: e.inPlace(args, "sendbuf"), recvInPlace: e.inPlace(args, "recvbuf")}
	if v, ok := args.find("root", cst.KindRank); ok {
		inter := s.communicator != nil && s.communicator.remote != nil
		switch root := v.Int(); {
		case root == e.constants.root:
			o.Root, c.atRoot = e.number, true
		case root == e.constants.procNull:
			c.outside = true
		default:
			o.Root = max(s.world(root), -1)
			c.atRoot = !inter && o.Root == e.number
		}
	}
	o.Sent, o.Received = c.bytes(p.Data)
}

// inPlace reports whether an argument is MPI_IN_PLACE.
func (e *evaluation) inPlace(args arguments, name string) bool {
	v, ok := args.find(name, cst.KindPointer)
	return ok && v.Pointer().Segment == e.constants.inPlace
}

// each returns the bytes of so many times what a count and a datatype say.
func (c *collect) each(times int, count, datatype string) int64 {
	return product(product(c.number(count, cst.KindInt), c.sizeOf(c.arguments, datatype)), int64(times))
}

// members is each for all members; it is unknown if their number is.
func (c *collect) members(count, datatype string) int64 {
	return c.each(c.scope.size(), count, datatype)
}

// summed returns the bytes of the counts in an array.
func (c *collect) summed(counts, datatype string) int64 {
	n, _ := c.sum(counts)
	return product(n, c.sizeOf(c.arguments, datatype))
}

// own returns the bytes of the caller's element of counts in an array.
func (c *collect) own(counts, datatype string) int64 {
	if c.scope.communicator == nil {
		return Unknown
	}
	return product(c.element(counts, c.scope.self), c.sizeOf(c.arguments, datatype))
}

// paired returns the bytes of counts in an array that have a datatype each.
func (c *collect) paired(counts, datatypes string) int64 {
	numbers, ok := c.numbers(counts)
	types, also := c.numbers(datatypes)
	if !ok || !also || len(numbers) != len(types) {
		return Unknown
	}
	sum := int64(0)
	for i, n := range numbers {
		sum = plus(sum, product(n, c.size(types[i])))
	}
	return sum
}

// atRootOnly returns the bytes if the caller is the root, and else 0; unknown if it is not
// known who that is.
func (c *collect) atRootOnly(bytes func() int64) int64 {
	switch {
	case c.atRoot:
		return bytes()
	case c.scope.communicator == nil:
		return Unknown
	}
	return 0
}

// exceptRoot returns the bytes unless the caller is the root of an intercommunicator, who
// has no part of the other group's data.
func (c *collect) exceptRoot(bytes int64) int64 {
	if c.atRoot && c.scope.communicator != nil && c.scope.communicator.remote != nil {
		return 0
	}
	return bytes
}

// bytes returns what a family of operations gives and gets.
func (c *collect) bytes(family string) (sent, received int64) {
	if c.outside {
		return 0, 0
	}
	if neighbours, ok := strings.CutPrefix(family, "Neighbor_"); ok {
		return c.neighbourBytes(neighbours)
	}
	switch family {
	case "Bcast":
		bytes := c.each(1, "count", "datatype")
		if c.atRoot {
			return bytes, 0
		} else if c.scope.communicator == nil {
			return Unknown, Unknown
		}
		return 0, bytes
	case "Reduce":
		bytes := c.each(1, "count", "datatype")
		return c.exceptRoot(bytes), c.atRootOnly(func() int64 { return bytes })
	case "Allreduce", "Scan", "Exscan":
		bytes := c.each(1, "count", "datatype")
		return bytes, bytes
	case "Reduce_scatter":
		return c.summed("recvcounts", "datatype"), c.own("recvcounts", "datatype")
	case "Reduce_scatter_block":
		return c.members("recvcount", "datatype"), c.each(1, "recvcount", "datatype")
	case "Gather", "Gatherv", "Scatter", "Scatterv":
		return c.rootedBytes(family)
	case "Allgather":
		received = c.members("recvcount", "recvtype")
		if c.sendInPlace {
			return c.each(1, "recvcount", "recvtype"), received
		}
		return c.each(1, "sendcount", "sendtype"), received
	case "Allgatherv":
		received = c.summed("recvcounts", "recvtype")
		if c.sendInPlace {
			return c.own("recvcounts", "recvtype"), received
		}
		return c.each(1, "sendcount", "sendtype"), received
	case "Alltoall":
		return c.unlessInPlace(c.members("recvcount", "recvtype"), func() int64 { return c.members("sendcount", "sendtype") })
	case "Alltoallv":
		return c.unlessInPlace(c.summed("recvcounts", "recvtype"), func() int64 { return c.summed("sendcounts", "sendtype") })
	case "Alltoallw":
		return c.unlessInPlace(c.paired("recvcounts", "recvtypes"), func() int64 { return c.paired("sendcounts", "sendtypes") })
	}
	return 0, 0
}

// unlessInPlace returns what is sent and received: as much is, if it is in place.
func (c *collect) unlessInPlace(received int64, sent func() int64) (int64, int64) {
	if c.sendInPlace {
		return received, received
	}
	return sent(), received
}

// rootedBytes is bytes for operations that bring data to the root or from it.
func (c *collect) rootedBytes(family string) (sent, received int64) {
	switch family {
	case "Gather":
		received = c.atRootOnly(func() int64 { return c.members("recvcount", "recvtype") })
		if c.sendInPlace {
			return c.each(1, "recvcount", "recvtype"), received
		}
		return c.exceptRoot(c.each(1, "sendcount", "sendtype")), received
	case "Gatherv":
		received = c.atRootOnly(func() int64 { return c.summed("recvcounts", "recvtype") })
		if c.sendInPlace {
			return c.own("recvcounts", "recvtype"), received
		}
		return c.exceptRoot(c.each(1, "sendcount", "sendtype")), received
	case "Scatter":
		sent = c.atRootOnly(func() int64 { return c.members("sendcount", "sendtype") })
		if c.recvInPlace {
			return sent, c.each(1, "sendcount", "sendtype")
		}
	case "Scatterv":
		sent = c.atRootOnly(func() int64 { return c.summed("sendcounts", "sendtype") })
		if c.recvInPlace {
			return sent, c.own("sendcounts", "sendtype")
		}
	}
	return sent, c.exceptRoot(c.each(1, "recvcount", "recvtype"))
}

// neighbourBytes is bytes for operations with the neighbours in a topology.
func (c *collect) neighbourBytes(family string) (sent, received int64) {
	d := noDegrees
	if v, ok := c.find("comm", cst.KindHandle); ok && slices.Contains([]string{"allgather", "alltoall"}, family) {
		d = c.degrees(v.Int(), c.scope)
	}
	switch family {
	case "allgather":
		return c.each(1, "sendcount", "sendtype"), c.each(d.in, "recvcount", "recvtype")
	case "allgatherv":
		return c.each(1, "sendcount", "sendtype"), c.summed("recvcounts", "recvtype")
	case "alltoall":
		return c.each(d.out, "sendcount", "sendtype"), c.each(d.in, "recvcount", "recvtype")
	case "alltoallv":
		return c.summed("sendcounts", "sendtype"), c.summed("recvcounts", "recvtype")
	case "alltoallw":
		return c.paired("sendcounts", "sendtypes"), c.paired("recvcounts", "recvtypes")
	}
	return Unknown, Unknown
}
