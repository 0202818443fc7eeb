package condense

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// A Condenser condenses ranks, one after the other, to one degree.
type Condenser struct {
	Degree
	// Params says, by function, in which parameters of condensed calls the arguments are of a distribution:
	// bit k of parameter k.
	Params map[int]uint64
	// Transitions is how often a call of one function came right after one of another in stretches.
	Transitions map[[2]int]uint64

	functions []cst.Function
	anchors   []bool // by function: calls that stay where they are
	handles   []bool // by function: handles of calls stay, but those of requests
	of        Rank
	begins    []int        // of the slots of each form
	terms     []placedTerm // of the start rule

	builder sequitur.Builder
	made    Rank
	numbers map[string]sequitur.Symbol // of the terminals of made
	kept    []uint32                   // of each terminal of the rank, that of its calls that stay as they are

	summaries map[int]*summary // of rules of the rank
}

// undecided stands for a terminal of which no call stays as it is so far.
const undecided = math.MaxUint32

// New returns a condenser of ranks that call these functions. With a nil keep, nothing stays as it is.
func New(d Degree, functions []cst.Function, keep Keep) *Condenser {
	c := &Condenser{
		Degree: d, functions: functions, anchors: make([]bool, len(functions)), handles: make([]bool, len(functions)),
		Params: make(map[int]uint64), Transitions: make(map[[2]int]uint64),
	}
	for i, f := range functions {
		if keep != nil {
			c.anchors[i], c.handles[i] = keep(f.Name)
		}
	}
	return c
}

// Condense returns the calls of a rank with what gave way, and its stretches, some of which may be there
// already. Loops in which nothing gives way take no more time than one of their iterations.
func (c *Condenser) Condense(r Rank, old []format.Stretch) (Rank, []format.Stretch) {
	c.of, c.begins = r, r.begins()
	c.builder, c.made, c.numbers = sequitur.Builder{}, Rank{}, make(map[string]sequitur.Symbol)
	c.kept = slices.Repeat([]uint32{undecided}, len(r.Forms))
	c.terms, c.summaries = c.terms[:0], nil
	anchored := c.rulesWith(func(t sequitur.Symbol) bool { return c.anchors[r.Forms[t].Function] })
	c.appendTerms(r.Grammar.Rules()-1, 0, anchored)
	stretches := old
	if c.InOrder == 0 {
		c.replaceValues()
	} else {
		stretches = c.stretches(old)
		at := uint64(0)
		for _, x := range stretches {
			c.copy(at, x.First)
			c.gather(x, old)
			at = layout.EndOf(x)
		}
		c.copy(at, r.Grammar.Len())
	}
	made := c.made
	made.Grammar = c.builder.Finish()
	return made, stretches
}

// stretches returns those of the rank, with old ones: as many terms as can be, one after the other, that are
// no pattern of inOrder calls and in which no anchor is.
func (c *Condenser) stretches(old []format.Stretch) []format.Stretch {
	list := slices.Clone(old)
	var open format.Stretch
	terms := 0
	end := func() {
		if terms >= fewestTerms || terms > 1 && c.InOrder == math.MaxUint64 {
			list = append(list, open)
		}
		terms = 0
	}
	for _, t := range c.terms {
		n := t.end - t.begin
		if t.anchored || t.Rule >= 0 && n >= c.InOrder {
			end()
			continue
		}
		if terms == 0 {
			open = format.Stretch{First: t.begin}
		}
		open.Calls += n
		terms++
	}
	end()
	return joinStretches(list)
}

// joinStretches returns stretches in ascending order, with those as one that have calls in
// common or follow each other.
func joinStretches(list []format.Stretch) []format.Stretch {
	slices.SortFunc(list, func(a, b format.Stretch) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Calls, b.Calls))
	})
	joined := list[:0]
	for _, s := range list {
		if k := len(joined) - 1; k >= 0 && s.First <= layout.EndOf(joined[k]) {
			joined[k].Calls = max(layout.EndOf(joined[k]), layout.EndOf(s)) - joined[k].First
		} else {
			joined = append(joined, s)
		}
	}
	return joined
}

// rulesWith returns which rules have terminals in them that is reports. Rules come before those that use
// them.
func (c *Condenser) rulesWith(is func(sequitur.Symbol) bool) []bool {
	g := c.of.Grammar
	with := make([]bool, g.Rules())
	for r := range with {
		for t := range g.Body(r) {
			if t.Rule >= 0 && with[t.Rule] || t.Rule < 0 && is(t.Symbol) {
				with[r] = true
				break
			}
		}
	}
	return with
}

// A placedTerm is a term of a start rule, with the positions of its calls.
type placedTerm struct {
	sequitur.Term
	begin, end uint64
	anchored   bool
}

