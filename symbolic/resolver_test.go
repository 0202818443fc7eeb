package symbolic

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// world is what processes call the group of them all.
var world = Local{"comm", -1}

// An event is a creation or, if that is nil, a free.
type event struct {
	position uint64
	create   *Creation
	free     Local
}

// A truth is what a process means by a name between two positions.
type truth struct {
	rank        int
	local       Local
	from, until uint64
	object      *simulated
}

// A simulated is a group object of a simulated run.
type simulated struct {
	sides  [2][]int // ranks in the run; the second is empty but for intercommunicators
	locals map[int]Local
}

func (o *simulated) members() []int { return slices.Concat(o.sides[0], o.sides[1]) }

// A simulation plays a program whose processes create and free group objects.
type simulation struct {
	ranks   int
	pools   []map[string]*Pool // of each process, by class
	clocks  []uint64
	events  [][]event
	live    []*simulated
	truths  []*truth
	current map[Local]map[int]*truth
}

func newSimulation(ranks int) *simulation {
	s := &simulation{ranks: ranks, pools: make([]map[string]*Pool, ranks), clocks: make([]uint64, ranks), events: make([][]event, ranks), current: make(map[Local]map[int]*truth)}
	o := &simulated{locals: make(map[int]Local)}
	for rank := range ranks {
		s.pools[rank] = map[string]*Pool{"comm": {}, "win": {}}
		o.sides[0] = append(o.sides[0], rank)
		o.locals[rank] = world
		s.know(rank, world, o)
	}
	s.live = []*simulated{o}
	return s
}

// know begins a truth.
func (s *simulation) know(rank int, local Local, o *simulated) {
	t := &truth{rank, local, s.clocks[rank], open, o}
	s.truths = append(s.truths, t)
	if s.current[local] == nil {
		s.current[local] = make(map[int]*truth)
	}
	s.current[local][rank] = t
}

// emit records a creation by a process, which makes it a member of o unless that
// is nil.
func (s *simulation) emit(rank int, c Creation, class string, o *simulated) {
	s.clocks[rank] += 2
	if o != nil {
		c.Result = Local{class, s.pools[rank][class].Take()}
		o.locals[rank] = c.Result
		s.know(rank, c.Result, o)
	}
	s.events[rank] = append(s.events[rank], event{position: s.clocks[rank], create: &c})
}

// free records that all members free an object.
func (s *simulation) free(o *simulated) {
	for _, rank := range o.members() {
		s.clocks[rank] += 2
		local := o.locals[rank]
		s.current[local][rank].until = s.clocks[rank]
		s.pools[rank][local.Class].Release(local.ID)
		s.events[rank] = append(s.events[rank], event{position: s.clocks[rank], free: local})
	}
	s.live = slices.DeleteFunc(s.live, func(p *simulated) bool { return p == o })
}

// feed gives the events to a resolver, processes taking turns as drawn.
func (s *simulation) feed(t *rapid.T) *Resolver {
	var r Resolver
	r.Declare(world, "world", s.live0())
	next := make([]int, s.ranks)
	order := rapid.SliceOfN(rapid.IntRange(0, s.ranks-1), 0, 200).Draw(t, "order")
	step := func(rank int) bool {
		if next[rank] == len(s.events[rank]) {
			return false
		}
		e := s.events[rank][next[rank]]
		next[rank]++
		if e.create != nil {
			r.Create(rank, e.position, *e.create)
		} else {
			r.Free(rank, e.position, e.free)
		}
		return true
	}
	for _, rank := range order {
		step(rank)
	}
	for rank := range s.ranks {
		for step(rank) {
		}
	}
	return &r
}

func (s *simulation) live0() []int {
	all := make([]int, s.ranks)
	for i := range all {
		all[i] = i
	}
	return all
}

// play draws a program.
func play(t *rapid.T) *simulation {
	s := newSimulation(rapid.IntRange(1, 9).Draw(t, "ranks"))
	for range rapid.IntRange(0, 40).Draw(t, "steps") {
		o := rapid.SampledFrom(s.live).Draw(t, "parent")
		recorded := rapid.Bool().Draw(t, "recorded")
		kinds := []Kind{0, Duplicate, Topology, Split, SplitType, Create, CreateGroup, IntercommCreate, IntercommCreate, IntercommCreate}
		if len(o.sides[1]) > 0 {
			kinds = []Kind{0, Duplicate, Split, SplitType, Create, Create, IntercommMerge, IntercommMerge}
		}
		if o == s.live[0] {
			kinds = kinds[1:]
		}
		kind := rapid.SampledFrom(kinds).Draw(t, "kind")
		if o.locals[o.sides[0][0]].Class == "win" {
			kind = 0 // nothing is created on a window
		}
		switch kind {
		case 0:
			s.free(o)
		case Duplicate:
			s.duplicate(t, o, recorded)
		case Topology:
			s.topology(t, o, recorded)
		case CreateGroup:
			s.createGroup(t, o, recorded)
		case IntercommCreate:
			s.intercommCreate(t, o, recorded)
		case IntercommMerge:
			s.intercommMerge(t, o, recorded)
		default:
			s.split(t, o, kind, recorded)
		}
	}
	return s
}

// record notes the rank in the result, where it is noted.
func record(c Creation, recorded bool, rank, size int) Creation {
	if recorded {
		c.Rank, c.Size = rank, size
	}
	return c
}

