package interpose

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/e2e"
)

// TestFunctionNames checks which symbols are functions of MPI.
func TestFunctionNames(t *testing.T) {
	for name, want := range map[string]bool{
		"MPI_Send": true, "MPIX_Allreduce_init": true, "MPI_T_pvar_read": true, "MPI_Status_f2c": true,
		"MPIX_Query_cuda_support": true,
		"PMPI_Send":               false, "mpi_send_": false, "MPI_SEND": false, "MPI_UNWEIGHTED": false,
		"MPI_F_STATUS_IGNORE": false, "MPI_": false,
		"MPIR_Novel": false, "my_MPI_Send": false, "MPI_Send@v": false, "": false,
	} {
		if got := functionName.MatchString(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestUnrecorded checks that functions are named that a program or one of its libraries imports and the
// interposer does not define, and neither data nor what a library of MPI imports. The files have no MPI.
func TestUnrecorded(t *testing.T) {
	e2e.Programs(t)
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip(err)
	}
	directory := t.TempDir()
	build := func(name, source string, flags ...string) string {
		path := filepath.Join(directory, name)
		c := exec.Command(cc,
			append([]string{"-w", "-o", path, "-x", "c", "-", "-x", "none", "-L" + directory,
				"-Wl,-rpath," + directory}, flags...)...)
		c.Stdin = strings.NewReader(source)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return path
	}
	library := &Interposer{Path: build("libreprise.so", "void MPI_Init() {} void MPI_Send() {}", "-shared", "-fPIC")}
	build("libmpi.so", `int MPI_DATA[9]; void MPI_Init() {} void MPI_Send() {} void MPI_Wait() {} void MPIX_A_init() {} void MPIX_Weak() {}
		void MPI_Inside(); void MPI_Unused() { MPI_Inside(); }`, "-shared", "-fPIC")
	build("libsolver.so", "void MPIX_A_init(); void MPI_Send(); void solve() { MPI_Send(); MPIX_A_init(); }",
		"-shared", "-fPIC")
	const main = "extern int MPI_DATA[]; int main() { MPI_Init(); return MPI_DATA[1]; }"
	for _, tt := range []struct {
		source    string
		libraries []string
		want      string
	}{
		{main, []string{"-lmpi"}, ""},
		{"void solve(); int main() { MPI_Init(); solve(); }", []string{"-lsolver", "-lmpi"}, "MPIX_A_init"},
		{"__attribute__((weak)) void MPIX_Weak(); void solve(); int main() { MPI_Wait(); MPIX_Weak(); solve(); }", []string{"-lsolver", "-lmpi"}, "MPIX_A_init MPIX_Weak MPI_Wait"},
	} {
		program := build("program", tt.source, append(tt.libraries, "-Wl,--allow-shlib-undefined", "-Wl,-z,lazy")...)
		command, err := Inspect(context.Background(), []string{"env", program})
		if err != nil {
			t.Fatal(err)
		}
		if got := library.Unrecorded(context.Background(), command); !slices.Equal(got, strings.Fields(tt.want)) {
			t.Errorf("%s: %q, want %s", tt.source, got, tt.want)
		}
	}
	if got := library.Unrecorded(context.Background(), &Command{}); got != nil {
		t.Errorf("of no program: %q", got)
	}
}
