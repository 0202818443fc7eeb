package piecewise

import (
	"cmp"
	"slices"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/wire"
)

// Jumps move times that are moved by [Pieces] already, where a message arrived before it was sent even so.
// They are in ascending order of Since, which differ, and the Ahead of each is more than what is left of the
// one before.
type Jumps []format.Jump

// MaxJumps is how many Jumps there are at most.
const MaxJumps = 1 << 16

// leadBack is the logarithm of how many nanoseconds it takes to lead times back by one.
const leadBack = 5

// Ahead returns by how much a time is later.
func (j Jumps) Ahead(time int64) int64 {
	i, found := slices.BinarySearchFunc(j, time, func(jump format.Jump, time int64) int {
		return cmp.Compare(jump.Since, time)
	})
	if !found {
		i--
	}
	if i < 0 {
		return 0
	}
	return max(0, j[i].Ahead-wire.SubTimes(time, j[i].Since)>>leadBack)
}

// Apply returns a time once it is moved. Later times stay later or become equal.
func (j Jumps) Apply(time int64) int64 { return wire.AddTimes(time, j.Ahead(time)) }

// Undo returns a time that Apply makes this one, or else nearly so.
func (j Jumps) Undo(moved int64) int64 {
	i, found := slices.BinarySearchFunc(j, moved, func(jump format.Jump, moved int64) int {
		return cmp.Compare(wire.AddTimes(jump.Since, jump.Ahead), moved)
	})
	if !found {
		i--
	}
	time := moved
	if i >= 0 {
		// Of 32 nanoseconds since the jump, 31 are left, until times are what they were.
		since := wire.SubTimes(moved, wire.AddTimes(j[i].Since, j[i].Ahead))
		if since = wire.AddTimes(since, since/(1<<leadBack-1)); since>>leadBack < j[i].Ahead {
			time = wire.AddTimes(j[i].Since, since)
		}
	}
	if i+1 < len(j) {
		time = min(time, j[i+1].Since-1)
	}
	return time
}

// Most returns the greatest Ahead.
func (j Jumps) Most() (most int64) {
	for _, jump := range j {
		most = max(most, jump.Ahead)
	}
	return most
}