func (s *simulation) duplicate(t *rapid.T, o *simulated, recorded bool) {
	class := rapid.SampledFrom([]string{"comm", "win"}).Draw(t, "class")
	d := &simulated{sides: o.sides, locals: make(map[int]Local)}
	for _, side := range o.sides {
		for i, rank := range side {
			s.emit(rank, record(Creation{Kind: Duplicate, Parent: o.locals[rank]}, recorded, i, len(side)), class, d)
		}
	}
	s.live = append(s.live, d)
}

// topology makes a grid of a few members, in another order if that is recorded.
func (s *simulation) topology(t *rapid.T, o *simulated, recorded bool) {
	n := rapid.IntRange(1, len(o.sides[0])).Draw(t, "size")
	d := &simulated{locals: make(map[int]Local)}
	d.sides[0] = slices.Clone(o.sides[0][:n])
	if recorded {
		d.sides[0] = rapid.Permutation(d.sides[0]).Draw(t, "order")
	}
	for _, rank := range o.sides[0] {
		c := Creation{Kind: Topology, Parent: o.locals[rank]}
		if i := slices.Index(d.sides[0], rank); i >= 0 {
			s.emit(rank, record(c, recorded, i, n), "comm", d)
		} else {
			s.emit(rank, c, "comm", nil)
		}
	}
	s.live = append(s.live, d)
}

// split makes an object for each color; 3 is undefined.
func (s *simulation) split(t *rapid.T, o *simulated, kind Kind, recorded bool) {
	type choice struct{ color, key int64 }
	var (
		inter   = len(o.sides[1]) > 0
		choices = make(map[int]choice)
		objects = make(map[int64]*simulated)
	)
	for side, list := range o.sides {
		for _, rank := range list {
			c := choice{rapid.Int64Range(0, 3).Draw(t, "color"), rapid.Int64Range(-2, 2).Draw(t, "key")}
			if kind == Create && inter {
				c.color = 3 * (c.color / 2) // one group on each side
			}
			choices[rank] = c
			if objects[c.color] == nil && c.color != 3 {
				objects[c.color] = &simulated{locals: make(map[int]Local)}
			}
			if c.color != 3 {
				objects[c.color].sides[side] = append(objects[c.color].sides[side], rank)
			}
		}
	}
	for _, color := range []int64{0, 1, 2} {
		d := objects[color]
		if d == nil || inter && (len(d.sides[0]) == 0 || len(d.sides[1]) == 0) {
			delete(objects, color)
			continue
		}
		for side := range d.sides {
			slices.SortStableFunc(d.sides[side], func(a, b int) int { return int(choices[a].key - choices[b].key) })
		}
		s.live = append(s.live, d)
	}
	named := kind == Create && rapid.Bool().Draw(t, "named")
	shared := make(map[[2]int][]int)
	for side, list := range o.sides {
		for _, rank := range list {
			k := choices[rank]
			c := Creation{Kind: kind, Parent: o.locals[rank], Color: k.color, Key: k.key}
			d := objects[k.color]
			if d == nil {
				s.emit(rank, c, "comm", nil)
				continue
			}
			i := slices.Index(d.sides[side], rank)
			c = record(c, recorded || kind == Split && k.key == 1, i, len(d.sides[side]))
			if named {
				c.Color, c.Key = 0, 0
				members := shared[[2]int{int(k.color), side}]
				for j := 0; members == nil && j < len(d.sides[side]) || len(c.Members) < len(members) && j < len(members); j++ {
					c.Members = append(c.Members, slices.Index(list, d.sides[side][j]))
				}
				if members == nil {
					shared[[2]int{int(k.color), side}] = c.Members
				} else if rank%2 == 0 {
					c.Members = members
				}
			}
			s.emit(rank, c, "comm", d)
		}
	}
}

func (s *simulation) createGroup(t *rapid.T, o *simulated, recorded bool) {
	places := rapid.Permutation(func() (all []int) {
		for i := range o.sides[0] {
			all = append(all, i)
		}
		return all
	}()).Draw(t, "members")
	places = places[:rapid.IntRange(1, len(places)).Draw(t, "size")]
	tag := rapid.Int64Range(0, 1).Draw(t, "tag")
	d := &simulated{locals: make(map[int]Local)}
	for _, p := range places {
		d.sides[0] = append(d.sides[0], o.sides[0][p])
	}
	for i, rank := range d.sides[0] {
		members := places
		if i%3 == 1 {
			members = slices.Clone(places)
		}
		s.emit(rank, record(Creation{Kind: CreateGroup, Parent: o.locals[rank], Members: members, Tag: tag}, recorded, i, len(places)), "comm", d)
	}
	s.live = append(s.live, d)
}

