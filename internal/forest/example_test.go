package forest_test

import (
	"fmt"

	"github.com/reprise-trace/reprise/internal/forest"
	"github.com/reprise-trace/reprise/sequitur"
)

func ExampleForest() {
	var members []*sequitur.Grammar
	for peer := range sequitur.Symbol(3) { // three kinds of ranks, with peers of their own
		var b sequitur.Builder
		b.AppendLoop([]sequitur.Run{{Symbol: 0, Count: 1}, {Symbol: 1, Count: 4}, {Symbol: 10 + peer, Count: 1}}, 1000)
		b.AppendRun(2, 7)
		members = append(members, b.Finish())
	}
	f := forest.New(members)
	number := make(map[sequitur.Symbol]sequitur.Symbol)
	for i, s := range f.FirstUse() {
		number[s] = sequitur.Symbol(i)
	}
	f = f.Rewrite(func(s sequitur.Symbol) sequitur.Symbol { return number[s] })

	piece := f.AppendShared(nil)
	fmt.Println(len(piece), "bytes")
	shared, err := forest.Parse(piece, forest.Options{})
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
