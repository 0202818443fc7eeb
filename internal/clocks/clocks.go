// Package clocks finds by how much the clocks of machines differ, from what processes on them have sent each
// other: what was sent at a time of one clock was received at a later time of another.
//
// Between two clocks, a message in each direction bounds their difference from both sides. Clocks run evenly,
// so the difference is a line over time that lies above some points and below others, and the middle of all
// such lines is taken, as in A. Duda, G. Harrus, Y. Haddad and G. Bernard, "Estimating global time in
// distributed systems", ICDCS 1987. This package departs from that: it places one clock after the other, each
// by all that are placed, and if messages still arrive before they were sent, on a ring of machines, it moves
// all clocks at once by the relaxation method of S. Agmon, "The relaxation method for linear inequalities",
// Canadian Journal of Mathematics 6, 1954. If that is not enough, clocks do not run evenly, and each gets
// several lines, one after the other, as few as there can be. Readings of real time tell of clocks that
// messages do not tell of.
//
// The last resort is the controlled logical clock of R. Rabenseifner, "The controlled logical clock - a
// global time for trace based software monitoring of parallel applications running in workstation clusters",
// PDP 1997, and D. Becker, R. Rabenseifner, F. Wolf and J. Linford, "Scalable timestamp synchronization for
// event traces of message-passing applications", Parallel Computing 35, 2009: a clock jumps ahead where a
// message arrives too early, and is led back slowly. This package departs from that: the clock is that of a
// machine, not of a process; what was before the jump stays; and how far ahead it gets has a limit.
package clocks

import (
	"cmp"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/piecewise"
	"github.com/reprise-trace/reprise/internal/wire"
)

// A message was sent at a time of one clock and received at a later one of another.
type message struct{ sent, received int64 }

// Clocks are those of several machines. Messages are added, and then they are aligned.
type Clocks struct {
	messages map[[2]int]*channel // by the clocks of the sender and the receiver; n is real time
	n        int
	width    []int64 // of the tightest reading of each; −1 without any
}

// New returns n clocks, of which there is one at least, of which nothing is known.
func New(n int) *Clocks {
	c := &Clocks{messages: make(map[[2]int]*channel), n: n, width: make([]int64, n)}
	for i := range c.width {
		c.width[i] = -1
	}
	return c
}

// Add adds a message from one clock to another, which differ.
func (c *Clocks) Add(from, to int, sent, received int64) {
	of := c.messages[[2]int{from, to}]
	if of == nil {
		of = new(channel)
		c.messages[[2]int{from, to}] = of
	}
	of.list = append(of.list, message{sent, received})
	of.outer.add(message{sent, received})
}

// An Aligned is what makes the times of a clock those of the first.
type Aligned struct {
	format.Alignment
	Later []format.Alignment // pieces after the Alignment, if no line fits
	// how far times from the first to the last message may be off, in nanoseconds; −1 if nothing tells
	Error int64

	Errors []int64 // of the pieces, if there are several; the greatest is the Error

	Contradicted bool   // its readings do not count, as messages contradict them
	Early        uint64 // messages to the clock that arrive before they are sent all the same

	Jumps piecewise.Jumps // move times once more, so that fewer messages do
}

// Apply returns a time of the first clock.
func (a Aligned) Apply(time int64) int64 {
	if len(a.Later) == 0 {
		return a.Jumps.Apply(piecewise.Apply(a.Alignment, time))
	}
	return a.Jumps.Apply(append(piecewise.Pieces{a.Alignment}, a.Later...).Apply(time))
}

// piece returns which piece a time of the clock is of.
func (a Aligned) piece(time int64) int {
	n := 0
	for n < len(a.Later) && a.Later[n].Since <= time {
		n++
	}
	return n
}

// errorAt returns how far a time of the clock may be off once it is aligned.
func (a Aligned) errorAt(time int64) int64 {
	if len(a.Errors) == 0 {
		return a.Error
	}
	return a.Errors[a.piece(time)]
}

// more returns an error that is so much greater, which is one that can be told.
func more(off, by int64) int64 { return min(wire.AddTimes(off, by), math.MaxInt64-1) }

// limit makes errors such as can be told.
func (a *Aligned) limit() {
	a.Error = more(a.Error, 0)
	for i, off := range a.Errors {
		a.Errors[i] = more(off, 0)
	}
}

