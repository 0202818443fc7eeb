package collect

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/internal/spool"
	"github.com/reprise-trace/reprise/mpi/spec"
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
// The calls of several threads are compared in the order of each thread. Ids may differ if
// the collector was more than a second behind and took the records of one thread before
// earlier ones of another.
//
// It takes some microseconds for each call.
func Compare(ctx context.Context, directory string, calls func(rank int) Calls) (uint64, error) {
	return compareAll(ctx, directory, false, calls)
}

// CompareAllocations is Compare for a trace that has the allocations.
func CompareAllocations(ctx context.Context, directory string, calls func(rank int) Calls) (uint64, error) {
	return compareAll(ctx, directory, true, calls)
}

func compareAll(ctx context.Context, directory string, allocations bool, calls func(rank int) Calls) (uint64, error) {
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
		n, err := c.compare(ctx, p, allocations, calls(p.rank))
		compared += n
		if err != nil {
			return compared, err
		}
	}
	return compared, nil
}

func (c *Collector) compare(ctx context.Context, p *process, allocations bool, calls Calls) (uint64, error) {
	m := comparison{rank: p.rank, replay: newReplay(), allocations: allocations}
	next, stop := iter.Pull2(calls)
	defer stop()
	m.next = next
	s := source{id: p.id}
	for _, t := range p.threads {
		s.add(c.directory, spool.Thread{Process: p.id, Thread: t.lane}, &Options{Keep: true})
	}
	take := func(t *thread, r *spool.Record) {
		if m.err == nil {
			m.take(t, r)
		}
	}
	for s.consume(true, now(), take) && m.err == nil {
		m.err = ctx.Err()
	}
	m.inFlight = true
	for _, t := range s.threads {
		for r := range t.decoder.Unfinished() {
			if r.Depth == 0 && !r.Hidden {
				take(t, r)
			}
		}
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
	rank     int
	next     func() (*cst.Function, []cst.Value, bool)
	told     []*tracedCall // what the trace has of memory before the call
	expected map[*thread][]knownEvent

	allocations bool          // the trace has them
	pending     []knownEvent  // of threads that made no calls
	waiting     []*tracedCall // calls of the trace of other threads than the one that was wanted
	numbers     int64
	position    uint64 // calls compared
	err         error
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
	m.err = &Difference{m.rank, m.position, fmt.Sprintf(format, values...)}
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

// take follows a record, and compares it if it is that of a call in the trace.
func (m *comparison) take(t *thread, r *spool.Record) {
	if r.Type != spool.Call || !inTrace(r) || m.isUnseen(t, r) {
		m.follow(t, r, nil)
		m.expect(t)
		return
	}
	if t.number < 0 {
		t.number = m.numbers
		m.numbers++
	}
	m.told = m.told[:0]
	c := m.fetch(t.number)
	for c != nil && slices.Contains([]string{"malloc", "realloc", "free"}, c.function.Name) {
		m.told = append(m.told, &tracedCall{c.function, slices.Clone(c.args), c.thread})
		c = m.fetch(t.number)
	}
	name := spec.Functions()[r.Function].Name
	switch {
	case c == nil:
		m.fail("the trace ends before a call of %s", name)
		return
	case c.function.Name != name:
		m.fail("%s was recorded, not %s", name, c.text())
		return
	}
	m.follow(t, r, c)
	m.expect(t)
	m.compareMemory(t)
	for i, w := range m.wanted {
		if i >= len(c.args) || c.function.Params[i].Name != w.Name {
			m.fail("%s lacks the argument %s in its place", c.text(), w.text())
			return
		}
		if p := c.function.Params[i]; !p.Type.Equal(w.Type) || p.Direction != w.Direction {
			m.fail("%s: %s is of type %v and direction %v, not %v and %v", c.text(), w.Name, p.Type,
				p.Direction, w.Type, w.Direction)
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

// expect takes note of what became of memory by a record of a thread.
func (m *comparison) expect(t *thread) {
	if m.expected == nil {
		m.expected = make(map[*thread][]knownEvent)
	}
	if t.number < 0 {
		m.pending = append(m.pending, m.memory.told...)
	} else {
		m.expected[t] = append(m.expected[t], m.memory.told...)
	}
	m.memory.told = nil
}

// compareMemory compares what the trace has of memory before a call of a thread.
func (m *comparison) compareMemory(t *thread) {
	want := slices.Concat(m.pending, m.expected[t])
	m.pending, m.expected[t] = nil, nil
	if !m.allocations {
		want = nil
	}
	for i, w := range want {
		if i >= len(m.told) {
			m.fail("the trace lacks %+v", w)
			return
		}
		args := m.told[i].args
		if t.number > 0 {
			args = args[1:]
		}
		if m.told[i].function.Name != w.function || !slices.EqualFunc(args, w.args(), cst.Value.Equal) {
			m.fail("the trace has %s, not %+v", m.told[i].text(), w)
			return
		}
	}
	if len(m.told) > len(want) {
		m.fail("the trace has %s, which did not happen", m.told[len(want)].text())
	}
	m.position += uint64(len(want))
}

// isUnseen reports whether a call was made while recording was off and given requests, none of which is
// followed all the same.
func (m *comparison) isUnseen(t *thread, r *spool.Record) bool {
	return knownFunctions[r.Function].requests >= 0 && m.requests.current(t, r).unseen
}

// inTrace reports whether a call is in the trace: one that was made while recording was
// on, or that switched it on, or that others depend on.
func inTrace(r *spool.Record) bool {
	f, a := &knownFunctions[r.Function], r.Arguments
	switch {
	case !r.Hidden:
		return true
	case f.Name == "MPI_Pcontrol":
		level := f.before(r, "level")
		return level == 1 || level == 2
	case f.Name == "MPI_Info_set":
		key, value := a[f.parameter("key")].Before, a[f.parameter("value")].Before
		return key.Presence != spool.Given || string(key.Text()) != "reprise_record" ||
			!r.Failed && value.Presence == spool.Given && string(value.Text()) == "on"
	case f.requests >= 0:
		return !looking(f)
	}
	return f.RecordedOff()
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

// A knownFunction is what a [replay] knows of a function.
type knownFunction struct {
	*spec.Function
	base     string // its name, without the suffix for large counts
	requests int    // parameter with the requests that it is given, or −1
	source   int    // parameters that say which message to receive, or −1
	tag      int
	index    int // parameter that says which requests are complete, or −1
	roles    []role
}

// A role is what an argument is for.
type role uint8

const (
	plain       role = iota // a value that says everything
	errorCode               // a number that is turned into its class
	memory                  // an address, or a constant that stands for one
	bare                    // an address that no constant stands for
	displacing              // numbers that may be addresses
	aiming                  // a displacement in a window, which may be an address
	used                    // an object that exists
	made                    // an object that is new
	returned                // a handle of an object that may have been known before
	freeing                 // an object to be freed
	waitedFor               // a request that the call is given
	startedHere             // a request that is new
	outcomes                // a status
)

var knownFunctions = makeKnownFunctions()

func makeKnownFunctions() []knownFunction {
	functions := spec.Functions()
	list := make([]knownFunction, len(functions))
	for i := range functions {
		list[i] = newKnownFunction(&functions[i])
	}
	return list
}

func newKnownFunction(f *spec.Function) knownFunction {
	k := knownFunction{Function: f, base: strings.TrimSuffix(f.Name, "_c"), requests: -1, source: -1, tag: -1,
		index: -1}
	for i := range f.Params {
		p := &f.Params[i]
		r := k.role(p)
		k.roles = append(k.roles, r)
		switch {
		case r == waitedFor:
			k.requests = i
		case p.Name == "source":
			k.source = i
		case p.Name == "tag" || p.Name == "recvtag":
			k.tag = i
		case p.Name == "index" || p.Name == "indx" || p.Name == "array_of_indices":
			k.index = i
		}
	}
	return k
}

func (k *knownFunction) role(p *spec.Param) role {
	switch e := p.Element(); {
	case e.Kind == cst.KindStatus:
		return outcomes
	case e.Kind == cst.KindPointer && k.takesBare(p):
		return bare
	case e.Kind == cst.KindPointer:
		return memory
	case e.Kind == cst.KindHandle:
		return k.handleRole(p, e.Class)
	case p.Name == "errorcode" && k.Name != "MPI_Abort":
		return errorCode
	case p.Name == "array_of_addresses",
		p.Name == "array_of_displacements" && (strings.Contains(k.Name, "_hindexed") ||
			strings.Contains(k.Name, "_struct")):
		return displacing
	}
	if p.Name == "target_disp" {
		return aiming
	}
	return plain
}

// takesBare reports whether a pointer is not one to data for MPI.
func (k *knownFunction) takesBare(p *spec.Param) bool {
	switch {
	case strings.HasPrefix(k.Name, "MPI_Aint_"), k.Name == "MPI_Free_mem", p.Direction == cst.Out &&
		p.Form == spec.Indirect:
		return true
	}
	switch p.Name {
	case "attribute_val", "extra_state", "user_data", "obj_handle", "f08_status":
		return true
	}
	return false
}

func (k *knownFunction) handleRole(p *spec.Param, class string) role {
	asInput := p.Form == spec.ByValue || p.Direction != cst.Out
	switch {
	case class == "request" && asInput:
		return waitedFor
	case class == "request":
		return startedHere
	case p.Direction == cst.InOut && p.Form != spec.ByValue && k.Name != "MPI_Type_commit":
		return freeing
	case p.Form == spec.ByValue || p.Direction != cst.Out:
		return used
	case k.returnsExisting(class):
		return returned
	}
	return made
}

// returnsExisting reports whether what the function returns of a class need not be
// new. An info object always is.
func (k *knownFunction) returnsExisting(class string) bool {
	switch class {
	case "group":
		return strings.HasSuffix(k.Name, "_group")
	case "errhandler":
		return strings.HasSuffix(k.Name, "_get") || strings.Contains(k.Name, "_get_")
	case "datatype":
		return strings.Contains(k.Name, "_get_") || strings.Contains(k.Name, "_f90_") || k.Name == "MPI_Type_match_size"
	case "comm":
		return strings.Contains(k.Name, "_get_")
	}
	return strings.HasPrefix(k.Name, "MPI_T_")
}

// persistent reports whether requests that the function makes are started and
// completed until they are freed.
func (k *knownFunction) persistent() bool { return strings.HasSuffix(k.base, "_init") }

// parameter returns the position of a parameter.
func (k *knownFunction) parameter(name string) int {
	for i := range k.Params {
		if k.Params[i].Name == name {
			return i
		}
	}
	panic("mpi/collect: " + k.Name + " has no parameter " + name)
}

// before returns a number that a call was given.
func (k *knownFunction) before(r *spool.Record, name string) int64 {
	return r.Arguments[k.parameter(name)].Before.Int()
}

// after returns a number that a call has returned.
func (k *knownFunction) after(r *spool.Record, name string) int64 {
	return r.Arguments[k.parameter(name)].After.Int()
}
