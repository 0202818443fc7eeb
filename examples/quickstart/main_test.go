package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestQuickstart(t *testing.T) {
	const want = `rank 1 of 4: 41000 calls
0 MPI_Send(count=512, dest=2, comm=0)
1 MPI_Send(count=512, dest=0, comm=0)
2 MPI_Send(count=512, dest=2, comm=0)
S → ((MPI_Send(count=512, dest=2, comm=0) MPI_Send(count=512, dest=0, comm=0))^20 MPI_Allreduce(count=1, comm=0))^1000
`
	var out strings.Builder
	path := filepath.Join(t.TempDir(), "run.rpz")
	record(path)
	show(&out, path)
	if out.String() != want {
		t.Errorf("printed\n%swant\n%s", &out, want)
	}
}
