package sequitur

import (
	"iter"
	"slices"
)

// A Run is a symbol that occurs Count times in a row.
type Run struct {
	Symbol Symbol
	Count  uint64
}

// A Walker moves through the runs of a grammar's expansion, for callers that
// pull them one at a time. It must not be used by two goroutines at once.
type Walker struct {
	g    *Grammar
	path []step   // from the start rule to the next run
	list []Symbol // that follow where there is no grammar
}

// A step is a place in a right-hand side.
type step struct {
	at, end uint32 // the symbol, and the end of its right-hand side, in Grammar.symbols
	left    uint64 // repetitions of the symbol that have not begun
}

// enter puts rule r on the path.
func (w *Walker) enter(r uint32) {
	begin, end := w.g.span(r)
	w.path = append(w.path, step{begin, end, w.g.symbols[begin].count})
}

// Walk returns a Walker at a position, which costs as much as [Grammar.At].
func (g *Grammar) Walk(position uint64) *Walker {
	w := &Walker{g: g}
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

// WalkSymbols returns a Walker of a sequence that is not in a grammar. It keeps
// the list, which must not be changed.
func WalkSymbols(list []Symbol) *Walker { return &Walker{list: list} }

// Next returns the next run, or one with a count of 0 at the end. Of a run that
// contains the position where it began, a Walker returns what is left.
// Neighbouring runs may be of the same symbol.
func (w *Walker) Next() Run {
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
			return Run{r.terminal(), n}
		}
		p.left--
		w.enter(r.rule())
	}
	return w.nextOfList()
}

// nextOfList is Next without a grammar.
func (w *Walker) nextOfList() Run {
	if len(w.list) == 0 {
		return Run{}
	}
	r := Run{w.list[0], 1}
	for int(r.Count) < len(w.list) && w.list[r.Count] == r.Symbol {
		r.Count++
	}
	w.list = w.list[r.Count:]
	return r
}

// All returns an iterator over the positions and symbols of the sequence, in
// order. It expands lazily: stopping after k symbols costs O(k + depth).
func (g *Grammar) All() iter.Seq2[uint64, Symbol] { return g.From(0) }

// From is like [Grammar.All] but begins at a position, which costs as much as
// [Grammar.At]. There is nothing from g.Len() on.
func (g *Grammar) From(position uint64) iter.Seq2[uint64, Symbol] {
	return func(yield func(uint64, Symbol) bool) {
		w := g.Walk(position)
		at := position
		for r := w.Next(); r.Count > 0; r = w.Next() {
			for range r.Count {
				if !yield(at, r.Symbol) {
					return
				}
				at++
			}
		}
	}
}

// Runs returns an iterator over the runs of the sequence, in order, and the
// positions where they begin. Runs are as long as they can be: neighbours
// differ.
func (g *Grammar) Runs() iter.Seq2[uint64, Run] { return g.runsFrom(0) }

// runsFrom is like [Grammar.Runs] but begins at a position; of a run that
// contains it, it yields what is left.
func (g *Grammar) runsFrom(position uint64) iter.Seq2[uint64, Run] {
	return func(yield func(uint64, Run) bool) {
		w := g.Walk(position)
		at := position
		next := w.Next()
		for next.Count > 0 {
			r := next
			for next = w.Next(); next.Count > 0 && next.Symbol == r.Symbol; next = w.Next() {
				r.Count += next.Count
			}
			if !yield(at, r) {
				return
			}
			at += r.Count
		}
	}
}

// A Loop is a stretch of a sequence that repeats itself.
type Loop struct {
	Period uint64 // every symbol but the first Period ones is that Period symbols before it
	Length uint64 // of the stretch, in symbols
}

// AppendLoops appends the loops that begin at the place of w, which is where the
// next run does, to loops: those that the grammar has for repetitions that it is
// in and that are not the last, the outermost first. A caller that needs to see
// a period only once skips the others with [Grammar.Walk].
func (w *Walker) AppendLoops(loops []Loop) []Loop {
	begin := len(loops)
	rest := uint64(0) // symbols left in the rules below the one looked at
	for i := len(w.path) - 1; i >= 0; i-- {
		p := w.path[i]
		s := w.g.symbols[p.at]
		length := w.g.length(s.ref)
		if s.ref.isRule() && p.left > 0 {
			loops = append(loops, Loop{length, rest + p.left*length})
		}
		rest += p.left*length + w.g.symbols[p.end-1].end - s.end
	}
	for i, j := begin, len(loops)-1; i < j; i, j = i+1, j-1 {
		loops[i], loops[j] = loops[j], loops[i]
	}
	return loops
}

// AppendSymbols appends the sequence to dst and returns the extended slice, which
// must be able to hold g.Len() symbols more. What a rule generates is put
// together once and then copied, so that it takes less time for a symbol than
// [Grammar.All].
func (g *Grammar) AppendSymbols(dst []Symbol) []Symbol {
	if len(g.ends) == 0 {
		return dst
	}
	dst = slices.Grow(dst, int(g.Len()))
	places := make([]int, len(g.ends)) // in dst, of what each rule generates; 0 if it is not there yet
	w := Walker{g: g}
	w.enter(uint32(len(g.ends) - 1))
	base := len(dst) - 1 // what places count from
	for len(w.path) > 0 {
		p := &w.path[len(w.path)-1]
		if p.left == 0 {
			if p.at++; p.at == p.end {
				w.path = w.path[:len(w.path)-1]
				continue
			}
			p.left = g.symbols[p.at].count
		}
		r := g.symbols[p.at].ref
		switch {
		case !r.isRule():
			dst = repeat(append(dst, r.terminal()), 1, int(p.left-1))
		case places[r.rule()] == 0:
			places[r.rule()] = len(dst) - base
			p.left--
			w.enter(r.rule())
			continue
		default:
			from, n := base+places[r.rule()], int(g.length(r))
			dst = append(dst, dst[from:from+n]...)
			dst = repeat(dst, n, n*int(p.left-1))
		}
		p.left = 0
	}
	return dst
}

// repeat appends n symbols to dst that repeat its last period ones.
func repeat(dst []Symbol, period, n int) []Symbol {
	from := len(dst) - period
	for n > 0 {
		k := min(n, len(dst)-from)
		dst = append(dst, dst[from:from+k]...)
		n -= k
	}
	return dst
}
