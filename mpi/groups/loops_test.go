package groups_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/tracetest"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/groups"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/symbolic"
)

// A statement is one of a program that all ranks run.
type statement struct {
	what     string
	variable int // of a communicator
	parent   int // likewise; −1 is MPI_COMM_WORLD
	number   int
	only     int // the rank that makes other calls, or −1
	rounds   int
	body     []statement
}

const variables = 3

func statementsGen(depth int) *rapid.Generator[[]statement] {
	return rapid.Custom(func(t *rapid.T) []statement {
		var list []statement
		kinds := []string{"dup", "dup", "free", "free", "split", "others", "window", "alternate", "leave"}
		if depth > 0 {
			kinds = append(kinds, "loop", "loop", "loop", "loop")
		}
		for range rapid.IntRange(1, 5).Draw(t, "statements") {
			s := statement{
				what:     rapid.SampledFrom(kinds).Draw(t, "what"),
				variable: rapid.IntRange(0, variables-1).Draw(t, "variable"),
				parent:   rapid.SampledFrom([]int{-1, -1, -1, 0, 1, 2}).Draw(t, "parent"),
				number:   rapid.IntRange(0, 3).Draw(t, "number"),
				only:     rapid.IntRange(-1, 2).Draw(t, "only"),
			}
			if s.what == "loop" {
				s.body = statementsGen(depth-1).Draw(t, "body")
				s.rounds = min(rapid.SampledFrom([]int{2, 5, 6, 7, 9, 20, 21}).Draw(t, "rounds"), most/length(s.body))
			}
			list = append(list, s)
		}
		return list
	})
}

// most is the largest number of statements that a loop runs.
const most = 3000

// length returns how many statements run.
func length(list []statement) int {
	n := 1
	for i := range list {
		n += max(1, list[i].rounds*length(list[i].body))
	}
	return n
}

// A machine is a rank that runs a program.
type machine struct {
	*recording
	rank      int
	variables [variables]int // ids, −1 for none
	comms     symbolic.Pool
	windows   symbolic.Pool
}

func newMachine(rank int, r *recording) *machine {
	return &machine{recording: r, rank: rank, variables: [variables]int{null, null, null}}
}

func (m *machine) run(list []statement, round int) {
	for i := range list {
		s := &list[i]
		parent := world
		if s.parent >= 0 {
			parent = m.variables[s.parent]
		}
		switch s.what {
		case "loop":
			for n := range s.rounds {
				m.run(s.body, n)
			}
		case "others":
			for range (s.number + m.rank) % 3 {
				m.call("MPI_Bcast", "root", s.number, "comm", world)
			}
		case "leave": // what only one rank does, in one round
			if m.rank == s.only && round == s.number {
				m.call("MPI_Barrier", "comm", world)
			}
		case "free":
			m.free(s.variable)
		case "window":
			if parent != null {
				id := int(m.windows.Take())
				m.call("MPI_Win_create", "size", m.rank, "comm", parent, "win", id)
				m.call("MPI_Win_free", "win", id)
				m.windows.Release(int64(id))
			}
		default:
			if parent == null || s.variable == s.parent {
				continue
			}
			m.free(s.variable)
			m.create(s, parent, round)
		}
	}
}

func (m *machine) free(variable int) {
	if id := m.variables[variable]; id != null {
		m.call("MPI_Comm_free", "comm", id)
		m.comms.Release(int64(id))
		m.variables[variable] = null
	}
}

func (m *machine) create(s *statement, parent, round int) {
	color := (m.rank + s.number) % 2
	if s.what == "alternate" {
		color = (m.rank + round) % 2
	}
	if s.what != "dup" && s.number == 3 && m.rank == s.only {
		m.call("MPI_Comm_split", "comm", parent, "color", -5, "key", 0, "newcomm", null)
		return
	}
	id := int(m.comms.Take())
	m.variables[s.variable] = id
	if s.what == "dup" {
		m.call("MPI_Comm_dup", "comm", parent, "newcomm", id)
	} else {
		m.call("MPI_Comm_split", "comm", parent, "color", color, "key", 0, "newcomm", id)
	}
}

