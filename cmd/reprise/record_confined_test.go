//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/test/mpitest"
)

// TestRecordConfined records programs that can open no files any more, and then make more calls than the
// segments hold that there are by then.
func TestRecordConfined(t *testing.T) {
	m := theMPI(t)
	if os.Geteuid() != 0 {
		t.Skip("only root may chroot and setuid")
	}
	program := m.Build(t, "confined.c")
	for _, how := range []string{"chroot", "setuid", "seccomp", "kill"} {
		t.Run(how, func(t *testing.T) {
			m.Parallel(t)
			const calls = 400_000
			directory := t.TempDir()
			trace, raw := filepath.Join(directory, "run.rpz"), filepath.Join(directory, "raw")
			got := outcome(t, recorder(t, m, []string{"-o", trace, "--keep-raw", raw, "--times", "none"},
				m.Launch(1, program, how, "400000")...))
			if n := countOfRank(t, trace, 0); n < calls || n > calls+10 ||
				strings.Contains(got.stderr, "not recorded") {
				t.Errorf("%d calls: %s", n, got.stderr)
			}
			again := filepath.Join(directory, "again.rpz")
			if r := invoke(t, "", "collect", raw, "-o", again, "--times", "none"); r.status != cli.ExitOK ||
				countOfRank(t, again, 0) < calls {
				t.Errorf("collected again: %+v", r)
			}
		})
	}
}

// TestRecordSpares checks that no file is left of those that are kept ready for programs that can open none.
func TestRecordSpares(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		directory := t.TempDir()
		raw := filepath.Join(directory, "raw")
		got := outcome(t,
			recorder(t, m, []string{"-o", filepath.Join(directory, "run.rpz"), "--keep-raw", raw},
				m.Launch(2, m.Build(t, "p2p.c"))...))
		if left, err := filepath.Glob(filepath.Join(raw, "*.spare")); err != nil || len(left) > 0 || got.status != 0 {
			t.Errorf("%+v left %s", got, left)
		}
	})
}
