//go:build linux

package proxy_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/internal/test/mpitest/recorded"
)

// TestForced checks the proxy of a program whose calls depend on what comes first.
func TestForced(t *testing.T) { testProxyOf(t, "forced.c", 3) }

// testProxyOf checks the proxy of a program in testdata, run by so many ranks: it makes all calls.
func testProxyOf(t *testing.T, name string, ranks int, arguments ...string) {
	source, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		m.Parallel(t)
		program := filepath.Join(t.TempDir(), "program")
		if out, err := exec.Command(m.CC, "-w", "-o", program, source).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		trace := recorded.Trace(t, m, func(o mpitest.Options) {
			o.Ranks, o.Limit = ranks, limit
			if output := m.Run(t, o, program, arguments...); output.Status != 0 {
				t.Fatalf("status %d: %s", output.Status, output.Rest)
			}
		})
		checkWhole(t, trace)
		checkSanitized(t, m, trace)
		checkProxy(t, m, trace)
	})
}
