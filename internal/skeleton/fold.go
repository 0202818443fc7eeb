package skeleton

import (
	"encoding/binary"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

const (
	minTrips = 3  // of loops; bodies that come less often in a row are written out
	maxDepth = 64 // of loops in each other
)

// A folder finds the loops of one program. It works on nodes of one iteration of what is
// around them, which therefore come once each.
type folder struct {
	program int
	how     how
	kind    func(sequitur.Symbol) sequitur.Symbol
	align   aligner
	nodes   int                     // that may still be made
	steady  map[sequitur.Symbol]int // kinds of calls that few others come after: more of them
	classes map[string]int          // by what the nodes of a class have in common
}

// whole returns the calls of a grammar, with the loops in them.
func (f *folder) whole(g *sequitur.Grammar) []*Node {
	if g.Rules() == 0 {
		return nil
	}
	f.steady = steady(g, f.kind)
	loop := isLoop(g, minTrips, f.how)
	bodies := make([][]*Node, g.Rules()) // of loops
	for r := range g.Rules() {           // rules refer to those below them
		if r == g.Rules()-1 || loop[r] {
			bodies[r] = f.fold(f.written(g, r, loop, bodies, nil, 0))
		}
		if f.align.err != nil {
			return nil
		}
	}
	return bodies[g.Rules()-1]
}

// maxSteady is how steady a call is at most, which the same call always comes after.
const maxSteady = 7

// steady tells how steady the kinds of calls in a grammar are: 1 less for each other kind that
// comes after it. A call that comes anywhere is of less use to align others by.
func steady(g *sequitur.Grammar, kind func(sequitur.Symbol) sequitur.Symbol) map[sequitur.Symbol]int {
	type ends struct{ first, last sequitur.Symbol }
	rules := make([]ends, g.Rules())
	after := make(map[ends]bool)
	steady := make(map[sequitur.Symbol]int)
	follow := func(a, b sequitur.Symbol) {
		if a != b && !after[ends{a, b}] {
			after[ends{a, b}] = true
			steady[a] = max(0, steady[a]-1)
		}
	}
	for s := range g.Occurrences() {
		steady[kind(s)] = maxSteady + 1
	}
	for r := range rules {
		begun := false
		for t := range g.Body(r) {
			var e ends
			if t.Rule >= 0 {
				e = rules[t.Rule]
			} else {
				e = ends{kind(t.Symbol), kind(t.Symbol)}
			}
			if t.Count > 1 {
				follow(e.last, e.first)
			}
			if begun {
				follow(rules[r].last, e.first)
				rules[r].last = e.last
			} else {
				rules[r], begun = e, true
			}
		}
	}
	return steady
}

// A how is a way to find loops: which rules that come several times in a row are some.
type how int

const (
	mostly how = iota // if they do so most times that their calls come: the others are by chance
	evenly            // if they come as often in a row each time: the others have something optional between them
	inner             // the same, and a loop that is found by its rounds has several calls in all of them
	always            // all
)

// isLoop tells which rules are loops, that come at least so many times in a row somewhere.
func isLoop(g *sequitur.Grammar, least uint64, which how) []bool {
	const certain = 16   // times in a row are not by chance
	const long = 1 << 14 // calls that are not written out
	most, fewest := make([]uint64, g.Rules()), make([]uint64, g.Rules())
	uses := make([]uint64, g.Rules())   // of each rule
	inRuns := make([]uint64, g.Rules()) // of these
	calls := make(map[sequitur.Symbol]uint64)
	uses[g.Rules()-1] = 1
	for r := g.Rules() - 1; r >= 0; r-- {
		for t := range g.Body(r) {
			n := wire.MulSat(uses[r], t.Count)
			if t.Rule < 0 {
				calls[t.Symbol] = wire.AddSat(calls[t.Symbol], uses[r])
				continue
			}
			uses[t.Rule], most[t.Rule] = wire.AddSat(uses[t.Rule], n), max(most[t.Rule], t.Count)
			if fewest[t.Rule] == 0 || t.Count < fewest[t.Rule] {
				fewest[t.Rule] = t.Count
			}
			if t.Count >= least {
				inRuns[t.Rule] = wire.AddSat(inRuns[t.Rule], n)
			}
		}
	}
	loop, often := make([]bool, g.Rules()), make([]uint64, g.Rules()) // the most frequent call of each
	for r := range loop {
		for t := range g.Body(r) {
			if t.Rule < 0 {
				often[r] = max(often[r], calls[t.Symbol])
			} else {
				often[r] = max(often[r], often[t.Rule])
			}
		}
		switch {
		case most[r] < least:
		case which == evenly, which == inner:
			loop[r] = most[r] == fewest[r] && inRuns[r] >= often[r]-often[r]/4 ||
				wire.MulSat(uses[r], g.RuleLen(r)) > long
		default:
			loop[r] = which == always || most[r] >= certain || inRuns[r] >= often[r]-often[r]/4
		}
	}
	return loop
}

// writtenLen returns how many calls are written out of a grammar, at least.
func writtenLen(g *sequitur.Grammar, how how) uint64 {
	if g.Rules() == 0 {
		return 0
	}
	loop := isLoop(g, minTrips, how)
	calls, all := make([]uint64, g.Rules()), uint64(0)
	for r := range calls {
		for t := range g.Body(r) {
			switch {
			case t.Rule < 0:
				calls[r]++
			case !loop[t.Rule]:
				calls[r] = wire.AddSat(calls[r], wire.MulSat(t.Count, calls[t.Rule]))
			}
		}
		if loop[r] || r == len(calls)-1 {
			all = wire.AddSat(all, calls[r])
		}
	}
	return all
}

// written appends the right-hand side of a rule with the rules that are no loops written out.
func (f *folder) written(g *sequitur.Grammar, rule int, loop []bool, bodies [][]*Node, list []*Node,
	depth int) []*Node {
	if depth > f.nodes {
		f.align.err = ErrLimit // each of these rules has a node more
	}
	for t := range g.Body(rule) {
		switch {
		case f.align.err != nil:
			return nil
		case t.Rule < 0:
			list = append(list, f.call(t.Symbol, t.Count))
		case loop[t.Rule]:
			list = append(list, f.loop(f.copies(bodies[t.Rule], t.Count, 1), t.Count))
		default:
			for range t.Count {
				list = f.written(g, t.Rule, loop, bodies, list, depth+1)
			}
		}
	}
	return list
}

// node counts a node.
func (f *folder) node(n *Node) *Node {
	const work = 64 // to make it, and to keep it
	if f.nodes--; f.align.do(work) && f.nodes < 0 {
		f.align.err = ErrLimit
	}
	return n
}

func (f *folder) call(s sequitur.Symbol, count uint64) *Node {
	n := &Node{Times: []Times{{f.program, 1, count, count, count}}, Calls: []Calls{{f.program, s, count}}}
	n.kind = f.kind(s)
	n.steady = f.steady[n.kind]
	n.class = f.class(binary.AppendUvarint(nil, uint64(n.kind)<<1))
	return f.node(n)
}

// loop returns a loop that goes round so often, of a body with what is in all iterations. Calls of
// one kind are no loop, but a run of them.
func (f *folder) loop(body []*Node, trips uint64) *Node {
	if len(body) == 1 && !body[0].IsLoop() {
		n := body[0]
		n.Times[0] = Times{f.program, 1, n.Times[0].Total, n.Times[0].Total, n.Times[0].Total}
		return n
	}
	n := &Node{Body: body, Times: []Times{{f.program, 1, trips, trips, trips}}}
	n.class = f.classOf(body, trips)
	return f.node(n)
}

// classOf returns the class of loops with a body: what all iterations have.
func (f *folder) classOf(body []*Node, trips uint64) int {
	var always, key []byte
	for _, n := range body {
		key = binary.AppendUvarint(key, uint64(n.class))
		if n.Times[0].In == trips {
			always = binary.AppendUvarint(always, uint64(n.class))
		}
	}
	if always == nil {
		always = key
	}
	return f.class(append([]byte{1}, always...)) // calls have even numbers
}

func (f *folder) class(key []byte) int {
	if n, ok := f.classes[string(key)]; ok {
		return n
	}
	f.classes[string(key)] = len(f.classes)
	return len(f.classes) - 1
}

// copies returns a body as it is in so many iterations.
func (f *folder) copies(body []*Node, iterations uint64, depth int) []*Node {
	if depth > maxDepth {
		f.align.err = ErrLimit
	}
	var list []*Node
	for _, n := range body {
		if f.align.err != nil {
			return nil
		}
		c := *n
		c.Times, c.Calls = slices.Clone(n.Times), slices.Clone(n.Calls)
		c.Times[0].In = wire.MulSat(c.Times[0].In, iterations)
		c.Times[0].Total = wire.MulSat(c.Times[0].Total, iterations)
		for i := range c.Calls {
			c.Calls[i].Count = wire.MulSat(c.Calls[i].Count, iterations)
		}
		if c.IsLoop() {
			c.Body = f.copies(n.Body, iterations, depth+1)
		}
		list = append(list, f.node(&c))
	}
	return list
}

// fold finds the loops in nodes that come one after the other.
func (f *folder) fold(seq []*Node) []*Node {
	for f.align.do(len(seq) + 1) {
		before := len(seq)
		seq = f.repeated(f.joined(f.align.wrapped(seq, f.align.loopsOf(seq))), minTrips, f.how)
		if len(seq) == before {
			var found bool
			if seq, found = f.rounds(seq); !found {
				break
			}
		}
	}
	for f.align.do(len(seq) + 1) {
		before := len(seq)
		if seq = f.repeated(f.joined(seq), 2, always); len(seq) == before {
			break
		}
	}
	return seq
}

// joined makes one of neighbours that are the same call, or loops that are alike.
func (f *folder) joined(seq []*Node) []*Node {
	list := seq[:0:0]
	for _, n := range seq {
		if len(list) > 0 {
			last := list[len(list)-1]
			switch {
			case n.IsLoop() && last.IsLoop():
				if a := f.align.align(last.Body, n.Body); last.class == n.class || a.alike(last.Body, n.Body) {
					f.concat(last, n)
					last.Body = f.align.merge(last.Body, n.Body, a)
					last.class = f.classOf(last.Body, last.Times[0].Total)
					continue
				}
			case last.class == n.class:
				f.concat(last, n)
				continue
			}
		}
		list = append(list, n)
	}
	return list
}

// concat makes one run of two.
func (f *folder) concat(n, next *Node) {
	trips := wire.AddSat(n.Times[0].Total, next.Times[0].Total)
	n.Times[0] = Times{f.program, 1, trips, trips, trips}
	n.addCalls(next.Calls)
}

// repeated makes a loop of what is of the same classes at least so many times in a row, if
// there is no such loop in it.
func (f *folder) repeated(seq []*Node, trips uint64, which how) []*Node {
	var b sequitur.Builder
	for _, n := range seq {
		b.Append(sequitur.Symbol(n.class))
	}
	g := b.Finish()
	if g.Rules() == 0 {
		return nil
	}
	loop := isLoop(g, trips, which)
	inner := make([]bool, g.Rules()) // loops in them
	for r := range g.Rules() {
		for t := range g.Body(r) {
			inner[r] = inner[r] || t.Rule >= 0 && (t.Count >= trips && loop[t.Rule] || inner[t.Rule])
		}
	}
	var list []*Node
	var write func(rule int)
	write = func(rule int) {
		for t := range g.Body(rule) {
			switch {
			case t.Rule < 0:
				list, seq = append(list, seq[:t.Count]...), seq[t.Count:]
			case t.Count < trips || !loop[t.Rule] || inner[t.Rule]:
				for range t.Count {
					write(t.Rule)
				}
			default:
				var iterations [][]*Node
				n := g.RuleLen(t.Rule)
				for range t.Count {
					iterations, seq = append(iterations, seq[:n]), seq[n:]
				}
				list = append(list, f.loop(f.merged(iterations), t.Count))
			}
		}
	}
	write(g.Rules() - 1)
	return list
}

// merged returns iterations as one body.
func (f *folder) merged(iterations [][]*Node) []*Node {
	loops := f.align.loopsOf(iterations...)
	var body []*Node
	for i, next := range iterations {
		next = f.align.wrapped(next, loops)
		if i == 0 {
			body = next
		} else {
			body = f.align.merge(body, next, f.align.align(body, next))
		}
	}
	return body
}
