//go:build linux

package slicing

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAsCompiler checks that objects and archives that are compiled for slicing are sliced when they are linked.
func TestAsCompiler(t *testing.T) {
	b := newBench(t)
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"part.h": "int part(int);\n",
		"part.c": "#include \"part.h\"\nint part(int k)\n{\n\treturn 2 * k;\n}\n",
		"app.c": "#include <mpi.h>\n#include \"part.h\"\nint main(int argc, char **argv)\n{\n" +
			"\tdouble x[9] = {0};\n\tMPI_Init(&argc, &argv);\n" +
			"\tMPI_Bcast(x, part(3), MPI_DOUBLE, 0, MPI_COMM_WORLD);\n\tMPI_Finalize();\n\treturn 0;\n}\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	compile := func(args ...string) (*Program, string) {
		t.Helper()
		p := &Program{MPICC: b.mpi.CC}
		var out bytes.Buffer
		s, err := p.AsCompiler(t.Context(), args, &out, &out)
		if err != nil {
			t.Fatalf("%q: %v", args, err)
		}
		if s != nil && len(s.Calls()) != 3 {
			t.Errorf("%q: %d calls", args, len(s.Calls()))
		}
		return p, out.String()
	}
	compile("-c", "-MD", "-MP", "-O2", "part.c")
	compile("-c", "-o", "main.o", "app.c")
	if d, err := os.ReadFile("part.d"); err != nil || !strings.Contains(string(d), "part.h") {
		t.Errorf("dependences: %q, %v", d, err)
	}
	if said, err := exec.CommandContext(t.Context(), "ar", "rc", "libpart.a", "part.o").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	for _, args := range []string{
		"-o app main.o part.o", "-o app main.o libpart.a -lm", "-o app main.o -L . -lpart", "-o app app.c part.c",
	} {
		compile(strings.Fields(args)...)
		for _, file := range []string{"app", "app.so"} {
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: %v", args, err)
			}
			if err := os.Remove(file); err != nil {
				t.Error(err)
			}
		}
	}
	if _, said := compile("-E", "part.c"); !strings.Contains(said, "2 * k") {
		t.Errorf("the preprocessor says %q", said)
	}
	for _, tt := range []struct{ args, want string }{
		{"-c -o both.o app.c part.c", "there are several sources"},
		{"-o app.c app.c part.c", "written over what it is made of"},
		{"-o app app.c", "none of the sources, objects and libraries has part"},
		{"-o missing/app app.c", "no directory"},
	} {
		p := &Program{MPICC: b.mpi.CC}
		if _, err := p.AsCompiler(t.Context(), strings.Fields(tt.args), &bytes.Buffer{}, &bytes.Buffer{}); err == nil ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.args, err, tt.want)
		}
	}
	p := &Program{MPICC: b.mpi.CC, Sources: []string{"app.c", "part.c"}, Output: filepath.Join(t.TempDir(), "app"),
		AssumeNoErrors: true}
	if _, err := p.Build(t.Context()); err != nil {
		t.Error(err)
	}
}