func (s *simulation) intercommCreate(t *rapid.T, a *simulated, recorded bool) {
	var others []*simulated
	for _, b := range s.live {
		if len(b.sides[1]) == 0 && b.locals[b.sides[0][0]].Class == "comm" && !slices.ContainsFunc(b.sides[0], func(r int) bool { return slices.Contains(a.sides[0], r) }) {
			others = append(others, b)
		}
	}
	if len(others) == 0 {
		return
	}
	b := rapid.SampledFrom(others).Draw(t, "other")
	d := &simulated{sides: [2][]int{a.sides[0], b.sides[0]}, locals: make(map[int]Local)}
	leaders := [2]int{}
	for i, side := range d.sides {
		leaders[i] = rapid.IntRange(0, len(side)-1).Draw(t, "leader")
	}
	la, lb := a.sides[0][leaders[0]], b.sides[0][leaders[1]]
	peers := slices.DeleteFunc(slices.Clone(s.live), func(p *simulated) bool {
		i, j := slices.Index(p.sides[0], la), slices.Index(p.sides[0], lb)
		return p.locals[p.sides[0][0]].Class != "comm" || len(p.sides[1]) > 0 || i < 0 || j < 0
	})
	peer := rapid.SampledFrom(peers).Draw(t, "peer")
	tag := rapid.Int64Range(0, 1).Draw(t, "tag")
	for i, local := range []*simulated{a, b} {
		other := []int{lb, la}[i]
		for rank, r := range local.sides[0] {
			c := Creation{Kind: IntercommCreate, Parent: local.locals[r], Leader: leaders[i], Peer: world, RemoteLeader: other, Tag: tag}
			if rank == leaders[i] {
				c.Peer, c.RemoteLeader = peer.locals[r], slices.Index(peer.sides[0], other)
			}
			s.emit(r, record(c, recorded, rank, len(local.sides[0])), "comm", d)
		}
	}
	if lb < la {
		d.sides[0], d.sides[1] = d.sides[1], d.sides[0]
	}
	s.live = append(s.live, d)
}

func (s *simulation) intercommMerge(t *rapid.T, o *simulated, recorded bool) {
	high := rapid.IntRange(0, 1).Draw(t, "high")
	same := recorded && rapid.Bool().Draw(t, "same")
	d := &simulated{locals: make(map[int]Local)}
	d.sides[0] = slices.Concat(o.sides[1-high], o.sides[high])
	for side, list := range o.sides {
		for _, rank := range list {
			c := Creation{Kind: IntercommMerge, Parent: o.locals[rank], High: side == high || same}
			s.emit(rank, record(c, recorded, slices.Index(d.sides[0], rank), len(d.sides[0])), "comm", d)
		}
	}
	s.live = append(s.live, d)
}

// TestResolverModel checks what a Resolver finds out against a simulated run in
// which all is known.
func TestResolverModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := play(t)
		g, err := s.feed(t).Resolve()
		if err != nil {
			t.Fatal(err)
		}
		again, _ := s.feed(t).Resolve()
		if a, b := names(g), names(again); !slices.Equal(a, b) {
			t.Fatalf("the order of processes matters: %q, %q", a, b)
		} else if slices.Sort(a); len(slices.Compact(a)) != g.Len() {
			t.Fatalf("names are not unique: %q", b)
		}
		objects := make(map[*Group]*simulated)
		groups := make(map[*simulated]*Group)
		for _, w := range s.truths {
			for _, position := range []uint64{w.from, (w.from + min(w.until, 1<<20)) / 2, min(w.until, 1<<20)} {
				m, ok := g.At(w.rank, w.local, position)
				if !ok {
					t.Fatalf("rank %d: %v is not known at %d", w.rank, w.local, position)
				}
				if groups[w.object] == nil && objects[m.Group] == nil {
					groups[w.object], objects[m.Group] = m.Group, w.object
				}
				if groups[w.object] != m.Group || objects[m.Group] != w.object {
					t.Fatalf("rank %d: %v at %d is another object: %s", w.rank, w.local, position, m.Group.Name())
				}
				local, peers := w.object.sides[0], w.object.sides[1]
				if m.Remote {
					local, peers = peers, local
				}
				if len(peers) == 0 {
					peers = local
				}
				if !slices.Equal(m.Local(), local) || !slices.Equal(m.Peers(), peers) || local[m.Rank] != w.rank {
					t.Fatalf("rank %d: %v: %v, %v, rank %d; want %v, %v", w.rank, w.local, m.Local(), m.Peers(), m.Rank, local, peers)
				}
				if m.Group.Class != w.local.Class {
					t.Fatalf("class %q of %v", m.Group.Class, w.local)
				}
			}
			if w.from > 0 {
				if m, ok := g.At(w.rank, w.local, w.from-1); ok && groups[w.object] == m.Group {
					t.Fatalf("rank %d: %v is known before it was made", w.rank, w.local)
				}
			}
			if w.until != open {
				if m, ok := g.At(w.rank, w.local, w.until+1); ok {
					t.Fatalf("rank %d: %v is %s after it was freed", w.rank, w.local, m.Group.Name())
				}
			}
		}
	})
}

func names(g *Groups) []string {
	var list []string
	for g := range g.All() {
		list = append(list, g.Name())
	}
	return list
}

// TestResolverDamaged checks that whatever is missing or wrong in a run, it is
// resolved to an end, what is resolved is consistent in itself, and every error
// names a rank.
func TestResolverDamaged(t *testing.T) { rapid.Check(t, testResolverDamaged) }

