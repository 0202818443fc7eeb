package query

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/trace/meaning"
)

// An ownProgram is a program in calls of a function of its own, and the same in MPI's. It cannot be in a
// deadlock: what several ranks do together is in one order.
type ownProgram struct {
	groups []meaning.Group     // the first is all ranks, and each rank is in one of the others
	means  []meaning.Operation // by the argument of the function
	own    [][]testtrace.Call
	mpi    [][]testtrace.Call
	open   [][]int // requests that are to be completed, in the order in which they were begun
	draw   func(n int) int
}

func (p *ownProgram) Groups() []meaning.Group { return p.groups[1:] }

func (p *ownProgram) Of(_ int, c *trace.Call) meaning.Operation { return p.means[c.Args[0].Int()] }

// split is the handle of the group of a rank other than all.
const split = 7

func newOwnProgram(draw func(n int) int) *ownProgram {
	ranks := 2 + draw(4)
	p := &ownProgram{draw: draw, open: make([][]int, ranks)}
	p.own, p.mpi = make([][]testtrace.Call, ranks), make([][]testtrace.Call, ranks)
	p.groups = []meaning.Group{{}, {Name: "even"}, {Name: "odd"}}
	for rank := range ranks {
		p.groups[0].Ranks = append(p.groups[0].Ranks, rank)
		g := &p.groups[1+rank%2]
		g.Ranks = slices.Insert(g.Ranks, 0, rank) // as the keys say
		p.call(rank, meaning.Operation{Collective: &meaning.Collective{}}, "MPI_Comm_split",
			"comm", "MPI_COMM_WORLD", "color", rank%2, "key", -rank, "newcomm", split)
	}
	for range 30 {
		switch draw(6) {
		case 0, 1, 2:
			p.message()
		case 3:
			p.collective()
		case 4:
			p.complete(draw(ranks))
		case 5:
			p.call(draw(ranks), meaning.Operation{}, "MPI_Wtime")
		}
	}
	for rank := range ranks {
		for len(p.open[rank]) > 0 {
			p.complete(rank)
		}
	}
	return p
}

// call adds a call of a rank, which means m, and what it is in MPI.
func (p *ownProgram) call(rank int, m meaning.Operation, name string, pairs ...any) {
	n := slices.IndexFunc(p.means, func(o meaning.Operation) bool { return reflect.DeepEqual(m, o) })
	if n < 0 {
		n = len(p.means)
		p.means = append(p.means, m)
	}
	start := int64(len(p.own[rank]))*1000 + int64(p.draw(300))
	duration := int64(1 + p.draw(600))
	f := testtrace.Function("call", testtrace.Param("number", cst.KindInt))
	own := testtrace.Call{Function: f, Args: []cst.Value{cst.Int(int64(n))}, Start: start, Duration: duration}
	p.own[rank] = append(p.own[rank], own)
	mpi := testtrace.MPICall(name, pairs...)
	mpi.Start, mpi.Duration = start, duration
	p.mpi[rank] = append(p.mpi[rank], mpi)
}

// request begins a request of a rank, which is one of MPI's own, and always the same of the program's.
func (p *ownProgram) request(rank int) (own int64, mpi int) {
	for slices.Contains(p.open[rank], mpi) {
		mpi++
	}
	p.open[rank] = append(p.open[rank], mpi)
	return 5, mpi
}

// complete completes the request of a rank that was begun first.
func (p *ownProgram) complete(rank int) {
	if len(p.open[rank]) == 0 {
		return
	}
	first := p.open[rank][0]
	p.open[rank] = p.open[rank][1:]
	p.call(rank, meaning.Operation{Completes: []int64{5}}, "MPI_Wait",
		"request", first, "status", cst.Status{Source: -9, Tag: -9})
}

// group draws a group, and returns what a rank of it calls it.
func (p *ownProgram) group() (g *meaning.Group, handle any) {
	g, handle = &p.groups[p.draw(len(p.groups))], split
	if g.Name == "" {
		handle = "MPI_COMM_WORLD"
	}
	return g, handle
}

// message adds a message between two ranks, which may be one if it does not wait for itself. Receives of tag
// 3 are from any rank: what is sent to them is small and waits for none, so that it does not matter which
// gets which.
func (p *ownProgram) message() {
	g, comm := p.group()
	source, destination := p.draw(len(g.Ranks)), p.draw(len(g.Ranks))
	tag, bytes := p.draw(4), p.draw(2)*5000
	from, to, anyone := g.Ranks[source], g.Ranks[destination], tag == 3
	if anyone {
		bytes = 0
	}
	send, receive := "MPI_Send", "MPI_Recv"
	m := meaning.Message{Peer: to, Tag: int64(tag), Group: g.Name, Bytes: int64(bytes), Waits: !anyone &&
		p.draw(2) == 0}
	if m.Waits {
		send = "MPI_Ssend"
	}
	args := []any{"count", bytes, "datatype", "MPI_BYTE", "dest", destination, "tag", tag, "comm", comm}
	if from == to || p.draw(2) == 0 {
		own, mpi := p.request(from)
		m.Request, send, args = own, "MPI_I"+string(send[4]|0x20)+send[5:], append(args, "request", mpi)
	}
	p.call(from, meaning.Operation{Sends: []meaning.Message{m}}, send, args...)

	m.Peer, m.Waits, m.Request = from, false, 0
	args = []any{"count", bytes, "datatype", "MPI_BYTE", "source", source, "tag", tag, "comm", comm}
	if anyone {
		m.Peer, args[5] = meaning.AnyRank, "MPI_ANY_SOURCE"
	}
	if from == to || p.draw(2) == 0 {
		own, mpi := p.request(to)
		m.Request, receive, args = own, "MPI_Irecv", append(args, "request", mpi)
	}
	p.call(to, meaning.Operation{Receives: []meaning.Message{m}}, receive, args...)
}

