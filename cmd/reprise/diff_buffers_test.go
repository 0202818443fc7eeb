package main

import (
	"os"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/test/mpitest"
)

// TestDiffBuffers compares recordings of a program that was built twice, with other buffers for some messages
// and an address where there was none for nothing: but for addresses they are equal, as the numbers of
// requests do not depend on these.
func TestDiffBuffers(t *testing.T) {
	for _, m := range mpitest.Installed(t) {
		mpitest.SkipUnderRace(t)
		t.Run(m.Name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			for name, flags := range map[string][]string{"one": nil, "others": {"-DOTHERS"}} {
				program, err := os.ReadFile(m.Build(t, "buffers.c", flags...))
				if err == nil {
					// both have one name, which is an argument of MPI_Init
					err = os.WriteFile("program", program, 0o755)
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := outcome(t, recorder(t, m, []string{"-o", name + ".rpz"},
					m.Launch(1, "./program")...)); got.status != 0 {
					t.Fatalf("%+v", got)
				}
			}
			if r := invoke(t, "", "diff", "one.rpz", "others.rpz", "--ignore", "sites"); r.status != cli.ExitFailure {
				t.Errorf("with addresses: %+v", r)
			}
			if r := invoke(t, "", "diff", "one.rpz", "others.rpz", "--ignore",
				"addresses,sites"); r.status != cli.ExitOK || !strings.Contains(r.stdout, "equal") {
				t.Errorf("%+v", r)
			}
		})
	}
}
