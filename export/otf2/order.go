package otf2

import (
	"cmp"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/export/internal/events"
)

// An order puts the events of a thread in the order of their times. Calls come in the order in which they returned:
// one that contains others comes after them. Of calls that contain few, the calls that are looked at are put in
// order. Those that contain many are found before, in a first pass.
type order struct {
	process *process
	sink    *sink
	window  int // calls that are looked at to find one that begins earlier, and ends later

	starts []int64  // of the last calls of the first pass
	first  int      // of starts
	before int64    // the start of the last call
	ahead  []*entry // in the order of their beginnings, outer calls first, in room
	room   []*entry
	longs  []*entry // that contain many others, the same
	passed map[uint64]*entry
	nested bool // calls are in others
	stack  []open
}

// An open call, or region, is one that has begun and not ended.
type open struct {
	entry  *entry // nil for a region that calls mark
	region uint64
}

// What all threads of a rank share: the calls that are looked at, at some hundred bytes each, and the bytes of events
// that are not in a file yet; and how many a thread has at least and at most.
var (
	sharedLook, leastLook, mostLook       = 1 << 18, 64, 2048
	sharedBuffer, leastBuffer, mostBuffer = 32 << 20, 512, 1 << 16
)

// look takes note of a call of the first pass.
func (o *order) look(e events.Event) {
	if e.Start <= o.before && e.End > e.Start {
		o.nested = true // the call before is in it
	}
	o.before = e.Start
	if len(o.starts) < o.window/2 {
		o.starts = append(o.starts, e.Start)
		return
	}
	if e.Start <= o.starts[o.first] && e.End > e.Start { // it contains the calls that came since
		o.longs = append(o.longs, &entry{Event: e, long: true})
	}
	o.starts[o.first] = e.Start
	o.first = (o.first + 1) % len(o.starts)
}

// looked ends the first pass.
func (o *order) looked() {
	o.starts = nil
	slices.SortStableFunc(o.longs, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(b.Position, a.Position))
	})
	if len(o.longs) == 0 {
		return
	}
	o.passed = make(map[uint64]*entry, len(o.longs))
	for _, e := range o.longs {
		o.passed[e.Position] = e
	}
}

// add takes the next call to return.
func (o *order) add(e *entry) {
	if !o.nested {
		o.open(e)
		return
	}
	if long := o.passed[e.Position]; long != nil {
		delete(o.passed, e.Position)
		long.end = append(append(long.end, e.begin...), e.end...)
		long.long = false
		o.process.free = append(o.process.free, e)
		for len(o.ahead) > 0 { // which are in it, and no others come that are
			o.next()
		}
		return
	}
	at := len(o.ahead)
	if at > 0 && o.ahead[at-1].Start >= e.Start {
		at, _ = slices.BinarySearchFunc(o.ahead, e, func(a, e *entry) int { return cmp.Compare(a.Start, e.Start) })
		for at < len(o.ahead) && o.ahead[at].Start == e.Start &&
			(o.ahead[at].End > e.End || o.ahead[at].Start == o.ahead[at].End) {
			at++
		}
	}
	if len(o.ahead) == cap(o.ahead) {
		if o.room == nil {
			o.room = make([]*entry, 0, 2*o.window)
		}
		o.ahead = append(o.room[:0], o.ahead...) // what was taken off leaves room
	}
	o.ahead = slices.Insert(o.ahead, at, e)
	if len(o.ahead) == o.window {
		for range o.window / 2 {
			o.next()
		}
	}
}

// finish writes the rest.
func (o *order) finish() {
	for len(o.ahead) > 0 {
		o.next()
	}
	for len(o.longs) > 0 {
		o.open(o.longs[0])
		o.longs = o.longs[1:]
	}
	o.leave(math.MaxInt64)
}

// next begins the next call.
func (o *order) next() {
	e := o.ahead[0]
	o.ahead = o.ahead[1:]
	for len(o.longs) > 0 && o.longs[0].Start <= e.Start {
		o.open(o.longs[0])
		o.longs = o.longs[1:]
	}
	o.open(e)
}

// open ends the calls that are over, and begins one.
func (o *order) open(e *entry) {
	o.leave(e.Start)
	if e.call == nil {
		e.call = o.process.call(e.Terminal)
	}
	c := e.call
	if c.marked > 0 && !c.begins {
		o.leaveRegion(c.marked-1, e.Start)
	}
	if !c.silent {
		o.sink.write(kinds.enter, e.Start, c.region, e.Terminal)
	}
	o.sink.events(e.begin, e.Start)
	o.stack = append(o.stack, open{e, c.region})
}

// over reports whether a call is over at a time. One that is yet to come, as it contains many, is not.
func (x *open) over(now int64) bool { return x.entry != nil && !x.entry.long && x.entry.End <= now }

// leave ends the calls that are over at a time, and the regions in them.
func (o *order) leave(now int64) {
	for n := len(o.stack) - 1; n >= 0; n-- {
		top := o.stack[n]
		switch {
		case top.over(now):
			o.stack = o.stack[:n]
			o.close(top.entry)
			n = len(o.stack) // which a region may have joined
		case top.entry == nil && (now == math.MaxInt64 ||
			slices.ContainsFunc(o.stack[:n], func(x open) bool { return x.over(now) })):
			o.sink.write(kinds.leave, o.sink.last(), top.region, noTerminal)
			o.stack = o.stack[:n]
		default:
			return
		}
	}
}

// close ends a call, after which the region begins that it marks.
func (o *order) close(e *entry) {
	o.sink.events(e.end, e.End)
	c := e.call
	if !c.silent {
		o.sink.write(kinds.leave, e.End, c.region, noTerminal)
	}
	if c.marked > 0 && c.begins {
		o.sink.write(kinds.enter, e.End, c.marked-1, noTerminal)
		o.stack = append(o.stack, open{nil, c.marked - 1})
	}
	o.process.free = append(o.process.free, e)
}

// leaveRegion ends a region that a call marks. Regions that began in it go on: they end and begin again.
func (o *order) leaveRegion(region uint64, now int64) {
	at := len(o.stack) - 1
	for at >= 0 && o.stack[at].entry == nil && o.stack[at].region != region {
		at--
	}
	if at < 0 || o.stack[at].entry != nil {
		return // it began before what was chosen, or around a call that goes on
	}
	for i := len(o.stack) - 1; i >= at; i-- {
		o.sink.write(kinds.leave, now, o.stack[i].region, noTerminal)
	}
	o.stack = slices.Delete(o.stack, at, at+1)
	for _, x := range o.stack[at:] {
		o.sink.write(kinds.enter, now, x.region, noTerminal)
	}
}
