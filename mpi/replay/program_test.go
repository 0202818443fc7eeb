package replay_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/trace"
)

// A program is a random parallel program that cannot be in a deadlock: what several do together
// is in one order, and each does its part of it in that order. It keeps which calls belong
// together.
type program struct {
	intn   func(n int) int // draws a number below n
	ranks  int
	actors [][]*actor // by rank and thread
	forms  map[string]int

	// meets are the messages, by the call that sends each and the number of its message in it.
	messages map[string]bool
	together [][]place  // calls of operations of which nobody may leave before all have entered
	after    [][2]place // calls of which the first may not end before the second starts
	subs     []*group
	sides    [2]*group // of an intercommunicator
	windows  *windows  // nil for none
}

// An actor is a thread of a rank.
type actor struct {
	rank, thread int
	calls        []func(r *testtrace.Recording)
	open         []*pending
	kept         int // of them, which are not to be completed
}

// A pending operation is one whose request is to be waited for.
type pending struct {
	request int
	status  any
	of      *actor
}

// A group is a communicator that the threads of a number use.
type group struct {
	handle any
	thread int
	ranks  []int
}

// A place is a call: its number among those of a thread.
type place struct{ rank, thread, call int }

// waitable returns how many requests may be completed.
func (a *actor) waitable() int { return len(a.open) - a.kept }

func (a *actor) place() place { return place{a.rank, a.thread, len(a.calls)} }

// call adds a call of an actor.
func (a *actor) call(name string, pairs ...any) {
	if a.thread > 0 {
		pairs = append([]any{trace.ThreadParam, a.thread}, pairs...)
	}
	a.calls = append(a.calls, func(r *testtrace.Recording) { r.MPI(1, name, pairs...) })
}

func (p *program) pick(names ...string) string {
	name := names[p.intn(len(names))]
	p.forms[name]++
	return name
}

// newProgram draws a program of so many steps.
func newProgram(intn func(n int) int, steps int) *program {
	p := emptyProgram(intn, 1+intn(2))
	for range steps {
		p.step()
	}
	p.waitForAll()
	return p
}

// emptyProgram draws the ranks, threads and communicators of a program.
func emptyProgram(intn func(n int) int, threads int) *program {
	p := &program{intn: intn, ranks: 2 + intn(4), forms: make(map[string]int), messages: make(map[string]bool)}
	for rank := range p.ranks {
		p.actors = append(p.actors, nil)
		for thread := range threads {
			p.actors[rank] = append(p.actors[rank], &actor{rank: rank, thread: thread})
		}
	}
	p.communicators(threads)
	return p
}

// step adds a step of some actors.
func (p *program) step() {
	if p.windows != nil && p.intn(3) == 0 {
		p.epoch()
		return
	}
	switch p.intn(9) {
	case 0, 1, 2, 3:
		p.message()
	case 4:
		p.collective()
	case 5, 6:
		actors := p.actors[p.intn(p.ranks)]
		p.wait(actors[p.intn(len(actors))])
	case 7:
		p.exchange()
	case 8:
		p.across()
	}
}

// each returns the actors.
func (p *program) each() (list []*actor) {
	for _, actors := range p.actors {
		list = append(list, actors...)
	}
	return list
}

// waitForAll completes the requests that are open and not kept, and unlocks windows.
func (p *program) waitForAll() {
	p.unlockAll()
	for _, a := range p.each() {
		for a.waitable() > 0 {
			p.wait(a)
		}
	}
}

// loop adds a loop, perhaps with others in it. Requests that are open stay so until it is done.
func (p *program) loop(depth int) {
	iterations := []int{2, 9, 40, 150}[p.intn(4)]
	if depth == 0 {
		iterations = []int{2, 9, 20}[p.intn(3)]
	}
	p.unlockAll()
	begins, kept := make(map[*actor]int), make(map[*actor]int)
	for _, a := range p.each() {
		begins[a], kept[a], a.kept = len(a.calls), a.kept, len(a.open)
	}
	for range 1 + p.intn(5) {
		switch what := p.intn(8); {
		case what == 0 && depth > 0:
			p.loop(depth - 1)
		case what == 1: // each rank by itself
			for _, a := range p.each() {
				for range p.intn(30) {
					a.call("MPI_Comm_size", "comm", "MPI_COMM_WORLD", "size", p.ranks)
				}
			}
		default:
			p.step()
		}
	}
	p.waitForAll()
	for _, a := range p.each() {
		body := slices.Clone(a.calls[begins[a]:])
		for range iterations - 1 {
			a.calls = append(a.calls, body...)
		}
		a.kept = kept[a]
	}
}

