package loggps

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// An Algorithm is how the members of a collective operation exchange what they give and get. [New] refuses
// one that an operation cannot have, and lists those that it can. MPICH chooses, for p members:
//
//	barrier                     dissemination
//	bcast                       binomial below 12 KiB or 8 members, then scatter-recursive-doubling below 512 KiB
//	                            if p is a power of two, else scatter-ring
//	scatter, gather, scatterv, gatherv
//	                            binomial; linear with a v
//	reduce                      binomial up to 2 KiB, else rabenseifner
//	allreduce                   recursive-doubling up to 2 KiB, else rabenseifner
//	allgather, allgatherv       of what a member gets in all: recursive-doubling below 512 KiB if p is a power of two,
//	                            else bruck below 80 KiB, else ring
//	alltoall                    of what a member gives to each: bruck up to 256 bytes with 8 members or more, linear up
//	                            to 32 KiB, else pairwise
//	alltoallv, alltoallw        linear
//	reduce_scatter, reduce_scatter_block
//	                            recursive-halving below 512 KiB, else pairwise
//	scan, exscan                recursive-doubling
type Algorithm string

// The algorithms.
const (
	binomial          Algorithm = "binomial"
	recursiveDoubling Algorithm = "recursive-doubling"
	recursiveHalving  Algorithm = "recursive-halving"
	rabenseifner      Algorithm = "rabenseifner" // recursive halving, and then back
	ring              Algorithm = "ring"
	bruck             Algorithm = "bruck"
	linear            Algorithm = "linear" // each member to each, or the root, without an order
	dissemination     Algorithm = "dissemination"
	pairwise          Algorithm = "pairwise"
	scatterDoubling   Algorithm = "scatter-recursive-doubling" // a scatter, and then an allgather
	scatterRing       Algorithm = "scatter-ring"
)

// algorithms are those that each operation may have.
var algorithms = map[string][]Algorithm{
	"barrier":              {dissemination, recursiveDoubling, linear},
	"bcast":                {binomial, linear, scatterDoubling, scatterRing},
	"scatter":              {binomial, linear},
	"scatterv":             {linear, binomial},
	"gather":               {binomial, linear},
	"gatherv":              {linear, binomial},
	"reduce":               {binomial, rabenseifner, linear},
	"allreduce":            {recursiveDoubling, rabenseifner, ring},
	"allgather":            {recursiveDoubling, bruck, ring},
	"allgatherv":           {recursiveDoubling, bruck, ring},
	"alltoall":             {bruck, pairwise, linear},
	"alltoallv":            {linear, pairwise},
	"alltoallw":            {linear, pairwise},
	"reduce_scatter":       {recursiveHalving, pairwise},
	"reduce_scatter_block": {recursiveHalving, pairwise},
}

// rootedOperations are those in which not all members need all.
var rootedOperations = []string{"bcast", "scatter", "scatterv", "gather", "gatherv", "reduce"}

// checkAlgorithm returns an error if an operation cannot have an algorithm.
func checkAlgorithm(operation string, a Algorithm) error {
	list, ok := algorithms[operation]
	if !ok {
		return fmt.Errorf(
			"loggps: no collective operation whose algorithm can be chosen is called %q: it is one of %s", operation,
			strings.Join(slices.Sorted(maps.Keys(algorithms)), ", "))
	}
	if slices.Contains(list, a) {
		return nil
	}
	var names []string
	for _, a := range list {
		names = append(names, string(a))
	}
	return fmt.Errorf("loggps: the algorithm of %s cannot be %q: it is one of %s", operation, a,
		strings.Join(names, ", "))
}

// choose returns the algorithm that MPICH chooses for a size: of what the root gives or gets, a member of an
// allreduce gives, a member of an allgather or of a reduce-scatter gets or gives in all, or that of an
// alltoall gives to each.
func choose(operation string, members int, size int64) Algorithm {
	power := members&(members-1) == 0
	switch operation {
	case "bcast":
		switch {
		case size < 12<<10 || members < 8:
			return binomial
		case size < 512<<10 && power:
			return scatterDoubling
		}
		return scatterRing
	case "allreduce", "reduce":
		if size > 2<<10 {
			return rabenseifner
		}
	case "allgather", "allgatherv":
		switch {
		case size < 512<<10 && power:
			return recursiveDoubling
		case size < 80<<10:
			return bruck
		}
		return ring
	case "alltoall":
		switch {
		case size <= 256 && members >= 8:
			return bruck
		case size <= 32<<10:
			return linear
		}
		return pairwise
	case "reduce_scatter", "reduce_scatter_block":
		if size >= 512<<10 {
			return pairwise
		}
	}
	if list := algorithms[operation]; len(list) > 0 {
		return list[0]
	}
	return dissemination
}
