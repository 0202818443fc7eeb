package grammar_test

import (
	"fmt"

	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/timing/grammar"
)

// A loop whose rounds take the same time is small however often it runs.
func ExampleNew() {
	codec, err := grammar.New(0.01)
	if err != nil {
		fmt.Println(err)
		return
	}
	column := timing.Column[int64]{}
	for range 10_000 {
		column.Values = append(column.Values, 1200, 35, 780)
	}
	blocks := column.Encode(codec)
	fmt.Printf("%s: %d values in %d bytes\n", codec.Name(), len(column.Values), len(blocks[0]))
	if err := column.Decode(codec, blocks); err != nil {
		fmt.Println(err)
	}
	fmt.Println(column.Values[:3])
	// Output:
	// grammar,epsilon=0.01: 30000 values in 12 bytes
	// [1198 35 774]
}
