package resolve_test

import (
	"fmt"

	"github.com/reprise-trace/reprise/mpi/internal/resolve"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// Four processes split all into two rows, the second in reverse order. All call
// their row 0.
func ExampleResolver() {
	var r resolve.Resolver
	world, row := resolve.Local{Class: "comm", ID: -1}, resolve.Local{Class: "comm", ID: 0}
	r.Declare(world, "world", []int{0, 1, 2, 3})
	for rank := range 4 {
		c := resolve.Creation{Kind: spec.Split, Parent: world, Result: row}
		if c.Color = int64(rank / 2); c.Color == 1 {
			c.Key = -int64(rank)
		}
		r.Create(rank, 10, c)
	}
	groups, err := r.Resolve()
	if err != nil {
		fmt.Println(err)
	}
	for rank := range 4 {
		m, _ := groups.At(rank, row, 11)
		fmt.Println(rank, "is", m.Rank, "of", m.Group.Members, "in", m.Group.Name())
	}
	// Output:
	// 0 is 0 of [0 1] in world/0:0
	// 1 is 1 of [0 1] in world/0:0
	// 2 is 1 of [3 2] in world/0:1
	// 3 is 0 of [3 2] in world/0:1
}
