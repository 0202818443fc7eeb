package pprof

import (
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/sequitur"
)

// A tree has the nests of loops. Node 0 is no loop.
type tree struct {
	nodes    []node
	children map[child]int
}

type node struct {
	name   string
	parent int
	depth  int
}

type child struct {
	parent int
	name   string
}

// child returns the node of a loop in another.
func (t *tree) child(parent int, name string) int {
	k := child{parent, name}
	n, ok := t.children[k]
	if !ok {
		if t.children == nil {
			t.children = make(map[child]int)
		}
		n = len(t.nodes)
		t.nodes = append(t.nodes, node{name, parent, t.nodes[parent].depth + 1})
		t.children[k] = n
	}
	return n
}

// common returns the innermost loop that is around both a and b.
func (t *tree) common(a, b int) int {
	for a != b {
		if t.nodes[a].depth >= t.nodes[b].depth {
			a = t.nodes[a].parent
		} else {
			b = t.nodes[b].parent
		}
	}
	return a
}

// A count is how many calls of a terminal stand in a nest of loops.
type count struct {
	node     int
	terminal uint32
	calls    int64
}

// maxNests is how many nests of loops a rule is followed into.
const maxNests = 64

// A counter counts calls by the loops that they stand in.
type counter struct {
	*tree
	grammar *sequitur.Grammar
	called  [][]string      // by rules, the first functions
	nests   []map[int]int64 // of rules: how often they stand in a node
	index   map[count]int   // with calls 0
	counts  []count
}

// count returns how many of the calls first ≤ position < end of each terminal stand in
// each nest of loops. Some may be none.
func (t *tree) count(g *sequitur.Grammar, first, end uint64, name func(sequitur.Symbol) string) []count {
	c := &counter{tree: t, grammar: g, nests: make([]map[int]int64, g.Rules()), index: make(map[count]int)}
	c.call(name)
	c.before(end, 1)
	c.before(first, -1)
	for r := g.Rules() - 1; r >= 0; r-- { // rules refer to those below them
		for _, n := range c.merged(r) {
			times := c.nests[r][n]
			for s := range g.Body(r) {
				c.add(s, n, times, s.Count)
			}
		}
		c.nests[r] = nil
	}
	return c.counts
}

// merged returns the nodes that a rule stands in, in order, if they are not too many: in
// place of those, there is what they have in common.
func (c *counter) merged(rule int) []int {
	nests := c.nests[rule]
	list := make([]int, 0, len(nests))
	for n, times := range nests {
		if times != 0 {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	if len(list) <= maxNests {
		return list
	}
	one, all := list[0], int64(0)
	for _, n := range list {
		one, all = c.common(one, n), all+nests[n]
	}
	nests[one] = all
	return []int{one}
}

// add adds so many repetitions of a symbol, whose count on the right-hand side says of
// which loop they are, as often as that stands in a node.
func (c *counter) add(s sequitur.Term, node int, times int64, repetitions uint64) {
	n := times * int64(repetitions)
	if s.Rule < 0 {
		c.terminal(node, s.Symbol, n)
		return
	}
	if c.nests[s.Rule] == nil {
		c.nests[s.Rule] = make(map[int]int64)
	}
	c.nests[s.Rule][c.loop(s, node)] += n
}

// loop returns the node of the calls of a symbol that stands in a node.
func (c *counter) loop(s sequitur.Term, node int) int {
	if s.Count == 1 {
		return node
	}
	return c.child(node, "loop "+strconv.FormatUint(s.Count, 10)+" × "+c.label(s.Rule))
}

func (c *counter) terminal(node int, terminal uint32, n int64) {
	k := count{node: node, terminal: terminal}
	i, ok := c.index[k]
	if !ok {
		i = len(c.counts)
		c.index[k] = i
		c.counts = append(c.counts, k)
	}
	c.counts[i].calls += n
}

// before adds what stands before a position, with a sign: of the rules in which the
// position lies what is complete, of others all when it is their turn.
func (c *counter) before(position uint64, sign int64) {
	for path, whole := range c.grammar.Prefix(position) {
		node, last := 0, len(path)-1
		for _, outer := range path[:last] {
			node = c.loop(outer, node)
		}
		c.add(path[last], node, sign, whole)
	}
}

// maxNames is how many functions the name of a loop has.
const maxNames = 5

// label returns what a rule calls: the names of its functions, by their first call.
func (c *counter) label(rule int) string {
	names := c.called[rule]
	if len(names) > maxNames {
		return strings.Join(names[:maxNames], " ") + " …"
	}
	return strings.Join(names, " ")
}

// call finds the first functions that each rule calls, up to one more than maxNames.
func (c *counter) call(name func(sequitur.Symbol) string) {
	c.called = make([][]string, c.grammar.Rules())
	for r := range c.called { // rules refer to those below them
		names := &c.called[r]
		for s := range c.grammar.Body(r) {
			var of []string
			if s.Rule >= 0 {
				of = c.called[s.Rule]
			} else {
				of = []string{name(s.Symbol)}
			}
			for _, n := range of {
				if len(*names) <= maxNames && !slices.Contains(*names, n) {
					*names = append(*names, n)
				}
			}
			if len(*names) > maxNames {
				break
			}
		}
	}
}
