//go:build linux

package extrapolate_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/internal/test/mpitest/recorded"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/mpi/extrapolate"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// kernels are programs in testdata, and the numbers of ranks of traces, of which the last is made from the others.
var kernels = []struct {
	file, name string
	numbers    []int
}{
	{"lines", "lastroot", []int{2, 3, 4, 5, 8}}, {"grids", "torus", []int{4, 6, 9, 12}},
	{"lines", "ring", []int{2, 3, 4, 8}}, {"lines", "ringwait", []int{3, 4, 5, 8}},
	{"lines", "chain", []int{3, 4, 5, 8}},
	{"lines", "line", []int{3, 4, 5, 7, 8}}, {"lines", "ep", []int{2, 4, 8}}, {"lines", "tree", []int{4, 7, 8, 11, 12}},
	{"lines", "binomial", []int{4, 6, 8, 12, 16}}, {"lines", "hypercube", []int{4, 8, 16, 32}},
	{"lines", "halving", []int{4, 8, 16, 32}}, {"lines", "dissemination", []int{4, 8, 16, 32}},
	{"lines", "master", []int{3, 4, 6, 8}}, {"lines", "farm", []int{3, 4, 6, 7, 11}},
	{"lines", "pairwise", []int{4, 8, 16, 32}},
	{"lines", "ringreduce", []int{4, 6, 8, 12}}, {"lines", "panels", []int{4, 6, 8, 10}},
	{"lines", "roots", []int{4, 6, 8, 10}},
	{"lines", "is", []int{4, 8, 16, 32}}, {"lines", "ft", []int{4, 8, 16, 32}},
	{"lines", "gathered", []int{3, 4, 6, 7, 8}},
	{"lines", "written", []int{3, 4, 6, 8}}, {"lines", "windows", []int{3, 4, 6, 8}},
	{"lines", "wide", []int{5, 6, 8, 10}},
	{"grids", "plane", []int{6, 12, 20, 30}}, {"grids", "box", []int{8, 27, 64, 125}},
	{"grids", "near", []int{6, 12, 16, 24, 36}},
	{"grids", "lu", []int{4, 8, 16, 32}}, {"grids", "cg", []int{4, 8, 16, 32}}, {"grids", "sp", []int{4, 9, 16, 25}},
	{"grids", "pencils", []int{4, 9, 16, 36}}, {"grids", "summa", []int{4, 9, 16, 25}},
	{"grids", "cannon", []int{4, 9, 16, 25}},
	{"grids", "halo26", []int{8, 27, 64, 125}}, {"grids", "mg", []int{8, 16, 32, 64, 128}},
	{"sized", "", []int{2, 3, 4, 6}},
	{"lines", "oddeven", []int{4, 6, 8, 16}}, {"grids", "box", []int{12, 27, 36, 48}},
	{"mixed", "redblack", []int{6, 12, 20, 30}}, {"mixed", "sweeps", []int{4, 9, 16, 25}},
	{"mixed", "diagonals", []int{4, 6, 9, 12, 16}}, {"mixed", "chunks", []int{3, 4, 6, 8, 11}},
	{"mixed", "fromone", []int{3, 5, 6, 8, 12}}, {"mixed", "bruck", []int{4, 8, 16, 32}},
	{"mixed", "faces", []int{8, 12, 27, 36}}, {"mixed", "graph", []int{3, 4, 6, 8}},
	{"mixed", "files", []int{2, 4, 5, 8}}, {"mixed", "onefile", []int{2, 3, 4, 6}},
	{"mixed", "doubling", []int{3, 5, 6, 7, 12}}, {"mixed", "triangle", []int{3, 4, 6, 8}},
	{"mixed", "nodes", []int{4, 6, 8, 12}}, {"mixed", "fan", []int{5, 8, 16, 24, 32}},
	{"mixed", "tokens", []int{3, 4, 6, 8}}, {"mixed", "layers", []int{8, 32, 72, 128}},
	{"stranger", "farm", []int{6, 8, 10, 12}}, {"stranger", "pipeline", []int{6, 8, 10, 12}},
	{"stranger", "wavefront", []int{4, 9, 16, 25}}, {"stranger", "tokens3", []int{6, 8, 10, 12}},
	{"stranger", "halo1p", []int{6, 8, 10, 12}}, {"stranger", "halo1", []int{4, 8, 16, 32}},
	{"stranger", "halo2p", []int{6, 12, 20, 30}}, {"stranger", "halo2", []int{4, 9, 16, 25}},
	{"stranger", "halo3", []int{8, 27, 64, 125}}, {"stranger", "transpose", []int{6, 8, 10, 12}},
	{"stranger", "butterfly", []int{4, 8, 16, 32}}, {"stranger", "binomial", []int{6, 8, 10, 12}},
	{"stranger", "colormod", []int{6, 8, 10, 12}}, {"stranger", "colordiv", []int{4, 8, 16, 32}},
	{"stranger", "colormod4", []int{4, 8, 16, 32}}, {"stranger", "colordiv2", []int{6, 8, 10, 12}},
	{"stranger", "cartsub", []int{4, 9, 16, 25}}, {"stranger", "fence", []int{6, 8, 10, 12}},
	{"stranger", "file", []int{6, 8, 10, 12}}, {"stranger", "checkpoint", []int{6, 8, 10, 12}},
	{"stranger", "redscat", []int{6, 8, 10, 12}}, {"stranger", "neighbours", []int{4, 9, 16, 25}},
	{"stranger", "bodies", []int{6, 8, 10, 12}}, {"stranger", "samples", []int{6, 8, 10, 12}},
	{"stranger", "rows", []int{6, 8, 10, 12}}, {"stranger", "scatter", []int{6, 8, 10, 12}},
	{"stranger", "matvec", []int{4, 9, 16, 25}}, {"stranger", "life", []int{4, 8, 16, 32}},
	{"stranger", "steps", []int{6, 8, 10, 12}}, {"stranger", "cannon", []int{4, 9, 16, 25}},
	{"stranger", "columns", []int{6, 8, 10, 12}}, {"lines", "line", []int{4, 6, 8, 12}},
	{"stranger", "scan", []int{4, 8, 16, 32}}, {"stranger", "scan", []int{6, 8, 10, 12}},
}

