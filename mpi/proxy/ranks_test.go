//go:build linux

package proxy_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/internal/test/mpitest/recorded"
	"github.com/reprise-trace/reprise/mpi/extrapolate"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// TestProxyOfAnotherRun writes proxies for numbers of ranks that no trace has: they make the calls that the
// programs make there. -all tries more.
func TestProxyOfAnotherRun(t *testing.T) {
	for _, p := range []struct {
		name, program string
		arguments     []string
		ranks         []int // the last is extrapolated from the others
	}{
		{"stencil", "../../examples/stencil/stencil.c", []string{"20"}, []int{2, 4, 5, 3}},
		{"stencil on 9", "../../examples/stencil/stencil.c", []string{"20"}, []int{4, 16, 25, 9}},
		{"cg", "../../bench/recording/kernels.c", []string{"cg", "2"}, []int{2, 4, 8, 32, 16}},
		{"lu", "../../bench/recording/kernels.c", []string{"lu", "2"}, []int{2, 4, 8, 32, 16}},
	} {
		mpitest.ForEach(t, func(t *testing.T, m *mpitest.MPI) {
			t.Run(p.name, func(t *testing.T) {
				if !*all && (p.name != "stencil" || m.Name != "mpich") {
					t.Skip("-all tries it")
				}
				checkProxy(t, m, checkExtrapolation(t, m, p.program, p.arguments, p.ranks, "none"))
			})
		})
	}
}

// TestExtrapolation compares what runs on 4, 16 and 64 ranks give for 256 with runs on 256, with -all. That
// takes minutes a program on two processors.
func TestExtrapolation(t *testing.T) {
	if !*all {
		t.Skip("-all tries it")
	}
	for _, p := range []struct {
		name, program string
		arguments     []string
	}{
		{"torus", "testdata/patterns.c", []string{"torus", "4"}},
		{"plane", "testdata/patterns.c", []string{"plane", "4"}},
		{"cg", "testdata/patterns.c", []string{"cg", "4"}},
		{"lu", "testdata/patterns.c", []string{"lu", "4"}},
		{"bt", "testdata/patterns.c", []string{"bt", "2"}},
		{"stencil", "../../examples/stencil/stencil.c", []string{"20"}},
		{"kernel bt", "../../bench/recording/kernels.c", []string{"bt", "2"}},
	} {
		mpitest.ForEach(t, func(t *testing.T, m *mpitest.MPI) {
			t.Run(p.name, func(t *testing.T) {
				if m.Name != "mpich" {
					t.Skip("256 ranks with MPICH only")
				}
				checkExtrapolation(t, m, p.program, p.arguments, []int{4, 16, 64, 256}, "caller")
			})
		})
	}
}

// checkExtrapolation records a program on several numbers of ranks, and checks that what is made of all but
// the last is the last, which it returns. Sites is what record has under --sites: ranks at an edge do what
// others do at the same call site.
func checkExtrapolation(t *testing.T, m *mpitest.MPI, source string, arguments []string, numbers []int,
	sites string) *trace.Trace {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command(m.CC, "-w", "-g", "-O2", "-o", program, source, "-lm").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var traces []*trace.Trace
	for _, ranks := range numbers {
		traces = append(traces, recorded.Trace(t, m, func(o mpitest.Options) {
			o.Ranks, o.Limit, o.Env = ranks, 3*time.Minute*time.Duration(1+ranks/64),
				append(o.Env, "REPRISE_SITES="+sites)
			if output := m.Run(t, o, program, arguments...); output.Status != 0 {
				t.Fatalf("status %d: %s", output.Status, output.Rest)
			}
		}))
	}
	last := len(traces) - 1
	r, err := extrapolate.Make(t.Context(), traces[:last],
		extrapolate.Options{Ranks: numbers[last], Check: query.Faults})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := r.Write(&file); err != nil {
		t.Fatal(err)
	}
	made, err := trace.OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()), trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for rank := range made.Ranks() {
		compareCalls(t, rank, callTexts(t, traces[last], rank), callTexts(t, made, rank), nil)
	}
	return made
}
