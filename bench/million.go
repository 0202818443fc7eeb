package bench

import (
	"fmt"
	"io"
	"strings"

	"github.com/reprise-trace/reprise/internal/test/programs"
)

// millionQuestions are asked of the trace of a million ranks: those that take seconds. What holds something for each
// pair of ranks, as messages does, takes a minute and some gigabytes.
var millionQuestions = strings.Split(strings.TrimSpace(`
info TRACE
why TRACE
profile TRACE
grammar TRACE
waits TRACE`), "\n")

// reportMillion reports what the commands take on traces of 2²⁰ ranks with some 10⁹ calls each.
func reportMillion(w io.Writer) error {
	c, err := newCommand()
	if err != nil {
		return err
	}
	defer c.remove()
	c.rounds = 3
	const iterations = 72_000_000
	p := programs.Stencil3D(128, 128, 64, iterations)
	for _, made := range []struct {
		name    string
		program programs.Program
	}{{"untimed", p}, {"timed", p.Timed()}} {
		if err := c.writeProgram(made.name, made.program); err != nil {
			return err
		}
	}
	calls := float64(c.calls)
	fmt.Fprintf(w, "| command | no times: s | MB | statistics: s | MB |\n|---|---|---|---|---|\n")
	for _, q := range millionQuestions {
		fmt.Fprintf(w, "| `%s` ", q)
		for _, name := range []string{"untimed", "timed"} {
			if verb, _, _ := strings.Cut(q, " "); name == "untimed" && verb == "waits" {
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
