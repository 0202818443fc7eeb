//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/programs"
	"github.com/reprise-trace/reprise/internal/test/e2e"
	"github.com/reprise-trace/reprise/internal/test/tier"

	"github.com/reprise-trace/reprise/internal/slicing"
	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/mpi/slice"
)

// TestSlice checks that sliced programs make the same traces as whole ones, each with one of the MPIs, and
// what is said of them.
func TestSlice(t *testing.T) {
	if err := slicing.Missing(); err != nil {
		t.Skip(err)
	}
	mpitest.SkipUnderRace(t)
	mpis := mpitest.Installed(t)
	hasCPlusPlus := exec.Command("clang-16", "-x", "c++", "-include", "vector", "-fsyntax-only",
		"/dev/null").Run() == nil
	for k, tt := range tier.Some([]struct {
		program string
		ranks   int
		explain string
		want    []string
	}{
		{"wavefront.c", 4, "wavefront.c:55", []string{"9 of 14 MPI calls executed",
			"wavefront.c:56 is a call of MPI\n"}},
		{"lengths.f", 2, "lengths.f:40", []string{"5 of 9 MPI calls executed",
			"lengths.f:40: nothing of it is kept\n"}},
		{"domains.cc", 3, "domains.cc:20", []string{"4 of 7 MPI calls executed", "domains.cc:20 is kept"}},
		{"converge.c", 2, "converge.c:38", []string{"11 of 12 MPI calls executed",
			"converge.c:38: nothing of it is kept\n"}},
	}, 3) {
		t.Run(tt.program, func(t *testing.T) {
			m := mpis[k%len(mpis)]
			if strings.HasSuffix(tt.program, ".cc") && !hasCPlusPlus {
				t.Skip("Clang has no C++ library: that of the package g++")
			}
			if strings.HasSuffix(tt.program, ".f") {
				if m = mpis[0]; m.Name != "mpich" {
					t.Skip("Fortran takes MPICH")
				}
				if _, err := exec.LookPath("flang-new-16"); err != nil {
					t.Skip(err)
				}
			}
			source := filepath.Join("testdata", "slice", tt.program)
			var traces []string
			for _, flags := range [][]string{{"--explain", tt.explain}, {"--whole"}} {
				directory := t.TempDir()
				app := filepath.Join(directory, "app")
				out := must(t, slices.Concat([]string{"slice", "--mpicc", m.CC, "-o", app}, flags,
					[]string{"--", source, "-lm"})...)
				for _, want := range tt.want {
					if len(traces) == 0 && !strings.Contains(out, want) {
						t.Errorf("%q is not in\n%s", want, out)
					}
				}
				trace := filepath.Join(directory, "app.rpz")
				record := process(t,
					slices.Concat([]string{"record", "--quiet", "--times", "none", "-o", trace, "--"},
						launcher(m, tt.ranks), []string{"./app"})...)
				record.Dir = directory
				record.Env = append(mpitest.Environment(t), runMain+"=1", "MPICC="+m.CC)
				if r := outcome(t, record); r.status != cli.ExitOK {
					t.Fatalf("status %d: %s", r.status, r.stderr)
				}
				traces = append(traces, trace)
			}
			if r := invoke(t, "", "diff", traces[0], traces[1]); r.status != cli.ExitOK {
				t.Errorf("%s%s", r.stdout, r.stderr)
			}
		})
	}
}

