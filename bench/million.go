package bench

import (
	"fmt"
	"io"
	"strings"

	"github.com/reprise-trace/reprise/internal/test/programs"
)

// millionQuestions are asked of the trace of a million ranks.
var millionQuestions = strings.Split(strings.TrimSpace(`
info TRACE
why TRACE
profile TRACE
grammar TRACE
messages TRACE --memory 6GiB
match TRACE --memory 6GiB
diff TRACE OTHER --memory 2GiB
waits TRACE
efficiency TRACE --memory 6GiB
report TRACE -o OUT.html --memory 6GiB`), "\n")

// reportMillion reports what the commands take on traces of 2²⁰ ranks with some 10⁹ calls each.
func reportMillion(w io.Writer) error {
	c, err := newCommand()
	if err != nil {
		return err
	}
	defer c.remove()
	c.rounds = 3
	const iterations = 72_000_000
	p, other := programs.Stencil3D(128, 128, 64, iterations), programs.Stencil3D(128, 128, 64, iterations+1)
	for _, made := range []struct {
		name    string
		program programs.Program
	}{{"untimed", p}, {"untimed.other", other}, {"timed", p.Timed()}, {"timed.other", other.Timed()}} {
		if err := c.writeProgram(made.name, made.program); err != nil {
			return err
		}
	}
	calls := float64(c.calls)
	fmt.Fprintf(w, "| command | no times: s | MB | statistics: s | MB |\n|---|---|---|---|---|\n")
	for _, q := range millionQuestions {
		fmt.Fprintf(w, "| `%s` ", q)
		for _, name := range []string{"untimed", "timed"} {
			if verb, _, _ := strings.Cut(q, " "); name == "untimed" && (verb == "waits" || verb == "efficiency") {
				fmt.Fprint(w, "| – | – ")
				continue
			}
			_, took, resident, err := c.medians(strings.Fields(q), name)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "| %.2f | %.0f ", took.Seconds(), float64(resident)/1e6)
		}
		fmt.Fprintln(w, "|")
	}
	for _, name := range []string{"untimed", "timed"} {
		size, err := sizeOf(c.path(name))
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "\n%s: %d bytes, %.3g calls\n", name, size, calls)
	}
	return nil
}
