//go:build linux

package proxy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/internal/test/mpitest/recorded"
)

// melt is the example of LAMMPS, smaller.
const melt = "units lj\natom_style atomic\nlattice fcc 0.8442\nregion box block 0 6 0 6 0 6\ncreate_box 1 box\ncreate_atoms 1 box\nmass 1 1.0\n" +
	"velocity all create 3.0 87287\npair_style lj/cut 2.5\npair_coeff 1 1 1.0 1.0 2.5\nneighbor 0.3 bin\nfix 1 all nve\nthermo 10\nrun 30\n"

// hpcc is the input of hpcc: the settings of HPL, and those of PTRANS.
const hpcc = "HPLinpack benchmark input file\n\nHPL.out\n8\n1\n200\n1\n80\n0\n1\n2\n2\n16.0\n1\n2\n1\n4\n1\n2\n1\n1\n1\n1\n1\n0\n2\n64\n0\n0\n1\n8\n" +
	"\n0\n1200 10000 30000\n0\n40 9 8 13 13 20 16 32 64\n"

// TestProxyApplications records programs that compute, and their proxies, with -all.
func TestProxyApplications(t *testing.T) {
	if !*all {
		t.Skip("-all tries the proxies of applications")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []struct {
		name, program string
		arguments     []string
		ranks         int
	}{
		{"stencil", "examples/stencil/stencil.c", []string{"20"}, 4},
		{"heat", "examples/notebook/heat.c", nil, 4},
		{"ep", "bench/recording/kernels.c", []string{"ep", "2"}, 4},
		{"cg", "bench/recording/kernels.c", []string{"cg", "2"}, 4},
		{"mg", "bench/recording/kernels.c", []string{"mg", "2"}, 4},
		{"ft", "bench/recording/kernels.c", []string{"ft", "2"}, 4},
		{"is", "bench/recording/kernels.c", []string{"is", "20"}, 4},
		{"lu", "bench/recording/kernels.c", []string{"lu", "2"}, 4},
		{"bt", "bench/recording/kernels.c", []string{"bt", "6"}, 4},
		{"sp", "bench/recording/kernels.c", []string{"sp", "6"}, 9},
		{"lammps", "lmp", []string{"-in", "in.melt", "-log", "none"}, 4},
		{"hpcc", "hpcc", nil, 4},
	} {
		mpitest.ForEach(t, func(t *testing.T, m *mpitest.MPI) {
			t.Run(p.name, func(t *testing.T) {
				t.Chdir(t.TempDir())
				for name, text := range map[string]string{"in.melt": melt, "hpccinf.txt": hpcc} {
					if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				program := p.program
				if strings.HasSuffix(program, ".c") {
					program = filepath.Join(t.TempDir(), "program")
					if out, err := exec.Command(m.CC, "-g", "-O2", "-o", program,
						filepath.Join(root, p.program), "-lm").CombinedOutput(); err != nil {
						t.Fatalf("%v: %s", err, out)
					}
				} else if program, err = exec.LookPath(program); err != nil || m.Name != "openmpi" {
					t.Skip("not installed, or not for this MPI")
				}
				trace := recorded.Trace(t, m, func(o mpitest.Options) {
					o.Ranks, o.Limit = p.ranks, 3*time.Minute
					if output := m.Run(t, o, program, p.arguments...); output.Status != 0 {
						t.Fatalf("status %d: %s", output.Status, output.Rest)
					}
				})
				checkSanitized(t, m, trace)
				if exceptions[m.Name][p.name] == "" {
					checkProxy(t, m, trace)
				}
			})
		})
	}
}
