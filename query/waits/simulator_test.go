package waits_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/query/waits"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

type tester interface {
	testtrace.TB
	Fatalf(format string, args ...any)
}

// A simulator runs programs with times, and knows who waits for whom and why. All of it is slow and plain: each
// rank carries the whole way to where it is. Times are in nanoseconds.
type simulator struct {
	ranks    []*process
	victims  map[victim]*sum
	causes   map[delay]float64
	spent    map[delay]float64 // by all ranks, of no rank, without waits
	next     int               // request
	tied     bool              // a call waited for two that started at one time, or perhaps for one as it ended
	locked   map[bool]moment   // the last calls that gave the lock of rank 0's window up, by whether it was exclusive
	unlocked int64             // when the last of all calls of MPI_Win_unlock ends
	eager    bool              // MPI_Win_lock waits for the lock, else MPI_Win_unlock does
}

// A process is a rank.
type process struct {
	rank     int
	now      int64
	last     string // function of the call before
	calls    []testtrace.Call
	way      []stage
	received []receipt
}

// A receipt is a call that received a message that was sent at a time; waited if it was the only one and the
// call waited for it.
type receipt struct {
	sent   int64
	waited int64
	of     victim
}

// A stage of a way is the time before a call, or a call.
type stage struct {
	rank     int
	in       bool
	from, to string
	time     int64
}

type victim struct {
	kind     string
	rank     int
	function string
}

type delay struct {
	rank     int
	in       bool
	from, to string
}

type sum struct {
	calls uint64
	wait  int64
}

// A moment is the start of a call: what others may wait for.
type moment struct {
	p    *process
	at   int64
	way  []stage // up to it
	from string  // function of the call before it

	// Of what is waited for: how, and whether the call ends without it. Then it counts as waited for if it started
	// before the call ended, as times do not tell it apart from what the call needed.
	kind    string
	perhaps bool
}

// as returns m as it is waited for.
func (m moment) as(kind string, perhaps bool) moment {
	m.kind, m.perhaps = kind, perhaps
	return m
}

const (
	overhead = 100  // of a call
	latency  = 1000 // of a message
)

func newSimulator(ranks int) *simulator {
	s := &simulator{victims: make(map[victim]*sum), causes: make(map[delay]float64), spent: make(map[delay]float64),
		locked: make(map[bool]moment)}
	for rank := range ranks {
		s.ranks = append(s.ranks, &process{rank: rank})
		s.call(s.start(rank, "MPI_Init", 0), 1000, "MPI_Init", nil)
	}
	return s
}

// start has a rank compute, and start a call.
func (s *simulator) start(rank int, function string, computes int64) moment {
	p := s.ranks[rank]
	p.now += computes
	s.spent[delay{from: p.last, to: function}] += float64(computes)
	way := append(slices.Clone(p.way), stage{rank, false, p.last, function, computes})
	return moment{p: p, at: p.now, way: way, from: p.last}
}

// call has a call that started end after a time, and some time after those that it waits for have started. It
// returns that which it waited for, itself for none.
func (s *simulator) call(m moment, takes int64, function string, for_ []moment, pairs ...any) moment {
	p, culprit, end := m.p, m, m.at+takes
	for _, perhaps := range []bool{false, true} {
		for _, other := range for_ {
			if other.perhaps != perhaps || perhaps && other.at > end {
				continue
			}
			s.tied = s.tied || other.at > m.at && (other.at == culprit.at || perhaps && other.at == end)
			if other.at > culprit.at {
				culprit = other
			}
		}
		if !perhaps && culprit.at > m.at {
			end = max(end, culprit.at+latency)
		}
	}
	if culprit.at > m.at {
		s.waited(m, culprit, function, culprit.kind)
	}
	s.spent[delay{in: true, to: function}] += float64(end - culprit.at)
	p.way = append(slices.Clone(culprit.way), stage{p.rank, true, m.from, function, end - culprit.at})
	c := testtrace.MPICall(function, pairs...)
	c.Start, c.Duration = m.at, end-m.at
	p.calls = append(p.calls, c)
	p.now, p.last = end, function
	return culprit
}

