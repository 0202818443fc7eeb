package report

import (
	"fmt"

	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/sequitur"
)

// maxSearched is how many ranks are looked at for the first call of some kind.
const maxSearched = 16

// first returns where the first call stands whose operation is one that is looked for, as
// cell.Find has it: of the first of some ranks that has any; empty if none has.
func (p *page) first(is func(*semantics.Operation) bool) string {
	ranks := p.model.Trace().RankSet()
	for i := range min(ranks.Len(), maxSearched) {
		if find := p.firstOf(ranks.At(i), is); find != "" {
			return find
		}
	}
	return ""
}

// firstOf is first of one rank.
func (p *page) firstOf(rank int, is func(*semantics.Operation) bool) string {
	r := p.searched[rank]
	if r == nil {
		var err error
		if r, err = p.model.Rank(rank); err != nil {
			return ""
		}
		if len(p.searched) < maxSearched {
			p.searched[rank] = r
		}
	}
	found := make(map[sequitur.Symbol]bool)
	for o := range r.All() {
		if is(o.Operation) {
			found[o.Terminal] = true
		}
	}
	if len(found) == 0 {
		return ""
	}
	for position, terminal := range r.Find(0, func(t sequitur.Symbol) bool { return found[t] }) {
		if o := r.At(position, terminal); o != nil && is(o) {
			return fmt.Sprintf("call=%d,%d", rank, position)
		}
		break // the calls of the terminal do not all mean the same
	}
	return ""
}
