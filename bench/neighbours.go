package bench

import (
	_ "embed" // for the programs
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/reprise-trace/reprise/mpi/collect"
)

//go:embed recording/halo26.c
var haloSource []byte

//go:embed recording/polling.c
var pollingSource []byte

// neighbours reports the size of traces of programs that exchange data with neighbours: those of a grid in three
// dimensions, and those that nobody knows before they call.
func (m *implementation) neighbours(w io.Writer, directory string) error {
	fmt.Fprintf(w, "\nhalo26.c exchanges halos with up to 26 neighbours, and polling.c polls for whoever contacts it: the number of calls differs from run to run. No times and no call sites. The last columns are of the same run: the trace without the polls that find nothing, and what their numbers take by a plain adaptive model, given the calls around them.\n\n")
	heads(w, "program", "ranks", "calls", "signatures", "trace, bytes", "with --polls drop",
		"numbers of polls, plain model")
	for _, p := range []struct {
		name   string
		source []byte
		ranks  int
		args   []string
	}{
		{"halo26", haloSource, 27, []string{"3", "50"}},
		{"halo26", haloSource, 64, []string{"4", "50"}},
		{"halo26", haloSource, 125, []string{"5", "50"}},
		{"polling", pollingSource, 8, []string{"900"}},
	} {
		program, err := m.compile(directory, p.name, p.source)
		if err != nil {
			return err
		}
		spool, err := os.MkdirTemp(directory, "spool-")
		if err != nil {
			return err
		}
		if _, err := m.withoutSites().run(p.ranks, spool, directory, program, p.args...); err != nil {
			return err
		}
		whole, s, err := collectTrace(spool, collect.Options{Untimed: true, Keep: true})
		if err != nil {
			return err
		}
		dropped, _, err := collectTrace(spool, collect.Options{Untimed: true, DropPolls: true})
		if err != nil {
			return err
		}
		counts, err := countsOfPolls(whole.trace)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "| %s %s | %d | %d | %d | %d | %d | %.0f |\n", p.name, p.args[0], p.ranks, s.Calls,
			whole.trace.Signatures(), whole.size, dropped.size, counts)
	}
	return nil
}

// compile compiles a program and returns its path.
func (m *implementation) compile(directory, name string, source []byte) (string, error) {
	program := filepath.Join(directory, name+"-"+m.name)
	if err := os.WriteFile(program+".c", source, 0o600); err != nil {
		return "", err
	}
	if output, err := exec.Command(m.mpicc, "-O1", "-o", program, program+".c").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", m.mpicc, err, output)
	}
	return program, nil
}