// waited takes note of a call that waited, and of why.
func (s *simulator) waited(m, culprit moment, function, kind string) {
	v := victim{kind, m.p.rank, function}
	if s.victims[v] == nil {
		s.victims[v] = new(sum)
	}
	wait := culprit.at - m.at
	s.victims[v].calls++
	s.victims[v].wait += wait
	type legs struct {
		time  int64
		count int
	}
	differs := make(map[stage]legs)
	for i, way := range [][]stage{culprit.way, m.way} {
		for _, x := range way {
			sign := 1 - 2*i
			k := x
			k.time = 0
			d := differs[k]
			differs[k] = legs{d.time + int64(sign)*x.time, d.count + sign}
		}
	}
	alike := func(a, b stage) bool {
		return a.in == b.in && a.to == b.to && (a.in || a.from == b.from)
	}
	excess, total := make(map[delay]float64), 0.0
	for k, d := range differs {
		if d.time <= 0 {
			continue
		}
		mine, mineCount, moreCount := int64(0), 0, 0
		for l, e := range differs {
			switch {
			case !alike(k, l):
			case e.count > 0:
				moreCount += e.count
			case e.count < 0 || e.time < 0:
				mine, mineCount = mine-e.time, mineCount-e.count
			}
		}
		more := float64(d.time)
		if mineCount > 0 && d.count > 0 {
			more -= float64(mine) / float64(max(mineCount, moreCount)) * float64(d.count)
		}
		if more > 0 {
			x := delay{k.rank, k.in, k.from, k.to}
			if k.in {
				x.from = ""
			}
			excess[x] += more
			total += more
		}
	}
	for x, more := range excess {
		s.causes[x] += more / total * float64(wait)
	}
}

// receive takes note of a call that received messages.
func (s *simulator) receive(m moment, function string, sent ...moment) {
	of, first := victim{"late sender", m.p.rank, function}, int64(math.MaxInt64)
	for _, x := range sent {
		first = min(first, x.at)
	}
	r := receipt{sent: first, of: of}
	if len(sent) == 1 {
		r.waited = max(0, sent[0].at-m.at)
	}
	for i := range m.p.received {
		before := &m.p.received[i]
		if before.waited == 0 || before.sent <= r.sent {
			continue
		}
		s.victims[before.of].calls--
		s.victims[before.of].wait -= before.waited
		before.of.kind = "wrong order"
		if s.victims[before.of] == nil {
			s.victims[before.of] = new(sum)
		}
		s.victims[before.of].calls++
		s.victims[before.of].wait += before.waited
		before.waited = 0
	}
	m.p.received = append(m.p.received, r)
}

// trace ends the program, and returns its trace.
func (s *simulator) trace(t tester, o tracer.Options) *trace.Trace {
	var parts []merge.Part
	for rank, p := range s.ranks {
		s.call(s.start(rank, "MPI_Finalize", 10), overhead, "MPI_Finalize", nil)
		r := must.Get(tracer.New(o))
		for _, c := range p.calls {
			r.CallAt(r.Declare(c.Function), c.Start, c.Duration, c.Args...)
		}
		parts = append(parts, r.Finish(rank))
	}
	return testtrace.Write(t, merge.Run{Ranks: len(s.ranks)}, parts)
}

// lock has a rank lock the window of rank 0, compute, and unlock it.
func (s *simulator) lock(rank int, exclusive bool, before, within int64) {
	kind, for_ := 2, []moment{}
	if exclusive {
		kind = 1
	}
	for other, m := range s.locked {
		if (other || exclusive) && m.p.rank != rank {
			for_ = append(for_, m.as("lock contention", false))
		}
	}
	window := []any{"win", 0}
	m := s.start(rank, "MPI_Win_lock", before)
	pairs := append([]any{"lock_type", kind, "rank", 0, "assert", 0}, window...)
	if s.eager {
		s.call(m, overhead, "MPI_Win_lock", for_, pairs...)
		for_ = nil
	} else {
		s.call(m, 0, "MPI_Win_lock", nil, pairs...)
	}
	m = s.start(rank, "MPI_Win_unlock", within)
	s.call(m, overhead, "MPI_Win_unlock", for_, append([]any{"rank", 0}, window...)...)
	s.tied = s.tied || m.p.now < s.unlocked // it returns before one that had the lock before
	s.unlocked = max(s.unlocked, m.p.now)
	if last, ok := s.locked[exclusive]; !ok || m.at > last.at {
		s.locked[exclusive] = m
	}
}

const world = "MPI_COMM_WORLD"

func message(peer string, rank, tag int) []any {
	return []any{"count", 1, "datatype", "MPI_BYTE", peer, rank, "tag", tag, "comm", world}
}

