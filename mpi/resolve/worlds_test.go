package resolve

import (
	"fmt"
	"slices"
	"testing"
)

// TestResolverWorlds has ranks 0 and 1 start ranks 2 and 3, and some calls missing or wrong.
func TestResolverWorlds(t *testing.T) {
	spawn := func(members ...int) Creation {
		return Creation{Kind: Spawn, Parent: world, Members: members, Result: comm(0)}
	}
	parent := Creation{Kind: SpawnedBy, Result: comm(0)}
	dup := Creation{Kind: Duplicate, Parent: comm(0), Result: comm(1)}
	other := parent
	other.Result.Class = "win"
	all := [4]string{"a/0 0", "a/0 1", "a/0 0 remote", "a/0 1 remote"}
	tests := []struct {
		name  string
		calls [4][]Creation
		want  []string
		known [4]string // comm 0 of each
	}{
		{"Spawn", [4][]Creation{{spawn(2, 3)}, {spawn()}, {parent}, {parent}}, nil, all},
		{"ByOther", [4][]Creation{{spawn()}, {spawn(2, 3)}, {parent}, {parent}}, nil, all},
		{"ByBoth", [4][]Creation{{spawn(2, 3)}, {spawn(2, 3)}, {parent}, {parent}}, nil, all},
		{"AskedTwice", [4][]Creation{{spawn(2, 3), dup}, {spawn(), dup}, {parent, parent, dup}, {parent, dup, parent}}, nil, all},
		{"NotAsked", [4][]Creation{{spawn(2, 3)}, {spawn()}, {}, {parent}}, nil, [4]string{"a/0 0", "a/0 1", "", "a/0 1 remote"}},
		{"Unknown", [4][]Creation{{spawn()}, {spawn()}, {parent}, {}},
			[]string{
				"resolve: rank 0: creation 0 on a, spawn: call 0: which processes it starts is not recorded",
				"resolve: rank 2: get parent: call 0: which processes started it is not recorded",
			}, [4]string{}},
		{"Different", [4][]Creation{{spawn(2, 3)}, {spawn(3)}, {}, {}},
			[]string{"resolve: rank 1: creation 0 on a, spawn: call 0 starts other processes than that of another rank"}, [4]string{}},
		{"Missing", [4][]Creation{{spawn(2, 3)}, {}, {}, {}},
			[]string{"resolve: rank 1: creation 0 on a, spawn: no such call, but rank 0 has one, call 0"}, [4]string{}},
		{"NobodySuch", [4][]Creation{{spawn(7, -1)}, {spawn()}, {}, {}}, nil, [4]string{"a/0 0", "a/0 1", "", ""}},
		{"NoResult", [4][]Creation{{spawn(2, 3)}, {{Kind: Spawn, Parent: world}}, {}, {}},
			[]string{"resolve: rank 1: creation 0 on a, spawn: call 0 has no result"}, [4]string{}},
		{"OtherClass", [4][]Creation{{spawn(2, 3)}, {spawn()}, {other}, {parent}},
			[]string{"resolve: rank 2: get parent: call 0: which processes started it is not recorded"},
			[4]string{"a/0 0", "a/0 1", "", "a/0 1 remote"}},
	}
	for _, tt := range tests {
		var r Resolver
		r.Declare(world, "a", []int{0, 1})
		r.Declare(world, "b", []int{2, 3})
		for rank, calls := range tt.calls {
			for i, c := range calls {
				r.Create(rank, uint64(i), c)
			}
		}
		groups, err := r.Resolve()
		if got := lines(err); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		checkMembers(t, tt.name, groups, comm(0), tt.known[:])
	}
}

// checkMembers checks what each rank is in what it calls a name.
func checkMembers(t *testing.T, name string, groups *Groups, local Local, want []string) {
	t.Helper()
	for rank, want := range want {
		got := ""
		if m, ok := groups.At(rank, local, 9); ok {
			got = fmt.Sprint(m.Group.Name(), " ", m.Rank)
			if m.Remote {
				got += " remote"
			}
		}
		if got != want {
			t.Errorf("%s: rank %d: %q, want %q", name, rank, got, want)
		}
	}
}

// TestResolverPorts has ranks 0 and 1 of one world, and 2 and 3 of another, accept and connect.
func TestResolverPorts(t *testing.T) {
	at := func(kind Kind, parent Local, port string, result int64) Creation {
		return Creation{Kind: kind, Parent: parent, Port: port, Result: comm(result)}
	}
	accept, connect := at(Accept, world, "p", 0), at(Connect, world, "p", 0)
	self := Local{"comm", -2}
	tests := []struct {
		name  string
		calls [4][]Creation
		want  []string
		known [4]string // comm 0 of each
	}{
		{"Met", [4][]Creation{{accept}, {at(Accept, world, "not that of the leader", 0)}, {connect}, {connect}}, nil,
			[4]string{"a/0 0", "a/0 1", "a/0 0 remote", "a/0 1 remote"}},
		{"Turned", [4][]Creation{{connect}, {connect}, {accept}, {accept}}, nil,
			[4]string{"a/0 0", "a/0 1", "a/0 0 remote", "a/0 1 remote"}},
		{"Ports", [4][]Creation{
			{at(Accept, self, "p", 0), at(Accept, self, "q", 1)}, {}, {at(Connect, self, "q", 0)}, {at(Connect, self, "p", 0)},
		}, nil, [4]string{"s0/0 0", "", "s0/1 0 remote", "s0/0 0 remote"}},
		{"Order", [4][]Creation{
			{at(Accept, self, "p", 0), at(Accept, self, "p", 1)}, {}, {at(Connect, self, "p", 1), at(Connect, self, "p", 0)}, {},
		}, nil, [4]string{"s0/0 0", "", "s0/1 0 remote", ""}},
		{"WhichMet", [4][]Creation{{at(Accept, self, "p", 0), at(Accept, self, "p", 1)}, {}, {at(Connect, self, "p", 0)}, {at(Connect, self, "p", 0)}},
			[]string{
				"resolve: rank 0: creation 0 on s0, accept: call 0: which groups met at the port is not recorded",
				"resolve: rank 0: creation 1 on s0, accept: call 1: which groups met at the port is not recorded",
				"resolve: rank 2: creation 0 on s2, connect: call 0: which groups met at the port is not recorded",
				"resolve: rank 3: creation 0 on s3, connect: call 0: which groups met at the port is not recorded",
			}, [4]string{}},
		{"Alone", [4][]Creation{{accept}, {accept}, {}, {}},
			[]string{"resolve: rank 0: creation 0 on a, accept: call 0: nobody of the run met it at the port"}, [4]string{}},
		{"NoLeader", [4][]Creation{{{Kind: Accept, Parent: world, Leader: 2}}, {accept}, {}, {}},
			[]string{"resolve: rank 0: creation 0 on a, accept: call 0: no leader 2 in the parent"}, [4]string{}},
	}
	for _, tt := range tests {
		var r Resolver
		r.Declare(world, "a", []int{0, 1})
		r.Declare(world, "b", []int{2, 3})
		for rank, calls := range tt.calls {
			r.Declare(self, fmt.Sprint("s", rank), []int{rank})
			for i, c := range calls {
				r.Create(rank, uint64(i), c)
			}
		}
		groups, err := r.Resolve()
		if got := lines(err); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		checkMembers(t, tt.name, groups, comm(0), tt.known[:])
	}
}
