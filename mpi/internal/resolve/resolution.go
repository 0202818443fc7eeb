package resolve

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/mpi/spec"
)

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
	doors   doors
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
	kind    spec.Creation
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
		case !s.pairRest() && !s.openDoors():
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
		c := creation{parent: w.group, ordinal: ordinal, calls: make([]int32, len(active)),
			places: make([]int32, len(active))}
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
	for n != none && s.calls[n].kind == spec.CreateGroup {
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
			s.fail(c, c.calls, s.calls[n].rank, fmt.Sprintf("call %d is %v, that of rank %d is not",
				s.calls[n].position, k, first.rank))
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
		if c.kind != spec.Duplicate {
			s.fail(c, c.calls, int32(rank), reason)
			return
		}
		s.report(c, int32(rank), reason)
	}
	switch c.kind {
	case spec.Duplicate:
		s.duplicate(c)
	case spec.Topology, spec.Split, spec.SplitType:
		s.partition(c)
	case spec.Create:
		if s.createMembers(c) {
			s.partition(c)
		}
	case spec.IntercommCreate:
		s.intercommCreate(c)
	case spec.IntercommMerge:
		s.intercommMerge(c)
	case spec.Spawn:
		s.spawn(c)
	case spec.Accept, spec.Connect:
		s.knock(c)
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
	s.errs = append(s.errs, &GroupError{Rank: int(rank), Kind: c.kind, Parent: c.parent, Ordinal: c.ordinal,
		Reason: reason})
}

// fail notes an error that keeps calls of a creation from being resolved.
func (s *resolution) fail(c *creation, calls []int32, rank int32, reason string) {
	s.report(c, rank, reason)
	for _, n := range calls {
		s.calls[n].failed = true
		if s.calls[n].kind == spec.IntercommCreate {
			s.fronts = append(s.fronts, s.calls[n].rank)
		}
	}
}

