package mpitest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

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
// directory of its own: launchers that begin and end at once in one may fail.
func LaunchEnvironment(t testing.TB) []string {
	t.Helper()
	directory, err := os.MkdirTemp("", "ompi") // short, for the names of sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(directory) })
	return append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_orte_tmpdir_base="+directory)
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

func run(t testing.TB, o Options, line []string) (*Output, error) {
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
