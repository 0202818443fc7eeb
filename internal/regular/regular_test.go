package regular

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(path("file"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", path("zeros")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{"pipe": ErrIrregular, "zeros": ErrIrregular, ".": ErrIrregular,
		"none": fs.ErrNotExist} {
		if f, err := Open(path(name)); f != nil || !errors.Is(err, want) {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
	f, err := Open(path("file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if text, err := io.ReadAll(f); string(text) != "text" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}
