package sums_test

import (
	"fmt"

	"github.com/reprise-trace/reprise/internal/sums"
	"github.com/reprise-trace/reprise/sequitur"
)

// A clock of a sequence: each symbol takes some time.
func ExampleSum() {
	var b sequitur.Builder
	b.AppendLoop([]sequitur.Run{{Symbol: 1, Count: 2}, {Symbol: 2, Count: 1}}, 1e12)
	times := sums.Of(b.Finish()).Measure(func(s sequitur.Symbol) uint64 {
		return map[sequitur.Symbol]uint64{1: 10, 2: 30}[s]
	})
	fmt.Println("all", times.Total().Weight)
	fmt.Println("before position 5", times.Before(5).Weight)
	position, _, before := times.Find(1e13)
	fmt.Println("at time 1e13: position", position, "since", before.Weight)
	// Output:
	// all 50000000000000
	// before position 5 70
	// at time 1e13: position 600000000000 since 10000000000000
}