func testResolverDamaged(t *rapid.T) {
	s := play(t)
	for range rapid.IntRange(1, 3).Draw(t, "faults") {
		rank := rapid.IntRange(0, s.ranks-1).Draw(t, "rank")
		if len(s.events[rank]) == 0 {
			continue
		}
		i := rapid.IntRange(0, len(s.events[rank])-1).Draw(t, "event")
		c := s.events[rank][i].create
		switch fault := rapid.IntRange(0, 8).Draw(t, "fault"); {
		case fault == 0 || c == nil:
			s.events[rank] = slices.Delete(s.events[rank], i, i+1)
		case fault == 1:
			s.events[rank] = s.events[rank][:i] // it was killed
		case fault == 2:
			c.Kind = Kind(rapid.IntRange(0, 9).Draw(t, "kind"))
		case fault == 3:
			c.Result = Local{}
		case fault == 4:
			c.Leader, c.RemoteLeader = rapid.IntRange(-1, 9).Draw(t, "leader"), rapid.IntRange(-1, 9).Draw(t, "remote")
		case fault == 5:
			c.Members = rapid.SliceOfN(rapid.IntRange(-1, 9), 0, 4).Draw(t, "members")
		case fault == 6:
			c.Rank, c.Size = rapid.IntRange(-1, 9).Draw(t, "rank"), rapid.IntRange(-1, 9).Draw(t, "size")
		case fault == 7:
			c.Color, c.Key, c.Tag, c.High = 1, 1, 1, !c.High
		case fault == 8:
			c.Parent, c.Peer = Local{"comm", rapid.Int64Range(-2, 3).Draw(t, "parent")}, Local{"comm", rapid.Int64Range(-2, 3).Draw(t, "peer")}
		}
	}
	g, err := s.feed(t).Resolve()
	for _, w := range s.truths {
		m, ok := g.At(w.rank, w.local, w.from)
		if ok && m.Local()[m.Rank] != w.rank {
			t.Fatalf("rank %d is %d of %v", w.rank, m.Rank, m.Local())
		}
	}
	if err != nil {
		for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
			var ge *GroupError
			if !errors.As(e, &ge) || ge.Rank < 0 || ge.Rank >= s.ranks {
				t.Fatalf("error %v", e)
			}
		}
	}
}

// lines returns what an error consists of.
func lines(err error) []string {
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}

func comm(id int64) Local { return Local{"comm", id} }

