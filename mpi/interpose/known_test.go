package interpose

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/internal/test/mpitest"
)

// TestKept checks that a compiler command is not run again as long as nothing has changed that it says, and
// is if anything has.
func TestKept(t *testing.T) {
	mpitest.Installed(t)
	mpitest.SkipUnderRace(t)
	directory, cache := t.TempDir(), t.TempDir()
	mpicc, header, runs := filepath.Join(directory, "mpicc"), filepath.Join(directory, "mpi.h"),
		filepath.Join(directory, "runs")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	script := fmt.Sprintf(
		"#!/bin/sh\necho >>%s\ncase \"$*\" in *-fno-builtin-malloc*) exit ;; esac\nexec cc -I%s \"$@\"\n",
		runs, directory)
	write(mpicc, script)
	write(header, "int MPI_Finalize(void);\n")
	command := &Command{arguments: []string{mpicc}}
	for _, tt := range []struct {
		name   string
		change func()
		again  bool // the compiler runs
	}{
		{"first", func() {}, true},
		{"same", func() {}, false},
		{"header", func() { write(header, "int MPI_Finalize(void); int MPI_Barrier(int comm);\n") }, true},
		{"sameHeader", func() {}, false},
		{"time", func() {
			if err := os.Chtimes(header, time.Now(), time.Now().Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"command", func() { write(mpicc, script+"# changed\n") }, true},
		{"variable", func() { t.Setenv("OMPI_CFLAGS", "-DX") }, true},
		{"otherVariable", func() { t.Setenv("PMI_RANK", "3") }, false},
		{"spoilt", func() {
			kept, err := filepath.Glob(filepath.Join(cache, "*.json"))
			if err != nil || len(kept) < 2 {
				t.Fatal(kept, err)
			}
			for _, path := range kept {
				write(path, "{")
			}
		}, true},
	} {
		tt.change()
		_ = os.Remove(runs)
		if _, ok := Kept(t.Context(), command, mpicc, cache); ok == tt.again {
			t.Errorf("%s: what is kept is taken: %v", tt.name, ok)
		}
		if text, err := os.ReadFile(runs); !os.IsNotExist(err) {
			t.Errorf("%s: the compiler ran %d times to find what is kept", tt.name, len(text))
		}
		if _, err := Build(t.Context(), mpicc, cache, nil); err != nil {
			t.Fatal(tt.name, err)
		}
		if _, err := keptIn(cache).links(t.Context(), mpicc); err != nil {
			t.Fatal(tt.name, err)
		}
		if _, err := os.Stat(runs); (err == nil) != tt.again {
			t.Errorf("%s: the compiler ran: %v", tt.name, err == nil)
		}
	}
}

func keptIn(directory string) cache { return cache{directory: directory} }

// TestTake takes what another process has built, from whatever place has it as it was built.
func TestTake(t *testing.T) {
	place := func(text string) string {
		path := filepath.Join(t.TempDir(), "library.so")
		if text != "" {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return path
	}
	const right = "as it was built"
	for _, tt := range []struct {
		files []string
		err   string
	}{
		{[]string{place(right)}, ""},
		{[]string{place(""), place(right)}, ""},
		{[]string{place("forged"), place(right)}, ""},
		{[]string{place("forged")}, "it is not what was built"},
		{[]string{place("")}, "no such file"},
		{[]string{"/dev/zero", "/"}, "no regular file"},
		{nil, "no file is named"},
	} {
		cache := filepath.Join(t.TempDir(), "cache")
		path, err := Take(t.Context(), Digest([]byte(right)), tt.files, cache)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%q: %v", tt.files, err)
			}
			continue
		}
		if text, e := os.ReadFile(path); err != nil || e != nil || string(text) != right ||
			filepath.Dir(path) != cache || !IsPrivate(path) {
			t.Errorf("%q: %q has %q, %v", tt.files, path, text, errors.Join(err, e))
		}
		if again, err := Take(context.Background(), "", []string{filepath.Join("/gone", filepath.Base(path))},
			cache); err != nil || again != path {
			t.Errorf("what is there is not taken: %q, %v", again, err)
		}
	}
}
