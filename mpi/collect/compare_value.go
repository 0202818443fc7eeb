package collect

import (
	"fmt"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi"
)

// value returns why an argument is not what was recorded, or "".
func (m *comparison) value(f *plan, r *mpi.Record, c *tracedCall, i int, raw mpi.Value, v cst.Value) string {
	q := &f.params[i]
	switch q.Form {
	case mpi.Text:
		if v.Kind() != cst.KindString || v.Text() != string(raw.Text()) {
			return fmt.Sprintf("%q was recorded", raw.Text())
		}
		return ""
	case mpi.Texts, mpi.TextLists:
		return m.texts(raw, v)
	case mpi.Array:
		if v.Kind() != cst.KindArray || v.Len() != raw.Len() {
			return fmt.Sprintf("%d elements were recorded", raw.Len())
		}
		for k := range v.Len() {
			if reason := m.element(f, r, c, i, k, raw, v.Index(k)); reason != "" {
				return fmt.Sprintf("element %d: %s", k, reason)
			}
		}
		return ""
	}
	return m.element(f, r, c, i, 0, raw, v)
}

func (m *comparison) texts(raw mpi.Value, v cst.Value) string {
	list, at := v, 0
	outer := 0
	nested := v.Len() > 0 && v.Index(0).Kind() == cst.KindArray
	if nested {
		list = v.Index(0)
	}
	for s, there := range raw.Texts() {
		switch {
		case !there && nested:
			if at != list.Len() {
				return "a list is longer"
			}
			if outer++; outer < v.Len() {
				list, at = v.Index(outer), 0
			}
		case at >= list.Len() || list.Index(at).Text() != string(s):
			return fmt.Sprintf("%q was recorded", s)
		default:
			at++
		}
	}
	return ""
}

// element returns why a single value is not what was recorded, or "".
func (m *comparison) element(f *plan, r *mpi.Record, c *tracedCall, i, k int, raw mpi.Value, v cst.Value) string {
	q := &f.params[i]
	if q.operation == status {
		return m.status(f, r, c, k, raw, v)
	}
	word := raw.Int()
	if q.Form == mpi.Array {
		word = raw.Index(k)
	}
	want := word
	if q.distances && v.Kind() == cst.KindPointer {
		return m.address(word, v.Pointer())
	}
	switch q.operation {
	case rank:
		want = m.canonical("rank", word)
	case tag:
		want = m.canonical("tag", word)
	case float:
		if v.Kind() != cst.KindFloat {
			return "it was a float"
		}
		return ""
	case address:
		return m.address(word, v.Pointer())
	case code:
		if class, ok := m.classes[word]; ok {
			want = class
		}
	case object, created, shared, freed:
		return m.object(q, word, v.Int())
	case request:
		return m.given(word, v.Int())
	case began:
		return m.began(f, r, word, v.Int())
	}
	if v.Int() != want {
		return fmt.Sprintf("%d was recorded", word)
	}
	return ""
}

// canonical returns the number that a trace has for a rank or a tag.
func (m *comparison) canonical(class string, raw int64) int64 {
	if raw >= 0 {
		return raw
	}
	if id, ok := m.constants[class][raw]; ok {
		return id
	}
	return raw + strayed
}

// object checks that one id stands for one handle and the other way round.
func (m *comparison) object(q *parameter, raw, id int64) string {
	class := q.Element().Class
	if want, ok := m.constants[class][raw]; ok {
		if id != want {
			return fmt.Sprintf("the constant %d was recorded", want)
		}
		return ""
	}
	if m.objects[class] == nil {
		m.objects[class] = make(map[int64]int64)
	}
	known, ok := m.objects[class][id]
	if ok && known != raw && q.operation != created {
		return fmt.Sprintf("the id was that of handle %#x, not %#x", known, raw)
	}
	if !ok || known != raw {
		for other, handle := range m.objects[class] {
			if handle == raw && other != id && q.operation != created {
				return fmt.Sprintf("handle %#x has the id %d", raw, other)
			} else if handle == raw {
				delete(m.objects[class], other)
			}
		}
	}
	m.objects[class][id] = raw
	return ""
}

