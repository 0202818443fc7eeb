package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/atomicfile"
	"github.com/reprise-trace/reprise/internal/test/tier"
)

// faults are the errors of operations that fail: the disk is full, it is broken, or less was written than was
// to be.
var faults = []error{syscall.ENOSPC, syscall.EIO, io.ErrShortWrite}

// TestFaults lets each operation fail with which commands write their output, one after the other: the
// output is the old one, of all files if there are several, and the error says which file it is of.
func TestFaults(t *testing.T) {
	t.Chdir(t.TempDir())
	writeWritten(t, 1)
	for _, command := range tier.Some(writingCommands, 6) {
		command := commandOf(command, 0)
		outputs := outputsOf(t, command)
		if len(outputs) == 0 {
			t.Errorf("reprise %s writes nothing", command)
		}
		checkFaults(t, command, outputs)
		for name := range outputs {
			if err := os.Remove(name); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestFaultsOfCollect is TestFaults for a recording. A trace that cannot be written where it should is
// among temporary files.
func TestFaultsOfCollect(t *testing.T) {
	m := theMPI(t)
	dir := t.TempDir()
	raw := filepath.Join(dir, "raw")
	if err := os.Mkdir(raw, 0o755); err != nil {
		t.Fatal(err)
	}
	line := m.Launch(2, m.Build(t, "filter.c"))
	if r := outcome(t, recorder(t, m, []string{"-o", filepath.Join(dir, "run.rpz"), "--keep-raw", raw},
		line...)); r.status != 0 {
		t.Fatalf("%+v", r)
	}
	t.Chdir(dir)
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	command := []string{"collect", raw, "-q", "-o", "OUT"}
	checkFaults(t, command, outputsOf(t, command))
	saved, err := filepath.Glob(filepath.Join(temporary, "*.rpz"))
	if err != nil || len(saved) == 0 {
		t.Errorf("no trace was saved: %v", err)
	}
	for _, path := range saved {
		if got := readFile(t, path); got != readFile(t, "OUT") {
			t.Errorf("%s, which was saved, is not the trace", path)
		}
	}
}

// TestFaultsOfDirectories is TestFaults for commands that write a directory: there is none if they fail.
func TestFaultsOfDirectories(t *testing.T) {
	t.Chdir(t.TempDir())
	writeWritten(t, 1)
	for _, command := range directoryCommands {
		for _, fault := range faults {
			checkDirectoryFaults(t, commandOf(command, 0), fault)
		}
	}
	writeFile(t, "file", "")
	if r := invoke(t, "", "cat", "in0.lines.rpz", "--split",
		filepath.Join("file", "OUT")); r.status != cli.ExitFailure || !strings.Contains(r.stderr, "file/OUT") {
		t.Errorf("%+v", r)
	}
}

// checkDirectoryFaults is checkFaults for a command that writes the directory OUT, and one error.
func checkDirectoryFaults(t *testing.T, command []string, fault error) {
	t.Helper()
	names := fileNames(t)
	for nth := 1; ; nth++ {
		operations := 0
		end := atomicfile.Inject(func(string) error {
			if operations++; operations == nth {
				return fault
			}
			return nil
		})
		r := invoke(t, "", command...)
		end()
		if operations < nth {
			if nth < 4 || r.status != cli.ExitOK || fileNames(t) != "OUT "+names {
				t.Errorf("%s: %d operations, %+v, %s", command, operations, r, fileNames(t))
			}
			break
		}
		if r.status != cli.ExitFailure || !strings.Contains(r.stderr, "OUT: "+fault.Error()) || fileNames(t) != names {
			t.Errorf("%s, operation %d, %v: %+v, left %s", command, nth, fault, r, fileNames(t))
		}
	}
	if err := os.RemoveAll("OUT"); err != nil {
		t.Fatal(err)
	}
}

// outputsOf runs a command and returns what it writes, by name.
func outputsOf(t *testing.T, command []string) map[string]string {
	t.Helper()
	before := " " + fileNames(t) + " "
	if r := invoke(t, "", command...); r.status != cli.ExitOK {
		t.Fatalf("reprise %s: %+v", command, r)
	}
	outputs := make(map[string]string)
	for _, name := range strings.Fields(fileNames(t)) {
		if !strings.Contains(before, " "+name+" ") {
			outputs[name] = readFile(t, name)
		}
	}
	return outputs
}

// checkFaults runs a command that writes outputs, in which the first operation fails, then the second, and
// so on, until it makes fewer, with each of the errors. It leaves the outputs.
func checkFaults(t *testing.T, command []string, outputs map[string]string) {
	t.Helper()
	for _, fault := range faults {
		checkFault(t, command, outputs, fault, 1)
	}
}

// checkFault is checkFaults with one error.
func checkFault(t *testing.T, command []string, outputs map[string]string, fault error, step int) {
	t.Helper()
	names := fileNames(t)
	for nth := 1; ; nth += step {
		for name := range outputs {
			writeFile(t, name, "old")
		}
		operations, failed := 0, ""
		end := atomicfile.Inject(func(operation string) error {
			if operation == "clean" {
				return nil // leaves files that the next command removes
			}
			if operations++; operations == nth {
				failed = operation
				return fault
			}
			return nil
		})
		r := invoke(t, "", command...)
		end()
		if failed == "" {
			if nth < 5 || r.status != cli.ExitOK {
				t.Errorf("%s: %d operations, %+v", command, operations, r)
			}
			return
		}
		if r.status != cli.ExitFailure || !strings.Contains(r.stderr, fault.Error()) ||
			!strings.Contains(r.stderr, "OUT") {
			t.Errorf("%s, operation %d, %s, %v: %+v", command, nth, failed, fault, r)
		}
		if got := fileNames(t); got != names {
			t.Errorf("%s, operation %d, %s: left %s", command, nth, failed, got)
		}
		for name := range outputs {
			if got := readFile(t, name); got != "old" {
				t.Errorf("%s, operation %d, %s: %s is %d bytes and not the old one", command, nth, failed,
					name, len(got))
			}
		}
	}
}
