package events

import (
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
)

// number numbers messages between the ranks that were chosen.
func (t *Trace) number(timed bool) error {
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
	o := query.Options{Ranks: &ranks}
	t.numbering, err = query.OpenNumbering(t.choice.ctx, model, o)
	return err
}

// timedRanks returns those that were chosen and have the times of every call.
func (t *Trace) timedRanks() (rankenc.Set, error) {
	timed, _, err := t.choice.Trace.SeriesRanks()
	return timed.Intersection(t.choice.Ranks), err
}

// messages are those of a rank.
type messages struct {
	numbers        *query.Numbers
	waiting        map[int64]uint64 // receives by the requests that complete them
	sent, received []uint64
	collectives    []uint64
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
	return &messages{numbers: numbers, waiting: make(map[int64]uint64)}, nil
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
	if o == nil {
		return m.sent, m.received
	}
	m.begin(o, numbers)
	for _, id := range o.Completes {
		if n := m.waiting[id]; n > 0 {
			m.received = append(m.received, n)
		}
		delete(m.waiting, id)
	}
	for _, id := range o.Frees {
		delete(m.waiting, id)
	}
	return m.sent, m.received
}

// Collectives returns the numbers of the collective operations that the call begins of which
// Messages was asked last: one for the calls of all members, which no other has, nor a message.
func (r *Rank) Collectives() []uint64 {
	m := r.messages
	if m == nil {
		return nil
	}
	m.collectives = m.collectives[:0]
	for _, n := range m.numbers.Collectives() {
		m.collectives = append(m.collectives, min(n, FirstCollective)+FirstCollective)
	}
	return m.collectives
}

// FirstCollective is above the numbers of all messages, and below those of all collective
// operations.
const FirstCollective = 1 << 62

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
