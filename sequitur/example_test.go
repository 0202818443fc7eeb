package sequitur_test

import (
	"fmt"

	"github.com/reprise-trace/reprise/sequitur"
)

func ExampleBuilder() {
	var b sequitur.Builder
	for range 1000 { // for each step, ten messages and a barrier
		for range 10 {
			b.Append(1)
			b.Append(2)
		}
		b.Append(3)
	}
	g := b.Finish()
	enc, _ := g.MarshalBinary()
	fmt.Print(g)
	fmt.Println(g.Len(), "symbols,", g.Rules(), "rules,", len(enc), "bytes")
	// Output:
	// S → ((1 2)^10 3)^1000
	// 21000 symbols, 3 rules, 12 bytes
}

func ExampleGrammar_From() {
	var b sequitur.Builder
	b.AppendRun(1, 1e12)
	b.AppendRun(2, 3)
	for i, s := range b.Finish().From(1e12 - 1) {
		fmt.Println(i, s)
	}
	// Output:
	// 999999999999 1
	// 1000000000000 2
	// 1000000000001 2
	// 1000000000002 2
}

func ExampleGrammar_Occurrences() {
	var b sequitur.Builder
	for range 1000 {
		b.AppendRun(7, 5)
		b.Append(9)
	}
	for s, n := range b.Finish().Occurrences() {
		fmt.Println(s, n)
	}
	// Output:
	// 7 5000
	// 9 1000
}
