package sequitur_test

import (
	"fmt"
	"strings"

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
	// 21000 symbols, 3 rules, 11 bytes
}

func ExampleBuilder_AppendSeq() {
	words := strings.FieldsSeq("read write write read write write read write write")
	number := map[string]sequitur.Symbol{}
	var b sequitur.Builder
	b.AppendSeq(func(yield func(sequitur.Symbol) bool) {
		for w := range words {
			if _, ok := number[w]; !ok {
				number[w] = sequitur.Symbol(len(number))
			}
			if !yield(number[w]) {
				return
			}
		}
	})
	fmt.Print(b.Finish())
	// Output: S → (0 1^2)^3
}

func ExampleGrammar_UnmarshalBinary() {
	var b sequitur.Builder
	b.AppendRun(7, 1e12)
	data, _ := b.Finish().MarshalBinary()

	var g sequitur.Grammar
	if err := g.UnmarshalBinary(data); err != nil {
		panic(err)
	}
	fmt.Println(len(data), "bytes for", g.Len(), "symbols")
	fmt.Println(g.UnmarshalBinary([]byte("not a grammar")))
	// Output:
	// 9 bytes for 1000000000000 symbols
	// sequitur: rules at offset 0: corrupt input: 110 elements in 12 bytes
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

// A grammar is what its rules are.
func ExampleFromRules() {
	g, err := sequitur.FromRules([][]sequitur.Term{
		{{Symbol: 1, Rule: -1, Count: 1}, {Symbol: 2, Rule: -1, Count: 4}},
		{{Rule: 0, Count: 1000}, {Symbol: 3, Rule: -1, Count: 1}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(g)
	fmt.Println(g.Len(), "symbols, the last but one is", g.At(g.Len()-2))
	// Output:
	// S → (1 2^4)^1000 3
	// 5001 symbols, the last but one is 2
}
