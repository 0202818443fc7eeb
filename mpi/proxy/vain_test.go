//go:build linux

package proxy_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/internal/test/mpitest/recorded"
)

// TestVain checks that the proxy of a program that asks in vain makes its other calls each time, and asks where it can find nothing.
func TestVain(t *testing.T) {
	source, err := filepath.Abs("testdata/vain.c")
	if err != nil {
		t.Fatal(err)
	}
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		m.Parallel(t)
		program := filepath.Join(t.TempDir(), "vain")
		if out, err := exec.Command(m.CC, "-o", program, source).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		trace := recorded.Trace(t, m, func(o mpitest.Options) {
			o.Ranks, o.Limit = 3, limit
			if output := m.Run(t, o, program); output.Status != 0 {
				t.Fatalf("status %d: %s", output.Status, output.Rest)
			}
		})
		for range 3 {
			checkProxy(t, m, trace)
		}
	})
}
