package groups

import (
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/symbolic"
)

// Rounds of a loop that are gone through at least, if the others are left out. The first
// may find objects from before the loop where later ones find those of the round before,
// the third finds those of a round that did not, and the last leaves some behind.
const (
	roundsBefore = 3
	roundsAfter  = 2
)

// A place is a symbol on the right-hand side of a rule: if it is repeated, a loop.
type place struct{ rule, symbol int }

// An unrolling says how often the rounds of a loop are gone through.
type unrolling struct {
	before uint64 // first rounds
	most   uint64 // rounds to leave out behind these
}

// A loop is one of which rounds are left out. Those before them stand for them.
type loop struct {
	place  place
	count  uint64 // rounds in all
	before uint64 // those that come before the ones that are left out

	// Indices of events: where the first round begins, where those would be that are left
	// out, and behind the last round.
	first, skip, last int

	from, until uint64 // positions of what is left out
	length      uint64 // calls of a round
	period      uint64 // rounds that stand for those that are left out
}

// left returns the number of rounds that are left out.
func (l *loop) left() uint64 { return (l.until - l.from) / l.length }

// events returns the number of events of a round.
func (l *loop) events() int { return (l.skip - l.first) / int(l.before) }

// An unroller goes through the calls of a rank that create and free objects.
type unroller struct {
	process   *process
	terminals map[sequitur.Symbol]*found
	sum       bool // leave rounds out
	grammar   *sequitur.Grammar
	weights   *sequitur.Measure // events
	parts     map[int][]part    // by rule
	grids     map[symbolic.Local][]int64
	stack     []frame
	steps     int
}

// A part is a symbol on the right-hand side of a rule that has events.
type part struct {
	place  place
	offset uint64 // calls before it in the rule
	length uint64 // calls that it stands for once
	count  uint64
	term   sequitur.Term
}

// A frame is a rule that is gone through.
type frame struct {
	parts    []part
	position uint64 // of its first call
	round    uint64 // the next of the first of parts
	first    int    // index of the first event of that part
	loop     int    // index in process.loops; −1 if nothing is left out
}

func newUnroller(g *sequitur.Grammar, terminals map[sequitur.Symbol]*found, p *process, sum bool) *unroller {
	u := &unroller{
		process: p, terminals: terminals, sum: sum, grammar: g,
		parts: make(map[int][]part), grids: make(map[symbolic.Local][]int64),
	}
	u.weights = g.Measure(func(s sequitur.Symbol) uint64 {
		if terminals[s] != nil {
			return 1
		}
		return 0
	})
	u.enter(g.Rules()-1, 0)
	return u
}

// enter goes through a rule at a position next.
func (u *unroller) enter(rule int, position uint64) {
	parts, ok := u.parts[rule]
	if !ok {
		parts = u.partsOf(rule)
		u.parts[rule] = parts
	}
	u.stack = append(u.stack, frame{parts: parts, position: position, loop: -1})
}

func (u *unroller) partsOf(rule int) []part {
	var parts []part
	offset, n := uint64(0), 0
	for term := range u.grammar.Body(rule) {
		length, has := uint64(1), u.terminals[term.Symbol] != nil
		if term.Rule >= 0 {
			length, has = u.grammar.RuleLen(term.Rule), u.weights.Rule(term.Rule) > 0
		}
		if has {
			parts = append(parts, part{place{rule, n}, offset, length, term.Count, term})
		}
		offset += length * term.Count
		n++
	}
	return parts
}

// step goes on to the next event or rule, and reports whether there is one.
func (u *unroller) step() bool {
	for len(u.stack) > 0 {
		f := &u.stack[len(u.stack)-1]
		if len(f.parts) == 0 {
			u.stack = u.stack[:len(u.stack)-1]
			continue
		}
		p := &f.parts[0]
		if f.round == 0 {
			f.first = len(u.process.events)
		}
		if f.loop < 0 {
			u.leaveOut(f, p)
		}
		if f.round == p.count {
			if f.loop >= 0 {
				u.process.loops[f.loop].last = len(u.process.events)
			}
			f.parts, f.round, f.loop = f.parts[1:], 0, -1
			continue
		}
		position := f.position + p.offset + f.round*p.length
		if f.round++; p.term.Rule >= 0 {
			u.enter(p.term.Rule, position)
		} else {
			u.process.events = append(u.process.events, u.terminals[p.term.Symbol].event(position, u.grids))
		}
		return true
	}
	return false
}

// leaveOut leaves out the rounds of a loop that do what the last one did.
func (u *unroller) leaveOut(f *frame, p *part) {
	how := u.process.unrolling(p.place)
	if !u.sum || f.round == 0 || f.round != how.before || p.count <= how.before+roundsAfter {
		return
	}
	left := min(how.most, p.count-how.before-roundsAfter)
	l := loop{place: p.place, count: p.count, before: how.before, first: f.first, skip: len(u.process.events), length: p.length}
	if left == 0 || !repeats(u.process.events[l.skip-l.events():]) {
		return
	}
	l.from = f.position + p.offset + f.round*p.length
	l.until = l.from + left*p.length
	f.round += left
	f.loop = len(u.process.loops)
	u.process.loops = append(u.process.loops, l)
}

// repeats reports whether all rounds of a loop, but for the first, do the same as this one
// by whatever is known when it begins: what they create is made of objects that were there
// before the loop, or that are made of these in the same round or the one before. What only
// some members of the parent call is not looked at.
func repeats(round []event) bool {
	ages := make(map[symbolic.Local]int) // rounds since the first of the objects that one is made of was created
	const rounds = 3
	for n := range rounds {
		for i := range round {
			c := &round[i].creation
			switch c.Kind {
			case 0:
				delete(ages, c.Parent)
				continue
			case symbolic.CreateGroup, symbolic.IntercommCreate:
				return false
			}
			age := ages[c.Parent]
			if age > 1 {
				return false
			}
			if c.Result.Class != "" {
				ages[c.Result] = age
			}
		}
		if n < rounds-1 {
			for l := range ages {
				ages[l]++
			}
		}
	}
	return true
}
