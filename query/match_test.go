package query

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/tier"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

func openMatch(t tester, tr *trace.Trace) *Match {
	t.Helper()
	m, err := OpenMatch(t.Context(), openModel(t, tr), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestMatchReal checks that all messages and collective operations of real runs match, and
// where, against a matcher that goes through all calls.
func TestMatchReal(t *testing.T) {
	for _, path := range realTraces(t, "ti/*.ti.zst") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			if !tier.Nightly && !strings.HasSuffix(path, "S.16.ti.zst") {
				t.Skip("short: a large trace")
			}
			tr := openTI(t, path)
			m := openMatch(t, tr)
			if len(m.Unmatched) > 0 || m.Unknown+m.Outside+m.Assumed+m.Cancelled+m.UnknownCollectives > 0 {
				t.Errorf("%v unmatched, %d unknown, %d outside, %d guessed", m.Unmatched, m.Unknown,
					m.Outside, m.Assumed)
			}
			for _, n := range m.Instances {
				if len(n.Different) > 0 || n.Absent.Len() > 0 || n.Count == 0 {
					t.Errorf("%s: %v, %v absent, of %d", n.Communicator.Name, n.Different, n.Absent, n.Count)
				}
			}
			if tr.Ranks() <= 16 {
				checkMatch(t, m, 997)
			}
		})
	}
}

func TestMatchPrograms(t *testing.T) {
	for _, p := range tier.Some(programs.All(16), 4) {
		t.Run(p.Name, func(t *testing.T) {
			m := openMatch(t, openProgram(t, p))
			if len(m.Unmatched) > 0 || m.Unknown+m.Outside > 0 {
				t.Errorf("%v unmatched, %d unknown, %d outside", m.Unmatched, m.Unknown, m.Outside)
			}
			checkMatch(t, m, 97)
		})
	}
}

// A message is an end of one, by where it is in the trace.
type messageAt struct {
	rank     int
	position uint64
	number   int
}

// A slowMatch is what a matcher finds that goes through all calls.
type slowMatch struct {
	ends        map[Channel]map[semantics.Direction][]messageAt
	collectives map[*semantics.Communicator]map[int][]CollectiveCall
	cancelled   map[Channel]int
	ranks       []int
}

func matchSlowly(t tester, m *semantics.Model) slowMatch {
	s := slowMatch{make(map[Channel]map[semantics.Direction][]messageAt),
		make(map[*semantics.Communicator]map[int][]CollectiveCall), make(map[Channel]int), nil}
	for _, rank := range m.Trace().RankSet().All() {
		s.ranks = append(s.ranks, rank)
		r, err := m.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		for call, err := range r.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			position := call.Position
			o := r.At(position, call.Terminal)
			if o == nil {
				continue
			}
			for i, message := range o.Messages {
				c := Channel{message.Communicator, rank, message.Peer, message.Tag}
				if message.Direction == semantics.Receive {
					c.Source, c.Destination = message.Peer, rank
				}
				if message.Cancelled {
					s.cancelled[c]++
				}
				if s.ends[c] == nil {
					s.ends[c] = make(map[semantics.Direction][]messageAt)
				}
				s.ends[c][message.Direction] = append(s.ends[c][message.Direction], messageAt{rank, position, i})
			}
			for _, p := range operationsOn(o, nil) {
				if s.collectives[p.Communicator] == nil {
					s.collectives[p.Communicator] = make(map[int][]CollectiveCall)
				}
				list := s.collectives[p.Communicator]
				list[rank] = append(list[rank], CollectiveCall{position, collectiveName(call.Function.Name), p.Root})
			}
		}
	}
	return s
}

