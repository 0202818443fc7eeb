package symbolic

import "fmt"

// A resolution is the state of [Resolver.Resolve]. Groups are resolved from the
// declared ones on: when the members of a group are known, their creations on it
// are put side by side, the first with the first and so on.
type resolution struct {
	calls  []call
	ranks  []view
	groups []*Group
	errs   []error
	queue  []work

	// For intercommunicators; see half.
	halves  []*half
	waiting map[int32][]*half // by the call that made the peer communicator
	ready   map[int32]*half   // by the leader's call
	open    map[interKey]*half
	fronts  []int32 // ranks whose front may have moved
}

// work is a group whose creations are to be resolved.
type work struct {
	group  *Group
	calls  []int32 // that made it, by place
	places []int32 // of the callers; nil if they are all members
}

// A place is a rank in a group, or in the remote group plus the size of the group.
func (w *work) place(i int) int32 {
	if w.places == nil {
		return int32(i)
	}
	return w.places[i]
}

// size returns the number of places.
func (g *Group) size() int { return len(g.Members) + len(g.Remote) }

// A creation is a call of all members of a group.
type creation struct {
	parent  *Group
	ordinal int
	kind    Kind
	calls   []int32
	places  []int32 // of the callers, ascending
}

// add adds a group, and queues it if anything was created on it.
func (s *resolution) add(w work) {
	s.groups = append(s.groups, w.group)
	for _, n := range w.calls {
		if s.calls[n].child != none {
			s.queue = append(s.queue, w)
			return
		}
	}
}

func (s *resolution) run() {
	for next := 0; ; {
		switch {
		case next < len(s.queue):
			w := s.queue[next]
			s.queue[next] = work{}
			next++
			s.collectives(w)
			s.createGroups(w)
		case len(s.fronts) > 0:
			rank := s.fronts[len(s.fronts)-1]
			s.fronts = s.fronts[:len(s.fronts)-1]
			s.tryFront(rank)
		case !s.pairRest():
			return
		}
	}
}

// collectives resolves all creations on a group that all of its members call.
func (s *resolution) collectives(w work) {
	var (
		cursors = make([]int32, len(w.calls)) // next call of each
		active  []int                         // indices of those that have one
	)
	for i, n := range w.calls {
		if cursors[i] = s.collective(s.calls[n].child); cursors[i] != none {
			active = append(active, i)
		}
	}
	for ordinal := 0; len(active) > 0; ordinal++ {
		c := creation{parent: w.group, ordinal: ordinal, calls: make([]int32, len(active)), places: make([]int32, len(active))}
		left := active[:0]
		for k, i := range active {
			n := cursors[i]
			c.calls[k], c.places[k] = n, w.place(i)
			if cursors[i] = s.collective(s.calls[n].sibling); cursors[i] != none {
				left = append(left, i)
			}
		}
		active = left
		s.resolve(&c)
	}
}

// collective returns the first of call n and its siblings that all members of the
// parent call.
func (s *resolution) collective(n int32) int32 {
	for n != none && s.calls[n].kind == CreateGroup {
		n = s.calls[n].sibling
	}
	return n
}

// resolve resolves a creation that all members of a group should have called.
func (s *resolution) resolve(c *creation) {
	first := &s.calls[c.calls[0]]
	c.kind = first.kind
	for _, n := range c.calls {
		if k := s.calls[n].kind; k != c.kind {
			s.fail(c, c.calls, s.calls[n].rank, fmt.Sprintf("call %d is %v, that of rank %d is not", s.calls[n].position, k, first.rank))
			return
		}
	}
	if len(c.calls) < c.parent.size() {
		missing := 0
		for missing < len(c.places) && int(c.places[missing]) == missing {
			missing++
		}
		rank := c.parent.at(missing)
		reason := fmt.Sprintf("no such call, but rank %d has one, call %d", first.rank, first.position)
		if c.kind != Duplicate {
			s.fail(c, c.calls, int32(rank), reason)
			return
		}
		s.report(c, int32(rank), reason)
	}
	switch c.kind {
	case Duplicate:
		s.duplicate(c)
	case Topology, Split, SplitType:
		s.partition(c)
	case Create:
		if s.createMembers(c) {
			s.partition(c)
		}
	case IntercommCreate:
		s.intercommCreate(c)
	case IntercommMerge:
		s.intercommMerge(c)
	default:
		s.fail(c, c.calls, first.rank, "no such kind")
	}
}

