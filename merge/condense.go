package merge

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// A degree says how much of the calls of a rank gives way so that a trace becomes smaller.
type degree struct {
	// values is how many different calls of a group, see condenser.groups, stay as they are.
	// Of more, the arguments that vary become distributions of so many values, or a few more.
	values int

	// inOrder is how many calls of a repeated pattern at least stay in order. What is between
	// such patterns is a stretch, whose calls stand by signature. 0 means that all calls stay in
	// order, and only their arguments give way.
	inOrder uint64

	// names says that tags, texts and requests give way as well, and sites that the places do where
	// calls are made.
	names, sites bool
}

// A condenser makes the calls of one rank fewer signatures and a smaller grammar. There are as many
// calls of each function as before, and as many with the same ranks, communicators and
// datatypes; and the sum of each integer over all calls that have these in common is the same.
// So messages and bytes between two ranks are those of the run.
type condenser struct {
	degree
	functions []cst.Function
	anchors   []bool // by function: calls that stay where they are
	handles   []bool // by function: handles of calls stay, but those of requests
	of        *shape // of one rank
	begins    []int
	terms     []placedTerm // of the start rule

	builder sequitur.Builder
	made    shape
	numbers map[string]sequitur.Symbol // of the terminals of made
	kept    []uint32                   // of each terminal of the rank, that of its calls that stay as they are

	summaries map[int]*summary // of rules of the rank

	params      map[int]uint64 // by function: which parameters gave way
	transitions map[[2]int]uint64
}

// undecided stands for a terminal of which no call stays as it is so far.
const undecided = math.MaxUint32

// A Keep says what of the calls of a function stays as it is in a trace of a bounded size: place,
// where they are among others, as they decide what later calls mean; handles, their arguments that
// are handles, but requests. With nil, nothing does.
type Keep func(function string) (place, handles bool)

func newCondenser(d degree, functions []cst.Function, keep Keep) *condenser {
	c := &condenser{degree: d, functions: functions, anchors: make([]bool, len(functions)), handles: make([]bool, len(functions)),
		params: make(map[int]uint64), transitions: make(map[[2]int]uint64)}
	for i, f := range functions {
		if keep != nil {
			c.anchors[i], c.handles[i] = keep(f.Name)
		}
	}
	return c
}

// condense returns the calls of a rank, of a shape of its own, with what gave way, and its
// stretches. Some may be stretches already. Loops in which nothing gives way take no more time than one of
// their iterations.
func (c *condenser) condense(s *shape, stretches []layout.Stretch) (*shape, []layout.Stretch) {
	c.of, c.begins = s, s.begins()
	c.builder, c.numbers = sequitur.Builder{}, make(map[string]sequitur.Symbol)
	c.made = shape{ranks: s.ranks}
	c.kept = slices.Repeat([]uint32{undecided}, len(s.forms))
	c.terms, c.summaries = c.terms[:0], nil
	c.appendTerms(s.grammar.Rules()-1, 0, c.rulesWith(func(t sequitur.Symbol) bool { return c.anchors[s.forms[t].function] }))
	if c.inOrder == 0 {
		c.replaceValues()
	} else {
		old := stretches
		stretches = c.stretches(old)
		at := uint64(0)
		for _, x := range stretches {
			c.copy(at, x.First)
			c.gather(x, old)
			at = x.End()
		}
		c.copy(at, s.grammar.Len())
	}
	made := c.made
	made.grammar = c.builder.Finish()
	return &made, stretches
}

// stretches returns those of the rank, with old ones: as many terms as can be, one after the other, that are no pattern of inOrder calls and in which no anchor is.
func (c *condenser) stretches(old []layout.Stretch) []layout.Stretch {
	const fewest = 16 // terms that are worth it
	list := slices.Clone(old)
	var open layout.Stretch
	terms := 0
	end := func() {
		if terms >= fewest || terms > 1 && c.inOrder == math.MaxUint64 {
			list = append(list, open)
		}
		terms = 0
	}
	for _, t := range c.terms {
		n := t.end - t.begin
		if t.anchored || t.Rule >= 0 && n >= c.inOrder {
			end()
			continue
		}
		if terms == 0 {
			open = layout.Stretch{First: t.begin}
		}
		open.Calls += n
		terms++
	}
	end()
	return joinStretches(list)
}

// joinStretches returns stretches in ascending order, with those as one that have calls in
// common or follow each other.
func joinStretches(list []layout.Stretch) []layout.Stretch {
	slices.SortFunc(list, func(a, b layout.Stretch) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Calls, b.Calls))
	})
	joined := list[:0]
	for _, s := range list {
		if k := len(joined) - 1; k >= 0 && s.First <= joined[k].End() {
			joined[k].Calls = max(joined[k].End(), s.End()) - joined[k].First
		} else {
			joined = append(joined, s)
		}
	}
	return joined
}

// rulesWith returns which rules have terminals in them that is reports. Rules come before those that use
// them.
func (c *condenser) rulesWith(is func(sequitur.Symbol) bool) []bool {
	g := c.of.grammar
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
func (c *condenser) appendTerms(rule int, at uint64, anchored []bool) uint64 {
	const seldom = 8 // repetitions
	g := c.of.grammar
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
			p.anchored = c.anchors[c.of.forms[t.Symbol].function]
		}
		c.terms = append(c.terms, p)
		at = p.end
	}
	return at
}