// sums is the options with which all loops are summed up.
var sums = groups.Options{MaxApart: 1}

// checkSums checks that what is resolved without all rounds of loops is what is resolved
// with them, and returns both.
func checkSums(t rapid.TB, trace *reprise.Trace) (full, summed *groups.Groups) {
	t.Helper()
	full, err := groups.Resolve(context.Background(), trace, groups.Options{MaxApart: 1 << 22})
	summed, errs := groups.Resolve(context.Background(), trace, sums)
	if (err == nil) != (errs == nil) {
		t.Fatalf("errors %v and %v", err, errs)
	}
	one := make(map[*symbolic.Group]*symbolic.Group)
	var order []*symbolic.Group
	for rank := range trace.Active() {
		r, err := trace.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		for _, class := range []string{"comm", "win"} {
			for id := range int64(variables + 1) {
				local := symbolic.Local{Class: class, ID: id}
				for position := range r.Len() {
					a, ok := full.At(rank, local, position)
					b, also := summed.At(rank, local, position)
					if ok != also || ok && (a.Rank != b.Rank || !slices.Equal(a.Group.Members, b.Group.Members) || a.Group.Color != b.Group.Color) {
						t.Fatalf("rank %d, call %d: %v %v, %v %v", rank, position, a, ok, b, also)
					}
					if !ok {
						continue
					}
					if one[a.Group] == nil {
						order = append(order, a.Group)
						one[a.Group] = b.Group
					}
					if one[a.Group] != b.Group {
						t.Fatalf("rank %d, call %d: %s is %s and %s", rank, position, a.Group.Name(), one[a.Group].Name(), b.Group.Name())
					}
					m, ok, first, last := summed.Span(rank, local, position)
					if m != b || !ok || position < first || position > last {
						t.Fatalf("rank %d, call %d: %v from %d to %d", rank, position, m, first, last)
					}
				}
			}
		}
	}
	checkNames(t, order, one)
	return full, summed
}

// checkNames checks the names and the numbers of groups that stand for others.
func checkNames(t rapid.TB, order []*symbolic.Group, one map[*symbolic.Group]*symbolic.Group) {
	t.Helper()
	counts := make(map[*symbolic.Group]uint64)
	names := make(map[string]*symbolic.Group)
	for _, g := range order {
		s := one[g]
		counts[s]++
		if names[s.Name()] == nil {
			names[s.Name()] = s
		}
		if names[s.Name()] != s {
			t.Fatalf("two groups are called %s", s.Name())
		}
		if s.Parent.Parent == nil && (g.Ordinal < s.Ordinal || g.Ordinal > max(s.Last, s.Ordinal)) {
			t.Fatalf("%s is %s", g.Name(), s.Name())
		}
	}
	for s, n := range counts {
		if n != max(1, s.Count) {
			t.Fatalf("%d groups are %s, which says %d", n, s.Name(), s.Count)
		}
	}
}

func testLoops(t *rapid.T) {
	program := statementsGen(3).Draw(t, "program")
	ranks := rapid.IntRange(1, 3).Draw(t, "ranks")
	checkSums(t, traceOf(t, ranks, func(rank int, r *recording) {
		m := newMachine(rank, r)
		m.run(program, 0)
		r.call("MPI_Barrier", "comm", world)
	}))
}

func TestLoops(t *testing.T) { rapid.Check(t, testLoops) }

func FuzzLoops(f *testing.F) { f.Fuzz(rapid.MakeFuzz(testLoops)) }

// A step is a call that ranks make, or a loop of steps.
type step struct {
	function         int
	a, b, n, m       int
	only             int // the rank that leaves it out, or −1
	rounds, variants int // variants of numbers that differ by rank
	body             []step
}