// appendTerms appends the terms of a rule, the first of which begins at a position. Rules that have
// anchors in them, and do not repeat much, are terms of their own right-hand sides.
func (c *Condenser) appendTerms(rule int, at uint64, anchored []bool) uint64 {
	g := c.of.Grammar
	for t := range g.Body(rule) {
		if t.Rule >= 0 && anchored[t.Rule] && t.Count <= seldom {
			for range t.Count {
				at = c.appendTerms(t.Rule, at, anchored)
			}
			continue
		}
		p := placedTerm{t, at, at + t.Count, false}
		if t.Rule >= 0 {
			p.end = at + t.Count*g.RuleLen(t.Rule)
			p.anchored = anchored[t.Rule]
		} else {
			p.anchored = c.anchors[c.of.Forms[t.Symbol].Function]
		}
		c.terms = append(c.terms, p)
		at = p.end
	}
	return at
}

// termAt returns the term with the call at a position.
func (c *Condenser) termAt(position uint64) int {
	i, _ := slices.BinarySearchFunc(c.terms, position+1, func(t placedTerm, end uint64) int {
		return cmp.Compare(t.end, end)
	})
	return i
}

// copy adds the calls at the positions from begin to end as they are.
func (c *Condenser) copy(begin, end uint64) {
	for i := c.termAt(begin); i < len(c.terms) && c.terms[i].begin < end; i++ {
		t := c.terms[i]
		switch first, last := max(t.begin, begin), min(t.end, end); {
		case t.Rule < 0:
			c.builder.AppendRun(c.same(t.Symbol), last-first)
		case first == t.begin && last == t.end:
			c.repeat(t.Rule, t.Count)
		default:
			c.walk(first, last, func(r sequitur.Run) { c.builder.AppendRun(c.same(r.Symbol), r.Count) })
		}
	}
}

// repeat adds the calls of a rule n times as they are.
func (c *Condenser) repeat(rule int, n uint64) {
	g := c.of.Grammar
	if g.RuleLen(rule) <= fewCalls {
		c.builder.AppendLoop(c.appendRuns(nil, rule), n)
		return
	}
	for range n {
		for t := range g.Body(rule) {
			if t.Rule >= 0 {
				c.repeat(t.Rule, t.Count)
			} else {
				c.builder.AppendRun(c.same(t.Symbol), t.Count)
			}
		}
	}
}

// appendRuns appends the calls of a rule, of the terminals that they become.
func (c *Condenser) appendRuns(list []sequitur.Run, rule int) []sequitur.Run {
	for t := range c.of.Grammar.Body(rule) {
		if t.Rule < 0 {
			list = append(list, sequitur.Run{Symbol: c.same(t.Symbol), Count: t.Count})
			continue
		}
		begin := len(list)
		list = c.appendRuns(list, t.Rule)
		end := len(list)
		for range t.Count - 1 {
			list = append(list, list[begin:end]...)
		}
	}
	return list
}

// walk calls f for the runs of the terminals of the rank from begin to end.
func (c *Condenser) walk(begin, end uint64, f func(sequitur.Run)) {
	for w := c.of.Grammar.Walk(begin); begin < end; {
		r := w.Next()
		r.Count = min(r.Count, end-begin)
		f(r)
		begin += r.Count
	}
}

// gather adds the calls of a stretch by signature, and counts the transitions that no older
// stretch has. Groups stand in the order of their first calls, so that what a call makes stands
// before the calls that use it.
func (c *Condenser) gather(x format.Stretch, old []format.Stretch) {
	groups := newGroups(c)
	last := -1
	at := x.First
	within := func(at uint64) int { // the old stretch that a position is in
		return slices.IndexFunc(old, func(s format.Stretch) bool { return s.First <= at && at < layout.EndOf(s) })
	}
	of := -1 // the old stretch of the call before
	enter := func(first int) (here int) {
		here = within(at)
		if last >= 0 && (here < 0 || here != of) {
			c.pass(last, first, 1)
		}
		return here
	}
	for i := c.termAt(at); i < len(c.terms) && c.terms[i].begin < layout.EndOf(x); i++ {
		t := c.terms[i]
		inside := t.begin >= x.First && t.end <= layout.EndOf(x)
		if t.Rule >= 0 && t.end-t.begin > fewCalls && inside && !overlaps(old, t.begin, t.end) {
			s := c.summary(t.Rule)
			enter(s.first)
			groups.addAll(s, t.Count)
			c.passAll(s, t.Count)
			last, of, at = s.last, -1, t.end
			continue
		}
		c.walk(at, min(t.end, layout.EndOf(x)), func(r sequitur.Run) {
			groups.add(r.Symbol, r.Count)
			f := c.of.Forms[r.Symbol].Function
			here := enter(f)
			if here < 0 {
				c.pass(f, f, r.Count-1)
			}
			last, of = f, here
			at += r.Count
		})
	}
	groups.split()
	for _, g := range groups.list {
		for _, m := range g.calls(c) {
			c.builder.AppendRun(m.made, m.count)
		}
	}
}

