package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/e2e"

	"github.com/reprise-trace/reprise/internal/header"
)

func TestParseManual(t *testing.T) {
	const page = `.SH SYNOPSIS
.B nothing
.SH INPUT PARAMETERS
.PD 0
.TP
.B count, tag 
- number of elements
.B buf
.SH OUTPUT PARAMETERS
.B request 
- communication request (handle)
.B buf
.SH NOTES
.B other
.SH INPUT/OUTPUT PARAMETERS
.B inoutbuf
`
	want := manual{"count": "in", "tag": "in", "request": "out", "buf": "inout", "inoutbuf": "inout"}
	if got := parseManual(page); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestDescribeErrors checks that what a declaration, the manual and the rules
// leave open is an error.
func TestDescribeErrors(t *testing.T) {
	tests := []struct{ declared, want string }{
		{"int MPI_New(int *found);", "no direction"},
		{"int MPI_New(const int list[]);", "no rule for its length"},
		{"int MPI_New(const MPI_Thing *thing);", "no known kind"},
		{"int MPI_New(const int **table);", "no known form"},
		{"int MPI_New(int *found, MPI_Comm comm, const int list[]);",
			"MPI_New: found: no direction in the manual and no rule for it: rules.go, directions\nMPI_New: list: no rule for its length: rules.go, lengths"},
	}
	for _, test := range tests {
		declared, err := header.Parse(test.declared)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := describe(declared[0], nil); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", test.declared, err, test.want)
		}
	}
}

// TestUpToDate compares the table in the repository with what the generator
// writes where both implementations of MPI and the manual are installed.
func TestUpToDate(t *testing.T) {
	e2e.Programs(t)
	compilers := []string{"mpicc.mpich", "mpicc.openmpi"}
	const pages = "/usr/share/man/man3"
	for _, name := range compilers {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(err)
		}
	}
	if _, err := os.Stat(filepath.Join(pages, "MPI_Send.3.gz")); err != nil {
		t.Skip("MPICH's manual pages are not installed")
	}
	output := filepath.Join(t.TempDir(), "functions_gen.go")
	if err := run(compilers, pages, output); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("..", "..", "functions_gen.go"))
	if err != nil {
		t.Fatal(err)
	}
	// The second line names the versions.
	if a, b := strings.SplitN(string(got), "\n", 3)[1], strings.SplitN(string(want), "\n", 3)[1]; a != b {
		t.Skipf("installed: %s, in the repository: %s", a, b)
	}
	if string(got) != string(want) {
		t.Error("functions_gen.go differs: run go generate ./mpi/spec")
	}
}
