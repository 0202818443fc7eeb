package collect

import (
	"encoding/binary"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/symbolic"
)

// nulled reports whether a call has replaced a request by the null request.
func (p *process) nulled(f *plan, a *mpi.Argument, k int) bool {
	before, after := a.Before.Int(), a.After.Int()
	if f.params[f.requests].Form == spec.Array {
		if k >= a.After.Len() {
			return false // a damaged record
		}
		before, after = a.Before.Index(k), a.After.Index(k)
	}
	return before != after && uint64(after) == p.noRequest
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
	if pool, _ := symbolic.SplitRequest(id); pool >= int64(len(p.asked)) {
		for pool >= int64(len(p.asked)) {
			p.asked = append(p.asked, unseen)
		}
		p.asked[pool] = p.question(f)
	}
	return id
}

// question returns what the call asks for.
func (p *process) question(f *plan) question {
	if f.source < 0 {
		return question{f.role.Reports, unasked, unasked}
	}
	q := question{true, p.values[f.source].Int(), unasked}
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
	return ok && segment <= mpi.Static && segment > mpi.ThreadStack
}
