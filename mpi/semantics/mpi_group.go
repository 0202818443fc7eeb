package semantics

import (
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/spec"
)

const groupClass = "group"

// Groups of processes are followed to where they come from through so many calls, and up to so many
// members: else they are not known.
const (
	maxGroupCalls   = 64
	maxGroupMembers = 1 << 20
)

// exposure returns the ranks in the run of the group that MPI_Win_post or MPI_Win_start names, nil if
// that is not known.
func (e *evaluation) exposure(args arguments) []int {
	v, ok := args.find("group", cst.KindHandle)
	if !ok {
		return nil
	}
	list, _ := e.group(v.Int(), maxGroupCalls)
	return list
}

// group returns the ranks in the run of the members of a group, in their order.
func (e *evaluation) group(id int64, calls int) ([]int, bool) {
	if id < 0 || e.blind || calls == 0 {
		return nil, false
	}
	position, terminal, from, until, ok := e.requests().made(object{groupClass, id}, e.position)
	if e.within(from, until); !ok {
		return nil, false
	}
	made := evaluation{mpiRank: e.mpiRank, position: position, extent: everywhere}
	return made.groupOf(terminal, calls-1)
}

// groupOf returns the members of the group that the call at the position makes.
func (e *evaluation) groupOf(terminal uint32, calls int) ([]int, bool) {
	args := e.arguments(terminal)
	part := func(name string) ([]int, bool) { return e.group(args.number(name, cst.KindHandle), calls) }
	switch spec.Base(args.function.Name) {
	case "Comm_group":
		return e.membersOf(commClass, args.number("comm", cst.KindHandle), false)
	case "Comm_remote_group":
		return e.membersOf(commClass, args.number("comm", cst.KindHandle), true)
	case "Win_get_group":
		return e.membersOf(winClass, args.number("win", cst.KindHandle), false)
	case "Group_incl":
		of, ok := part("group")
		ranks, also := args.numbers("ranks")
		return chosen(of, ranks, ok && also)
	case "Group_excl":
		of, ok := part("group")
		ranks, also := args.numbers("ranks")
		return without(of, ranks, ok && also)
	case "Group_range_incl":
		of, ok := part("group")
		ranks, also := args.ranges("ranges", len(of))
		return chosen(of, ranks, ok && also)
	case "Group_range_excl":
		of, ok := part("group")
		ranks, also := args.ranges("ranges", len(of))
		return without(of, ranks, ok && also)
	case "Group_union", "Group_intersection", "Group_difference":
		a, ok := part("group1")
		b, also := part("group2")
		return combined(spec.Base(args.function.Name), a, b), ok && also
	}
	return nil, false
}

// membersOf returns the members of the group of a communicator or window that the rank is in, or
// of the other group of an intercommunicator.
func (e *evaluation) membersOf(class string, id int64, remote bool) ([]int, bool) {
	s := e.scope(class, id)
	if s.communicator == nil || s.communicator.Size() > maxGroupMembers {
		return nil, false
	}
	local, other := s.communicator.Groups(e.number)
	if remote {
		return other, other != nil
	}
	return local, local != nil
}

// chosen returns the members of a group that have some ranks in it.
func chosen(of []int, ranks []int64, ok bool) ([]int, bool) {
	list := make([]int, 0, len(ranks))
	for _, rank := range ranks {
		if rank < 0 || rank >= int64(len(of)) {
			return nil, false
		}
		list = append(list, of[rank])
	}
	return list, ok
}

// without returns the members of a group but those that have some ranks in it.
func without(of []int, ranks []int64, ok bool) ([]int, bool) {
	list, ok := chosen(of, ranks, ok)
	out := make(map[int]bool, len(list))
	for _, rank := range list {
		out[rank] = true
	}
	return slices.DeleteFunc(slices.Clone(of), func(rank int) bool { return out[rank] }), ok
}

// ranges returns the ranks in ranges, each of which is three numbers of an argument: the first rank, the
// last, and the stride, of a group of so many members.
func (a arguments) ranges(name string, members int) (list []int64, ok bool) {
	numbers, ok := a.numbers(name)
	for ; ok && len(numbers) >= 3; numbers = numbers[3:] {
		first, last, stride := numbers[0], numbers[1], numbers[2]
		if stride == 0 || first < 0 || first >= int64(members) || last < 0 || last >= int64(members) {
			return nil, false
		}
		stride = max(min(stride, int64(members)), -int64(members)) // further is out of the range, too
		for rank := first; stride > 0 && rank <= last || stride < 0 && rank >= last; rank += stride {
			if list = append(list, rank); len(list) > members { // each rank is in one range
				return nil, false
			}
		}
	}
	return list, ok && len(numbers) == 0
}

// combined returns what a function makes of two groups.
func combined(function string, a, b []int) []int {
	in := make(map[int]bool, len(b))
	for _, rank := range b {
		in[rank] = true
	}
	list := make([]int, 0, len(a))
	for _, rank := range a {
		if function == "Group_union" || in[rank] == (function == "Group_intersection") {
			list = append(list, rank)
		}
		delete(in, rank)
	}
	if function == "Group_union" {
		for _, rank := range b {
			if in[rank] {
				list = append(list, rank)
			}
		}
	}
	return list
}