// at returns the rank in the run of a member by its place: those of the remote
// group follow the others.
func (g *Group) at(place int) int {
	if n := len(g.Members); place >= n {
		return g.Remote[place-n]
	}
	return g.Members[place]
}

// report notes an error in a creation.
func (s *resolution) report(c *creation, rank int32, reason string) {
	s.errs = append(s.errs, &GroupError{Rank: int(rank), Kind: c.kind, Parent: c.parent, Ordinal: c.ordinal, Reason: reason})
}

// fail notes an error that keeps calls of a creation from being resolved.
func (s *resolution) fail(c *creation, calls []int32, rank int32, reason string) {
	s.report(c, rank, reason)
	for _, n := range calls {
		s.calls[n].failed = true
		if s.calls[n].kind == IntercommCreate {
			s.fronts = append(s.fronts, s.calls[n].rank)
		}
	}
}

// assign says which group a call made.
func (s *resolution) assign(n int32, g *Group, rank int, remote bool) {
	c := &s.calls[n]
	c.group, c.groupRank, c.remote = g, int32(rank), remote
	if c.kind == IntercommCreate {
		s.fronts = append(s.fronts, c.rank)
	}
	if h := s.waiting[n]; h != nil {
		delete(s.waiting, n)
		for _, h := range h {
			s.peerKnown(h)
		}
	}
}

// fits checks what was recorded of the result of call n, and its class.
func (s *resolution) fits(n int32, class string, rank, size int) bool {
	c := &s.calls[n]
	return c.class == class && class != "" && (c.size == 0 || int(c.want) == rank && (c.size < 0 || int(c.size) == size))
}

// misfit says what call n recorded where another rank and size were expected.
func (s *resolution) misfit(n int32, rank, size int) string {
	c := &s.calls[n]
	switch {
	case c.class == "":
		return fmt.Sprintf("call %d has no result", c.position)
	case c.size < 0 && int(c.want) != rank:
		return fmt.Sprintf("call %d makes it rank %d, not %d of %d", c.position, c.want, rank, size)
	case c.size > 0 && (int(c.want) != rank || int(c.size) != size):
		return fmt.Sprintf("call %d makes it rank %d of %d, not %d of %d", c.position, c.want, c.size, rank, size)
	default:
		return fmt.Sprintf("call %d makes a %s", c.position, c.class)
	}
}

// duplicate resolves a creation of an object with the members of the parent.
func (s *resolution) duplicate(c *creation) {
	g := &Group{
		Parent: c.parent, Kind: c.kind, Ordinal: c.ordinal, Class: s.calls[c.calls[0]].class,
		Members: c.parent.Members, Remote: c.parent.Remote,
	}
	role := func(i int) (rank, size int, remote bool) {
		if rank = int(c.places[i]); rank < len(g.Members) {
			return rank, len(g.Members), false
		}
		return rank - len(g.Members), len(g.Remote), true
	}
	for i, n := range c.calls {
		if rank, size, _ := role(i); !s.fits(n, g.Class, rank, size) {
			s.fail(c, c.calls, s.calls[n].rank, s.misfit(n, rank, size))
			return
		}
	}
	for i, n := range c.calls {
		rank, _, remote := role(i)
		s.assign(n, g, rank, remote)
	}
	w := work{group: g, calls: c.calls}
	if len(c.calls) < g.size() {
		w.places = c.places
	}
	s.add(w)
}
