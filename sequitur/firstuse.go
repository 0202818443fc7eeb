package sequitur

import (
	"iter"

	"github.com/reprise-trace/reprise/internal/pairmap"
)

// FirstUse returns the terminals of g in the order in which they first occur in
// the sequence. The cost is that of reading the grammar.
func (g *Grammar) FirstUse() []Symbol {
	var order []Symbol
	for _, s := range g.FirstUses() {
		order = append(order, s)
	}
	return order
}

// FirstUses returns an iterator over the terminals of g in the order in which they
// first occur in the sequence, and their positions there. The cost is that of
// reading the grammar.
func (g *Grammar) FirstUses() iter.Seq2[uint64, Symbol] {
	return func(yield func(uint64, Symbol) bool) {
		if len(g.ends) == 0 {
			return
		}
		var known pairmap.Map
		read := make([]bool, len(g.ends)) // the rules on the path, or done with: what they generate is in order
		type rest struct {                // of a right-hand side
			at, end  uint32
			position uint64 // of what the right-hand side generates
		}
		enter := func(r uint32, position uint64) rest {
			begin, end := g.span(r)
			return rest{begin, end, position}
		}
		path := []rest{enter(uint32(len(g.ends)-1), 0)}
		for len(path) > 0 {
			top := &path[len(path)-1]
			if top.at == top.end {
				path = path[:len(path)-1]
				continue
			}
			x := g.symbols[top.at]
			top.at++
			switch {
			case !x.ref.isRule():
				s := x.ref.terminal()
				if _, ok := known.Get(uint64(s), 0); ok {
					continue
				}
				known.Put(uint64(s), 0, 0)
				if !yield(top.position+x.end-x.count, s) {
					return
				}
			case !read[x.ref.rule()]:
				read[x.ref.rule()] = true
				path = append(path, enter(x.ref.rule(), top.position+x.end-x.count*g.length(x.ref)))
			}
		}
	}
}
