package semantics

import (
	"strings"

	"github.com/reprise-trace/reprise/cst"
)

// A tiCollect is a collective action as it is taken apart.
type tiCollect struct {
	arguments
	rank, ranks int
	isRoot      bool
}

// collective returns the operation of a collective action.
func (r *tiRank) collective(a *tiAction, args arguments) *Operation {
	o := &Operation{Class: a.class, Communicator: r.model.world, Root: -1}
	c := tiCollect{args, r.number, r.model.world.Size(), false}
	for _, p := range args.function.Params {
		if _, n := args.sum(p.Name); p.Type.Kind == cst.KindArray && n != c.ranks {
			o.Communicator = nil // of other members
		}
	}
	root := args.number("root", cst.KindRank)
	c.isRoot = root == int64(r.number)
	if o.Communicator != nil && root >= 0 && root < int64(c.ranks) {
		o.Root = int(root)
	}
	o.Sent, o.Received = c.bytes(strings.TrimPrefix(args.function.Name, "i"))
	return o
}

// counted returns the bytes of several times as many elements as an argument says.
func (c *tiCollect) counted(times int, count, datatype string) int64 {
	return product(product(c.number(count, cst.KindInt), c.tiSize(datatype)), int64(times))
}

// summed returns the bytes of as many elements as the argument says that is an array.
func (c *tiCollect) summed(counts, datatype string) int64 {
	n, _ := c.sum(counts)
	return product(n, c.tiSize(datatype))
}

// bytes returns how many bytes the rank gives and gets.
func (c *tiCollect) bytes(name string) (sent, received int64) {
	ifRoot := func(bytes int64) int64 {
		if c.isRoot {
			return bytes
		}
		return 0
	}
	switch name {
	case "bcast":
		bytes := c.counted(1, "count", "type")
		if c.isRoot {
			return bytes, 0
		}
		return 0, bytes
	case "reduce":
		bytes := c.counted(1, "count", "type")
		return bytes, ifRoot(bytes)
	case "allreduce", "scan", "exscan":
		bytes := c.counted(1, "count", "type")
		return bytes, bytes
	case "gather":
		return c.counted(1, "send_count", "send_type"), ifRoot(c.counted(c.ranks, "receive_count", "receive_type"))
	case "scatter":
		return ifRoot(c.counted(c.ranks, "send_count", "send_type")), c.counted(1, "receive_count", "receive_type")
	case "allgather":
		return c.counted(1, "send_count", "send_type"), c.counted(c.ranks, "receive_count", "receive_type")
	case "alltoall":
		return c.counted(c.ranks, "send_count", "send_type"), c.counted(c.ranks, "receive_count", "receive_type")
	case "gatherv":
		return c.counted(1, "send_count", "send_type"), ifRoot(c.summed("receive_counts", "receive_type"))
	case "scatterv":
		return ifRoot(c.summed("send_counts", "send_type")), c.counted(1, "receive_count", "receive_type")
	case "allgatherv":
		return c.counted(1, "send_count", "send_type"), c.summed("receive_counts", "receive_type")
	case "alltoallv", "alltoallw":
		return c.summed("send_counts", "send_type"), c.summed("receive_counts", "receive_type")
	case "reducescatter":
		return c.summed("receive_counts", "type"), product(c.element("receive_counts", c.rank), c.tiSize("type"))
	}
	return 0, 0
}