// TestFaultsOfSlice is TestFaults for the program and the library that slice writes, of one error.
func TestFaultsOfSlice(t *testing.T) {
	if err := slicing.Missing(); err != nil {
		t.Skip(err)
	}
	e2e.Programs(t)
	source, err := filepath.Abs(filepath.Join("testdata", "slice", "converge.c"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	command := []string{"slice", "--mpicc", theMPI(t).CC, "-o", "OUT", "--", source, "-lm"}
	outputs := outputsOf(t, command)
	if len(outputs) != 2 {
		t.Errorf("%d files", len(outputs))
	}
	checkFault(t, command, outputs, faults[0], tier.Number(5, 1))
}

// TestSliceOpen checks what is said of a program that receives from any source.
func TestSliceOpen(t *testing.T) {
	if err := slicing.Missing(); err != nil {
		t.Skip(err)
	}
	source := filepath.Join("testdata", "slice", "farm.c")
	out := must(t, "slice", "--mpicc", mpitest.Installed(t)[0].CC, "--explain", "nothing.c:3", "--explain",
		"farm.c:1", "-o", filepath.Join(t.TempDir(), "app"), "--", source)
	var answer programs.Slice
	decodeJSON(t, &answer, "slice", "--json", "--explain", source+":15", "--mpicc",
		mpitest.Installed(t)[0].CC, "-o", filepath.Join(t.TempDir(), "app"), "--", source)
	if a := answer; a.Open == nil || a.Open.Line != 15 || len(a.Calls) != 9 || a.Executed != 9 ||
		a.Files[0].Kept == 0 || len(a.Lines) != 1 || len(a.Lines[0].Steps) == 0 {
		t.Errorf("%+v", a)
	}
	if want := "all messages are sent, for MPI_Recv at " + source +
		":15: what it returns depends on which messages come first"; !strings.Contains(out, want) {
		t.Errorf("%q is not in\n%s", want, out)
	}
	for _, want := range []string{"nothing.c:3: the program has no instruction of a file of this name",
		"farm.c:1: the program has no instruction of this line"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}

// TestSliceFiles checks that what is kept of headers of libraries, and of what no source has, is one line
// each.
func TestSliceFiles(t *testing.T) {
	var out strings.Builder
	a := &programs.Slice{Files: []slice.Count{{File: "", Kept: 1, All: 2},
		{File: "/usr/include/c++/12/vector", Kept: 3, All: 4}, {File: "/usr/lib/x.h", Kept: 5, All: 6},
		{File: "a.cc", Kept: 7, All: 8}}}
	a.PrintFiles(&out)
	if want := "a.cc: 7 of 8 instructions kept\nheaders of libraries: 8 of 10 instructions kept\ncode added by compilers: 1 of 2 instructions kept\nall files: 16 of 20 instructions kept\n"; out.String() != want {
		t.Errorf("%s", out.String())
	}
}

// TestSliceAssume checks that what is assumed is reported, in the answer and in the trace, and that the trace
// is that of the whole program if the assumption holds.
func TestSliceAssume(t *testing.T) {
	if err := slicing.Missing(); err != nil {
		t.Skip(err)
	}
	mpitest.SkipUnderRace(t)
	m := mpitest.Installed(t)[0]
	source := filepath.Join("testdata", "slice", "steps.c")
	var traces []string
	for _, flags := range [][]string{{"--assume", "steps.c:27=never", "--assume-no-errors"}, {"--whole"}} {
		directory := t.TempDir()
		arguments := slices.Concat([]string{"--mpicc", m.CC, "-o", filepath.Join(directory, "app")}, flags,
			[]string{"--", "-DLIMIT=-1", source, "-lm"})
		var answer programs.Slice
		decodeJSON(t, &answer, slices.Concat([]string{"slice", "--json"}, arguments)...)
		if a := answer; flags[0] == "--assume" && (a.Executed != 4 || len(a.Assumed) != 2 ||
			a.Assumed[0].Line != 25 || a.Assumed[1].Line != 27 || a.Assumed[1].Always) {
			t.Errorf("%+v", a)
		}
		trace := filepath.Join(directory, "app.rpz")
		record := process(t,
			slices.Concat([]string{"record", "--quiet", "--times", "none", "-o", trace, "--"}, launcher(m, 2),
				[]string{"./app"})...)
		record.Dir = directory
		record.Env = append(mpitest.Environment(t), runMain+"=1", "MPICC="+m.CC)
		if r := outcome(t, record); r.status != cli.ExitOK {
			t.Fatalf("status %d: %s", r.status, r.stderr)
		}
		traces = append(traces, trace)
	}
	if r := invoke(t, "", "diff", "--ignore", "addresses", traces[0], traces[1]); r.status != cli.ExitOK {
		t.Errorf("%s%s", r.stdout, r.stderr)
	}
	conditions := "conditional on: " + source + ":25:7 never true, " + source + ":27:7 never true"
	if out := strings.Join(strings.Fields(must(t, "info", traces[0])), " "); !strings.Contains(out, conditions) {
		t.Errorf("%q is not in\n%s", conditions, out)
	}
	if out := must(t, "info", traces[1]); strings.Contains(out, "conditional on") {
		t.Error(out)
	}
}

// TestSliceErrors checks what is said of mistakes.
func TestSliceErrors(t *testing.T) {
	threads := filepath.Join(t.TempDir(), "threads.c")
	if err := os.WriteFile(threads,
		[]byte("#include <pthread.h>\nint main(void)\n{\n\treturn pthread_join(0, 0);\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	thrown, f08 := filepath.Join(t.TempDir(), "thrown.cc"), filepath.Join(t.TempDir(), "f08.f90")
	if err := os.WriteFile(thrown, []byte("#include <exception>\nint main()\n{\n\ttry { throw 1; } catch (...) { return std::current_exception() != nullptr; }\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f08,
		[]byte("program p\n  use, non_intrinsic :: mpi_f08\n  call MPI_Init()\nend program\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	part := filepath.Join(t.TempDir(), "part.c")
	if err := os.WriteFile(part,
		[]byte("int elsewhere(void);\nint main(void)\n{\n\treturn elsewhere();\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args   string
		status int
		want   string
	}{
		{"-o app -- " + thrown, cli.ExitFailure, "thrown.cc:4: _ZSt17current_exceptionv: exceptions that are kept or asked for are not supported"},
		{"-o app -- " + f08, cli.ExitFailure, "f08.f90:2: use mpi_f08 is not supported"},
		{"a.c", cli.ExitUsage, "slice takes the name of the program to write"},
		{"-o app", cli.ExitUsage, "there is no source to slice"},
		{"-o app -- a.c -c", cli.ExitUsage, "-c is no argument for slicing"},
		{"-o app -- a.c -fopenmp", cli.ExitUsage, "threads are not supported"},
		{"-o app -- a.rs", cli.ExitUsage, "a.rs is neither a source in C, C++ or Fortran nor an object or a library"},
		{"-o app --explain a.c -- a.c", cli.ExitUsage, "--explain takes a line"},
		{"-o app --assume a.c:3 -- a.c", cli.ExitUsage, "--assume takes a condition"},
		{"-o app --assume a.c:3:0=never -- a.c", cli.ExitUsage, "--assume takes a condition"},
		{"-o app --whole --assume-no-errors -- a.c", cli.ExitUsage,
			"--whole leaves nothing out: it takes no assumptions"},
		{"-o app --keep-errors --assume-no-errors -- a.c", cli.ExitUsage,
			"--keep-errors and --assume-no-errors contradict each other"},
		{"-o app --assume threads.c:4=never -- " + threads, cli.ExitFailure,
			"threads.c:4: there is no condition that the program branches on"},
		{"--as-compiler", cli.ExitUsage, "there is nothing to compile"},
		{"-o app -- compile_commands.json", cli.ExitFailure, "CMake writes it into the directory of the build"},
		{"-o app -- " + part, cli.ExitFailure, "none of the sources, objects and libraries has elsewhere"},
		{"-o app -- " + threads, cli.ExitFailure, threads + ":4: pthread_join: threads are not supported"},
	} {
		if err := slicing.Missing(); err != nil && tt.status == cli.ExitFailure {
			t.Skip(err)
		}
		if _, err := exec.LookPath("flang-new-16"); strings.Contains(tt.args, "f08") &&
			(err != nil || mpitest.Installed(t)[0].Name != "mpich") {
			continue
		}
		args := strings.Fields(tt.args)
		if tt.status == cli.ExitFailure {
			args = append([]string{"--mpicc", mpitest.Installed(t)[0].CC}, args...)
		}
		if r := invoke(t, "", append([]string{"slice"}, args...)...); r.status != tt.status ||
			!strings.Contains(r.stderr, tt.want) {
			t.Errorf("slice %s: status %d, %s", tt.args, r.status, r.stderr)
		}
	}
}
