// Package memory bounds what is held of the ranks of a trace: a few bytes of a file can name a billion of
// them, and who holds something for each asks first whether the trace may take as much.
package memory

import (
	"fmt"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/trace"
)

// Check returns a [*format.MemoryError] if n things that take size bytes each are more than t may take: see
// [trace.Options]. The error names the file of t.
func Check(t *trace.Trace, what string, n, size uint64) error {
	err := layout.CheckMemory(what, n, size, t.Memory())
	if err != nil && t.Name() != "" {
		return fmt.Errorf("%s: %w", t.Name(), err)
	}
	return err
}

// A Budget counts what is held of many ranks at a time, for who goes through all of them at once: of each, a
// file may have a few bits.
type Budget struct {
	trace *trace.Trace
	ranks uint64 // of which something is to be held
	held  uint64 // bytes
	taken uint64 // ranks
}

// Of returns the budget of so many ranks of t, or a [*format.MemoryError] if they are more than t has memory
// for.
func Of(t *trace.Trace, ranks int) (*Budget, error) {
	return &Budget{trace: t, ranks: uint64(ranks)}, Check(t, "ranks", uint64(ranks), heldRank)
}

// Take counts another rank, all of whose signatures are read with that, and so many bytes besides.
func (b *Budget) Take(r *trace.Rank, besides uint64) error {
	b.taken++
	if b.held += held(r) + besides; b.held <= b.trace.Memory() {
		return nil
	}
	return Check(b.trace, "ranks", max(b.ranks, b.taken), b.held/b.taken+1)
}

// What is held of a rank, a signature, a value and a symbol of a grammar, in bytes: with what the garbage
// collector leaves of it.
const (
	heldRank      = 2 << 10
	heldSignature = 128
	heldValue     = 48
	heldSymbol    = 16
)

// held returns about how many bytes a rank takes, with all of its signatures.
func held(r *trace.Rank) uint64 {
	n := uint64(heldRank)
	for terminal := range uint32(r.Terminals()) {
		n += heldSignature
		for _, v := range r.Call(terminal).Args {
			n += heldOf(v)
		}
	}
	if r.Listed() {
		return n + heldSymbol*r.Len()
	}
	return n + heldSymbol*uint64(r.Grammar().Symbols())
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