// overlaps reports whether calls from begin to end are in stretches.
func overlaps(list []format.Stretch, begin, end uint64) bool {
	return slices.ContainsFunc(list, func(s format.Stretch) bool { return s.First < end && begin < layout.EndOf(s) })
}

// A summary is what a rule does to a stretch that it is in.
type summary struct {
	first, last int      // functions
	members     []member // in the order of their first calls
	transitions map[[2]int]uint64
}

// summary returns that of a rule.
func (c *Condenser) summary(rule int) *summary {
	if s, ok := c.summaries[rule]; ok {
		return s
	}
	s := &summary{first: -1, last: -1, transitions: make(map[[2]int]uint64)}
	places := make(map[sequitur.Symbol]int)
	add := func(t sequitur.Symbol, n uint64) {
		i, ok := places[t]
		if !ok {
			i = len(s.members)
			places[t] = i
			s.members = append(s.members, member{terminal: t})
		}
		s.members[i].count += n
	}
	pass := func(from, to int, n uint64) {
		if n > 0 && from >= 0 {
			s.transitions[[2]int{from, to}] = wire.AddSat(s.transitions[[2]int{from, to}], n)
		}
	}
	for t := range c.of.Grammar.Body(rule) {
		var first, last int
		if t.Rule < 0 {
			first = c.of.Forms[t.Symbol].Function
			last = first
			add(t.Symbol, t.Count)
		} else {
			of := c.summary(t.Rule)
			first, last = of.first, of.last
			for _, m := range of.members {
				add(m.terminal, m.count*t.Count)
			}
			for key, n := range of.transitions {
				pass(key[0], key[1], wire.MulSat(n, t.Count))
			}
		}
		pass(s.last, first, 1)
		pass(last, first, t.Count-1)
		if s.last = last; s.first < 0 {
			s.first = first
		}
	}
	if c.summaries == nil {
		c.summaries = make(map[int]*summary)
	}
	c.summaries[rule] = s
	return s
}

// passAll counts the transitions in a rule that is repeated n times.
func (c *Condenser) passAll(s *summary, n uint64) {
	for key, k := range s.transitions {
		c.pass(key[0], key[1], wire.MulSat(k, n))
	}
	c.pass(s.last, s.first, n-1)
}

// pass counts transitions.
func (c *Condenser) pass(from, to int, n uint64) {
	if n > 0 {
		key := [2]int{from, to}
		c.Transitions[key] = wire.AddSat(c.Transitions[key], n)
	}
}

// replaceValues adds all calls in their order, with arguments that vary too much replaced.
func (c *Condenser) replaceValues() {
	groups := newGroups(c)
	for t, n := range c.of.Grammar.Occurrences() {
		groups.add(t, n)
	}
	groups.split()
	left := make([][]condensedCall, len(groups.list)) // of each group that is replaced
	for i, g := range groups.list {
		if len(g.members) > c.Values {
			left[i] = g.calls(c)
		}
	}
	add := func(t sequitur.Symbol, n uint64) {
		list := &left[groups.of[t]]
		if *list == nil {
			c.builder.AppendRun(c.same(t), n)
			return
		}
		for n > 0 {
			m := &(*list)[0]
			k := min(m.count, n)
			c.builder.AppendRun(m.made, k)
			n -= k
			if m.count -= k; m.count == 0 {
				*list = (*list)[1:]
			}
		}
	}
	replaced := c.rulesWith(func(t sequitur.Symbol) bool { return left[groups.of[t]] != nil })
	var rule func(int)
	rule = func(r int) {
		for t := range c.of.Grammar.Body(r) {
			switch {
			case t.Rule < 0:
				add(t.Symbol, t.Count)
			case !replaced[t.Rule]:
				c.repeat(t.Rule, t.Count)
			default:
				for range t.Count {
					rule(t.Rule)
				}
			}
		}
	}
	rule(c.of.Grammar.Rules() - 1)
}

// same returns the terminal for calls that stay as they are.
func (c *Condenser) same(t sequitur.Symbol) sequitur.Symbol {
	if c.kept[t] == undecided {
		c.kept[t] = uint32(c.intern(&c.of.Forms[t], c.slots(t)))
	}
	return sequitur.Symbol(c.kept[t])
}

// slots returns those of a terminal of the rank.
func (c *Condenser) slots(t sequitur.Symbol) []int64 { return c.of.Values[c.begins[t]:c.begins[t+1]] }

// intern returns the terminal of a call with these slots.
func (c *Condenser) intern(f *Form, slots []int64) sequitur.Symbol {
	key := f.appendKey(nil)
	for _, v := range slots {
		key = binary.AppendVarint(key, v)
	}
	n, ok := c.numbers[string(key)]
	if !ok {
		n = sequitur.Symbol(len(c.made.Forms))
		c.numbers[string(key)] = n
		c.made.Forms = append(c.made.Forms, *f)
		c.made.Values = append(c.made.Values, slots...)
	}
	return n
}
