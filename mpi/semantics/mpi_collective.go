package semantics

import (
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// A collect is a call of a collective operation on data, as it is taken apart.
type collect struct {
	arguments
	scope    scope
	size     func(datatype int64) int64
	call     *evaluation // of MPI
	isRoot   bool
	root     int  // in the run; −1 if there is none or it is not known
	inter    bool // the operation is on an intercommunicator
	giveNone bool // sendbuf is MPI_IN_PLACE
	getNone  bool // recvbuf is
}

// collective says what a collective call on data gives and gets.
func (e *evaluation) collective(o *Operation, p *spec.Role, args arguments, s scope) {
	c, ok := e.collect(p, args, s)
	if o.Root = c.root; ok {
		o.Sent, o.Received = c.bytes(p)
	}
}

// collect takes a collective call on data apart; false if the caller has no data in it, as in
// the group of the root of an intercommunicator.
func (e *evaluation) collect(p *spec.Role, args arguments, s scope) (c collect, ok bool) {
	c = collect{
		arguments: args, scope: s, size: e.size, call: e, root: -1,
		inter:    s.communicator != nil && s.communicator.remote != nil,
		giveNone: e.inPlace(args, "sendbuf"), getNone: e.inPlace(args, "recvbuf"),
	}
	if v, ok := args.find("root", cst.KindRank); ok {
		switch root := v.Int(); {
		case root == e.constants.root:
			c.root, c.isRoot = e.number, true
		case root == e.constants.procNull:
			return c, false
		default:
			c.root = max(s.world(root), -1)
			c.isRoot = !c.inter && c.root == e.number
		}
	}
	return c, true
}

// neighbours returns those of the caller in the topology of the communicator.
func (c *collect) neighbours() (n neighbourhood, ok bool) {
	if v, found := c.find("comm", cst.KindHandle); found && c.call != nil {
		return c.call.neighbours(v.Int(), c.scope)
	}
	return n, false
}

// inPlace reports whether an argument is MPI_IN_PLACE.
func (e *evaluation) inPlace(args arguments, name string) bool {
	v, ok := args.find(name, cst.KindPointer)
	return ok && v.Pointer().Segment == e.constants.inPlace
}

// bytes returns what the caller gives and gets.
func (c *collect) bytes(p *spec.Role) (sent, received int64) {
	gives, gets := c.amounts(p)
	sent, received = c.amount(p, gives, true), c.amount(p, gets, false)
	switch known := c.scope.communicator != nil; {
	case p.Data == "Exscan" && !known && received > 0:
		received = Unknown
	case p.Data == "Exscan" && known && c.scope.self == 0: // nobody is before it
		received = 0
	}
	return sent, received
}

// amounts returns the parameters that say what the caller gives and gets.
func (c *collect) amounts(p *spec.Role) (gives, gets spec.Amount) {
	gives, gets = p.Gives, p.Gets
	switch {
	case gives.Count == gets.Count: // there is one count for both
	case c.giveNone:
		gives = partOf(gets, gives)
	case c.getNone && gives.Of == "root":
		gets = partOf(gives, gets)
	}
	return gives, gets
}

// partOf returns what the caller has of an amount of data, where it has that in place: all, if
// the other amount would be of as many parts.
func partOf(of, other spec.Amount) spec.Amount {
	if of.Parts != other.Parts {
		switch of.Parts {
		case "members":
			of.Parts = "once"
		case "sum":
			of.Parts = "own"
		}
	}
	of.Of = other.Of
	return of
}

// amount returns how many bytes the caller of a function of a role gives, or gets.
func (c *collect) amount(p *spec.Role, a spec.Amount, gives bool) int64 {
	switch {
	case a.Parts == "":
		return 0
	case a.Of == "":
		if c.isRoot && c.inter {
			return 0 // the data are those of the other group
		}
	case c.isRoot:
		if a.Of == "others" {
			return 0
		}
	case c.scope.communicator == nil:
		return Unknown
	case a.Of == "root":
		return 0
	}
	if strings.HasPrefix(p.Data, "Neighbor_") && a.Parts != "once" {
		return c.withEach(a, gives)
	}
	switch a.Parts {
	case "once":
		return c.each(1, a)
	case "members":
		return c.each(c.scope.size(), a)
	case "group":
		return c.each(c.scope.groupSize(), a)
	case "own":
		if c.scope.communicator == nil {
			return Unknown
		}
		return product(c.element(a.Count, c.scope.self), c.sizeOf(a.Type))
	case "typed":
		return c.structure(a.Count, a.Type, c.size)
	}
	n, _ := c.sum(a.Count)
	return product(n, c.sizeOf(a.Type))
}

// withEach returns the bytes that the caller gives to its neighbours, or gets from them: nobody takes or
// gives none.
func (c *collect) withEach(a spec.Amount, gives bool) int64 {
	n, ok := c.neighbours()
	each, list := c.blocks(a)
	with := n.in
	if gives {
		with = n.out
	}
	if !ok || list != nil && len(list) != len(with) {
		return Unknown
	}
	sum := int64(0)
	for i, rank := range with {
		if list != nil {
			each = list[i]
		}
		if rank != nobody {
			sum = plus(sum, each)
		}
	}
	return sum
}

// each returns the bytes of so many times what a count and a datatype say.
func (c *collect) each(times int, a spec.Amount) int64 {
	return product(product(c.number(a.Count, cst.KindInt), c.sizeOf(a.Type)), int64(times))
}

// sizeOf returns the size of a datatype that is an argument.
func (c *collect) sizeOf(name string) int64 {
	if size, ok := c.toldSize(name, 0); ok {
		return size
	}
	if v, ok := c.find(name, cst.KindHandle); ok {
		return c.size(v.Int())
	}
	return Unknown
}
