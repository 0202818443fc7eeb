package collect

import (
	"encoding/binary"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi"
	"github.com/reprise-trace/reprise/symbolic"
)

// enter takes note that a call begins that is given requests.
func (p *process) enter(t *thread, r *mpi.Record) {
	// Calls at this depth that are still waiting were never left.
	for n := len(t.waiting); n > 0 && t.waiting[n-1].depth >= r.Depth; n-- {
		p.leave(t, nil, nil)
	}
	t.waiting = append(t.waiting, waiting{r.Function, r.Depth, len(t.given)})
	v := r.Arguments[plans[r.Function].requests].Before
	if v.Presence != mpi.Given {
		return
	}
	if plans[r.Function].params[plans[r.Function].requests].Form != mpi.Array {
		t.given = p.requests.Enter(t.given, uint64(v.Int()))
		return
	}
	for k := range v.Len() {
		t.given = p.requests.Enter(t.given, uint64(v.Index(k)))
	}
}

// leave says what became of the requests of the call that the thread entered last:
// nothing if no plan is given.
func (p *process) leave(t *thread, f *plan, a *mpi.Argument) {
	last := len(t.waiting) - 1
	for k, id := range t.given[t.waiting[last].from:] {
		outcome := symbolic.Pending
		switch {
		case f == nil || a.After.Presence != mpi.Given || !p.nulled(f, a, k):
		case f.frees:
			outcome = symbolic.Freed
		default:
			outcome = symbolic.Completed
		}
		p.requests.Leave(id, outcome)
	}
	t.given = t.given[:t.waiting[last].from]
	t.waiting = t.waiting[:last]
}

// nulled reports whether a call has replaced a request by the null request.
func (p *process) nulled(f *plan, a *mpi.Argument, k int) bool {
	before, after := a.Before.Int(), a.After.Int()
	if f.params[f.requests].Form == mpi.Array {
		if k >= a.After.Len() {
			return false // a damaged record
		}
		before, after = a.Before.Index(k), a.After.Index(k)
	}
	return before != after && uint64(after) == p.noRequest
}

// call records a call that has returned.
func (p *process) call(t *thread, r *mpi.Record) {
	f := &plans[r.Function]
	if r.Hidden && !p.hidden {
		p.epoch++
	}
	p.hidden = r.Hidden
	learnClass(p.classes, f, r)
	if f.takesRequests && !t.entered(r) {
		p.enter(t, r)
	}
	p.gain(f, r)
	p.translate(t, f, r)
	if f.makesRequest {
		p.begin(f, r)
	}
	if f.takesRequests {
		p.leave(t, f, &r.Arguments[f.requests])
	}
	p.lose(f, r)
	p.join(f, r)
	p.ended = p.ended || f.Name == "MPI_Finalize"
	if !r.Hidden {
		p.record(t, f, r)
	}
}

// learnClass takes note of the class of an error code, where a call tells.
func learnClass(classes map[int64]int64, f *plan, r *mpi.Record) {
	if r.Class != 0 {
		classes[r.Result] = int64(r.Class)
	} else if f.Name == "MPI_Error_class" && r.Arguments[1].After.Presence == mpi.Given {
		classes[r.Arguments[0].Before.Int()] = r.Arguments[1].After.Int()
	}
}

// entered reports whether the call that the thread entered last is the one of r.
func (t *thread) entered(r *mpi.Record) bool {
	n := len(t.waiting)
	return n > 0 && t.waiting[n-1].function == r.Function && t.waiting[n-1].depth == r.Depth
}

// translate sets the values of a call but for the requests that it made.
func (p *process) translate(t *thread, f *plan, r *mpi.Record) {
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
		case v.Presence == mpi.Missing || v.Presence == mpi.Unused:
			s = absent
		case v.Presence != mpi.Given:
			s, p.values[i] = constant, cst.Handle(placeholder(q.Param, v.Presence))
		case q.operation == request:
			p.values[i] = p.given(t, q)
		case q.distances && p.areAddresses(v):
			s, p.values[i] = pointing, p.pointers(v)
		case q.operation == status:
			p.values[i] = p.status(t, f, q, r, v)
		case q.operation != began:
			p.values[i] = p.value(q, v)
		}
		if s == given && q.both && a.After.Presence == mpi.Given {
			if p.after[i] = p.value(q, a.After); !p.after[i].Equal(p.values[i]) {
				s = changed
			}
		}
		p.presence = append(p.presence, s)
	}
}

