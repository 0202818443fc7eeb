package cst

import (
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
)

// Merge returns a table with the functions and signatures of a and b, each once,
// and the sums of their counts. Terminals and functions are numbered in a's
// order, followed by what only b has in b's order. Terminal i of a is terminal
// fromA[i] of merged, and of b, fromB[i]; fromA is the identity, so that callers
// can treat both alike. Merge changes neither a nor b.
func Merge(a, b *Table) (merged *Table, fromA, fromB []uint32) {
	merged = &Table{
		functions: slices.Clip(a.functions),
		arena:     slices.Clone(a.arena),
		entries:   slices.Clone(a.entries),
		slots:     slices.Clone(a.slots),
	}
	fromA = make([]uint32, len(a.entries))
	for i := range fromA {
		fromA[i] = uint32(i)
	}
	functions := merged.declareAll(b.functions)
	fromB = make([]uint32, len(b.entries))
	var signature []byte
	for i, e := range b.entries {
		// The function number is all that differs between the two tables.
		encoded := b.Encoded(uint32(i))
		d := wire.NewDecoder(packageName, encoded)
		fn := d.Uvarint("function")
		signature = wire.AppendUvarint(signature[:0], uint64(functions[fn]))
		signature = append(signature, encoded[d.Offset():]...)
		fromB[i], _ = merged.intern(signature, e.count)
	}
	return merged, fromA, fromB
}

// declareAll declares functions and returns their numbers.
func (t *Table) declareAll(functions []Function) []int {
	numbers := make([]int, len(functions))
	for i, f := range functions {
		if i < len(t.functions) && f.Equal(t.functions[i]) {
			numbers[i] = i // saves the index where all ranks have one list
			continue
		}
		numbers[i] = t.Declare(f)
	}
	return numbers
}
