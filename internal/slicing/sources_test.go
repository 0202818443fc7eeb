//go:build linux

package slicing

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const fromAny = `#include <mpi.h>
static int rank, size, right = -1, left = -1, x = 3;
int main(int argc, char **argv)
{
	int got[4] = {0}, tag = 7;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (x = 1; 2 * x < size; x *= 2)
		;
	BEFORE
	for (int k = 0; k < 3; k++) {
		MPI_Request request;
		MPI_Irecv(got, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &request);
		SEND
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	MPI_Finalize();
	return 0;
}
`

// TestSources checks for which receives from any source it is proved that only one process sends to them.
func TestSources(t *testing.T) {
	b := newBench(t)
	send := func(to string) string { return "MPI_Send(got, 1, MPI_INT, " + to + ", 7, MPI_COMM_WORLD);" }
	for _, tt := range []struct {
		name, before, send string
		proved             bool
	}{
		{"Next", "right = (rank + 1) % size;", send("right"), true},
		{"Local", "int to = (rank + size - 1) % size;", send("to"), true},
		{"Distance", "if (rank >= x) left = rank - x; else left = MPI_PROC_NULL;", send("left"), true},
		{"Partner", "right = rank ^ 1;", send("right"), true},
		{"Computed", "", send("rank + k"), false},
		{"Doubled", "right = 2 * rank;", send("right"), false},
		{"Master", "", send("0"), false},
		{"Two", "right = rank + 1, left = rank - 1;", send("right") + send("left"), false},
		{"Uneven", "right = rank + rank % 2;", send("right"), false},
		{"Changed", "right = rank + 1;", send("right") + "if (k == 1) right = rank + 2;", false},
		{"Overlap", "right = (rank ^ x) % size;", send("right"), false},
		{"Started", "right = rank + argc;", send("right"), false},
		{"Read", "MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD); right = rank + x;", send("right"), false},
		{"Maybe", "if (x > 2) rank = 5; right = rank + 1;", send("right"), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			source := filepath.Join(b.directory, tt.name+".c")
			text := strings.NewReplacer("BEFORE", tt.before, "SEND", tt.send).Replace(fromAny)
			if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			build := b.builder(t, source)
			module, err := build.module()
			if err != nil {
				t.Fatal(err)
			}
			s, err := build.slice(module, b.options)
			if err != nil {
				t.Fatal(err)
			}
			_, open := s.Open()
			if proved := len(s.Sources()) == 1 && !open; proved != tt.proved {
				t.Errorf("proved: %v, want %v (%v, open %v)", proved, tt.proved, s.Sources(), open)
			}
		})
	}
}
