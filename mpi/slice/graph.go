package slice

import "slices"

// control finds for each block of a function the immediate postdominator and the blocks that it is
// control dependent on. The end of the function is behind all blocks that have no
// successor; of loops without end, it is behind the first of their blocks.
func (f *function) control() {
	g := newReverse(f)
	for k, b := range f.blocks {
		if p := g.parent[k]; p < len(f.blocks) {
			b.after = f.blocks[p]
		}
	}
	for k, b := range f.blocks {
		next := g.next[k]
		if len(next) < 2 {
			continue
		}
		for _, s := range next {
			for s != len(f.blocks) && s != g.parent[k] {
				if dependent := f.blocks[s]; !slices.Contains(dependent.controls, b) {
					dependent.controls = append(dependent.controls, b)
				}
				s = g.parent[s]
			}
		}
	}
}

// A reverse is the control-flow graph of a function against the direction of its edges. The last
// node is the end of the function.
type reverse struct {
	next, previous [][]int // in the direction of the edges
	order          []int   // of nodes in a postorder against the edges
	parent         []int   // the immediate postdominator
}

func newReverse(f *function) *reverse {
	end := len(f.blocks)
	g := &reverse{next: make([][]int, end+1), previous: make([][]int, end+1), parent: make([]int, end+1)}
	connect := func(from, to int) {
		g.next[from], g.previous[to] = append(g.next[from], to), append(g.previous[to], from)
	}
	for k, b := range f.blocks {
		for _, s := range b.succ {
			connect(k, s.number)
		}
		if len(b.succ) == 0 {
			connect(k, end)
		}
	}
	for {
		g.order = g.postorder(end)
		if len(g.order) == end+1 {
			break
		}
		reached := make([]bool, end+1)
		for _, n := range g.order {
			reached[n] = true
		}
		connect(slices.Index(reached, false), end)
	}
	g.dominate(end)
	return g
}

// postorder returns the nodes that a walk against the edges reaches.
func (g *reverse) postorder(from int) []int {
	type step struct{ node, edge int }
	var (
		order []int
		seen  = make([]bool, len(g.next))
		stack = []step{{from, 0}}
	)
	seen[from] = true
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.edge == len(g.previous[top.node]) {
			order = append(order, top.node)
			stack = stack[:len(stack)-1]
			continue
		}
		n := g.previous[top.node][top.edge]
		top.edge++
		if !seen[n] {
			seen[n] = true
			stack = append(stack, step{n, 0})
		}
	}
	return order
}

// dominate sets the parents, as K. D. Cooper, T. J. Harvey and K. Kennedy do it in "A Simple, Fast
// Dominance Algorithm", 2001.
func (g *reverse) dominate(end int) {
	rank := make([]int, end+1)
	for k, n := range g.order {
		rank[n] = k
	}
	for n := range g.parent {
		g.parent[n] = -1
	}
	g.parent[end] = end
	for changed := true; changed; {
		changed = false
		for _, n := range slices.Backward(g.order[:end]) {
			parent := -1
			for _, s := range g.next[n] {
				switch {
				case g.parent[s] < 0:
				case parent < 0:
					parent = s
				default:
					parent = g.common(parent, s, rank)
				}
			}
			if parent != g.parent[n] {
				g.parent[n], changed = parent, true
			}
		}
	}
}

func (g *reverse) common(a, b int, rank []int) int {
	for a != b {
		for rank[a] < rank[b] {
			a = g.parent[a]
		}
		for rank[b] < rank[a] {
			b = g.parent[b]
		}
	}
	return a
}