// send has a rank send a message to another with a blocking call, and that receive it with one.
func (s *simulator) send(from, to, tag int, computes [2]int64, rendezvous bool) {
	sent, received := s.start(from, "MPI_Send", computes[0]), s.start(to, "MPI_Recv", computes[1])
	s.call(sent, overhead, "MPI_Send", []moment{received.as("late receiver", !rendezvous)},
		message("dest", to, tag)...)
	s.call(received, overhead, "MPI_Recv", []moment{sent.as("late sender", false)}, message("source", from, tag)...)
	s.receive(received, "MPI_Recv", sent)
}

// An open request is one whose call is still to be waited for.
type open struct {
	rank, request int
	other         moment // what it waits for
	receives      bool
}

// begin has a rank send a message that both ends wait for later.
func (s *simulator) begin(from, to, tag int, computes [2]int64, rendezvous bool) (requests []open) {
	sent, received := s.start(from, "MPI_Isend", computes[0]), s.start(to, "MPI_Irecv", computes[1])
	a, b := s.next, s.next+1
	s.next += 2
	s.call(sent, overhead, "MPI_Isend", nil, append(message("dest", to, tag), "request", a)...)
	s.call(received, overhead, "MPI_Irecv", nil, append(message("source", from, tag), "request", b)...)
	return []open{{from, a, received.as("late receiver", !rendezvous), false},
		{to, b, sent.as("late sender", false), true}}
}

// wait has a rank wait for requests.
func (s *simulator) wait(rank int, computes int64, requests ...open) {
	var ids []any
	var for_, sent []moment
	for _, r := range requests {
		ids, for_ = append(ids, r.request), append(for_, r.other)
		if r.receives {
			sent = append(sent, r.other)
		}
	}
	function, pairs := "MPI_Waitall", []any{"count", len(ids), "array_of_requests", ids}
	if len(ids) == 1 {
		function, pairs = "MPI_Wait", []any{"request", ids[0]}
	}
	m := s.start(rank, function, computes)
	culprit := s.call(m, overhead, function, for_, pairs...)
	if len(sent) > 0 {
		s.receive(m, function, sent...)
		if culprit.kind != "late sender" {
			m.p.received[len(m.p.received)-1].waited = 0
		}
	}
}

// collect has all ranks make the call of a collective operation.
func (s *simulator) collect(name string, root int, computes func(rank int) int64) {
	var all []moment
	for rank := range s.ranks {
		all = append(all, s.start(rank, name, computes(rank)))
	}
	for rank, m := range all {
		pairs := []any{"comm", world}
		switch name {
		case "MPI_Barrier":
		case "MPI_Win_create":
			pairs = append(pairs, "win", 0)
		default:
			pairs = append(pairs, "count", 1, "datatype", "MPI_BYTE")
		}
		wait, kind := all, "wait at NxN"
		switch name {
		case "MPI_Barrier":
			kind = "wait at barrier"
		case "MPI_Bcast":
			wait, kind = all[root:root+1], "late root"
			pairs = append(pairs, "root", root)
		case "MPI_Reduce":
			pairs = append(pairs, "root", root)
			if kind = "early root"; rank != root {
				wait = nil
			}
		case "MPI_Scan":
			wait, kind = all[:rank], "early scan"
		}
		var for_ []moment
		for _, other := range wait {
			if other.p != m.p {
				for_ = append(for_, other.as(kind, false))
			}
		}
		s.call(m, overhead, name, for_, pairs...)
	}
}

// check compares what is found with what is known.
func (s *simulator) check(t tester) *waits.Run {
	t.Helper()
	model := must.Get(semantics.Open(context.Background(), s.trace(t, exact)))
	all := model.Trace().RankSet()
	run, err := waits.Open(context.Background(), model, waits.Options{Pairs: true, Calls: &all})
	if err != nil {
		t.Fatal(err)
	}
	checkDetails(t, run)
	s.checkPath(t, run)
	total := 0.0
	for v, want := range s.victims {
		total += float64(want.wait)
		if want.calls == 0 {
			delete(s.victims, v)
		}
	}
	for _, v := range run.Victims {
		k := victim{v.Kind, v.Rank, v.Function}
		if want := s.victims[k]; want == nil || want.calls != v.Calls || float64(want.wait) != float64(v.Wait) {
			t.Fatalf("%+v, not %+v", v, want)
		}
		delete(s.victims, k)
	}
	if len(s.victims) > 0 {
		t.Fatalf("%v are not found", s.victims)
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*total }
	if !near(float64(run.Wait), total) || run.Short+run.Unmatched+run.Unknown+run.Outside > 0 || run.WaitError != 0 {
		t.Fatalf("%+v, not %v", run, total)
	}
	cost := 0.0
	for _, c := range run.Causes {
		k := delayOf(&c.Delay)
		if !near(s.causes[k], float64(c.Cost)) || c.Direct > c.Cost*(1+1e-9) {
			t.Fatalf("%+v, not %v", c, s.causes[k])
		}
		cost += float64(c.Cost)
	}
	if !near(cost, total) {
		t.Fatalf("causes of %v, not %v", cost, total)
	}
	return run
}

