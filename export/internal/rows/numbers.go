package rows

import (
	"math"

	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
)

// operations goes through the calls of a rank and tells which messages, requests and
// collective operations they are about.
type operations struct {
	numbers *query.Numbers
	active  map[int64]active // by the id of the request
	begun   int64            // requests so far

	// Of the call that was asked for last.
	sent, received, requests []int64
	collective               int64 // 0 for none, or several
}

// An active is a request that was begun and not completed.
type active struct {
	number   int64
	received []int64 // messages that are received when it is complete
}

// at returns what a call means, whose position is above those before, and takes note of it.
func (x *operations) at(position uint64, terminal uint32) *semantics.Operation {
	o, numbers := x.numbers.At(position, terminal)
	x.sent, x.received, x.requests, x.collective = x.sent[:0], x.received[:0], x.requests[:0], 0
	if o == nil {
		return nil
	}
	if list := x.numbers.Collectives(); len(list) == 1 {
		x.collective = number(list[0])
	}
	for _, ids := range [][]int64{o.Completes, o.Frees} {
		for _, id := range ids {
			if a, ok := x.active[id]; ok {
				x.requests = append(x.requests, a.number)
				x.received = append(x.received, a.received...)
				delete(x.active, id)
			}
		}
	}
	for _, id := range o.Begins {
		x.begun++
		x.requests = append(x.requests, x.begun)
		x.active[id] = active{number: x.begun}
	}
	for i, n := range numbers {
		m := &o.Messages[i]
		switch {
		case n == 0:
		case m.Direction == semantics.Send:
			x.sent = append(x.sent, number(n))
		default:
			x.received = append(x.received, number(n))
			if id, ok := o.Request(i); ok && !m.Blocking {
				a := x.active[id]
				a.received = append(a.received, number(n))
				x.active[id] = a
			}
		}
	}
	return o
}

// number returns a number as tables have it.
func number(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

// lists are lists of integers, one for each row.
type lists struct {
	ends   []uint32
	values []int64
}

func (l *lists) reset() { l.ends, l.values = l.ends[:0], l.values[:0] }

func (l *lists) add(values []int64) {
	l.values = append(l.values, values...)
	l.ends = append(l.ends, uint32(len(l.values)))
}

// of returns the list of a row.
func (l *lists) of(row int) []int64 {
	begin := uint32(0)
	if row > 0 {
		begin = l.ends[row-1]
	}
	return l.values[begin:l.ends[row]]
}

// numbered are the numbers of rows that are calls: nothing if they are not wanted.
type numbered struct {
	sent, received, requests lists
	collectives              []int64
	collective               []bool
}

func (n *numbered) reset() {
	n.sent.reset()
	n.received.reset()
	n.requests.reset()
	n.collectives, n.collective = n.collectives[:0], n.collective[:0]
}

// add adds the row of a call.
func (n *numbered) add(x *operations) {
	n.sent.add(x.sent)
	n.received.add(x.received)
	n.requests.add(x.requests)
	n.collectives, n.collective = append(n.collectives, x.collective), append(n.collective, x.collective > 0)
}

// held returns about how many bytes the lists of a row take.
func (x *operations) held() int { return 8 * (len(x.sent) + len(x.received) + len(x.requests)) }

// numberColumns returns the columns that say which calls belong together.
func numberColumns() []*Column {
	list := func(name string, of func(g *Group) *lists) *Column {
		return &Column{Name: name, Type: List, Unique: true, Optional: true, numbered: true, lists: of}
	}
	return []*Column{
		list("send_messages", func(g *Group) *lists { return &g.numbered.sent }),
		list("recv_messages", func(g *Group) *lists { return &g.numbered.received }),
		list("requests", func(g *Group) *lists { return &g.numbered.requests }),
		{Name: "collective", Type: Int, Unique: true, Optional: true, numbered: true,
			ints: func(g *Group, begin, end int, dst []int64) []int64 {
				return append(dst, g.numbered.collectives[begin:end]...)
			},
			there: func(g *Group) []bool { return g.numbered.collective }},
	}
}
