package interpose

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/reprise-trace/reprise/mpi/internal/spool"
)

// TestFortran records a program by way of each of the three interfaces of Fortran:
// it computes the same, and its calls are those of C with their values.
func TestFortran(t *testing.T) {
	forOneMPI(t, func(t *testing.T, m *implementation) {
		mpifort := strings.Replace(m.mpicc, "mpicc", "mpifort", 1)
		if _, err := exec.LookPath(mpifort); err != nil {
			t.Skip(err)
		}
		for _, interfaces := range []string{"MPI", "MPIFH", "F08"} {
			t.Run(interfaces, func(t *testing.T) {
				program := buildFortran(t, mpifort, "fortran.F90", interfaces)
				said, spool := t.TempDir(), t.TempDir()
				if output := m.run(t, "3", spool, program, said); output != "" {
					t.Errorf("the program says\n%s", output)
				}
				if len(m.flags) > 0 {
					forgetIgnored(t, said)
				}
				compareCalls(t, 3, said, spool)
				checkInPlace(t, spool)
			})
		}
	})
}

// buildFortran compiles a program that goes by way of one of the interfaces of Fortran.
func buildFortran(t *testing.T, mpifort, source, interfaces string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "fortran")
	command := exec.Command(mpifort, "-O1", "-w", "-fno-inline", "-D"+interfaces, "-o", program,
		filepath.Join("testdata", source))
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command, err, output)
	}
	return program
}

// forgetIgnored leaves out of what the program says that it ignores statuses: Open
// MPI's Fortran asks its C for them all the same.
func forgetIgnored(t *testing.T, said string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(said, "said.*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text = ignoredStatus.ReplaceAll(text, nil)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

var ignoredStatus = regexp.MustCompile(` (status|array_of_statuses)>ignored`)

// checkInPlace checks that the buffer of a call in place is that of C.
func checkInPlace(t *testing.T, spool string) {
	t.Helper()
	values := make(map[string]int64)
	readAll(t, threads(t, spool)[0][0], func(r *Record) {
		switch {
		case r.Type == Known:
			values[constants[r.Function].Name] = r.Result
		case r.Type == Call && functions[r.Function].Name == "MPI_Allreduce":
			if got, want := r.Arguments[0].Before.Int(), values["MPI_IN_PLACE"]; got != want {
				t.Errorf("sendbuf is %#x, want %#x", got, want)
			}
		}
	})
}
