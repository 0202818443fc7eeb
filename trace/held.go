package trace

import (
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/need"
)

// A Budget counts what is held of many ranks at a time, for who goes through all of them at once: of each, a file may have a
// few bits.
type Budget struct {
	trace *Trace
	ranks uint64 // of which something is to be held
	held  uint64 // bytes
	taken uint64 // ranks
}

// Budget returns one of so many ranks, or a [*MemoryError] if they are more than the trace has memory for: see [OpenFile].
func (t *Trace) Budget(ranks int) (*Budget, error) {
	return &Budget{trace: t, ranks: uint64(ranks)}, t.CheckMemory("ranks", uint64(ranks), heldRank)
}

// Take counts another rank, all of whose signatures are read with that, and so many bytes besides.
func (b *Budget) Take(r *Rank, besides uint64) error {
	need.That(r != nil, "trace: no rank")
	b.taken++
	if b.held += r.held() + besides; b.held <= b.trace.Memory() {
		return nil
	}
	return b.trace.CheckMemory("ranks", max(b.ranks, b.taken), b.held/b.taken+1)
}

// What is held of a rank, a signature, a value and a symbol of a grammar, in bytes: with what the garbage collector leaves of it.
const (
	heldRank      = 2 << 10
	heldSignature = 128
	heldValue     = 48
	heldSymbol    = 16
)

// held returns about how many bytes a rank takes, with all of its signatures.
func (r *Rank) held() uint64 {
	n := uint64(heldRank)
	for terminal := range uint32(r.Terminals()) {
		n += heldSignature
		for _, v := range r.Call(terminal).Args {
			n += heldOf(v)
		}
	}
	if r.list != nil {
		return n + heldSymbol*uint64(len(r.list))
	}
	if r.grammar == nil { // without calls
		return n
	}
	return n + heldSymbol*uint64(r.grammar.Symbols())
}

func heldOf(v cst.Value) uint64 {
	switch v.Kind() {
	case cst.KindArray:
		n := uint64(heldValue)
		for i := range v.Len() {
			n += heldOf(v.Index(i))
		}
		return n
	case cst.KindString, cst.KindBytes:
		return heldValue + uint64(len(v.Text()))
	}
	return heldValue
}
