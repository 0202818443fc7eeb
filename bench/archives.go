package bench

import (
	"bytes"
	_ "embed" // for the input of LAMMPS
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

// melt is what LAMMPS reads: its benchmark of a melting crystal, smaller.
//
//go:embed recording/melt.lmp
var melt []byte

// An archived is a program of which EZTrace makes an archive of OTF2.
type archived struct {
	name    string
	ranks   int
	command func(m *implementation, directory string) ([]string, error)
}

// archives are the programs; hpcc and LAMMPS have to be installed.
var archives = []archived{
	{"stencil, 10,000 steps", 4, func(m *implementation, directory string) ([]string, error) {
		source, err := os.ReadFile(filepath.Join("examples", "stencil", "stencil.c"))
		if err != nil {
			return nil, err
		}
		program, err := m.compile(directory, "stencil", source)
		return []string{program, "10000"}, err
	}},
	{"hpcc", 4, func(_ *implementation, directory string) ([]string, error) {
		program, err := exec.LookPath("hpcc")
		if err == nil {
			err = os.WriteFile(filepath.Join(directory, "hpccinf.txt"), hpccInput(), 0o600)
		}
		return []string{program}, err
	}},
	{"LAMMPS, melt", 4, func(_ *implementation, directory string) ([]string, error) {
		program, err := exec.LookPath("lmp")
		input := filepath.Join(directory, "melt.lmp")
		if err == nil {
			err = os.WriteFile(input, melt, 0o600)
		}
		return []string{program, "-in", input}, err
	}},
	{"halo26, 27 ranks", 27, func(m *implementation, directory string) ([]string, error) {
		program, err := m.compile(directory, "halo26", haloSource)
		return []string{program, "3", "50"}, err
	}},
	{"advancing, ring", 4, func(m *implementation, directory string) ([]string, error) {
		program, err := m.compile(directory, "advancing", advancingSource)
		return []string{program, "ring", "20", "500"}, err
	}},
	{"polling 30", 8, func(m *implementation, directory string) ([]string, error) {
		program, err := m.compile(directory, "polling", pollingSource)
		return []string{program, "30"}, err
	}},
}

var (
	errNoEZTrace = errors.New("EZTrace or zstd is not installed")
	eventsOf     = regexp.MustCompile(`"events": ?(\d+)`)
)

// reportArchives reports the size of archives of OTF2 that EZTrace makes, and of traces that are made of them, and how
// fast these are made and written again.
func reportArchives(w io.Writer) error {
	m := findMPI("openmpi")
	eztrace, err := exec.LookPath("eztrace")
	if _, err2 := exec.LookPath("zstd"); m == nil || err != nil || err2 != nil {
		return errNoEZTrace
	}
	c, err := newCommand()
	if err != nil {
		return err
	}
	defer c.remove()
	heads(w, "program", "ranks", "events", "OTF2, bytes", "its tar by zstd -19", "exact times", "within 10 %",
		"statistics", "import, million events/s", "export, million events/s")
	for _, p := range archives {
		directory, err := os.MkdirTemp(c.directory, "archive-")
		if err != nil {
			return err
		}
		command, err := p.command(m, directory)
		if errors.Is(err, exec.ErrNotFound) {
			fmt.Fprintf(w, "| %s | not installed |\n", p.name)
			continue
		}
		if err != nil {
			return err
		}
		arguments := append([]string{"-t", "openmpi", "-o", "out"}, command...)
		if _, err := m.run(p.ranks, "", directory, eztrace, arguments...); err != nil {
			return err
		}
		if err := c.archive(w, p, directory); err != nil {
			return err
		}
	}
	return nil
}

// archive reports the archive below a directory.
func (c *command) archive(w io.Writer, p archived, directory string) error {
	found, err := filepath.Glob(filepath.Join(directory, "out", "*", "eztrace_log.otf2"))
	if err != nil || len(found) != 1 {
		return fmt.Errorf("%s: EZTrace made %d archives", p.name, len(found))
	}
	of := filepath.Dir(found[0])
	size, err := sizeOf(of)
	if err != nil {
		return err
	}
	packed, err := exec.Command("sh", "-c", `tar c -C "$1" . | zstd -19 -q | wc -c`, "sh", of).Output()
	if err != nil {
		return err
	}
	var sizes [3]int64
	trace := filepath.Join(directory, "trace.")
	events, rate := 0, 0.0
	for i, times := range []string{"all", "statistics", "exact"} { // the last one is exported
		said, took, err := c.time("compress", of, "--times", times, "-o", trace+times, "--json")
		if err != nil {
			return err
		}
		if match := eventsOf.FindSubmatch(said); match != nil {
			events, _ = strconv.Atoi(string(match[1]))
		}
		rate = float64(events) / took / 1e6
		if sizes[i], err = sizeOf(trace + times); err != nil {
			return err
		}
	}
	again := filepath.Join(directory, "again.otf2")
	_, took, err := c.time("export", trace+"exact", "-o", again)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "| %s | %d | %d | %d | %s | %d | %d | %d | %.1f | %.1f |\n", p.name, p.ranks, events, size,
		bytes.TrimSpace(packed), sizes[2], sizes[0], sizes[1], rate, float64(events)/took/1e6)
	return nil
}

// time returns what the command says, and the processor time that it and what it runs take, in seconds.
func (c *command) time(arguments ...string) (said []byte, seconds float64, err error) {
	x := exec.Command(c.path("reprise"), arguments...)
	if said, err = x.CombinedOutput(); err != nil {
		return nil, 0, fmt.Errorf("reprise %s: %w: %s", arguments[0], err, said)
	}
	return said, (x.ProcessState.UserTime() + x.ProcessState.SystemTime()).Seconds(), nil
}