// checkMatch compares m with what is found call by call: partners of every so many messages,
// and all collective operations of that many.
func checkMatch(t tester, m *Match, every int) {
	t.Helper()
	s := matchSlowly(t, m.model)
	n := 0
	for c, ends := range s.ends {
		if c.Source < 0 || c.Tag < 0 {
			continue
		}
		for _, direction := range []semantics.Direction{semantics.Send, semantics.Receive} {
			others := ends[semantics.Send+semantics.Receive-direction]
			for k, e := range ends[direction] {
				if n++; n%every != 0 {
					continue
				}
				list, err := m.Partner(e.rank, e.position)
				if err != nil {
					t.Fatal(err)
				}
				i := slices.IndexFunc(list, func(p Partner) bool { return p.Message == e.number })
				switch {
				case !m.exact(c) || k >= len(others):
					if i >= 0 {
						t.Fatalf("%v: message %d of %v has a partner %v", c, k, e, list[i])
					}
				case i < 0 || others[k] != messageAt{list[i].Rank, list[i].Position, list[i].Other}:
					t.Fatalf("%v: message %d of %v goes with %v, want %v", c, k, e, list, others[k])
				}
			}
		}
	}
	checkUnmatched(t, m, s)
	checkInstances(t, m, s, every)
	checkNumbers(t, m, s, every)
}

// checkNumbers compares the numbers of messages with what is found call by call: of all
// calls, and of every so many.
func checkNumbers(t tester, m *Match, s slowMatch, every int) {
	t.Helper()
	numbering, err := OpenNumbering(t.Context(), m.model, Options{})
	if err != nil {
		t.Fatal(err)
	}
	number := make(map[messageAt]uint64)
	instances, instanceOf := make(map[instanceAt]uint64), make(map[uint64]instanceAt)
	for _, rank := range s.ranks {
		r, err := m.model.Trace().Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		all, err := numbering.Of(t.Context(), r, rank)
		if err != nil {
			t.Fatal(err)
		}
		some, err := numbering.Of(t.Context(), r, rank)
		if err != nil {
			t.Fatal(err)
		}
		begun := make(map[*semantics.Communicator]uint64)
		for call, err := range r.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			position := call.Position
			o, numbers := all.At(position, call.Terminal)
			checkCollectives(t, o, all.Collectives(), begun, instances, instanceOf)
			for i, n := range numbers {
				number[messageAt{rank, position, i}] = n
			}
			if position/3%uint64(every+1) == 0 { // three calls in a row
				if _, got := some.At(position, call.Terminal); !slices.Equal(got, numbers) {
					t.Fatalf("call %d of rank %d has messages %v, want %v", position, rank, got, numbers)
				}
				if got, want := some.Collectives(), all.Collectives(); !slices.Equal(got, want) {
					t.Fatalf("call %d of rank %d begins %v, want %v", position, rank, got, want)
				}
			}
		}
	}
	seen := make(map[uint64]Channel)
	for c, ends := range s.ends {
		sent, received := ends[semantics.Send], ends[semantics.Receive]
		for k := range max(len(sent), len(received)) {
			there := k < min(len(sent), len(received)) && m.tells(c) && s.cancelled[c] == 0
			for _, end := range [][]messageAt{sent, received} {
				if k < len(end) && (number[end[k]] > 0) != there {
					t.Fatalf("%v: message %d of %d and %d has number %d", c, k, len(sent), len(received),
						number[end[k]])
				}
			}
			if !there {
				continue
			}
			n := number[sent[k]]
			if other, ok := seen[n]; n != number[received[k]] || ok {
				t.Fatalf("%v: message %d has numbers %d and %d, as one of %v", c, k, n, number[received[k]], other)
			}
			seen[n] = c
		}
	}
	if uint64(len(seen)) != numbering.last {
		t.Fatalf("%d messages have numbers, want %d", numbering.last, len(seen))
	}
}

// An instanceAt is the k-th collective operation on a communicator.
type instanceAt struct {
	communicator *semantics.Communicator
	k            uint64
}

