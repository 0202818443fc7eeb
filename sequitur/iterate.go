package sequitur

import "iter"

// A walker moves through the runs of a grammar's expansion. Its stack is the
// path from the start rule to the next run.
type walker struct {
	g    *Grammar
	path []step
}

// A step is a place in a right-hand side.
type step struct {
	at, end uint32 // the symbol, and the end of its right-hand side, in Grammar.symbols
	left    uint64 // repetitions of the symbol that have not begun
}

// enter puts rule r on the path.
func (w *walker) enter(r uint32) {
	begin, end := w.g.span(r)
	w.path = append(w.path, step{begin, end, w.g.symbols[begin].count})
}

// walk returns a walker at a position, at most g.Len().
func (g *Grammar) walk(position uint64) walker {
	w := walker{g: g}
	if position >= g.Len() {
		return w
	}
	r := ruleRef(uint32(len(g.ends) - 1))
	for r.isRule() {
		at, offset := g.locate(r.rule(), position)
		_, end := g.span(r.rule())
		s := g.symbols[at]
		r = s.ref
		n := g.length(r)
		w.path = append(w.path, step{at, end, s.count - offset/n})
		if position = offset % n; r.isRule() {
			w.path[len(w.path)-1].left--
		}
	}
	return w
}

// next returns the next run, or a count of 0 at the end. Neighbouring runs may
// be of the same symbol.
func (w *walker) next() (Symbol, uint64) {
	for len(w.path) > 0 {
		p := &w.path[len(w.path)-1]
		if p.left == 0 {
			if p.at++; p.at == p.end {
				w.path = w.path[:len(w.path)-1]
				continue
			}
			p.left = w.g.symbols[p.at].count
		}
		r := w.g.symbols[p.at].ref
		if !r.isRule() {
			n := p.left
			p.left = 0
			return r.terminal(), n
		}
		p.left--
		w.enter(r.rule())
	}
	return 0, 0
}

// All returns an iterator over the positions and symbols of the sequence, in
// order. It expands lazily: stopping after k symbols costs O(k + depth).
func (g *Grammar) All() iter.Seq2[uint64, Symbol] { return g.From(0) }

// From is like [Grammar.All] but begins at a position, which costs as much as
// [Grammar.At]. There is nothing from g.Len() on.
func (g *Grammar) From(position uint64) iter.Seq2[uint64, Symbol] {
	return func(yield func(uint64, Symbol) bool) {
		w := g.walk(position)
		at := position
		for s, n := w.next(); n > 0; s, n = w.next() {
			for range n {
				if !yield(at, s) {
					return
				}
				at++
			}
		}
	}
}

// A Run is a symbol that occurs Count times in a row.
type Run struct {
	Symbol Symbol
	Count  uint64
}

// Runs returns an iterator over the runs of the sequence, in order, and the
// positions where they begin. Runs are as long as they can be: neighbours
// differ.
func (g *Grammar) Runs() iter.Seq2[uint64, Run] { return g.RunsFrom(0) }

// RunsFrom is like [Grammar.Runs] but begins at a position; of a run that
// contains it, it yields what is left.
func (g *Grammar) RunsFrom(position uint64) iter.Seq2[uint64, Run] {
	return func(yield func(uint64, Run) bool) {
		w := g.walk(position)
		at := position
		s, n := w.next()
		for n > 0 {
			r := Run{s, n}
			for s, n = w.next(); n > 0 && s == r.Symbol; s, n = w.next() {
				r.Count += n
			}
			if !yield(at, r) {
				return
			}
			at += r.Count
		}
	}
}