// assign says which group a call made.
func (s *resolution) assign(n int32, g *Group, rank int, remote bool) {
	c := &s.calls[n]
	c.group, c.groupRank, c.remote = g, int32(rank), remote
	if c.kind == spec.IntercommCreate {
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
	return c.class == class && class != "" && (c.size == 0 ||
		int(c.want) == rank && (c.size < 0 || int(c.size) == size))
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

// A caller is a call of kind CreateGroup.
type caller struct {
	call  int32
	place int32
	nth   int32 // of the caller's with the same members and tag
}

// A meeting is all calls with the same members and tag.
type meeting struct {
	members []int // ranks in the parent
	callers []caller
}

// createGroups resolves all creations on a group that only those call who will be
// members. Those with the same members and tag meet in the order of each caller.
func (s *resolution) createGroups(w work) {
	var (
		meetings []*meeting
		known    = make(map[string]*meeting)
		keys     = make(map[*int][]byte) // of members that are shared
		key      []byte
	)
	for i, n := range w.calls {
		place := w.place(i)
		ordinal := int64(0)
		for n = s.calls[n].child; n != none; n = s.calls[n].sibling {
			c := &s.calls[n]
			if c.kind != spec.CreateGroup {
				continue
			}
			c.key = ordinal
			ordinal++
			if len(c.more.members) == 0 || c.class == "" || w.group.Remote != nil {
				s.fail(&creation{parent: w.group, kind: c.kind, ordinal: int(c.key)}, []int32{n}, c.rank,
					fmt.Sprintf("call %d has no members or no result, or is on an intercommunicator", c.position))
				continue
			}
			key = appendKey(key[:0], c.more, keys)
			m := known[string(key)]
			if m == nil {
				m = &meeting{members: c.more.members}
				known[string(key)] = m
				meetings = append(meetings, m)
			}
			nth := int32(0)
			if k := len(m.callers); k > 0 && m.callers[k-1].place == place {
				nth = m.callers[k-1].nth + 1
			}
			m.callers = append(m.callers, caller{n, place, nth})
		}
	}
	for _, m := range meetings {
		s.meet(w, m)
	}
}

// appendKey appends what tells members and a tag from others.
func appendKey(dst []byte, m *more, keys map[*int][]byte) []byte {
	dst = binary.AppendVarint(dst, m.tag)
	dst = binary.AppendUvarint(dst, uint64(len(m.members)))
	list, ok := keys[&m.members[0]]
	if !ok || len(list) != 8*len(m.members) {
		list = nil
		for _, rank := range m.members {
			list = binary.LittleEndian.AppendUint64(list, uint64(rank))
		}
		keys[&m.members[0]] = list
	}
	return append(dst, list...)
}

// meet resolves all creations with the same members and tag.
func (s *resolution) meet(w work, m *meeting) {
	sorted := slices.Clone(m.members)
	slices.Sort(sorted)
	slices.SortStableFunc(m.callers, func(a, b caller) int { return cmp.Compare(a.nth, b.nth) })
	for len(m.callers) > 0 {
		n := 1
		for n < len(m.callers) && m.callers[n].nth == m.callers[0].nth {
			n++
		}
		s.together(w, m.members, sorted, m.callers[:n])
		m.callers = m.callers[n:]
	}
}

// together resolves one creation by callers who all named the given members.
func (s *resolution) together(w work, members, sorted []int, callers []caller) {
	first := &s.calls[callers[0].call]
	calls := make([]int32, len(callers))
	for i, c := range callers {
		calls[i] = c.call
	}
	c := &creation{parent: w.group, kind: spec.CreateGroup, ordinal: int(first.key)}
	for i, place := range sorted {
		switch {
		case place < 0 || place >= len(w.group.Members) || i > 0 && place == sorted[i-1]:
			s.fail(c, calls, first.rank, fmt.Sprintf("call %d names rank %d of %d, or twice", first.position,
				place, len(w.group.Members)))
			return
		case i == len(callers) || place < int(callers[i].place):
			s.fail(c, calls, int32(w.group.Members[place]),
				fmt.Sprintf("no such call, but rank %d has one, call %d", first.rank, first.position))
			return
		case place > int(callers[i].place):
			call := &s.calls[callers[i].call]
			s.fail(c, calls, call.rank, fmt.Sprintf("call %d names members that the caller is not among",
				call.position))
			return
		}
	}
	if len(callers) > len(sorted) {
		call := &s.calls[callers[len(sorted)].call]
		s.fail(c, calls, call.rank, fmt.Sprintf("call %d names members that the caller is not among", call.position))
		return
	}
	at := make(map[int]int32, len(callers)) // call of each place
	for _, c := range callers {
		at[int(c.place)] = c.call
	}
	g := &Group{Parent: w.group, Kind: spec.CreateGroup, Class: first.class, Color: int64(members[0]),
		Ordinal: int(s.calls[at[members[0]]].key)}
	c.ordinal = g.Ordinal
	for i, place := range members {
		n := at[place]
		calls[i] = n
		if !s.fits(n, g.Class, i, len(members)) {
			s.fail(c, calls, s.calls[n].rank, s.misfit(n, i, len(members)))
			return
		}
		g.Members = append(g.Members, int(s.calls[n].rank))
	}
	for i, n := range calls {
		s.assign(n, g, i, false)
	}
	s.add(work{group: g, calls: calls})
}

// A chosen is a caller that got a result from a creation.
type chosen struct {
	call   int32
	place  int32
	remote bool
	color  int64
	key    int64
}

// partition resolves a creation that makes an object for each color.
func (s *resolution) partition(c *creation) {
	var list []chosen
	recorded := c.kind != spec.Split // where keys do not decide
	for i, n := range c.calls {
		call := &s.calls[n]
		if call.class == "" {
			continue
		}
		recorded = recorded && call.size != 0
		list = append(list, chosen{n, c.places[i], int(c.places[i]) >= len(c.parent.Members), call.color, call.key})
	}
	for i := range list {
		switch {
		case recorded:
			list[i].key = int64(s.calls[list[i].call].want)
		case c.kind == spec.Topology:
			list[i].key = 0
		}
		if c.kind == spec.Topology || c.kind == spec.Create && c.parent.Remote != nil {
			list[i].color = 0
		}
	}
	slices.SortFunc(list, func(a, b chosen) int {
		if a.color != b.color {
			return cmp.Compare(a.color, b.color)
		}
		if a.remote != b.remote {
			return cmp.Compare(a.place, b.place)
		}
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.place, b.place))
	})
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].color == list[0].color {
			n++
		}
		s.one(c, list[:n])
		list = list[n:]
	}
}

