package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/testtrace"
	"github.com/reprise-trace/reprise/merge"
)

// TestProxyFiles checks that what is there already is kept, and that nothing else is written then.
func TestProxyFiles(t *testing.T) {
	heat := readFile(t, heatTrace)
	t.Chdir(t.TempDir())
	writeFile(t, "heat.rpz", heat)
	if err := os.Mkdir("own", 0o777); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join("own", "main.c")
	writeFile(t, own, "mine")
	r := invoke(t, "", "proxy", "heat.rpz", "-o", "own")
	if want := own + ": is there already: take a new directory, or remove it"; r.status != exitFailure || !strings.Contains(r.stderr, want) {
		t.Errorf("%+v", r)
	}
	if got, err := os.ReadDir("own"); err != nil || len(got) != 1 || readFile(t, own) != "mine" {
		t.Errorf("%v %v", got, err)
	}
	must(t, "proxy", "heat.rpz", "-o", filepath.Join("new", "proxy"))
}

// TestProxyWithoutTimes checks that a trace without times is said to have none, if a proxy is to compute.
func TestProxyWithoutTimes(t *testing.T) {
	var calls []testtrace.Call
	for _, name := range []string{"MPI_Init", "MPI_Finalize"} {
		calls = append(calls, testtrace.MPICall(name))
	}
	path := filepath.Join(t.TempDir(), "run.rpz")
	run := merge.Run{Ranks: 2, Origin: merge.Origin{Commands: []string{"/opt/mpi/bin/mpiexec -n 2 ./solver"}, Assumptions: []string{"a.c:1 is never true"}}}
	trace := testtrace.Record(t, run, false, [][]testtrace.Call{calls, calls})
	var parts []merge.Part
	for rank := range trace.Ranks() {
		part, err := trace.Part(rank)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, part)
	}
	writeFile(t, path, string(testtrace.File(t, run, parts)))
	directory := filepath.Join(t.TempDir(), "proxy")
	if r := invoke(t, "", "proxy", path, "-o", directory, "--compute", "spin"); r.status != exitUsage || !strings.Contains(r.stderr, "reprise record --times") {
		t.Errorf("%+v", r)
	}
	out := must(t, "proxy", path, "-o", directory)
	for _, want := range []string{"conditional on a.c:1 is never true", "next: make -C " + directory + " CC=/opt/mpi/bin/mpicc && /opt/mpi/bin/mpiexec -n 2 " + directory + "/proxy"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in %s", want, out)
		}
	}
	if readme := readFile(t, filepath.Join(directory, "README")); !strings.Contains(readme, "a.c:1 is never true") {
		t.Errorf("%s", readme)
	}
}
