package replay

import (
	"cmp"
	"maps"
	"slices"

	"github.com/reprise-trace/reprise/sequitur"
)

// A cut is the state of a replay in which no strand can go on: what is equal in two cuts if the
// same happens after both, times, and what is added up.
type cut struct {
	words   []uint64 // what has to be equal
	meaning []any    // pointers, likewise
	times   []Time   // as far as they matter for what comes
	movers  []int32  // by time: the strand that it is to be compared with, −1 for none
	totals  []uint64 // what is added up
	places  []place  // by strand
}

// A place is where a strand is.
type place struct {
	position, varied, ahead uint64 // ahead is how far its gate is
	loop                    loop
	clock                   Time
	state                   state
}

// A change is what is added between two cuts.
type change struct {
	times, totals []uint64 // differences, modulo 2⁶⁴
	calls         []uint64 // by strand, that it has made; those that have made none are where they were
	movers        []int32
}

// newCut returns the state of a replay.
func newCut(e *engine) *cut {
	c := &cut{places: make([]place, len(e.strands))}
	for i, s := range e.strands {
		c.places[i] = s.place()
	}
	v := survey{engine: e, cut: c}
	v.all()
	return c
}

func (s *strand) place() place {
	return place{position: s.position, varied: s.varied, ahead: s.gate - s.position, loop: s.loop, clock: s.clock, state: s.state}
}

// changeTo returns what is added from a cut to a later one. It is nil if what follows them may be
// different, times aside.
func (c *cut) changeTo(now *cut, iterations uint64) *change {
	if !slices.Equal(c.words, now.words) || !slices.Equal(c.meaning, now.meaning) || !slices.Equal(c.movers, now.movers) {
		return nil
	}
	d := &change{movers: c.movers, calls: make([]uint64, len(c.places))}
	for i := range c.places {
		calls, ok := c.places[i].callsTo(&now.places[i], iterations)
		if !ok {
			return nil
		}
		d.calls[i] = calls
	}
	for i, t := range now.times {
		d.times = append(d.times, uint64(t-c.times[i]))
	}
	for i, n := range now.totals {
		d.totals = append(d.totals, n-c.totals[i])
	}
	return d
}

// callsTo returns how many calls a strand has made from one place to another, false if what it calls from
// there on may not be the same. The first call of a rank is like no other.
func (p *place) callsTo(now *place, iterations uint64) (uint64, bool) {
	calls := now.position - p.position
	if calls == 0 {
		return 0, p.state == now.state
	}
	step := p.loop.period * iterations
	return calls, p.state == now.state && p.loop == now.loop && step > 0 && calls%step == 0 &&
		p.position >= max(1, p.loop.begin) && now.position <= p.loop.end && now.varied <= p.position
}

// mayRepeat reports whether it looks as if a replay were in the state of a cut, one time later.
func (c *cut) mayRepeat(e *engine, iterations uint64) bool {
	later := Time(-1)
	for i, s := range e.strands {
		p, now := &c.places[i], s.place()
		calls, ok := p.callsTo(&now, iterations)
		if !ok {
			return false
		}
		if calls == 0 {
			continue
		}
		if d := now.clock - p.clock; later < 0 {
			later = d
		} else if d != later {
			return false
		}
	}
	return later >= 0
}

// uniform reports whether all that has moved is later by one time.
func (d *change) uniform() bool {
	later, known := uint64(0), false
	for i, t := range d.times {
		switch m := d.movers[i]; {
		case m < 0 || d.calls[m] == 0:
			if t != 0 {
				return false
			}
		case !known:
			later, known = t, true
		case t != later:
			return false
		}
	}
	return known
}

// equal reports whether two changes are the same.
func (d *change) equal(other *change) bool { return other.isOf(d, 1) }

// isOf reports whether a change is n times another.
func (d *change) isOf(other *change, n uint64) bool {
	times := func(a, b []uint64) bool {
		return slices.EqualFunc(a, b, func(x, y uint64) bool { return x == n*y })
	}
	return times(d.times, other.times) && times(d.totals, other.totals) && times(d.calls, other.calls)
}

// latest is the latest time up to which rounds are skipped.
const latest = endOfTime / 4

// most returns how often a change may be repeated from a cut on, with a round to spare.
func (d *change) most(now *cut, iterations uint64) uint64 {
	n := uint64(never)
	for i, calls := range d.calls {
		if calls == 0 {
			continue
		}
		p := &now.places[i]
		rest := p.loop.end - p.position
		n = min(n, (rest-min(rest, iterations*p.loop.period))/calls)
	}
	for i, t := range d.times {
		switch later := Time(t); {
		case later < 0: // a time that mattered and does so no more
			return 0
		case now.times[i] > latest:
			return 0
		case later > 0:
			n = min(n, uint64((latest-now.times[i])/later))
		}
	}
	if n == never {
		return 0
	}
	return n
}

// restore sets a replay, which is in a state equal to the cut but for times, to what follows the
// cut when a change has been repeated n times.
func (c *cut) restore(e *engine, d *change, n uint64) {
	v := survey{engine: e, write: true}
	for i, t := range c.times {
		v.times = append(v.times, t+Time(n*d.times[i]))
	}
	for i, t := range c.totals {
		v.totals = append(v.totals, t+n*d.totals[i])
	}
	v.all()
	for i, s := range e.strands {
		if d.calls[i] == 0 {
			continue
		}
		s.walk, s.run = s.rank.calls.Walk(s.position), sequitur.Run{}
		s.gate = s.position + c.places[i].ahead
	}
}

// surveys numbers them.
type survey struct {
	engine *engine
	cut    *cut // that is filled in; nil if the state is changed

	write  bool
	times  []Time // what is left to be written
	totals []uint64

	requests map[*request]uint64 // numbers of those that were seen
}

// all goes through the state of a replay, always in the same order.
func (v *survey) all() {
	e := v.engine
	v.requests = make(map[*request]uint64)
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
	number, known := v.requests[q]
	if !known {
		number = uint64(len(v.requests)) + 1
		v.requests[q] = number
	}
	v.word(number)
	if known {
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
		n.last = 0
		for k := range n.arrivals {
			if n.Enter != nil && !n.mismatch {
				n.last = max(n.last, n.Enter[n.arrivals[k].member])
			}
		}
	}
}
