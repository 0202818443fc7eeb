package sequitur

import "github.com/reprise-trace/reprise/internal/pairmap"

// FirstUse returns the terminals of g in the order in which they first occur in
// the sequence. The cost is that of reading the grammar.
func (g *Grammar) FirstUse() []Symbol {
	var order []Symbol
	if len(g.ends) == 0 {
		return order
	}
	var known pairmap.Map
	read := make([]bool, len(g.ends))  // the rules on the path, or done with: what they generate is in order
	type rest struct{ at, end uint32 } // of a right-hand side
	enter := func(r uint32) rest {
		begin, end := g.span(r)
		return rest{begin, end}
	}
	path := []rest{enter(uint32(len(g.ends) - 1))}
	for len(path) > 0 {
		top := &path[len(path)-1]
		if top.at == top.end {
			path = path[:len(path)-1]
			continue
		}
		r := g.symbols[top.at].ref
		top.at++
		switch {
		case !r.isRule():
			s := r.terminal()
			if _, ok := known.Get(uint64(s), 0); !ok {
				known.Put(uint64(s), 0, 0)
				order = append(order, s)
			}
		case !read[r.rule()]:
			read[r.rule()] = true
			path = append(path, enter(r.rule()))
		}
	}
	return order
}
