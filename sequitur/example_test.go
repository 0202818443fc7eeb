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
	// 21000 symbols, 3 rules, 12 bytes
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

func ExampleForest() {
	var members []*sequitur.Grammar
	for peer := range sequitur.Symbol(3) { // three kinds of ranks, with peers of their own
		var b sequitur.Builder
		b.AppendLoop([]sequitur.Run{{Symbol: 0, Count: 1}, {Symbol: 1, Count: 4}, {Symbol: 10 + peer, Count: 1}}, 1000)
		b.AppendRun(2, 7)
		members = append(members, b.Finish())
	}
	f := sequitur.NewForest(members)
	number := make(map[sequitur.Symbol]sequitur.Symbol)
	for i, s := range f.FirstUse() {
		number[s] = sequitur.Symbol(i)
	}
	f = f.Rewrite(func(s sequitur.Symbol) sequitur.Symbol { return number[s] })

	piece := f.AppendShared(nil)
	fmt.Println(len(piece), "bytes")
	shared, err := sequitur.ParseShared(piece, sequitur.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range f.Len() {
		g, err := shared.ParseMember(f.AppendMember(nil, i), i)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Print(g)
	}
	// Output:
	// 17 bytes
	// S → (0 1^4 2)^1000 3^7
	// S → (0 1^4 4)^1000 3^7
	// S → (0 1^4 5)^1000 3^7
}

// A clock of a sequence: each symbol takes some time.
func ExampleSum() {
	var b sequitur.Builder
	b.AppendLoop([]sequitur.Run{{Symbol: 1, Count: 2}, {Symbol: 2, Count: 1}}, 1e12)
	times := b.Finish().Measure(func(s sequitur.Symbol) uint64 { return map[sequitur.Symbol]uint64{1: 10, 2: 30}[s] })
	fmt.Println("all", times.Total().Weight)
	fmt.Println("before position 5", times.Before(5).Weight)
	position, _, before := times.Find(1e13)
	fmt.Println("at time 1e13: position", position, "since", before.Weight)
	// Output:
	// all 50000000000000
	// before position 5 70
	// at time 1e13: position 600000000000 since 10000000000000
}
