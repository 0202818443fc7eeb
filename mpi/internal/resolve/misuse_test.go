package resolve_test

import (
	"testing"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/mpi/internal/resolve"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// TestMisuse calls all of the package as it must not be called.
func TestMisuse(t *testing.T) {
	var r resolve.Resolver
	world := resolve.Local{}
	r.Declare(world, "world", []int{0, 1})
	groups, err := r.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	member, _ := groups.At(0, world, 0)
	misuse.Walk{
		Package:   "resolve",
		Functions: []any{},
		Values: []any{
			&r, new(resolve.Resolver), groups, &resolve.Groups{}, member, resolve.Member{}, &resolve.Group{},
			member.Group, resolve.Creation{},
			&resolve.GroupError{}, spec.Creation(99), world,
		},
	}.Run(t)
}