// checkPath compares the critical path, which is the way to the last end of a call.
func (s *simulator) checkPath(t tester, run *waits.Run) {
	t.Helper()
	last := s.ranks[0]
	for _, p := range s.ranks {
		if p.now > last.now {
			last = p
		}
	}
	steps, places, time := make(map[delay]float64), make(map[delay]float64), 0.0
	for _, x := range last.way {
		if k := (delay{x.rank, x.in, x.from, x.to}); x.to != "MPI_Init" && (!x.in || x.to != "MPI_Finalize") {
			if x.in {
				k.from = ""
			}
			steps[k] += float64(x.time)
			k.rank = 0
			places[k], time = places[k]+float64(x.time), time+float64(x.time)
		}
	}
	near := func(a float64, b query.Nanoseconds) bool { return math.Abs(a-float64(b)) <= 1e-9*time }
	imbalance := 0.0
	for k, of := range places {
		imbalance += max(0, of-s.spent[k]/float64(len(s.ranks)))
	}
	if !near(time, run.Path.Time) || !near(imbalance, run.Path.Imbalance) {
		t.Fatalf("%v and %v of a critical path, not %v and %v", run.Path.Time, run.Path.Imbalance, time, imbalance)
	}
	for i := range run.Path.Steps {
		step := &run.Path.Steps[i]
		k := delayOf(&step.Delay)
		of := steps[k]
		if k.rank = 0; !near(of, step.Time) || !near(s.spent[k]/float64(len(s.ranks)), step.Mean) {
			t.Fatalf("%+v, not %v, mean %v", step, of, s.spent[k]/float64(len(s.ranks)))
		}
	}
}

// delayOf returns a delay as the simulator has it.
func delayOf(d *waits.Delay) delay {
	k := delay{rank: d.Rank, in: d.InCall, to: d.To.Function}
	if d.From != nil {
		k.from = d.From.Function
	}
	return k
}

// checkDetails compares the sums of pairs and of single calls with those of victims and causes.
func checkDetails(t tester, run *waits.Run) {
	t.Helper()
	pairs, byCause, calls := make(map[victim]float64), make(map[delay]float64), make(map[[2]string]sum)
	for i := range run.Pairs {
		p := &run.Pairs[i]
		pairs[victim{p.Kind, p.Rank, p.Function}] += float64(p.Wait)
		byCause[delayOf(&p.Cause)] += float64(p.Wait)
		if !slices.ContainsFunc(run.Calls[p.Rank], func(c waits.Call) bool {
			return c.Position == p.Position
		}) {
			t.Fatalf("call %d of rank %d did not wait", p.Position, p.Rank)
		}
	}
	for rank, list := range run.Calls {
		for _, c := range list {
			k := [2]string{c.Kind, fmt.Sprint(rank)}
			calls[k] = sum{calls[k].calls + 1, calls[k].wait + int64(c.Wait)}
		}
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*float64(run.Wait) }
	for _, v := range run.Victims {
		if k := (victim{v.Kind, v.Rank, v.Function}); !near(pairs[k], float64(v.Wait)) {
			t.Fatalf("pairs of %v, not %v", pairs[k], v)
		}
		k := [2]string{v.Kind, fmt.Sprint(v.Rank)}
		if calls[k] = (sum{calls[k].calls - v.Calls, calls[k].wait - int64(v.Wait)}); calls[k] == (sum{}) {
			delete(calls, k)
		}
	}
	for i := range run.Causes {
		if c := &run.Causes[i]; !near(byCause[delayOf(&c.Delay)], float64(c.Cost)) {
			t.Fatalf("pairs of %v, not %+v", byCause[delayOf(&c.Delay)], c)
		}
	}
	if len(calls) > 0 {
		t.Fatalf("calls waited that are of no victim, or the other way round: %v", calls)
	}
}

