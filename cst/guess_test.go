package cst

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestGuesses interns calls of loops, of more signatures than there are guesses, and at random, with arguments that
// refer to memory among them: terminals and counts are those of a list of the signatures.
func TestGuesses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table Table
		one := table.Declare(function(Type{Kind: KindInt}))
		two := table.Declare(function(Type{Kind: KindPointer}, Type{Kind: KindString}))
		type call struct {
			fn    int
			value int64
			text  string
		}
		var known []call
		var counts []uint64
		for range rapid.IntRange(1, 5).Draw(t, "phases") {
			distinct := rapid.SampledFrom([]int{1, 3, 60, 1500}).Draw(t, "distinct")
			random := rapid.Bool().Draw(t, "random")
			loop := make([]call, distinct)
			for i := range loop {
				loop[i] = call{fn: []int{one, two}[i%2], value: int64(i / 3)}
				if i%4 == 3 {
					loop[i].text = "text"
				}
			}
			for i := range 2*distinct + 40 {
				c := loop[i%distinct]
				if random {
					c = loop[rapid.IntRange(0, distinct-1).Draw(t, "call")]
				}
				var got uint32
				if c.fn == one {
					c.text = ""
					got = table.Intern(one, Int(c.value))
				} else {
					got = table.Intern(two, PointerTo(Pointer{c.value, 8, c.value << 40}), String(c.text))
				}
				at := slices.Index(known, c)
				if at < 0 {
					at, known, counts = len(known), append(known, c), append(counts, 0)
				}
				if counts[at]++; int(got) != at {
					t.Fatalf("call %d is %v, terminal %d, want %d", i, c, got, at)
				}
			}
		}
		for i, want := range counts {
			if got := table.Count(uint32(i)); got != want {
				t.Fatalf("terminal %d has %d calls, want %d", i, got, want)
			}
		}
	})
}
