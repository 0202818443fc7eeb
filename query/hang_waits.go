package query

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/rankenc"
)

// A stop is the state of all ranks when a recording ended.
type stop struct {
	match *Match
	times *Times
	ranks []int
	set   rankenc.Set // of ranks
	of    []stopped   // by index in ranks
	index map[int]int
	sent  map[int][]Channel    // messages that nobody receives, by destination, in the order of their sources
	left  map[int][]*Unmatched // by rank
	calls map[*semantics.Communicator]*Instances

	mutex  sync.Mutex
	groups map[*semantics.Communicator][2]*awaited // see peers
}

// A stopped rank is one of a stop.
type stopped struct {
	ended    bool
	threads  int // in which the rank made calls
	last     int // signature of the last call
	length   uint64
	flights  []flight
	released bool
}

// A flight is a call that has not returned.
type flight struct {
	semantics.InFlight
	signature int
	duration  int64
	source    Source
	waits     []stopWait
}

// A stopWait is one thing that a call waits for.
type stopWait struct {
	HangWait
	ranks  *awaited // one for all waits that share it
	needed quorum   // of members
	root   int
}

// An awaited is ranks that others wait for. Those without calls are in no list, however many they are.
type awaited struct {
	ranks   rankenc.Set
	calling []int32 // those of the stop, by index, in ascending order
}

// await returns a set of ranks to be waited for.
func (s *stop) await(ranks rankenc.Set) *awaited {
	a := &awaited{ranks: ranks}
	if ranks.Len() > len(s.ranks) {
		ranks = ranks.Intersection(s.set)
	}
	for _, rank := range ranks.All() {
		if i, ok := s.index[rank]; ok {
			a.calling = append(a.calling, int32(i))
		}
	}
	return a
}

// A quorum says which members must have made the call of a collective operation before it can
// end for a member.
type quorum uint8

const (
	everybody quorum = iota
	theRoot          // it has the data
	nobody           // that is sure: the member gives data to the root, or to some others
)

func newStop(m *Match, times *Times, ranks []int) *stop {
	s := &stop{
		match: m, times: times, ranks: ranks, set: rankenc.SetOf(ranks...), of: make([]stopped, len(ranks)),
		index: make(map[int]int),
		sent:  make(map[int][]Channel), calls: make(map[*semantics.Communicator]*Instances),
		groups: make(map[*semantics.Communicator][2]*awaited), left: make(map[int][]*Unmatched),
	}
	for i, rank := range ranks {
		s.index[rank] = i
	}
	for i := range m.Unmatched {
		u := &m.Unmatched[i]
		s.left[u.Rank] = append(s.left[u.Rank], u)
		if u.Direction == semantics.Send {
			s.sent[u.Destination] = append(s.sent[u.Destination], u.Channel)
		}
	}
	for _, sent := range s.sent {
		slices.SortStableFunc(sent, func(a, b Channel) int { return cmp.Compare(a.Source, b.Source) })
	}
	for i := range m.Instances {
		s.calls[m.Instances[i].Communicator] = &m.Instances[i]
	}
	return s
}

// read finds out where a rank is, and for what its calls wait but for members of
// communicators.
func (s *stop) read(ctx context.Context, i int) error {
	rank, at := s.ranks[i], &s.of[i]
	r, err := s.match.model.Rank(rank)
	if err != nil {
		return err
	}
	at.ended, at.length, at.last = r.Ended(), r.Len(), -1
	if at.length > 0 {
		at.last = r.Signature(r.Grammar().At(at.length - 1))
	}
	for terminal := range uint32(r.Terminals()) {
		at.threads = max(at.threads, r.Call(terminal).Thread()+1)
	}
	calls := r.InFlight()
	if len(calls) == 0 {
		return nil
	}
	clock, err := s.times.Clock(r.Rank)
	if err != nil {
		return err
	}
	opened, err := s.match.open(ctx, rank)
	if err != nil {
		return err
	}
	for _, c := range calls {
		f := flight{InFlight: c, signature: r.Signature(c.Terminal), source: clock.Source()}
		if f.source != None {
			if _, f.duration, err = clock.Time(c.Position); err != nil {
				return err
			}
		}
		if err := s.wait(&f, rank, opened); err != nil {
			return err
		}
		at.flights = append(at.flights, f)
	}
	return nil
}

