package symbolic_test

import (
	"fmt"

	"github.com/reprise-trace/reprise/symbolic"
)

// Of three allocations, calls use one. A stack has no ids of its own for variables.
func ExampleMemory() {
	var m symbolic.Memory
	m.Declare(symbolic.Region{Address: 0x7ffc_0000_0000, Size: 1 << 23, Segment: -2, FirstUse: true})
	m.Allocate(0x5580_0000, 4096, 0)
	m.Allocate(0x5580_1010, 64, 0)
	m.Allocate(0x5580_2000, 800, 0)

	a, _ := m.Resolve(0x5580_2000)
	b, _ := m.Resolve(0x5580_2000 + 400)
	c, _ := m.Resolve(0x7ffc_0040_0000)
	d, _ := m.Resolve(0x7ffc_0040_0000 - 96)
	fmt.Println(a, b, c, d)

	for _, address := range []uint64{0x5580_1010, 0x5580_2000} {
		if id, used := m.Free(address); used {
			fmt.Println("segment", id, "is freed")
		}
	}
	// Output:
	// {0 0 0} {0 400 0} {-2 0 0} {-2 -96 0}
	// segment 0 is freed
}

// MPI_Comm_group of one communicator may return the same handle twice, which is
// freed twice.
func ExampleHandles() {
	var groups symbolic.Handles
	groups.Declare(0x08000000, -1)          // MPI_GROUP_NULL
	fmt.Println(groups.Acquire(0xc8000001)) // MPI_Comm_group
	fmt.Println(groups.Acquire(0xc8000001)) // MPI_Comm_group
	fmt.Println(groups.Create(0xc8000002))  // MPI_Group_incl
	for range 2 {
		if id, ok := groups.Detach(0xc8000001); ok { // MPI_Group_free begins
			groups.Free(id) // and has returned
		}
		fmt.Println(groups.Lookup(0xc8000001))
	}
	fmt.Println(groups.Acquire(0xc8000003)) // takes its id
	// Output:
	// 0
	// 0
	// 1
	// 0 true
	// 0 false
	// 0
}