// checkCollectives checks the numbers of the collective operations that a call begins, given how
// many the rank began before: the k-th on a communicator has one number on all ranks, which no
// other has.
func checkCollectives(t tester, o *semantics.Operation, got []uint64,
	before map[*semantics.Communicator]uint64, numbers map[instanceAt]uint64, seen map[uint64]instanceAt) {
	t.Helper()
	list := operationsOn(o, nil)
	if len(list) != len(got) {
		t.Fatalf("%d operations have numbers %v", len(list), got)
	}
	for i, p := range list {
		at := instanceAt{p.Communicator, before[p.Communicator]}
		before[p.Communicator]++
		n, known := numbers[at]
		other, taken := seen[got[i]]
		if got[i] == 0 || known && n != got[i] || taken && other != at {
			t.Fatalf("operation %d on %s has number %d, elsewhere %d", at.k, p.Communicator.Name, got[i], n)
		}
		numbers[at], seen[got[i]] = got[i], at
	}
}

// checkUnmatched compares the unmatched messages of channels that nothing else could match.
func checkUnmatched(t tester, m *Match, s slowMatch) {
	t.Helper()
	got := make(map[Channel]map[semantics.Direction]Unmatched)
	matched := uint64(0)
	for _, u := range m.Unmatched {
		if got[u.Channel] == nil {
			got[u.Channel] = make(map[semantics.Direction]Unmatched)
		}
		got[u.Channel][u.Direction] = u
	}
	for c, ends := range s.ends {
		sent, received := len(ends[semantics.Send]), len(ends[semantics.Receive])
		if c.Source >= 0 && c.Tag >= 0 {
			matched += uint64(min(sent, received))
		}
		if !m.exact(c) || c.Source < 0 || c.Tag < 0 || !slices.Contains(s.ranks, c.Source) ||
			!slices.Contains(s.ranks, c.Destination) {
			continue
		}
		for direction, n := range map[semantics.Direction]int{semantics.Send: sent - received,
			semantics.Receive: received - sent - s.cancelled[c]} {
			u, ok := got[c][direction]
			if ok != (n > 0) || ok && u.Count != uint64(n) {
				t.Fatalf("%v: %d of direction %v unmatched, want %d", c, u.Count, direction, n)
			}
			if !ok {
				continue
			}
			position, err := firstOf(m, u)
			if first := ends[direction][min(sent, received)]; err != nil || position != first.position ||
				u.Rank != first.rank {
				t.Fatalf("%v: first is call %d of rank %d, want %v, %v", c, position, u.Rank, first, err)
			}
		}
	}
	if m.Messages != matched+m.Assumed {
		t.Fatalf("%d messages, want %d and %d guessed", m.Messages, matched, m.Assumed)
	}
}

func checkInstances(t tester, m *Match, s slowMatch, every int) {
	t.Helper()
	if len(m.Instances) != len(s.collectives) {
		t.Fatalf("collective operations on %d communicators, want %d", len(m.Instances), len(s.collectives))
	}
	for _, n := range m.Instances {
		lists := s.collectives[n.Communicator]
		want := lists[n.Reference]
		if n.Count != uint64(len(want)) {
			t.Fatalf("%s: %d operations, want %d", n.Communicator.Name, n.Count, len(want))
		}
		members := rankenc.SetOf(slices.Collect(maps.Keys(lists))...)
		if !members.Equal(n.Members) {
			t.Fatalf("%s: members %v, want %v", n.Communicator.Name, n.Members, members)
		}
		others := n.Communicator.RankSet().Difference(members)
		if !n.Absent.Equal(others) {
			t.Fatalf("%s: no calls of %v, want %v", n.Communicator.Name, n.Absent, others)
		}
		for rank := range lists {
			checkMember(t, m, n, rank, lists[rank], want, every)
		}
	}
}

func sameOperation(c *semantics.Communicator, a, b CollectiveCall) bool {
	return a.Function == b.Function && (a.Root == b.Root || c.IsInter())
}