// TestDrawn checks programs with times that are drawn against the simulator.
func TestDrawn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.IntRange(2, 5).Draw(t, "ranks")
		s := newSimulator(ranks)
		var requests []open
		steps := rapid.IntRange(1, 40).Draw(t, "steps")
		slow := rapid.IntRange(0, ranks-1).Draw(t, "slow")
		drawn := int64(0)
		computes := func(rank int) int64 {
			drawn++ // so that hardly any two calls start at one time
			n := int64(rapid.IntRange(0, 3).Draw(t, "computes"))*1000 + drawn*drawn%97
			if rank == slow && rapid.Bool().Draw(t, "planted") {
				n += 10_000
			}
			return n
		}
		waitFor := func(i int) {
			r := requests[i]
			list := []open{r}
			for k := len(requests) - 1; k >= 0; k-- {
				if k != i && requests[k].rank == r.rank && rapid.Bool().Draw(t, "too") {
					list = append(list, requests[k])
				}
			}
			requests = slices.DeleteFunc(requests, func(o open) bool {
				return slices.ContainsFunc(list, func(l open) bool { return l.request == o.request })
			})
			s.wait(r.rank, computes(r.rank), list...)
		}
		s.eager = rapid.Bool().Draw(t, "eager")
		s.collect("MPI_Win_create", 0, computes)
		for step := range steps {
			from := rapid.IntRange(0, ranks-1).Draw(t, "from")
			to := (from + rapid.IntRange(1, ranks-1).Draw(t, "to")) % ranks
			both := [2]int64{computes(from), computes(to)}
			switch what := rapid.IntRange(0, 11).Draw(t, "what"); {
			case what < 2:
				s.send(from, to, step, both, rapid.Bool().Draw(t, "rendezvous"))
			case what < 5:
				requests = append(requests, s.begin(from, to, step, both, rapid.Bool().Draw(t, "rendezvous"))...)
			case what < 8:
				if len(requests) > 0 {
					waitFor(rapid.IntRange(0, len(requests)-1).Draw(t, "request"))
				}
			case what < 10:
				s.lock(from, rapid.Bool().Draw(t, "exclusive"), both[0], both[1])
			default:
				s.collect(rapid.SampledFrom([]string{"MPI_Barrier", "MPI_Allreduce", "MPI_Bcast", "MPI_Reduce",
					"MPI_Scan"}).Draw(t, "function"), from, computes)
			}
		}
		for len(requests) > 0 {
			waitFor(0)
		}
		if s.tied {
			return // either may be the cause
		}
		s.check(t)
	})
}

// TestPlanted checks that a delay that goes on through all ranks, many times, has its cause on the rank that
// makes it.
func TestPlanted(t *testing.T) {
	const ranks, late, loops, longer = 5, 2, 700, 50_000
	s := newSimulator(ranks)
	for range loops {
		for rank := range ranks - 1 {
			from := (late + rank) % ranks
			both := [2]int64{0, 1000}
			if rank == 0 {
				both[0] = 1000 + longer
			}
			s.send(from, (from+1)%ranks, 0, both, false)
		}
	}
	run := s.check(t)
	want := fmt.Sprint(late, " MPI_Send→MPI_Send")
	got := run.Causes[0]
	if fmt.Sprint(got.Rank, " ", got.From.Function, "→", got.To.Function) != want ||
		math.Abs(float64(got.Cost)/(loops*(ranks-1)*longer)-1) > 0.03 {
		t.Errorf("%+v of %+v", got, run)
	}
	// All of the delay is on the critical path, and ranks have a fifth of it on average.
	if want := loops * longer * (1 - 1.0/ranks); math.Abs(float64(run.Path.Imbalance)/want-1) > 0.1 {
		t.Errorf("an imbalance of %v, not %v", run.Path.Imbalance, want)
	}
}

// TestLocks has a rank lock a window that another one has, in an MPI that waits in MPI_Win_lock and in one that waits
// in MPI_Win_unlock: it waits unless both share the lock.
func TestLocks(t *testing.T) {
	for _, eager := range []bool{false, true} {
		for _, exclusive := range [][2]bool{{true, true}, {true, false}, {false, true}, {false, false}} {
			s := newSimulator(3)
			s.eager = eager
			s.collect("MPI_Win_create", 0, func(rank int) int64 { return int64(rank) })
			s.lock(2, exclusive[0], 10, 50_000)
			s.lock(1, exclusive[1], 2000, 100)
			run := s.check(t)
			waits := slices.ContainsFunc(run.Victims, func(v waits.Victim) bool {
				return v.Kind == "lock contention" && v.Rank == 1 && v.For == 2 && v.Wait > 40_000
			})
			if waits != (exclusive[0] || exclusive[1]) {
				t.Errorf("eager %v, exclusive %v: %+v", eager, exclusive, run.Victims)
			}
		}
	}
}
