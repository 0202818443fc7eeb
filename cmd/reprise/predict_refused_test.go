package main

import (
	"os"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// TestPredictDamaged checks that nothing is predicted of times that cannot be read, and that a trace without
// those of some ranks says so.
func TestPredictDamaged(t *testing.T) {
	t.Chdir(t.TempDir())
	writeScaling(t)
	whole, err := trace.Open("scale4.rpz", trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	data := readFile(t, "scale4.rpz")
	damaged := 0
	for _, s := range whole.Sections() {
		if s.Kind != layout.KindSeries && s.Kind != layout.KindSummaries {
			continue
		}
		damaged++
		writeFile(t, "damaged.rpz", flip(t, data, s.Kind, s.Key))
		r := invoke(t, "", "predict", "damaged.rpz", "-o", "out.rpz")
		if _, err := os.Stat("out.rpz"); r.status != cli.ExitFailure || err == nil || r.stdout != "" ||
			!strings.Contains(r.stderr, "reprise repair") {
			t.Errorf("%s: status %d, %q, %q; output %v", layout.KindName(s.Kind), r.status, r.stdout, r.stderr, err)
		}
	}
	if whole.Close(); damaged < 2 {
		t.Errorf("%d sections are of times", damaged)
	}
}

// TestPredictDeadlock checks that a run that cannot go on is said to be a matter for hang.
func TestPredictDeadlock(t *testing.T) {
	t.Chdir(t.TempDir())
	var parts []merge.Part
	for rank := range 2 {
		r, err := tracer.New(tracer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		calls := []testtrace.Call{testtrace.MPICall("MPI_Init"),
			testtrace.MPICall("MPI_Barrier", "comm", "MPI_COMM_WORLD")}
		for _, c := range calls[:2-rank] {
			r.Call(r.Declare(c.Function), c.Args...)
		}
		parts = append(parts, r.Finish(rank))
	}
	writeFile(t, "cut.rpz", string(testtrace.File(t, merge.Run{Source: collect.Source, Ranks: 2}, parts)))
	r := invoke(t, "", "predict", "cut.rpz")
	if r.status != cli.ExitFailure ||
		!strings.Contains(r.stderr,
			"reprise: cut.rpz: the run cannot be replayed to its end, as one that was cut short, for which there is reprise hang: replay: deadlock") {
		t.Errorf("%+v", r)
	}
}

// TestEfficiencyOfPrograms checks what is said of traces that are hardly of one program, and of options of
// one trace.
func TestEfficiencyOfPrograms(t *testing.T) {
	heat := readFile(t, heatTrace)
	t.Chdir(t.TempDir())
	writeFile(t, "heat.rpz", heat)
	writeScaling(t)
	if r := invoke(t, "", "efficiency", "scale2.rpz", "scale4.rpz"); r.status != cli.ExitOK ||
		strings.Contains(r.stderr, "one program") {
		t.Errorf("%+v", r)
	}
	r := invoke(t, "", "efficiency", "scale2.rpz", "heat.rpz")
	if want := "reprise: warning: scale2.rpz calls MPI_Barrier, and heat.rpz does not: traces are compared as runs of one program\n"; r.status != cli.ExitOK || r.stderr != want {
		t.Errorf("%+v, want %q", r, want)
	}
	if r := invoke(t, "", "efficiency", "--all", "scale2.rpz", "scale4.rpz"); r.status != cli.ExitUsage ||
		!strings.Contains(r.stderr, "--all shows all phases") {
		t.Errorf("%+v", r)
	}
}
