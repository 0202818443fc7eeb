//go:build unix

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/test/tier"
)

// TestSameOutput writes one output by several commands at once: it is that of one of them, also if it is of
// several files, and nothing else is left.
func TestSameOutput(t *testing.T) {
	t.Chdir(t.TempDir())
	const writers = 3
	writeWritten(t, writers)
	before := fileNames(t)
	for _, command := range tier.Some(slices.Concat(writingCommands, directoryCommands), 18) {
		var want []string
		for i := range writers {
			if r := invoke(t, "", commandOf(command, i)...); r.status != cli.ExitOK {
				t.Fatalf("reprise %s: %s", command, r.stderr)
			}
			want = append(want, takeOutputs(t))
		}
		if want[0] == want[1] || want[1] == want[2] {
			t.Errorf("reprise %s: the outputs are the same", command)
		}
		var commands [2 * writers]*exec.Cmd
		var errors [2 * writers]bytes.Buffer
		for i := range commands {
			commands[i] = process(t, commandOf(command, i%writers)...)
			commands[i].Stderr = &errors[i]
			if err := commands[i].Start(); err != nil {
				t.Fatal(err)
			}
		}
		for i, c := range commands {
			if err := c.Wait(); err != nil && !slices.Contains(directoryCommands, command) { // that does not replace one that is there
				t.Errorf("reprise %s: %v: %s", command, err, &errors[i])
			}
		}
		if got := takeOutputs(t); !slices.Contains(want, got) &&
			!(slices.Contains(directoryCommands, command) && isUnion(got, want)) {
			t.Errorf("reprise %s: %d bytes of no command", command, len(got))
		}
		if after := fileNames(t); after != before {
			t.Fatalf("reprise %s left: %s", command, after)
		}
	}
}

// isUnion reports whether files are all that some commands write, which do not write the same: they may write
// to one directory.
func isUnion(files string, of []string) bool {
	left := strings.SplitAfter(files, "\n")
	for _, all := range of {
		if strings.Contains(files, all) {
			left = slices.DeleteFunc(left, func(line string) bool { return strings.Contains(all, line) })
		}
	}
	return len(left) == 0
}

// takeOutputs removes what is called OUT, and returns all of it.
func takeOutputs(t *testing.T) string {
	t.Helper()
	names, err := filepath.Glob("OUT*")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range names {
		err := filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				fmt.Fprintf(&all, "%s %q\n", path, readFile(t, path))
			}
			return err
		})
		if err := cmp.Or(err, os.RemoveAll(name)); err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}
