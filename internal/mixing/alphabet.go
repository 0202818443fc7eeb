package mixing

import (
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/sequitur"
)

// An Alphabet is what is known of symbols besides that they differ, and helps to predict
// them. Both who writes and who reads a sequence must know it.
type Alphabet struct {
	// Class has a number for each symbol, those of symbols that are alike but for what
	// follows from where they stand, such as the number of the request that a call gets. The
	// classes are numbered from 0 on.
	Class []uint32

	// Variant tells the symbols of a class apart, all of them: equal variants of different
	// classes have something in common. There are as many at most as there are symbols.
	Variant []uint32

	// Group has a number for each class, such as that of the function that is called. Classes
	// of a group should be numbered one after the other.
	Group []uint32

	// Streams has for each class the streams of which each occurrence of its symbols takes a
	// value, in ascending order. It is nil if there are none.
	Streams [][]int

	// Values has the values of each stream, in ascending order.
	Values [][]int64
}

// Plain returns the Alphabet of n symbols of which nothing is known.
func Plain(n int) Alphabet {
	if n < 0 {
		panic(fmt.Sprintf("mixing: an alphabet of %d symbols", n))
	}
	a := Alphabet{Class: make([]uint32, n), Variant: make([]uint32, n), Group: make([]uint32, n)}
	for i := range a.Class {
		a.Class[i] = uint32(i)
	}
	return a
}

// members returns the variants of each class, in ascending order, and the symbols.
func (a *Alphabet) members() (variants [][]uint32, symbols [][]sequitur.Symbol) {
	variants, symbols = make([][]uint32, len(a.Group)), make([][]sequitur.Symbol, len(a.Group))
	order := make([]sequitur.Symbol, len(a.Class))
	for i := range order {
		order[i] = sequitur.Symbol(i)
	}
	slices.SortStableFunc(order, func(x, y sequitur.Symbol) int { return int(a.Variant[x]) - int(a.Variant[y]) })
	for _, s := range order {
		c := a.Class[s]
		variants[c] = append(variants[c], a.Variant[s])
		symbols[c] = append(symbols[c], s)
	}
	return variants, symbols
}
