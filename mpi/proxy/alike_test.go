//go:build linux

package proxy_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/internal/test/mpitest/recorded"
)

// TestAlike checks the proxies of ranks of one shape whose strings differ, and of a rank that asks for
// messages, which may come between two calls of it, until they are there.
func TestAlike(t *testing.T) {
	source, err := filepath.Abs("testdata/alike.c")
	if err != nil {
		t.Fatal(err)
	}
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		m.Parallel(t)
		program := filepath.Join(t.TempDir(), "alike")
		if out, err := exec.Command(m.CC, "-o", program, source).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for _, arguments := range [][]string{nil, {"matched"}} {
			trace := recorded.Trace(t, m, func(o mpitest.Options) {
				o.Ranks, o.Limit = 2, limit
				if output := m.Run(t, o, program, arguments...); output.Status != 0 {
					t.Fatalf("status %d: %s", output.Status, output.Rest)
				}
			})
			checkSanitized(t, m, trace)
			checkProxy(t, m, trace)
		}
	})
}