// TestResolverErrors checks which rank and creation an error names, and that the
// rest is resolved.
func TestResolverErrors(t *testing.T) {
	split := func(color int64, result int64) Creation {
		return Creation{Kind: Split, Parent: world, Color: color, Result: comm(result)}
	}
	dup := Creation{Kind: Duplicate, Parent: world, Result: comm(0)}
	with := func(c Creation, f func(*Creation)) Creation { f(&c); return c }
	group := Creation{Kind: CreateGroup, Parent: world, Result: comm(0), Members: []int{2, 0}}
	freed := Creation{Result: comm(0)}
	unite := Creation{Kind: IntercommMerge, Parent: comm(1), Result: comm(2)}
	bridge := func(peer Local, remote int) Creation {
		return Creation{Kind: IntercommCreate, Parent: comm(-2), Peer: peer, RemoteLeader: remote, Result: comm(1)}
	}
	create := func(members ...int) Creation {
		return Creation{Kind: Create, Parent: world, Members: members, Result: comm(0)}
	}
	inter := []Creation{split(0, 0), split(1, 0), split(1, 0)}
	tests := []struct {
		name  string
		calls [3][]Creation
		want  []string
		known [3]bool // comm 0 of each
	}{
		{"None", [3][]Creation{{dup}, {dup}, {dup}}, nil, [3]bool{true, true, true}},
		{"MissingDuplicate", [3][]Creation{{dup}, {}, {dup}},
			[]string{"symbolic: rank 1: creation 0 on world, duplicate: no such call, but rank 0 has one, call 0"}, [3]bool{true, false, true}},
		{"MissingSplit", [3][]Creation{{dup, split(0, 1)}, {dup, split(0, 1)}, {dup}},
			[]string{"symbolic: rank 2: creation 1 on world, split: no such call, but rank 0 has one, call 1"}, [3]bool{true, true, true}},
		{"OtherKind", [3][]Creation{{dup}, {split(0, 0)}, {dup}},
			[]string{"symbolic: rank 1: creation 0 on world, duplicate: call 0 is split, that of rank 0 is not"}, [3]bool{}},
		{"OtherRank", [3][]Creation{{split(0, 0)}, {with(split(1, 0), func(c *Creation) { c.Rank, c.Size = 1, 2 })}, {split(1, 0)}},
			[]string{"symbolic: rank 1: creation 0 on world, split: call 0 makes it rank 1 of 2, not 0 of 2"}, [3]bool{true, false, false}},
		{"UnknownParent", [3][]Creation{{dup}, {dup, with(dup, func(c *Creation) { c.Parent = comm(9) })}, {dup}},
			[]string{"symbolic: rank 1: duplicate: call 1: parent comm 9 is not known"}, [3]bool{true, false, true}},
		{"MissingFromGroup", [3][]Creation{{group}, {dup}, {dup}},
			[]string{
				"symbolic: rank 0: creation 0 on world, duplicate: no such call, but rank 1 has one, call 0",
				"symbolic: rank 2: creation 0 on world, create group: no such call, but rank 0 has one, call 0",
			}, [3]bool{false, true, true}},
		{"StrangerInGroup", [3][]Creation{{group}, {group}, {group}},
			[]string{"symbolic: rank 1: creation 0 on world, create group: call 0 names members that the caller is not among"}, [3]bool{}},
		{"LastStrangerInGroup", [3][]Creation{{with(group, func(c *Creation) { c.Members = []int{0} })}, {}, {with(group, func(c *Creation) { c.Members = []int{0} })}},
			[]string{"symbolic: rank 2: creation 0 on world, create group: call 0 names members that the caller is not among"}, [3]bool{}},
		{"TwiceInGroup", [3][]Creation{{with(group, func(c *Creation) { c.Members = []int{0, 0} })}, {}, {}},
			[]string{"symbolic: rank 0: creation 0 on world, create group: call 0 names rank 0 of 3, or twice"}, [3]bool{}},
		{"MissingRemoteGroup", [3][]Creation{
			{inter[0], {Kind: IntercommCreate, Parent: comm(0), Peer: world, RemoteLeader: 1, Result: comm(1)}},
			{inter[1], {Kind: Duplicate, Parent: comm(0), Result: comm(2)}},
			{inter[2], {Kind: Duplicate, Parent: comm(0), Result: comm(2)}},
		}, []string{"symbolic: rank 1: creation 0 on world/0:0, create intercommunicator: no such call, with a group that it leads, but rank 0 has one, call 1"}, [3]bool{true, true, true}},
		{"OtherLeader", [3][]Creation{
			{inter[0]},
			{inter[1], {Kind: IntercommCreate, Parent: comm(0), Peer: world, Result: comm(1)}},
			{inter[2], {Kind: IntercommCreate, Parent: comm(0), Peer: world, Result: comm(1), Leader: 1}},
		}, []string{"symbolic: rank 2: creation 0 on world/0:1, create intercommunicator: call 1 names leader 1, that of rank 1 names 0"}, [3]bool{true, true, true}},
		{"MergeOfOne", [3][]Creation{
			{dup, {Kind: IntercommMerge, Parent: comm(0), Result: comm(1)}},
			{dup, {Kind: IntercommMerge, Parent: comm(0), Result: comm(1)}},
			{dup, {Kind: IntercommMerge, Parent: comm(0), Result: comm(1)}},
		}, []string{"symbolic: rank 0: creation 0 on world/0, merge intercommunicator: call 1: the parent is no intercommunicator"}, [3]bool{true, true, true}},
		{"ParentFreed", [3][]Creation{{dup, freed, with(dup, func(c *Creation) { c.Parent = comm(0); c.Result = comm(1) })}, {dup}, {dup}},
			[]string{"symbolic: rank 0: duplicate: call 2: parent comm 0 is not known"}, [3]bool{true, true, true}},
		{"MissingTwice", [3][]Creation{{dup, with(dup, func(c *Creation) { c.Parent = comm(0) })}, {}, {dup, {Kind: Split, Parent: comm(0), Result: comm(0)}}},
			[]string{
				"symbolic: rank 1: creation 0 on world, duplicate: no such call, but rank 0 has one, call 0",
				"symbolic: rank 2: creation 0 on world/0, duplicate: call 1 is split, that of rank 0 is not",
			}, [3]bool{true, false, true}},
		{"MissingChild", [3][]Creation{{}, {dup, with(dup, func(c *Creation) { c.Parent, c.Rank, c.Size = comm(0), 1, 3 })}, {dup, with(dup, func(c *Creation) { c.Parent, c.Rank, c.Size = comm(0), 2, 3 })}},
			[]string{
				"symbolic: rank 0: creation 0 on world, duplicate: no such call, but rank 1 has one, call 0",
				"symbolic: rank 0: creation 0 on world/0, duplicate: no such call, but rank 1 has one, call 1",
			}, [3]bool{false, true, true}},
		{"SplitRanks", [3][]Creation{
			{with(split(0, 0), func(c *Creation) { c.Rank, c.Size = 2, 3 })},
			{with(split(0, 0), func(c *Creation) { c.Rank, c.Size = 1, 3 })},
			{with(split(0, 0), func(c *Creation) { c.Rank, c.Size = 0, 3 })},
		}, []string{"symbolic: rank 0: creation 0 on world, split: call 0 makes it rank 2 of 3, not 0 of 3"}, [3]bool{}},
		{"PeerLater", [3][]Creation{{dup, bridge(comm(0), 1)}, {dup, bridge(comm(0), 0)}, {dup}}, nil, [3]bool{true, true, true}},
		{"PeerNotResolved", [3][]Creation{{split(0, 0), bridge(comm(0), 1)}, {split(0, 0), bridge(comm(0), 0)}, {}},
			[]string{
				"symbolic: rank 2: creation 0 on world, split: no such call, but rank 0 has one, call 0",
				"symbolic: rank 0: creation 0 on self0, create intercommunicator: call 1: the peer communicator is not resolved",
				"symbolic: rank 1: creation 0 on self1, create intercommunicator: call 1: the peer communicator is not resolved",
			}, [3]bool{}},
		{"PeerNotKnown", [3][]Creation{{dup, bridge(comm(5), 1)}, {dup}, {dup}},
			[]string{"symbolic: rank 0: creation 0 on self0, create intercommunicator: call 1: the peer communicator is not known"}, [3]bool{true, true, true}},
		{"NoRemoteLeader", [3][]Creation{{dup, bridge(comm(0), 3)}, {dup}, {dup}},
			[]string{"symbolic: rank 0: creation 0 on self0, create intercommunicator: call 1: no remote leader 3 in the peer communicator"}, [3]bool{true, true, true}},
		{"RemoteLeaderItself", [3][]Creation{{dup, bridge(world, 0)}, {dup}, {dup}},
			[]string{"symbolic: rank 0: creation 0 on self0, create intercommunicator: call 1: no remote leader 0 in the peer communicator"}, [3]bool{true, true, true}},
		{"NoLeader", [3][]Creation{{dup, with(bridge(world, 1), func(c *Creation) { c.Leader = 1 })}, {dup}, {dup}},
			[]string{"symbolic: rank 0: creation 0 on self0, create intercommunicator: call 1: no leader 1 in the parent"}, [3]bool{true, true, true}},
		{"InterRank", [3][]Creation{{dup, bridge(world, 1)}, {dup, with(bridge(world, 0), func(c *Creation) { c.Rank, c.Size = 1, 2 })}, {dup}},
			[]string{"symbolic: rank 1: creation 0 on self1, create intercommunicator: call 1 makes it rank 1 of 2, not 0 of 1"}, [3]bool{true, true, true}},
		{"MergeUndecided", [3][]Creation{{dup, bridge(world, 1), unite}, {dup, bridge(world, 0), unite}, {dup}},
			[]string{"symbolic: rank 0: creation 0 on self0/0, merge intercommunicator: call 2: which group is first is not recorded"}, [3]bool{true, true, true}},
		{"MergeRank", [3][]Creation{
			{dup, bridge(world, 1), with(unite, func(c *Creation) { c.Rank, c.Size = 1, 2 })},
			{dup, bridge(world, 0), with(unite, func(c *Creation) { c.Rank, c.Size = 1, 2 })}, {dup},
		}, []string{"symbolic: rank 0: creation 0 on self0/0, merge intercommunicator: call 2 makes it rank 1 of 2, not 0 of 2"}, [3]bool{true, true, true}},
		{"MergeDisagrees", [3][]Creation{
			{inter[0], {Kind: IntercommCreate, Parent: comm(0), Peer: world, RemoteLeader: 1, Result: comm(1)}, with(unite, func(c *Creation) { c.High = true })},
			{inter[1], {Kind: IntercommCreate, Parent: comm(0), Peer: world, Result: comm(1)}, unite},
			{inter[2], {Kind: IntercommCreate, Parent: comm(0), Peer: world, Result: comm(1)}, with(unite, func(c *Creation) { c.High = true })},
		}, []string{"symbolic: rank 2: creation 0 on world/0:0/0, merge intercommunicator: call 2 says high is true, that of rank 1 does not"}, [3]bool{true, true, true}},
		{"MissingFromMerge", [3][]Creation{{dup, bridge(world, 1), unite}, {dup, bridge(world, 0)}, {dup}},
			[]string{"symbolic: rank 1: creation 0 on self0/0, merge intercommunicator: no such call, but rank 0 has one, call 2"}, [3]bool{true, true, true}},
		{"SplitOfOneSide", [3][]Creation{
			{dup, bridge(world, 1), {Kind: Split, Parent: comm(1), Color: 4, Result: comm(2)}},
			{dup, bridge(world, 0), {Kind: Split, Parent: comm(1), Color: 5, Result: comm(2)}}, {dup},
		}, []string{
			"symbolic: rank 0: creation 0 on self0/0, split: color 4 is in one group only",
			"symbolic: rank 1: creation 0 on self0/0, split: color 5 is in one group only",
		}, [3]bool{true, true, true}},
		{"NoResult", [3][]Creation{{dup}, {dup}, {with(dup, func(c *Creation) { c.Result = Local{} })}},
			[]string{"symbolic: rank 2: creation 0 on world, duplicate: call 0 has no result"}, [3]bool{}},
		{"OtherClass", [3][]Creation{{dup}, {dup}, {with(dup, func(c *Creation) { c.Result.Class = "file" })}},
			[]string{"symbolic: rank 2: creation 0 on world, duplicate: call 0 makes a file"}, [3]bool{}},
		{"OtherMembers", [3][]Creation{{create(0, 1)}, {create(0, 1)}, {create(0, 2)}},
			[]string{"symbolic: rank 2: creation 0 on world, create: call 0 names other members than those of its group do"}, [3]bool{}},
		{"NotItself", [3][]Creation{{create(0, 1)}, {create(0, 1)}, {create(0, 1)}},
			[]string{"symbolic: rank 2: creation 0 on world, create: call 0 names other members than those of its group do"}, [3]bool{}},
		{"CreateRank", [3][]Creation{{create(1, 0)}, {with(create(1, 0), func(c *Creation) { c.Rank, c.Size = 1, 2 })}, {create(2)}},
			[]string{"symbolic: rank 1: creation 0 on world, create: call 0 makes it rank 1 of 2, not 0 of 2"}, [3]bool{}},
		{"CreateShort", [3][]Creation{{create(1, 0)}, {{Kind: Create, Parent: world}}, {create(2)}},
			[]string{"symbolic: rank 0: creation 0 on world, create: call 0 makes it rank 1 of 2, not 0 of 1"}, [3]bool{false, false, true}},
		{"NoSuchKind", [3][]Creation{{{Parent: world, Kind: 77}}, {{Parent: world, Kind: 77}}, {{Parent: world, Kind: 77}}},
			[]string{"symbolic: rank 0: creation 0 on world, kind 77: no such kind"}, [3]bool{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var r Resolver
			for rank := range 3 {
				r.Declare(comm(-2), fmt.Sprintf("self%d", rank), []int{rank})
			}
			r.Declare(world, "world", []int{0, 1, 2})
			for rank, calls := range tt.calls {
				for i, c := range calls {
					if c.Kind == 0 {
						r.Free(rank, uint64(i), c.Result)
						continue
					}
					r.Create(rank, uint64(i), c)
				}
			}
			g, err := r.Resolve()
			if got := lines(err); !slices.Equal(got, tt.want) {
				t.Errorf("errors %q\nwant %q", got, tt.want)
			}
			for rank, want := range tt.known {
				position := uint64(0)
				if tt.name == "UnknownParent" {
					position = 1
				}
				if _, ok := g.At(rank, comm(0), position); ok != want {
					t.Errorf("rank %d: comm 0 is known: %v, want %v", rank, ok, want)
				}
			}
		})
	}
}

