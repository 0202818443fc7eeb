// Package mpitest compiles MPI programs and runs them, for tests.
//
// [ForEach] runs a test with each installed implementation of MPI, an [MPI], and [ForOne]
// with one of them, unless the run is a nightly one.
// [Programs] lists programs that use all parts of MPI; each checks what it
// computes and prints it. [MPI.RunProgram] runs one and returns what each of its
// ranks printed. [MPI.Counter] builds a library that counts the calls of a process:
// what a recording holds can be compared with what [ReadCounts] returns.
package mpitest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/internal/test/e2e"
	"github.com/reprise-trace/reprise/internal/test/tier"
)

// An MPI is an installed implementation of MPI.
type MPI struct {
	Name    string // "mpich" or "openmpi"
	CC      string // the compiler command for C
	Fortran string // that for Fortran, empty if it is not installed
	launch  []string
	version string
	builds  builds
}

// installed are the implementations that are installed, and why others are missing.
// On Debian, each has its own names of commands; elsewhere there is one in general.
var installed = sync.OnceValues(func() (found []*MPI, missing error) {
	for _, suffix := range []string{".mpich", ".openmpi", ""} {
		if suffix == "" && found != nil {
			break
		}
		if m, err := find(suffix); err == nil {
			found = append(found, m)
		} else if missing == nil {
			missing = err
		}
	}
	return found, missing
})

func find(suffix string) (*MPI, error) {
	m := &MPI{CC: "mpicc" + suffix, Fortran: "mpifort" + suffix, launch: []string{"mpirun" + suffix}}
	if _, err := exec.LookPath(m.CC); err != nil {
		return nil, err
	}
	if _, err := exec.LookPath(m.Fortran); err != nil {
		m.Fortran = ""
	}
	version, err := exec.Command(m.launch[0], "--version").Output()
	if err != nil {
		return nil, err
	}
	m.Name, m.version = "mpich", string(version)
	if strings.Contains(string(version), "Open") {
		m.Name = "openmpi"
		m.launch = append(m.launch, "--oversubscribe", "--mca", "mpi_yield_when_idle", "1")
	}
	return m, nil
}

// Installed returns the implementations that are installed. It skips the test if
// there is none, and in short runs: to compile and run programs takes minutes.
func Installed(t testing.TB) []*MPI {
	t.Helper()
	e2e.Programs(t)
	found, missing := installed()
	if len(found) == 0 {
		t.Skip("no MPI:", missing)
	}
	return found
}

// ForEach runs a test with each implementation that is installed. It skips the
// test if there is none, and under the race detector; see [SkipUnderRace].
func ForEach(t *testing.T, test func(*testing.T, *MPI)) {
	t.Helper()
	SkipUnderRace(t)
	for _, m := range Installed(t) {
		t.Run(m.Name, func(t *testing.T) { test(t, m) })
	}
}

// ForOne is [ForEach] in a nightly run. In others it runs the test with one of the
// implementations, which the name of the test chooses, see [MPI.Turn].
func ForOne(t *testing.T, test func(*testing.T, *MPI)) {
	t.Helper()
	SkipUnderRace(t)
	for _, m := range Installed(t) {
		if m.Turn(t.Name()) {
			t.Run(m.Name, func(t *testing.T) { test(t, m) })
		}
	}
}

// Turn tells whether a case of a name is for this implementation: each is for one of
// those that are installed, and for all in a nightly run.
func (m *MPI) Turn(name string) bool {
	found, _ := installed()
	h := fnv.New32a()
	h.Write([]byte(name))
	return tier.Nightly || m == found[h.Sum32()%uint32(len(found))]
}

// SkipUnderRace skips a test of which the race detector sees nothing that it does
// not see in others: it does not look into programs in C.
func SkipUnderRace(t testing.TB) {
	t.Helper()
	if underRace {
		t.Skip("the race detector does not look into programs in C")
	}
}

// Parallel lets a test run beside others if processes that wait leave the processors
// to them.
func (m *MPI) Parallel(t *testing.T) {
	t.Helper()
	if m.Name == "openmpi" {
		t.Parallel()
	}
}

// Ranks returns the number of ranks to run a program on that is meant for n. It is
// smaller where processes that wait keep a processor busy.
func (m *MPI) Ranks(n int) int {
	if m.Name == "mpich" {
		return min(n, 1+n/2)
	}
	return n
}

