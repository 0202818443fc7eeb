package mpitest

import (
	"bytes"
	"context"
	_ "embed" // for the source of the counter
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/reprise-trace/reprise/internal/header"
	"github.com/reprise-trace/reprise/mpi/spec"
)

//go:embed counter.tmpl
var counterSource string

var counterTemplate = template.Must(template.New("counter").Parse(counterSource))

// Counts are the numbers of calls of the functions of MPI, by rank and name.
type Counts map[int]map[string]uint64

// Add adds calls of a function.
func (c Counts) Add(rank int, name string, n uint64) {
	if c[rank] == nil {
		c[rank] = make(map[string]uint64)
	}
	c[rank][name] += n
}

// Differences returns a line for each rank and function that two counts do not
// agree on.
func (c Counts) Differences(other Counts) []string {
	all := make(Counts)
	for _, counts := range []Counts{c, other} {
		for rank, functions := range counts {
			for name := range functions {
				all.Add(rank, name, 1)
			}
		}
	}
	var lines []string
	for rank, functions := range all {
		for name := range functions {
			if n, m := c[rank][name], other[rank][name]; n != m {
				lines = append(lines, fmt.Sprintf("rank %d: %s: %d and %d", rank, name, n, m))
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// Counter builds a library that counts the calls of MPI of a process, at any depth: those that the program
// makes, also in its callbacks, and not those that MPI makes through the names that a program uses. Calls are
// not counted while the program has switched recording off, unless they are recorded all the same. The
// library is to be loaded in front of any other that takes the place of MPI, into a process that has the
// environment variable that [CountIn] returns.
func (m *MPI) Counter(t testing.TB) string {
	t.Helper()
	path, err := m.once("counter.so", []string{counterSource}, func(output string) error {
		source, err := m.counterSource()
		if err != nil {
			return err
		}
		input := filepath.Join(filepath.Dir(output), "counter.c")
		if err := os.WriteFile(input, source, 0o600); err != nil {
			return err
		}
		return compile(m.CC, []string{"-shared", "-fPIC", "-O1", "-w", "-pthread", "-Wl,--as-needed", "-o",
			output, input, "-ldl"}, filepath.Dir(output))
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// CountIn returns the variable of the environment, "name=value", that tells the
// processes that have loaded a [MPI.Counter] where to write.
func CountIn(directory string) string { return "MPITEST_COUNTS=" + directory }

// A counted function is one of which the counter has a wrapper.
type counted struct {
	Name, Result, Parameters, Arguments string
	Switches                            bool
	Always                              bool // counted while recording is off, too
}

func (m *MPI) counterSource() ([]byte, error) {
	h, err := header.Read(context.Background(), m.CC)
	if err != nil {
		return nil, err
	}
	var functions []counted
	for _, f := range h.Functions {
		var parameters, arguments []string
		for i, p := range f.Params {
			name := fmt.Sprint("p", i)
			parameters, arguments = append(parameters, p.Declare(name)), append(arguments, name)
		}
		if f.Variadic {
			parameters = append(parameters, "...")
		}
		if parameters == nil {
			parameters = []string{"void"}
		}
		functions = append(functions, counted{
			f.Name, f.Result, strings.Join(parameters, ", "), strings.Join(arguments, ", "),
			f.Name == "MPI_Pcontrol" || f.Name == "MPI_Info_set", isRecordedOff(f.Name),
		})
	}
	var source bytes.Buffer
	err = counterTemplate.Execute(&source, functions)
	return source.Bytes(), err
}

// isRecordedOff reports whether all calls of a function are recorded while recording is off.
func isRecordedOff(name string) bool {
	n, ok := spec.Lookup(name)
	role := spec.RoleOf(name)
	return ok && spec.Functions()[n].RecordedOff() && !role.Switches && role.Requests != spec.Releases
}

// ReadCounts returns what the counters of processes have written to a directory,
// without the functions that were not called.
func ReadCounts(directory string) (Counts, error) {
	paths, err := filepath.Glob(filepath.Join(directory, "*"))
	if err != nil {
		return nil, err
	}
	counts := make(Counts)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		const size, value = 64, 56
		rank := -1
		for ; len(data) >= size; data = data[size:] {
			name := string(bytes.TrimRight(data[:value], "\x00"))
			n := binary.LittleEndian.Uint64(data[value:])
			if name == "rank" {
				rank = int(n)
			} else if n > 0 {
				counts.Add(rank, name, n)
			}
		}
	}
	return counts, nil
}
