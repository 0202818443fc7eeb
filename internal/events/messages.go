// Package requests finds the requests among the arguments of calls of MPI.
package events

import (
	"iter"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/semantics"
)

// NumberMessages has [Rank.Messages] and [Rank.Numbers] tell messages between the ranks that
// were chosen; if timed, between those of them that have the times of every call. It costs
// what [query.OpenNumbering] does.
func (t *Trace) NumberMessages(timed bool) error {
	model, err := semantics.Open(t.choice.ctx, t.choice.Trace)
	if err != nil || !model.Known() {
		return err
	}
	ranks := t.choice.Ranks
	if timed {
		if ranks, err = t.timedRanks(); err != nil || ranks.Len() == 0 {
			return err
		}
	}
	o := query.Options{Ranks: &ranks, Unreadable: func(int, error) {}} // Ranks tells
	t.numbering, err = query.OpenNumbering(t.choice.ctx, model, o)
	return err
}

// timedRanks returns those that were chosen and have the times of every call.
func (t *Trace) timedRanks() (rankenc.Set, error) {
	timed, _, err := t.choice.Trace.Merged().SeriesRanks()
	return timed.Intersection(t.choice.Ranks), err
}

// messages are those of a rank.
type messages struct {
	numbers        *query.Numbers
	waiting        map[int64]uint64 // receives by the requests that complete them
	ends           []*ended         // by terminal
	sent, received []uint64
}

// Ended are the requests that calls of a terminal complete, or free.
type ended struct {
	ids  []int64
	free bool
}

// numberMessages returns the messages of a rank, nil if they have no numbers.
func (t *Trace) numberMessages(r *Rank) (*messages, error) {
	if t.numbering == nil {
		return nil, nil
	}
	numbers, err := t.numbering.Of(t.choice.ctx, r.Rank, r.Number)
	if err != nil {
		return nil, err
	}
	return &messages{numbers: numbers, waiting: make(map[int64]uint64), ends: make([]*ended, r.Terminals())}, nil
}

// Numbers returns the numbers of the messages of the rank, for who asks for them in other
// orders than Messages; nil if there are none.
func (r *Rank) Numbers() *query.Numbers {
	if r.messages == nil {
		return nil
	}
	return r.messages.numbers
}

// Messages returns the numbers of the messages that a call sends, and of those whose
// receipt ends with it: a receive that a request is for ends with the call that completes
// that. Both ends of a message have its number, from 1 on, and no other has it. Which
// messages have none, [query.Numbering] says, and so have those whose other end was not
// chosen or is not known. Events must be asked for in the order of All. What is returned
// is valid until the next call.
func (r *Rank) Messages(e Event) (sent, received []uint64) {
	m := r.messages
	if m == nil {
		return nil, nil
	}
	m.sent, m.received = m.sent[:0], m.received[:0]
	o, numbers := m.numbers.At(e.Position, e.Terminal)
	if o != nil {
		m.begin(o, numbers)
	}
	ended := m.ends[e.Terminal]
	if ended == nil {
		ended = r.ended(e.Terminal)
		m.ends[e.Terminal] = ended
	}
	for _, id := range ended.ids {
		if n := m.waiting[id]; n > 0 && !ended.free {
			m.received = append(m.received, n)
		}
		delete(m.waiting, id)
	}
	return m.sent, m.received
}

// begin takes note of the messages of an operation.
func (m *messages) begin(o *semantics.Operation, numbers []uint64) {
	for i := range o.Messages {
		id, ok := o.Request(i)
		ok = ok && !o.Messages[i].Blocking
		if ok {
			delete(m.waiting, id) // what is used again is gone
		}
		switch {
		case numbers == nil || numbers[i] == 0:
		case o.Messages[i].Direction == semantics.Send:
			m.sent = append(m.sent, numbers[i])
		case ok:
			m.waiting[id] = numbers[i]
		default:
			m.received = append(m.received, numbers[i])
		}
	}
}

// ended returns the requests that calls of a terminal complete, or free.
func (r *Rank) ended(terminal uint32) *ended {
	c := r.Call(terminal)
	name, ids := FunctionName(c.Function.Name), Requests(c)
	if name == "request_free" {
		return &ended{ids, true}
	}
	return &ended{ids: slices.Collect(Completed(c, name, ids))}
}

// FunctionName returns the name of a function of MPI in lower case, without MPI_ and the _c of
// large counts.
func FunctionName(function string) string {
	name := strings.TrimPrefix(function, "MPIX_")
	return strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(name, "MPI_"), "_c"))
}

// Requests returns the ids of the requests among the arguments of a call.
func Requests(c reprise.Call) []int64 {
	for i, p := range c.Function.Params {
		switch {
		case isRequest(p.Type):
			return []int64{c.Args[i].Int()}
		case p.Type.Kind == cst.KindArray && isRequest(*p.Type.Elem):
			ids := make([]int64, c.Args[i].Len())
			for k := range ids {
				ids[k] = c.Args[i].Index(k).Int()
			}
			return ids
		}
	}
	return nil
}

func isRequest(t cst.Type) bool { return t.Kind == cst.KindHandle && t.Class == "request" }

// Completed returns an iterator over those requests of a call, which Requests returned, that the
// call completes. Name is that of its function.
func Completed(c reprise.Call, name string, ids []int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		if v, ok := c.Arg("flag"); ok && v.Kind() == cst.KindInt && v.Int() == 0 {
			return
		}
		at := func(v cst.Value) bool {
			i := v.Int()
			return i < 0 || i >= int64(len(ids)) || yield(ids[i])
		}
		switch name {
		case "wait", "test", "waitall", "testall":
			for _, id := range ids {
				if !yield(id) {
					return
				}
			}
		case "waitany", "testany":
			if v, ok := c.Arg("index"); ok && v.Kind() == cst.KindInt {
				at(v)
			}
		case "waitsome", "testsome":
			n, ok := c.Arg("outcount")
			indices, also := c.Arg("array_of_indices")
			if !ok || !also || n.Kind() != cst.KindInt || indices.Kind() != cst.KindArray {
				return
			}
			for i := range min(int64(indices.Len()), n.Int()) {
				if !at(indices.Index(int(i))) {
					return
				}
			}
		}
	}
}
