package merge

import (
	"cmp"
	"strings"

	"github.com/reprise-trace/reprise/internal/layout"
)

// A Peer is a rank that an argument of a call names.
type Peer struct {
	Rank     int64 // that is named, which may be none of the run
	Caller   int
	Function string
}

// HighestPeer returns the highest rank that calls name, with the lowest caller
// that names it, and whether they name any: if it is not below the number of ranks
// of the run, ranks are missing. It takes time in proportion to the memory of a.
func (a *Accumulator) HighestPeer() (highest Peer, ok bool) {
	functions := a.functions.Functions()
	var r columnReader
	for _, s := range a.shapes {
		k := 0
		for _, f := range s.forms {
			for _, slot := range f.layout(functions) {
				if slot&^layout.Element == layout.Rank {
					peer := r.column(s, k).highest(s.ranks)
					peer.Function = functions[f.function].Name
					if !ok || peer.compare(highest) > 0 {
						highest, ok = peer, true
					}
				}
				k++
			}
		}
	}
	return highest, ok
}

// highest returns the highest value of c, which has values for these ranks, and
// the lowest rank that has it.
func (c column) highest(ranks spans) Peer {
	var highest Peer
	for i, r := range c {
		end := ranks.len()
		if i+1 < len(c) {
			end = int(c[i+1].position)
		}
		peer := Peer{Rank: r.first, Caller: int(r.rank)}
		if r.step > 0 {
			peer.Caller = ranks.at(end - 1)
			peer.Rank = r.at(peer.Caller)
		}
		if i == 0 || peer.compare(highest) > 0 {
			highest = peer
		}
	}
	return highest
}

// compare orders peers by rank; of equal ones, a lower caller counts for more.
func (p Peer) compare(q Peer) int {
	return cmp.Or(cmp.Compare(p.Rank, q.Rank), cmp.Compare(q.Caller, p.Caller), strings.Compare(q.Function, p.Function))
}
