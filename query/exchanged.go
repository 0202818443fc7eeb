package query

import (
	"cmp"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/rankenc"
)

// Blocks are an amount of data that ranks exchange in collective operations. A block is what
// one rank gives to another in one operation, if that is not nothing. Numbers that exceed 2⁶⁴−1
// are 2⁶⁴−1.
type Blocks struct {
	Blocks  uint64 `json:"blocks"`
	Bytes   uint64 `json:"bytes"`                           // of the blocks whose size is known
	Unknown uint64 `json:"blocks_of_unknown_size,omitzero"` // blocks whose size is not known
}

// add adds blocks of a size each, which may be [semantics.Unknown].
func (b *Blocks) add(blocks uint64, size int64) {
	switch {
	case size == 0:
		return
	case size < 0:
		b.Unknown = wire.AddSat(b.Unknown, blocks)
	default:
		b.Bytes = wire.AddSat(b.Bytes, wire.MulSat(blocks, uint64(size)))
	}
	b.Blocks = wire.AddSat(b.Blocks, blocks)
}

// plus adds an amount to b.
func (b *Blocks) plus(c Blocks) {
	b.Blocks = wire.AddSat(b.Blocks, c.Blocks)
	b.Bytes = wire.AddSat(b.Bytes, c.Bytes)
	b.Unknown = wire.AddSat(b.Unknown, c.Unknown)
}

// times returns n times b.
func (b Blocks) times(n uint64) Blocks {
	return Blocks{wire.MulSat(b.Blocks, n), wire.MulSat(b.Bytes, n), wire.MulSat(b.Unknown, n)}
}

// compareBlocks orders amounts by bytes.
func compareBlocks(a, b Blocks) int {
	return cmp.Or(cmp.Compare(a.Bytes, b.Bytes), cmp.Compare(a.Blocks, b.Blocks), cmp.Compare(a.Unknown, b.Unknown))
}

// A Volume is what goes from ranks to others: in messages and in collective operations.
type Volume struct {
	Flow
	Exchanged Blocks `json:"exchanged"`
}

// Add adds an amount to v.
func (v *Volume) Add(w Volume) {
	v.Flow.plus(w.Flow)
	v.Exchanged.plus(w.Exchanged)
}

// UniformPairs are pairs of ranks between which the same goes in the collective operations of
// a communicator: from each rank of From to each other of To.
type UniformPairs struct {
	Communicator *semantics.Communicator `json:"communicator"`
	From         rankenc.Set             `json:"from_set"`
	To           rankenc.Set             `json:"to_set"`
	// only to those with a higher rank in the communicator, as in MPI_Scan
	Higher bool `json:"higher,omitzero"`
	Blocks      // of each pair

	members []int // if Higher, in the order of their ranks in the communicator; nil if that is the order of To
}

// pairs returns the number of pairs.
func (u *UniformPairs) pairs() uint64 {
	if !u.Higher {
		return uint64(u.From.Len())*uint64(u.To.Len()) - uint64(u.From.Intersection(u.To).Len())
	}
	n := uint64(0)
	if u.members == nil {
		for first, last := range u.From.Ranges() {
			n += u.higherWithin(first, last, u.To.Len()-1)
		}
		return n
	}
	for k, rank := range u.members {
		if u.From.Contains(rank) {
			n += uint64(len(u.members) - 1 - k)
		}
	}
	return n
}

// higherWithin returns the number of pairs of a rank from first to last and a higher one of To, up to a rank.
// To is 0 and the ranks that follow it.
func (u *UniformPairs) higherWithin(first, last, upTo int) uint64 {
	upTo = min(upTo, u.To.Len()-1)
	if last = min(last, upTo); first > last {
		return 0
	}
	a, b := uint64(upTo-last), uint64(upTo-first) // so many are higher than last, and than first
	return (b + a) * (b - a + 1) / 2
}

// All returns what goes between all of the pairs.
func (u *UniformPairs) All() Blocks { return u.times(u.pairs()) }

// Ascending reports whether the ranks in the communicator are in the order of those in the
// run, so that Higher is the same for both.
func (u *UniformPairs) Ascending() bool { return slices.IsSorted(u.members) }

// eachOf calls f with the ranks, from least to most, to which there is something from a rank of From.
func (u *UniformPairs) eachOf(rank, least, most int, f func(to int)) {
	if u.Higher && u.members != nil {
		for _, to := range u.members[slices.Index(u.members, rank)+1:] {
			if to >= least && to <= most {
				f(to)
			}
		}
		return
	}
	if u.Higher {
		least = max(least, rank+1)
	}
	for low, high := range u.To.Ranges() {
		for to := max(low, least); to <= min(high, most); to++ {
			if to != rank {
				f(to)
			}
		}
	}
}

// A groupKey is a group of a communicator. The members of MPI_COMM_WORLD are not listed: they cost the same
// however many a trace claims to have.
type groupKey struct {
	communicator *semantics.Communicator
	group        int
}

