package query

import "slices"

// A waitGraph is which deadlocked ranks wait for which: its nodes are these, by index, and
// behind them lists of ranks that several wait for, so that it is not large where many wait
// for many.
type waitGraph struct {
	edges [][]int32
	ranks int // nodes that are ranks
}

// graph returns that of the deadlocked ranks.
func (s *stop) graph() *waitGraph {
	g := &waitGraph{edges: make([][]int32, len(s.of)), ranks: len(s.of)}
	lists := make(map[*awaited]int32)
	for i := range s.of {
		if s.isDeadlocked(i) {
			g.edges[i] = s.edges(g, lists, i)
		}
	}
	return g
}

func (s *stop) isDeadlocked(i int) bool { return !s.of[i].released && !s.of[i].ended }

// edges returns those of a rank, and adds lists that are new.
func (s *stop) edges(g *waitGraph, lists map[*awaited]int32, i int) (edges []int32) {
	for _, f := range s.of[i].flights {
		for _, w := range f.waits {
			if s.satisfied(w) {
				continue
			}
			n, known := lists[w.ranks]
			if !known {
				n = int32(len(g.edges))
				lists[w.ranks] = n
				g.edges = append(g.edges, s.targets(w.ranks))
			}
			edges = append(edges, n)
		}
	}
	return edges
}

// targets returns the deadlocked ones of ranks.
func (s *stop) targets(ranks *awaited) (targets []int32) {
	for _, i := range ranks.calling {
		if s.isDeadlocked(int(i)) {
			targets = append(targets, i)
		}
	}
	return targets
}

// components returns the strongly connected components of the graph, a number for each node
// (R. Tarjan, "Depth-first search and linear graph algorithms", SIAM Journal on Computing
// 1(2), 1972).
func (g *waitGraph) components() []int32 {
	var (
		n         = len(g.edges)
		component = make([]int32, n)
		number    = make([]int32, n) // in which nodes are found, from 1 on
		lowest    = make([]int32, n)
		next      = make([]int32, n) // edge to go on with
		open      []int32            // nodes that are in no component yet
		path      []int32
		found     int32
	)
	enter := func(v int32) {
		found++
		number[v], lowest[v] = found, found
		open, path = append(open, v), append(path, v)
	}
	for root := range int32(n) {
		if number[root] == 0 {
			enter(root)
		}
		for len(path) > 0 {
			v := path[len(path)-1]
			if k := next[v]; int(k) < len(g.edges[v]) {
				next[v]++
				if w := g.edges[v][k]; number[w] == 0 {
					enter(w)
				} else if component[w] == 0 {
					lowest[v] = min(lowest[v], number[w])
				}
				continue
			}
			if path = path[:len(path)-1]; len(path) > 0 {
				above := path[len(path)-1]
				lowest[above] = min(lowest[above], lowest[v])
			}
			for lowest[v] == number[v] && component[v] == 0 {
				w := open[len(open)-1]
				open = open[:len(open)-1]
				component[w] = number[v]
			}
		}
	}
	return component
}

// cycle returns a shortest way from a rank back to itself through others of its component,
// nil if there is none.
func (g *waitGraph) cycle(from int32, component []int32) []int32 {
	before := make(map[int32]int32)
	closes := make(map[int32]bool) // lists with the rank
	queue := []int32{from}
	for len(queue) > 0 {
		v := queue[0]
		queue = queue[1:]
		for _, w := range g.edges[v] {
			if int(w) >= g.ranks && int(v) < g.ranks {
				back, known := closes[w]
				if !known {
					back = slices.Contains(g.edges[w], from)
					closes[w] = back
				}
				if back && v != from {
					return g.ranksOnWay(before, from, v)
				}
			}
			if _, seen := before[w]; !seen && w != from && component[w] == component[from] {
				before[w] = v
				queue = append(queue, w)
			}
		}
	}
	return nil
}

// ranksOnWay returns the ranks on the way from one node to another.
func (g *waitGraph) ranksOnWay(before map[int32]int32, from, to int32) []int32 {
	var way []int32
	for v := to; v != from; v = before[v] {
		if int(v) < g.ranks {
			way = append(way, v)
		}
	}
	way = append(way, from)
	slices.Reverse(way)
	return way
}

// cycles returns a shortest cycle from the lowest rank on of each set of ranks that wait for
// each other, directly or not.
func (s *stop) cycles() [][]int {
	cycles := [][]int{}
	g := s.graph()
	component := g.components()
	seen := make(map[int32]bool)
	for i := range int32(len(s.of)) {
		if !s.isDeadlocked(int(i)) || seen[component[i]] {
			continue
		}
		seen[component[i]] = true
		var cycle []int
		for _, j := range g.cycle(i, component) {
			cycle = append(cycle, s.ranks[j])
		}
		if cycle != nil {
			cycles = append(cycles, cycle)
		}
	}
	return cycles
}