// carried adds a loop of messages round a ring: each iteration waits for those of the one before.
func (p *program) carried(iterations int) {
	n := p.ranks
	for rank, actors := range p.actors {
		a := actors[0]
		begin := func() {
			common := []any{"count", 7, "datatype", "MPI_BYTE", "comm", "MPI_COMM_WORLD", "tag", 30}
			a.call("MPI_Irecv", append(common, "source", (rank+n-1)%n, "request", 900)...)
			a.call("MPI_Isend", append(common, "dest", (rank+1)%n, "request", 901)...)
		}
		wait := func() {
			a.call("MPI_Waitall", "count", 2, "array_of_requests", []any{900, 901}, "array_of_statuses",
				[]any{statusOf(nil), statusOf(nil)})
		}
		begin()
		for range iterations {
			wait()
			begin()
		}
		wait()
	}
}

// communicators makes a communicator of all ranks for each thread, and one of those of each parity.
func (p *program) communicators(threads int) {
	p.subs = append(p.subs, &group{handle: "MPI_COMM_WORLD", ranks: p.all(1, 0)})
	for thread := 1; thread < threads; thread++ {
		var calls []place
		for _, rank := range p.all(1, 0) {
			calls = append(calls, p.actors[rank][0].place())
			p.actors[rank][0].call("MPI_Comm_dup", "comm", "MPI_COMM_WORLD", "newcomm", thread-1)
		}
		p.together = append(p.together, calls)
		p.subs = append(p.subs, &group{handle: thread - 1, thread: thread, ranks: p.all(1, 0)})
	}
	handle := threads - 1
	for _, rank := range p.all(1, 0) {
		p.actors[rank][0].call("MPI_Comm_split", "comm", "MPI_COMM_WORLD", "color", rank%2, "key", -rank,
			"newcomm", handle)
	}
	for parity := range 2 {
		ranks := p.all(2, parity)
		slices.Reverse(ranks) // as the keys say
		p.subs = append(p.subs, &group{handle: handle, ranks: ranks})
		p.sides[parity] = &group{handle: handle + 1, ranks: ranks}
	}
	for parity, g := range p.sides {
		for _, rank := range g.ranks {
			p.actors[rank][0].call("MPI_Intercomm_create", "local_comm", handle, "local_leader", 0,
				"peer_comm", "MPI_COMM_WORLD",
				"remote_leader", p.sides[1-parity].ranks[0], "tag", 1, "newintercomm", handle+1)
		}
	}
}

func (p *program) all(step, from int) (list []int) {
	for rank := from; rank < p.ranks; rank += step {
		list = append(list, rank)
	}
	return list
}

// ends draws the two ends of a message, which may be one rank, and what both know it by.
func (p *program) ends() (g *group, from, to *actor, source, destination, tag int) {
	g = p.subs[p.intn(len(p.subs))]
	source, destination = p.intn(len(g.ranks)), p.intn(len(g.ranks))
	from, to = p.actors[g.ranks[source]][g.thread], p.actors[g.ranks[destination]][g.thread]
	return g, from, to, source, destination, p.intn(3)
}

// message adds a message between two actors.
func (p *program) message() {
	g, from, to, source, destination, tag := p.ends()
	if p.intn(3) == 0 {
		p.persistent(g, from, to, source, destination, tag)
		return
	}
	count := 1 + p.intn(2)*10000
	kinds := []string{"MPI_Isend", "MPI_Issend", "MPI_Ibsend", "MPI_Irsend"}
	if from != to {
		kinds = append(kinds, "MPI_Send", "MPI_Ssend", "MPI_Bsend")
	}
	receiveKinds := []string{"MPI_Irecv"}
	if from != to {
		receiveKinds = append(receiveKinds, "MPI_Recv", "MPI_Recv", "MPI_Mrecv", "MPI_Imrecv")
	}
	send, receive := p.pick(kinds...), p.pick(receiveKinds...)
	sent := from.place()
	args := []any{"count", count, "datatype", "MPI_BYTE", "dest", destination, "tag", tag, "comm", g.handle}
	if send[4] == 'I' {
		args = append(args, "request", p.begin(from, cst.Status{Source: -9, Tag: -9}))
	}
	from.call(send, args...)
	p.receive(g, to, sent, receive, source, tag, count)
}

// receive adds the receive of a message.
func (p *program) receive(g *group, to *actor, sent place, name string, source, tag, count int) {
	from := any(source)
	asked, told := any(tag), cst.Status{Source: -9, Tag: -9}
	if p.intn(3) == 0 {
		p.forms["any source"]++
		from, asked, told = "MPI_ANY_SOURCE", "MPI_ANY_TAG", cst.Status{Source: int64(source), Tag: int64(tag)}
	}
	args := []any{"count", count, "datatype", "MPI_BYTE", "source", from, "tag", asked, "comm", g.handle}
	if name == "MPI_Mrecv" || name == "MPI_Imrecv" {
		to.call("MPI_Mprobe", "source", from, "tag", asked, "comm", g.handle, "message", to.thread, "status", told)
		args = []any{"count", count, "datatype", "MPI_BYTE", "message", to.thread}
	} else if name == "MPI_Recv" && p.intn(4) == 0 {
		p.forms["MPI_Probe"]++
		to.call("MPI_Probe", "source", from, "tag", asked, "comm", g.handle, "status", told)
	}
	p.meet(sent, to.place())
	if name[4] == 'I' {
		args = append(args, "request", p.begin(to, told))
	} else {
		args = append(args, "status", told)
	}
	to.call(name, args...)
}

