package replay

import (
	"cmp"
	"maps"
	"slices"
)

// A survey goes through the state of a replay, always in the same order, and fills in a cut, or changes
// the state.
type survey struct {
	engine *engine
	cut    *cut // that is filled in; nil if the state is changed

	write  bool
	times  []Time // what is left to be written
	totals []uint64

	requests uint64 // that were seen
}

func (v *survey) all() {
	e := v.engine
	e.surveys++
	v.word(uint64(e.open))
	for _, n := range []*uint64{&e.messages, &e.collectives, &e.unknown, &e.outside} {
		v.total(n)
	}
	for _, s := range e.strands {
		v.strand(s)
	}
	for i, c := range e.channelList {
		v.channel(i, c)
	}
	for i, c := range e.commList {
		v.comm(i, c)
	}
}

// word is something that has to be equal.
func (v *survey) word(x uint64) {
	if !v.write {
		v.cut.words = append(v.cut.words, x)
	}
}

// flag is a word that is 0 or 1.
func (v *survey) flag(x bool) {
	if x {
		v.word(1)
	} else {
		v.word(0)
	}
}

// means is a pointer that has to be equal.
func (v *survey) means(x any) {
	if !v.write {
		v.cut.meaning = append(v.cut.meaning, x)
	}
}

// total is something that is added up.
func (v *survey) total(x *uint64) {
	if v.write {
		*x, v.totals = v.totals[0], v.totals[1:]
		return
	}
	v.cut.totals = append(v.cut.totals, *x)
}

// spent is a total.
func (v *survey) spent(t *Time) {
	n := uint64(*t)
	v.total(&n)
	*t = Time(n)
}

// time is a time that is to be the later the more a strand is. What is before floor makes no difference: it
// is only compared with times from then on.
func (v *survey) time(t *Time, floor Time, s *strand) {
	if v.write {
		*t, v.times = v.times[0], v.times[1:]
		return
	}
	mover := int32(-1)
	if s != nil {
		mover = s.index
	}
	v.cut.times = append(v.cut.times, max(*t, floor))
	v.cut.movers = append(v.cut.movers, mover)
}

func (v *survey) strand(s *strand) {
	r := s.rank
	v.total(&s.position)
	v.total(&s.left)
	v.total(&s.calls)
	v.total(&s.at.Position)
	v.spent(&s.computing)
	v.spent(&s.sending)
	v.spent(&s.waiting)
	if r.sum != nil {
		v.spent(r.sum)
	}
	v.word(uint64(s.state))
	v.time(&s.clock, 0, s)
	if s.state == blocked {
		v.means(s.op)
		v.word(uint64(s.missing))
		v.word(uint64(s.sent))
		v.time(&s.start, 0, s)
		v.time(&s.busy, 0, s)
		v.time(&s.end, 0, s)
	}
	if s.own.left > 0 {
		v.request(&s.own, s)
	}
	v.time(&r.accessed, s.clock, s)
	for i := range r.slots {
		if slot := &r.slots[i]; slot.last != nil || slot.older.len() > 0 {
			v.word(uint64(i))
			v.request(slot.last, s)
			v.word(uint64(slot.older.len()))
			for _, q := range slot.older.list[slot.older.head:] {
				v.request(q, s)
			}
		}
	}
	v.word(never) // the end of the slots
	for i, end := range r.taken {
		if end != nil {
			v.word(uint64(i))
			v.send(end, r.engine.strandOf(end.message.From), s)
		}
	}
	v.word(never)
	for _, k := range slices.SortedFunc(maps.Keys(r.epochs), func(a, b epochKey) int {
		return cmp.Or(cmp.Compare(a.window, b.window), cmp.Compare(bit(a.access), bit(b.access)))
	}) {
		v.word(uint64(k.window))
		v.flag(k.access)
		v.means(r.epochs[k])
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// strandOf returns the strand of a rank, nil if it is not in the trace.
func (e *engine) strandOf(rank int) *strand {
	if r := e.byNumber[rank]; r != nil {
		return r.strands[0]
	}
	return nil
}

// clockOf returns when a strand goes on at the earliest.
func clockOf(s *strand) Time {
	if s == nil {
		return 0
	}
	return s.clock
}

// request is one of a strand, which may be nil.
func (v *survey) request(q *request, of *strand) {
	if q == nil {
		v.word(0)
		return
	}
	known := q.survey == v.engine.surveys
	if !known {
		v.requests++
		q.survey, q.number = v.engine.surveys, v.requests
	}
	if v.word(q.number); known {
		return
	}
	v.word(uint64(uint32(q.left)))
	v.flag(q.gone)
	v.flag(q.waiter != nil)
	v.time(&q.done, clockOf(of), of)
}

// send is a message that nobody has received. That it arrives before its receiver goes on makes no
// difference.
func (v *survey) send(end *sendEnd, from, to *strand) {
	v.word(uint64(end.transfer))
	v.word(uint64(end.receive))
	v.means(end.message)
	v.request(end.request, from)
	floor := clockOf(to)
	v.time(&end.shows, floor, to)
	if end.request == nil {
		floor -= max(0, end.transfer)
	}
	v.time(&end.at, floor, to)
}

func (v *survey) channel(i int, c *channel) {
	if c.sends.len()+c.receives.len()+len(c.probers) == 0 {
		return
	}
	from, to := v.engine.strandOf(c.from), v.engine.strandOf(c.to.number)
	v.word(uint64(i))
	v.word(uint64(c.sends.len()))
	for k := range c.sends.list[c.sends.head:] {
		v.send(&c.sends.list[c.sends.head+k], from, to)
	}
	v.word(uint64(c.receives.len()))
	for k := range c.receives.list[c.receives.head:] {
		end := &c.receives.list[c.receives.head+k]
		v.request(end.request, to)
		v.time(&end.at, clockOf(from), from)
	}
	for _, s := range c.probers {
		v.word(uint64(s.index))
	}
}

func (v *survey) comm(i int, c *comm) {
	begun := c.begun
	v.total(&c.begun)
	for _, n := range c.counts {
		v.word(*n - begun)
		v.total(n)
	}
	v.word(uint64(len(c.open)))
	for _, n := range c.open {
		v.instance(n)
	}
}

func (v *survey) instance(n *instance) {
	v.flag(n.mismatch)
	v.word(uint64(len(n.arrivals)))
	for k := range n.arrivals {
		a := &n.arrivals[k]
		s := a.rank.strands[0]
		v.means(a.collective)
		v.flag(a.left)
		if !a.left {
			v.request(a.request, s)
		}
		if n.Enter != nil && !n.mismatch {
			v.time(&n.Enter[a.member], 0, s)
		}
	}
	if v.write {
		n.last = [2]Time{}
		for k := range n.arrivals {
			if n.Enter != nil && !n.mismatch {
				member := int(n.arrivals[k].member)
				last := &n.last[n.group(member)]
				*last = max(*last, n.Enter[member])
			}
		}
	}
}
