package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/internal/test/tier"
)

// endAt is a variable of the environment with the operation at which [TestMain] ends, and the directory.
const endAt = "REPRISE_TEST_END_AT"

func TestMain(m *testing.M) {
	n, directory, is := strings.Cut(os.Getenv(endAt), " ")
	if !is {
		os.Exit(m.Run())
	}
	last, err := strconv.Atoi(n)
	if err == nil {
		operations := 0
		Inject(func(string) error {
			if operations++; operations == last {
				os.Exit(3) // as if it were killed: nothing that is deferred runs
			}
			return nil
		})
		err = writeTogether(pathsIn(directory), "new")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func pathsIn(directory string) []string { return pathsOf(filepath.Join(directory, "a b")) }

func pathsOf(name string) []string { return []string{name + ".prv", name + ".pcf", name + ".row"} }

func writeTogether(paths []string, what string) error {
	var files []*File
	for _, path := range paths {
		f, err := Create(path)
		if err != nil {
			return err
		}
		defer f.Abandon()
		if _, err := io.WriteString(f, what); err != nil {
			return err
		}
		files = append(files, f)
	}
	return Commit(files...)
}

// contents returns what is in files, with an empty string for one that is not there.
func contents(paths []string) string {
	var list []string
	for _, path := range paths {
		b, _ := os.ReadFile(path)
		list = append(list, string(b))
	}
	return strings.Join(list, ",")
}

// before writes all files but the last.
func before(t *testing.T, paths []string) {
	t.Helper()
	for _, path := range paths[:len(paths)-1] {
		if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(paths[len(paths)-1]); err != nil {
		t.Fatal(err)
	}
}

// TestTogetherFails lets each operation fail, and all from it on, as if the disk were gone: the files are as
// they were, if need be once the next command has removed leftovers. Names are short, or as long as can be.
func TestTogetherFails(t *testing.T) {
	for _, name := range []string{"a b", strings.Repeat("x", 251)} {
		testTogetherFails(t, name, false)
		testTogetherFails(t, name, true)
	}
}

func testTogetherFails(t *testing.T, name string, gone bool) {
	failure := errors.New("failure")
	{
		directory := t.TempDir()
		paths := pathsOf(filepath.Join(directory, name))
		for nth := 1; ; nth++ {
			before(t, paths)
			operations, cleaning := 0, false
			end := Inject(func(operation string) error {
				operations++
				cleaning = cleaning || operation == "clean" && operations == nth
				if operations == nth || gone && operations > nth {
					return failure
				}
				return nil
			})
			err := writeTogether(paths, "new")
			end()
			if operations < nth || cleaning {
				if nth < 12 || err != nil || contents(paths) != "new,new,new" {
					t.Errorf("%d operations: %v, %s", operations, err, contents(paths))
				}
				break
			}
			if !errors.Is(err, failure) || !gone && contents(paths) != "old,old," {
				t.Errorf("operation %d: %v, %s", nth, err, contents(paths))
			}
			RemoveLeftovers(paths...)
			if got, names := contents(paths), namesIn(t, directory); got != "old,old," || len(names) != 2 {
				t.Errorf("gone: %t, operation %d: %s, %q", gone, nth, got, names)
			}
		}
	}
}

// TestTogetherKilled ends a process at each operation: the next command finds all files as they were, or all
// new.
func TestTogetherKilled(t *testing.T) {
	directory := t.TempDir()
	paths := pathsIn(directory)
	probe, err := os.Create(filepath.Join(t.TempDir(), "probe"))
	if err != nil {
		t.Fatal(err)
	}
	defer probe.Close()
	if !hold(probe) {
		t.Skip("files cannot be locked here")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	mixed := 0 // how often files were mixed until the next command
	for nth, last := 1, ""; ; nth++ {
		before(t, paths)
		cmd := exec.Command(program)
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", endAt, nth, directory))
		out, err := cmd.CombinedOutput()
		if err == nil {
			if nth < 14 || last != "new,new,new" || mixed == 0 {
				t.Errorf("%d operations, at last %s, %d mixed", nth, last, mixed)
			}
			return
		}
		if cmd.ProcessState.ExitCode() != 3 {
			t.Fatalf("%v: %s", err, out)
		}
		if got := contents(paths); got != "old,old," && got != "new,new,new" {
			mixed++
		}
		age(t, directory)
		RemoveLeftovers(paths...)
		last = contents(paths)
		if last != "old,old," && last != "new,new,new" {
			t.Errorf("operation %d: %s", nth, last)
		}
		if names := namesIn(t, directory); len(names) > 3 || len(names) > 2 && last == "old,old," {
			t.Errorf("operation %d: left %q", nth, names)
		}
	}
}

// TestWrittenSince ends a process at each operation, and then writes one of the files alone: it is not put
// back.
func TestWrittenSince(t *testing.T) {
	directory := t.TempDir()
	paths := pathsIn(directory)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for nth := 1; ; nth += tier.Number(3, 1) {
		for i := range paths {
			before(t, paths)
			cmd := exec.Command(program)
			cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", endAt, nth, directory))
			if cmd.Run() == nil {
				return
			}
			theirs := filepath.Join(directory, "theirs")
			if err := os.WriteFile(theirs, []byte("theirs"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(theirs, paths[i]); err != nil {
				t.Fatal(err)
			}
			age(t, directory)
			RemoveLeftovers(paths...)
			if got := contents(paths); strings.Split(got, ",")[i] != "theirs" {
				t.Errorf("operation %d, file %d: %s", nth, i, got)
			}
		}
	}
}

// age lets all files in a directory be old.
func age(t *testing.T, directory string) {
	t.Helper()
	for _, name := range namesIn(t, directory) {
		old := time.Now().Add(-2 * leftAfter)
		if err := os.Chtimes(filepath.Join(directory, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
}

// TestForeignLists checks that a list moves and removes nothing that is not about to be written.
func TestForeignLists(t *testing.T) {
	const number = ".0123456789abcdef"
	for _, text := range []string{
		"none 0 \"mine\"\n",
		"old 0 \"out\"\nnone 0 \"mine\"\n",
		"old 0 \"out\"\nnone 0 \"../mine\"\n",
		"none 0 \"out\"\nnone 0 \"sub/mine\"\n",
		"none 0 \"out\"\nwhat\n",
		"",
		"none 0 \"out\"\n" + strings.Repeat(" ", 1<<20),
	} {
		directory := t.TempDir()
		for name, text := range map[string]string{"out": "out", "mine": "mine",
			".out" + number + ".old": "theirs", ".out" + number + ".list": text} {
			if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		RemoveLeftovers(filepath.Join(directory, "out"), filepath.Join(directory, "beside"))
		if got := contents([]string{filepath.Join(directory, "out"),
			filepath.Join(directory, "mine")}); got != "out,mine" {
			t.Errorf("%.40q: %s", text, got)
		}
	}
}

// TestDirectory checks that a directory is there with all its files, or not at all.
func TestDirectory(t *testing.T) {
	parent := t.TempDir()
	path := filepath.Join(parent, "d")
	fill := func() *Directory {
		t.Helper()
		d, err := CreateDirectory(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d.Path(), "a"), []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, operation := range []string{"create", "sync", "rename"} {
		failure := errors.New("failure")
		end := Inject(func(o string) error {
			if o == operation {
				return failure
			}
			return nil
		})
		d, err := CreateDirectory(path)
		if err == nil {
			err = errors.Join(os.WriteFile(filepath.Join(d.Path(), "a"), nil, 0o600), d.Commit(t.Context()))
		}
		end()
		if names := namesIn(t, parent); !errors.Is(err, failure) || len(names) != 0 {
			t.Errorf("%s: %v, left %q", operation, err, names)
		}
	}
	d := fill()
	age(t, parent)
	RemoveLeftovers(path)
	if names := namesIn(t, parent); len(names) != 1 {
		t.Errorf("a directory that is being filled was removed: %q", names)
	}
	d.d.Close() // as if the process were gone
	RemoveLeftovers(path)
	if names := namesIn(t, parent); len(names) != 0 && hold(fill().d) {
		t.Errorf("left %q", names)
	}
	if err := fill().Commit(t.Context()); err != nil || contents([]string{filepath.Join(path, "a")}) != "text" {
		t.Errorf("%v, %q", err, namesIn(t, parent))
	}
	if _, err := CreateDirectory(path); !errors.Is(err, os.ErrExist) {
		t.Errorf("err = %v", err)
	}
}
