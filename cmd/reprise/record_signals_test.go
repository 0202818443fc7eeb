//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/internal/test/tier"
)

// TestSignalsOfRanks sends signals to a launcher and to its group, and to record and to its group: ranks get as many in both.
func TestSignalsOfRanks(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		program := m.Build(t, "delivered.c")
		for _, which := range tier.Some([]syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGUSR1, syscall.SIGHUP}, 4) {
			for _, group := range []bool{false, true} {
				name := which.String()
				if group {
					name += ", group"
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					untraced, directory := t.TempDir(), t.TempDir()
					line := m.Launch(2, program, untraced)
					c := exec.CommandContext(t.Context(), line[0], line[1:]...)
					c.Env = mpitest.LaunchEnvironment(t)
					want := delivered(t, c, which, group, untraced)
					got := delivered(t, recorder(t, m, []string{"-o", filepath.Join(t.TempDir(), "run.rpz")}, m.Launch(2, program, directory)...), which, group, directory)
					if got != want {
						t.Errorf("ranks got %q, and %q without record", got, want)
					}
				})
			}
		}
	})
}

// delivered runs a command that launches delivered.c with a directory, sends it a signal, and returns what the ranks got.
func delivered(t *testing.T, c *exec.Cmd, which syscall.Signal, group bool, directory string) string {
	t.Helper()
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var said strings.Builder
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	files := []string{filepath.Join(directory, "0"), filepath.Join(directory, "1")}
	waitFor(t, func() bool { return exists(files[0]) && exists(files[1]) })
	to := c.Process.Pid
	if group {
		to = -to
	}
	if err := syscall.Kill(to, which); err != nil {
		t.Error(err)
	}
	_ = c.Wait() // Open MPI ends with 1
	var list []string
	for _, path := range files {
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, strconv.Itoa(len(got)))
	}
	t.Logf("%s: %s", list, said.String())
	return strings.Join(list, " ")
}
