package replay

import (
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// A comm is a communicator, and the collective operations on it that not all members have
// entered, in their order.
type comm struct {
	of     *semantics.Communicator
	world  bool
	member map[int]int32 // by rank; nil for the world
	open   []*instance
	begun  uint64    // operations before those
	counts []*uint64 // of operations that ranks have entered
	spare  []*instance

	lacks  bool // in a recording: members that are not in it
	broken bool // the same: operations may not be the same
}

// A collective is an operation of a rank on a communicator.
type collective struct {
	comm           *comm
	count          *uint64 // operations that the rank has entered on the communicator
	member         int32
	slot           int32
	role           *spec.Role
	root           int32 // member; −1 for none
	aside          bool  // it gives nothing and gets nothing: another of its group is the root, on an intercommunicator
	rank           *rank
	sent, received int64

	// In a recording, of an operation of neighbours: the members that it gets data from; unsure if these are not known.
	needs  []int32
	unsure bool
}

// An instance is one collective operation, as far as members have entered it.
type instance struct {
	Collective // without slices if ranks are missing, so that not all can enter
	arrivals   []arrival
	waiting    []int // of arrivals, that have not left
	going      []int // the same, that leave
	mismatch   bool  // members call different operations

	there     [2]int   // members of each group that have entered
	lastCause [2]cause // that the last of them entered
	scan      *scan    // in a recording, of a prefix reduction
	entered   []cause  // the same, of an operation of neighbours: by member, that it entered
	rootCause cause    // the same, the root
}

// An arrival is a member that has entered an operation.
type arrival struct {
	*collective
	request *request
	left    bool
	cause   cause // that it entered
}

// collective returns an operation as it is executed, false if it is not known on what.
func (r *rank) collective(o *semantics.Operation) (collective, bool) {
	if o.Communicator == nil {
		return collective{}, false
	}
	c := r.engine.commOf(o)
	made := collective{comm: c, slot: -1, role: o.Role, root: -1, rank: r, sent: o.Sent, received: o.Received}
	var ok bool
	if made.member, ok = c.memberOf(r.number); !ok {
		return made, false
	}
	if o.Root >= 0 {
		if root, ok := c.memberOf(o.Root); ok {
			made.root = root
		}
	} else {
		made.aside = c.of.IsInter() && isRooted(o.Role)
	}
	if r.engine.recording != nil && isOfNeighbours(o.Role) {
		made.setNeeds(r, o)
	}
	if id, ok := o.Completion(); ok {
		made.slot = r.slot(slotKey{kind: requestSlot, id: id})
	}
	made.count = r.counts[c]
	if made.count == nil {
		made.count = new(uint64)
		r.counts[c] = made.count
		c.counts = append(c.counts, made.count)
	}
	return made, true
}

// isOfNeighbours reports whether members of an operation exchange data with their neighbours in a topology.
func isOfNeighbours(p *spec.Role) bool { return strings.HasPrefix(p.Data, "Neighbor_") }

// setNeeds sets which members the rank gets data from.
func (c *collective) setNeeds(r *rank, o *semantics.Operation) {
	sources, ok := r.calls.Sources(o)
	for _, rank := range sources {
		member, known := c.comm.memberOf(rank)
		ok = ok && known
		c.needs = append(c.needs, member)
	}
	if c.unsure = !ok; c.unsure {
		c.needs = nil
	}
}

// A commKey is what operations match each other in their order: those on a communicator. If not all of the
// order is known, it is those of one kind, and with one root.
type commKey struct {
	communicator *semantics.Communicator
	role         *spec.Role
	root         int
}

func (e *engine) commOf(o *semantics.Operation) *comm {
	of := o.Communicator
	k := commKey{communicator: of}
	if e.drawn {
		if k.role = o.Role; !of.IsInter() {
			k.root = o.Root
		}
	}
	c := e.comms[k]
	if c != nil {
		return c
	}
	c = &comm{of: of, world: of == e.model.World()}
	e.comms[k] = c
	e.commList = append(e.commList, c)
	if c.lacks = len(e.ranks) < e.model.Trace().Ranks() && e.lacks(of); c.world {
		return c
	}
	c.member = make(map[int]int32)
	groups := [][]int{of.Members(0)}
	if of.IsInter() {
		groups = append(groups, of.Members(1))
	}
	for _, members := range groups {
		for _, rank := range members {
			c.member[rank] = int32(len(c.member))
		}
	}
	return c
}

func (c *comm) memberOf(rank int) (int32, bool) {
	if c.world {
		return int32(rank), rank >= 0 && rank < c.of.Size()
	}
	n, ok := c.member[rank]
	return n, ok
}

// enter has the rank of a strand enter a collective operation.
func (s *strand) enter(c *collective) {
	r := &s.own
	if c.slot >= 0 {
		if r = s.rank.slots[c.slot].last; r == nil {
			return
		}
	}
	s.enterAs(c, r)
}

// enterAs has the rank of a strand enter a collective operation as a part of a request.
func (s *strand) enterAs(c *collective, r *request) {
	e := s.rank.engine
	if e.recording != nil && c.comm.lacks {
		e.outside++
		return
	}
	if c.unsure {
		e.unknown++
	}
	r.left++
	at := s.busy
	if c.role.On == "win" {
		at = max(at, s.rank.accessed)
	}
	m, k := c.comm, *c.count-c.comm.begun
	*c.count++
	for uint64(len(m.open)) <= k {
		m.open = append(m.open, s.rank.engine.instance(m))
	}
	n := m.open[k]
	n.arrivals = append(n.arrivals, arrival{collective: c, request: r, cause: s.pathTo()})
	n.mismatch = n.mismatch || !n.fits()
	if n.Enter != nil && !n.mismatch {
		s.rank.engine.entered(n, c, at)
	}
	if a := &n.arrivals[len(n.arrivals)-1]; c.aside {
		a.left = true
		s.rank.engine.part(r, at, a.cause)
	}
	s.ahead = s.ahead || len(m.open) >= patience
	for len(m.open) > 0 && len(m.open[0].arrivals) == m.of.Size() && !m.open[0].mismatch {
		s.rank.engine.collectives++
		m.spare = append(m.spare, m.open[0])
		m.open = m.open[:copy(m.open, m.open[1:])]
		m.begun++
	}
}

// instance returns a new operation on a communicator.
func (e *engine) instance(c *comm) *instance {
	if last := len(c.spare) - 1; last >= 0 {
		n := c.spare[last]
		c.spare = c.spare[:last]
		n.arrivals, n.waiting = n.arrivals[:0], n.waiting[:0]
		n.there, n.last, n.lastCause, n.rootCause = [2]int{}, [2]Time{}, [2]cause{}, cause{}
		return n
	}
	n := new(instance)
	if size := c.of.Size(); size <= len(e.ranks) {
		n.Communicator = c.of
		n.Sent, n.Received, n.Enter, n.Leave = make([]int64, size), make([]int64, size), make([]Time, size),
			make([]Time, size)
	}
	e.opened()
	return n
}

// entered has those members leave that can, as another has entered.
func (e *engine) entered(n *instance, c *collective, at Time) {
	if len(n.arrivals) == 1 {
		n.Role, n.Root = c.role, -1
		for i := range n.Enter {
			n.Enter[i] = -1
		}
	}
	k, rootWasThere := int(c.member), n.rootThere()
	n.Sent[k], n.Received[k], n.Enter[k], n.Leave[k] = c.sent, c.received, at, at
	cause := n.arrivals[len(n.arrivals)-1].cause
	if n.Root = max(n.Root, int(c.root)); n.Root == k {
		n.rootCause = cause
	}
	g := n.group(k)
	n.there[g]++
	if at > n.last[g] || n.lastCause[g].path == nil {
		n.last[g], n.lastCause[g] = max(n.last[g], at), cause
	}
	if !c.aside {
		n.waiting = append(n.waiting, len(n.arrivals)-1)
	}
	from := max(0, len(n.waiting)-1)
	if e.recording != nil && (c.role.Data == "Scan" || c.role.Data == "Exscan") {
		n.enterScan(k, cause)
		from = 0
	} else {
		n.scan = nil
	}
	if e.recording != nil && isOfNeighbours(c.role) {
		n.enterNeighbors(k, cause)
		from = 0
	}
	if n.isThere(g) || n.rootThere() && !rootWasThere {
		from = 0
	}
	e.leave(n, from)
}

// enterNeighbors takes note of a member of an operation of neighbours.
func (n *instance) enterNeighbors(member int, at cause) {
	if len(n.arrivals) == 1 {
		n.entered = make([]cause, len(n.Enter))
	}
	n.entered[member] = at
}

func (n *instance) rootThere() bool { return n.Root >= 0 && n.Enter[n.Root] >= 0 }

// isThere reports whether all members of a group have entered.
func (n *instance) isThere(group int) bool { return n.there[group] == n.size(group) }

// can reports whether a member can leave.
func (n *instance) can(a *arrival) bool {
	if len(n.arrivals) == len(n.Enter) {
		return true
	}
	switch k := int(a.member); n.needOf(k) {
	case needsNone:
		return (n.scan == nil || n.scan.count > k) && !slices.ContainsFunc(a.needs, func(m int32) bool {
			return n.Enter[m] < 0
		})
	case needsRoot:
		return n.rootThere()
	case needsOthers:
		return n.isThere(1 - n.group(k))
	}
	return false
}

// leave has those members leave that can, of the waiting ones from one on.
func (e *engine) leave(n *instance, from int) {
	n.Leaving, n.going = n.Leaving[:0], n.going[:0]
	left := n.waiting[:from]
	for _, i := range n.waiting[from:] {
		if a := &n.arrivals[i]; n.can(a) {
			n.Leaving, n.going = append(n.Leaving, int(a.member)), append(n.going, i)
		} else {
			left = append(left, i)
		}
	}
	if n.waiting = left; len(n.going) == 0 {
		return
	}
	e.machine.Collective(&n.Collective)
	for _, i := range n.going {
		a := &n.arrivals[i]
		a.left = true
		done, by := max(n.Leave[a.member], n.earliest(int(a.member))), n.causeOf(a)
		if e.recording != nil {
			by.kind = n.kindOf(a)
		}
		if n.scan != nil {
			done = max(done, n.scan.done[a.member])
		}
		for _, m := range a.needs {
			done = max(done, n.Enter[m])
		}
		e.part(a.request, done, by)
	}
}

// causeOf returns what the end of an operation depends on for a member: the last one to enter
// of those that the member needs.
func (n *instance) causeOf(a *arrival) cause {
	k := int(a.member)
	switch n.needOf(k) {
	case needsAll:
		if n.last[1] > n.last[0] {
			return n.lastCause[1]
		}
		return n.lastCause[0]
	case needsOthers:
		if other := 1 - n.group(k); n.last[other] > n.Enter[k] {
			return n.lastCause[other]
		}
	case needsRoot:
		if n.Root >= 0 && n.Enter[n.Root] > n.Enter[k] {
			return n.rootCause
		}
	case needsNone:
		if n.scan != nil && n.scan.done[k] > n.Enter[k] {
			return n.scan.needed[k]
		}
		by, last := a.cause, n.Enter[k]
		for _, m := range a.needs {
			if n.Enter[m] > last {
				by, last = n.entered[m], n.Enter[m]
			}
		}
		return by
	}
	return a.cause
}

// alike reports whether calls are the same collective operation. If the order of calls is drawn, they may
// have different roots on an intercommunicator.
func alike(a, b *collective) bool {
	return a.role == b.role && (a.root == b.root || a.root < 0 || b.root < 0 || a.rank.engine.drawn)
}

// fits reports whether the last call to arrive is the operation of those before.
func (n *instance) fits() bool {
	first, last := n.arrivals[0].collective, n.arrivals[len(n.arrivals)-1].collective
	if !alike(first, last) {
		return false
	}
	// Not all members of an intercommunicator know the root: the first one may not.
	return len(n.arrivals) < 2 || n.Enter == nil || last.root < 0 || n.Root < 0 || n.Root == int(last.root) ||
		last.rank.engine.drawn
}