func checkMember(t tester, m *Match, n Instances, rank int, list, want []CollectiveCall, every int) {
	t.Helper()
	first := 0
	for first < min(len(list), len(want)) && sameOperation(n.Communicator, list[first], want[first]) {
		first++
	}
	i := slices.IndexFunc(n.Different, func(d Disagreement) bool { return d.Rank == rank })
	if equal := first == len(list) && first == len(want); equal != (i < 0) {
		t.Fatalf("%s: rank %d differs: %v", n.Communicator.Name, rank, i >= 0)
	}
	at := func(list []CollectiveCall, k int) CollectiveCall {
		if k < len(list) {
			return list[k]
		}
		r, err := m.open(t.Context(), rank)
		if err != nil {
			t.Fatal(err)
		}
		return CollectiveCall{r.rank.Len(), "", -1}
	}
	if i >= 0 {
		d := n.Different[i]
		there := at(want, first)
		if there.Function == "" {
			there.Position = d.There.Position
		}
		if d.Count != uint64(len(list)) || d.Instance != uint64(first) || d.Here != at(list, first) ||
			d.There != there {
			t.Fatalf("%s: %+v, want operation %d, %v and %v", n.Communicator.Name, d, first, at(list, first),
				at(want, first))
		}
	}
	for k := 0; k < len(list); k += 1 + every/10 {
		if c, err := m.Call(rank, n.Communicator, uint64(k)); err != nil || c != list[k] {
			t.Fatalf("%s: operation %d of rank %d is %v, want %v, %v", n.Communicator.Name, k, rank, c, list[k], err)
		}
		c, at, ok, err := m.Instance(rank, list[k].Position)
		if err != nil || !ok || c == n.Communicator && list[at].Position != list[k].Position {
			t.Fatalf("%s: call %d of rank %d is operation %d, want %d, %v", n.Communicator.Name,
				list[k].Position, rank, at, k, err)
		}
	}
}

// Functions of the programs that are drawn.
var (
	intParam  = func(name string) cst.Param { return cst.Param{Name: name, Type: cst.Type{Kind: cst.KindInt}} }
	rankParam = func(name string) cst.Param { return cst.Param{Name: name, Type: cst.Type{Kind: cst.KindRank}} }
	tagParam  = func(name string) cst.Param { return cst.Param{Name: name, Type: cst.Type{Kind: cst.KindTag}} }
	handle    = func(class string, d cst.Direction) cst.Param {
		return cst.Param{Name: class, Type: cst.HandleOf(class), Direction: d}
	}
	status  = cst.Param{Name: "status", Type: cst.Type{Kind: cst.KindStatus}, Direction: cst.Out}
	newComm = cst.Param{Name: "newcomm", Type: cst.HandleOf("comm"), Direction: cst.Out}

	mpiFunctions = []cst.Function{
		{Name: "MPI_Send", Params: []cst.Param{intParam("count"), handle("datatype", cst.In),
			rankParam("dest"), tagParam("tag"), handle("comm", cst.In)}},
		{Name: "MPI_Recv", Params: []cst.Param{intParam("count"), handle("datatype", cst.In),
			rankParam("source"), tagParam("tag"), handle("comm", cst.In), status}},
		{Name: "MPI_Irecv", Params: []cst.Param{intParam("count"), handle("datatype", cst.In),
			rankParam("source"), tagParam("tag"), handle("comm", cst.In), handle("request", cst.Out)}},
		{Name: "MPI_Wait", Params: []cst.Param{handle("request", cst.InOut), status}},
		{Name: "MPI_Sendrecv", Params: []cst.Param{intParam("sendcount"), handle("sendtype", cst.In),
			rankParam("dest"), tagParam("sendtag"), rankParam("source"), tagParam("recvtag"),
			handle("comm", cst.In), status}},
		{Name: "MPI_Barrier", Params: []cst.Param{handle("comm", cst.In)}},
		{Name: "MPI_Bcast", Params: []cst.Param{intParam("count"), rankParam("root"), handle("comm", cst.In)}},
		{Name: "MPI_Comm_dup", Params: []cst.Param{handle("comm", cst.In), newComm}},
		{Name: "MPI_Comm_free", Params: []cst.Param{handle("comm", cst.InOut)}},
	}
)

