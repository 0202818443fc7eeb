package replay

import (
	"math"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/sequitur"
)

// Loops are skipped where nothing in them depends on when they run, as a [SteadyMachine] says. Then the
// strands go on in rounds: each, as far as it need not wait, by some iterations of the loop that it is in.
// After a round they are where they can come, whatever the order in which they had their turns, so that a
// round depends only on the state before it: on the calls that follow, and on times, by sums with constants
// and maxima. So it is a max-plus linear system, as in F. Baccelli, G. Cohen, G. J. Olsder and J.-P. Quadrat,
// "Synchronization and Linearity", 1992, whose times become periodic.
//
// If the state is that of some rounds before but for the times of all that moved, which are later by one
// time, these rounds repeat themselves as long as each strand stays in its loop: see [rounds.repeat].
//
// If times are later by amounts that differ, as where one strand does not wait for another, a maximum may
// have another operand later on. But the time d periods after a state, where d may be any number, is a
// maximum of linear functions of d, so it is convex: if periods add the same at the beginning, twice, and
// after d periods, they have added the same all along: see [rounds.drift].

// Sizes of rounds, in calls.
var minRound uint64 = 128 // that a strand makes on average

const (
	maxPeriod = 1 << 20 // of an iteration, of all strands
	minNoLoop = 16      // that a strand outside of loops makes before it looks for one
	maxNoLoop = 512
	minLoops  = 8       // iterations, or rounds, of a loop that it is worth it
	freely    = 1 << 16 // words of states that are looked at in any case
)

// A loop is calls of a strand that repeat themselves: from begin to end, each but the first period
// ones is that which was period calls before it.
type loop struct{ begin, end, period uint64 }

// rounds has strands go on in rounds, and skips those that repeat themselves.
type rounds struct {
	engine     *engine
	iterations uint64 // that a strand makes in a round

	last         *cut
	base, middle *cut   // after the first round of a trial, and half of them; nil if there is no trial
	count        uint64 // rounds of the trial
	limit        uint64 // rounds until the next
	fresh        bool   // a strand has come to another loop since

	calls, surveyed uint64 // calls in rounds, and what was looked at in states

	jump *jump // that is to be checked
}

// A jump is that periods are skipped of which it is not known that they all add the same.
type jump struct {
	from    *cut
	change  *change
	periods uint64 // that are skipped
	count   uint64 // rounds since
	rounds  uint64 // of a period
}

// isSteady reports whether loops may be skipped: neither costs nor the order of what happens
// depend on when it is.
func (e *engine) isSteady() bool {
	if e.ordered || e.drawn || e.ended != nil && !e.some || e.paths || !steady(e.machine) {
		return false
	}
	for _, f := range e.model.Trace().Functions() {
		if e.model.IsSimGrid() && tiTests[strings.ToLower(f.Name)] {
			return false
		}
	}
	for _, r := range e.ranks {
		for _, f := range r.flight {
			if f.Any || f.Probed != nil {
				return false
			}
		}
	}
	return true
}

func steady(m Machine) bool {
	switch m := m.(type) {
	case Instant:
		return true
	case *Recorded:
		return m.Means()
	case SteadyMachine:
		return m.Steady()
	}
	return false
}

// next ends a round and begins another. It reports whether any strand goes on.
func (r *rounds) next() bool {
	if r.jump != nil {
		r.check()
	} else {
		r.observe()
	}
	more := false
	for _, s := range r.engine.strands {
		if !s.held {
			continue
		}
		more, s.held = true, false
		r.setGate(s)
		r.engine.ready.push(s)
	}
	return more
}

// setGate says how far a strand goes on in the next round. Strands that have as many iterations
// left come to the same one.
func (r *rounds) setGate(s *strand) {
	step := s.loop.period * r.iterations
	if s.position >= s.loop.end {
		s.loop = s.findLoop(r.engine)
		r.fresh = r.fresh || s.loop.period > 0
		if step = s.loop.period; step > 0 {
			step *= (minRound + step - 1) / step
		}
	}
	if step == 0 {
		s.gate = s.position + min(max(s.position, minNoLoop), maxNoLoop)
	} else {
		s.gate = s.loop.end - (s.loop.end-s.position-1)/step*step
	}
	r.calls += s.gate - s.position
}

// findLoop returns the outermost loop that a strand is in and that is worth it, one without
// a period if there is none. It ends with a call that is told, as the last round of a loop is executed.
func (s *strand) findLoop(e *engine) loop {
	var buf [16]sequitur.Loop
	loops := s.walk.AppendLoops(buf[:0])
	for i := range loops {
		loops[i].Length += s.run.Count
	}
	loops = append(loops, sequitur.Loop{Period: 1, Length: s.run.Count})
	most := s.rank.nextTold(s.position) - s.position
	for _, l := range loops {
		l.Length = min(l.Length, most)
		if l.Length/minLoops >= max(l.Period, minRound) && l.Period <= maxPeriod/uint64(len(e.strands)) {
			return loop{s.position, s.position + l.Length, l.Period}
		}
	}
	return loop{}
}

