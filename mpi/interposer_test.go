package mpi

import (
	"context"
	"testing"
)

func TestBuildInterposer(t *testing.T) {
	for _, mpicc := range compilers(t) {
		library, err := BuildInterposer(context.Background(), mpicc, "/tmp/mt/cache")
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%+v", library)
	}
}