// wait finds out for what a call of a rank waits.
func (s *stop) wait(f *flight, rank int, r *matchRank) error {
	var perhaps []stopWait
	ends := false // one of the operations may be complete
	add := func(o *semantics.Operation, position uint64, message int) error {
		w, sure, err := s.message(o, rank, r, position, message)
		switch {
		case err != nil:
		case w == nil:
			ends = true
		case sure:
			f.waits = append(f.waits, *w)
		default:
			perhaps = append(perhaps, *w)
		}
		return err
	}
	switch o := f.Operation; {
	case f.Probed != nil:
		if w := s.sought(f.Probed, rank); w != nil {
			f.waits = append(f.waits, *w)
		}
	case f.Role.Ends:
		f.waits = append(f.waits,
			stopWait{HangWait: HangWait{For: ForMembers, Communicator: s.match.model.World(),
				Tag: semantics.NoTag, Instance: atEnd}})
	case o == nil:
	case o.IsCollective() && !f.Role.Nonblocking:
		f.waits = append(f.waits, s.members(o, f.Role, rank, f.Position))
	default:
		for i := range o.Messages {
			if !o.Messages[i].Blocking {
				continue
			}
			if err := add(o, f.Position, i); err != nil {
				return err
			}
		}
	}
	for _, id := range f.Requests {
		began, _, ok := r.rank.Begun(id, f.Position)
		if !ok {
			ends = true
			continue
		}
		terminal := r.rank.Grammar().At(began)
		o := r.rank.At(began, terminal)
		switch {
		case o == nil:
			ends = true
		case o.IsCollective():
			f.waits = append(f.waits, s.members(o, spec.RoleOf(functionOf(r.rank, terminal)), rank, began))
		default:
			for i := range o.Messages {
				if of, ok := o.Request(i); !ok || of != id {
					continue
				}
				if err := add(o, began, i); err != nil {
					return err
				}
			}
		}
	}
	if f.Any || len(f.waits) == 0 {
		f.waits = append(f.waits, perhaps...)
	}
	if f.Any && ends {
		f.waits = nil
	}
	return nil
}

// message returns what an operation of a rank waits for because of one of its messages, nil
// if it has an other end, and whether the operation surely waits.
func (s *stop) message(o *semantics.Operation, rank int, r *matchRank, position uint64, i int) (*stopWait,
	bool, error) {
	m := &o.Messages[i]
	if m.Communicator == nil || m.Peer == semantics.NoPeer || m.Mode == "buffered" {
		return nil, false, nil
	}
	if m.Direction == semantics.Receive && m.Peer == semantics.AnySource || !s.match.tells(channelOf(keyOf(m), rank)) {
		if !s.isLeft(m, rank) {
			return nil, false, nil
		}
	} else if p, err := s.match.partner(r, rank, position, o, i); err != nil || p.Rank >= 0 {
		return nil, false, err
	}
	if m.Direction == semantics.Receive {
		return s.sought(m, rank), true, nil
	}
	w := &stopWait{HangWait: HangWait{For: ForReceiver, Communicator: m.Communicator, Tag: m.Tag},
		ranks: s.await(rankenc.SetOf(m.Peer))}
	sure := m.Mode == "synchronous" || m.Blocking && len(o.Messages) == 1
	return w, sure, nil
}

// isLeft reports whether messages of a kind that a rank sends or receives are not matched.
func (s *stop) isLeft(m *semantics.Message, rank int) bool {
	c := channelOf(keyOf(m), rank)
	return slices.ContainsFunc(s.left[rank], func(u *Unmatched) bool {
		return u.Direction == m.Direction && (u.Channel == c || slices.Contains(u.Among, c))
	})
}

// sought returns what a rank waits for that receives a message, or looks for one; nil if it
// was sent.
func (s *stop) sought(m *semantics.Message, rank int) *stopWait {
	if m.Communicator == nil || m.Peer == semantics.NoPeer {
		return nil
	}
	w := &stopWait{HangWait: HangWait{For: ForMessage, Communicator: m.Communicator, Tag: m.Tag}}
	if m.Peer == semantics.AnySource {
		w.Any, w.ranks = true, s.peers(m.Communicator, rank)
	} else {
		w.ranks = s.await(rankenc.SetOf(m.Peer))
	}
	for _, c := range s.sent[rank] {
		switch {
		case !w.ranks.ranks.Contains(c.Source):
		case c.Communicator == m.Communicator && (m.Tag < 0 || c.Tag == m.Tag):
			return nil
		default:
			w.Sent = append(w.Sent, c)
		}
	}
	return w
}

// peers returns the ranks that a rank may receive from on a communicator. They are one for
// all that may receive from the same.
func (s *stop) peers(c *semantics.Communicator, rank int) *awaited {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	groups, known := s.groups[c]
	if !known {
		if c.IsInter() {
			for i := range groups {
				groups[i] = s.await(rankenc.SetOf(c.Members(i)...))
			}
		} else {
			groups[0] = s.await(c.RankSet())
		}
		s.groups[c] = groups
	}
	if c.IsInter() && groups[0].ranks.Contains(rank) {
		return groups[1]
	}
	return groups[0]
}

// members returns the wait of a rank for the other members of a communicator to make the call
// of the collective operation that it began at a position. Which they are is found later.
func (s *stop) members(o *semantics.Operation, p *spec.Role, rank int, position uint64) stopWait {
	w := stopWait{HangWait: HangWait{For: ForMembers, Communicator: o.Communicator, Tag: semantics.NoTag}, root: o.Root}
	switch {
	case p.Gives.Of == "root" && o.Root != rank && o.Root >= 0:
		w.needed = theRoot
	case p.Gives.Of == "root", p.Gets.Of == "root" && o.Root != rank, p.Data == "Scan", p.Data == "Exscan",
		strings.HasPrefix(p.Data, "Neighbor_"):
		w.needed = nobody
	}
	if _, k, ok, err := s.match.Instance(rank, position); err == nil && ok {
		w.Instance = k
	}
	return w
}

