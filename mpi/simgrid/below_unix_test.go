//go:build unix

package simgrid

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/reprise-trace/reprise/format"
)

// TestOutside checks that lists and directories name regular files below them only, however these are named,
// unless that is allowed.
func TestOutside(t *testing.T) {
	top := t.TempDir()
	t.Chdir(top)
	for path, text := range map[string]string{
		"secret": "0 init\n", "in/r": "0 init\n", "in/deep/r": "0 init\n", "in/ranks/t_rank-2.txt": "1 init\n",
	} {
		os.MkdirAll(filepath.Dir(path), 0o777)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"in/out": "../secret", "in/up": "..", "in/within": "deep/r",
		"in/ranks/t_rank-1.txt": "../../secret", "alias": "in"} {
		if err := os.Symlink(to, link); err != nil {
			t.Skip(err)
		}
	}
	if err := syscall.Mkfifo("in/pipe", 0o666); err != nil {
		t.Skip(err)
	}
	read := func(path string, outside bool) error {
		r, err := Open([]string{path}, Options{Outside: outside})
		if err != nil {
			return err
		}
		defer r.Close()
		for {
			if _, err := r.Read(); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
	}
	for _, tt := range []struct {
		name    string
		inside  bool
		pending bool // if it is allowed: a pipe without a writer
	}{
		{name: "r", inside: true}, {name: "deep/r", inside: true}, {name: "./deep/../r", inside: true},
		{name: "within", inside: true},
		{name: top + "/in/r", inside: true}, {name: top + "/alias/r", inside: true}, {name: "up/in/r", inside: true},
		{name: "../secret"}, {name: "out"}, {name: "up/secret"}, {name: top + "/secret"}, {name: "deep"},
		{name: "/dev/null"},
		{name: "secret"}, // of the working directory
		{name: "pipe", pending: true}, {name: top + "/in/pipe", pending: true}, {name: "/dev/stdin", pending: true},
	} {
		if err := os.WriteFile("in/list", []byte("# ranks\n"+tt.name+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, list := range []string{"in/list", "alias/list", top + "/in/list"} {
			if err := read(list, false); (err == nil) != tt.inside || err != nil && !errors.Is(err, ErrOutside) {
				t.Errorf("%s with %s: %v", list, tt.name, err)
			}
		}
		if err := read("in/list", !tt.pending); !tt.pending && errors.Is(err, ErrOutside) {
			t.Errorf("%s is not allowed: %v", tt.name, err)
		}
	}
	if err := read("in/ranks", false); !errors.Is(err, ErrOutside) {
		t.Errorf("a directory with a link elsewhere: %v", err)
	}
	if err := read("in/ranks", true); err != nil {
		t.Error(err)
	}
}

// TestMemory checks that the ranks that are read are bounded, with room for more where the option or the
// input allows it.
func TestMemory(t *testing.T) {
	const ranks = 3000
	var b strings.Builder
	for rank := range ranks {
		b.WriteString(strings.ReplaceAll("% init\n% compute %\n% finalize\n", "%", strconv.Itoa(rank)))
	}
	for memory, fits := range map[int64]bool{0: true, ranks * rankMemory: false, 10 * ranks * rankMemory: true} {
		_, err := ReadRanks(NewReader(strings.NewReader(b.String()), Options{Memory: memory}), nil)
		var large *format.MemoryError
		if (err == nil) != fits || err != nil && (!errors.As(err, &large) || !large.Grows ||
			!strings.Contains(err.Error(), "input: ")) {
			t.Errorf("%d bytes: %v", memory, err)
		}
	}
}