// collective adds an operation of the ranks of a group.
func (p *ownProgram) collective() {
	g, comm := p.group()
	if len(g.Ranks) == 0 {
		return
	}
	root, bytes := p.draw(len(g.Ranks)), p.draw(3)*700
	c := meaning.Collective{Group: g.Name, Kind: meaning.Kind(p.draw(3)), Bytes: int64(bytes)}
	name, args := "Barrier", []any{"comm", comm}
	each := []any{"sendcount", bytes, "sendtype", "MPI_BYTE", "recvcount", bytes, "recvtype", "MPI_BYTE"}
	switch {
	case c.Kind == meaning.FromRoot:
		name, args = "Bcast", []any{"count", bytes, "datatype", "MPI_BYTE", "root", root, "comm", comm}
	case c.Kind == meaning.ToRoot:
		name, args = "Gather", append(each, "root", root, "comm", comm)
	case bytes > 0:
		name, args = "Allgather", append(each, "comm", comm)
	}
	if c.Kind != meaning.Together {
		c.Root = g.Ranks[root]
	}
	later := p.draw(3) == 0
	for _, rank := range g.Ranks {
		name, args, c := "MPI_"+name, args, c
		if later {
			own, mpi := p.request(rank)
			c.Request, name = own, "MPI_I"+string(name[4]|0x20)+name[5:]
			args = append(slices.Clone(args), "request", mpi)
		}
		p.call(rank, meaning.Operation{Collective: &c}, name, args...)
	}
}

// A slowNetwork is a machine on which messages take time.
type slowNetwork struct{ *replay.Recorded }

func (slowNetwork) Message(m *replay.Message) replay.Cost {
	return replay.Cost{
		Send: 50 * replay.Nanosecond, Transfer: replay.Microsecond + replay.Time(max(m.Bytes, 0)),
		Receive: 20 * replay.Nanosecond, Rendezvous: m.Bytes > 4000,
	}
}

// told returns what a model tells of a trace, but for the names of functions and of communicators.
func told(t tester, model *semantics.Model) (all []any) {
	t.Helper()
	recorded, err := replay.NewRecorded(model.Trace())
	if err != nil {
		t.Fatal(err)
	}
	result, err := replay.Run(t.Context(), model, slowNetwork{recorded})
	if err != nil {
		t.Fatal(err)
	}
	if err := recorded.Err(); err != nil {
		t.Fatal(err)
	}
	all = append(all, *result)
	messages := openMessages(t, model, 0, Options{})
	for pair := range messages.Traffic.All() {
		all = append(all, pair)
	}
	all = append(all, messages.Sizes, messages.Traffic.Unplaced, messages.Traffic.Uncounted)
	match, err := OpenMatch(t.Context(), model, Options{})
	if err != nil {
		t.Fatal(err)
	}
	all = append(all, match.Messages, match.Assumed, match.Channels)
	all = append(all, len(match.Unmatched), match.Unknown, match.Outside)
	instances, collectives := make(map[string]uint64), make(map[string]string)
	for _, c := range messages.Communicators {
		collectives[c.Communicator.RankSet().String()] = fmt.Sprintf("%+v", c.Collectives)
	}
	for _, c := range match.Instances {
		if len(c.Different) > 0 {
			t.Errorf("%s: members differ: %v", c.Communicator.Name, c.Different)
		}
		instances[c.Communicator.RankSet().String()] = c.Count
	}
	times, err := OpenTimes(model.Trace())
	if err != nil {
		t.Fatal(err)
	}
	late, err := match.LateSenders(t.Context(), times, Options{})
	if err != nil {
		t.Fatal(err)
	}
	sum := Nanoseconds(0)
	for _, l := range late {
		sum += l.Wait
	}
	return append(all, instances, collectives, sum)
}

// TestOwnFunctions draws programs in functions of their own, and checks that what their semantics say leads
// to what the same programs in MPI lead to.
func TestOwnFunctions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newOwnProgram(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") })
		run := merge.Run{Ranks: len(p.own)}
		own, err := semantics.OpenWith(testtrace.Record(t, run, true, p.own), p)
		if err != nil {
			t.Fatal(err)
		}
		got := told(t, own)
		want := told(t, openModel(t, testtrace.Record(t, run, true, p.mpi)))
		for i := range want {
			if g, w := fmt.Sprintf("%+v", got[i]), fmt.Sprintf("%+v", want[i]); g != w {
				t.Errorf("%d: %s, want %s", i, g, w)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d answers, want %d", len(got), len(want))
		}
	})
}