// copy adds the calls at the positions from begin to end as they are.
func (c *condenser) copy(begin, end uint64) {
	i, _ := slices.BinarySearchFunc(c.terms, begin, func(t placedTerm, at uint64) int { return cmp.Compare(t.end, at+1) })
	for ; i < len(c.terms) && c.terms[i].begin < end; i++ {
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

// few calls of a rule are taken one by one.
const few = 1 << 16

// repeat adds the calls of a rule n times as they are.
func (c *condenser) repeat(rule int, n uint64) {
	g := c.of.grammar
	if g.RuleLen(rule) <= few {
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
func (c *condenser) appendRuns(list []sequitur.Run, rule int) []sequitur.Run {
	for t := range c.of.grammar.Body(rule) {
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
func (c *condenser) walk(begin, end uint64, f func(sequitur.Run)) {
	for w := c.of.grammar.Walk(begin); begin < end; {
		r := w.Next()
		r.Count = min(r.Count, end-begin)
		f(r)
		begin += r.Count
	}
}

// gather adds the calls of a stretch by signature, and counts the transitions that no older
// stretch has. Groups stand in the order of their first calls, so that what a call makes stands
// before the calls that use it.
func (c *condenser) gather(x layout.Stretch, old []layout.Stretch) {
	groups := newGroups(c)
	last := -1
	at := x.First
	within := func(at uint64) int { // the old stretch that a position is in
		return slices.IndexFunc(old, func(s layout.Stretch) bool { return s.First <= at && at < s.End() })
	}
	of := -1 // the old stretch of the call before
	enter := func(first int) (here int) {
		here = within(at)
		if last >= 0 && (here < 0 || here != of) {
			c.pass(last, first, 1)
		}
		return here
	}
	i, _ := slices.BinarySearchFunc(c.terms, at, func(t placedTerm, at uint64) int { return cmp.Compare(t.end, at+1) })
	for ; i < len(c.terms) && c.terms[i].begin < x.End(); i++ {
		t := c.terms[i]
		if t.Rule >= 0 && t.end-t.begin > few && t.begin >= x.First && t.end <= x.End() && !overlaps(old, t.begin, t.end) {
			s := c.summary(t.Rule)
			enter(s.first)
			groups.addAll(s, t.Count)
			c.passAll(s, t.Count)
			last, of, at = s.last, -1, t.end
			continue
		}
		c.walk(at, min(t.end, x.End()), func(r sequitur.Run) {
			groups.add(r.Symbol, r.Count)
			f := c.of.forms[r.Symbol].function
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
func overlaps(list []layout.Stretch, begin, end uint64) bool {
	return slices.ContainsFunc(list, func(s layout.Stretch) bool { return s.First < end && begin < s.End() })
}

// A summary is what a rule does to a stretch that it is in.
type summary struct {
	first, last int      // functions
	members     []member // in the order of their first calls
	transitions map[[2]int]uint64
}

// summary returns that of a rule.
func (c *condenser) summary(rule int) *summary {
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
	for t := range c.of.grammar.Body(rule) {
		var first, last int
		if t.Rule < 0 {
			first = c.of.forms[t.Symbol].function
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
func (c *condenser) passAll(s *summary, n uint64) {
	for key, k := range s.transitions {
		c.pass(key[0], key[1], wire.MulSat(k, n))
	}
	c.pass(s.last, s.first, n-1)
}

// pass counts transitions.
func (c *condenser) pass(from, to int, n uint64) {
	if n > 0 {
		key := [2]int{from, to}
		c.transitions[key] = wire.AddSat(c.transitions[key], n)
	}
}

// replaceValues adds all calls in their order, with arguments that vary too much replaced.
func (c *condenser) replaceValues() {
	groups := newGroups(c)
	for t, n := range c.of.grammar.Occurrences() {
		groups.add(t, n)
	}
	groups.split()
	left := make([][]condensedCall, len(groups.list)) // of each group that is replaced
	for i, g := range groups.list {
		if len(g.members) > c.values {
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
		for t := range c.of.grammar.Body(r) {
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
	rule(c.of.grammar.Rules() - 1)
}

// same returns the terminal for calls that stay as they are.
func (c *condenser) same(t sequitur.Symbol) sequitur.Symbol {
	if c.kept[t] == undecided {
		c.kept[t] = uint32(c.intern(&c.of.forms[t], c.slots(t)))
	}
	return sequitur.Symbol(c.kept[t])
}

// slots returns those of a terminal of the rank.
func (c *condenser) slots(t sequitur.Symbol) []int64 { return c.of.values[c.begins[t]:c.begins[t+1]] }

// intern returns the terminal of a call with these slots.
func (c *condenser) intern(f *form, slots []int64) sequitur.Symbol {
	key := appendForm(nil, f)
	for _, v := range slots {
		key = binary.AppendVarint(key, v)
	}
	n, ok := c.numbers[string(key)]
	if !ok {
		n = sequitur.Symbol(len(c.made.forms))
		c.numbers[string(key)] = n
		c.made.forms = append(c.made.forms, *f)
		c.made.values = append(c.made.values, slots...)
	}
	return n
}