func grow(values []cst.Value, n int) []cst.Value {
	for len(values) < n {
		values = append(values, cst.Value{})
	}
	return values
}

// begin sets the requests that a call made. Their pool is that of all else that the
// call says.
func (p *process) begin(f *plan, r *mpi.Record) {
	p.key = binary.LittleEndian.AppendUint16(p.key[:0], uint16(r.Function))
	for i := range f.params {
		p.key = append(p.key, byte(p.presence[i]))
		if f.params[i].operation != began && p.presence[i] != absent {
			p.key = appendKey(p.key, p.values[i])
		}
	}
	for i := range f.params {
		if f.params[i].operation != began || p.presence[i] != given {
			continue
		}
		v, from := r.Arguments[i].After, len(p.elements)
		if f.params[i].Form != mpi.Array {
			p.values[i] = cst.Handle(p.makeRequest(f, uint64(v.Int())))
			continue
		}
		for k := range v.Len() {
			p.elements = append(p.elements, cst.Handle(p.makeRequest(f, uint64(v.Index(k)))))
		}
		p.values[i] = cst.Array(p.elements[from:]...)
	}
}

// makeRequest returns the id of a request that a call made.
func (p *process) makeRequest(f *plan, raw uint64) int64 {
	if p.epoch > 0 && raw != p.noRequest && p.created[raw] != p.epoch {
		// What was begun with this handle before recording was off may have ended
		// meanwhile.
		p.requests.Drop(raw)
		if p.created == nil {
			p.created = make(map[uint64]int)
		}
		p.created[raw] = p.epoch
	}
	var id int64
	if f.persistent {
		id = p.requests.CreatePersistent(raw, p.key)
	} else {
		id = p.requests.Create(raw, p.key)
	}
	if pool, _ := symbolic.SplitRequest(id); pool >= int64(len(p.asked)) {
		for pool >= int64(len(p.asked)) {
			p.asked = append(p.asked, question{})
		}
		p.asked[pool] = p.question(f)
	}
	return id
}

// question returns what the call asks for.
func (p *process) question(f *plan) question {
	if f.source < 0 {
		return question{base(f.Name) == "MPI_Imrecv", unasked, unasked}
	}
	q := question{true, p.values[f.source].Int(), unasked}
	if f.tag >= 0 {
		q.tag = p.values[f.tag].Int()
	}
	return q
}

// gain tells of the memory that MPI has allocated for the program.
func (p *process) gain(f *plan, r *mpi.Record) {
	if f.effect != allocates && f.effect != windowMade {
		return
	}
	address, size := uint64(f.argument(r, "baseptr").Int()), uint64(f.argument(r, "size").Int())
	if address == 0 || size == 0 || r.Failed {
		return
	}
	p.memory.Allocate(address, size, 0)
	if f.effect == windowMade {
		p.windows[uint64(f.argument(r, "win").Int())] = address
	}
}

// lose tells of the memory that MPI has freed, and of the objects.
func (p *process) lose(f *plan, r *mpi.Record) {
	for i := range f.params {
		a := &r.Arguments[i]
		if f.params[i].operation == freed && a.After.Presence == mpi.Given && a.After.Int() != a.Before.Int() {
			p.handles[f.params[i].class].Release(uint64(a.Before.Int()))
		}
	}
	if r.Failed {
		return
	}
	switch f.effect {
	case releases:
		p.memory.Free(uint64(f.argument(r, "base").Int()))
	case windowGone:
		win := uint64(f.argument(r, "win").Int())
		if address, ok := p.windows[win]; ok {
			p.memory.Free(address)
			delete(p.windows, win)
		}
	}
}

// argument returns the argument of a name: from after the call where it is only an
// output, and from before it otherwise.
func (f *plan) argument(r *mpi.Record, name string) mpi.Value {
	for i := range f.params {
		if f.params[i].Name != name {
			continue
		}
		if f.params[i].Before() {
			return r.Arguments[i].Before
		}
		return r.Arguments[i].After
	}
	return mpi.Value{}
}

// elsewhere is the group of what is on all processes of the run, where the rank is
// that in the run.
var elsewhere = merge.Group{Rank: -1, Size: -1}

// join takes note of the groups of the objects that a call made.
func (p *process) join(f *plan, r *mpi.Record) {
	if f.made < 0 || p.presence[f.made] != given {
		return
	}
	id := p.values[f.made].Int()
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
