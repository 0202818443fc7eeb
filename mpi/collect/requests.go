package collect

import (
	"encoding/binary"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/requestid"
	"github.com/reprise-trace/reprise/mpi/internal/spool"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// A waiting call is one that was given requests, or what it frees, and has not
// returned.
type waiting struct {
	function, depth int
	from            int         // of their ids in thread.given
	raw             uint64      // of an object to be freed
	base            cst.Pointer // of memory to be freed
	unseen          bool        // recording is off, and none of the requests is one that is followed then
}

// enter takes note that a call begins that is given requests, or frees something.
func (p *process) enter(t *thread, r *spool.Record) {
	// Calls at this depth that are still waiting were never left.
	for n := len(t.waiting); n > 0 && t.waiting[n-1].depth >= r.Depth; n-- {
		p.leave(t, nil)
	}
	f := &plans[r.Function]
	w := waiting{function: r.Function, depth: r.Depth, from: len(t.given)}
	switch {
	case f.takesRequests && r.Hidden && !p.follows(r.Arguments[f.requests].Before,
		f.params[f.requests].Form == spec.Array):
		w.unseen = true
	case f.takesRequests:
		p.enterRequests(t, f, r.Arguments[f.requests].Before)
	case f.freed >= 0 && r.Arguments[f.freed].Before.Presence == spool.Given:
		p.ofMPI = f.freesWindow
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
		p.ofMPI = true
		p.memory.Free(uint64(base))
	}
	t.waiting = append(t.waiting, w)
}

// follows reports whether one of the requests that a call is given is followed while recording is off.
func (p *process) follows(v spool.Value, many bool) bool {
	n := 1
	if many {
		n = v.Len()
	}
	for k := 0; k < n && v.Presence == spool.Given; k++ {
		raw := v.Int()
		if many {
			raw = v.Index(k)
		}
		id, known := p.requests.Lookup(uint64(raw))
		if known && id >= 0 && p.askedBy(id).lasts {
			return true
		}
	}
	return false
}

func (p *process) enterRequests(t *thread, f *plan, v spool.Value) {
	switch {
	case v.Presence != spool.Given:
	case f.params[f.requests].Form != spec.Array:
		p.enterRequest(t, f, v.Int())
	case f.looks:
		p.raws = p.raws[:0]
		for k := range v.Len() {
			p.raws = append(p.raws, uint64(v.Index(k)))
		}
		t.given = p.requests.Look(t.given, p.raws...)
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
func (p *process) leave(t *thread, r *spool.Record) {
	last := len(t.waiting) - 1
	w := t.waiting[last]
	f := &plans[w.function]
	given := t.given[w.from:]
	switch {
	case f.looks || w.unseen:
	case f.takesRequests:
		p.leaveRequests(f, r, given)
	case len(given) > 0:
		p.leaveObject(f, r, given[0], w.raw)
	}
	t.given = t.given[:w.from]
	t.waiting = t.waiting[:last]
}

func (p *process) leaveRequests(f *plan, r *spool.Record, given []int64) {
	for k, id := range given {
		gone := r != nil && r.Arguments[f.requests].After.Presence == spool.Given &&
			p.nulled(f, &r.Arguments[f.requests], k)
		if gone && f.frees {
			p.requests.Free(id)
		} else {
			p.requests.Leave(id, gone)
		}
	}
}

func (p *process) leaveObject(f *plan, r *spool.Record, id int64, raw uint64) {
	objects := &p.handles[f.params[f.freed].class]
	gone := false
	if r != nil {
		after := r.Arguments[f.freed].After
		gone = after.Presence == spool.Given && uint64(after.Int()) != raw
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

// nulled reports whether a call has replaced a request by the null request.
func (p *process) nulled(f *plan, a *spool.Argument, k int) bool {
	before, after := a.Before.Int(), a.After.Int()
	if f.params[f.requests].Form == spec.Array {
		if k >= a.After.Len() {
			return false // a damaged record
		}
		before, after = a.Before.Index(k), a.After.Index(k)
	}
	return before != after && uint64(after) == p.noRequest
}

// begin sets the requests that a call made. Their pool is that of the thread and all else
// that the call says, but for how much a message has, which may vary without a pattern, and for its tag and where
// in a piece of memory it is, which may advance: what other threads do meanwhile makes no difference.
func (p *process) begin(t *thread, f *plan, r *spool.Record) {
	p.key = binary.LittleEndian.AppendUint32(p.key[:0], t.lane)
	p.key = binary.LittleEndian.AppendUint16(p.key, uint16(r.Function))
	for i := range f.params {
		if f.params[i].amount || f.params[i].operation == tag {
			continue
		}
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
		if f.params[i].Form != spec.Array {
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
		if p.ofMany(raw) {
			p.requests.Share(raw)
		}
		p.requests.Drop(raw)
		if p.created == nil {
			p.created = make(map[uint64]int)
		}
		p.created[raw] = p.epoch
	}
	id := p.requests.Create(raw, p.key, f.persistent)
	pool, index := requestid.Split(id)
	if pool < 0 {
		return id
	}
	for pool >= int64(len(p.asked)) {
		p.asked = append(p.asked, nil)
	}
	for index >= int64(len(p.asked[pool])) {
		p.asked[pool] = append(p.asked[pool], unseen)
	}
	p.asked[pool][index] = p.question(f)
	return id
}

// askedBy returns what a request asks for, of which the id is that of no constant.
func (p *process) askedBy(id int64) question {
	pool, index := requestid.Split(id)
	if pool >= int64(len(p.asked)) || index >= int64(len(p.asked[pool])) {
		return unseen
	}
	return p.asked[pool][index]
}

// question returns what the call asks for.
func (p *process) question(f *plan) question {
	q := question{f.role.Reports, unasked, unasked, f.lasts}
	if f.source < 0 {
		return q
	}
	q.receives, q.source = true, p.values[f.source].Int()
	if f.tag >= 0 {
		q.tag = p.values[f.tag].Int()
	}
	return q
}

// Handles of MPICH and what is made of it have 2 bits for the place of the object,
// which are 0 for a null handle and 1 for an object that is built in, and 4 for its
// class.
const (
	placeShift   = 26
	nullRequest  = 0x0b
	builtRequest = 0x1b
)

// ofMany reports whether MPI gives a handle to all operations that are complete when
// they have begun: in MPICH that of an object that is built in, and in Open MPI that of
// one in its static data.
func (p *process) ofMany(raw uint64) bool {
	if p.noRequest>>placeShift == nullRequest {
		return raw>>placeShift == builtRequest
	}
	segment, ok := p.memory.Region(raw)
	return ok && segment <= spool.Static && segment > spool.ThreadStack
}