func stepsGen(depth int) *rapid.Generator[[]step] {
	return rapid.Custom(func(t *rapid.T) []step {
		var list []step
		for range rapid.IntRange(1, 5).Draw(t, "steps") {
			s := step{
				function: rapid.IntRange(0, 12).Draw(t, "function"),
				a:        rapid.SampledFrom([]int{world, world, world, self, 0, 1, 2}).Draw(t, "a"),
				b:        rapid.SampledFrom([]int{0, 0, 1, 2, 3, null}).Draw(t, "b"),
				n:        rapid.IntRange(-1, 2).Draw(t, "n"),
				m:        rapid.IntRange(0, 2).Draw(t, "m"),
				only:     rapid.SampledFrom([]int{-1, -1, -1, -1, -1, 0, 1}).Draw(t, "only"),
				variants: rapid.IntRange(1, 2).Draw(t, "variants"),
			}
			if s.function >= 10 && depth > 0 {
				s.rounds = rapid.SampledFrom([]int{2, 6, 7, 8, 20}).Draw(t, "rounds")
				s.body = stepsGen(depth-1).Draw(t, "body")
			}
			list = append(list, s)
		}
		return list
	})
}

// take makes the calls of steps, which need not make sense.
func (r *recording) take(rank, ranks int, list []step) {
	for i := range list {
		s := &list[i]
		if s.only == rank {
			continue
		}
		n := s.n + rank%s.variants
		switch s.function {
		case 0, 1:
			r.call("MPI_Comm_idup", "comm", s.a, "newcomm", s.b)
		case 2:
			r.call("MPI_Comm_split", "comm", s.a, "color", n, "key", s.m, "newcomm", s.b)
		case 3:
			r.call("MPI_Comm_create_group", "comm", s.a, "tag", s.n, "newcomm", s.b, "members", []int{0, 1}[:1+s.m%2])
		case 4:
			r.call("MPI_Cart_create", "comm_old", s.a, "dims", []int{ranks, 1}, "comm_cart", s.b, "newrank", rank)
		case 5:
			r.call("MPI_Cart_sub", "comm", max(0, s.a), "remain_dims", []int{s.m % 2, 1}, "newcomm", s.b)
		case 6:
			r.call("MPI_Intercomm_create", "local_comm", self, "local_leader", 0, "peer_comm", world, "remote_leader", 1-rank%2, "tag", s.n, "newintercomm", s.b)
		case 7:
			r.call("MPI_Intercomm_merge", "intercomm", max(0, s.a), "high", rank%2, "newintracomm", s.b)
		case 8, 9:
			r.call("MPI_Comm_free", "comm", max(0, s.a))
		default:
			if s.rounds == 0 {
				r.call("MPI_Bcast", "root", s.m, "comm", world)
			}
			for range s.rounds {
				r.take(rank, ranks, s.body)
			}
		}
	}
}

// testAnyLoops is testLoops for calls that no program makes.
func testAnyLoops(t *rapid.T) {
	steps := stepsGen(2).Draw(t, "steps")
	ranks := rapid.IntRange(1, 3).Draw(t, "ranks")
	checkSums(t, traceOf(t, ranks, func(rank int, r *recording) {
		r.take(rank, ranks, steps)
		r.call("MPI_Barrier", "comm", world)
	}))
}

func TestAnyLoops(t *testing.T) { rapid.Check(t, testAnyLoops) }

func FuzzAnyLoops(f *testing.F) { f.Fuzz(rapid.MakeFuzz(testAnyLoops)) }

