package query

import (
	"context"
	"math"
	"slices"
)

// A network is nodes with edges that flow goes through, from node source to node sink
// (E. A. Dinic, "Algorithm for solution of a problem of maximum flow in networks with
// power estimation", Soviet Math. Doklady 11, 1970).
type network struct {
	edges []edge
	from  [][]int32 // numbers of edges, by node

	level []int32 // edges from the source, −1 if there is no way
	next  []int32 // by node: the first edge that may lead on
}

// The nodes of every network.
const (
	source = iota
	sink
)

// An edge and the next one, if its number is even, are opposite to each other: what flows
// through one can be sent back through the other.
type edge struct {
	to      int32
	endless bool   // left does not become less
	left    uint64 // what can flow through it yet
}

// node adds a node.
func (n *network) node() int32 {
	n.from = append(n.from, nil)
	return int32(len(n.from) - 1)
}

// edge adds an edge of a capacity and returns its number.
func (n *network) edge(from, to int32, capacity uint64) int32 {
	e := int32(len(n.edges))
	n.edges = append(n.edges, edge{to: to, left: capacity}, edge{to: from})
	n.from[from], n.from[to] = append(n.from[from], e), append(n.from[to], e+1)
	return e
}

// link adds an edge that lets all through and returns its number.
func (n *network) link(from, to int32) int32 {
	e := n.edge(from, to, 1)
	n.edges[e].endless = true
	return e
}

// flow returns what flows through an edge.
func (n *network) flow(e int32) uint64 { return n.edges[e+1].left }

// push lets more flow through an edge.
func (n *network) push(e int32, amount uint64) {
	if !n.edges[e].endless {
		n.edges[e].left -= amount
	}
	if !n.edges[e^1].endless {
		n.edges[e^1].left += amount
	}
}

// through lets as much flow from the source to the sink through an edge as can without what
// comes or goes another way.
func (n *network) through(e int32) {
	in, out := n.from[n.edges[e^1].to][0], n.from[n.edges[e].to][0]
	amount := min(n.edges[in^1].left, n.edges[out].left)
	for _, e := range []int32{in ^ 1, e, out} {
		n.push(e, amount)
	}
}

// maximize lets as much flow from the source to the sink as can. What flows into the sink
// through an edge does not become less.
func (n *network) maximize(ctx context.Context) error {
	for {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if !n.levels() {
			return nil
		}
		n.next = make([]int32, len(n.from))
		n.block()
	}
}

// levels finds how far nodes are from the source, and whether the sink can be reached.
func (n *network) levels() bool {
	n.level = make([]int32, len(n.from))
	for i := range n.level {
		n.level[i] = -1
	}
	n.level[source] = 0
	queue := []int32{source}
	for i := 0; i < len(queue); i++ {
		for _, e := range n.from[queue[i]] {
			if to := n.edges[e].to; n.edges[e].left > 0 && n.level[to] < 0 {
				n.level[to] = n.level[queue[i]] + 1
				queue = append(queue, to)
			}
		}
	}
	return n.level[sink] >= 0
}

// block lets flow through all shortest ways.
func (n *network) block() {
	var way []int32 // edges
	at := int32(source)
	for {
		switch {
		case at == sink:
			amount := uint64(math.MaxUint64)
			for _, e := range way {
				if !n.edges[e].endless {
					amount = min(amount, n.edges[e].left)
				}
			}
			for _, e := range way {
				n.push(e, amount)
			}
			full := slices.IndexFunc(way, func(e int32) bool { return n.edges[e].left == 0 })
			at, way = n.edges[way[full]^1].to, way[:full]
		case int(n.next[at]) < len(n.from[at]):
			e := n.from[at][n.next[at]]
			if n.edges[e].left > 0 && n.level[n.edges[e].to] == n.level[at]+1 {
				way = append(way, e)
				at = n.edges[e].to
			} else {
				n.next[at]++
			}
		case at == source:
			return
		default:
			e := way[len(way)-1]
			way = way[:len(way)-1]
			at = n.edges[e^1].to
			n.next[at]++
		}
	}
}

// reach returns the nodes but the source and the sink that are reached from nodes through
// edges that more can flow through yet or, if backwards, from which these are.
func (n *network) reach(begin []int32, backwards bool) []bool {
	seen := make([]bool, len(n.from))
	seen[source], seen[sink] = true, true
	var queue []int32
	add := func(node int32) {
		if !seen[node] {
			seen[node] = true
			queue = append(queue, node)
		}
	}
	for _, node := range begin {
		add(node)
	}
	for i := 0; i < len(queue); i++ {
		for _, e := range n.from[queue[i]] {
			through := e
			if backwards {
				through ^= 1
			}
			if n.edges[through].left > 0 {
				add(n.edges[e].to)
			}
		}
	}
	seen[source], seen[sink] = false, false
	return seen
}

// components numbers nodes so that those which are equal are connected by edges among the
// nodes that are in.
func (n *network) components(in []bool) []int32 {
	number := make([]int32, len(n.from))
	for i := range number {
		number[i] = -1
	}
	var queue []int32
	for node := range number {
		if !in[node] || number[node] >= 0 {
			continue
		}
		number[node] = int32(node)
		for queue = append(queue[:0], int32(node)); len(queue) > 0; {
			at := queue[len(queue)-1]
			queue = queue[:len(queue)-1]
			for _, e := range n.from[at] {
				if to := n.edges[e].to; in[to] && number[to] < 0 {
					number[to] = int32(node)
					queue = append(queue, to)
				}
			}
		}
	}
	return number
}