// testMatch checks the matches of programs that are drawn, with loops, receives from any
// source, and communicators that come and go, of which some calls are left out.
func testMatch(t *rapid.T) {
	const world, anySource, anyTag = -3, -1, -1
	ranks := rapid.IntRange(1, 4).Draw(t, "ranks")
	recorders := make([]tracer.Recorder, ranks)
	call := func(rank, fn int, args ...cst.Value) {
		r := &recorders[rank]
		r.Call(r.Declare(mpiFunctions[fn]), args...)
	}
	skip := func() bool { return rapid.IntRange(0, 29).Draw(t, "skip") == 0 }
	round := func(comm int64) func() {
		var steps []func()
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			from, to := rapid.IntRange(0, ranks-1).Draw(t, "from"), rapid.IntRange(0, ranks-1).Draw(t, "to")
			tag := rapid.Int64Range(0, 1).Draw(t, "tag")
			send := []cst.Value{cst.Int(1), cst.Handle(-33), cst.Rank(int64(to)), cst.Tag(tag), cst.Handle(comm)}
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0:
				steps = append(steps, func() {
					if !skip() {
						call(from, 0, send...)
					}
					if !skip() {
						call(to, 1, cst.Int(1), cst.Handle(-33), cst.Rank(int64(from)), cst.Tag(tag),
							cst.Handle(comm), cst.StatusOf(cst.Status{Source: -9, Tag: -9}))
					}
				})
			case 1:
				tells := rapid.Bool().Draw(t, "tells")
				steps = append(steps, func() {
					call(from, 0, send...)
					call(to, 2, cst.Int(1), cst.Handle(-33), cst.Rank(anySource), cst.Tag(anyTag),
						cst.Handle(comm), cst.Handle(0))
					s := cst.Status{Source: -9, Tag: -9}
					if tells {
						s.Source, s.Tag = int64(from), tag
					}
					call(to, 3, cst.Handle(0), cst.StatusOf(s))
				})
			case 2:
				steps = append(steps, func() {
					for rank := range ranks {
						call(rank, 4, cst.Int(1), cst.Handle(-33), cst.Rank(int64((rank+1)%ranks)),
							cst.Tag(tag), cst.Rank(int64((rank+ranks-1)%ranks)), cst.Tag(tag),
							cst.Handle(comm), cst.StatusOf(cst.Status{Source: -9, Tag: -9}))
					}
				})
			case 3:
				steps = append(steps, func() {
					for rank := range ranks {
						if !skip() {
							call(rank, 5, cst.Handle(comm))
						}
					}
				})
			case 4:
				steps = append(steps, func() {
					for rank := range ranks {
						root := int64(from)
						if skip() {
							root = 0
						}
						call(rank, 6, cst.Int(1), cst.Rank(root), cst.Handle(comm))
					}
				})
			}
		}
		return func() {
			for _, step := range steps {
				step()
			}
		}
	}
	onWorld, onDup := round(world), round(0)
	for range rapid.IntRange(1, 6).Draw(t, "rounds") {
		onWorld()
		if rapid.Bool().Draw(t, "dup") {
			for rank := range ranks {
				call(rank, 7, cst.Handle(world), cst.Handle(0))
			}
			onDup()
			onWorld()
			for rank := range ranks {
				call(rank, 8, cst.Handle(0))
			}
		}
	}
	var parts []merge.Part
	for rank := range recorders {
		parts = append(parts, recorders[rank].Finish(rank))
	}
	checkMatch(t, openMatch(t, openParts(t, merge.Run{Ranks: ranks}, parts)), 1)
}

func TestMatch(t *testing.T) { rapid.Check(t, testMatch) }

