package interpose

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/reprise-trace/reprise/mpi/internal/spool"
)

// TestOdd runs programs that an interposer could disturb, and counts what was
// recorded of them.
func TestOdd(t *testing.T) {
	tests := []struct {
		name  string
		calls map[string]int // of some functions
	}{
		{"allocations", nil},
		{"timer", map[string]int{"MPI_Comm_rank": 500000}},
		{"signals", map[string]int{"MPI_Wtime": 1, "MPI_Reduce_local": 1, "MPI_Op_free": 1}},
		{"cancel", nil},
		{"destructors", map[string]int{"MPI_Comm_rank": 1, "MPI_Comm_size": 1}},
		{"raw-fork", nil},
		{"before", map[string]int{"MPI_T_cvar_get_info": 1}},
		{"child", nil},
		{"session", map[string]int{"MPI_Session_init": 1, "MPI_Session_finalize": 1}},
	}
	forOneMPI(t, func(t *testing.T, m *implementation) {
		program := m.build(t, "odd.c")
		for _, test := range tests {
			if test.name == "session" && strings.Contains(m.name, "openmpi") {
				continue // it has no sessions
			}
			t.Run(test.name, func(t *testing.T) {
				spool := t.TempDir()
				if said := m.run(t, "1", spool, program, test.name); said != "" {
					t.Errorf("the program says\n%s", said)
				}
				counts := make(map[string]int)
				for _, thread := range threads(t, spool)[0] {
					readAll(t, thread, func(r *Record) {
						if r.Type == Call {
							counts[functions[r.Function].Name]++
						}
						if r.Type == Call && test.name == "signals" &&
							functions[r.Function].Name == "MPI_Wtime" && r.Depth != 1 {
							t.Errorf("the handler is not within a call: %s", r)
						}
					})
				}
				for name, want := range test.calls {
					if counts[name] != want {
						t.Errorf("%d calls of %s, want %d", counts[name], name, want)
					}
				}
				if test.name != "session" && counts["MPI_Finalize"] != 1 {
					t.Errorf("calls %v", counts)
				}
			})
		}
	})
}

// TestThrown leaves calls by exceptions: those that follow are not inside them, and
// memory is recorded again.
func TestThrown(t *testing.T) {
	forOneMPI(t, func(t *testing.T, m *implementation) {
		mpicxx := strings.Replace(m.mpicc, "mpicc", "mpicxx", 1)
		if _, err := exec.LookPath(mpicxx); err != nil {
			t.Skip(err)
		}
		spool, cxx := t.TempDir(), *m
		cxx.mpicc = mpicxx
		if said := m.run(t, "1", spool, cxx.build(t, "thrown.cc")); said != "" {
			t.Errorf("the program says %s", said)
		}
		calls, allocations := 0, 0
		readAll(t, threads(t, spool)[0][0], func(r *Record) {
			switch {
			case r.Type == Allocated && r.Size == 5555:
				allocations++
			case r.Type == Call && functions[r.Function].Name == "MPI_Comm_size":
				if calls++; r.Depth != 0 {
					t.Error(r)
				}
			}
		})
		if calls != 3 || allocations != 3 {
			t.Errorf("%d calls, %d allocations, want 3", calls, allocations)
		}
	})
}

// TestArena records a program that has its own functions for memory: they stay
// those that are used.
func TestArena(t *testing.T) {
	forEachMPI(t, func(t *testing.T, m *implementation) {
		spool := t.TempDir()
		if said := m.run(t, "2", spool, m.build(t, "arena.c", "-fno-builtin")); said != "" {
			t.Errorf("the program says %s", said)
		}
		for rank := range 2 {
			calls := 0
			readAll(t, threads(t, spool)[rank][0], func(r *Record) {
				if r.Type == Call {
					calls++
				}
			})
			if calls != 3 {
				t.Errorf("rank %d: %d calls, want 3", rank, calls)
			}
		}
	})
}

// TestDirectory records a program that leaves the directory to which the name of
// the spool is relative.
func TestDirectory(t *testing.T) {
	forEachMPI(t, func(t *testing.T, m *implementation) {
		directory := t.TempDir()
		if err := os.Mkdir(filepath.Join(directory, "spool"), 0o777); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		command := m.command(ctx, t, "1", "spool", m.build(t, "odd.c"), "directory")
		command.Dir = directory
		if output, err := command.CombinedOutput(); err != nil || len(output) > 0 {
			t.Fatalf("the program ended with %v\n%s", err, output)
		}
		calls := 0
		readAll(t, threads(t, filepath.Join(directory, "spool"))[0][0], func(r *Record) {
			if r.Type == Call && functions[r.Function].Name == "MPI_Comm_rank" {
				calls++
			}
		})
		if calls != 100000 {
			t.Errorf("%d calls", calls)
		}
	})
}
