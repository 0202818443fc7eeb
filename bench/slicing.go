package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// errNoLLVM is returned by reportSlicing if there is no compiler.
var errNoLLVM = errors.New("MPICH, and LLVM 16 with Flang, are not installed")

// slicedPrograms are the programs that are sliced, with their patterns.
var slicedPrograms = []struct{ source, about string }{
	{"pi.c", "numbers, one MPI_Reduce"}, {"ep.c", "random numbers"}, {"is.c", "buckets of keys"},
	{"ft.c", "transposition"},
	{"mg.c", "grids of several sizes"}, {"bt.c", "lines in three directions"},
	{"sp.c", "the same, other messages"}, {"cg.F", "conjugate gradients"},
	{"lu.f", "a pipeline, until it converges"}, {"sweep.F", "a sweep from all corners"},
	{"sweep.c", "a sweep from all corners"},
	{"converge.c", "a stencil, until it converges"}, {"worker.c", "a master that hands tasks to workers"},
	{"arrays.f90", "arrays that are allocated, summed and shifted"},
	{"amg.c", "multigrid with tables of functions"},
	{"minife.cc", "finite elements, templates and std::map"},
	{"halo.cc", "fields of virtual classes on a mesh"},
	{"particles.cc", "particles that move to other ranks"},
	{"heat.cc", "a grid, with classes that own requests"},
}

const slicedRanks = 4

// largePrograms are those whose arrays no such machine has memory for, or that have more ranks than others
// measured.
var largePrograms = []struct {
	source, about string
	flags         []string
	ranks         int
	published     string // seconds and memory of FACT, of a class that is as large
}{
	{"lulesh.cc", "hexahedra, fields by pointers to members", nil, 8, "– | –"},
	{"null.c", "MPI_Init and MPI_Finalize", nil, 64, "– | –"},
	{"cg.F", "47 GB of arrays", []string{"-DN=1400000"}, 64, "– | –"},
	{"mg.c", "39 GB of arrays", []string{"-DN=320"}, 64, "– | –"},
	{"bt.c", "32 GB of arrays", []string{"-DSIZE=92", "-DCELLS=8", "-DGRID=736"}, 64, "0.28 | –"},
	{"sp.c", "32 GB of arrays", []string{"-DSIZE=92", "-DCELLS=8", "-DGRID=736"}, 64, "– | –"},
	{"sweep.F", "150³ points a rank", sweep3D, 64, "– | 130"},
	{"null.c", "MPI_Init and MPI_Finalize", nil, 256, "– | –"},
	{"sweep.F", "150³ points a rank", sweep3D, 256, "– | –"},
	{"null.c", "MPI_Init and MPI_Finalize", nil, 512, "– | –"},
	{"sweep.F", "150³ points a rank", sweep3D, 512, "6.79 | 1250"},
}

var sweep3D = []string{"-DIT=150", "-DJT=150", "-DKT=150", "-DMK=10", "-DMMI=3"}

// manyProcesses are settings of MPICH with which many processes on few processors wait less for each other
// when they begin.
var manyProcesses = []string{"MPIR_CVAR_NUM_CLIQUES=16", "UCX_TLS=posix,self"}

// A slicedProgram is a program with MPICH, whole and as what its calls depend on.
type slicedProgram struct {
	*command
	mpi    *implementation
	source string
	flags  []string
}

// reportSlicing reports the sizes of slices of the programs whose names contain a text, and the time to slice
// and to record them.
func reportSlicing(w io.Writer, only string) error {
	m := findMPI("mpich")
	for _, name := range []string{"clang-16", "opt-16", "flang-new-16"} {
		if _, err := exec.LookPath(name); err != nil || m == nil {
			return errNoLLVM
		}
	}
	c, err := newCommand()
	if err != nil {
		return err
	}
	defer c.remove()
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}",
		"github.com/reprise-trace/reprise/internal/slicing").Output()
	if err != nil {
		return err
	}
	directory := filepath.Join(strings.TrimSpace(string(out)), "testdata", "programs")
	heads(w, "program", "pattern", "ranks", "instructions", "kept", "calls", "executed", "slicing, processor s",
		"recorded, s", "memory, MB", "whole, s", "memory, MB", "calls of the run", "diff",
		"FACT, s", "memory, MB")
	for _, p := range slicedPrograms {
		s := &slicedProgram{c, m, filepath.Join(directory, p.source), nil}
		if err := s.row(w, p.about, slicedRanks, only, "– | –", true); err != nil {
			return fmt.Errorf("%s: %w", p.source, err)
		}
	}
	for _, p := range largePrograms {
		s := &slicedProgram{c, m, filepath.Join(directory, p.source), p.flags}
		if err := s.row(w, p.about, p.ranks, only, p.published, false); err != nil {
			return fmt.Errorf("%s: %w", p.source, err)
		}
	}
	return nil
}

