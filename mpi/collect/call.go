package collect

import (
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/internal/spool"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// call records a call that has returned.
func (p *process) call(t *thread, r *spool.Record) {
	defer func() { t.sized, t.unsized = t.sized[:0], false }()
	f := &plans[r.Function]
	if r.Hidden && !p.hidden {
		p.epoch++
	}
	p.hidden = r.Hidden
	learnClass(p.classes, f, r)
	if f.begins && !t.entered(r) {
		p.enter(t, r)
	}
	if f.begins && t.waiting[len(t.waiting)-1].unseen {
		p.leave(t, r)
		return
	}
	p.gain(f, r)
	p.ofMPI = f.role.Allocates
	p.translate(t, f, r)
	if f.makesRequest {
		p.begin(t, f, r)
	}
	if f.begins {
		p.leave(t, r)
	}
	p.join(f, r)
	if f.role.Makes == spec.Spawn && isRecorded(f, r) && !r.Failed {
		p.spawns = append(p.spawns, spawn{p.since1970(t, r.Start), p.since1970(t, r.End), f.started(r)})
	}
	p.end(f, r)
	switch {
	case !isRecorded(f, r):
	case p.keeps || !f.inVain(r):
		p.record(t, f, r, 0)
	default:
		p.leaveOut(t, r)
	}
}

// end takes note of what a call begins or ends.
func (p *process) end(f *plan, r *spool.Record) {
	switch {
	case f.role.Begins == "world":
		p.begun, p.ended = true, false
	case f.role.Begins == "session" && !r.Failed:
		p.open++
		p.ended = p.ended && p.begun
	case f.role.EndsSession && !r.Failed:
		p.open--
		p.ended = p.ended || !p.begun && p.open <= 0
	case f.role.Ends:
		p.ended = true
	}
}

// isRecorded reports whether a call is one of the trace: one that was made while
// recording was on, or that is recorded all the same. Of those that switch recording while it is
// off, it is one that switches it on.
func isRecorded(f *plan, r *spool.Record) bool {
	switch {
	case !r.Hidden:
		return true
	case f.takesRequests: // of which one is followed
		return f.recordedOff || f.role.Requests == spec.Waits || f.role.Requests == spec.Tests
	case !f.role.Switches:
		return f.recordedOff
	}
	if level := f.argument(r, "level"); level.Presence == spool.Given {
		return r.Result == 0 && (level.Int() == 1 || level.Int() == 2)
	}
	key, value := f.argument(r, "key"), f.argument(r, "value")
	return key.Presence != spool.Given || string(key.Text()) != "reprise_record" ||
		r.Result == 0 && value.Presence == spool.Given && string(value.Text()) == "on"
}

// learnClass takes note of the class of an error code, where a call tells.
func learnClass(classes map[int64]int64, f *plan, r *spool.Record) {
	if r.Class != 0 {
		classes[r.Result] = int64(r.Class)
	} else if f.Name == "MPI_Error_class" && r.Arguments[1].After.Presence == spool.Given {
		classes[r.Arguments[0].Before.Int()] = r.Arguments[1].After.Int()
	}
}

// entered reports whether the call that the thread entered last is the one of r.
func (t *thread) entered(r *spool.Record) bool {
	n := len(t.waiting)
	return n > 0 && t.waiting[n-1].function == r.Function && t.waiting[n-1].depth == r.Depth
}

// translate sets the values of a call but for the requests that it made.
func (p *process) translate(t *thread, f *plan, r *spool.Record) {
	p.presence, p.elements = p.presence[:0], p.elements[:0]
	p.values = grow(p.values, len(f.params))
	p.after = grow(p.after, len(f.params))
	for i := range f.params {
		q, a := &f.params[i], &r.Arguments[i]
		v := a.Before
		if q.after && !q.both {
			v = a.After
		}
		s := given
		switch {
		case v.Presence == spool.Missing || v.Presence == spool.Unused:
			s = absent
		case v.Presence != spool.Given:
			s, p.values[i] = constant, cst.Handle(q.standIns[v.Presence])
			if v.Presence == spool.Ignored && q.operation == status && v.Len() > 0 {
				if p.after[i] = p.status(t, f, q, r, v); hasNews(p.after[i]) {
					s = told
				}
			}
		case q.operation == request || q.operation == freed:
			p.values[i] = p.given(t, q)
		case f.role.FreesMemory:
			p.values[i] = cst.PointerTo(t.waiting[len(t.waiting)-1].base)
		case q.Use == spec.Distances && p.areAddresses(v):
			s, p.values[i] = pointing, p.pointers(v)
		case q.Use == spec.Target &&
			p.dynamic[p.lookup(classOfWindows, uint64(f.argument(r, "win").Int()))] && p.isAddress(v.Int()):
			s, p.values[i] = pointing, cst.PointerTo(p.pointer(v.Int()))
		case q.operation == status:
			p.values[i] = p.status(t, f, q, r, v)
		case q.operation != began:
			p.values[i] = p.value(q, v)
		}
		isSized := q.class == classOfDatatypes && q.Direction == cst.In || q.operation == request
		if s == given && len(t.sized) > 0 && isSized {
			if sizes, ok := p.sizes(t, q, v); ok {
				s, p.after[i] = sized, sizes
			}
		}
		if s == given && q.both && a.After.Presence == spool.Given {
			if p.after[i] = p.value(q, a.After); !p.after[i].Equal(p.values[i]) {
				s = changed
			}
		}
		p.presence = append(p.presence, s)
	}
}

// A sizedObject is a datatype by its handle, and its size; or the request of a read of a file, and
// the bytes that it has read.
type sizedObject struct{ raw, size int64 }

// maxSized is of how many objects of a call the sizes are kept.
const maxSized = 1 << 16

// sizes returns the sizes of the objects in an argument, −1 for those that MPI was not asked about,
// and whether it was asked about any.
func (p *process) sizes(t *thread, q *parameter, v spool.Value) (cst.Value, bool) {
	asked := make(map[int64]int64, len(t.sized))
	for _, s := range t.sized {
		asked[s.raw] = s.size
	}
	none := int64(-1)
	if t.unsized {
		none = -2 // it is not known which were left out
	}
	if q.Form != spec.Array {
		size, ok := asked[v.Int()]
		return cst.Int(size), ok
	}
	from, any := len(p.elements), false
	for k := range v.Len() {
		size, ok := asked[v.Index(k)]
		if any = any || ok; !ok {
			size = none
		}
		p.elements = append(p.elements, cst.Int(size))
	}
	return cst.Array(p.elements[from:]...), any
}

func grow(values []cst.Value, n int) []cst.Value {
	for len(values) < n {
		values = append(values, cst.Value{})
	}
	return values
}

// gain tells of the memory that MPI has allocated for the program.
func (p *process) gain(f *plan, r *spool.Record) {
	if m := f.allocation(r); m.size > 0 {
		p.memory.Allocate(m.address, m.size, 0)
	}
}

// An allocation is memory that MPI has allocated.
type allocation struct{ address, size uint64 }

// allocation returns the memory that MPI has allocated in a call, if any.
func (f *plan) allocation(r *spool.Record) allocation {
	if !f.role.Allocates || r.Failed {
		return allocation{}
	}
	m := allocation{uint64(f.argument(r, "baseptr").Int()), uint64(f.argument(r, "size").Int())}
	if m.address == 0 {
		return allocation{}
	}
	return m
}

// argument returns the argument of a name: from after the call where it is only an
// output, and from before it otherwise.
func (f *plan) argument(r *spool.Record, name string) spool.Value {
	for i := range f.params {
		if f.params[i].Name != name {
			continue
		}
		if f.params[i].Before() {
			return r.Arguments[i].Before
		}
		return r.Arguments[i].After
	}
	return spool.Value{}
}

// Groups that are not known before the end, or not at all.
var (
	worldGroup = merge.Group{Rank: -2, Size: -2} // that of MPI_COMM_WORLD
	elsewhere  = merge.Group{Rank: -1, Size: -1}
)

// join takes note of the groups of the objects that a call made.
func (p *process) join(f *plan, r *spool.Record) {
	if f.made < 0 || p.presence[f.made] != given {
		return
	}
	id := p.values[f.made].Int()
	if m := f.allocation(r); m.size > 0 {
		p.windows[id] = m
	}
	if f.role.Attaches {
		p.dynamic[id] = true
	}
	switch class := f.params[f.made].Type.Class; {
	case id < 0:
	case r.Group.Size > 0:
		p.setGroup(class, id, merge.Group{Rank: r.Group.Rank, Size: r.Group.Size})
	case f.parent >= 0:
		// A duplicate, a window or a file, of all members of a communicator.
		g, known := p.groups[merge.GroupHandle{Class: "comm", Value: p.values[f.parent].Int()}]
		if !known {
			g = elsewhere
		}
		p.setGroup(class, id, g)
	}
}

// A state says what is recorded of an argument.
type state uint8

const (
	given    state = iota // its value
	absent                // nothing
	constant              // what stands for it
	changed               // its values from before and after the call
	pointing              // addresses in place of distances
	told                  // what stands for it, and the statuses that the program did not ask for
	sized                 // its value, and the sizes of the objects that it is
)

// A function is one of the table as it was declared in a trace: once for each
// combination of states of its arguments that occurs. Such functions have one name
// and different parameters.
type function []variant

type variant struct {
	key    uint64
	number int // among those of the process
}

// The key of a variant has stateBits for each parameter, and more above these.
const (
	stateBits = 3

	sited    = 1 << 60 // it is known where it was made
	pending  = 1 << 61 // the call has not returned
	inThread = 1 << 62
	failing  = 1 << 63
)

// number gives a thread a number, and a recorder of its own, if it has none.
func (p *process) number(t *thread) {
	if t.number < 0 {
		t.number, t.recorder = p.numbers, newRecorder(p.times)
		p.numbers++
	}
}

// record adds a call with the values that are set to the trace. Its key is that of its
// variant, as far as the states of arguments do not say it.
func (p *process) record(t *thread, f *plan, r *spool.Record, key uint64) {
	p.number(t)
	p.recordChanges(t, r.Start)
	p.args = p.args[:0]
	if t.number > 0 {
		key |= inThread
		p.args = append(p.args, cst.Int(t.number))
	}
	for i, s := range p.presence {
		key |= uint64(s) << (stateBits * i)
		if s != absent {
			p.args = append(p.args, p.values[i])
		}
		if s == changed || s == told || s == sized {
			p.args = append(p.args, p.after[i])
		}
	}
	if r.Site != 0 {
		key |= sited
		p.args = append(p.args, cst.Handle(p.site(t, r.Site)))
	}
	if key&pending != 0 {
		p.args = append(p.args, cst.Int(0))
	} else if f.result.Kind != 0 {
		p.args = append(p.args, p.result(f.result, r))
	} else if f.Result.Kind == 0 && r.Result != 0 {
		key |= failing
		p.args = append(p.args, cst.Int(errorOf(r)))
	}
	if key&pending == 0 {
		p.placeCall(t, f, r)
	}
	n := p.variant(t, r.Function, key)
	if p.timed {
		t.recorder.CallAt(n, p.since1970(t, r.Start), r.End-r.Start, p.args...)
	} else {
		t.recorder.Call(n, p.args...)
	}
	p.calls++
}

// errorOf returns what a trace says of the error of a call: its class, for codes may
// differ between runs.
func errorOf(r *spool.Record) int64 {
	if r.Class != 0 {
		return int64(r.Class)
	}
	return r.Result
}

// result returns the result of a function that returns no error code.
func (p *process) result(t cst.Type, r *spool.Record) cst.Value {
	switch t.Kind {
	case cst.KindFloat:
		return cst.Float(r.Float())
	case cst.KindPointer:
		return cst.PointerTo(p.pointer(r.Result))
	case cst.KindHandle:
		if t.Class == "request" {
			id, _ := p.requests.Lookup(uint64(r.Result))
			return cst.Handle(id)
		}
		return cst.Handle(p.lookup(classOf(t.Class), uint64(r.Result)))
	}
	return cst.Int(r.Result)
}

// variant returns the number of a variant of a function among what a thread records.
func (p *process) variant(t *thread, n int, key uint64) int {
	number := -1
	for i := range p.functions[n] {
		if v := &p.functions[n][i]; v.key == key {
			number = v.number
			break
		}
	}
	if number < 0 {
		number = p.variants
		p.variants++
		p.functions[n] = append(p.functions[n], variant{key, number})
	}
	for len(t.declared) <= number {
		t.declared = append(t.declared, -1)
	}
	if t.declared[number] < 0 {
		t.declared[number] = t.recorder.Declare(plans[n].declaration(key))
	}
	return t.declared[number]
}

// declaration returns a variant of a function.
func (f *plan) declaration(key uint64) cst.Function {
	d := cst.Function{Name: f.Name}
	add := func(name string, t cst.Type, direction cst.Direction) {
		d.Params = append(d.Params, cst.Param{Name: name, Type: t, Direction: direction})
	}
	if key&inThread != 0 {
		d.Params = append(d.Params, threadParam)
	}
	for i := range f.params {
		q := &f.params[i]
		t := q.Type
		if q.Form == spec.TextLists {
			t = cst.ArrayOf(t)
		}
		switch state(key >> (stateBits * i) & (1<<stateBits - 1)) {
		case given:
			add(q.Name, t, q.Direction)
		case pointing:
			t = cst.Type{Kind: cst.KindPointer}
			if q.Form == spec.Array {
				t = cst.ArrayOf(t)
			}
			add(q.Name, t, q.Direction)
		case constant:
			add(q.Name, cst.HandleOf(spec.PlaceholderClass), q.Direction)
		case changed:
			add(q.Name, t, cst.In)
			add(q.Name+"_out", t, cst.Out)
		case told:
			add(q.Name, cst.HandleOf(spec.PlaceholderClass), q.Direction)
			add(q.Name+"_out", t, cst.Out)
		case sized:
			add(q.Name, t, q.Direction)
			size := cst.Type{Kind: cst.KindInt}
			if q.Form == spec.Array {
				size = cst.ArrayOf(size)
			}
			add(spec.SizeParam(q.Name), size, cst.In)
		}
	}
	if key&sited != 0 {
		d.Params = append(d.Params, layout.Site)
	}
	if key&pending != 0 {
		d.Params = append(d.Params, spec.InFlight.Param())
	} else if f.result.Kind != 0 {
		add("result", f.result, cst.Out)
	}
	if key&failing != 0 {
		d.Params = append(d.Params, spec.Failed.Param())
	}
	return d
}
