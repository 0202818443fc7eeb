package collect

import "testing"

// TestWrapsMPI checks which functions are taken for such that wrap MPI.
func TestWrapsMPI(t *testing.T) {
	for name, want := range map[string]bool{
		"hypre_MPI_Isend": true, "stub_MPI_Barrier.constprop.0": true, "xMPI_Win_create": true,
		"MPI_Isend": false, "PMPI_Isend": false, "hypre_MPI_Exchange": false, "hypre_MPI_Isend_all": false,
		"main": false, "_ZN3lib9MPI_IsendEv": false, "mpi_isend_": false, "": false,
	} {
		if got := wrapsMPI(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
