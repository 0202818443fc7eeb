package mpitest_test

import (
	"os"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/mpitest"
)

func TestMain(m *testing.M) { os.Exit(mpitest.Main(m)) }

// TestPrograms runs each program: it checks what it computes.
func TestPrograms(t *testing.T) {
	mpitest.ForEach(t, func(t *testing.T, m *mpitest.MPI) {
		for _, p := range mpitest.Programs() {
			t.Run(p.Name(), func(t *testing.T) {
				output := m.RunProgram(t, p, mpitest.Options{})
				for rank, text := range output.Ranks {
					if !p.Dies && !strings.HasSuffix(text, "end\n") {
						t.Errorf("rank %d printed %q", rank, text)
					}
				}
			})
		}
	})
}