func (p *program) meet(sent, received place) {
	p.messages[fmt.Sprint(sent, received)] = true
}

// persistent adds a message by persistent requests or partitioned ones.
func (p *program) persistent(g *group, from, to *actor, source, destination, tag int) {
	send, receive := p.pick("MPI_Send_init", "MPI_Ssend_init", "MPI_Psend_init"), "MPI_Recv_init"
	var partitions []any
	if send == "MPI_Psend_init" {
		receive, partitions = "MPI_Precv_init", []any{"partitions", 4}
	}
	a := p.begin(from, nil)
	from.call(send, append(partitions, "count", 5, "datatype", "MPI_BYTE", "dest", destination, "tag", tag,
		"comm", g.handle, "request", a)...)
	b := p.begin(to, nil)
	to.call(receive, append(partitions, "count", 5, "datatype", "MPI_BYTE", "source", source, "tag", tag,
		"comm", g.handle, "request", b)...)
	sent := from.place()
	from.call("MPI_Start", "request", a)
	p.meet(sent, to.place())
	to.call("MPI_Startall", "array_of_requests", []any{b})
}

// exchange adds calls that send and receive at once, round a ring.
func (p *program) exchange() {
	g := p.subs[p.intn(len(p.subs))]
	n := len(g.ranks)
	var calls []place
	for _, rank := range g.ranks {
		calls = append(calls, p.actors[rank][g.thread].place())
	}
	name := p.pick("MPI_Sendrecv", "MPI_Isendrecv")
	for i, rank := range g.ranks {
		a := p.actors[rank][g.thread]
		args := []any{
			"sendcount", 3, "sendtype", "MPI_BYTE", "dest", (i + 1) % n, "sendtag", 20,
			"recvcount", 3, "recvtype", "MPI_BYTE", "source", (i + n - 1) % n, "recvtag", 20, "comm", g.handle,
		}
		if name == "MPI_Isendrecv" {
			args = append(args, "request", p.begin(a, nil))
		}
		p.meet(calls[i], calls[(i+1)%n])
		a.call(name, args...)
	}
}

// collective adds a collective operation, blocking or not.
func (p *program) collective() {
	g := p.subs[p.intn(len(p.subs))]
	name := p.pick("MPI_Barrier", "MPI_Allreduce", "MPI_Bcast", "MPI_Reduce", "MPI_Ibarrier", "MPI_Iallreduce")
	root := p.intn(len(g.ranks))
	var calls []place
	for _, rank := range g.ranks {
		a := p.actors[rank][g.thread]
		var args []any
		switch name {
		case "MPI_Allreduce", "MPI_Iallreduce":
			args = []any{"count", 1, "datatype", "MPI_INT"}
		case "MPI_Bcast", "MPI_Reduce":
			args = []any{"count", 1, "datatype", "MPI_INT", "root", root}
		}
		args = append(args, "comm", g.handle)
		if name[4] == 'I' {
			args = append(args, "request", p.begin(a, nil))
		}
		calls = append(calls, a.place())
		a.call(name, args...)
	}
	if name == "MPI_Barrier" || name == "MPI_Allreduce" {
		p.together = append(p.together, calls)
	}
}

// across adds a message or a collective operation between the groups of an intercommunicator.
func (p *program) across() {
	side := p.intn(2)
	own, other := p.sides[side], p.sides[1-side]
	root := p.intn(len(own.ranks))
	name := p.pick("Send", "Bcast", "Ibcast", "Scatter", "Gather", "Reduce", "Ireduce", "Barrier", "Ibarrier",
		"Allreduce", "Allgather", "Alltoall")
	if name == "Send" {
		destination := p.intn(len(other.ranks))
		from, to := p.actors[own.ranks[root]][0], p.actors[other.ranks[destination]][0]
		sent := from.place()
		from.call("MPI_Send", "count", 9, "datatype", "MPI_BYTE", "dest", destination, "tag", 40, "comm", own.handle)
		p.receive(own, to, sent, "MPI_Recv", root, 40, 9)
		return
	}
	ends := [2]map[int]place{{}, {}}
	for i, g := range p.sides {
		for k, rank := range g.ranks {
			of := any("MPI_PROC_NULL")
			if i != side {
				of = root
			} else if k == root {
				of = "MPI_ROOT"
			}
			ends[i][k] = p.collectiveCall(p.actors[rank][0], "MPI_"+name, of, g.handle)
		}
	}
	switch name {
	case "Bcast", "Scatter":
		for _, end := range ends[1-side] {
			p.after = append(p.after, [2]place{end, ends[side][root]})
		}
	case "Gather", "Reduce":
		for _, end := range ends[1-side] {
			p.after = append(p.after, [2]place{ends[side][root], end})
		}
	case "Barrier", "Allreduce", "Allgather", "Alltoall":
		for _, a := range ends[0] {
			for _, b := range ends[1] {
				p.together = append(p.together, []place{a, b})
			}
		}
	}
}

