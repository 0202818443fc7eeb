package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	const want = `rank 1 of 4: 41000 calls
0 MPI_Send(count=512, dest=2, comm=0)
1 MPI_Send(count=512, dest=0, comm=0)
2 MPI_Send(count=512, dest=2, comm=0)
S → ((MPI_Send(count=512, dest=2, comm=0) MPI_Send(count=512, dest=0, comm=0))^20 MPI_Allreduce(count=1, comm=0))^1000
`
	var out strings.Builder
	if err := run(&out, filepath.Join(t.TempDir(), "run.rpz")); err != nil {
		t.Fatal(err)
	}
	if out.String() != want {
		t.Errorf("printed\n%swant\n%s", &out, want)
	}
}

func TestRunFails(t *testing.T) {
	dir := t.TempDir()
	if err := run(new(strings.Builder), dir); err == nil {
		t.Error("wrote a trace to a directory")
	}
}