// began checks a request that a call made.
func (m *comparison) began(f *plan, r *mpi.Record, raw, id int64) string {
	if want, ok := m.constants["request"][raw]; ok {
		if id != want {
			return "the null request was recorded"
		}
		return ""
	}
	if known, live := m.requests[id]; live && (known.raw != raw || !m.gaps) {
		return "the id is that of a request that is not complete"
	}
	known := knownRequest{raw: raw}
	if f.source >= 0 {
		known.receives, known.asked = true, true
		known.source = m.canonical("rank", r.Arguments[f.source].Before.Int())
		known.tag = unasked
		if f.tag >= 0 {
			known.tag = m.canonical("tag", r.Arguments[f.tag].Before.Int())
		}
	} else if f.answers {
		known.receives = true
	}
	m.requests[id] = known
	return ""
}

// given checks a request that a call was given.
func (m *comparison) given(raw, id int64) string {
	if want, ok := m.constants["request"][raw]; ok {
		if id != want {
			return "the null request was recorded"
		}
		return ""
	}
	if known, ok := m.requests[id]; ok && known.raw != raw {
		return fmt.Sprintf("the id was that of request %#x, not %#x", known.raw, raw)
	}
	if id < 0 {
		return fmt.Sprintf("request %#x was recorded", raw)
	}
	return ""
}

// address checks a pointer.
func (m *comparison) address(raw int64, p cst.Pointer) string {
	if want, ok := m.constants["pointer"][raw]; ok {
		if p.Segment != want {
			return fmt.Sprintf("the constant %d was recorded", want)
		}
		return ""
	}
	start := raw - p.Displacement
	if p.Segment >= 0 {
		if size, ok := m.allocated[start]; !ok || p.Displacement > size || p.Displacement < 0 {
			return fmt.Sprintf("%#x is not so far into allocated memory", raw)
		}
		return ""
	}
	if known, ok := m.bases[p.Segment]; ok && known != start {
		return fmt.Sprintf("%#x is %d bytes into segment %d", raw, raw-known, p.Segment)
	}
	m.bases[p.Segment] = start
	return ""
}

// status checks what is left of a status.
func (m *comparison) status(f *plan, r *mpi.Record, c *tracedCall, k int, recorded mpi.Value, v cst.Value) string {
	s, raw := v.Status(), recorded.Status(k)
	if s.Error != int64(recorded.StatusClass(k)) {
		return fmt.Sprintf("the error was of class %d", recorded.StatusClass(k))
	}
	if f.statuses == nowhere || raw.Error != 0 {
		return ""
	}
	source, tag := m.canonical("rank", raw.Source), m.canonical("tag", raw.Tag)
	if (s.Source != Implied && s.Source != source) || (s.Tag != Implied && s.Tag != tag) {
		return fmt.Sprintf("source %d and tag %d were recorded", source, tag)
	}
	known := knownRequest{receives: true}
	switch f.statuses {
	case arguments:
		known.asked = true
		known.source = m.canonical("rank", r.Arguments[f.source].Before.Int())
		known.tag = m.canonical("tag", r.Arguments[f.tag].Before.Int())
	case inRequest, inRequests, inSelected:
		var ok bool
		if known, ok = m.completed(f, r, c, k); !ok {
			return ""
		}
	}
	switch {
	case !known.receives && (s.Source != Implied || s.Tag != Implied):
		return "what was not received has no source"
	case !known.receives:
	case !known.asked && (s.Source == Implied || s.Tag == Implied),
		known.asked && ((s.Source == Implied) != (source == known.source) || (s.Tag == Implied) != (tag == known.tag)):
		return "what it leaves out is not what was asked for"
	}
	return ""
}

// completed returns the request that status k of a call is of.
func (m *comparison) completed(f *plan, r *mpi.Record, c *tracedCall, k int) (knownRequest, bool) {
	if f.statuses == inSelected {
		v := r.Arguments[f.selection].After
		if f.params[f.selection].Form != mpi.Array {
			k = int(v.Int())
		} else if k < v.Len() {
			k = int(v.Index(k))
		}
	}
	v, _, _ := c.argument(f.params[f.requests].Name)
	if v.Kind() == cst.KindArray {
		if k < 0 || k >= v.Len() {
			return knownRequest{}, false
		}
		v = v.Index(k)
	}
	if v.Kind() != cst.KindHandle {
		return knownRequest{}, false
	}
	known, ok := m.requests[v.Int()]
	return known, ok
}
