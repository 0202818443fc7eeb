package requests_test

import (
	"fmt"

	"github.com/reprise-trace/reprise/internal/requestid"
	"github.com/reprise-trace/reprise/mpi/internal/requests"
)

// Two sends complete at once, so that the library gives both the same handle; the
// reduction and they complete in another order each time.
func ExampleRequests() {
	const null, done, busy = 0x2c000000, 0x6c000000, 0x98000001
	var q requests.Requests
	q.Declare(null, -1)
	for _, order := range [][]uint64{{done, busy, done}, {busy, done, done}} {
		q.Create(done, []byte("MPI_Isend to 1"), false)
		q.Create(done, []byte("MPI_Isend to 2"), false)
		q.Create(busy, []byte("MPI_Iallreduce"), false)
		ids := q.Enter(nil, order...) // MPI_Waitall
		for _, id := range ids {
			pool, index := requestid.Split(id)
			fmt.Printf("%d (number %d of pool %d)\n", id, index, pool)
			q.Leave(id, true)
		}
	}
	// Output:
	// 0 (number 0 of pool 0)
	// 16 (number 0 of pool 2)
	// 8 (number 0 of pool 1)
	// 16 (number 0 of pool 2)
	// 0 (number 0 of pool 0)
	// 8 (number 0 of pool 1)
}
