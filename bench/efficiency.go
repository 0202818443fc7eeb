package bench

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/merge"
)

// whys are the commands that tell why a run took as long as it did.
var whys = []string{"efficiency TRACE", "why TRACE", "waits TRACE"}

// reportEfficiency reports what it takes to find why runs took as long as they did, as whole programs: with
// statistics of times, where iterations of loops are skipped, and with the times of every call as they are
// predicted from these, where every call is executed.
func reportEfficiency(w io.Writer, dir string) error {
	c, err := newCommand()
	if err != nil {
		return err
	}
	defer c.remove()
	traces, err := readTraces(dir)
	if err != nil {
		return err
	}
	heads(w, "trace", "calls", "command", "statistics, ms", "MB", "times of every call, ms", "MB")
	for _, of := range []struct {
		trace    string
		commands []string
	}{{"lu.W.16", append(whys, "report TRACE -o OUT.html")}, {"lu.W.64", whys}, {"cg.S.64", whys}} {
		name := of.trace
		at := slices.IndexFunc(traces, func(t traceText) bool { return t.name == name })
		if at < 0 {
			return fmt.Errorf("%s: %w", name, ErrNoTraces)
		}
		if err := c.writeTimed(traces[at]); err != nil {
			return err
		}
		if err := c.whyRows(w, name, true, of.commands); err != nil {
			return err
		}
	}
	if err := c.writeProgram("stencil", programs.Stencil2D(32, 32, 120_000).Timed()); err != nil {
		return err
	}
	return c.whyRows(w, "stencil", false, whys)
}

// whyRows reports what the commands take on a trace that was written, and whether also on the same with the times of
// every call. Cells are of processor time.
func (c *command) whyRows(w io.Writer, name string, every bool, commands []string) error {
	exact := name + ".exact"
	if every {
		if _, err := run(exec.Command(c.path("reprise"), "predict", c.path(name), "--times", "exact", "-o",
			c.path(exact))); err != nil {
			return fmt.Errorf("reprise predict %s: %w", name, err)
		}
	}
	for _, command := range commands {
		fmt.Fprintf(w, "| %s | %d | `%s` |", name, c.calls, command)
		for _, trace := range []string{name, exact} {
			if trace == exact && !every {
				fmt.Fprint(w, " – | – |")
				continue
			}
			_, processor, resident, err := c.medians(strings.Fields(command), trace)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, " %.0f | %.0f |", processor.Seconds()*1e3, float64(resident)/1e6)
		}
		fmt.Fprintln(w)
	}
	return nil
}

// writeTimed writes a trace with statistics of times that are made up.
func (c *command) writeTimed(t traceText) error {
	run, parts, err := t.record()
	if err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	c.calls = 0
	for rank := range parts {
		parts[rank].Times = programs.Times(rank, parts[rank].Grammar)
		c.calls += parts[rank].Grammar.Len()
	}
	var file bytes.Buffer
	if err := merge.Write(&file, run, parts); err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	return os.WriteFile(c.path(t.name), file.Bytes(), 0o666)
}
