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
// It takes the raw records for what they are, and shares no more with the collector
// than the reading of them. Numbers and texts must be equal. A handle must have the
// same id as long as it is of one object, and another than all other objects;
// constants must have theirs. An address must be as far from the beginning of its
// memory as the trace says, and of allocated memory that must be what was allocated.
// A source or tag that a status leaves out must be the one asked for.
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
	m := newComparison(p.rank)
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
	for s.consume(true, take) && m.err == nil {
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
	rank     int
	next     func() (*cst.Function, []cst.Value, bool)
	waiting  []*tracedCall // calls of the trace of other threads than the one that was wanted
	numbers  int64
	position uint64 // calls compared
	err      error
	gaps     bool // recording was off: what happened to requests meanwhile is not known

	classes   map[int64]int64            // of error codes
	constants map[string]map[int64]int64 // id by class and raw value
	objects   map[string]map[int64]int64 // raw value by class and id
	requests  map[int64]knownRequest     // by id
	bases     map[int64]int64            // by segment
	allocated map[int64]int64            // size by address
	windows   map[int64]int64            // address by raw value
}

type knownRequest struct {
	raw      int64
	receives bool
	asked    bool // whether source and tag are known
	source   int64
	tag      int64
}

// A tracedCall is a call of the trace.
type tracedCall struct {
	function *cst.Function
	args     []cst.Value
	thread   int64
}

func newComparison(rank int) *comparison {
	return &comparison{
		rank:      rank,
		classes:   make(map[int64]int64),
		constants: make(map[string]map[int64]int64),
		objects:   make(map[string]map[int64]int64),
		requests:  make(map[int64]knownRequest),
		bases:     make(map[int64]int64),
		allocated: make(map[int64]int64),
		windows:   make(map[int64]int64),
	}
}

func (m *comparison) fail(format string, values ...any) {
	if m.err == nil {
		m.err = &Difference{m.rank, m.position, fmt.Sprintf(format, values...)}
	}
}

func (c *tracedCall) text() string { return string(cst.AppendCall(nil, *c.function, c.args)) }

