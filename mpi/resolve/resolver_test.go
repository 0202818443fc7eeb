package resolve

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

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
			[]string{"resolve: rank 1: creation 0 on world, duplicate: no such call, but rank 0 has one, call 0"}, [3]bool{true, false, true}},
		{"MissingSplit", [3][]Creation{{dup, split(0, 1)}, {dup, split(0, 1)}, {dup}},
			[]string{"resolve: rank 2: creation 1 on world, split: no such call, but rank 0 has one, call 1"}, [3]bool{true, true, true}},
		{"OtherKind", [3][]Creation{{dup}, {split(0, 0)}, {dup}},
			[]string{"resolve: rank 1: creation 0 on world, duplicate: call 0 is split, that of rank 0 is not"}, [3]bool{}},
		{"OtherRank", [3][]Creation{{split(0, 0)}, {with(split(1, 0), func(c *Creation) { c.Rank, c.Size = 1, 2 })}, {split(1, 0)}},
			[]string{"resolve: rank 1: creation 0 on world, split: call 0 makes it rank 1 of 2, not 0 of 2"}, [3]bool{true, false, false}},
		{"UnknownParent", [3][]Creation{{dup}, {dup, with(dup, func(c *Creation) { c.Parent = comm(9) })}, {dup}},
			[]string{"resolve: rank 1: duplicate: call 1: parent comm 9 is not known"}, [3]bool{true, false, true}},
		{"MissingFromGroup", [3][]Creation{{group}, {dup}, {dup}},
			[]string{
				"resolve: rank 0: creation 0 on world, duplicate: no such call, but rank 1 has one, call 0",
				"resolve: rank 2: creation 0 on world, create group: no such call, but rank 0 has one, call 0",
			}, [3]bool{false, true, true}},
		{"StrangerInGroup", [3][]Creation{{group}, {group}, {group}},
			[]string{"resolve: rank 1: creation 0 on world, create group: call 0 names members that the caller is not among"}, [3]bool{}},
		{"LastStrangerInGroup", [3][]Creation{{with(group, func(c *Creation) { c.Members = []int{0} })}, {}, {with(group, func(c *Creation) { c.Members = []int{0} })}},
			[]string{"resolve: rank 2: creation 0 on world, create group: call 0 names members that the caller is not among"}, [3]bool{}},
		{"TwiceInGroup", [3][]Creation{{with(group, func(c *Creation) { c.Members = []int{0, 0} })}, {}, {}},
			[]string{"resolve: rank 0: creation 0 on world, create group: call 0 names rank 0 of 3, or twice"}, [3]bool{}},
		{"MissingRemoteGroup", [3][]Creation{
			{inter[0], {Kind: IntercommCreate, Parent: comm(0), Peer: world, RemoteLeader: 1, Result: comm(1)}},
			{inter[1], {Kind: Duplicate, Parent: comm(0), Result: comm(2)}},
			{inter[2], {Kind: Duplicate, Parent: comm(0), Result: comm(2)}},
		}, []string{"resolve: rank 1: creation 0 on world/0:0, create intercommunicator: no such call, with a group that it leads, but rank 0 has one, call 1"}, [3]bool{true, true, true}},
		{"OtherLeader", [3][]Creation{
			{inter[0]},
			{inter[1], {Kind: IntercommCreate, Parent: comm(0), Peer: world, Result: comm(1)}},
			{inter[2], {Kind: IntercommCreate, Parent: comm(0), Peer: world, Result: comm(1), Leader: 1}},
		}, []string{"resolve: rank 2: creation 0 on world/0:1, create intercommunicator: call 1 names leader 1, that of rank 1 names 0"}, [3]bool{true, true, true}},
		{"MergeOfOne", [3][]Creation{
			{dup, {Kind: IntercommMerge, Parent: comm(0), Result: comm(1)}},
			{dup, {Kind: IntercommMerge, Parent: comm(0), Result: comm(1)}},
			{dup, {Kind: IntercommMerge, Parent: comm(0), Result: comm(1)}},
		}, []string{"resolve: rank 0: creation 0 on world/0, merge intercommunicator: call 1: the parent is no intercommunicator"}, [3]bool{true, true, true}},
		{"ParentFreed", [3][]Creation{{dup, freed, with(dup, func(c *Creation) { c.Parent = comm(0); c.Result = comm(1) })}, {dup}, {dup}},
			[]string{"resolve: rank 0: duplicate: call 2: parent comm 0 is not known"}, [3]bool{true, true, true}},
		{"MissingTwice", [3][]Creation{{dup, with(dup, func(c *Creation) { c.Parent = comm(0) })}, {}, {dup, {Kind: Split, Parent: comm(0), Result: comm(0)}}},
			[]string{
				"resolve: rank 1: creation 0 on world, duplicate: no such call, but rank 0 has one, call 0",
				"resolve: rank 2: creation 0 on world/0, duplicate: call 1 is split, that of rank 0 is not",
			}, [3]bool{true, false, true}},
		{"MissingChild", [3][]Creation{{}, {dup, with(dup, func(c *Creation) { c.Parent, c.Rank, c.Size = comm(0), 1, 3 })}, {dup, with(dup, func(c *Creation) { c.Parent, c.Rank, c.Size = comm(0), 2, 3 })}},
			[]string{
				"resolve: rank 0: creation 0 on world, duplicate: no such call, but rank 1 has one, call 0",
				"resolve: rank 0: creation 0 on world/0, duplicate: no such call, but rank 1 has one, call 1",
			}, [3]bool{false, true, true}},
		{"SplitRanks", [3][]Creation{
			{with(split(0, 0), func(c *Creation) { c.Rank, c.Size = 2, 3 })},
			{with(split(0, 0), func(c *Creation) { c.Rank, c.Size = 1, 3 })},
			{with(split(0, 0), func(c *Creation) { c.Rank, c.Size = 0, 3 })},
		}, []string{"resolve: rank 0: creation 0 on world, split: call 0 makes it rank 2 of 3, not 0 of 3"}, [3]bool{}},
		{"PeerLater", [3][]Creation{{dup, bridge(comm(0), 1)}, {dup, bridge(comm(0), 0)}, {dup}}, nil, [3]bool{true, true, true}},
		{"PeerNotResolved", [3][]Creation{{split(0, 0), bridge(comm(0), 1)}, {split(0, 0), bridge(comm(0), 0)}, {}},
			[]string{
				"resolve: rank 2: creation 0 on world, split: no such call, but rank 0 has one, call 0",
				"resolve: rank 0: creation 0 on self0, create intercommunicator: call 1: the peer communicator is not resolved",
				"resolve: rank 1: creation 0 on self1, create intercommunicator: call 1: the peer communicator is not resolved",
			}, [3]bool{}},
		{"PeerNotKnown", [3][]Creation{{dup, bridge(comm(5), 1)}, {dup}, {dup}},
			[]string{"resolve: rank 0: creation 0 on self0, create intercommunicator: call 1: the peer communicator is not known"}, [3]bool{true, true, true}},
		{"NoRemoteLeader", [3][]Creation{{dup, bridge(comm(0), 3)}, {dup}, {dup}},
			[]string{"resolve: rank 0: creation 0 on self0, create intercommunicator: call 1: no remote leader 3 in the peer communicator"}, [3]bool{true, true, true}},
		{"RemoteLeaderItself", [3][]Creation{{dup, bridge(world, 0)}, {dup}, {dup}},
			[]string{"resolve: rank 0: creation 0 on self0, create intercommunicator: call 1: no remote leader 0 in the peer communicator"}, [3]bool{true, true, true}},
		{"NoLeader", [3][]Creation{{dup, with(bridge(world, 1), func(c *Creation) { c.Leader = 1 })}, {dup}, {dup}},
			[]string{"resolve: rank 0: creation 0 on self0, create intercommunicator: call 1: no leader 1 in the parent"}, [3]bool{true, true, true}},
		{"InterRank", [3][]Creation{{dup, bridge(world, 1)}, {dup, with(bridge(world, 0), func(c *Creation) { c.Rank, c.Size = 1, 2 })}, {dup}},
			[]string{"resolve: rank 1: creation 0 on self1, create intercommunicator: call 1 makes it rank 1 of 2, not 0 of 1"}, [3]bool{true, true, true}},
		{"MergeUndecided", [3][]Creation{{dup, bridge(world, 1), unite}, {dup, bridge(world, 0), unite}, {dup}},
			[]string{"resolve: rank 0: creation 0 on self0/0, merge intercommunicator: call 2: which group is first is not recorded"}, [3]bool{true, true, true}},
		{"MergeRank", [3][]Creation{
			{dup, bridge(world, 1), with(unite, func(c *Creation) { c.Rank, c.Size = 1, 2 })},
			{dup, bridge(world, 0), with(unite, func(c *Creation) { c.Rank, c.Size = 1, 2 })}, {dup},
		}, []string{"resolve: rank 0: creation 0 on self0/0, merge intercommunicator: call 2 makes it rank 1 of 2, not 0 of 2"}, [3]bool{true, true, true}},
		{"MergeDisagrees", [3][]Creation{
			{inter[0], {Kind: IntercommCreate, Parent: comm(0), Peer: world, RemoteLeader: 1, Result: comm(1)}, with(unite, func(c *Creation) { c.High = true })},
			{inter[1], {Kind: IntercommCreate, Parent: comm(0), Peer: world, Result: comm(1)}, unite},
			{inter[2], {Kind: IntercommCreate, Parent: comm(0), Peer: world, Result: comm(1)}, with(unite, func(c *Creation) { c.High = true })},
		}, []string{"resolve: rank 2: creation 0 on world/0:0/0, merge intercommunicator: call 2 says high is true, that of rank 1 does not"}, [3]bool{true, true, true}},
		{"MissingFromMerge", [3][]Creation{{dup, bridge(world, 1), unite}, {dup, bridge(world, 0)}, {dup}},
			[]string{"resolve: rank 1: creation 0 on self0/0, merge intercommunicator: no such call, but rank 0 has one, call 2"}, [3]bool{true, true, true}},
		{"SplitOfOneSide", [3][]Creation{
			{dup, bridge(world, 1), {Kind: Split, Parent: comm(1), Color: 4, Result: comm(2)}},
			{dup, bridge(world, 0), {Kind: Split, Parent: comm(1), Color: 5, Result: comm(2)}}, {dup},
		}, []string{
			"resolve: rank 0: creation 0 on self0/0, split: color 4 is in one group only",
			"resolve: rank 1: creation 0 on self0/0, split: color 5 is in one group only",
		}, [3]bool{true, true, true}},
		{"NoResult", [3][]Creation{{dup}, {dup}, {with(dup, func(c *Creation) { c.Result = Local{} })}},
			[]string{"resolve: rank 2: creation 0 on world, duplicate: call 0 has no result"}, [3]bool{}},
		{"OtherClass", [3][]Creation{{dup}, {dup}, {with(dup, func(c *Creation) { c.Result.Class = "file" })}},
			[]string{"resolve: rank 2: creation 0 on world, duplicate: call 0 makes a file"}, [3]bool{}},
		{"OtherMembers", [3][]Creation{{create(0, 1)}, {create(0, 1)}, {create(0, 2)}},
			[]string{"resolve: rank 2: creation 0 on world, create: call 0 names other members than those of its group do"}, [3]bool{}},
		{"NotItself", [3][]Creation{{create(0, 1)}, {create(0, 1)}, {create(0, 1)}},
			[]string{"resolve: rank 2: creation 0 on world, create: call 0 names other members than those of its group do"}, [3]bool{}},
		{"CreateRank", [3][]Creation{{create(1, 0)}, {with(create(1, 0), func(c *Creation) { c.Rank, c.Size = 1, 2 })}, {create(2)}},
			[]string{"resolve: rank 1: creation 0 on world, create: call 0 makes it rank 1 of 2, not 0 of 2"}, [3]bool{}},
		{"CreateShort", [3][]Creation{{create(1, 0)}, {{Kind: Create, Parent: world}}, {create(2)}},
			[]string{"resolve: rank 0: creation 0 on world, create: call 0 makes it rank 1 of 2, not 0 of 1"}, [3]bool{false, false, true}},
		{"NoSuchKind", [3][]Creation{{{Parent: world, Kind: 77}}, {{Parent: world, Kind: 77}}, {{Parent: world, Kind: 77}}},
			[]string{"resolve: rank 0: creation 0 on world, kind 77: no such kind"}, [3]bool{}},
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
	if len(g.list) != 1+2+2+2+2+1 {
		t.Errorf("%d groups: %q", len(g.list), names(g))
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
	if want := []string{"resolve: rank 0: call 3: frees comm 4, which is not known"}; !slices.Equal(lines(err), want) {
		t.Errorf("errors %q, want %q", lines(err), want)
	}
	if g, err := r.Resolve(); len(g.list) != 0 || err != nil {
		t.Errorf("%d groups left, %v", len(g.list), err)
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
		members := all
		if rank == 2 {
			members = slices.Clone(all)
		}
		r.Create(rank, 5, Creation{Kind: CreateGroup, Parent: world, Members: members, Result: comm(5)})
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