// raise makes the error at a time of the clock so much at least.
func (a *Aligned) raise(time, off int64) {
	a.Error = max(a.Error, off)
	if len(a.Errors) > 0 {
		at := &a.Errors[a.piece(time)]
		*at = max(*at, off)
	}
}

// raiseAll makes all errors so much at least.
func (a *Aligned) raiseAll(off int64) {
	a.Error = max(a.Error, off)
	for i := range a.Errors {
		a.Errors[i] = max(a.Errors[i], off)
	}
}

// doubt doubles errors: times that are not exact may hide that clocks do not run evenly, and then they are
// between the same limits as the lines, so off by twice as much at most.
func doubt(all []Aligned) {
	for i := range all {
		if a := &all[i]; a.Error > 0 {
			a.Error = more(a.Error, a.Error)
			for j, off := range a.Errors {
				a.Errors[j] = more(off, off)
			}
		}
	}
}

// Align returns the alignments of all clocks, by times each of which may be off by so many nanoseconds. That
// of the first is none, but for jumps. It also returns whether all messages arrive after they are sent
// without jumps. If they do not, there are no lines, nor pieces of lines, that fit the clocks.
func (c *Clocks) Align(inexact int64) ([]Aligned, bool) {
	all := make([]Aligned, c.n+1)
	links := c.links()
	for i := range all {
		all[i].Error = -1
	}
	all[0].Error = 0
	placed := make([]bool, c.n+1)
	placed[0] = true
	for _, to := range breadthFirst(links, 0)[1:] {
		if line, ok := c.place(to, links[to], all, placed, inexact); ok {
			all[to], placed[to] = Aligned{Alignment: line.alignment(), Error: line.error}, true
		}
	}
	if c.early(all, placed, nil) > 2*inexact { // more than that times are off may explain
		c.relax(all, placed, inexact)
		if c.early(all, placed, nil) > tolerance(inexact) {
			c.byPieces(links, all, placed, inexact)
		}
		c.early(all, placed, func(clock int, time, early int64) {
			if early > tolerance(inexact) || early > 2*inexact && clock > 0 { // alignments are rounded, but times of the first have none
				all[clock].raise(time, early)
			}
		})
	}
	if inexact > 0 {
		doubt(all)
	}
	even := c.early(all, placed, nil) <= tolerance(inexact)
	c.byRealTime(all, placed, inexact)
	if c.early(all, placed, nil) > tolerance(inexact) {
		c.mend(all, placed, inexact)
	}
	for i := range all {
		all[i].limit()
	}
	return all[:c.n], even
}

// countEarly returns how many messages between clocks that are placed arrive too early by more than a
// tolerance, by the clock that they arrive at.
func (c *Clocks) countEarly(all []Aligned, placed []bool, tolerance int64) []uint64 {
	count := make([]uint64, c.n)
	for pair, e := range c.messages {
		if max(pair[0], pair[1]) == c.n || !placed[pair[0]] || !placed[pair[1]] {
			continue
		}
		for _, m := range e.list {
			if wire.SubTimes(all[pair[0]].Apply(m.sent), all[pair[1]].Apply(m.received)) > tolerance {
				count[pair[1]]++
			}
		}
	}
	return count
}

// tolerance returns by how much messages may arrive before they are sent if times may be off by so much:
// sending and receiving is, and alignments are whole nanoseconds.
func tolerance(inexact int64) int64 { return 2*inexact + 2 }

// place returns the line of a clock by those that are placed; false if they do not tell.
func (c *Clocks) place(clock int, links []int, all []Aligned, placed []bool, inexact int64) (line, bool) {
	p := c.bounds(clock, links, all, placed)
	l, ok := p.solve(float64(c.off(links, all, placed)) + float64(inexact))
	if ok && clock < c.n {
		limits := c.byPart(clock, links, all, placed)
		l.error = max(l.error, alone(limits, inexact))
		l.error = max(l.error, min(inQuarters(l, limits, inexact), 4*l.error))
	}
	return l, ok
}

// off returns how far off those of some clocks may be that are placed.
func (c *Clocks) off(links []int, all []Aligned, placed []bool) (off int64) {
	for _, other := range links {
		if placed[other] {
			off = max(off, all[other].Error)
		}
	}
	return off
}

