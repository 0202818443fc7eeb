package sequitur

import "slices"

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
