package clocks

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/piecewise"
	"github.com/reprise-trace/reprise/internal/wire"
)

// An event is that a clock sends or receives a message, at an aligned time.
type event struct {
	time     int64
	message  int32
	received bool
}

// compare orders events of a clock. What is received at a time may move what is sent then.
func (e event) compare(f event) int {
	if e.time == f.time && e.received != f.received {
		if e.received {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(e.time, f.time), cmp.Compare(e.message, f.message))
}

// A course is what a clock does.
type course struct {
	events []event // in their order
	next   int     // the first that has not been followed
	jumps  piecewise.Jumps
}

// A transit is a message on its way.
type transit struct {
	sent    int64 // once its clock is moved,
	known   bool  // if it is
	awaited bool  // by the clock that it arrives at
	to      int32
}

// A logical clock is each of all, in the end: no message arrives before it is sent.
type logical struct {
	clocks    []course
	messages  []transit
	ready     []int // clocks that can be followed
	waiting   waits
	tolerance int64 // messages may be early by so much,
	inexact   int64 // of which so much is because of the times
	most      int64 // that a clock is ahead
}

// A wait is of a clock for a message, since it arrives before it is known when it was sent.
type wait struct {
	time        int64
	clock, next int
}

// Waits are a heap of which the earliest is the first.
type waits []wait

func (w waits) Len() int { return len(w) }

func (w waits) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(w[i].time, w[j].time), cmp.Compare(w[i].clock, w[j].clock)) < 0
}

func (w waits) Swap(i, j int) { w[i], w[j] = w[j], w[i] }

func (w *waits) Push(x any) { *w = append(*w, x.(wait)) }

func (w *waits) Pop() any {
	last := len(*w) - 1
	x := (*w)[last]
	*w = (*w)[:last]
	return x
}

// mend has clocks jump ahead where messages arrive before they are sent, by more than a tolerance, as the
// last resort: to when these were sent. No clock gets ahead by more than twice as much as a message is early,
// and none does if not half of such messages are mended. It counts what is left, and errors become as large
// as that, and by as much larger as clocks are ahead.
func (c *Clocks) mend(all []Aligned, placed []bool, inexact int64) {
	off := tolerance(inexact)
	before := c.countEarly(all, placed, off)
	mended := slices.Clone(all)
	for k, jumps := range c.jumps(all, placed, inexact) {
		mended[k].Errors = slices.Clone(all[k].Errors)
		mended[k].take(jumps)
	}
	left := c.countEarly(mended, placed, off)
	if sum(left) <= sum(before)/2 {
		copy(all, mended)
	} else {
		left = before
	}
	c.early(all, placed, func(clock int, time, early int64) {
		if early > off {
			all[clock].raise(time, early)
		}
	})
	for k, n := range left {
		all[k].Early = n
	}
}

// sum returns the sum of numbers.
func sum(list []uint64) (n uint64) {
	for _, v := range list {
		n += v
	}
	return n
}

// jumps returns those of all clocks.
func (c *Clocks) jumps(all []Aligned, placed []bool, inexact int64) []piecewise.Jumps {
	early := c.early(all, placed, nil)
	l := &logical{clocks: make([]course, c.n), tolerance: tolerance(inexact), inexact: 2 * inexact,
		most: more(early, early)}
	pairs := slices.SortedFunc(maps.Keys(c.messages), func(a, b [2]int) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	for _, pair := range pairs {
		if max(pair[0], pair[1]) < c.n && placed[pair[0]] && placed[pair[1]] {
			l.add(pair, c.messages[pair].list, all)
		}
	}
	for k := range l.clocks {
		slices.SortFunc(l.clocks[k].events, event.compare)
		l.ready = append(l.ready, k)
	}
	l.followAll()
	list := make([]piecewise.Jumps, c.n)
	for k := range list {
		list[k] = l.clocks[k].jumps
	}
	return list
}

// add adds the messages from one clock to another.
func (l *logical) add(pair [2]int, list []message, all []Aligned) {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b message) int {
		return cmp.Or(cmp.Compare(a.sent, b.sent), cmp.Compare(a.received, b.received))
	})
	from, to := &l.clocks[pair[0]], &l.clocks[pair[1]]
	for _, m := range list {
		n := int32(len(l.messages))
		l.messages = append(l.messages, transit{to: int32(pair[1])})
		from.events = append(from.events, event{all[pair[0]].Apply(m.sent), n, false})
		to.events = append(to.events, event{all[pair[1]].Apply(m.received), n, true})
	}
}

// followAll follows the events of all clocks, what tells of a message before what it tells. If clocks wait
// for each other, as messages go round in a circle of time, the one that waits earliest goes on, and its
// message arrives when it does.
func (l *logical) followAll() {
	for {
		for len(l.ready) > 0 {
			k := l.ready[len(l.ready)-1]
			l.ready = l.ready[:len(l.ready)-1]
			l.follow(k)
		}
		if len(l.waiting) == 0 {
			return
		}
		if w := heap.Pop(&l.waiting).(wait); l.clocks[w.clock].next == w.next {
			l.clocks[w.clock].next++
			l.ready = append(l.ready, w.clock)
		}
	}
}

// follow follows the events of a clock up to one that has to wait.
func (l *logical) follow(k int) {
	c := &l.clocks[k]
	for ; c.next < len(c.events); c.next++ {
		e := c.events[c.next]
		m := &l.messages[e.message]
		switch {
		case !e.received:
			if m.sent, m.known = c.jumps.Apply(e.time), true; m.awaited {
				l.ready = append(l.ready, int(m.to))
			}
		case m.known:
			l.arrive(c, e.time, m.sent)
		default:
			m.awaited = true
			heap.Push(&l.waiting, wait{e.time, k, c.next})
			return
		}
	}
}

// arrive has a clock jump if a message arrives too early.
func (l *logical) arrive(c *course, time, sent int64) {
	if wire.SubTimes(sent, c.jumps.Apply(time)) <= l.tolerance {
		return
	}
	ahead := min(wire.SubTimes(wire.SubTimes(sent, l.inexact), time), l.most)
	switch n := len(c.jumps); {
	case ahead <= c.jumps.Ahead(time):
	case n > 0 && c.jumps[n-1].Since == time:
		c.jumps[n-1].Ahead = ahead
	case n < piecewise.MaxJumps:
		c.jumps = append(c.jumps, format.Jump{Since: time, Ahead: ahead})
	}
}

// take makes jumps those of a clock.
func (a *Aligned) take(jumps piecewise.Jumps) {
	if len(jumps) == 0 {
		return
	}
	most := make([]int64, 1+len(a.Later)) // of each piece
	begins := make([]int64, len(a.Later))
	for i, p := range a.Later {
		begins[i] = a.Apply(p.Since)
		most[i+1] = jumps.Ahead(begins[i])
	}
	for _, j := range jumps {
		piece := 0
		for piece < len(begins) && begins[piece] <= j.Since {
			piece++
		}
		most[piece] = max(most[piece], j.Ahead)
	}
	a.Jumps = jumps
	if len(a.Errors) == 0 {
		a.Error = more(a.Error, most[0])
		return
	}
	for i, by := range most {
		a.Errors[i] = more(a.Errors[i], by)
	}
	a.Error = slices.Max(a.Errors)
}
