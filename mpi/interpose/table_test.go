package interpose

import (
	"context"
	"os/exec"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/e2e"

	"github.com/reprise-trace/reprise/internal/header"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// compilers returns the installed compiler commands of MPI and skips the test
// if there is none.
func compilers(t testing.TB) []string {
	t.Helper()
	e2e.Programs(t)
	var found []string
	for _, name := range []string{"mpicc.mpich", "mpicc.openmpi"} {
		if _, err := exec.LookPath(name); err == nil {
			found = append(found, name)
		}
	}
	if found == nil {
		if _, err := exec.LookPath("mpicc"); err != nil {
			t.Skip("no MPI: neither mpicc.mpich nor mpicc.openmpi nor mpicc is installed")
		}
		found = []string{"mpicc"}
	}
	return found
}

// TestTableCoversHeaders compares the table with what the installed mpi.h
// declare: no function and no parameter may be missing.
func TestTableCoversHeaders(t *testing.T) {
	for _, mpicc := range compilers(t) {
		declared, err := header.Read(context.Background(), mpicc)
		if err != nil {
			t.Fatal(err)
		}
		if len(declared.Functions) < 300 {
			t.Errorf("%s declares only %d functions", mpicc, len(declared.Functions))
		}
		for _, f := range declared.Functions {
			number, ok := spec.Lookup(f.Name)
			if !ok {
				t.Errorf("%s declares %s, which is not in the table", mpicc, f.Name)
				continue
			}
			if err := fits(&functions[number], f); err != nil {
				t.Errorf("%s declares %s, which does not fit the table: %v", mpicc, f.Name, err)
			}
		}
		for _, c := range declared.Constants {
			if !slices.ContainsFunc(constants, func(k spec.Constant) bool {
				return k.Name == c.Name && k.Class == c.Class
			}) {
				t.Errorf("%s declares %s, which is not in the table", mpicc, c.Name)
			}
		}
		t.Logf("%s declares %d functions of %d in the table", mpicc, len(declared.Functions), len(functions))
	}
}

func TestFits(t *testing.T) {
	number, _ := spec.Lookup("MPI_Wait")
	tests := []struct {
		declared string
		fit      bool
	}{
		{"int MPI_Wait(MPI_Request *r, MPI_Status *s);", true},
		{"int MPI_Wait(MPI_Request r[], MPI_Status *s);", true},
		{"int MPI_Wait(MPI_Request *r);", false},
		{"int MPI_Wait(MPI_Request r, MPI_Status *s);", false},
		{"int MPI_Wait(MPI_Request *r, char *s);", false},
		{"int MPI_Wait(MPI_Comm *r, MPI_Status *s);", false},
		{"double MPI_Wait(MPI_Request *r, MPI_Status *s);", false},
	}
	for _, test := range tests {
		declared, err := header.Parse(test.declared)
		if err != nil {
			t.Fatal(err)
		}
		if err := fits(&functions[number], declared[0]); (err == nil) != test.fit {
			t.Errorf("%s: %v", test.declared, err)
		}
	}
}
