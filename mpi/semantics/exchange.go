package semantics

import (
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// An Exchange is the data that one call of a collective operation moves between the caller and
// others, as the MPI standard defines the result: not as an implementation moves it. What a
// process gives to itself is no part of it. Each call tells what its caller gives. Only in
// MPI_Reduce_scatter on an intercommunicator does it tell what the caller gets, as nobody
// else knows how much that is.
type Exchange struct {
	With Partners
	From bool // the data comes from the partners; else it goes to them

	// Group is the group of the communicator that EachOther and EachHigher mean, as
	// [Communicator.Members] numbers it, and Rank the rank of the caller in its own group.
	Group, Rank int

	// Peers are the partners Listed, as ranks in the run. One may occur several times.
	Peers []int

	// Blocks are how many bytes there are for each of Peers, or for each member of the group,
	// where that of the caller does not count. They are nil if all are Bytes. Each may be [Unknown].
	Blocks []int64
	Bytes  int64
}

// Partners say with whom a caller exchanges data.
type Partners uint8

// The partners.
const (
	Nobody      Partners = iota
	SomeUnknown          // the trace does not say with whom
	EachOther            // each member of a group but the caller
	EachHigher           // each member of the group whose rank in it is higher
	Listed               // Peers
)

// Exchange returns the data that an operation of the rank exchanges. That of others in
// [Operation.More] is theirs. It costs what reading the arguments costs, and is not kept.
func (r *Rank) Exchange(o *Operation) Exchange {
	need.That(o != nil, "semantics: no operation")
	if o.data == nil {
		return Exchange{}
	}
	return r.meanings.exchange(o.data)
}

// Sources returns the ranks in the run that the rank gets data from in a collective operation of neighbours in a
// topology, without itself; false if it is none, or if these are not known.
func (r *Rank) Sources(o *Operation) (ranks []int, ok bool) {
	need.That(o != nil, "semantics: no operation")
	m, ok := r.meanings.(*mpiRank)
	if !ok || o.data == nil || !strings.HasPrefix(m.role(o.data.terminal).Data, "Neighbor_") {
		return nil, false
	}
	return m.sources(o.data)
}

// sources returns the neighbours that the caller gets data from.
func (r *mpiRank) sources(d *dataCall) (ranks []int, ok bool) {
	e := evaluation{mpiRank: r, position: d.position, extent: everywhere}
	p, args := r.role(d.terminal), r.arguments(d.terminal)
	c, ok := e.collect(p, args, e.scopeOf(p, args))
	if !ok {
		return nil, false
	}
	n, ok := c.neighbours()
	if !ok || c.scope.communicator == nil {
		return nil, false
	}
	_, gets := c.amounts(p)
	each, blocks := c.blocks(gets)
	for i, rank := range n.in {
		nothing := blocks == nil && each == 0 || len(blocks) == len(n.in) && blocks[i] == 0
		if rank == nobody || rank == int64(c.scope.self) || nothing {
			continue
		}
		peer := c.scope.world(rank)
		if peer < 0 {
			return nil, false
		}
		ranks = append(ranks, peer)
	}
	return ranks, true
}

// A dataCall is a call of a collective operation on data.
type dataCall struct {
	position uint64
	terminal uint32
	fixed    bool // it means the same at all positions
	number   int  // of several collective operations of the call
}

// sameData reports whether two operations of the rank exchange the same data.
func (r *mpiRank) sameData(o, p *Operation) bool {
	a, b := o.data, p.data
	switch {
	case a == nil || b == nil:
		if a != b {
			return false
		}
	case a.terminal != b.terminal:
		return false
	case !(a.fixed && b.fixed) && a.position != b.position && !r.exchange(a).equal(r.exchange(b)):
		return false
	}
	return slices.EqualFunc(o.More, p.More, r.sameData)
}

func (x Exchange) equal(y Exchange) bool {
	return x.With == y.With && x.From == y.From && x.Group == y.Group && x.Rank == y.Rank && x.Bytes == y.Bytes &&
		slices.Equal(x.Peers, y.Peers) && slices.Equal(x.Blocks, y.Blocks)
}

func (r *mpiRank) exchange(d *dataCall) Exchange {
	e := evaluation{mpiRank: r, position: d.position, extent: everywhere}
	p, args := r.role(d.terminal), r.arguments(d.terminal)
	c, ok := e.collect(p, args, e.scopeOf(p, args))
	if !ok {
		return Exchange{}
	}
	return c.exchange(p)
}

// exchange returns the data that the caller exchanges.
func (c *collect) exchange(p *spec.Role) Exchange {
	gives, gets := c.amounts(p)
	known := c.scope.communicator != nil
	x := Exchange{Group: c.scope.group, Rank: c.scope.self}
	if c.inter && strings.HasPrefix(p.Data, "Reduce_scatter") {
		gives, x.From = gets, true
	}
	switch {
	case gives.Of == "root" && !c.isRoot && known && c.root >= 0: // it only gets
		return Exchange{}
	case gives.Of == "" && gets.Of == "root" && c.isRoot: // what there is for it is its own, or that of the other group
		return Exchange{}
	}
	if x.Bytes, x.Blocks = c.blocks(gives); x.Bytes == 0 &&
		!slices.ContainsFunc(x.Blocks, func(n int64) bool { return n != 0 }) {
		return Exchange{}
	}
	switch {
	case !known:
		return Exchange{With: SomeUnknown}
	case gets.Of == "root":
		if x.Peers = []int{c.root}; c.root < 0 {
			return Exchange{With: SomeUnknown}
		}
		x.With = Listed
	case strings.HasPrefix(p.Data, "Neighbor_"):
		return c.withNeighbours(x)
	case x.Blocks != nil && len(x.Blocks) != c.scope.size():
		return Exchange{With: SomeUnknown}
	case p.Data == "Scan" || p.Data == "Exscan":
		x.With = EachHigher
	case !c.inter && c.scope.size() == 1:
		return Exchange{}
	default:
		x.With = EachOther
	}
	return c.simplified(x)
}

// blocks returns how many bytes an amount has for each partner: for all the same, or for each
// what a list says.
func (c *collect) blocks(a spec.Amount) (each int64, list []int64) {
	switch a.Parts {
	case "":
		return 0, nil
	case "own":
		if c.scope.communicator == nil {
			return Unknown, nil
		}
		return product(c.element(a.Count, c.scope.self), c.sizeOf(a.Type)), nil
	case "sum", "typed":
		list, ok := c.numbers(a.Count)
		sizes, typed := c.sizesOf(a.Type, c.size)
		if !ok || a.Parts == "typed" && (!typed || len(sizes) != len(list)) {
			return Unknown, nil
		}
		size := int64(Unknown)
		if a.Parts == "sum" {
			size = c.sizeOf(a.Type)
		}
		for i, n := range list {
			if a.Parts == "typed" {
				size = sizes[i]
			}
			list[i] = product(n, size)
		}
		return 0, list
	}
	return c.each(1, a), nil
}

// withNeighbours returns x with the neighbours that the caller gives to in the topology.
func (c *collect) withNeighbours(x Exchange) Exchange {
	n, ok := c.neighbours()
	if !ok || !n.placed || x.Blocks != nil && len(x.Blocks) != len(n.out) {
		return Exchange{With: SomeUnknown}
	}
	blocks := x.Blocks
	x.With, x.Blocks = Listed, nil
	for i, rank := range n.out {
		if rank == nobody || rank == int64(c.scope.self) {
			continue
		}
		peer := c.scope.world(rank)
		if peer < 0 {
			return Exchange{With: SomeUnknown}
		}
		x.Peers = append(x.Peers, peer)
		if blocks != nil {
			x.Blocks = append(x.Blocks, blocks[i])
		}
	}
	if len(x.Peers) == 0 {
		return Exchange{}
	}
	return x
}

// simplified returns x without a list of blocks if those of all others are the same.
func (c *collect) simplified(x Exchange) Exchange {
	if x.Blocks == nil {
		return x
	}
	own := -1
	if !c.inter {
		own = c.scope.self
	}
	first := 0
	if own == 0 {
		first = 1
	}
	for i, n := range x.Blocks {
		if i != own && n != x.Blocks[first] {
			return x
		}
	}
	if x.Bytes, x.Blocks = x.Blocks[first], nil; x.Bytes == 0 {
		return Exchange{}
	}
	return x
}