// TestSums checks which groups there are of loops that are summed up.
func TestSums(t *testing.T) {
	const rounds = 60
	dup := func(r *recording, parent, id int) { r.call("MPI_Comm_dup", "comm", parent, "newcomm", id) }
	split := func(r *recording, parent, color, id int) {
		r.call("MPI_Comm_split", "comm", parent, "color", color, "key", 0, "newcomm", id)
	}
	free := func(r *recording, id int) { r.call("MPI_Comm_free", "comm", id) }
	other := func(r *recording, n int) { r.call("MPI_Bcast", "root", n, "comm", world) }
	tests := []struct {
		name   string
		round  func(rank, n int, r *recording)
		number int // of groups
		want   []string
	}{
		{"Alike", func(_, _ int, r *recording) { dup(r, world, 0); free(r, 0) }, 1, []string{"world/0…59"}},
		{"FirstDiffers", func(rank, n int, r *recording) {
			dup(r, world, 0)
			if rank == 1 && n == 0 {
				other(r, 0)
			}
			free(r, 0)
		}, 1, []string{"world/0…59"}},
		{"TwoRoundsOfOne", func(rank, n int, r *recording) {
			dup(r, world, 0)
			other(r, rank*n%2)
			free(r, 0)
		}, 2, []string{"world/0…58", "world/1…59"}},
		{"ThreeRoundsOfOneRank", func(rank, n int, r *recording) {
			dup(r, world, 0)
			if rank == 1 {
				other(r, n%3)
			}
			free(r, 0)
		}, 3, []string{"world/0…57", "world/1…58", "world/2…59"}},
		{"Colors", func(rank, n int, r *recording) { split(r, world, (rank+n)%2, 0); free(r, 0) }, 4,
			[]string{"world/0…58:0", "world/0…58:1", "world/1…59:0", "world/1…59:1"}},
		{"Nested", func(rank, _ int, r *recording) {
			dup(r, world, 0)
			for range 30 {
				split(r, 0, rank, 1)
				free(r, 1)
			}
			free(r, 0)
		}, 3, []string{"world/0…59", "world/0…59/0…29:0", "world/0…59/0…29:1"}},
		{"RoundsByRank", func(rank, n int, r *recording) {
			if rank == 0 || n < 50 {
				dup(r, self, 0)
				free(r, 0)
			}
		}, 2, []string{"self0/0…59", "self1/0…49"}},
		{"OfTheRoundBefore", func(rank, n int, r *recording) {
			if n > 0 {
				dup(r, 0, 1)
				free(r, 1)
				free(r, 0)
			}
			dup(r, world, 0)
		}, 3, []string{"world/0…58", "world/0…58/0", "world/59"}},
		{"KeptWhileOthersGo", func(_, n int, r *recording) {
			if n == 0 {
				dup(r, world, 1)
			}
			dup(r, 1, 0)
			free(r, 0)
		}, 2, []string{"world/0", "world/0/0…59"}},
		{"UnknownGrid", func(_, n int, r *recording) {
			if n == 0 {
				dup(r, world, 0)
				dup(r, world, 1)
			}
			dup(r, 1, 0)
			dup(r, world, 0)
			r.call("MPI_Cart_sub", "comm", 1, "remain_dims", []int{0, 1}, "newcomm", 1)
		}, 2 + 2*rounds, nil},
		{"NotFreed", func(_, n int, r *recording) { dup(r, world, n) }, rounds, nil},
		{"Deeper", func(_, n int, r *recording) {
			if n == 0 {
				dup(r, world, 0)
			}
			dup(r, 0, 1)
			free(r, 0)
			dup(r, 1, 0)
			free(r, 1)
		}, 1 + 2*rounds, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, summed := checkSums(t, traceOf(t, 2, func(rank int, r *recording) {
				for n := range rounds {
					tt.round(rank, n, r)
				}
				other(r, 0)
			}))
			var names []string
			for g := range summed.All() {
				if g.Parent != nil {
					names = append(names, g.Name())
				}
			}
			if slices.Sort(names); len(names) != tt.number || tt.want != nil && !slices.Equal(names, tt.want) {
				t.Errorf("%d groups: %v, want %d: %v", len(names), names, tt.number, tt.want)
			}
		})
	}
}

// looped returns the trace of a run of which each rank makes the calls of a round so many
// times.
func looped(t rapid.TB, ranks int, rounds uint64, record func(rank int, r *recording)) *reprise.Trace {
	t.Helper()
	var parts []merge.Part
	for rank := range ranks {
		var r recording
		record(rank, &r)
		p := r.Finish(rank)
		var runs []sequitur.Run
		for _, s := range p.Grammar.AppendSymbols(nil) {
			runs = append(runs, sequitur.Run{Symbol: s, Count: 1})
		}
		var b sequitur.Builder
		b.AppendLoop(runs, rounds)
		p.Grammar = b.Finish()
		parts = append(parts, p)
	}
	return tracetest.Write(t, merge.Run{Ranks: ranks}, parts)
}

