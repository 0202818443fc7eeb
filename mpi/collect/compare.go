package collect

import (
	"context"
	"fmt"
	"iter"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi"
)

// A Difference is where a trace is not what was recorded.
type Difference struct {
	Rank     int
	Position uint64 // of the call in its rank, from 0
	Reason   string
}

// Error returns the difference in words.
func (d *Difference) Error() string {
	return fmt.Sprintf("rank %d, call %d: %s", d.Rank, d.Position, d.Reason)
}

// Calls iterates over the functions and the arguments of the calls of a rank. Both
// need be valid until the next step only.
type Calls = iter.Seq2[*cst.Function, []cst.Value]

// Compare compares a spool that was kept with the calls of a trace, call by call and
// argument by argument, and returns the number of calls that are equal. The error is
// a *Difference if there is one.
//
// It works out from the raw records what each call in the trace must be: the names,
// types and directions of its parameters, every number, text and float, bit for bit,
// and the ids of all objects, requests and memory, as this package and package
// symbolic say how they are given. It shares with the collector the reading of the
// records, in their order, and which process has which rank, but none of the rest.
//
// One thing the records do not determine: whether a request that was made before
// recording was switched off is still there when it is on again. Where its handle or
// its id occurs again, either is accepted, and from then on taken for what happened.
//
// The calls of several threads are compared in the order of each thread. If a trace
// has them in an order other than that of their times, as a collector may leave them
// that is more than a second behind, ids may differ for that reason, and Difference
// says so.
//
// It takes some microseconds for each call.
func Compare(ctx context.Context, directory string, calls func(rank int) Calls) (uint64, error) {
	c, err := New(directory, Options{Untimed: true, Keep: true})
	if err != nil {
		return 0, err
	}
	if err := c.drain(ctx); err != nil {
		return 0, err
	}
	var compared uint64
	for _, p := range c.ranked() {
		if err := p.problems(); err != nil {
			return compared, err
		}
		n, err := c.compare(ctx, p, calls(p.rank))
		compared += n
		if err != nil {
			return compared, err
		}
	}
	return compared, nil
}

func (c *Collector) compare(ctx context.Context, p *process, calls Calls) (uint64, error) {
	m := comparison{rank: p.rank, replay: newReplay()}
	next, stop := iter.Pull2(calls)
	defer stop()
	m.next = next
	s := source{id: p.id}
	for _, t := range p.threads {
		s.add(c.directory, mpi.Thread{Process: p.id, Thread: t.lane}, true)
	}
	take := func(t *thread, r *mpi.Record) {
		if m.err == nil {
			m.take(t, r)
		}
	}
	for s.consume(true, now(), take) && m.err == nil {
		m.err = ctx.Err()
	}
	if m.err == nil {
		if d := m.fetch(-1); d != nil {
			m.fail("the trace has a call that was not recorded: %s", d.text())
		}
	}
	return m.position, m.err
}

// A comparison compares the records of one process with calls.
type comparison struct {
	*replay
	rank      int
	next      func() (*cst.Function, []cst.Value, bool)
	waiting   []*tracedCall // calls of the trace of other threads than the one that was wanted
	numbers   int64
	position  uint64 // calls compared
	unordered bool   // calls of several threads are not in the order of their times
	err       error
}

// A tracedCall is a call of the trace.
type tracedCall struct {
	function *cst.Function
	args     []cst.Value
	thread   int64
}

func (m *comparison) fail(format string, values ...any) {
	if m.err != nil {
		return
	}
	reason := fmt.Sprintf(format, values...)
	if m.unordered {
		reason += "; the calls of several threads are not in the order of their times"
	}
	m.err = &Difference{m.rank, m.position, reason}
}

func (c *tracedCall) text() string { return string(cst.AppendCall(nil, *c.function, c.args)) }

// argument returns the argument of a name, or the zero Value.
func (c *tracedCall) argument(name string) cst.Value {
	if c == nil {
		return cst.Value{}
	}
	for i, p := range c.function.Params {
		if p.Name == name {
			return c.args[i]
		}
	}
	return cst.Value{}
}

// fetch returns the next call of a thread, or of any if that is −1.
func (m *comparison) fetch(thread int64) *tracedCall {
	for i, c := range m.waiting {
		if thread < 0 || c.thread == thread {
			m.waiting = append(m.waiting[:i], m.waiting[i+1:]...)
			m.unordered = m.unordered || i > 0
			return c
		}
	}
	for {
		f, args, ok := m.next()
		if !ok {
			return nil
		}
		c := &tracedCall{function: f, args: args}
		if len(f.Params) > 0 && f.Params[0].Name == "thread" {
			c.thread = args[0].Int()
		}
		if thread < 0 || c.thread == thread {
			return c
		}
		c.args = append([]cst.Value(nil), args...)
		m.waiting = append(m.waiting, c)
		m.unordered = true
	}
}

// take follows a record, and compares it if it is that of a call in the trace.
func (m *comparison) take(t *thread, r *mpi.Record) {
	if r.Type != mpi.Call || !inTrace(r) {
		m.follow(t, r, nil)
		return
	}
	if t.number < 0 {
		t.number = m.numbers
		m.numbers++
	}
	c := m.fetch(t.number)
	name := mpi.Functions()[r.Function].Name
	switch {
	case c == nil:
		m.fail("the trace ends before a call of %s", name)
		return
	case c.function.Name != name:
		m.fail("%s was recorded, not %s", name, c.text())
		return
	}
	m.follow(t, r, c)
	for i, w := range m.wanted {
		if i >= len(c.args) || c.function.Params[i].Name != w.Name {
			m.fail("%s lacks the argument %s in its place", c.text(), w.text())
			return
		}
		if p := c.function.Params[i]; !p.Type.Equal(w.Type) || p.Direction != w.Direction {
			m.fail("%s: %s is of type %v and direction %v, not %v and %v", c.text(), w.Name, p.Type, p.Direction, w.Type, w.Direction)
			return
		}
		if !c.args[i].Equal(w.value) {
			m.fail("%s: %s was recorded", c.text(), w.text())
			return
		}
	}
	if len(m.wanted) < len(c.args) {
		m.fail("%s has the argument %s, which was not recorded", c.text(), c.function.Params[len(m.wanted)].Name)
		return
	}
	m.position++
}

// inTrace reports whether a call is in the trace: one that was made while recording was
// on, or that switched it on.
func inTrace(r *mpi.Record) bool {
	f, a := &knownFunctions[r.Function], r.Arguments
	switch {
	case !r.Hidden:
		return true
	case f.Name == "MPI_Pcontrol":
		level := f.before(r, "level")
		return level == 1 || level == 2
	case f.Name == "MPI_Info_set" && !r.Failed:
		key, value := a[f.parameter("key")].Before, a[f.parameter("value")].Before
		return key.Presence == mpi.Given && value.Presence == mpi.Given &&
			string(key.Text()) == "reprise_record" && string(value.Text()) == "on"
	}
	return false
}

// A wantedArgument is an argument that a call in the trace must have.
type wantedArgument struct {
	cst.Param
	value cst.Value
}

func (w wantedArgument) text() string {
	text := cst.AppendCall(nil, cst.Function{Params: []cst.Param{w.Param}}, []cst.Value{w.value})
	return string(text[1 : len(text)-1])
}
