package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
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
