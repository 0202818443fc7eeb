package collect

import (
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// call records a call that has returned.
func (p *process) call(t *thread, r *mpi.Record) {
	f := &plans[r.Function]
	if r.Hidden && !p.hidden {
		p.epoch++
	}
	p.hidden = r.Hidden
	learnClass(p.classes, f, r)
	if f.begins && !t.entered(r) {
		p.enter(t, r)
	}
	p.gain(f, r)
	p.translate(t, f, r)
	if f.makesRequest {
		p.begin(f, r)
	}
	if f.begins {
		p.leave(t, r)
	}
	p.join(f, r)
	p.ended = p.ended || f.role.Ends
	if isRecorded(f, r) {
		p.record(t, f, r)
	}
}

// isRecorded reports whether a call is one of the trace: one that was made while
// recording was on, or switches it on.
func isRecorded(f *plan, r *mpi.Record) bool {
	switch {
	case !r.Hidden:
		return true
	case !f.role.Switches || r.Result != 0:
		return false
	}
	key, value := f.argument(r, "key"), f.argument(r, "value")
	if key.Presence != mpi.Given || value.Presence != mpi.Given {
		level := f.argument(r, "level")
		return level.Presence == mpi.Given && (level.Int() == 1 || level.Int() == 2)
	}
	return string(key.Text()) == "reprise_record" && string(value.Text()) == "on"
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
		case q.operation == request || q.operation == freed:
			p.values[i] = p.given(t, q)
		case f.role.FreesMemory:
			p.values[i] = cst.PointerTo(t.waiting[len(t.waiting)-1].base)
		case q.Use == spec.Distances && p.areAddresses(v):
			s, p.values[i] = pointing, p.pointers(v)
		case q.Use == spec.Target && p.dynamic[p.lookup(classOfWindows, uint64(f.argument(r, "win").Int()))] && p.isAddress(v.Int()):
			s, p.values[i] = pointing, cst.PointerTo(p.pointer(v.Int()))
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

// gain tells of the memory that MPI has allocated for the program.
func (p *process) gain(f *plan, r *mpi.Record) {
	if m := f.allocation(r); m.size > 0 {
		p.memory.Allocate(m.address, m.size, 0)
	}
}

// An allocation is memory that MPI has allocated.
type allocation struct{ address, size uint64 }

// allocation returns the memory that MPI has allocated in a call, if any.
func (f *plan) allocation(r *mpi.Record) allocation {
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

// Groups that are not known before the end, or not at all.
var (
	worldGroup = merge.Group{Rank: -2, Size: -2} // that of MPI_COMM_WORLD
	elsewhere  = merge.Group{Rank: -1, Size: -1}
)

// join takes note of the groups of the objects that a call made.
func (p *process) join(f *plan, r *mpi.Record) {
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
