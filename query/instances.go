package query

import (
	"cmp"
	"context"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/semantics"
	"github.com/reprise-trace/reprise/sequitur"
)

// Instances are the collective operations on a communicator. The members call them in one
// order, so that the k-th of each is the same.
type Instances struct {
	Communicator *semantics.Communicator
	Members      []int // that were looked at and made calls on it, in ascending order
	Absent       int   // others that the communicator has

	// Count is how many operations there are, as most members have it, of which
	// Reference is the lowest.
	Count     uint64
	Reference int

	// Different are the members that have others than the reference, in ascending order.
	Different []Disagreement
}

// A Disagreement is where the collective operations of a member first are others than those
// of the reference.
type Disagreement struct {
	Rank     int
	Count    uint64 // of its operations
	Instance uint64 // the first that differs, from 0 on

	// What the member calls there, and the reference; nothing if it calls no more.
	Here, There CollectiveCall
}

// A CollectiveCall is a call that is a collective operation. Position is the number of calls
// of the rank, and Function empty, if there is none.
type CollectiveCall struct {
	Position uint64
	Function string
	Root     int // −1 if it has none
}

// rankSequences are digests of the collective operations of a rank, by communicator.
type rankSequences struct {
	digests map[*semantics.Communicator]digest
	unknown uint64
}

func (all *operations) sequences() rankSequences {
	found := rankSequences{digests: make(map[*semantics.Communicator]digest)}
	for _, o := range all.list {
		for _, p := range append([]*semantics.Operation{o.Operation}, o.Operation.More...) {
			if p.Class == semantics.Collective && p.Communicator == nil {
				found.unknown = wire.AddSat(found.unknown, o.Count)
			}
		}
	}
	for c, t := range all.terminals() {
		found.digests[c] = all.sequence(c, t).all()
	}
	return found
}

// Terminals say what calls with them begin on a communicator, operation by operation.
type terminals map[sequitur.Symbol][]digest

// terminals returns the terminals that begin collective operations, by communicator.
func (all *operations) terminals() map[*semantics.Communicator]terminals {
	found := make(map[*semantics.Communicator]terminals)
	for _, o := range all.list {
		for _, p := range operationsOn(o.Operation, nil) {
			if found[p.Communicator] == nil {
				found[p.Communicator] = make(terminals)
			}
			found[p.Communicator][sequitur.Symbol(o.Terminal)] = callDigests(all.rank, o.Terminal, o.Operation, p.Communicator)
		}
	}
	return found
}

// sequence returns the collective operations on a communicator, which terminals begin.
func (all *operations) sequence(c *semantics.Communicator, t terminals) sequence {
	keep := make(map[sequitur.Symbol]bool, len(t))
	regular := true
	for s := range t {
		keep[s] = true
		regular = regular && all.alike[uint32(s)]
	}
	if regular {
		return newRuled(all.rank.Grammar(), t)
	}
	return newWalked(all.rank, c, keep)
}

// sequence returns the collective operations of a rank on a communicator.
func (r *matchRank) sequence(c *semantics.Communicator) sequence {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	s := r.sequences[c]
	if s == nil {
		s = r.operations.sequence(c, r.terminals()[c])
		r.sequences[c] = s
	}
	return s
}

// agree compares the collective operations of the members of each communicator.
func (m *Match) agree(ctx context.Context, ranks []int, sums []rankSequences, o Options) error {
	members := make(map[*semantics.Communicator][]int) // indices of ranks
	for i := range sums {
		m.UnknownCollectives = wire.AddSat(m.UnknownCollectives, sums[i].unknown)
		for c := range sums[i].digests {
			members[c] = append(members[c], i)
		}
	}
	for c, list := range members {
		n := Instances{Communicator: c, Absent: c.Size() + len(c.Remote()) - len(list)}
		votes := make(map[digest]int)
		for _, i := range list {
			n.Members = append(n.Members, ranks[i])
			votes[sums[i].digests[c]]++
		}
		most := sums[list[0]].digests[c]
		n.Reference = ranks[list[0]]
		for _, i := range list {
			if d := sums[i].digests[c]; votes[d] > votes[most] {
				most, n.Reference = d, ranks[i]
			}
		}
		n.Count = most.count
		for _, i := range list {
			if d := sums[i].digests[c]; d != most {
				n.Different = append(n.Different, Disagreement{Rank: ranks[i], Count: d.count})
			}
		}
		m.Instances = append(m.Instances, n)
	}
	slices.SortFunc(m.Instances, func(a, b Instances) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Communicator.Name, b.Communicator.Name))
	})
	return m.locate(ctx, o)
}

// locate finds where the operations of members first differ.
func (m *Match) locate(ctx context.Context, o Options) error {
	type job struct {
		instances  *Instances
		difference *Disagreement
	}
	var jobs []job
	for i := range m.Instances {
		n := &m.Instances[i]
		for k := range n.Different {
			jobs = append(jobs, job{n, &n.Different[k]})
		}
	}
	return o.each(ctx, len(jobs), func(i int) error {
		n, d := jobs[i].instances, jobs[i].difference
		here, err := m.open(d.Rank)
		if err != nil {
			return err
		}
		there, err := m.open(n.Reference)
		if err != nil {
			return err
		}
		a, b := here.sequence(n.Communicator), there.sequence(n.Communicator)
		least := min(a.all().count, b.all().count)
		d.Instance = searchUint64(least, func(k uint64) bool { return a.upTo(k+1) != b.upTo(k+1) })
		d.Here, d.There = here.call(n.Communicator, a, d.Instance), there.call(n.Communicator, b, d.Instance)
		return nil
	})
}

// searchUint64 is [sort.Search] for numbers of 64 bits.
func searchUint64(n uint64, f func(uint64) bool) uint64 {
	low, high := uint64(0), n
	for low < high {
		if middle := low + (high-low)/2; f(middle) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// call returns the call of an operation of a sequence.
func (r *matchRank) call(c *semantics.Communicator, s sequence, n uint64) CollectiveCall {
	if n >= s.all().count {
		return CollectiveCall{Position: r.rank.Len(), Root: -1}
	}
	position, nth := s.at(n)
	terminal := uint32(r.rank.Walk(position).Next().Symbol)
	o := operationsOn(r.rank.At(position, terminal), c)[nth]
	return CollectiveCall{position, collectiveName(functionOf(r.rank, terminal)), o.Root}
}

// Call returns the call of a member that is the k-th collective operation on a
// communicator, from 0 on. A rank that has no more of them returns one without a function.
func (m *Match) Call(rank int, c *semantics.Communicator, k uint64) (CollectiveCall, error) {
	r, err := m.open(rank)
	if err != nil {
		return CollectiveCall{}, err
	}
	return r.call(c, r.sequence(c), k), nil
}

// Instance returns which collective operation on its communicator the call at a position of
// a rank begins, from 0 on; ok reports whether it begins one.
func (m *Match) Instance(rank int, position uint64) (c *semantics.Communicator, k uint64, ok bool, err error) {
	r, err := m.open(rank)
	if err != nil {
		return nil, 0, false, err
	}
	list := operationsOn(r.rank.At(position, uint32(r.rank.Walk(position).Next().Symbol)), nil)
	if len(list) == 0 {
		return nil, 0, false, nil
	}
	c = list[0].Communicator
	s := r.sequence(c)
	k = searchUint64(s.all().count, func(k uint64) bool { at, _ := s.at(k); return at >= position })
	return c, k, true, nil
}
