package query

import (
	"cmp"
	"context"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/rankenc"
)

// Instances are the collective operations on a communicator. The members call them in one
// order, so that the k-th of each is the same.
type Instances struct {
	Communicator *semantics.Communicator `json:"communicator"`
	Members      rankenc.Set             `json:"member_set"` // that were looked at and made calls on it
	// others that the communicator has: that made no calls on it, or were not looked at
	Absent rankenc.Set `json:"absent_set"`

	// Count is how many operations there are, as most members have it, of which
	// Reference is the lowest.
	Count     uint64 `json:"instances"`
	Reference int    `json:"reference"`

	// Different are the members that have others than the reference, in ascending order.
	Different []Disagreement `json:"different,omitzero"`
}

// A Disagreement is where the collective operations of a member first are others than those
// of the reference.
type Disagreement struct {
	Rank     int    `json:"rank"`
	Count    uint64 `json:"instances"` // of its operations
	Instance uint64 `json:"instance"`  // the first that differs, from 0 on

	// What the member calls there, and the reference; nothing if it calls no more.
	Here  CollectiveCall `json:"here"`
	There CollectiveCall `json:"there"`
}

// A CollectiveCall is a call that is a collective operation. Position is the number of calls
// of the rank, and Function empty, if there is none.
type CollectiveCall struct {
	Position uint64 `json:"position"`
	Function string `json:"function,omitzero"`
	Root     int    `json:"root"` // −1 if it has none
}

// rankSequences are digests of the collective operations of a rank, by communicator.
type rankSequences struct {
	digests map[*semantics.Communicator]digest
	unknown uint64
}

func (all *operations) sequences(ctx context.Context) (rankSequences, error) {
	found := rankSequences{digests: make(map[*semantics.Communicator]digest)}
	for _, o := range all.list {
		found.addUnknown(&o)
	}
	walked, err := all.walk(ctx)
	if err != nil {
		return found, err
	}
	for c, calls := range all.collectives {
		if calls.alike {
			found.digests[c] = newRuled(all, all.terminals(c)).all()
		} else {
			found.digests[c] = walked[c].all()
		}
		if len(found.digests)%checkEvery == 0 && ctx.Err() != nil {
			return found, context.Cause(ctx)
		}
	}
	return found, nil
}

// addUnknown adds calls of collective operations whose communicator is not known.
func (s *rankSequences) addUnknown(o *semantics.Occurrence) {
	for _, p := range append([]*semantics.Operation{o.Operation}, o.Operation.More...) {
		if p.Class == spec.Collective && p.Communicator == nil {
			s.unknown = wire.AddSat(s.unknown, o.Count)
		}
	}
}

// terminals returns those that begin collective operations on a communicator, of which all
// are alike.
func (all *operations) terminals(c *semantics.Communicator) terminals {
	t := make(terminals)
	for _, o := range all.collectives[c].list {
		t[o.Terminal] = all.digests(o.Terminal, operationsOn(o.Operation, c))
	}
	return t
}

// sequence returns the collective operations of a rank on a communicator.
func (r *matchRank) sequence(ctx context.Context, c *semantics.Communicator) (sequence, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if s := r.sequences[c]; s != nil {
		return s, nil
	}
	calls := r.collectives[c]
	if calls == nil {
		return newRuled(r.operations, nil), nil
	}
	if calls.alike {
		if len(r.sequences) >= maxIndices {
			clear(r.sequences)
		}
		s := newRuled(r.operations, r.terminals(c))
		r.sequences[c] = s
		return s, nil
	}
	if r.walked == nil {
		var err error
		if r.walked, err = r.walk(ctx); err != nil {
			r.walked = nil
			return nil, err
		}
	}
	return r.walked[c], nil
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
		n := Instances{Communicator: c}
		var own []int
		votes := make(map[digest]int)
		for _, i := range list {
			own = append(own, ranks[i])
			votes[sums[i].digests[c]]++
		}
		n.Members = rankenc.SetOf(own...)
		n.Absent = c.RankSet().Difference(n.Members)
		most := sums[list[0]].digests[c]
		n.Reference = ranks[list[0]]
		for _, i := range list {
			if d := sums[i].digests[c]; votes[d] > votes[most] {
				most, n.Reference = d, ranks[i]
			}
		}
		n.Count = most.Weight
		for _, i := range list {
			d := sums[i].digests[c]
			if m.ThreadsUnordered && d.Weight == most.Weight {
				continue // they may be the same calls in another order
			}
			if d != most {
				n.Different = append(n.Different, Disagreement{Rank: ranks[i], Count: d.Weight})
			}
		}
		m.Instances = append(m.Instances, n)
	}
	slices.SortFunc(m.Instances, func(a, b Instances) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Communicator.Name, b.Communicator.Name))
	})
	if o.Region != nil {
		return nil
	}
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
		here, a, err := m.sequence(ctx, d.Rank, n.Communicator)
		if err != nil {
			return err
		}
		there, b, err := m.sequence(ctx, n.Reference, n.Communicator)
		if err != nil {
			return err
		}
		least := min(a.all().Weight, b.all().Weight)
		d.Instance = searchUint64(least, func(k uint64) bool { return a.upTo(k+1) != b.upTo(k+1) })
		d.Here, _ = here.call(n.Communicator, a, d.Instance)
		d.There, _ = there.call(n.Communicator, b, d.Instance)
		return nil
	})
}

// sequence returns a rank, and its collective operations on a communicator.
func (m *Match) sequence(ctx context.Context, rank int, c *semantics.Communicator) (*matchRank, sequence, error) {
	r, err := m.open(ctx, rank)
	if err != nil {
		return nil, nil, err
	}
	s, err := r.sequence(ctx, c)
	return r, s, err
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

// call returns the call of an operation of a sequence, and the operation; nil if the sequence ends before.
func (r *operations) call(c *semantics.Communicator, s sequence, n uint64) (CollectiveCall, *semantics.Operation) {
	if n >= s.all().Weight {
		return CollectiveCall{Position: r.rank.Len(), Root: -1}, nil
	}
	position, nth := s.at(n)
	terminal := r.rank.Walk(position).Next().Symbol
	o := operationsOn(r.rank.At(position, terminal), c)[nth]
	return CollectiveCall{position, collectiveName(functionOf(r.rank, terminal)), o.Root}, o
}

// Call returns the call of a member that is the k-th collective operation on a
// communicator, from 0 on. A rank that has no more of them returns one without a function.
func (m *Match) Call(rank int, c *semantics.Communicator, k uint64) (CollectiveCall, error) {
	r, s, err := m.sequence(context.Background(), rank, c)
	if err != nil {
		return CollectiveCall{}, err
	}
	call, _ := r.call(c, s, k)
	return call, nil
}

// Instance returns which collective operation on its communicator the call at a position of
// a rank begins, from 0 on; ok reports whether it begins one.
func (m *Match) Instance(rank int, position uint64) (c *semantics.Communicator, k uint64, ok bool, err error) {
	r, err := m.open(context.Background(), rank)
	if err != nil {
		return nil, 0, false, err
	}
	list := operationsOn(r.rank.At(position, r.rank.Walk(position).Next().Symbol), nil)
	if len(list) == 0 {
		return nil, 0, false, nil
	}
	c = list[0].Communicator
	s, err := r.sequence(context.Background(), c)
	if err != nil {
		return nil, 0, false, err
	}
	return c, s.before(position), true, nil
}
