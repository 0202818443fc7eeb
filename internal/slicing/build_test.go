//go:build linux

package slicing

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/mpi/slice"
)

// write writes files into the working directory.
func write(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

const barrier = "#include <mpi.h>\nint main(int argc, char **argv)\n{\n" +
	"\tMPI_Init(&argc, &argv);\n\tif (argc > SIZE)\n\t\tMPI_Abort(MPI_COMM_WORLD, 2);\n" +
	"\tMPI_Barrier(MPI_COMM_WORLD);\n\tMPI_Finalize();\n\treturn 0;\n}\n"

// TestBuild checks which programs can be built, and what is said of those that cannot.
func TestBuild(t *testing.T) {
	b := newBench(t)
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	write(t, map[string]string{
		"a.c": barrier, "wrong.c": "int main(void) { return }\n", "garbage.ll": "this is no module\n",
		"void.c":    "int x;\n",
		"threads.c": "#include <pthread.h>\nint main(void)\n{\n\treturn pthread_join(0, 0);\n}\n",
		"compile_commands.json": `[{"directory": "` + here + `", "file": "a.c", ` +
			`"command": "cc -DSIZE=7 \"-DTEXT=\\\"a b\\\"\" -O2 -o a.o -c a.c"}]`,
		"none.json": "[]",
	})
	size := []string{"-DSIZE=7"}
	line := func(n int) []slice.Assumption {
		return []slice.Assumption{{Position: slice.Position{File: "a.c", Line: n}}}
	}
	for _, tt := range []struct {
		name string
		p    Program
		want string // an error
	}{
		{"Plain", Program{Sources: []string{"a.c"}, Compiler: size, Output: "app"}, ""},
		{"Whole", Program{Sources: []string{"a.c"}, Compiler: size, Output: "app", Whole: true}, ""},
		{"All", Program{Sources: []string{"a.c"}, Compiler: size, Output: "app", ExecuteAll: true}, ""},
		{"Assumed", Program{Sources: []string{"a.c"}, Compiler: size, Output: "app", Assume: line(5)}, ""},
		{"NoErrors", Program{Sources: []string{"a.c"}, Compiler: size, Output: "app", AssumeNoErrors: true}, ""},
		{"NoCondition", Program{Sources: []string{"a.c"}, Compiler: size, Output: "app", Assume: line(4)},
			"there is no condition"},
		{"Wrong", Program{Sources: []string{"wrong.c"}, Output: "app"}, "compiling wrong.c"},
		{"Module", Program{Sources: []string{"a.c"}, Compiler: size, Modules: []string{"garbage.ll"}, Output: "app"},
			"linking the sources"},
		{"NoMain", Program{Sources: []string{"void.c"}, Output: "app"}, "no main"},
		{"Threads", Program{Sources: []string{"threads.c"}, Output: "app"}, "threads are not supported"},
		{"Directory", Program{Sources: []string{"a.c"}, Compiler: size, Output: "missing/app"}, "no directory"},
		{"Over", Program{Sources: []string{"a.c"}, Output: "a.c"}, "written over what it is made of"},
		{"OverCommand", Program{Commands: []Compilation{{Directory: here, Source: "a.c"}}, Output: "a.c"},
			"written over what it is made of"},
		{"Linker", Program{Sources: []string{"a.c"}, Compiler: size, Linker: []string{"-lnothing_of_the_kind"},
			Output: "app"}, "nothing_of_the_kind"},
		{"Compiler", Program{MPICC: "no-compiler-of-mpi", Sources: []string{"a.c"}, Output: "app"},
			"no-compiler-of-mpi"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := tt.p
			if p.MPICC == "" {
				p.MPICC = b.mpi.CC
			}
			s, err := p.Build(t.Context())
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("%v, want %q", err, tt.want)
			}
			if err == nil && len(s.Calls()) < 3 {
				t.Errorf("%d calls", len(s.Calls()))
			}
		})
	}
	for _, args := range []string{"compile_commands.json -lm", "a.c -DSIZE=7"} {
		p := Program{MPICC: b.mpi.CC, Output: "app"}
		if err := p.Arguments(strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Build(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestFortranObjects checks that sources in Fortran are compiled for slicing in any order, with the flags of
// GNU's compiler, and what is said of those that cannot be.
func TestFortranObjects(t *testing.T) {
	b := newBench(t)
	if _, err := exec.LookPath(flang); err != nil || b.mpi.Name != "mpich" {
		t.Skip("Fortran takes Flang and MPICH")
	}
	t.Chdir(t.TempDir())
	write(t, map[string]string{
		"main.f90": "program p\n  use steps\n  use mpi\n  integer :: error\n  call MPI_Init(error)\n" +
			"  do i = 1, count\n    call MPI_Barrier(MPI_COMM_WORLD, error)\n  end do\n" +
			"  call MPI_Finalize(error)\nend program\n",
		"steps.f90": "module steps\n  integer, parameter :: count = 3\nend module\n",
		"f08.f90":   "program p\n  use mpi_f08\n  call MPI_Init()\nend program\n",
		"wrong.f":   "      program p\n      call if(\n      end\n",
	})
	if err := os.Mkdir("modules", 0o700); err != nil {
		t.Fatal(err)
	}
	compile := func(args string) (*slice.Slice, error) {
		p := &Program{MPICC: b.mpi.CC}
		return p.AsCompiler(t.Context(), strings.Fields(args), &bytes.Buffer{}, &bytes.Buffer{})
	}
	for _, args := range []string{
		"-c -Jmodules -O2 -Wall -ffree-line-length-none -fPIC steps.f90", "-c -J modules -march=native main.f90",
	} {
		if _, err := compile(args); err != nil {
			t.Fatalf("%s: %v", args, err)
		}
	}
	for _, args := range []string{"-o app main.o steps.o", "-o app main.f90 steps.f90"} {
		if s, err := compile(args); err != nil || len(s.Calls()) != 3 {
			t.Errorf("%s: %v", args, err)
		}
	}
	for args, want := range map[string]string{
		"-c f08.f90": "f08.f90:2: use mpi_f08 is not supported", "-c wrong.f": "compiling wrong.f",
		"-o app main.f90": "compiling main.f90",
	} {
		if _, err := compile(args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
	p := Program{MPICC: "mpicc.openmpi", Sources: []string{"main.f90"}, Output: "app"}
	if _, err := exec.LookPath("mpifort.openmpi"); err == nil {
		if _, err := p.Build(t.Context()); err == nil || !strings.Contains(err.Error(), "with MPICH only") {
			t.Errorf("Open MPI: %v", err)
		}
	}
	flags, modules := fortranFlags(strings.Fields("-ffixed-line-length-none -ffixed-line-length-132 -Jm -w -cpp"))
	want := strings.Fields("-ffixed-line-length=0 -ffixed-line-length=132 -cpp")
	if !slices.Equal(flags, want) || modules != "m" {
		t.Errorf("%q, modules in %q", flags, modules)
	}
}

// TestObjects checks what is said of objects and archives that are not for slicing, and that what cannot be read
// is left to the linker.
func TestObjects(t *testing.T) {
	b := newBench(t)
	t.Chdir(t.TempDir())
	write(t, map[string]string{"a.c": barrier, "b.c": "int b;\n", "odd.o": "no object", "odd.a": "no archive"})
	compile := func(args string) error {
		p := &Program{MPICC: b.mpi.CC}
		_, err := p.AsCompiler(t.Context(), strings.Fields(args), &bytes.Buffer{}, &bytes.Buffer{})
		return err
	}
	run := func(name string, args ...string) {
		t.Helper()
		if said, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
	}
	run("cc", "-c", "b.c")
	if err := compile("-c -DSIZE=3 a.c"); err != nil {
		t.Fatal(err)
	}
	run("ar", "rc", "mixed.a", "a.o", "b.o")
	run("ar", "rc", "plain.a", "b.o")
	if err := compile("-o app a.o b.o plain.a"); err != nil {
		t.Errorf("a plain object: %v", err)
	}
	for args, want := range map[string]string{
		"-o app mixed.a":       "b.o is not compiled for slicing, and others of the archive are",
		"-o app a.o missing.o": "missing.o", "-o app a.o missing.a": "missing.a", "-o app a.o odd.a": "odd.a",
		"-o app a.o odd.o": "odd.o", "-c missing.c": "missing.c", "-c -o missing/a.o a.c": "no directory",
		"-o app -fopenmp a.o": "threads are not supported",
	} {
		if err := compile(args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
	if err := compile("-o " + filepath.Join("missing", "app") + " a.o"); err == nil {
		t.Error("there is no directory")
	}
}
