package collect

import (
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// A waiting call is one that was given requests, or what it frees, and has not
// returned.
type waiting struct {
	function, depth int
	from            int         // of their ids in thread.given
	raw             uint64      // of an object to be freed
	base            cst.Pointer // of memory to be freed
}

// enter takes note that a call begins that is given requests, or frees something.
func (p *process) enter(t *thread, r *mpi.Record) {
	// Calls at this depth that are still waiting were never left.
	for n := len(t.waiting); n > 0 && t.waiting[n-1].depth >= r.Depth; n-- {
		p.leave(t, nil)
	}
	f := &plans[r.Function]
	w := waiting{function: r.Function, depth: r.Depth, from: len(t.given)}
	switch {
	case f.takesRequests:
		p.enterRequests(t, f, r.Arguments[f.requests].Before)
	case f.freed >= 0 && r.Arguments[f.freed].Before.Presence == mpi.Given:
		w.raw = uint64(r.Arguments[f.freed].Before.Int())
		class := f.params[f.freed].class
		id := p.lookup(class, w.raw)
		p.handles[class].Detach(w.raw)
		t.given = append(t.given, id)
		if m, ok := p.windows[id]; ok && f.freesWindow {
			p.memory.Free(m.address)
		}
	case f.role.FreesMemory:
		base := f.argument(r, "base").Int()
		w.base = p.pointer(base)
		p.memory.Free(uint64(base))
	}
	t.waiting = append(t.waiting, w)
}

func (p *process) enterRequests(t *thread, f *plan, v mpi.Value) {
	switch {
	case v.Presence != mpi.Given:
	case f.params[f.requests].Form != spec.Array:
		p.enterRequest(t, f, v.Int())
	default:
		for k := range v.Len() {
			p.enterRequest(t, f, v.Index(k))
		}
	}
}

func (p *process) enterRequest(t *thread, f *plan, raw int64) {
	if f.looks {
		t.given = p.requests.Look(t.given, uint64(raw))
	} else {
		t.given = p.requests.Enter(t.given, uint64(raw))
	}
}

// leave says what became of what the call was given that the thread entered last:
// nothing if there is no record of its end.
func (p *process) leave(t *thread, r *mpi.Record) {
	last := len(t.waiting) - 1
	w := t.waiting[last]
	f := &plans[w.function]
	given := t.given[w.from:]
	switch {
	case f.looks:
	case f.takesRequests:
		p.leaveRequests(f, r, given)
	case len(given) > 0:
		p.leaveObject(f, r, given[0], w.raw)
	}
	t.given = t.given[:w.from]
	t.waiting = t.waiting[:last]
}

func (p *process) leaveRequests(f *plan, r *mpi.Record, given []int64) {
	for k, id := range given {
		gone := r != nil && r.Arguments[f.requests].After.Presence == mpi.Given && p.nulled(f, &r.Arguments[f.requests], k)
		if gone && f.frees {
			p.requests.Free(id)
		} else {
			p.requests.Leave(id, gone)
		}
	}
}

func (p *process) leaveObject(f *plan, r *mpi.Record, id int64, raw uint64) {
	objects := &p.handles[f.params[f.freed].class]
	gone := false
	if r != nil {
		after := r.Arguments[f.freed].After
		gone = after.Presence == mpi.Given && uint64(after.Int()) != raw
	}
	if gone {
		objects.Free(id)
	} else {
		objects.Attach(raw, id)
	}
	if f.freesWindow && gone {
		delete(p.dynamic, id)
	}
	if m, ok := p.windows[id]; ok && f.freesWindow {
		if gone {
			delete(p.windows, id)
		} else {
			p.memory.Allocate(m.address, m.size, 0)
		}
	}
}
