package mpi

import (
	"context"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/header"
)

// compilers returns the installed compiler commands of MPI and skips the test
// if there is none.
func compilers(t testing.TB) []string {
	t.Helper()
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

func TestTable(t *testing.T) {
	if !slices.IsSortedFunc(functions, func(f, g Function) int { return strings.Compare(f.Name, g.Name) }) {
		t.Error("not sorted by name")
	}
	word := regexp.MustCompile(`\b[a-z]\w*\(?`)
	for i := range functions {
		f := &functions[i]
		if number, ok := Lookup(f.Name); !ok || number != i {
			t.Errorf("%s: Lookup returns %d, %v, want %d", f.Name, number, ok, i)
		}
		declared := cst.Function{Name: f.Name}
		known := map[string]bool{}
		for _, p := range f.Params {
			declared.Params = append(declared.Params, cst.Param{Name: p.Name, Type: p.Type, Direction: p.Direction})
			known[p.Name], known["entry_"+p.Name] = true, true
		}
		if err := declared.Validate(); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		for _, p := range f.Params[len(f.declared()):] {
			if p.Before() || !p.After() || !p.Counted() || f.group() < 0 {
				t.Errorf("%s: %s cannot be asked for", f.Name, p.Name)
			}
		}
		for _, p := range f.Params {
			if !p.Before() && !p.After() {
				t.Errorf("%s: %s is not recorded", f.Name, p.Name)
			}
			for _, name := range word.FindAllString(p.Length+" "+p.Given+" "+p.Asked, -1) {
				if !strings.HasSuffix(name, "(") && !known[name] {
					t.Errorf("%s: %s: %q is no parameter", f.Name, p.Name, name)
				}
			}
		}
	}
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
			number, ok := Lookup(f.Name)
			if !ok {
				t.Errorf("%s declares %s, which is not in the table", mpicc, f.Name)
				continue
			}
			if err := fits(&functions[number], f); err != nil {
				t.Errorf("%s declares %s, which does not fit the table: %v", mpicc, f.Name, err)
			}
		}
		for _, c := range declared.Constants {
			if !slices.Contains(constants, Constant(c)) {
				t.Errorf("%s declares %s, which is not in the table", mpicc, c.Name)
			}
		}
		t.Logf("%s declares %d functions of %d in the table", mpicc, len(declared.Functions), len(functions))
	}
}

func TestTakesRequests(t *testing.T) {
	for name, want := range map[string]bool{
		"MPI_Wait": true, "MPI_Testsome": true, "MPI_Start": true, "MPI_Startall": true, "MPI_Request_free": true,
		"MPI_Cancel": true, "MPI_Request_get_status": true, "MPI_Grequest_complete": true, "MPI_Request_c2f": true,
		"MPI_Isend": false, "MPI_Send_init": false, "MPI_Grequest_start": false, "MPI_Request_f2c": false,
		"MPI_Mrecv": false, "MPI_Barrier": false,
	} {
		if got := functions[number(t, name)].TakesRequests(); got != want {
			t.Errorf("%s: %t, want %t", name, got, want)
		}
	}
}

func TestBegins(t *testing.T) {
	for name, want := range map[string]struct{ frees, begins bool }{
		"MPI_Comm_free": {true, true}, "MPI_Comm_disconnect": {true, true}, "MPI_File_close": {true, true},
		"MPI_Session_finalize": {true, true}, "MPI_Type_free_keyval": {true, true}, "MPI_T_pvar_handle_free": {true, true},
		"MPI_Mrecv": {true, true}, "MPI_Imrecv_c": {true, true}, "MPI_Info_free": {true, true},
		"MPI_Request_free": {false, true}, "MPI_Wait": {false, true}, "MPI_Free_mem": {false, true},
		"MPI_Type_commit": {false, false}, "MPI_Comm_dup": {false, false}, "MPI_Comm_set_errhandler": {false, false},
		"MPI_Mprobe": {false, false}, "MPI_Finalize": {false, false},
	} {
		if f := &functions[number(t, name)]; f.FreesObject() != want.frees || f.Begins() != want.begins {
			t.Errorf("%s: %t, %t, want %v", name, f.FreesObject(), f.Begins(), want)
		}
	}
}

func TestFits(t *testing.T) {
	number, _ := Lookup("MPI_Wait")
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