// TestResolverReused checks a communicator that is freed and one that is created
// later with the same local id, and groups of one split that never meet again.
func TestResolverReused(t *testing.T) {
	var r Resolver
	r.Declare(world, "world", []int{0, 1, 2, 3})
	for rank := range 4 {
		color := int64(rank % 2)
		r.Create(rank, 1, Creation{Kind: Split, Parent: world, Color: color, Result: comm(0)})
		r.Create(rank, 2, Creation{Kind: Duplicate, Parent: comm(0), Result: comm(1)})
		r.Free(rank, 5, comm(0))
		r.Create(rank, 6, Creation{Kind: Split, Parent: world, Color: color, Key: -int64(rank), Result: comm(0)})
		r.Create(rank, 7, Creation{Kind: Duplicate, Parent: comm(0), Result: comm(2)})
		r.Create(rank, 8, Creation{Kind: Duplicate, Parent: world, Result: comm(1)}) // its free was not seen
	}
	g, err := r.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		local    int64
		position uint64
		want     string
	}{
		{0, 0, "none"},
		{0, 1, "world/0:1 [1 3] 1"},
		{0, 5, "world/0:1 [1 3] 1"},
		{0, 6, "world/1:1 [3 1] 0"},
		{1, 7, "world/0:1/0 [1 3] 1"},
		{1, 8, "world/2 [0 1 2 3] 3"},
		{2, 7, "world/1:1/0 [3 1] 0"},
		{2, 1 << 40, "world/1:1/0 [3 1] 0"},
	}
	for _, tt := range tests {
		got := "none"
		if m, ok := g.At(3, comm(tt.local), tt.position); ok {
			got = fmt.Sprint(m.Group.Name(), " ", m.Local(), " ", m.Rank)
		}
		if got != tt.want {
			t.Errorf("comm %d at %d is %s, want %s", tt.local, tt.position, got, tt.want)
		}
	}
	if g.Len() != 1+2+2+2+2+1 {
		t.Errorf("%d groups: %q", g.Len(), names(g))
	}
	for _, rank := range []int{-1, 4} {
		if _, ok := g.At(rank, world, 0); ok {
			t.Errorf("rank %d knows the world", rank)
		}
	}
}