// TestKernels records programs on several numbers of ranks, and compares what is made with what is recorded: none is
// wrong, and nearly all are made.
func TestKernels(t *testing.T) {
	mpitest.ForEach(t, func(t *testing.T, m *mpitest.MPI) {
		if m.Name != "mpich" {
			t.Skip("many ranks with MPICH only")
		}
		made, tried := 0, kernels[:tier.Number(1, len(kernels))]
		for _, k := range tried {
			t.Run(k.file+" "+k.name, func(t *testing.T) {
				if checkKernel(t, m, k.file, k.name, k.numbers) {
					made++
				}
			})
		}
		if made*10 < len(tried)*9 {
			t.Errorf("%d of %d are made", made, len(tried))
		}
	})
}

// checkKernel reports whether a trace is made, and checks that it is that which is recorded.
func checkKernel(t *testing.T, m *mpitest.MPI, file, name string, numbers []int) bool {
	var traces []*trace.Trace
	for _, ranks := range numbers {
		program := filepath.Join(t.TempDir(), "program")
		out, err := exec.Command(m.CC, "-w", "-g", "-O1", fmt.Sprintf("-DNP=%d", ranks), "-o", program,
			filepath.Join("testdata", file+".c")).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		traces = append(traces, recorded.Trace(t, m, func(o mpitest.Options) {
			o.Ranks, o.Limit = ranks, 3*time.Minute*time.Duration(1+ranks/64)
			o.Env = append(o.Env, "REPRISE_SITES=caller")
			if output := m.Run(t, o, program, name); output.Status != 0 {
				t.Fatalf("status %d: %s", output.Status, output.Rest)
			}
		}))
	}
	last := len(traces) - 1
	r, err := extrapolate.Make(t.Context(), traces[:last],
		extrapolate.Options{Ranks: numbers[last], Check: query.Faults,
			Ignore: extrapolate.Ignored{Addresses: true}})
	if err != nil {
		t.Log(err)
		return false
	}
	d, err := query.OpenDiff(t.Context(), writtenTrace(t, r), traces[last], query.DiffOptions{
		Ignore: query.Ignored{Addresses: true, Sites: true, Arguments: true}})
	if err != nil {
		t.Fatal(err)
	}
	if !d.Equal() {
		t.Fatalf("ranks %v differ: %v", d.Different, r.Fits)
	}
	return true
}