// Options say how to run a program. The zero Options runs it on one rank, in the
// environment of the test, for at most a minute.
type Options struct {
	Ranks   int           // zero means one
	Preload []string      // libraries to load into the processes
	Env     []string      // further variables of the environment, "name=value"
	Limit   time.Duration // zero means a minute
}

// An Output is what a program did.
type Output struct {
	Ranks  []string // the standard output of each rank
	Rest   string   // the standard output of the launcher and the standard error of all
	Status int      // the exit status of the launcher
}

// Launch returns the command line that runs a program on some ranks.
func (m *MPI) Launch(ranks int, program string, arguments ...string) []string {
	line := append([]string{}, m.launch...)
	line = append(line, "-n", fmt.Sprint(max(ranks, 1)), program)
	return append(line, arguments...)
}

// Command returns the command line that runs a program on some ranks. The
// standard output of each goes to the file that is named as its rank in a
// directory.
func (m *MPI) Command(ranks int, directory, program string, arguments ...string) []string {
	const redirect = `exec "$@" >"$0/${PMI_RANK:-$OMPI_COMM_WORLD_RANK}"`
	return m.Launch(ranks, "sh", append([]string{"-c", redirect, directory, program}, arguments...)...)
}

// Environment returns the environment to run an MPI program in. The command finds
// interposers in [Cache] in it.
func Environment(t testing.TB) []string {
	return append(LaunchEnvironment(t), "XDG_CACHE_HOME="+filepath.Dir(Cache()))
}

// LaunchEnvironment returns the environment that a launcher needs. Open MPI gets a
// directory of its own: launchers that begin and end at once in one may fail. It does not look
// for networks, which takes longer than most programs here.
func LaunchEnvironment(t testing.TB) []string {
	t.Helper()
	directory, err := os.MkdirTemp("", "ompi") // short, for the names of sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(directory) })
	return append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
		"OMPI_MCA_orte_tmpdir_base="+directory, "OMPI_MCA_pml=ob1")
}

// environment returns the environment to run a program in.
func (o Options) environment(t testing.TB) []string {
	env := append(Environment(t), o.Env...)
	if len(o.Preload) > 0 {
		env = append(env, "LD_PRELOAD="+strings.Join(o.Preload, ":"))
	}
	return env
}

// Run runs a program to its end, whatever its exit status. It fails the test if
// the program takes too long.
func (m *MPI) Run(t testing.TB, o Options, program string, arguments ...string) *Output {
	t.Helper()
	directory := t.TempDir()
	line := m.Command(o.Ranks, directory, program, arguments...)
	output, err := run(t, o, line)
	if err != nil {
		t.Fatal(err)
	}
	for rank := range max(o.Ranks, 1) {
		text, err := os.ReadFile(filepath.Join(directory, fmt.Sprint(rank)))
		if err != nil {
			t.Fatalf("%v\n%s", err, output.Rest)
		}
		output.Ranks = append(output.Ranks, string(text))
	}
	return output
}

// Improper tells whether a launcher says of a rank that it ended without MPI_Finalize. Open MPI 4
// says so once in a thousand runs of ranks that did call it (open-mpi/ompi issue 7833, closed as it
// is), most of all on a busy machine: such a run is to be repeated.
func Improper(text string) bool { return strings.Contains(text, "exiting improperly") }

// run runs a line to its end, once more if its launcher says what need not be so.
func run(t testing.TB, o Options, line []string) (*Output, error) {
	first, err := runOnce(t, o, line)
	if err != nil || !Improper(first.Rest) {
		return first, err
	}
	if again, err := runOnce(t, o, line); err == nil && again.Status == 0 {
		return again, nil
	}
	return first, nil
}

func runOnce(t testing.TB, o Options, line []string) (*Output, error) {
	limit := o.Limit
	if limit == 0 {
		limit = time.Minute
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var rest bytes.Buffer
	c := exec.CommandContext(ctx, line[0], line[1:]...)
	// The launcher ends its processes.
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = 5 * time.Second
	c.Env, c.Stdout, c.Stderr = o.environment(t), &rest, &rest
	err := c.Run()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%v: not at its end after %v\n%s", c, limit, rest.String())
	}
	if failed := (*exec.ExitError)(nil); err != nil && !errors.As(err, &failed) {
		return nil, fmt.Errorf("%v: %w\n%s", c, err, rest.String())
	}
	return &Output{Rest: rest.String(), Status: c.ProcessState.ExitCode()}, nil
}