// tells reports whether the call at a position is told.
func (r *rank) tells(position uint64) bool {
	_, found := slices.BinarySearch(r.told, position)
	return found
}

// nextTold returns the position behind the first call that is told from a position on, and never if there is
// none.
func (r *rank) nextTold(position uint64) uint64 {
	if i, _ := slices.BinarySearch(r.told, position); i < len(r.told) {
		return r.told[i] + 1
	}
	return never
}

// observe takes note of the state after a round, and skips rounds if they repeat themselves.
func (r *rounds) observe() {
	if r.fresh || r.base == nil {
		r.fresh, r.limit = false, 2
		r.begin()
		return
	}
	r.count++
	if r.base.mayRepeat(r.engine, r.iterations) {
		if r.repeat() {
			r.limit = 2
			r.begin()
			return
		}
	}
	switch r.count {
	case r.limit / 2:
		r.middle = r.cut()
	case r.limit:
		r.limit *= 2
		if !r.drift() {
			r.begin()
		}
	}
}

// begin begins a trial, if all strands that go on are in loops.
func (r *rounds) begin() {
	r.base, r.middle, r.count = nil, nil, 0
	strands, calls := uint64(0), uint64(0)
	for _, s := range r.engine.strands {
		switch {
		case s.position < s.loop.end:
			strands++
			calls += s.loop.period
		case s.held:
			return
		}
	}
	if calls == 0 {
		return
	}
	r.iterations = (strands*minRound + calls - 1) / calls
	r.base = r.cut()
}

// cut returns the state, nil if that would take too long, compared with the calls that were made.
func (r *rounds) cut() *cut {
	if r.surveyed > r.calls/2+freely {
		return nil
	}
	c := newCut(r.engine, r.last)
	r.last = c
	r.surveyed += uint64(len(c.words) + len(c.times))
	return c
}

// repeat skips rounds if the state is that of the base, but for one time, and reports whether it did.
func (r *rounds) repeat() bool {
	now := r.cut()
	if now == nil {
		return false
	}
	c := r.base.changeTo(now, r.iterations)
	if c == nil || !c.uniform() {
		return false
	}
	n := c.most(now, r.iterations)
	if n == 0 {
		return false
	}
	if all := c.left(now, r.iterations); n < all && r.isTooLong(c, all) {
		r.engine.fail(ErrTooLong)
		return true
	}
	now.restore(r.engine, c, n)
	return true
}

// isTooLong reports whether a strand comes to the end of time if a change, which is the same for all
// of them, is repeated n times.
func (r *rounds) isTooLong(c *change, n uint64) bool {
	later := Time(0)
	for _, t := range c.times {
		later = max(later, Time(t))
	}
	for i, s := range r.engine.strands {
		if c.calls[i] > 0 && later > 0 && uint64(endOfTime-s.clock)/uint64(later) < n {
			return true
		}
	}
	return false
}

// drift skips rounds if the first and the second half of a trial have added the same to each
// time, and reports whether it did. Whether it may is found out after another period, see check.
func (r *rounds) drift() bool {
	if r.middle == nil {
		return false
	}
	first := r.base.changeTo(r.middle, r.iterations)
	if first == nil {
		return false
	}
	now := r.cut()
	if now == nil {
		return false
	}
	c := r.middle.changeTo(now, r.iterations)
	if c == nil || !c.equal(first) {
		return false
	}
	n := c.most(now, r.iterations)
	if n < 2 {
		return false
	}
	r.jump = &jump{from: now, change: c, periods: n - 1, rounds: r.limit / 4}
	now.restore(r.engine, c, n-1)
	return true
}

// check finds out whether the period after a jump has added the same to each time as those before. If not,
// fewer periods are skipped. What happens there, times aside, is what happened in the periods before: strands
// stay in their loops, for which [change.most] leaves a period, and what they do depends on no time. So there
// is a change.
func (r *rounds) check() {
	j := r.jump
	if j.count++; j.count < j.rounds {
		return
	}
	now := newCut(r.engine, r.last)
	c := j.from.changeTo(now, r.iterations)
	if c.isOf(j.change, j.periods+1) {
		r.jump = nil
		r.limit = 2
		r.begin()
		return
	}
	j.count = 0
	if j.periods /= 4; j.periods == 0 {
		r.jump = nil
	}
	j.from.restore(r.engine, j.change, j.periods)
	if r.jump == nil {
		r.begin()
	}
}

const never = math.MaxUint64