// collectiveCall adds a call of an actor, with as many arguments as it has, and returns its place.
func (p *program) collectiveCall(a *actor, name string, root, comm any) place {
	args := []any{"comm", comm}
	switch operation := strings.ToLower(name[len("MPI_"):]); operation {
	case "bcast", "ibcast", "reduce", "ireduce":
		args = append(args, "count", 500, "datatype", "MPI_INT", "root", root)
	case "scatter", "gather":
		args = append(args, "sendcount", 50, "sendtype", "MPI_INT", "recvcount", 50, "recvtype", "MPI_INT",
			"root", root)
	case "allreduce":
		args = append(args, "count", 5000, "datatype", "MPI_INT")
	case "allgather", "alltoall":
		args = append(args, "sendcount", 50, "sendtype", "MPI_INT", "recvcount", 50, "recvtype", "MPI_INT")
	}
	if name[4] == 'I' {
		args = append(args, "request", p.begin(a, nil))
	}
	at := a.place()
	a.call(name, args...)
	return at
}

// begin returns the lowest id that no request of the rank has. Ids are not the same for
// threads, unless one waits for what another began.
func (p *program) begin(a *actor, status any) int {
	id := a.thread * 1000
	for slices.ContainsFunc(a.open, func(o *pending) bool { return o.request == id }) {
		id++
	}
	a.open = append(a.open, &pending{request: id, status: status, of: a})
	return id
}

// wait adds a call that completes some requests of an actor.
func (p *program) wait(a *actor) {
	if a.waitable() == 0 {
		return
	}
	switch name := p.pick("MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Test", "MPI_Testsome"); name {
	case "MPI_Waitall":
		var ids, statuses []any
		for _, o := range a.open[a.kept:] {
			ids, statuses = append(ids, o.request), append(statuses, statusOf(o))
		}
		a.open = a.open[:a.kept]
		a.call(name, "count", len(ids), "array_of_requests", ids, "array_of_statuses", statuses)
	case "MPI_Testsome", "MPI_Waitany":
		i := p.intn(a.waitable())
		var ids []any
		for _, o := range a.open[a.kept:] {
			ids = append(ids, o.request)
		}
		done := a.open[a.kept+i]
		a.open = slices.Delete(a.open, a.kept+i, a.kept+i+1)
		if name == "MPI_Waitany" {
			a.call(name, "count", len(ids), "array_of_requests", ids, "index", i, "status", statusOf(done))
			return
		}
		a.call(name, "incount", len(ids), "array_of_requests", ids, "outcount", 1, "array_of_indices",
			[]any{i}, "array_of_statuses", []any{statusOf(done)})
	default:
		i := p.intn(a.waitable())
		done := a.open[a.kept+i]
		a.open = slices.Delete(a.open, a.kept+i, a.kept+i+1)
		if name == "MPI_Wait" {
			a.call(name, "request", done.request, "status", statusOf(done))
			return
		}
		a.call(name, "request", done.request, "flag", 0, "status", cst.Status{Source: -9, Tag: -9})
		a.call(name, "request", done.request, "flag", 1, "status", statusOf(done))
	}
}

func statusOf(o *pending) cst.Status {
	if o == nil {
		return cst.Status{Source: -9, Tag: -9}
	}
	if s, ok := o.status.(cst.Status); ok {
		return s
	}
	return cst.Status{Source: -9, Tag: -9}
}

// trace returns the trace of the program, and the place of each call.
func (p *program) trace(t testtrace.TB) (*trace.Trace, map[[2]uint64]place) {
	places := make(map[[2]uint64]place)
	var parts []merge.Part
	for rank, list := range p.actors {
		var r testtrace.Recording
		at := uint64(0)
		for _, a := range list {
			for i, call := range a.calls {
				call(&r)
				places[[2]uint64{uint64(rank), at}] = place{rank, a.thread, i}
				at++
			}
		}
		parts = append(parts, r.Finish(rank))
	}
	return testtrace.Write(t, merge.Run{Ranks: p.ranks}, parts), places
}

// seeded draws numbers from a seed.
func seeded(seed uint64) func(n int) int { return rand.New(rand.NewPCG(seed, 1)).IntN }
