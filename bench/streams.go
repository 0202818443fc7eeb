package bench

import (
	"fmt"
	"io"

	"github.com/reprise-trace/reprise/internal/test/streams"
	"github.com/reprise-trace/reprise/sequitur"
)

// pilgrim is the size of the grammars that Pilgrim's Sequitur makes of a million
// symbols of some streams.
var pilgrim = map[string]int{
	"Constant": 1, "NestedLoop": 6, "Random16": 370_444, "Stencil": 19, "Fibonacci": 63, "ThueMorse": 112,
}

// bound is what appending a symbol of a stream may take, in nanoseconds.
var bound = map[string]int{
	"Constant": 5, "NestedLoop": 10, "Loop10": 15, "Loop100": 15, "Loop1000": 15, "Loop10000": 15,
	"Random16": 200, "Random100000": 250,
	"NearMissStart": 250, "NearMissMiddle": 250, "NearMissEnd": 250, "RandomBranch": 250,
}

func build(in []uint32) *sequitur.Grammar {
	var b sequitur.Builder
	for _, s := range in {
		b.Append(s)
	}
	return b.Finish()
}

// reportStreams reports the cost of appending a million symbols of each stream to a
// Builder, and the size of the grammar.
func reportStreams(w io.Writer) error {
	var (
		tasks []task
		sizes []string
	)
	for _, st := range streams.All {
		in := st.Gen(1_000_000)
		g := build(in)
		enc, err := g.MarshalBinary()
		if err != nil {
			return err
		}
		tasks = append(tasks, task{st.Name, len(in), func() { build(in) }})
		sizes = append(sizes, fmt.Sprintf("%d | %d | %s | %d", g.Rules(), g.Symbols(),
			orDash(pilgrim[st.Name]), len(enc)))
	}
	heads(w, "stream", "ns/event", "range", "bound", "allocs/event", "rules", "symbols", "Pilgrim's symbols",
		"encoded B")
	for i, r := range measure(tasks) {
		fmt.Fprintf(w, "| %s | %s | %s | %.6f | %s |\n", r.name, r.cells(), orDash(bound[r.name]), r.allocs, sizes[i])
	}
	return nil
}

func orDash(n int) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprint(n)
}