// atEnd is the number of the operation MPI_Finalize on MPI_COMM_WORLD.
const atEnd = math.MaxUint64

// find finds the members of communicators that others wait for: those that have not made the
// call of an operation, or have made another call in its place.
func (s *stop) find(ctx context.Context) error {
	type key struct {
		of    *semantics.Communicator
		k     uint64
		other bool
	}
	missing := make(map[key]*awaited)
	for i := range s.of {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for j := range s.of[i].flights {
			for k := range s.of[i].flights[j].waits {
				w := &s.of[i].flights[j].waits[k]
				if w.For != ForMembers {
					continue
				}
				of := key{w.Communicator, w.Instance, s.differs(w.Communicator, w.Instance, s.ranks[i])}
				if _, ok := missing[of]; !ok {
					missing[of] = s.await(s.missing(of.of, of.k, of.other))
				}
				s.choose(w, missing[of])
			}
		}
	}
	for i := range s.of {
		for j := range s.of[i].flights {
			f := &s.of[i].flights[j]
			f.waits = slices.DeleteFunc(f.waits, func(w stopWait) bool { return w.ranks.ranks.Len() == 0 })
		}
	}
	return nil
}

// choose has a wait be for those of the members that have not made the call that must have
// for it to end, or perhaps for all of these.
func (s *stop) choose(w *stopWait, missing *awaited) {
	w.ranks = missing
	switch w.needed {
	case theRoot:
		if w.Perhaps = !missing.ranks.Contains(w.root); !w.Perhaps {
			w.ranks = s.await(rankenc.SetOf(w.root))
		}
	case nobody:
		w.Perhaps = true
	}
}

// differs reports whether a member of a communicator has made another call than most in the
// place of a collective operation, or before it.
func (s *stop) differs(c *semantics.Communicator, k uint64, rank int) bool {
	n := s.calls[c]
	return n != nil && slices.ContainsFunc(n.Different, func(d Disagreement) bool {
		return d.Rank == rank && d.Count > k && d.Instance <= k
	})
}

// missing returns the members of a communicator that have not made the call of an operation
// that most others have made, or of another one.
func (s *stop) missing(c *semantics.Communicator, k uint64, other bool) rankenc.Set {
	if k == atEnd {
		return s.before()
	}
	n := s.calls[c]
	if n == nil {
		return rankenc.Set{}
	}
	var different, list []int
	for _, d := range n.Different {
		different = append(different, d.Rank)
		if d.Count <= k || d.Instance <= k && !other {
			list = append(list, d.Rank)
		}
	}
	missing := n.Absent.Union(rankenc.SetOf(list...))
	if n.Count <= k || other {
		missing = missing.Union(n.Members.Difference(rankenc.SetOf(different...)))
	}
	return missing
}

// before returns the ranks that have not called MPI_Finalize.
func (s *stop) before() rankenc.Set {
	var list rankenc.SetBuilder
	for i, rank := range s.ranks {
		if at := &s.of[i]; !at.ended && !slices.ContainsFunc(at.flights, func(f flight) bool { return f.Role.Ends }) {
			list.Add(rank)
		}
	}
	return list.Finish()
}

// release finds the ranks that can go on.
func (s *stop) release(ctx context.Context) error {
	for i := range s.of {
		at := &s.of[i]
		at.released = !at.ended && len(at.flights) < max(at.threads, 1)
	}
	for changed := true; changed; {
		changed = false
		for i := range 2 * len(s.of) { // forwards, then backwards: most wait for those beside them
			if i%checkEvery == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			changed = s.try(min(i, 2*len(s.of)-1-i)) || changed
		}
	}
	return nil
}

// try releases a rank if one of its calls can end, and reports whether it did.
func (s *stop) try(i int) bool {
	at := &s.of[i]
	if at.released || at.ended {
		return false
	}
	at.released = slices.ContainsFunc(at.flights, s.canEnd)
	return at.released
}

func (s *stop) canEnd(f flight) bool {
	if f.Any {
		return len(f.waits) == 0 || slices.ContainsFunc(f.waits, s.satisfied)
	}
	return !slices.ContainsFunc(f.waits, func(w stopWait) bool { return !s.satisfied(w) })
}

// satisfied reports whether a wait can end. A rank without calls goes on, or may: nothing is known of it.
func (s *stop) satisfied(w stopWait) bool {
	if w.Perhaps {
		return true
	}
	goesOn := func(i int32) bool { return s.of[i].released }
	if w.Any {
		return len(w.ranks.calling) < w.ranks.ranks.Len() || slices.ContainsFunc(w.ranks.calling, goesOn)
	}
	return !slices.ContainsFunc(w.ranks.calling, func(i int32) bool { return !goesOn(i) })
}