// TestLongLoops checks that a loop of any length costs what a few of its rounds do, and how
// its objects are called.
func TestLongLoops(t *testing.T) {
	const rounds = 1 << 30
	trace := looped(t, 3, rounds, func(rank int, r *recording) {
		r.call("MPI_Comm_dup", "comm", world, "newcomm", 0)
		if rank == 1 {
			r.call("MPI_Barrier", "comm", 0)
		}
		r.call("MPI_Comm_split", "comm", 0, "color", rank%2, "key", 0, "newcomm", 1)
		r.call("MPI_Win_create", "comm", 1, "win", 0)
		r.call("MPI_Win_free", "win", 0)
		r.call("MPI_Comm_free", "comm", 1)
		r.call("MPI_Comm_free", "comm", 0)
	})
	all, err := groups.Resolve(context.Background(), trace, groups.Options{MaxCalls: 120, MaxApart: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, round := range []uint64{0, 1, 2, 3, 4, 1 << 20, rounds - 2, rounds - 1} {
		for class, want := range map[string]string{"comm": "world/0…1073741823/0:0", "win": "world/0…1073741823/0:0/0"} {
			id := map[string]int64{"comm": 1, "win": 0}[class]
			m, ok := all.At(2, symbolic.Local{Class: class, ID: id}, 6*round+2)
			if !ok || m.Group.Name() != want || m.Rank != 1 || m.Group.Count != rounds || !slices.Equal(m.Group.Members, []int{0, 2}) {
				t.Errorf("round %d: %+v, %v", round, m, ok)
			}
			if _, ok = all.At(2, symbolic.Local{Class: class, ID: id}, 6*round); ok {
				t.Errorf("round %d: a %s is there before it is created", round, class)
			}
		}
	}
	if n := all.Len(); n != 1+3+1+2+2 {
		t.Errorf("%d groups", n)
	}
}

// TestLongLoopsLost checks what is resolved of a long loop of which one member is lost.
func TestLongLoopsLost(t *testing.T) {
	const rounds = 1 << 30
	trace := looped(t, 3, rounds, func(rank int, r *recording) {
		if rank == 2 {
			r.call("MPI_Barrier", "comm", world)
			return
		}
		r.call("MPI_Comm_dup", "comm", world, "newcomm", 0)
		r.call("MPI_Comm_split", "comm", world, "color", 0, "key", 0, "newcomm", 1)
		r.call("MPI_Comm_free", "comm", 1)
		r.call("MPI_Comm_free", "comm", 0)
	})
	all, err := groups.Resolve(context.Background(), trace, groups.Options{MaxCalls: 120, MaxApart: 1})
	var ge *symbolic.GroupError
	if !errors.As(err, &ge) {
		t.Fatal(err)
	}
	if last := "rank 2: creation 2147483646 on world, duplicate: no such call"; !strings.Contains(err.Error(), last) {
		t.Errorf("err = %v, want %s", err, last)
	}
	for id, want := range map[int64]string{0: "world/0…2147483646", 1: "none"} {
		got := "none"
		if m, ok := all.At(1, symbolic.Local{Class: "comm", ID: id}, 4<<20+2); ok {
			got = m.Group.Name()
		}
		if got != want {
			t.Errorf("%d is %s, want %s", id, got, want)
		}
	}
}

// TestUnlikeLoops checks that nothing is said of loops that are too long to go through and
// do not fit together.
func TestUnlikeLoops(t *testing.T) {
	trace := looped(t, 2, 1<<30, func(rank int, r *recording) {
		r.call("MPI_Comm_dup", "comm", world, "newcomm", 0)
		r.call("MPI_Comm_free", "comm", 0)
		r.call("MPI_Comm_create_group", "comm", world, "tag", 7, "newcomm", 0, "members", []int{0, 1})
		r.call("MPI_Comm_free", "comm", 0)
	})
	if all, err := groups.Resolve(context.Background(), trace, groups.Options{MaxCalls: 1 << 16, MaxApart: 1}); !errors.Is(err, groups.ErrLimit) || all != nil {
		t.Errorf("%v, %v", all, err)
	}
}