// listed returns the members in the order of their ranks in the communicator, nil if these are the ranks in
// the run.
func (k groupKey) listed() []int {
	if k.communicator.InRunOrder() {
		return nil
	}
	return k.communicator.Members(k.group)
}

func (k groupKey) size() int {
	if k.communicator.InRunOrder() {
		return k.communicator.Size()
	}
	return len(k.listed())
}

// member returns the rank in the run of a member.
func (k groupKey) member(rank int) int {
	if list := k.listed(); list != nil {
		return list[rank]
	}
	return rank
}

func (k groupKey) set() rankenc.Set {
	if k.communicator.InRunOrder() {
		return rankenc.World(k.size())
	}
	return rankenc.SetOf(k.listed()...)
}

// A uniformKey says with whom a rank exchanges the same.
type uniformKey struct {
	groupKey
	higher bool
	from   bool // the data comes from them
}

// A rankExchange is what one rank exchanges in collective operations, but for what is with
// few others.
type rankExchange struct {
	rank    int
	uniform map[uniformKey]Blocks
	lists   map[groupKey][]Blocks // what the rank gives to each member
}

// with adds what count operations exchange that are of uniform size, or of a list of sizes. It
// returns all of it.
func (e *rankExchange) with(x *semantics.Exchange, c *semantics.Communicator, count uint64) (all Blocks) {
	k := groupKey{c, x.Group}
	if x.Blocks != nil { // as many as there are members
		list := e.lists[k]
		if list == nil {
			if list = make([]Blocks, len(x.Blocks)); e.lists == nil {
				e.lists = make(map[groupKey][]Blocks)
			}
			e.lists[k] = list
		}
		for i, size := range x.Blocks {
			if k.member(i) != e.rank {
				list[i].add(count, size)
				all.add(count, size)
			}
		}
		return all
	}
	u := uniformKey{k, x.With == semantics.EachHigher, x.From}
	sum := e.uniform[u]
	if sum.add(count, x.Bytes); e.uniform == nil {
		e.uniform = make(map[uniformKey]Blocks)
	}
	e.uniform[u] = sum
	others := k.size()
	switch {
	case u.higher:
		others -= 1 + x.Rank
	case !c.IsInter():
		others--
	}
	all.add(wire.MulSat(count, uint64(max(others, 0))), x.Bytes)
	return all
}

// addExchange adds what calls of collective operations exchange.
func (f *rankFlows) addExchange(r *semantics.Rank, o *semantics.Operation, count uint64) {
	for _, more := range o.More {
		f.addExchange(r, more, count)
	}
	x := r.Exchange(o)
	use := func() *Blocks { return &useOf(f.uses, o.Communicator).Exchanged }
	switch x.With {
	case semantics.SomeUnknown:
		f.uncounted = wire.AddSat(f.uncounted, count)
	case semantics.EachOther, semantics.EachHigher:
		use().plus(f.exchange.with(&x, o.Communicator, count))
	case semantics.Listed:
		for i, peer := range x.Peers {
			size := x.Bytes
			if x.Blocks != nil {
				size = x.Blocks[i]
			}
			if size != 0 {
				f.pair(f.exchange.rank, peer).Exchanged.add(count, size)
				use().add(count, size)
			}
		}
	}
}

// listPairs adds the pairs that are in lists.
func (f *rankFlows) listPairs() {
	for k, list := range f.exchange.lists {
		for i, b := range list {
			if b.Blocks > 0 {
				f.pairs = append(f.pairs, Pair{f.exchange.rank, k.member(i), Volume{Exchanged: b}})
			}
		}
	}
	f.exchange.lists = nil
}

// uniformOf returns the uniform pairs of all ranks, those of equal amounts together.
func uniformOf(found []*rankFlows) []UniformPairs {
	type one struct {
		uniformKey
		Blocks
		rank int
	}
	var all []one
	for _, f := range found {
		for k, b := range f.exchange.uniform {
			all = append(all, one{k, b, f.exchange.rank})
		}
	}
	flag := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	alike := func(a, b one) int {
		return cmp.Or(compareCommunicators(a.communicator, b.communicator), a.group-b.group,
			flag(a.higher)-flag(b.higher), flag(a.from)-flag(b.from), compareBlocks(b.Blocks, a.Blocks))
	}
	slices.SortFunc(all, func(a, b one) int { return cmp.Or(alike(a, b), a.rank-b.rank) })
	sets := make(map[groupKey]rankenc.Set)
	var list []UniformPairs
	for len(all) > 0 {
		first := all[0]
		var b rankenc.SetBuilder
		for len(all) > 0 && alike(first, all[0]) == 0 {
			b.Add(all[0].rank)
			all = all[1:]
		}
		set, ok := sets[first.groupKey]
		if !ok {
			set = first.set()
			sets[first.groupKey] = set
		}
		u := UniformPairs{Communicator: first.communicator, From: b.Finish(), To: set, Higher: first.higher,
			Blocks: first.Blocks}
		if first.from {
			u.From, u.To = u.To, u.From
		}
		if u.Higher {
			u.members = first.listed()
		}
		list = append(list, u)
	}
	return list
}