// Of what nobody receives, it is said what, how often and where first.
func TestUnmatched(t *testing.T) {
	text := "0 init\n0 send 1 7 3 1\n0 send 1 7 3 1\n0 send 1 8 3 1\n1 init\n1 recv 0 7 3 1\n1 recv -333 9 3 1\n1 barrier\n0 bcast 1 0 1 \n2 init\n2 bcast 1 0 1 \n3 init\n"
	m := openMatch(t, openText(t, text))
	var got []string
	for _, u := range m.Unmatched {
		position, err := firstOf(m, u)
		got = append(got, fmt.Sprintln(u.Direction, u.Source, u.Destination, u.Tag, u.Count, u.Matched,
			u.Rank, position, err))
	}
	want := []string{"receive -1 1 9 1 0 1 2 <nil>\n", "send 0 1 7 1 1 0 2 <nil>\n", "send 0 1 8 1 0 0 3 <nil>\n"}
	if !slices.Equal(got, want) {
		t.Errorf("unmatched:\n%q, want\n%q", got, want)
	}
	if len(m.Instances) != 1 || m.Instances[0].Reference != 0 || !slices.Equal(m.Instances[0].Different, []Disagreement{
		{Rank: 1, Count: 1, Instance: 0, Here: CollectiveCall{3, "barrier", -1}, There: CollectiveCall{4, "bcast", 0}},
	}) || m.Instances[0].Absent.String() != "3" {
		t.Errorf("%+v", m.Instances)
	}
	if !slices.IsSortedFunc(m.Unmatched, func(a, b Unmatched) int { return cmp.Compare(a.Source, b.Source) }) {
		t.Error("unmatched in another order than that of channels")
	}
}

// A send and a receive are not both left that can be matched with what is matched otherwise,
// and what nobody receives is not told of one channel where it may be of another.
func TestUnmatchedGuessed(t *testing.T) {
	send := func(r *tracer.Recorder, to, tag int64) {
		r.Call(r.Declare(mpiFunctions[0]), cst.Int(1), cst.Handle(-33), cst.Rank(to), cst.Tag(tag), cst.Handle(-3))
	}
	receive := func(r *tracer.Recorder, from, tag int64) {
		r.Call(r.Declare(mpiFunctions[1]), cst.Int(1), cst.Handle(-33), cst.Rank(from), cst.Tag(tag),
			cst.Handle(-3), cst.StatusOf(cst.Status{Source: -9, Tag: -9}))
	}
	var zero, one, two tracer.Recorder
	for range 3 {
		send(&one, 0, 7)
		send(&one, 0, 5)
		receive(&zero, 1, -1)
		receive(&zero, -1, 5)
	}
	m := openMatch(t, openParts(t, merge.Run{Ranks: 3}, []merge.Part{zero.Finish(0), one.Finish(1)}))
	if m.Messages != 6 || m.Assumed != 6 || len(m.Unmatched) > 0 {
		t.Errorf("%d messages, %d guessed, %+v unmatched", m.Messages, m.Assumed, m.Unmatched)
	}
	receive(&zero, -1, -1)
	send(&one, 0, 7)
	send(&two, 0, 9)
	send(&two, 1, 9)
	m = openMatch(t, openParts(t, merge.Run{Ranks: 3}, []merge.Part{zero.Finish(0), one.Finish(1), two.Finish(2)}))
	if len(m.Unmatched) != 2 {
		t.Fatalf("%+v", m.Unmatched)
	}
	u, certain := m.Unmatched[0], m.Unmatched[1]
	world := u.Communicator
	if u.Count != 1 || u.Direction != semantics.Send ||
		!slices.Equal(u.Among, []Channel{{world, 1, 0, 7}, {world, 2, 0, 9}}) {
		t.Errorf("%+v", u)
	}
	err := m.Firsts(t.Context(), m.Unmatched, Options{})
	u, certain = m.Unmatched[0], m.Unmatched[1]
	if err != nil || u.First != nil || *certain.First != 1 || certain.Source != 2 ||
		certain.Destination != 1 || certain.Among != nil {
		t.Errorf("%+v, %v", certain, err)
	}
}

