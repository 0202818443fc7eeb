package groups

import (
	"context"
	"errors"
	"math"
	"slices"
	"sort"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/symbolic"
)

// maxAlignments is how often loops of different processes are brought in line before it is
// given up.
const maxAlignments = 6

// summedUp resolves the objects of a run without all rounds of its loops. What is left out
// of a loop is what its members left out alike.
func (r *run) summedUp(ctx context.Context, most uint64) (*Groups, error) {
	r.scanner.most, r.scanner.sum = most, true
	r.forget(true)
	for range maxAlignments {
		if err := r.scan(ctx); err != nil {
			return nil, err
		}
		groups, err := r.resolve()
		marks := r.marks(groups)
		if gaps, ok := align(marks); ok && !r.unrollUnknown() {
			if all, ok := r.sum(groups, marks, gaps); ok {
				all.number(err)
				return all, explained(err)
			}
			for _, of := range marks {
				unrollAll(of.marks...)
			}
		}
		r.forget(false)
	}
	r.scanner.sum = false
	r.forget(true)
	return r.apart(ctx)
}

// forget makes unknown what was learned, as it may not hold with other rounds, and if all
// is to be forgotten also what was scanned.
func (r *run) forget(all bool) {
	for _, p := range r.processes {
		p.changed = p.changed || all
		for i := range p.events {
			if d := p.events[i].drop; d != nil {
				d.known = false
			}
		}
	}
}

// A mark says that creations of a member on a group are left out, in a loop.
type mark struct {
	process *process
	loop    *loop

	// Creations of the member on the group before, of those that are not left out: the
	// first round, what is left out, and the end of the last round.
	first, skip, last int

	kept  int    // creations of a round, but for those that are left out of it in turn
	round uint64 // creations of a round
	left  uint64 // creations that are left out
	odd   bool   // the process has several names for the group
}

// creators are the members of a group that create others on it.
type creators struct {
	marks [][]mark // of each in the order of its calls
	calls int      // creations that are not left out, of the member with the most
}

// marks returns the creations that are left out, by the group that they are on.
func (r *run) marks(groups *symbolic.Groups) map[*symbolic.Group]*creators {
	all := make(map[*symbolic.Group]*creators)
	for _, p := range r.processes {
		at := make(map[*symbolic.Group][]int) // indices of events
		var order []*symbolic.Group
		for i := range p.events {
			c := &p.events[i].creation
			if c.Kind == 0 || c.Kind == symbolic.CreateGroup {
				continue
			}
			if m, ok := groups.At(p.rank, c.Parent, p.events[i].position); ok {
				if at[m.Group] == nil {
					order = append(order, m.Group)
				}
				at[m.Group] = append(at[m.Group], i)
			}
		}
		marks := p.marks(groups, at)
		for _, g := range order {
			of := all[g]
			if of == nil {
				of = new(creators)
				all[g] = of
			}
			of.calls = max(of.calls, len(at[g]))
			of.marks = append(of.marks, marks[g])
		}
	}
	return all
}

// marks returns those of a process, given the events that are creations on each group.
func (p *process) marks(groups *symbolic.Groups, at map[*symbolic.Group][]int) map[*symbolic.Group][]mark {
	marks := make(map[*symbolic.Group][]mark)
	for i := range p.loops {
		l := &p.loops[i]
		l.period = 1
		begin := l.skip - l.events()
		for _, parent := range steady(p.events[begin:l.skip]) {
			m, ok := groups.At(p.rank, parent, l.from-l.length)
			if !ok {
				continue
			}
			list := at[m.Group]
			before := func(event int) int { return sort.SearchInts(list, event) }
			k := mark{process: p, loop: l, first: before(l.first), skip: before(l.skip), last: before(l.last)}
			k.kept = k.skip - before(begin)
			k.round = uint64(k.kept)
			for _, inner := range slices.Backward(marks[m.Group]) {
				if k.odd = k.odd || inner.loop == l; inner.loop.first < begin {
					break
				}
				k.round += inner.left
			}
			k.left = k.round * l.left()
			marks[m.Group] = append(marks[m.Group], k)
		}
	}
	return marks
}

// steady returns the parents of creations in a round that it neither creates nor frees:
// they are the same in all rounds.
func steady(round []event) []symbolic.Local {
	changes := make(map[symbolic.Local]bool)
	for i := range round {
		if c := &round[i].creation; c.Kind == 0 {
			changes[c.Parent] = true
		} else {
			changes[c.Result] = true
		}
	}
	var list []symbolic.Local
	for i := range round {
		if c := &round[i].creation; !changes[c.Parent] {
			changes[c.Parent] = true
			list = append(list, c.Parent)
		}
	}
	return list
}

// A gap is creations on a group that all its members left out.
type gap struct {
	low   int    // where what repeats begins, as often as all members need
	skip  int    // creations before it that are not left out
	kept  int    // creations of what repeats that are not left out in turn, before the gap
	round uint64 // creations of what repeats
	left  uint64 // creations of the gap
	sum   uint64 // creations of this gap and those before it
}

// align reports whether members left out the same creations of each group, and returns
// the gaps. If they did not, it says which rounds each is to leave out instead.
func align(all map[*symbolic.Group]*creators) (map[*symbolic.Group][]gap, bool) {
	gaps := make(map[*symbolic.Group][]gap)
	done := true
	for g, of := range all {
		_, ok := alignLists(of.outermost())
		if ok {
			gaps[g], ok = alignLists(of.marks)
		}
		done = done && ok
	}
	for _, of := range all {
		for _, list := range of.marks {
			for i := range list {
				// What a process was told before it is scanned again is not yet so.
				if l := list[i].loop; !list[i].process.changed && (l.left()%l.period != 0 || l.before <= 2*l.period) {
					unrollAll(list[i : i+1])
					done = false
				}
			}
		}
	}
	return gaps, done
}

