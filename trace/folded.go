package trace

import (
	"sync"
	"sync/atomic"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/sequitur"
)

// Folded returns the calls of r folded as far as they are in the trace: calls whose arguments advance from one to
// the next have one terminal, with the arguments of the first of them, and loops of these are loops. It is for who
// shows loops, or needs functions and times alone; where nothing advances, it is r. [Printer.AppendCall] writes
// what each index of loops adds to an argument that advances, such as heap#0+408+408·i.
func (r *Rank) Folded() *Rank {
	if r.shape == nil || r.shape.index == nil {
		return r
	}
	f := &Rank{number: r.number, trace: r.trace, shape: r.shape, flow: r.recorded, recorded: r.recorded,
		series: r.series, of: r}
	f.values.found.Store(r.stored())
	f.calls = make([]atomic.Pointer[Call], f.Terminals())
	f.firsts = sync.OnceValue(f.findFirsts)
	return f
}

// findFirsts returns the terminals that the first calls of each terminal of a folded rank have in the rank.
func (r *Rank) findFirsts() []sequitur.Symbol {
	firsts := make([]sequitur.Symbol, r.Terminals())
	for position, x := range r.flow.calls.FirstUses() {
		firsts[x] = r.of.Walk(position).Next().Symbol
	}
	return firsts
}

// advance returns the text of an argument of the calls of a terminal that advances, if it has one and r is folded.
func (p *printing) advance(i int) (text string, ok bool) {
	r := p.of
	if r == nil || r.of == nil {
		return "", false
	}
	var scratch layout.Template
	x := r.shape.signature(r.flow.signatureOf(p.terminal), &scratch)
	if r.trace.advancing(x) == 0 {
		return "", false
	}
	a := r.shape.Signature(r.Signature(p.terminal)).Args[i]
	k := 0
	if a.Type.Kind == cst.KindPointer {
		k = 1
	}
	if k >= len(a.Values) || a.Values[k].Form != Stream || r.trace.advancing(x)>>(a.first+k)&1 == 0 {
		return "", false
	}
	of, ranks := printing{Printer: p.Printer}, []int{r.number}
	if k == 1 {
		text, ok = of.advancingPointer(a, ranks, p.args[i].Pointer())
	} else {
		text, ok = of.advancing(a, 0, ranks, false)
	}
	if !ok {
		var err error
		text, err = of.overRanks(a)
		ok = err == nil
	}
	return text, ok
}
