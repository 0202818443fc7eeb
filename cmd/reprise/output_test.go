package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
)

// TestFailedOutput checks that a compress that fails leaves what was there.
func TestFailedOutput(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	writeFile(t, "old.rpz", "old")
	before := fileNames(t)
	for _, in := range []string{"binary.txt", "missing.txt", "cut.gz", "beyond.txt"} {
		if r := invoke(t, "", "compress", in, "-o", "old.rpz"); r.status != cli.ExitFailure {
			t.Errorf("%s: status %d", in, r.status)
		}
		if r := invoke(t, "", "repair", in, "-o", "old.rpz"); r.status != cli.ExitFailure {
			t.Errorf("repair %s: status %d", in, r.status)
		}
		if got := readFile(t, "old.rpz"); got != "old" {
			t.Errorf("%s: the old output is %q", in, got)
		}
	}
	if after := fileNames(t); after != before {
		t.Errorf("the directory has %s, had %s", after, before)
	}
}

// writeText writes text to path as the commands do.
func writeText(path, text string, failure error) error {
	return cli.WriteOutput(&cobra.Command{}, path, nil, func(w io.Writer) error {
		io.WriteString(w, text)
		return failure
	})
}

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode()
}

func TestWriteOutput(t *testing.T) {
	t.Chdir(t.TempDir())
	failure := errors.New("failure")

	if err := writeText("new", "text", failure); err != failure || fileNames(t) != "" {
		t.Errorf("a failure gave %v and left %s", err, fileNames(t))
	}
	if err := writeText("new", "text", nil); err != nil || readFile(t, "new") != "text" {
		t.Errorf("a new file: %v", err)
	}

	// The permissions of a file that is replaced stay.
	if err := os.Chmod("new", 0o640); err != nil {
		t.Fatal(err)
	}
	if err := writeText("new", "other", nil); err != nil || mode(t, "new") != 0o640 || readFile(t, "new") != "other" {
		t.Errorf("a file with mode 0640 got mode %v and %q: %v", mode(t, "new"), readFile(t, "new"), err)
	}

	// So does a link, which names the file to replace.
	if err := os.Symlink("new", "link"); err != nil {
		t.Skip("no symbolic links: ", err)
	}
	if err := writeText("link", "through", nil); err != nil || mode(t, "link")&fs.ModeSymlink == 0 ||
		readFile(t, "new") != "through" {
		t.Errorf("a link got mode %v, its file %q: %v", mode(t, "link"), readFile(t, "new"), err)
	}
	if names := fileNames(t); names != "link new" {
		t.Errorf("the directory has %s", names)
	}
}

// TestInputsStay names an input as the output.
func TestInputsStay(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	const machine = "ranks_per_node = 4\n"
	writeFile(t, "m.toml", machine)
	if err := os.Symlink("timed.rpz", "link.rpz"); err != nil {
		t.Fatal(err)
	}
	trace := readFile(t, "timed.rpz")
	for _, command := range []string{
		"predict timed.rpz -m m.toml -o m.toml",
		"predict timed.rpz -o ./timed.rpz",
		"predict timed.rpz -o link.rpz",
		"replay timed.rpz -o timed.rpz -- mpirun -n 2",
		"replay timed.rpz -o link.rpz -- mpirun -n 2",
	} {
		if r := invoke(t, "", strings.Fields(command)...); r.status != cli.ExitUsage ||
			!strings.Contains(r.stderr, " is an input: the output would replace it\n") {
			t.Errorf("reprise %s: %+v", command, r)
		}
	}
	if readFile(t, "m.toml") != machine || readFile(t, "timed.rpz") != trace {
		t.Error("an input is not as it was")
	}
	// An error of the output is not one of the input.
	for output, want := range map[string]string{"no/x.rpz": "reprise: no/x.rpz: no such file or directory\n",
		".": "reprise: .: is a directory\n"} {
		if r := invoke(t, "", "predict", "ring.rpz", "-o", output); r.stderr != want {
			t.Errorf("%+v", r)
		}
	}
}
