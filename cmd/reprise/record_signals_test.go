//go:build linux

package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/record"
	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/internal/test/tier"
)

// TestSignalsOfRanks sends signals to a launcher and to its group, and to record and to its group: ranks get
// as many in both.
func TestSignalsOfRanks(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		program := m.Build(t, "delivered.c")
		for _, which := range tier.Some([]syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGUSR1,
			syscall.SIGHUP}, 4) {
			for _, group := range []bool{false, true} {
				name := which.String()
				if group {
					name += ", group"
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					sameSignals(t, m, program, func(c *exec.Cmd, directory string) string {
						return delivered(t, c, which, group, directory)
					})
				})
			}
		}
	})
}

// sameSignals compares what ranks get of signals that are sent to their launcher, without record and with it. A
// launcher that ends may kill a rank before that has its signal: so there are several attempts.
func sameSignals(t *testing.T, m *mpitest.MPI, program string, got func(c *exec.Cmd, directory string) string) {
	t.Helper()
	const attempts = 3
	for attempt := 1; ; attempt++ {
		untraced, directory := t.TempDir(), t.TempDir()
		line := m.Launch(2, program, untraced)
		c := exec.CommandContext(t.Context(), line[0], line[1:]...)
		c.Env = mpitest.LaunchEnvironment(t)
		without := got(c, untraced)
		with := got(recorder(t, m, []string{"-o", filepath.Join(t.TempDir(), "run.rpz")},
			m.Launch(2, program, directory)...), directory)
		if with == without {
			return
		}
		if attempt == attempts {
			t.Fatalf("ranks got %q, and %q without record", with, without)
		}
	}
}

// TestSignalsOfTerminal presses Ctrl-C in a terminal of a launcher, and in one of record: ranks get
// as many signals in both.
func TestSignalsOfTerminal(t *testing.T) {
	mpitest.ForEach(t, func(t *testing.T, m *mpitest.MPI) {
		m.Parallel(t)
		sameSignals(t, m, m.Build(t, "delivered.c"), func(c *exec.Cmd, directory string) string {
			return pressed(t, c, directory)
		})
	})
}

// pressed is delivered with a command in a terminal of its own, in which Ctrl-C is pressed.
func pressed(t *testing.T, c *exec.Cmd, directory string) string {
	t.Helper()
	screen, terminal := openTerminal(t)
	defer screen.Close()
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	c.Stdin, c.Stdout, c.Stderr = terminal, terminal, terminal
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	terminal.Close()
	said := make(chan string)
	go func() {
		text, _ := io.ReadAll(screen) // which ends with an error when nobody has the terminal any more
		said <- string(text)
	}()
	waitFor(t, func() bool {
		return record.Exists(filepath.Join(directory, "0")) && record.Exists(filepath.Join(directory, "1"))
	})
	if _, err := screen.WriteString("\x03"); err != nil {
		t.Error(err)
	}
	_ = c.Wait()
	t.Logf("%v: %s", c.ProcessState, <-said)
	return counted(t, directory)
}

// delivered runs a command that launches delivered.c with a directory, sends it a signal, and returns what
// the ranks got.
func delivered(t *testing.T, c *exec.Cmd, which syscall.Signal, group bool, directory string) string {
	t.Helper()
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var said strings.Builder
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	files := []string{filepath.Join(directory, "0"), filepath.Join(directory, "1")}
	waitFor(t, func() bool { return record.Exists(files[0]) && record.Exists(files[1]) })
	to := c.Process.Pid
	if group {
		to = -to
	}
	if err := syscall.Kill(to, which); err != nil {
		t.Error(err)
	}
	_ = c.Wait() // Open MPI ends with 1
	list := counted(t, directory)
	t.Logf("%s: %s", list, said.String())
	return list
}

// counted returns how many signals ranks got.
func counted(t *testing.T, directory string) string {
	t.Helper()
	var list []string
	for _, rank := range []string{"0", "1"} {
		got, err := os.ReadFile(filepath.Join(directory, rank))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, strconv.Itoa(len(got)))
	}
	return strings.Join(list, " ")
}
