package interpose

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/internal/header"
	"github.com/reprise-trace/reprise/internal/test/e2e"
	"github.com/reprise-trace/reprise/internal/test/mpitest"
)

// quickCompiler makes a compiler command that is quick, for it writes nothing but a
// line to a file for each library that it is to build.
func quickCompiler(t *testing.T) (mpicc, built string) {
	t.Helper()
	mpitest.SkipUnderRace(t)
	directory := t.TempDir()
	mpicc, built = filepath.Join(directory, "mpicc"), filepath.Join(directory, "built")
	script := fmt.Sprintf(
		"#!/bin/sh\ncase \"$*\" in *-shared*) echo >>%s; sleep 0.1;; esac\nexec %s \"$@\" -fsyntax-only\n",
		built, compilers(t)[0])
	if err := os.WriteFile(mpicc, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return mpicc, built
}

func TestBuildInterposer(t *testing.T) {
	mpicc, built := quickCompiler(t)
	cache := filepath.Join(t.TempDir(), "cache", "of", "interposers")
	// One of several builds it, and says so.
	paths := make([]string, 4)
	var said atomic.Int32
	var building sync.WaitGroup
	for i := range paths {
		building.Go(func() {
			library, err := Build(t.Context(), mpicc, cache, func(string) { said.Add(1) })
			if err != nil {
				t.Error(err)
				return
			}
			paths[i] = library.Path
		})
	}
	building.Wait()
	if lines, err := os.ReadFile(built); err != nil || len(lines) != 1 || said.Load() != 1 ||
		slices.Max(paths) != slices.Min(paths) {
		t.Fatalf("built %d times and said %d times, %v, as %q", len(lines), said.Load(), err, paths)
	}
	if info, err := os.Stat(cache); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the cache: %v, %v", err, info.Mode())
	}
	other := filepath.Join(t.TempDir(), "mpicc.other") // an MPI has several names of its compiler command
	if err := os.Symlink(mpicc, other); err != nil {
		t.Fatal(err)
	}
	if library, err := Build(t.Context(), other, cache, func(string) { said.Add(1) }); err != nil ||
		library.Path != paths[0] || said.Load() != 1 {
		t.Errorf("by another name of the compiler: %+v, %v, said %d times", library, err, said.Load())
	}
	// What another could have changed is built again.
	for want, spoil := range []func() error{
		func() error { return nil },
		func() error { return os.Chmod(paths[0], 0o777) },
		func() error { return os.Rename(paths[0], paths[0]+".o") },
		func() error { return errors.Join(os.Remove(paths[0]), os.Symlink(paths[0]+".o", paths[0])) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		told := ""
		library, err := Build(t.Context(), mpicc, cache, func(mpi string) { told += mpi })
		if err == nil && (told != "") != (want > 0) || told != "" && told != library.MPI {
			t.Errorf("said to build for %q, %d times", told, want)
		}
		if err != nil || library.Path != paths[0] || !isPrivate(paths[0], 0) {
			t.Fatal(err, library.Path)
		}
		if lines, err := os.ReadFile(built); err != nil || len(lines) != 1+want {
			t.Errorf("built %d times, %v, want %d", len(lines), err, 1+want)
		}
	}
}

func TestPrivateDirectory(t *testing.T) {
	base, temporary := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	directory := func(name string, mode os.FileMode) string {
		path := filepath.Join(base, name)
		if err := errors.Join(os.Mkdir(path, 0o700), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file := filepath.Join(base, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(base, "link")
	if err := os.Symlink(directory("linked", 0o700), link); err != nil {
		t.Fatal(err)
	}
	foreign := directory("foreign", 0o755)
	if os.Getuid() == 0 {
		if err := os.Chown(foreign, 1, 1); err != nil {
			t.Fatal(err)
		}
	}
	own := filepath.Join(temporary, fmt.Sprintf("reprise-%d", os.Getuid()))
	tests := []struct{ name, wanted, want string }{
		{"New", filepath.Join(base, "a", "new"), filepath.Join(base, "a", "new")},
		{"Readable", directory("readable", 0o755), filepath.Join(base, "readable")},
		{"Link", link, filepath.Join(base, "linked")},
		{"Writable", directory("writable", 0o775), own},
		{"Space", filepath.Join(base, "a b"), own},
		{"Colon", filepath.Join(base, "a:b"), own},
		{"Dollar", filepath.Join(base, "$LIB"), own},
		{"File", file, own},
		{"Foreign", foreign, own},
		{"BelowWritable", filepath.Join(directory("open", 0o777), "cache"), own},
		{"BelowForeign", filepath.Join(foreign, "cache"), own},
		{"BelowSticky", filepath.Join(directory("sticky", 0o777|os.ModeSticky), "cache"),
			filepath.Join(base, "sticky", "cache")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if strings.Contains(tt.name, "Foreign") && os.Getuid() != 0 {
				t.Skip("only root can make a directory of another user")
			}
			got, err := privateDirectory(tt.wanted)
			if err != nil || got != tt.want || !isPrivate(got, os.ModeDir) {
				t.Errorf("%s, %v, want %s", got, err, tt.want)
			}
		})
	}
	if err := os.Chmod(own, 0o777); err != nil {
		t.Fatal(err)
	}
	if got, err := privateDirectory(file); err != nil || got == own || !isPrivate(got, os.ModeDir) {
		t.Errorf("%s, %v", got, err)
	}
	t.Setenv("TMPDIR", filepath.Join(base, "open"))
	if got, err := privateDirectory(file); err == nil || !strings.Contains(err.Error(), "would run as you") {
		t.Errorf("%s, %v", got, err)
	}
	t.Setenv("TMPDIR", directory("not here", 0o700))
	if got, err := privateDirectory(file); err == nil || !strings.Contains(err.Error(), "not here") {
		t.Errorf("%s, %v", got, err)
	}
	t.Setenv("TMPDIR", filepath.Join(base, "missing"))
	if got, err := privateDirectory(file); err == nil || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("%s, %v", got, err)
	}
}

// TestLock gives up waiting.
func TestLock(t *testing.T) {
	directory := t.TempDir()
	unlock, err := lock(t.Context(), directory)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := lock(ctx, directory); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("locked twice: %v", err)
	}
	unlock()
	if unlock, err = lock(t.Context(), directory); err != nil {
		t.Fatal(err)
	}
	unlock()
}

// TestInterruptedBuild checks that a build that is interrupted ends with all that the compiler
// command has started, and that the next one builds, and removes what others left that were killed.
func TestInterruptedBuild(t *testing.T) {
	mpicc, built := quickCompiler(t)
	cache := t.TempDir()
	slow := filepath.Join(t.TempDir(), "mpicc")
	started := slow + ".started"
	script := fmt.Sprintf(
		"#!/bin/sh\ncase \"$*\" in *-shared*) echo >%s; sleep 1000; exit;; esac\nexec %s \"$@\"\n", started, mpicc)
	if err := os.WriteFile(slow, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for _, err := os.Stat(started); err != nil && t.Context().Err() == nil; _, err = os.Stat(started) {
			time.Sleep(time.Millisecond)
		}
	}()
	if _, err := Build(ctx, slow, cache, nil); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	for _, name := range []string{unfinished + "1", unfinished + "versions-2"} {
		if err := os.WriteFile(filepath.Join(cache, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	library, err := Build(t.Context(), mpicc, cache, nil)
	if err != nil || !isPrivate(library.Path, 0) {
		t.Fatal(err)
	}
	if lines, err := os.ReadFile(built); err != nil || len(lines) != 1 {
		t.Errorf("built %d times, %v", len(lines), err)
	}
	if left, err := filepath.Glob(filepath.Join(cache, unfinished+"*")); err != nil || left != nil {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestBuildInterposerErrors(t *testing.T) {
	if _, err := Build(context.Background(), "/no/such/mpicc", t.TempDir(), nil); err == nil {
		t.Error("built without a compiler")
	}
	e2e.Programs(t)
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip(err)
	}
	// A compiler that knows no mpi.h.
	if _, err := Build(context.Background(), "cc", t.TempDir(), nil); err == nil ||
		!strings.Contains(err.Error(), "mpi.h") {
		t.Errorf("built without mpi.h: %v", err)
	}
}

// TestUnknown checks that functions that the table does not have, or not in this form, are not wrapped.
func TestUnknown(t *testing.T) {
	h := &header.Header{}
	var err error
	h.Functions, err = header.Parse(
		"int MPI_Barrier(MPI_Comm comm); int MPI_Wait(MPI_Request *r, double *s); int MPI_Novel(int n);")
	if err != nil {
		t.Fatal(err)
	}
	source, library, err := interposerSource(h)
	if err != nil {
		t.Fatal(err)
	}
	if library.Functions != 1 {
		t.Errorf("%d functions", library.Functions)
	}
	if text := string(source); !strings.Contains(text, "int wrapper_MPI_Barrier(intptr_t wide_comm)\n{") ||
		strings.Contains(text, "wrapper_MPI_Wait(") || strings.Contains(text, "MPI_Novel") {
		t.Error("the source is not that of the functions that are known")
	}
	if _, _, err := interposerSource(&header.Header{}); err == nil {
		t.Error("an mpi.h without functions was accepted")
	}
}