// links returns the clocks that each clock has messages to and from, in ascending order, but for real time.
func (c *Clocks) links() [][]int {
	links := make([][]int, c.n)
	for pair := range c.messages {
		if max(pair[0], pair[1]) == c.n {
			continue
		}
		if c.messages[[2]int{pair[1], pair[0]}] != nil { // one direction alone tells nothing
			links[pair[0]] = append(links[pair[0]], pair[1])
		}
	}
	for _, l := range links {
		slices.Sort(l)
	}
	return links
}

// breadthFirst returns the clocks that can be reached from some, nearer ones first.
func breadthFirst(links [][]int, from ...int) (order []int) {
	seen := make([]bool, len(links))
	for at := -1; at < len(order); at++ {
		next := from
		if at >= 0 {
			next = links[order[at]]
		}
		for _, to := range next {
			if !seen[to] {
				seen[to] = true
				order = append(order, to)
			}
		}
	}
	return order
}

// bounds returns what the clocks that are placed say of another.
func (c *Clocks) bounds(clock int, links []int, all []Aligned, placed []bool) (p problem) {
	for _, other := range links {
		if !placed[other] {
			continue
		}
		of := all[other]
		for _, m := range c.messages[[2]int{other, clock}].hull() {
			p.add(m.received, of.Apply(m.sent), true)
		}
		for _, m := range c.messages[[2]int{clock, other}].hull() {
			p.add(m.sent, of.Apply(m.received), false)
		}
	}
	for _, other := range links {
		for _, m := range c.messages[[2]int{other, clock}].hull() {
			p.reach(m.received)
		}
		for _, m := range c.messages[[2]int{clock, other}].hull() {
			p.reach(m.sent)
		}
	}
	return p
}

// early returns by how much messages between clocks that are placed are received before they are sent, at
// most, and tells f of each clock, and when.
func (c *Clocks) early(all []Aligned, placed []bool, f func(clock int, time, early int64)) (worst int64) {
	for pair, e := range c.messages {
		if max(pair[0], pair[1]) == c.n || !placed[pair[0]] || !placed[pair[1]] {
			continue
		}
		for _, m := range e.list {
			early := wire.SubTimes(all[pair[0]].Apply(m.sent), all[pair[1]].Apply(m.received))
			worst = max(worst, early)
			if early > 0 && f != nil {
				f(pair[0], m.sent, early)
				f(pair[1], m.received, early)
			}
		}
	}
	return worst
}

// A channel has the messages from one clock to another.
type channel struct {
	list  []message
	outer envelope // of all
}

// all returns the messages.
func (c *channel) all() []message {
	if c == nil {
		return nil
	}
	return c.list
}

// hull returns those that bound the difference of the clocks.
func (c *channel) hull() []message {
	if c == nil {
		return nil
	}
	return c.outer.hull()
}

// An envelope holds the messages that bound the difference of two clocks: the lower convex hull of
// how long they took over when they were sent, as both clocks have it.
type envelope struct {
	list   []message // not yet in the hull behind the first sorted ones
	sorted int
}

// add adds a message.
func (e *envelope) add(m message) {
	if e.list = append(e.list, m); len(e.list) >= 2*e.sorted+1024 {
		e.hull()
	}
}

// hull returns the messages of the hull by when they were sent.
func (e *envelope) hull() []message {
	if e.sorted == len(e.list) {
		return e.list
	}
	slices.SortFunc(e.list, func(a, b message) int {
		return cmp.Or(cmp.Compare(a.sent, b.sent), cmp.Compare(a.received, b.received))
	})
	hull, first := e.list[:0], e.list[0]
	for _, m := range e.list {
		if n := len(hull); n > 0 && hull[n-1].sent == m.sent {
			continue
		}
		for n := len(hull); n > 1 && !turnsUp(hull[n-2], hull[n-1], m, first); n-- {
			hull = hull[:n-1]
		}
		hull = append(hull, m)
	}
	e.list, e.sorted = hull, len(hull)
	return hull
}

// turnsUp reports whether b is below the line from a to c.
func turnsUp(a, b, c, base message) bool {
	x := func(m message) float64 { return float64(m.sent - base.sent) }
	y := func(m message) float64 { return float64((m.received - base.received) - (m.sent - base.sent)) }
	left := float64((x(c) - x(a)) * (y(b) - y(a)))
	right := float64((x(b) - x(a)) * (y(c) - y(a)))
	return left < right || math.IsNaN(left) || math.IsNaN(right)
}