// row reports a program, if its name contains a text. If it is small enough, it runs as a whole, too.
func (s *slicedProgram) row(w io.Writer, about string, ranks int, only, published string, both bool) error {
	name := filepath.Base(s.source)
	if !strings.Contains(name, only) {
		return nil
	}
	answer, took, err := s.slice()
	if err != nil {
		return err
	}
	seconds, memory, err := s.record("sliced", ranks)
	if err != nil {
		return err
	}
	whole, wholeMemory, equal := "–", "–", "–"
	if both {
		if _, _, err := s.slice("--whole"); err != nil {
			return err
		}
		t, m, err := s.record("whole", ranks)
		if err != nil {
			return err
		}
		whole, wholeMemory, equal = fmt.Sprintf("%.2f", t), fmt.Sprintf("%.0f", m), "equal"
		if err := exec.Command(s.path("reprise"), "diff", "--ignore", "addresses,sites", s.path("whole.rpz"),
			s.path("sliced.rpz")).Run(); err != nil {
			equal = "differs"
		}
	}
	trace, err := os.ReadFile(s.path("sliced.rpz"))
	if err != nil {
		return err
	}
	calls, err := callsOf(trace)
	if err != nil {
		return err
	}
	kept, all := 0, 0
	for _, f := range answer.Sources {
		kept, all = kept+f.Kept, all+f.All
	}
	fmt.Fprintf(w, "| %s | %s | %d | %d | %d | %d | %d | %.1f | %.2f | %.0f | %s | %s | %d | %s | %s |\n",
		name, about, ranks, all, kept, len(answer.Calls), answer.Executed,
		took, seconds, memory, whole, wholeMemory, calls, equal, published)
	return nil
}

// callsOf returns how many calls a trace has.
func callsOf(file []byte) (calls uint64, err error) {
	trace, err := open(file)
	if err != nil {
		return 0, err
	}
	for number := range trace.Shapes() {
		shape, err := trace.Shape(number)
		if err != nil {
			return 0, err
		}
		calls += shape.Grammar.Len() * uint64(shape.Ranks.Len())
	}
	return calls, nil
}

// A sliceAnswer is what reprise slice --json says.
type sliceAnswer struct {
	Sources []struct {
		Kept int `json:"kept_instructions"`
		All  int `json:"instructions"`
	} `json:"sources"`
	Executed int   `json:"executed_calls"`
	Calls    []any `json:"call_sites"`
}

// slice slices the program, and returns how many seconds of a processor that takes, of compilers, too. It has one
// name, whole or not, as this is an argument of MPI_Init.
func (s *slicedProgram) slice(flags ...string) (answer *sliceAnswer, seconds float64, err error) {
	args := append([]string{"slice", "--json", "--mpicc", s.mpi.mpicc, "-o", s.path("program")}, flags...)
	args = append(append(args, "--"), s.flags...)
	c := exec.Command(s.path("reprise"), append(args, s.source, "-lm")...)
	out, err := c.Output()
	if err != nil {
		return nil, 0, fmt.Errorf("reprise %s: %w", strings.Join(args, " "), err)
	}
	answer = new(sliceAnswer)
	return answer, (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(), json.Unmarshal(out, answer)
}

// record records the program in a trace of a name, and returns how many seconds that takes, and how many
// megabytes more than before the machine uses at most.
func (s *slicedProgram) record(name string, ranks int) (seconds, megabytes float64, err error) {
	args := append([]string{"record", "-q", "--times", "none", "--mpicc", s.mpi.mpicc, "-o",
		s.path(name + ".rpz"), "--"}, s.mpi.mpirun...)
	c := exec.Command(s.path("reprise"), append(args, "-n", strconv.Itoa(ranks), s.path("program"))...)
	if ranks > slicedRanks {
		c.Env = append(os.Environ(), manyProcesses...)
	}
	before, err := available()
	if err != nil {
		return 0, 0, err
	}
	begun := time.Now()
	if err := c.Start(); err != nil {
		return 0, 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for least := before; ; {
		select {
		case err := <-ended:
			return time.Since(begun).Seconds(), float64(before-least) / 1e6, err
		case <-time.After(10 * time.Millisecond):
		}
		if now, err := available(); err == nil {
			least = min(least, now)
		}
	}
}

// available returns how many bytes of memory the machine has left.
func available() (int64, error) {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, err
	}
	_, value, _ := strings.Cut(string(data), "MemAvailable:")
	var kilobytes int64
	_, err = fmt.Sscan(value, &kilobytes)
	return kilobytes << 10, err
}
