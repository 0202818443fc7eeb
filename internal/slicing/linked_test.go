//go:build linux

package slicing

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/mpitest"
)

// TestCheckLinked checks that objects, libraries and members of archives that call MPI are seen.
func TestCheckLinked(t *testing.T) {
	mpi := mpitest.Installed(t)[0]
	b := &builder{Program: &Program{Output: "app"}, directory: filepath.Join(t.TempDir(), "build")}
	at := t.TempDir()
	build := func(name string, args ...string) {
		t.Helper()
		c := exec.Command(name, args...)
		c.Dir = at
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	for name, text := range map[string]string{
		"calls.c":                     "#include <mpi.h>\nvoid f(void) { MPI_Barrier(MPI_COMM_WORLD); }\n",
		"fortran.c":                   "void mpi_barrier_(int *, int *);\nvoid g(int *c, int *e) { mpi_barrier_(c, e); }\n",
		"a_name_longer_than_others.c": "#include <mpi.h>\ndouble h(void) { return MPI_Wtime(); }\n",
	} {
		if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		build(mpi.CC, "-fPIC", "-c", name)
	}
	build("ar", "rcs", "libparts.a", "a_name_longer_than_others.o", "calls.o")
	build("cc", "-shared", "-o", "libcalls.so", "calls.o", "-Wl,--allow-shlib-undefined")
	build("cc", "-shared", "-o", "libuses.so", "a_name_longer_than_others.o", "-L.", "-Wl,--no-as-needed", "-lcalls")
	for _, tt := range []struct{ said, want string }{
		{"a_name_longer_than_others.o\n/usr/bin/nothing\n", ""},
		{"calls.o\n", "calls.o calls MPI_Barrier, and is linked only"},
		{"fortran.o", "fortran.o calls mpi_barrier_"},
		{"libparts.a\n(libparts.a)a_name_longer_than_others.o\n", ""},
		{"libparts.a\n(libparts.a)calls.o\n", "libparts.a(calls.o) calls MPI_Barrier"},
		{"libuses.so\n", "libcalls.so calls MPI_Barrier"},
	} {
		said := strings.ReplaceAll(tt.said, "(", "("+at+"/")
		if !strings.HasPrefix(said, "(") {
			said = at + "/" + said
		}
		err := b.checkLinked([]byte(said))
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q", tt.said, err, tt.want)
		}
	}
}
