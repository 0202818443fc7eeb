package sums

import (
	"iter"
	"runtime"
	"slices"
	"sync"
	"weak"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/sequitur"
)

// An Index has the terms of a grammar where they are found by number, so that there can be sums of them.
// Making it takes the time of reading the grammar, and 24 bytes for each symbol on a right-hand side. An
// Index is immutable, and its methods may be called from several goroutines at once.
type Index struct {
	terms []term
	ends  []uint32 // ends[r] is where the right-hand side of rule r ends in terms, and the next begins

	// Where in terms terminals and rules are, which is found out when it is asked for.
	place     sync.Once
	terminals map[sequitur.Symbol][]uint32
	rules     [][]uint32
}

// A term is a symbol of a right-hand side.
type term struct {
	count  uint64
	end    uint64          // symbols that the right-hand side generates up to the end of this one
	rule   int32           // −1 for a terminal
	symbol sequitur.Symbol // if it is one
}

// Indexes are those that somebody holds, of grammars: they take more memory than these, and many sums are of
// one grammar.
var indexes = struct {
	mu sync.Mutex
	of map[weak.Pointer[sequitur.Grammar]]weak.Pointer[Index]
}{of: make(map[weak.Pointer[sequitur.Grammar]]weak.Pointer[Index])}

// Of returns the Index of a grammar: the same as long as anybody holds it.
func Of(g *sequitur.Grammar) *Index {
	need.That(g != nil, "sums: no grammar")
	key := weak.Make(g)
	if x := held(key, nil); x != nil {
		return x
	}
	return held(key, newIndex(g))
}

// held returns the Index of a grammar that is held, or else makes x that, unless it is nil.
func held(key weak.Pointer[sequitur.Grammar], x *Index) *Index {
	indexes.mu.Lock()
	defer indexes.mu.Unlock()
	if other := indexes.of[key].Value(); other != nil || x == nil {
		return other
	}
	indexes.of[key] = weak.Make(x)
	runtime.AddCleanup(x, forget, key)
	return x
}

// forget removes the entry of a grammar, unless there is another Index of it.
func forget(key weak.Pointer[sequitur.Grammar]) {
	indexes.mu.Lock()
	defer indexes.mu.Unlock()
	if indexes.of[key].Value() == nil {
		delete(indexes.of, key)
	}
}

func newIndex(g *sequitur.Grammar) *Index {
	x := &Index{terms: make([]term, 0, g.Symbols()), ends: make([]uint32, 0, g.Rules())}
	for r := range g.Rules() {
		end := uint64(0)
		for t := range g.Body(r) {
			next := term{count: t.Count, rule: int32(t.Rule), symbol: t.Symbol}
			end += t.Count * x.length(&next)
			next.end = end
			x.terms = append(x.terms, next)
		}
		x.ends = append(x.ends, uint32(len(x.terms)))
	}
	return x
}

// length returns the number of symbols that a repetition of t generates.
func (x *Index) length(t *term) uint64 {
	if t.rule < 0 {
		return 1
	}
	return x.terms[x.ends[t.rule]-1].end
}

// len returns the length of the sequence.
func (x *Index) len() uint64 {
	if len(x.terms) == 0 {
		return 0
	}
	return x.terms[len(x.terms)-1].end
}

// findPlaces sets x.terminals and x.rules.
func (x *Index) findPlaces() {
	x.terminals, x.rules = make(map[sequitur.Symbol][]uint32), make([][]uint32, len(x.ends))
	for at := range x.terms {
		if t := &x.terms[at]; t.rule >= 0 {
			x.rules[t.rule] = append(x.rules[t.rule], uint32(at))
		} else {
			x.terminals[t.symbol] = append(x.terminals[t.symbol], uint32(at))
		}
	}
}

// above returns the places of some terminals, and of the rules that have any, in ascending
// order: a rule is used after what it consists of.
func (x *Index) above(terminals iter.Seq[sequitur.Symbol]) []uint32 {
	x.place.Do(x.findPlaces)
	var list []uint32
	for s := range terminals {
		list = append(list, x.terminals[s]...)
	}
	seen := make(map[uint32]bool)
	for i := 0; i < len(list); i++ {
		if r := x.ruleAt(list[i]); !seen[r] {
			seen[r] = true
			list = append(list, x.rules[r]...)
		}
	}
	slices.Sort(list)
	return list
}

// ruleAt returns the rule that a term stands in.
func (x *Index) ruleAt(at uint32) uint32 {
	r, _ := slices.BinarySearch(x.ends, at+1)
	return uint32(r)
}