func TestResolverFree(t *testing.T) {
	var r Resolver
	r.Declare(world, "world", []int{0})
	r.Free(0, 3, comm(4))
	_, err := r.Resolve()
	if want := []string{"symbolic: rank 0: call 3: frees comm 4, which is not known"}; !slices.Equal(lines(err), want) {
		t.Errorf("errors %q, want %q", lines(err), want)
	}
	if g, err := r.Resolve(); g.Len() != 0 || err != nil {
		t.Errorf("%d groups left, %v", g.Len(), err)
	}
}

// selves returns a resolver of processes that have two groups of their own each,
// comm −2 and −3, and one of all.
func selves(ranks int) *Resolver {
	r := new(Resolver)
	all := make([]int, ranks)
	for i := range all {
		all[i] = i
		r.Declare(comm(-2), fmt.Sprintf("a%d", i), all[i:i+1])
		r.Declare(comm(-3), fmt.Sprintf("b%d", i), all[i:i+1])
	}
	r.Declare(world, "world", all)
	return r
}

// sameGroup fails unless comm id of a rank and comm other of another are the group
// of a name.
func sameGroup(t *testing.T, g *Groups, want string, rank int, id int64, otherRank int, other int64) {
	t.Helper()
	a, _ := g.At(rank, comm(id), 99)
	b, _ := g.At(otherRank, comm(other), 99)
	if a.Group == nil || a.Group != b.Group || a.Group.Name() != want {
		t.Errorf("comm %d of rank %d is %v, comm %d of rank %d is %v, want %s", id, rank, a, other, otherRank, b, want)
	}
}

// join returns the creation of an intercommunicator by a process that leads.
func join(parent Local, remote int, tag, result int64) Creation {
	return Creation{Kind: IntercommCreate, Parent: parent, Peer: world, RemoteLeader: remote, Tag: tag, Result: comm(result)}
}

