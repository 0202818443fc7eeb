package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestTemporaryDirectory checks that directories of processes that are gone are removed, and nothing else.
func TestTemporaryDirectory(t *testing.T) {
	parent := t.TempDir()
	t.Setenv("TMPDIR", parent)
	const prefix = "test-"
	used, removeUsed, err := TemporaryDirectory(prefix)
	if err != nil {
		t.Fatal(err)
	}
	defer removeUsed()
	if err := os.WriteFile(filepath.Join(parent, "test-9"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"test-1/sub", "test-x1/sub", "test-/sub", "other-1/sub"} {
		if err := os.MkdirAll(filepath.Join(parent, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	d, err := os.Open(parent)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if !hold(d) {
		t.Skip("files cannot be locked here")
	}
	age(t, parent)
	if err := os.MkdirAll(filepath.Join(parent, "test-2"), 0o700); err != nil { // made just now
		t.Fatal(err)
	}
	path, remove, err := TemporaryDirectory(prefix)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{used, "test-9", "test-2", "test-x1", "test-", "other-1"} {
		if !filepath.IsAbs(name) {
			name = filepath.Join(parent, name)
		}
		if _, err := os.Lstat(name); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Lstat(filepath.Join(parent, "test-1")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("test-1: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	remove()
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("removed: %v", err)
	}
}

// TestDiscard checks that what is left of a directory whose removal ended early has another name, and is
// removed the next time.
func TestDiscard(t *testing.T) {
	parent := t.TempDir()
	path := filepath.Join(parent, "test-1")
	for _, name := range []string{"test-1/a", "test-2/a", "test-x1.done/a", "other-1.done/a"} {
		if err := os.MkdirAll(filepath.Join(parent, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	end := Inject(func(operation string) error {
		if operation == "discard" {
			return errors.New("killed")
		}
		return nil
	})
	Discard(path)
	end()
	if _, err := os.Lstat(filepath.Join(path+".done", "a")); err != nil || Discarded(path) ||
		!Discarded(path+".done/") {
		t.Errorf("renamed: %v", err)
	}
	check := func(want ...string) {
		t.Helper()
		if got := namesIn(t, parent); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	check("other-1.done", "test-1.done", "test-2", "test-x1.done")
	RemoveDiscarded(parent, "test-")
	check("other-1.done", "test-2", "test-x1.done")
	if err := os.Mkdir(path+".done", 0o700); err != nil {
		t.Fatal(err)
	}
	Discard(path)
	check("other-1.done", "test-2", "test-x1.done")
}
