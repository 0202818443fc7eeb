package collect_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/mpi/collect"
)

// TestDevices records a program that uses the memory of devices, by a library that has the
// functions of CUDA and HIP but no devices.
func TestDevices(t *testing.T) {
	mpitest.ForEach(t, func(t *testing.T, m *mpitest.MPI) {
		m.Parallel(t)
		directory := t.TempDir()
		stub := filepath.Join(directory, "libstub.so")
		if output, err := exec.Command("gcc", "-shared", "-fPIC", "-o", stub,
			filepath.Join("testdata", "devices", "stub.c")).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		r := record(t, m, mpitest.Program{Source: "devices.c", Ranks: 1,
			Flags: []string{"-Wl,--no-as-needed", stub, "-Wl,-rpath," + directory}})
		want := []cst.Pointer{
			{Segment: 0, Displacement: 16, Device: 1}, {Segment: 1, Displacement: 999, Device: 2},
			{Segment: 2, Displacement: 0, Device: 2},
			{Segment: 3, Displacement: 0, Device: 0}, {Segment: 4, Displacement: 1024, Device: 2},
			{Segment: 5, Displacement: 8, Device: 3},
			{Segment: 5, Displacement: 4, Device: 2},
		}
		rank, err := r.trace.Rank(0)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for call, err := range rank.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			if call.Function.Name != "MPI_Sendrecv" {
				continue
			}
			tag, _ := call.Arg("sendtag")
			if buf, _ := call.Arg("sendbuf"); buf.Pointer() != want[tag.Int()] {
				t.Errorf("%s: %+v, want %+v", call, buf.Pointer(), want[tag.Int()])
			}
			n++
		}
		if n != len(want) {
			t.Errorf("%d messages, want %d", n, len(want))
		}
		if n, err := collect.Compare(context.Background(), r.spool, callsOf(t, r.trace)); err != nil ||
			n != r.summary.Calls {
			t.Errorf("%d of %d calls are as recorded: %v", n, r.summary.Calls, err)
		}
	})
}