// A receive from a named source that the program tried to cancel counts as cancelled if there
// is no message for it, and as a receive if there is one.
func TestCancelledReceive(t *testing.T) {
	for sends, want := range []struct{ messages, cancelled, left uint64 }{{0, 1, 1}, {1, 1, 0}, {2, 0, 0}, {2, 0, 0}} {
		var zero, one tracer.Recorder
		for range sends {
			zero.Call(zero.Declare(mpiFunctions[0]), cst.Int(1), cst.Handle(-33), cst.Rank(1), cst.Tag(7),
				cst.Handle(-3))
		}
		zero.Call(zero.Declare(mpiFunctions[5]), cst.Handle(-3))
		cancel := one.Declare(cst.Function{Name: "MPI_Cancel", Params: []cst.Param{handle("request", cst.In)}})
		for request := range int64(2) {
			one.Call(one.Declare(mpiFunctions[2]), cst.Int(1), cst.Handle(-33), cst.Rank(0), cst.Tag(7),
				cst.Handle(-3), cst.Handle(request))
			if request == 0 {
				one.Call(cancel, cst.Handle(request))
			}
			one.Call(one.Declare(mpiFunctions[3]), cst.Handle(request), cst.StatusOf(cst.Status{Source: -9, Tag: -9}))
		}
		m := openMatch(t, openParts(t, merge.Run{Ranks: 2}, []merge.Part{zero.Finish(0), one.Finish(1)}))
		left := uint64(0)
		for _, u := range m.Unmatched {
			if u.Direction == semantics.Receive {
				left += u.Count
			}
		}
		if m.Messages != want.messages || m.Cancelled != want.cancelled || left != want.left {
			t.Errorf("%d sends: %d messages, %d receives cancelled, %d unmatched, want %v", sends, m.Messages,
				m.Cancelled, left, want)
		}
	}
}

// TestAbandonedReceive checks that a receive from any source that the program cancelled, as at its
// end, does not make it unknown which receive got which message, if all have one that says so.
func TestAbandonedReceive(t *testing.T) {
	for _, sends := range []int{3, 4} {
		var zero, one tracer.Recorder
		for range sends {
			zero.Call(zero.Declare(mpiFunctions[0]), cst.Int(1), cst.Handle(-33), cst.Rank(1), cst.Tag(7),
				cst.Handle(-3))
		}
		cancel := one.Declare(cst.Function{Name: "MPI_Cancel", Params: []cst.Param{handle("request", cst.In)}})
		receive := func(from, request int64) {
			one.Call(one.Declare(mpiFunctions[2]), cst.Int(1), cst.Handle(-33), cst.Rank(from), cst.Tag(7),
				cst.Handle(-3), cst.Handle(request))
			if from < 0 {
				one.Call(cancel, cst.Handle(request))
			}
			one.Call(one.Declare(mpiFunctions[3]), cst.Handle(request), cst.StatusOf(cst.Status{Source: -9, Tag: -9}))
		}
		for range 3 {
			receive(0, 8)
		}
		receive(-1, 16)
		m := openMatch(t, openParts(t, merge.Run{Ranks: 2}, []merge.Part{zero.Finish(0), one.Finish(1)}))
		list, err := m.Partner(0, 1)
		if known := len(list) == 1 && list[0].Rank == 1 && list[0].Position == 2; err != nil || known != (sends == 3) {
			t.Errorf("%d sends: partner %v, %v", sends, list, err)
		}
		checkMatch(t, m, 1)
	}
}

// firstOf returns the position of the first call of a message that is not matched.
func firstOf(m *Match, u Unmatched) (uint64, error) {
	list := []Unmatched{u}
	err := m.Firsts(context.Background(), list, Options{})
	return *list[0].First, err
}

// of returns the ranks of options.
func of(ranks rankenc.Set) *rankenc.Set { return &ranks }
