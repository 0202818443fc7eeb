//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/atomicfile"
)

// runMain names the environment variable that makes the test binary the command.
const runMain = "REPRISE_TEST_MAIN"

// killAt names the environment variable with the operation of atomicfile at which a process kills itself that
// collects for record.
const killAt = "REPRISE_TEST_KILL_AT"

func TestMain(m *testing.M) {
	if os.Getenv(runMain) != "" {
		if fault := os.Getenv(killAt); fault != "" && len(os.Args) > 1 && os.Args[1] == "collect" {
			atomicfile.Inject(func(operation string) error {
				if operation == fault {
					_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
					select {}
				}
				return nil
			})
		}
		if path := os.Getenv(peakIn); path != "" {
			go watchPeak(path)
			status := run(cli.Interruptible(), arguments(os.Args), os.Stdin, os.Stdout, os.Stderr)
			cli.Unfinished.End()
			writing.Lock() // the exit must not meet the other writer between truncating and writing
			writePeak(path)
			os.Exit(status)
		}
		main()
	}
	os.Exit(m.Run())
}

// process returns the command as a process of its own.
func process(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), runMain+"=1")
	return cmd
}

// TestSignal interrupts a compress that waits for more of its input.
func TestSignal(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if signal.Ignored(sig) {
			continue // by whoever runs the test
		}
		t.Chdir(t.TempDir())
		writeFile(t, "out.rpz", "old")
		cmd := process(t, "compress", "-", "-o", "out.rpz")
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		io.WriteString(stdin, strings.Repeat("0 send 1 0 8 1\n", 1000))
		waitFor(t, func() bool { return fileNames(t) != "out.rpz" }) // the new file, not yet in its place
		cmd.Process.Signal(sig)
		cmd.Wait()
		if status := cmd.ProcessState.ExitCode(); status != cli.ExitInterrupted ||
			stderr.String() != "reprise: interrupted\n" {
			t.Errorf("%v: status %d, %q", sig, status, stderr.String())
		}
		if names := fileNames(t); names != "out.rpz" || readFile(t, "out.rpz") != "old" {
			t.Errorf("%v: the directory has %s", sig, names)
		}
	}
}

// TestSecondSignal interrupts, twice, a compress that waits for a file to be opened
// and does not notice the first signal.
func TestSecondSignal(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "in.txt", "0 init\n0 finalize\n")
	if err := syscall.Mkfifo("pipe", 0o666); err != nil {
		t.Skip("no named pipes: ", err)
	}
	before := fileNames(t)
	cmd := process(t, "compress", "in.txt", "pipe", "-o", "out.rpz")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return fileNames(t) != before }) // the new file, not yet in its place
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	for waiting := true; waiting; { // signals that come at once may be taken for one
		cmd.Process.Signal(syscall.SIGINT)
		select {
		case <-ended:
			waiting = false
		case <-time.After(20 * time.Millisecond):
		}
	}
	if status := cmd.ProcessState.ExitCode(); status != cli.ExitInterrupted || fileNames(t) != before {
		t.Errorf("status %d, the directory has %s", status, fileNames(t))
	}
}

func waitFor(t *testing.T, condition func() bool) {
	t.Helper()
	for begin := time.Now(); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begin) > 10*time.Second {
			t.Fatal("nothing happened in 10 s")
		}
	}
}

// TestBrokenPipe reads the first line of much and closes the pipe.
func TestBrokenPipe(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	cmd := process(t, "cat", "long.rpz", "--format", "text")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 10)
	if _, err := io.ReadFull(stdout, line); err != nil {
		t.Fatal(err)
	}
	stdout.Close()
	err = cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || stderr.Len() > 0 {
		t.Fatalf("%v, %q", err, stderr.String())
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); !ok ||
		status.ExitStatus() != cli.ExitBrokenPipe && status.Signal() != syscall.SIGPIPE {
		t.Errorf("%v", exit)
	}
}

// TestDevices checks that a device is written to, not replaced.
func TestDevices(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	if err := syscall.Mkfifo("fifo", 0o666); err != nil {
		t.Skip("no named pipes: ", err)
	}
	read := make(chan string, 1)
	go func() {
		b, _ := os.ReadFile("fifo")
		read <- string(b)
	}()
	must(t, "compress", "ring.txt", "-o", "fifo")
	if mode(t, "fifo")&os.ModeNamedPipe == 0 || <-read != readFile(t, "ring.rpz") {
		t.Errorf("the pipe was replaced, or something else came out")
	}
	r := invoke(t, "", "cat", "fifo")
	if want := "reprise: fifo: is not a regular file: a trace is read in any order, so copy it to a file first\n"; r.status != cli.ExitFailure || r.stderr != want {
		t.Errorf("reading a pipe: status %d, %q, want %q", r.status, r.stderr, want)
	}
}