// fetch returns the next call of a thread, or of any if that is −1.
func (m *comparison) fetch(thread int64) *tracedCall {
	for i, c := range m.waiting {
		if thread < 0 || c.thread == thread {
			m.waiting = append(m.waiting[:i], m.waiting[i+1:]...)
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
	}
}

// argument returns the argument of a name.
func (c *tracedCall) argument(name string) (cst.Value, cst.Type, bool) {
	for i, p := range c.function.Params {
		if p.Name == name {
			return c.args[i], p.Type, true
		}
	}
	return cst.Value{}, cst.Type{}, false
}

// take compares what a record says.
func (m *comparison) take(t *thread, r *mpi.Record) {
	switch r.Type {
	case mpi.Known:
		k := mpi.Constants()[r.Function]
		if m.constants[k.Class] == nil {
			m.constants[k.Class] = make(map[int64]int64)
		}
		if _, known := m.constants[k.Class][r.Result]; !known {
			m.constants[k.Class][r.Result] = ids[r.Function]
		}
	case mpi.Allocated:
		m.allocated[int64(r.Address)] = int64(r.Size)
	case mpi.Released:
		delete(m.allocated, int64(r.Old))
	case mpi.Resized:
		delete(m.allocated, int64(r.Old))
		if r.Address != 0 {
			m.allocated[int64(r.Address)] = int64(r.Size)
		}
	case mpi.Region:
		delete(m.bases, r.Number)
	case mpi.Call:
		m.memory(r, true)
		learnClass(m.classes, &plans[r.Function], r)
		m.gaps = m.gaps || r.Hidden
		if !isRecorded(&plans[r.Function], r) {
			m.free(&plans[r.Function], r)
		} else {
			m.call(t, r)
		}
		m.memory(r, false)
	}
}

// memory follows the memory that MPI allocates and frees for the program.
func (m *comparison) memory(r *mpi.Record, before bool) {
	f := &plans[r.Function]
	if f.effect == none || r.Failed {
		return
	}
	win := f.argument(r, "win").Int()
	switch {
	case before && (f.effect == allocates || f.effect == windowMade):
		address := f.argument(r, "baseptr").Int()
		m.allocated[address] = f.argument(r, "size").Int()
		if f.effect == windowMade {
			m.windows[win] = address
		}
	case !before && f.effect == releases:
		delete(m.allocated, f.argument(r, "base").Int())
	case !before && f.effect == windowGone:
		if address, ok := m.windows[win]; ok {
			delete(m.allocated, address)
		}
	}
}

// call compares a call.
func (m *comparison) call(t *thread, r *mpi.Record) {
	if t.number < 0 {
		t.number = m.numbers
		m.numbers++
	}
	f := &plans[r.Function]
	c := m.fetch(t.number)
	switch {
	case c == nil:
		m.fail("the trace ends before a call of %s", f.Name)
		return
	case c.function.Name != f.Name:
		m.fail("%s was recorded, not %s", f.Name, c.text())
		return
	}
	n := 0 // arguments that there should be
	for i := range f.params {
		n += m.parameter(f, r, i, c)
	}
	n += m.outcome(f, r, c)
	if t.number > 0 {
		n++
	}
	if n != len(c.args) {
		m.fail("%s has %d arguments, not %d", c.text(), len(c.args), n)
	}
	m.free(f, r)
	m.complete(f, r, c)
	m.position++
}

// outcome compares the result or the error code.
func (m *comparison) outcome(f *plan, r *mpi.Record, c *tracedCall) int {
	name := "result"
	switch {
	case f.result.Kind == 0 && f.Result.Kind != 0, f.result.Kind == 0 && r.Result == 0:
		return 0
	case f.result.Kind == 0:
		name = "error"
	}
	v, _, ok := c.argument(name)
	result := r.Result
	if name == "error" {
		result = errorOf(r)
	}
	if !ok {
		m.fail("%s lacks its %s", c.text(), name)
	} else if (v.Kind() == cst.KindInt && v.Int() != result) || v.Kind() == cst.KindFloat && v.Float() != r.Float() {
		m.fail("%s: the %s is %d", c.text(), name, result)
	}
	return 1
}

// parameter compares one argument and returns how many the trace should have of it.
func (m *comparison) parameter(f *plan, r *mpi.Record, i int, c *tracedCall) int {
	q, a := &f.params[i], &r.Arguments[i]
	raw := a.Before
	if q.after && !q.both {
		raw = a.After
	}
	v, t, ok := c.argument(q.Name)
	switch missing := raw.Presence == mpi.Missing || raw.Presence == mpi.Unused; {
	case missing && ok:
		m.fail("%s has the argument %s, which counts for nothing", c.text(), q.Name)
		return 0
	case missing:
		return 0
	case !ok:
		m.fail("%s lacks the argument %s", c.text(), q.Name)
		return 0
	case raw.Presence != mpi.Given:
		if t.Class != constantClass || v.Int() != placeholder(q.Param, raw.Presence) {
			m.fail("%s: %s is absent", c.text(), q.Name)
		}
		return 1
	}
	if reason := m.value(f, r, c, i, raw, v); reason != "" {
		m.fail("%s: %s: %s", c.text(), q.Name, reason)
	}
	if out, _, ok := c.argument(q.Name + "_out"); ok && q.both {
		if reason := m.value(f, r, c, i, a.After, out); reason != "" {
			m.fail("%s: %s_out: %s", c.text(), q.Name, reason)
		}
		return 2
	}
	if q.both && a.After.Presence == mpi.Given {
		if reason := m.value(f, r, c, i, a.After, v); reason != "" {
			m.fail("%s: %s after the call: %s", c.text(), q.Name, reason)
		}
	}
	return 1
}

// free forgets the objects that a call has freed.
func (m *comparison) free(f *plan, r *mpi.Record) {
	for i := range f.params {
		a := &r.Arguments[i]
		if f.params[i].operation != freed || a.After.Presence != mpi.Given || a.After.Int() == a.Before.Int() {
			continue
		}
		objects := m.objects[f.params[i].Type.Class]
		for id, raw := range objects {
			if raw == a.Before.Int() {
				delete(objects, id)
			}
		}
	}
}

// complete forgets the requests that a call has replaced by the null request.
func (m *comparison) complete(f *plan, r *mpi.Record, c *tracedCall) {
	if !f.takesRequests {
		return
	}
	a := &r.Arguments[f.requests]
	v, _, ok := c.argument(f.params[f.requests].Name)
	switch {
	case !ok || a.After.Presence != mpi.Given:
	case v.Kind() == cst.KindHandle:
		if a.Before.Int() != a.After.Int() {
			delete(m.requests, v.Int())
		}
	case v.Kind() == cst.KindArray && v.Len() == a.Before.Len():
		for k := range v.Len() {
			if a.Before.Index(k) != a.After.Index(k) {
				delete(m.requests, v.Index(k).Int())
			}
		}
	}
}
