package semantics

import "github.com/reprise-trace/reprise/cst"

// darrayElements returns how many elements of an array that is distributed are those of the
// process that a call of MPI_Type_create_darray names: the product of the extents of its part
// in each dimension (MPI-4.1, §5.1.4). It is Unknown if the extents depend on which of the
// kinds of distribution the numbers in a trace are, which differ between MPIs.
func darrayElements(args arguments) int64 {
	extents, ok := args.numbers("array_of_gsizes")
	blocks, also := args.numbers("array_of_dargs")
	processes, besides := args.numbers("array_of_psizes")
	if !ok || !also || !besides || len(blocks) != len(extents) || len(processes) != len(extents) {
		return Unknown
	}
	all, rank, n := int64(1), args.number("rank", cst.KindRank), int64(1)
	for _, p := range processes {
		all = product(all, max(p, 0))
	}
	if all <= 0 || all != args.number("size", cst.KindInt) || rank < 0 || rank >= all {
		return Unknown
	}
	for i, p := range processes { // the last dimension of the processes varies fastest
		all /= p
		n = product(n, distributedExtent(extents[i], blocks[i], p, rank/all))
		rank %= all
	}
	return n
}

// distributedExtent returns how much of a dimension the process at a coordinate has, of as
// many, if it is dealt out in blocks of a size, one to each in turn. That is so of cyclic
// distributions, and of others with blocks that are so large that there is one turn only. If
// the size is the default, which is negative, blocks are of one element or as large as that.
func distributedExtent(extent, block, processes, coordinate int64) int64 {
	switch {
	case extent <= 0:
		return Unknown
	case processes == 1:
		return extent
	case block > 0:
		return dealtExtent(extent, block, processes, coordinate)
	}
	single := dealtExtent(extent, 1, processes, coordinate)
	if whole := dealtExtent(extent, (extent-1)/processes+1, processes, coordinate); whole != single {
		return Unknown
	}
	return single
}

func dealtExtent(extent, block, processes, coordinate int64) int64 {
	block = min(block, extent)
	turn := product(processes, block)
	if turn == Unknown {
		return Unknown
	}
	last := extent%turn - coordinate*block
	return extent/turn*block + min(max(last, 0), block)
}
