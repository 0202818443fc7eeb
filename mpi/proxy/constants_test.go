//go:build linux

package proxy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/mpitest"
)

// TestConstants compares numbers with those of the implementations.
func TestConstants(t *testing.T) {
	for _, m := range mpitest.Installed(t) {
		mpi := map[string]int{"mpich": mpich, "openmpi": openMPI}[m.Name]
		source := "#include <mpi.h>\n"
		for _, lists := range []map[string][]implemented{named, flags} {
			for _, list := range lists {
				for _, c := range list {
					source += fmt.Sprintf("_Static_assert(%s == %d, \"%s\");\n", c.name, c.value[mpi], c.name)
				}
			}
		}
		path := filepath.Join(t.TempDir(), "constants.c")
		if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(m.CC, "-fsyntax-only", path).CombinedOutput(); err != nil ||
			strings.Contains(string(out), "error") {
			t.Errorf("%s: %v\n%s", m.Name, err, out)
		}
	}
}
