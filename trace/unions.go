package trace

import (
	"encoding/binary"
	"sync"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/sequitur"
)

// A union says which signatures of a shape a rank has as one.
type union struct {
	firsts []uint32 // for each signature, the first that is the same; nil if all differ
	flow   *flow    // that follows from it, of a shape without streams
}

// Unions are those of ranks of a shape that were read. Most programs that read a trace read each rank several
// times, and many ranks have the same union.
type unions struct {
	mu     sync.Mutex
	byRank map[int]*union
	known  map[string]*union // by firsts
}

// union returns the union of a rank, whose stored values these are. It is the same whoever asks.
func (s *Shape) union(rank int, stored storedValues) *union {
	if len(s.alike()) == 0 {
		return &union{flow: s.template().flow}
	}
	if u := s.unions.of(rank); u != nil {
		return u
	}
	return s.keepUnion(rank, s.firsts(rank, stored))
}

// of returns the union of a rank, if it is kept.
func (x *unions) of(rank int) *union {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.byRank[rank]
}

// keepUnion returns the union of a rank, and keeps it if there is room.
func (s *Shape) keepUnion(rank int, firsts []uint32) *union {
	const perRank = 2 * symbolSize
	x := &s.unions
	var key []byte
	for _, first := range firsts {
		key = binary.AppendUvarint(key, uint64(first))
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.byRank == nil {
		x.byRank, x.known = make(map[int]*union), make(map[string]*union)
	}
	u := x.known[string(key)]
	if u == nil {
		u = s.newUnion(firsts)
		if s.hasRoom(symbolSize * (2*u.flow.calls.grammar().Symbols() + 2*len(firsts))) {
			x.known[string(key)] = u
		}
	}
	if x.known[string(key)] == u && s.hasRoom(perRank) {
		x.byRank[rank] = u
	}
	return u
}

// newUnion returns the union that firsts are.
func (s *Shape) newUnion(firsts []uint32) *union {
	all := s.template().flow
	if firsts == nil || s.template().varying {
		return &union{firsts, all}
	}
	var f flow
	terminals := make([]sequitur.Symbol, len(firsts))
	for i, first := range firsts {
		if int(first) == i {
			terminals[i] = sequitur.Symbol(len(f.of))
			f.of = append(f.of, first)
			continue
		}
		terminals[i] = terminals[first]
		if s.severalForms(int(first), i) {
			if f.several == nil {
				f.several = make(map[uint32]bool)
			}
			f.several[terminals[i]] = true
		}
	}
	f.calls = grammarCalls{all.calls.grammar().Rewrite(func(x sequitur.Symbol) sequitur.Symbol { return terminals[x] })}
	return &union{firsts, &f}
}

// severalForms reports whether the i-th and the k-th signature have other expressions.
func (s *Shape) severalForms(i, k int) bool {
	var scratch [2]layout.Template
	x, y := s.signature(i, &scratch[0]), s.signature(k, &scratch[1])
	for param := range s.trace.Functions()[x.Function].Params {
		if s.trace.expression(x, param) != s.trace.expression(y, param) {
			return true
		}
	}
	return false
}