// one makes a group of those with one color, in their order.
func (s *resolution) one(c *creation, list []chosen) {
	var (
		g = &Group{Parent: c.parent, Kind: c.kind, Ordinal: c.ordinal, Color: list[0].color,
			Class: s.calls[list[0].call].class}
		w     = work{group: g, calls: make([]int32, len(list))}
		first = len(list)
	)
	if i := slices.IndexFunc(list, func(m chosen) bool { return m.remote }); i >= 0 {
		first = i
	}
	for i, m := range list {
		w.calls[i] = m.call
	}
	if c.parent.Remote != nil && (first == 0 || first == len(list)) {
		s.fail(c, w.calls, s.calls[w.calls[0]].rank, fmt.Sprintf("color %d is in one group only", g.Color))
		return
	}
	for i, m := range list {
		rank, size := i, first
		if m.remote {
			rank, size = i-first, len(list)-first
		}
		if !s.fits(m.call, g.Class, rank, size) {
			s.fail(c, w.calls, s.calls[m.call].rank, s.misfit(m.call, rank, size))
			return
		}
	}
	g.Members = s.members(list[:first], c.parent.Members)
	if first < len(list) {
		g.Remote = s.members(list[first:], c.parent.Remote)
	}
	for i, m := range list {
		if m.remote {
			i -= first
		}
		s.assign(m.call, g, i, m.remote)
	}
	s.add(w)
}

// members returns the ranks in the run of callers: if they are all of a list, that.
func (s *resolution) members(list []chosen, all []int) []int {
	ranks := make([]int, len(list))
	for i, m := range list {
		ranks[i] = int(s.calls[m.call].rank)
	}
	if slices.Equal(ranks, all) {
		return all
	}
	return ranks
}

// createMembers makes of the members that callers named what partition asks for:
// the color, which is the first of them, and the recorded rank and size.
func (s *resolution) createMembers(c *creation) bool {
	type key struct {
		leader int
		remote bool
	}
	type named struct {
		members []int
		index   map[int]int // of each in members
	}
	groups := make(map[key]named)
	for i, n := range c.calls {
		call := &s.calls[n]
		if call.class == "" || len(call.more.members) == 0 {
			continue
		}
		place, members, remote := int(c.places[i]), call.more.members, false
		if first := len(c.parent.Members); place >= first {
			place, remote = place-first, true
		}
		k := key{members[0], remote}
		g, ok := groups[k]
		if !ok {
			g = named{members, make(map[int]int, len(members))}
			for i, m := range members {
				g.index[m] = i
			}
			groups[k] = g
		}
		rank, in := g.index[place]
		if !in || !same(members, g.members) {
			s.fail(c, c.calls, call.rank,
				fmt.Sprintf("call %d names other members than those of its group do", call.position))
			return false
		}
		if !s.fits(n, call.class, rank, len(members)) {
			s.fail(c, c.calls, call.rank, s.misfit(n, rank, len(members)))
			return false
		}
		call.color, call.want, call.size = int64(members[0]), int32(rank), int32(len(members))
	}
	return true
}

// same reports whether lists are equal, at once if they are one.
func same(a, b []int) bool {
	if len(a) > 0 && len(a) == len(b) && &a[0] == &b[0] {
		return true
	}
	return slices.Equal(a, b)
}
