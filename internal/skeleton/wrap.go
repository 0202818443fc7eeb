package skeleton

import (
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
)

// maxWrapped is how many loops are looked for as single iterations.
const maxWrapped = 32

// loopsOf returns the loops of bodies, of each class one.
func (a *aligner) loopsOf(bodies ...[]*Node) []*Node {
	var list []*Node
	for _, body := range bodies {
		for _, n := range body {
			known := a.within && slices.ContainsFunc(list, func(l *Node) bool { return l.class == n.class })
			if n.IsLoop() && !known && len(list) < maxWrapped {
				list = append(list, n)
			}
		}
	}
	return list
}

// wrapped returns nodes of one iteration of what is around them, in each program that has them.
// What comes in them as an iteration of one of the loops does is a loop, too, that goes round
// once, or as often as there are such iterations.
func (a *aligner) wrapped(seq, loops []*Node) []*Node {
	if len(loops) == 0 || !a.do(len(seq)*len(loops)+1) {
		return seq
	}
	var list []*Node
	most := make([]uint64, len(loops)) // iterations that have a node of each loop
	for i, l := range loops {
		for _, n := range l.Body {
			most[i] = max(most[i], n.iterations())
		}
	}
	for at := 0; at < len(seq); {
		var n *Node
		for i, l := range loops {
			for k := a.iteration(l, most[i], seq[at:]); k > 0; k = a.iteration(l, most[i], seq[at:]) {
				if n != nil && !a.samePrograms(n, seq[at]) {
					break
				}
				n = a.wrap(n, seq[at:at+k:at+k], l.class)
				at += k
			}
			if n != nil {
				break
			}
		}
		if n == nil {
			n = seq[at]
			at++
		}
		list = append(list, n)
	}
	return list
}

// wrap adds an iteration to a loop that goes round as often each time, or makes one if n is nil.
func (a *aligner) wrap(n *Node, iteration []*Node, class int) *Node {
	if n == nil {
		n = &Node{Body: iteration, class: class}
		for _, t := range iteration[0].Times {
			n.Times = append(n.Times, Times{t.Program, t.In, t.In, 1, 1})
		}
		return n
	}
	n.Body = a.merge(n.Body, iteration, a.align(n.Body, iteration))
	for i := range n.Times {
		t := &n.Times[i]
		t.Total, t.Min, t.Max = wire.AddSat(t.Total, t.In), t.Min+1, t.Max+1
	}
	return n
}

// iteration returns how many nodes at the beginning of seq are an iteration of a loop: at least
// two, of the same programs. A few may have something before them that the loop does not have. A node that
// comes in most iterations is in all of them.
func (a *aligner) iteration(loop *Node, most uint64, seq []*Node) int {
	k, extra := 0, 0
	is := func(n *Node, k int) bool {
		if k >= len(seq) || n.IsLoop() != seq[k].IsLoop() || !a.samePrograms(seq[0], seq[k]) {
			return false
		}
		weight, _ := a.match(n, seq[k])
		return weight > 0
	}
	for _, n := range loop.Body {
		always := n.iterations() == most
		switch {
		case is(n, k):
			k++
		case always && k > 0 && is(n, k+1) && a.samePrograms(seq[0], seq[k]):
			k, extra = k+2, extra+1
		case always || a.err != nil:
			return 0
		}
	}
	if k < 2 || 4*extra > k {
		return 0
	}
	return k
}

// samePrograms reports whether two nodes are of the same programs.
func (a *aligner) samePrograms(n, m *Node) bool {
	return a.within || slices.EqualFunc(n.Times, m.Times, func(a, b Times) bool { return a.Program == b.Program })
}
