package atomicfile

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func namesIn(t *testing.T, directory string) []string {
	t.Helper()
	entries, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestWrite(t *testing.T) {
	directory := t.TempDir()
	path := filepath.Join(directory, "a")
	check := func(want string, mode os.FileMode) {
		t.Helper()
		got, err := os.ReadFile(path)
		info, statErr := os.Stat(path)
		if err != nil || statErr != nil || string(got) != want || info.Mode() != mode {
			t.Errorf("%q, %v, %v, want %q, %v", got, info, err, want, mode)
		}
		if names := namesIn(t, directory); len(names) != 1 {
			t.Errorf("the directory has %q", names)
		}
	}
	if err := Check(path); err != nil || len(namesIn(t, directory)) != 0 {
		t.Errorf("Check: %v, and left %q", err, namesIn(t, directory))
	}
	if err := Write(path, text("one")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	check("one", 0o640)
	if err := Write(path, text("two")); err != nil {
		t.Fatal(err)
	}
	check("two", 0o640)

	failure := errors.New("failure")
	if err := Write(path, func(w io.Writer) error {
		return errors.Join(text("three")(w), failure)
	}); !errors.Is(err, failure) {
		t.Errorf("err = %v", err)
	}
	check("two", 0o640)
	for _, operation := range []string{"create", "write", "sync", "rename"} {
		end := Inject(func(o string) error {
			if o == operation {
				return failure
			}
			return nil
		})
		if err := Write(path, text("three")); !errors.Is(err, failure) {
			t.Errorf("%s: err = %v", operation, err)
		}
		end()
		check("two", 0o640)
	}
	for _, bad := range []string{"", directory, filepath.Join(directory, "no", "a")} {
		if err := Check(bad); err == nil {
			t.Errorf("Check(%q) succeeds", bad)
		}
	}
}

// TestWriteLinked writes where a symbolic link leads, and not in place of what is no file.
func TestWriteLinked(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := errors.Join(os.Mkdir("far", 0o777), os.WriteFile("far/a", nil, 0o666),
		os.Symlink("far/a", "a")); err != nil {
		t.Fatal(err)
	}
	if err := Write("a", text("one")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile("far/a"); err != nil || string(got) != "one" {
		t.Errorf("%q, %v", got, err)
	}
	if to, err := os.Readlink("a"); err != nil || to != "far/a" {
		t.Errorf("the link is %q, %v", to, err)
	}
	socket, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for _, path := range []string{"socket", "far"} {
		before, _ := os.Stat(path)
		if err := Write(path, text("two")); err == nil {
			t.Errorf("%s is written", path)
		}
		if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
			t.Errorf("%s is another file: %v", path, err)
		}
	}
}

// TestHeld checks that nobody removes a file that is written, until it is in its place.
func TestHeld(t *testing.T) {
	t.Chdir(t.TempDir())
	f, err := Create("a")
	if err == nil {
		_, err = io.WriteString(f, "one")
	}
	if err == nil {
		err = f.prepare()
	}
	long := time.Now().Add(-time.Hour)
	if err == nil {
		err = os.Chtimes(f.f.Name(), long, long)
	}
	if err != nil {
		t.Fatal(err)
	}
	RemoveLeftovers("a")
	if err := f.place(); err != nil {
		t.Error(err)
	}
}

func TestRemoveLeftovers(t *testing.T) {
	directory := t.TempDir()
	path := filepath.Join(directory, "a")
	probe, err := os.Create(filepath.Join(directory, "probe"))
	if err != nil {
		t.Fatal(err)
	}
	defer probe.Close()
	if !hold(probe) {
		t.Skip("files cannot be locked here")
	}
	old := time.Now().Add(-2 * leftAfter)
	make := func(name string, written time.Time) {
		t.Helper()
		name = filepath.Join(directory, name)
		if err := errors.Join(os.WriteFile(name, nil, 0o600), os.Chtimes(name, written, written)); err != nil {
			t.Fatal(err)
		}
	}
	const left = ".a.0123456789abcdef.new"
	make(left, old)
	make(".a.0123456789abcdee.new", time.Now())
	for _, other := range []string{".b.0123456789abcdef.new", ".a.0123456789abcde.new",
		".a.0123456789abcdeg.new", ".a.new", "a.0123456789abcdef.new"} {
		make(other, old)
	}
	writing, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer writing.Abandon()
	if err := os.Chtimes(writing.f.Name(), old, old); err != nil {
		t.Fatal(err)
	}
	before := len(namesIn(t, directory))
	RemoveLeftovers(path)
	if _, err := os.Stat(filepath.Join(directory, left)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the leftover: %v", err)
	}
	if got := len(namesIn(t, directory)); got != before-1 {
		t.Errorf("%d files were removed", before-got)
	}
	if err := writing.Commit(); err != nil {
		t.Error(err)
	}
}

// TestLongNames writes files whose names are as long as file systems take, alone and together, and removes what is
// left of one that differs from another only at the end.
func TestLongNames(t *testing.T) {
	directory := t.TempDir()
	long := strings.Repeat("ü", 127) // 254 bytes
	var files []*File
	for _, name := range []string{"a", long + "a", long + "b", strings.Repeat("x", maxStem),
		strings.Repeat("x", maxStem+1)} {
		path := filepath.Join(directory, name)
		for range 2 { // also in place of one
			err := Write(path, func(w io.Writer) error {
				_, err := io.WriteString(w, name)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		f, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	if err := Commit(files...); err != nil {
		t.Fatal(err)
	}
	a, b := filepath.Join(directory, long+"a"), filepath.Join(directory, long+"b")
	left := temporary(a, 1)
	old := time.Now().Add(-2 * leftAfter)
	if err := errors.Join(os.WriteFile(left, nil, 0o600), os.Chtimes(left, old, old)); err != nil {
		t.Fatal(err)
	}
	RemoveLeftovers(b)
	if _, err := os.Stat(left); err != nil {
		t.Errorf("the leftover of another file is gone: %v", err)
	}
	if RemoveLeftovers(a); len(namesIn(t, directory)) != len(files) {
		t.Errorf("there are %q", namesIn(t, directory))
	}
}
