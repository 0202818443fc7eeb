//go:build linux

package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/answer"
	"github.com/reprise-trace/reprise/internal/test/mpitest"
)

// TestSlow follows docs/slow.md with both MPIs: why names the rank and the computing that the others wait for, and
// the mended program has a better balance.
func TestSlow(t *testing.T) {
	mpitest.ForEach(t, func(t *testing.T, m *mpitest.MPI) {
		mpitest.SkipUnderRace(t)
		const attempts = 10 // another program may take a processor from another rank
		for attempt := 1; ; attempt++ {
			err := checkRows(whyRows(t, m), whyRows(t, m, "-DMENDED"))
			if err == nil {
				break
			}
			if t.Log(err); attempt == attempts {
				t.Fatal("no attempt found rank 3")
			}
		}
	})
}

// checkRows checks what is found of examples/rows, and of the same where rank 3 computes as long as the others.
func checkRows(slow, mended answer.Why) error {
	if w := slow.Waiting; w == nil || w.Rank != 3 || w.Cause.InCall || w.Cause.To.Function != "MPI_Irecv" {
		return fmt.Errorf("the cause is not the computing of rank 3: %q", slow.Sentences)
	}
	if a, b := slow.Factors.LoadBalance, mended.Factors.LoadBalance; a > 0.75 || b < a+0.1 {
		return fmt.Errorf("load balance is %.2f, and %.2f when mended", a, b)
	}
	return nil
}

// whyRows builds and records examples/rows, and returns the answer of why.
func whyRows(t *testing.T, m *mpitest.MPI, flags ...string) answer.Why {
	t.Helper()
	program := filepath.Join(t.TempDir(), "rows")
	source := filepath.Join("..", "..", "examples", "rows", "rows.c")
	arguments := append([]string{"-g", "-O2", "-o", program, source}, flags...)
	if out, err := exec.Command(m.CC, arguments...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	trace := program + ".rpz"
	line := m.Launch(4, program)
	if got := outcome(t, recorder(t, m, []string{"-o", trace, "--times", "exact"}, line...)); got.status != 0 {
		t.Fatalf("%+v", got)
	}
	var why answer.Why
	decodeJSON(t, &why, "why", "--json", trace)
	if why.Diagnosis == nil || why.Factors == nil {
		t.Fatalf("why does not know: %q", why.Sentences)
	}
	return why
}
