//go:build unix

package simgrid

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestRankWriterKeepsOthers checks that a file is not removed which the
// RankWriter did not create, if opening fails before it is known to exist.
func TestRankWriterKeepsOthers(t *testing.T) {
	dir := files(t, map[string]string{"t_rank-1.txt": "precious"})
	w, err := CreateRanks(t.Context(), dir, "t", 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := withoutFiles(t, w.Close); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("err = %v, want %v", err, syscall.EMFILE)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "t_rank-1.txt")); err != nil || string(data) != "precious" {
		t.Errorf("file = %q, %v", data, err)
	}
}

// withoutFiles returns what f returns when no file can be opened.
func withoutFiles(t *testing.T, f func() error) error {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	none := limit
	none.Cur = 0
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			t.Error(err)
		}
	}()
	return f()
}
