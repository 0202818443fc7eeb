package resolve

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/symbolic"
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
	pools   []map[string]*symbolic.Pool // of each process, by class
	clocks  []uint64
	events  [][]event
	live    []*simulated
	truths  []*truth
	current map[Local]map[int]*truth
}

func newSimulation(ranks int) *simulation {
	s := &simulation{ranks: ranks, pools: make([]map[string]*symbolic.Pool, ranks),
		clocks: make([]uint64, ranks), events: make([][]event, ranks), current: make(map[Local]map[int]*truth)}
	o := &simulated{locals: make(map[int]Local)}
	for rank := range ranks {
		s.pools[rank] = map[string]*symbolic.Pool{"comm": {}, "win": {}}
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
		kinds := []spec.Creation{0, spec.Duplicate, spec.Topology, spec.Split, spec.SplitType, spec.Create,
			spec.CreateGroup, spec.IntercommCreate, spec.IntercommCreate, spec.IntercommCreate}
		if len(o.sides[1]) > 0 {
			kinds = []spec.Creation{0, spec.Duplicate, spec.Split, spec.SplitType, spec.Create, spec.Create,
				spec.IntercommMerge, spec.IntercommMerge}
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
		case spec.Duplicate:
			s.duplicate(t, o, recorded)
		case spec.Topology:
			s.topology(t, o, recorded)
		case spec.CreateGroup:
			s.createGroup(t, o, recorded)
		case spec.IntercommCreate:
			s.intercommCreate(t, o, recorded)
		case spec.IntercommMerge:
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
			s.emit(rank, record(Creation{Kind: spec.Duplicate, Parent: o.locals[rank]}, recorded, i,
				len(side)), class, d)
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
		c := Creation{Kind: spec.Topology, Parent: o.locals[rank]}
		if i := slices.Index(d.sides[0], rank); i >= 0 {
			s.emit(rank, record(c, recorded, i, n), "comm", d)
		} else {
			s.emit(rank, c, "comm", nil)
		}
	}
	s.live = append(s.live, d)
}

// split makes an object for each color; 3 is undefined.
func (s *simulation) split(t *rapid.T, o *simulated, kind spec.Creation, recorded bool) {
	type choice struct{ color, key int64 }
	var (
		inter   = len(o.sides[1]) > 0
		choices = make(map[int]choice)
		objects = make(map[int64]*simulated)
	)
	for side, list := range o.sides {
		for _, rank := range list {
			c := choice{rapid.Int64Range(0, 3).Draw(t, "color"), rapid.Int64Range(-2, 2).Draw(t, "key")}
			if kind == spec.Create && inter {
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
	named := kind == spec.Create && rapid.Bool().Draw(t, "named")
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
			c = record(c, recorded || kind == spec.Split && k.key == 1, i, len(d.sides[side]))
			if named {
				c.Color, c.Key = 0, 0
				members := shared[[2]int{int(k.color), side}]
				for j := 0; members == nil && j < len(d.sides[side]) ||
					len(c.Members) < len(members) && j < len(members); j++ {
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
		s.emit(rank, record(Creation{Kind: spec.CreateGroup, Parent: o.locals[rank], Members: members,
			Tag: tag}, recorded, i, len(places)), "comm", d)
	}
	s.live = append(s.live, d)
}

func (s *simulation) intercommCreate(t *rapid.T, a *simulated, recorded bool) {
	var others []*simulated
	for _, b := range s.live {
		if len(b.sides[1]) == 0 && b.locals[b.sides[0][0]].Class == "comm" &&
			!slices.ContainsFunc(b.sides[0], func(r int) bool { return slices.Contains(a.sides[0], r) }) {
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
			c := Creation{Kind: spec.IntercommCreate, Parent: local.locals[r], Leader: leaders[i],
				Peer: world, RemoteLeader: other, Tag: tag}
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
			c := Creation{Kind: spec.IntercommMerge, Parent: o.locals[rank], High: side == high || same}
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
		} else if slices.Sort(a); len(slices.Compact(a)) != len(g.list) {
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
					t.Fatalf("rank %d: %v: %v, %v, rank %d; want %v, %v", w.rank, w.local, m.Local(),
						m.Peers(), m.Rank, local, peers)
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
	for _, g := range g.list {
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
			c.Kind = spec.Creation(rapid.IntRange(0, 9).Draw(t, "kind"))
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
			c.Parent, c.Peer = Local{"comm", rapid.Int64Range(-2, 3).Draw(t, "parent")},
				Local{"comm", rapid.Int64Range(-2, 3).Draw(t, "peer")}
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