// TestResolverLeaderOrder checks that halves of intercommunicators meet in the
// order of their leaders' calls when a later one can be looked at first.
func TestResolverLeaderOrder(t *testing.T) {
	r := selves(3)
	r.Create(0, 0, join(comm(-2), 2, 9, 0))
	r.Create(0, 1, Creation{Kind: IntercommMerge, Parent: comm(0), Result: comm(1)})
	r.Create(0, 2, join(comm(1), 1, 0, 2))
	r.Create(0, 3, join(comm(-2), 1, 0, 3))
	r.Create(2, 0, join(comm(-2), 0, 9, 0))
	r.Create(2, 1, Creation{Kind: IntercommMerge, Parent: comm(0), High: true, Result: comm(1)})
	r.Create(2, 2, Creation{Kind: IntercommCreate, Parent: comm(1), Result: comm(2)})
	r.Create(1, 0, join(comm(-2), 0, 0, 5))
	r.Create(1, 1, join(comm(-2), 0, 0, 6))
	g, err := r.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	sameGroup(t, g, "a0/0/0/0", 0, 2, 1, 5)
	sameGroup(t, g, "a0/0/0/0", 2, 2, 1, 5)
	sameGroup(t, g, "a0/1", 0, 3, 1, 6)
}

// TestResolverStuck checks that what comes after a creation whose other side is
// missing is resolved, in the order of the leaders' calls.
func TestResolverStuck(t *testing.T) {
	r := selves(2)
	for rank := range 2 {
		r.Create(rank, 0, join(comm(-2), 1-rank, 7+int64(rank), 0))
		r.Create(rank, 1, join(comm(-3), 1-rank, 0, 1))
		r.Create(rank, 2, join(comm(-2), 1-rank, 0, 2))
	}
	g, err := r.Resolve()
	if len(lines(err)) != 2 {
		t.Errorf("errors %q", lines(err))
	}
	sameGroup(t, g, "b0/0", 0, 1, 1, 1)
	sameGroup(t, g, "a0/1", 0, 2, 1, 2)
}

// TestResolverOnIntercomm checks what is created on an intercommunicator or by
// means of one.
func TestResolverOnIntercomm(t *testing.T) {
	r := new(Resolver)
	r.Declare(world, "world", []int{0, 1, 2, 3, 4})
	for rank := range 5 {
		side, local := rank/3, rank%3
		r.Create(rank, 0, Creation{Kind: Split, Parent: world, Color: int64(side), Result: comm(0)})
		r.Create(rank, 1, Creation{Kind: IntercommCreate, Parent: comm(0), Leader: 1, Peer: world, RemoteLeader: 4 - 3*side, Result: comm(1)})
		members := [][]int{{2, 1}, {0}}[side]
		c := Creation{Kind: Create, Parent: comm(1), Members: members}
		if slices.Contains(members, local) {
			c.Result = comm(2)
		}
		r.Create(rank, 2, c)
		r.Create(rank, 3, Creation{Kind: IntercommMerge, Parent: comm(1), High: side == 0, Result: comm(3)})
		// The intercommunicator is the peer: 2 is the last of the remote group.
		r.Create(rank, 4, Creation{Kind: IntercommCreate, Parent: comm(0), Peer: comm(1), RemoteLeader: 0, Tag: 1, Result: comm(4)})
	}
	g, err := r.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		rank         int
		id           int64
		local, peers []int
	}{
		{0, 1, []int{0, 1, 2}, []int{3, 4}},
		{4, 1, []int{3, 4}, []int{0, 1, 2}},
		{1, 2, []int{2, 1}, []int{3}},
		{3, 2, []int{3}, []int{2, 1}},
		{0, 3, []int{3, 4, 0, 1, 2}, []int{3, 4, 0, 1, 2}},
		{4, 4, []int{3, 4}, []int{0, 1, 2}},
	}
	for _, tt := range tests {
		m, ok := g.At(tt.rank, comm(tt.id), 9)
		if !ok || !slices.Equal(m.Local(), tt.local) || !slices.Equal(m.Peers(), tt.peers) || m.Local()[m.Rank] != tt.rank {
			t.Errorf("comm %d of rank %d: %v, want %v and %v", tt.id, tt.rank, m, tt.local, tt.peers)
		}
	}
	sameGroup(t, g, "world/0:0/1", 0, 4, 4, 4)
	sameGroup(t, g, "world/0:0/0/0:0", 2, 2, 3, 2)
}

// TestResolverGroups checks creations by groups: two threads that make them with
// two tags in any order, and members that share memory but not their number.
func TestResolverGroups(t *testing.T) {
	r := selves(3)
	all := []int{0, 1, 2}
	for rank := range 2 {
		for i := range int64(2) {
			tag := (i + int64(rank)) % 2
			r.Create(rank, uint64(i), Creation{Kind: CreateGroup, Parent: world, Members: all[:2], Tag: tag, Result: comm(tag)})
		}
	}
	for rank := range 3 {
		r.Create(rank, 5, Creation{Kind: CreateGroup, Parent: world, Members: all, Result: comm(5)})
	}
	g, err := r.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	sameGroup(t, g, "world/g0.0", 0, 0, 1, 0)
	sameGroup(t, g, "world/g0.1", 0, 1, 1, 1)
	sameGroup(t, g, "world/g0.2", 0, 5, 2, 5)
}

// TestResolverThreads checks two threads of a process that create
// intercommunicators at the same time, in another order than those of the other.
func TestResolverThreads(t *testing.T) {
	r := selves(2)
	for rank, order := range [2][2]int64{{0, 1}, {1, 0}} {
		for i, k := range order {
			r.Create(rank, uint64(i), join(comm(-2-k), 1-rank, k, k))
		}
	}
	g, err := r.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	sameGroup(t, g, "a0/0", 0, 0, 1, 0)
	sameGroup(t, g, "b0/0", 0, 1, 1, 1)
}
