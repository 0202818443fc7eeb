package replay_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/tier"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/trace"
)

type tester interface {
	testtrace.TB
	Fatalf(format string, args ...any)
}

func open(t tester, tr *trace.Trace) *semantics.Model {
	t.Helper()
	m, err := semantics.Open(ctx, tr)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// uneven is a machine on which everything takes some time that looks random, and messages are
// sent in both ways.
type uneven struct{ synchronous bool }

func (uneven) Compute(c *replay.Call) (before, within replay.Time) {
	n := replay.Time(c.Position*2654435761+uint64(c.Rank.Number())*40503) % 1000
	return n * replay.Nanosecond, n % 10 * replay.Nanosecond
}

func (u uneven) Message(m *replay.Message) replay.Cost {
	n := replay.Time(m.From*7+m.To*3+int(m.Tag)) % 5
	return replay.Cost{Send: n, Transfer: 1 + 100*n, Receive: 2 * n, Rendezvous: u.synchronous || m.Bytes > 100}
}

func (uneven) Collective(c *replay.Collective) {
	c.Earliest()
	for i := range c.Leave {
		c.Leave[i] += replay.Time(i)
	}
}

// TestPrograms replays random programs.
func TestPrograms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		intn := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }
		testProgram(t, newProgram(intn, rapid.IntRange(1, 40).Draw(t, "steps")))
	})
}

// TestForms replays programs that are the same every time, and in which every form occurs.
func TestForms(t *testing.T) {
	forms := make(map[string]int)
	for seed := range uint64(30) {
		p := newProgram(seeded(seed), 60)
		testProgram(t, p)
		for name, n := range p.forms {
			forms[name] += n
		}
	}
	if len(forms) != 41 {
		t.Errorf("%d forms: %v", len(forms), slices.Sorted(maps.Keys(forms)))
	}
}

// testProgram checks that a replay completes, that the ends of each message meet as the program
// means it, and that nothing is before its cause.
func testProgram(t tester, p *program) {
	tr, places := p.trace(t)
	model := open(t, tr)
	for _, machine := range []replay.Machine{replay.Instant{}, replay.Instant{Synchronous: true}, uneven{},
		uneven{synchronous: true}} {
		testOn(t, p, model, machine, places)
	}
}

// testOn does so on a machine.
func testOn(t tester, p *program, model *semantics.Model, machine replay.Machine, places map[[2]uint64]place) {
	res, err := replay.Run(ctx, model, machine)
	if err != nil {
		t.Fatalf("%T: %v", machine, err)
	}
	if int(res.Messages) != len(p.messages) || res.Unknown+res.Unreceived+res.Outside > 0 ||
		int(res.Calls) != len(places) {
		t.Fatalf("%T: %+v, want %d messages", machine, res, len(p.messages))
	}
	o := newObserver(t, p, machine, places)
	for event, err := range replay.Events(ctx, model, machine) {
		if err != nil {
			t.Fatal(err)
		}
		o.event(event)
	}
	o.end(res)
}

// An observer checks events.
type observer struct {
	t       tester
	p       *program
	machine replay.Machine
	places  map[[2]uint64]place
	now     replay.Time
	clocks  map[[2]int]replay.Time // by rank and thread
	next    map[[2]int]int
	times   map[place][2]replay.Time
	met     map[string]bool
	ends    map[int]replay.Time
}

func newObserver(t tester, p *program, machine replay.Machine, places map[[2]uint64]place) *observer {
	return &observer{
		t: t, p: p, machine: machine, places: places, clocks: make(map[[2]int]replay.Time), next: make(map[[2]int]int),
		times: make(map[place][2]replay.Time), met: make(map[string]bool), ends: make(map[int]replay.Time),
	}
}

func (o *observer) place(c replay.Call) place {
	return o.places[[2]uint64{uint64(c.Rank.Number()), c.Position}]
}

func (o *observer) event(e *replay.Event) {
	if e.At < o.now {
		o.t.Fatalf("%T: an event at %d after one at %d", o.machine, e.At, o.now)
	}
	o.now = e.At
	at := o.place(e.Call)
	if e.Message != nil {
		if cost := o.machine.Message(e.Message); e.At < e.Start+cost.Transfer {
			o.t.Fatalf("%T: message sent at %d arrives at %d", o.machine, e.Start, e.At)
		}
		k := fmt.Sprint(at, o.place(e.Receive))
		if !o.p.messages[k] || o.met[k] {
			o.t.Fatalf("%T: messages meet that the program does not mean so: %s", o.machine, k)
		}
		o.met[k] = true
		return
	}
	who := [2]int{at.rank, at.thread}
	before, within := o.machine.Compute(&e.Call)
	if at.call != o.next[who] || e.Start != o.clocks[who]+before || e.At < e.Start+within {
		o.t.Fatalf("%T: call %v from %d to %d, after %d calls that ended at %d", o.machine, at, e.Start, e.At,
			o.next[who], o.clocks[who])
	}
	o.next[who]++
	o.clocks[who], o.times[at], o.ends[at.rank] = e.At, [2]replay.Time{e.Start, e.At}, e.At
}

