package bench

import (
	"fmt"
	"io"

	"github.com/reprise-trace/reprise/internal/streams"
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

// appendTask appends in to a Builder that begins empty.
func appendTask(name string, in []uint32) task {
	return task{name, len(in), func() {
		var b sequitur.Builder
		for _, s := range in {
			b.Append(s)
		}
	}}
}

// Append reports the cost of appending a million symbols of each stream to a
// Builder, and the size of the grammar.
func Append(w io.Writer) error {
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
		tasks = append(tasks, appendTask(st.Name, in))
		sizes = append(sizes, fmt.Sprintf("%d | %d | %s | %d", g.Rules(), g.Symbols(), orDash(pilgrim[st.Name]), len(enc)))
	}
	fmt.Fprintf(w, "| stream | ns/event | range | bound | allocs/event | rules | symbols | Pilgrim's symbols | encoded B |\n")
	fmt.Fprintf(w, "|---|---|---|---|---|---|---|---|---|\n")
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

// AppendLength reports the cost of appending over the length of the input.
func AppendLength(w io.Writer) error {
	lengths := []int{1e4, 1e5, 1e6, 1e7}
	var tasks []task
	for _, st := range streams.All {
		for _, n := range lengths {
			tasks = append(tasks, appendTask(st.Name, st.Gen(n)))
		}
	}
	fmt.Fprintf(w, "| stream | 10⁴ events | 10⁵ | 10⁶ | 10⁷ |\n|---|---|---|---|---|\n")
	rows(w, measure(tasks), len(lengths))
	return nil
}

// AppendBody reports the cost of appending over the length of a loop's body.
func AppendBody(w io.Writer) error {
	bodies := []int{3, 10, 100, 1_000, 10_000, 100_000}
	var tasks []task
	for _, miss := range []struct {
		name  string
		place func(body int) int
	}{
		{"never", nil},
		{"at the start", func(int) int { return 0 }},
		{"in the middle", func(body int) int { return body / 2 }},
		{"at the end", func(body int) int { return body - 1 }},
	} {
		for _, body := range bodies {
			n := max(1_000_000, 20*body)
			in := streams.Loop(n, body)
			if miss.place != nil {
				in = streams.NearMiss(n, body, miss.place(body))
			}
			tasks = append(tasks, appendTask(miss.name, in))
		}
	}
	fmt.Fprintf(w, "| another symbol each round | body of 3 | 10 | 100 | 1,000 | 10,000 | 100,000 |\n|---|---|---|---|---|---|---|\n")
	rows(w, measure(tasks), len(bodies))
	return nil
}

// rows writes results, so many to a row.
func rows(w io.Writer, results []result, columns int) {
	for i, r := range results {
		if i%columns == 0 {
			fmt.Fprintf(w, "| %s ", r.name)
		}
		fmt.Fprintf(w, "| %s ", nanoseconds(r.median))
		if i%columns == columns-1 {
			fmt.Fprintln(w, "|")
		}
	}
}
