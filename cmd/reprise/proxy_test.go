package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
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
	if want := own + ": is there already: take a new directory, or remove it"; r.status != cli.ExitFailure ||
		!strings.Contains(r.stderr, want) {
		t.Errorf("%+v", r)
	}
	if got, err := os.ReadDir("own"); err != nil || len(got) != 1 || readFile(t, own) != "mine" {
		t.Errorf("%v %v", got, err)
	}
	must(t, "proxy", "heat.rpz", "-o", filepath.Join("new", "proxy"))
}

// TestProxyAgain checks that a proxy replaces an earlier one, but nothing that somebody has changed or
// written.
func TestProxyAgain(t *testing.T) {
	heat, lu := readFile(t, heatTrace), readFile(t, filepath.Join("testdata", "lu.W.16.ti.zst"))
	t.Chdir(t.TempDir())
	writeFile(t, "heat.rpz", heat)
	writeFile(t, "lu.ti.zst", lu)
	must(t, "compress", "lu.ti.zst", "-o", "lu.rpz") // of SimGrid: with a header of its own
	list := func(directory string) (names []string) {
		entries, err := os.ReadDir(directory)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name()+" "+readFile(t, filepath.Join(directory, e.Name())))
		}
		return names
	}
	must(t, "proxy", "heat.rpz", "-o", "fresh")
	must(t, "proxy", "lu.rpz", "-o", "p")
	if n := len(list("p")); n != len(list("fresh"))+1 {
		t.Errorf("%d files", n)
	}
	must(t, "proxy", "heat.rpz", "-o", "p")
	if got, want := list("p"), list("fresh"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, name := range []string{"main.c", "README", ".reprise-proxy"} {
		before := list("p")
		text := readFile(t, filepath.Join("p", name))
		writeFile(t, filepath.Join("p", name), text+"/* mine */")
		changed := list("p")
		r := invoke(t, "", "proxy", "lu.rpz", "-o", "p")
		if name == ".reprise-proxy" { // the list itself says nothing of its line
			if r.status != cli.ExitOK {
				t.Errorf("%s: %+v", name, r)
			}
			must(t, "proxy", "heat.rpz", "-o", "p")
			continue
		}
		if r.status != cli.ExitFailure ||
			!strings.Contains(r.stderr, filepath.Join("p", name)+
				": was changed since proxy wrote it: take a new directory, or remove it") ||
			!slices.Equal(list("p"), changed) {
			t.Errorf("%s: %+v", name, r)
		}
		writeFile(t, filepath.Join("p", name), text)
		if !slices.Equal(list("p"), before) {
			t.Fatal("not as before")
		}
	}
	own := filepath.Join("p", "simgrid.h") // of which the list of p says nothing
	writeFile(t, own, "mine")
	if r := invoke(t, "", "proxy", "lu.rpz", "-o", "p"); r.status != cli.ExitFailure ||
		!strings.Contains(r.stderr, own+": is there already") || readFile(t, own) != "mine" {
		t.Errorf("%+v", r)
	}
	must(t, "proxy", "heat.rpz", "-o", "p")
	if readFile(t, own) != "mine" {
		t.Error("a file that is not of the proxy is gone")
	}
}

// TestProxyWithoutTimes checks that a trace without times is said to have none, if a proxy is to compute.
func TestProxyWithoutTimes(t *testing.T) {
	var calls []testtrace.Call
	for _, name := range []string{"MPI_Init", "MPI_Finalize"} {
		calls = append(calls, testtrace.MPICall(name))
	}
	path := filepath.Join(t.TempDir(), "run.rpz")
	run := merge.Run{Ranks: 2, Origin: format.Origin{Commands: []string{"/opt/mpi/bin/mpiexec -n 2 ./solver"},
		Assumptions: []string{"a.c:1 is never true"}}}
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
	if r := invoke(t, "", "proxy", path, "-o", directory, "--compute", "spin"); r.status != cli.ExitUsage ||
		!strings.Contains(r.stderr, "reprise record --times") {
		t.Errorf("%+v", r)
	}
	out := must(t, "proxy", path, "-o", directory)
	for _, want := range []string{"conditional on a.c:1 is never true",
		"next: make -C " + directory + " CC=/opt/mpi/bin/mpicc && /opt/mpi/bin/mpiexec -n 2 " + directory + "/proxy"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in %s", want, out)
		}
	}
	if readme := readFile(t, filepath.Join(directory, "README")); !strings.Contains(readme, "a.c:1 is never true") {
		t.Errorf("%s", readme)
	}
}
