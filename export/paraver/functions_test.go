package paraver

import "testing"

// TestFunctions looks at the types, values and states of functions of MPI.
func TestFunctions(t *testing.T) {
	for name, want := range map[string]function{
		"send": {pointToPoint, 1, stateSending}, "mrecv": {pointToPoint, 1007, stateReceiving},
		"isend": {pointToPoint, 3, stateBeginsSending},
		"irecv": {pointToPoint, 4, stateBeginsReceive}, "sendrecv_replace": {pointToPoint, 42, stateExchanging},
		"recv_init": {pointToPoint, 116, stateOtherwise}, "startall": {pointToPoint, 124, stateOtherwise},
		"cancel":  {pointToPoint, 40, stateOtherwise},
		"waitall": {pointToPoint, 6, stateWaiting}, "testsome": {pointToPoint, 128, stateTesting},
		"iprobe":              {pointToPoint, 62, stateTesting},
		"ibarrier":            {collective, 156, stateSynchronizing},
		"reduce_scatter_init": {collective, 1007, stateGrouped}, "neighbor_alltoallw": {collective, 1007, stateGrouped},
		"put": {oneSided, 65, stateMemoryTransfer}, "win_fence": {oneSided, 68, stateSynchronizing},
		"win_lock":   {oneSided, 74, stateSynchronizing},
		"win_create": {oneSided, 63, stateOtherwise}, "file_read_all": {files, 144, stateInputOutput},
		"file_open": {files, 141, stateInputOutput},
		"comm_dup":  {others, 22, stateOtherwise}, "reduce_local": {others, 1007, stateOtherwise},
		"test_cancelled": {others, 127, stateOtherwise},
		"request_free":   {others, 115, stateOtherwise},
	} {
		if got := mpiFunction(name, 7); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
