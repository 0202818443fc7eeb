//go:build linux

package proxy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/mpitest"
)

// clocked is a program that counts how often a proxy looks at the clock.
const clocked = `#define _GNU_SOURCE
#include <time.h>
static int looks;
static int look(clockid_t id, struct timespec *t)
{
    (void)id;
    t->tv_sec = 0, t->tv_nsec = 1000L * ++looks;
    return 0;
}
#define clock_gettime look
#include "proxy.c"
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    begin(MPI_COMM_WORLD, 1);
    int before = looks;
    compute(1e-5);
    int first = looks - before;
    compute(1e-3);
    MPI_Finalize();
    return before > 0 ? 3 : first == 0 || looks - before <= first ? 4 : 0;
}
`

// TestStartup checks that a proxy does not measure the processor before its first gap, but in gaps.
func TestStartup(t *testing.T) {
	source, err := filepath.Abs("runtime")
	if err != nil {
		t.Fatal(err)
	}
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		directory := t.TempDir()
		text, program := filepath.Join(directory, "clocked.c"), filepath.Join(directory, "clocked")
		if err := os.WriteFile(text, []byte(clocked), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(m.CC, "-w", "-I", source, "-o", program, text).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		line := m.Command(1, directory, program)
		c := exec.Command(line[0], line[1:]...)
		c.Env = mpitest.Environment(t)
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
}