// end checks what is known at the end, and that the replay without events came to the same.
func (o *observer) end(res *replay.Result) {
	if len(o.met) != len(o.p.messages) || len(o.times) != len(o.places) {
		o.t.Fatalf("%T: %d of %d messages, %d of %d calls", o.machine, len(o.met), len(o.p.messages),
			len(o.times), len(o.places))
	}
	for _, calls := range o.p.together {
		for _, a := range calls {
			for _, b := range calls {
				if o.times[a][1] < o.times[b][0] {
					o.t.Fatalf("%T: %v leaves at %d, %v enters at %d", o.machine, a, o.times[a][1], b, o.times[b][0])
				}
			}
		}
	}
	for _, calls := range o.p.after {
		if end, start := o.times[calls[0]][1], o.times[calls[1]][0]; end < start {
			o.t.Fatalf("%T: %v leaves at %d, %v enters at %d", o.machine, calls[0], end, calls[1], start)
		}
	}
	if o.p.windows != nil {
		o.p.windows.check(o)
	}
	for _, r := range res.Ranks {
		if r.End != o.ends[r.Rank] {
			o.t.Fatalf("%T: rank %d ends at %d, with events at %d", o.machine, r.Rank, r.End, o.ends[r.Rank])
		}
	}
}

// TestReal replays real runs to their end.
func TestReal(t *testing.T) {
	for _, name := range []string{"cg.S.16", "cg.S.64", "is.S.16", "is.S.64", "lu.W.16", "lu.W.64", "mg.S.16",
		"mg.S.64", "sp.S.16"} {
		t.Run(name, func(t *testing.T) {
			if !tier.Nightly && name[len(name)-2:] == "64" {
				t.Skip("short: a large trace")
			}
			model := open(t, testtrace.Real(t, "ti/"+name+".ti.zst"))
			for _, machine := range []replay.Machine{replay.Instant{}, link{}} {
				res, err := replay.Run(ctx, model, machine)
				if err != nil {
					t.Fatal(err)
				}
				if res.Unreceived+res.Unknown+res.Outside > 0 || res.Messages == 0 {
					t.Errorf("%+v", *res)
				}
			}
		})
	}
}

// TestRecorded replays recorded runs of MPI programs.
func TestRecorded(t *testing.T) {
	for _, name := range []string{"halves.exact", "locks.exact", "messages.exact", "startall.exact",
		"stencil.exact", "wildcard.exact"} {
		t.Run(name, func(t *testing.T) {
			res, err := replay.Run(ctx, open(t, testtrace.Recorded(t, name)), link{})
			if err != nil {
				t.Fatal(err)
			}
			if res.Unreceived+res.Unknown+res.Outside > 0 || res.Messages+res.Collectives == 0 {
				t.Errorf("%+v", *res)
			}
		})
	}
}

// isDeadlock returns the error of a deadlock.
func isDeadlock(t tester, err error) *replay.DeadlockError {
	t.Helper()
	var d *replay.DeadlockError
	if !errors.As(err, &d) {
		t.Fatalf("%v is no deadlock", err)
	}
	return d
}

// modelOf returns the model of a run, of which each rank makes the calls of a program.
func modelOf(t tester, ranks int, program func(rank int, r *testtrace.Recording)) *semantics.Model {
	t.Helper()
	var parts []merge.Part
	for rank := range ranks {
		var r testtrace.Recording
		if program(rank, &r); r.Len() == 0 { // else it would not be in the trace
			r.MPI(1, "MPI_Finalize")
		}
		parts = append(parts, r.Finish(rank))
	}
	return open(t, testtrace.Write(t, merge.Run{Ranks: ranks}, parts))
}

const world = "MPI_COMM_WORLD"

func send(r *testtrace.Recording, name string, to, tag int, more ...any) {
	r.MPI(1, name, append([]any{"count", 1, "datatype", "MPI_BYTE", "dest", to, "tag", tag, "comm", world}, more...)...)
}

func receive(r *testtrace.Recording, name string, from any, tag int, more ...any) {
	r.MPI(1, name, append([]any{"count", 1, "datatype", "MPI_BYTE", "source", from, "tag", tag, "comm",
		world}, more...)...)
}
