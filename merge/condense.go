package merge

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/spec"
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
	of        *shape // of one rank
	begins    []int
	terms     []placedTerm // of the start rule

	builder sequitur.Builder
	made    shape
	numbers map[string]sequitur.Symbol // of the terminals of made
	kept    []uint32                   // of each terminal of the rank, that of its calls that stay as they are

	params      map[int]uint64 // by function: which parameters gave way
	transitions map[[2]int]uint64
}

// undecided stands for a terminal of which no call stays as it is so far.
const undecided = math.MaxUint32

func newCondenser(d degree, functions []cst.Function) *condenser {
	c := &condenser{degree: d, functions: functions, anchors: make([]bool, len(functions)),
		params: make(map[int]uint64), transitions: make(map[[2]int]uint64)}
	for i, f := range functions {
		c.anchors[i] = isAnchor(f.Name)
	}
	return c
}

// isAnchor reports whether calls of an MPI function decide what messages of later calls are: they
// make or free what these name, or begin or end what they are in.
func isAnchor(name string) bool {
	n, ok := spec.Lookup(name)
	if !ok {
		return false
	}
	f, r := &spec.Functions()[n], spec.RoleOf(name)
	if r != nil && (r.Persistent || r.Begins != "" || r.Ends) {
		return true
	}
	return f.Outlives() && slices.ContainsFunc(f.Params, func(p spec.Param) bool {
		switch p.Element().Class {
		case "comm", "datatype", "group", "win", "file", "session":
			return p.Direction != cst.In
		}
		return false
	})
}

// condense returns the calls of a rank, of a shape of its own, with what gave way, and its
// stretches. Some may be stretches already. It takes time in proportion to the calls that are in
// no loop.
func (c *condenser) condense(s *shape, stretches []layout.Stretch) (*shape, []layout.Stretch) {
	c.of, c.begins = s, s.begins()
	c.builder, c.numbers = sequitur.Builder{}, make(map[string]sequitur.Symbol)
	c.made = shape{ranks: s.ranks}
	c.kept = slices.Repeat([]uint32{undecided}, len(s.forms))
	c.terms = c.terms[:0]
	c.appendTerms(s.grammar.Rules()-1, 0, c.anchored())
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

// anchored returns which rules have anchors in them. Rules come before those that use them.
func (c *condenser) anchored() []bool {
	g := c.of.grammar
	anchored := make([]bool, g.Rules())
	for r := range anchored {
		for t := range g.Body(r) {
			if t.Rule >= 0 && anchored[t.Rule] || t.Rule < 0 && c.anchors[c.of.forms[t.Symbol].function] {
				anchored[r] = true
				break
			}
		}
	}
	return anchored
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
	const few = 8 // repetitions
	g := c.of.grammar
	for t := range g.Body(rule) {
		if t.Rule >= 0 && anchored[t.Rule] && t.Count <= few {
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
			c.builder.AppendLoop(c.runs(first, first+(last-first)/t.Count), t.Count)
		default:
			for _, r := range c.runs(first, last) {
				c.builder.AppendRun(r.Symbol, r.Count)
			}
		}
	}
}

// runs returns the calls at the positions from begin to end, of the terminals that they become.
func (c *condenser) runs(begin, end uint64) []sequitur.Run {
	var list []sequitur.Run
	c.walk(begin, end, func(r sequitur.Run) { list = append(list, sequitur.Run{Symbol: c.same(r.Symbol), Count: r.Count}) })
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
	c.walk(x.First, x.End(), func(r sequitur.Run) {
		groups.add(r.Symbol, r.Count)
		f := c.of.forms[r.Symbol].function
		here := -1
		if len(old) > 0 {
			here = within(at)
		}
		if last >= 0 && (here < 0 || here != of) {
			c.pass(last, f, 1)
		}
		if here < 0 {
			c.pass(f, f, r.Count-1)
		}
		last, of = f, here
		at += r.Count
	})
	groups.split()
	for _, g := range groups.list {
		for _, m := range g.calls(c) {
			c.builder.AppendRun(m.made, m.count)
		}
	}
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
	c.walk(0, c.of.grammar.Len(), func(r sequitur.Run) {
		list := &left[groups.of[r.Symbol]]
		if *list == nil {
			c.builder.AppendRun(c.same(r.Symbol), r.Count)
			return
		}
		for r.Count > 0 {
			m := &(*list)[0]
			n := min(m.count, r.Count)
			c.builder.AppendRun(m.made, n)
			r.Count -= n
			if m.count -= n; m.count == 0 {
				*list = (*list)[1:]
			}
		}
	})
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