// outermost returns the marks of loops that are not inside of others with marks.
func (c *creators) outermost() [][]mark {
	lists := make([][]mark, len(c.marks))
	for k, list := range c.marks {
		outer := math.MaxInt // where the last of them begins; loops are in the order of their ends
		for _, m := range slices.Backward(list) {
			if m.loop.first < outer {
				outer = m.loop.first
				lists[k] = append(lists[k], m)
			}
		}
	}
	return lists
}

// alignLists aligns the first loops of all members of a group, the second ones, and so on.
func alignLists(lists [][]mark) (gaps []gap, ok bool) {
	n := len(lists[0])
	if slices.ContainsFunc(lists, func(list []mark) bool { return len(list) != n }) {
		unrollAll(lists...)
		return nil, false
	}
	ok = true
	together, sum := make([]mark, len(lists)), uint64(0)
	for i := range n {
		for k, list := range lists {
			together[k] = list[i]
		}
		g, aligned := alignLoops(together)
		sum = wire.AddSat(sum, g.left)
		g.sum = sum
		gaps, ok = append(gaps, g), ok && aligned
	}
	return gaps, ok
}

// unrollAll leaves nothing out of loops.
func unrollAll(lists ...[]mark) {
	for _, list := range lists {
		for i := range list {
			list[i].leave(roundsBefore, 0)
		}
	}
}

// unrollUnknown leaves nothing out of loops with calls whose process grid is not known, as
// these change no name, and reports whether there are any.
func (r *run) unrollUnknown() bool {
	found := false
	for _, p := range r.processes {
		for i := range p.loops {
			l := &p.loops[i]
			unknown := func(e event) bool { return e.drop != nil && !e.drop.known }
			if slices.ContainsFunc(p.events[l.first:l.last], unknown) {
				m := mark{process: p, loop: l}
				m.leave(roundsBefore, 0)
				found = true
			}
		}
	}
	return found
}

// leave says how many rounds of a loop to go through before others are left out, and how
// many of these there may be. It only lets less be left out than before. It reports
// whether that is what was done.
func (m *mark) leave(before, most uint64) bool {
	if before == m.loop.before && most == m.loop.left() {
		return true
	}
	p := m.process
	if p.how == nil {
		p.how = make(map[place]*unrolling)
	}
	how := p.unrolling(m.loop.place)
	p.how[m.loop.place] = &unrolling{max(how.before, before), min(how.most, most)}
	p.changed = true
	return false
}

// maxRound is the largest number of creations of what repeats, if loops of different
// processes have different rounds.
const maxRound = 1 << 20

var errRounds = errors.New("rounds do not fit")

// alignLoops finds out what can be left out of loops in which members of a group create
// others on it: whole rounds of all of them, behind the first round of each. It reports
// whether that is what was left out.
func alignLoops(marks []mark) (gap, bool) {
	g, err := commonRound(marks)
	if err != nil || slices.ContainsFunc(marks, func(m mark) bool { return m.odd }) {
		unrollAll(marks)
		return g, false
	}
	for i := range marks {
		g.skip = max(g.skip, marks[i].first+marks[i].kept+2*g.kept)
	}
	g.left = marks[0].left
	before := make([]uint64, len(marks))
	for i := range marks {
		m := &marks[i]
		before[i] = max(m.loop.before, uint64((g.skip-m.first+m.kept-1)/m.kept))
		if m.loop.count < before[i]+roundsAfter {
			unrollAll(marks)
			return g, false
		}
		g.left = min(g.left, (m.loop.count-before[i]-roundsAfter)*m.round)
	}
	g.left -= g.left % g.round
	ok := true
	for i := range marks {
		m := &marks[i]
		ok = m.leave(before[i], g.left/m.round) && ok
		m.loop.period = m.loop.period / divisor(m.loop.period, g.round/m.round) * (g.round / m.round)
	}
	return g, ok && g.left > 0 && g.within(marks)
}

// within reports whether what stands for the creations of a gap is in the loops of all
// members.
func (g *gap) within(marks []mark) bool {
	g.low = marks[0].skip
	for i := range marks {
		g.low, g.skip = min(g.low, marks[i].skip), max(g.skip, marks[i].skip)
	}
	g.low -= 2 * g.kept
	for i := range marks {
		if m := &marks[i]; g.low < m.first || g.skip > m.last {
			unrollAll(marks)
			return false
		}
	}
	return true
}

// commonRound returns the creations of the shortest sequence that repeats in the loops of
// all members.
func commonRound(marks []mark) (gap, error) {
	g := gap{kept: marks[0].kept, round: marks[0].round}
	for i := range marks[1:] {
		m := &marks[1+i]
		if m.round == g.round && m.kept == g.kept {
			continue
		}
		if m.round > maxRound || g.round > maxRound {
			return g, errRounds
		}
		common := g.round / divisor(g.round, m.round) * m.round
		if common > maxRound || common/m.round*uint64(m.kept) != common/g.round*uint64(g.kept) {
			return g, errRounds
		}
		g.kept, g.round = int(common/m.round)*m.kept, common
	}
	return g, nil
}

// divisor returns the greatest common divisor of two numbers.
func divisor(a, b uint64) uint64 {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}
