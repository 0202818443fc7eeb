package collect

import (
	"encoding/binary"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/internal/spool"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// value returns the symbolic form of an argument that is neither a request nor a
// status.
func (p *process) value(q *parameter, v spool.Value) cst.Value {
	from := len(p.elements)
	switch q.Form {
	case spec.ByValue, spec.Indirect:
		return p.word(q, v.Int())
	case spec.Text:
		return cst.String(string(v.Text()))
	case spec.Array:
		for k := range v.Len() {
			p.elements = append(p.elements, p.word(q, v.Index(k)))
		}
	case spec.Texts:
		for s := range v.Texts() {
			p.elements = append(p.elements, cst.String(string(s)))
		}
	case spec.TextLists:
		var list []cst.Value
		for s, more := range v.Texts() {
			if more {
				list = append(list, cst.String(string(s)))
				continue
			}
			p.elements = append(p.elements, cst.Array(list...))
			list = nil
		}
	}
	return cst.Array(p.elements[from:]...)
}

// lowest is the lowest number that may be an address: below are distances.
const lowest = 1 << 22

// areAddresses reports whether distances are addresses in memory that is known: they
// are, in a datatype that is used with MPI_BOTTOM.
func (p *process) areAddresses(v spool.Value) bool {
	for k := range v.Len() {
		if !p.isAddress(v.Index(k)) {
			return false
		}
	}
	return v.Len() > 0
}

func (p *process) isAddress(n int64) bool { return n >= lowest && p.memory.Contains(uint64(n)) }

func (p *process) pointers(v spool.Value) cst.Value {
	from := len(p.elements)
	for k := range v.Len() {
		p.elements = append(p.elements, cst.PointerTo(p.pointer(v.Index(k))))
	}
	return cst.Array(p.elements[from:]...)
}

// word returns the symbolic form of a single value.
func (p *process) word(q *parameter, raw int64) cst.Value {
	switch q.operation {
	case rank:
		return cst.Rank(canonical(p.ranks, raw))
	case tag:
		return cst.Tag(canonical(p.tags, raw))
	case address:
		if q.Use != spec.Word {
			return cst.PointerTo(p.buffer(raw))
		}
		return cst.PointerTo(p.pointer(raw))
	case code:
		if class, ok := p.classes[raw]; ok {
			raw = class
		}
	case object:
		return cst.Handle(p.lookup(q.class, uint64(raw)))
	case created:
		return cst.Handle(p.handles[q.class].Create(uint64(raw)))
	case shared:
		return cst.Handle(p.handles[q.class].Acquire(uint64(raw)))
	}
	return cst.Int(raw)
}

// buffer returns the symbolic form of an address that a constant may stand for.
func (p *process) buffer(raw int64) cst.Pointer {
	for _, c := range p.places {
		if c.raw == raw {
			return cst.Pointer{Segment: c.id}
		}
	}
	return p.pointer(raw)
}

// pointer returns the symbolic form of an address.
func (p *process) pointer(raw int64) cst.Pointer {
	if raw >= -smallest && raw < smallest {
		return cst.Pointer{Segment: absolute, Displacement: raw}
	}
	at, _ := p.memory.Resolve(uint64(raw))
	return cst.Pointer(at)
}

// lookup returns the id of an object. One that is not known was made by a call that
// was not seen, if calls make such objects.
func (p *process) lookup(class int, raw uint64) int64 {
	id, known := p.handles[class].Lookup(raw)
	switch {
	case known:
		return id
	case makable[class]:
		return p.handles[class].CreateUnseen(raw)
	}
	return p.handles[class].Create(raw)
}

// given returns the requests that a call was given, or the object that it frees.
func (p *process) given(t *thread, q *parameter) cst.Value {
	list := t.given[t.waiting[len(t.waiting)-1].from:]
	if q.Form != spec.Array {
		return cst.Handle(list[0])
	}
	from := len(p.elements)
	for _, id := range list {
		p.elements = append(p.elements, cst.Handle(id))
	}
	return cst.Array(p.elements[from:]...)
}

// status returns the symbolic form of one status or several.
func (p *process) status(t *thread, f *plan, q *parameter, r *spool.Record, v spool.Value) cst.Value {
	if q.Form != spec.Array {
		return p.outcome(p.questionOf(t, f, r, 0, q), v.Status(0), v.StatusClass(0))
	}
	from := len(p.elements)
	for k := range v.Len() {
		p.elements = append(p.elements, p.outcome(p.questionOf(t, f, r, k, q), v.Status(k), v.StatusClass(k)))
	}
	return cst.Array(p.elements[from:]...)
}

// outcome returns what is news in a status. That of an operation that failed or is
// pending need not have a source, but for one that received a message of which there was no room for all.
func (p *process) outcome(asked question, s cst.Status, class int) cst.Value {
	kept := cst.Status{Source: implied, Tag: implied, Error: int64(class)}
	if asked.receives && (s.Error == 0 || class != 0 && int64(class) == p.truncate) {
		kept.Source = news(asked.source, canonical(p.ranks, s.Source))
		kept.Tag = news(asked.tag, canonical(p.tags, s.Tag))
	}
	return cst.StatusOf(kept)
}

// hasNews reports whether a status, or any of several, says something.
func hasNews(v cst.Value) bool {
	if v.Kind() == cst.KindArray {
		for k := range v.Len() {
			if hasNews(v.Index(k)) {
				return true
			}
		}
		return false
	}
	return v.Status() != cst.Status{Source: implied, Tag: implied}
}

// news returns what to record of a source or tag of a status, given what was asked for:
// implied if the two are equal. It says something new only where the call left it open,
// with a wildcard, or got something else than it asked for, as from no process at all.
// Recording less makes equal calls have equal signatures.
func news(asked, got int64) int64 {
	if got == asked {
		return implied
	}
	return got
}

// questionOf returns what was asked for by whatever status k of a call tells of.
func (p *process) questionOf(t *thread, f *plan, r *spool.Record, k int, q *parameter) question {
	switch {
	case q.Direction != cst.Out:
		return question{}
	case f.statuses == anywhere:
		return unseen
	case f.statuses == arguments:
		return p.question(f)
	case f.statuses == inSelected:
		v := r.Arguments[f.selection].After
		if f.params[f.selection].Form != spec.Array {
			k = int(v.Int())
		} else if k < v.Len() {
			k = int(v.Index(k))
		} else {
			k = -1
		}
	case f.statuses == nowhere:
		return question{}
	}
	list := t.given[t.waiting[len(t.waiting)-1].from:]
	if k < 0 || k >= len(list) {
		return question{}
	}
	if list[k] < 0 {
		return question{}
	}
	return p.askedBy(list[k])
}

// appendKey appends bytes that tell values apart.
func appendKey(dst []byte, v cst.Value) []byte {
	switch v.Kind() {
	case cst.KindPointer:
		return binary.AppendVarint(dst, v.Pointer().Segment) // where in it may advance from call to call
	case cst.KindString:
		dst = binary.AppendVarint(dst, int64(len(v.Text())))
		return append(dst, v.Text()...)
	case cst.KindArray:
		dst = binary.AppendVarint(dst, int64(v.Len()))
		for k := range v.Len() {
			dst = appendKey(dst, v.Index(k))
		}
		return dst
	case cst.KindFloat, cst.KindStatus:
		return dst // results, not what is asked for
	}
	return binary.AppendVarint(dst, v.Int())
}
