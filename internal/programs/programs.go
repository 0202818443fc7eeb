package programs

import (
	"math"
	"sync"

	"github.com/reprise-trace/reprise/merge"
)

// A Program is a parallel program, one text for all ranks.
type Program struct {
	Name  string
	Ranks int

	// Part makes the part of a rank, 0 ≤ rank < Ranks. Several goroutines may
	// call it at once. Parts share what is immutable: declarations of functions,
	// and grammars if they are equal.
	Part func(rank int) merge.Part

	// Entropy is the information in what is drawn at random, in bits. It is 0 for
	// a program that is the same whatever the seed.
	Entropy float64
}

// newProgram returns a program in which each rank makes the given calls, between
// MPI_Init and MPI_Finalize.
func newProgram(name string, ranks int, calls func(r *recorder, rank int)) Program {
	var known grammars
	pool := sync.Pool{New: func() any { return &recorder{known: &known} }}
	part := func(rank int) merge.Part {
		r := pool.Get().(*recorder)
		defer pool.Put(r)
		r.begin(rank, ranks)
		calls(r, rank)
		return r.finish(rank)
	}
	return Program{Name: name, Ranks: ranks, Part: part}
}

// Run describes the run of p.
func (p Program) Run() merge.Run { return merge.Run{Ranks: p.Ranks, Source: p.Name, Names: names} }

// Parts makes the parts of all ranks.
func (p Program) Parts() []merge.Part {
	parts := make([]merge.Part, p.Ranks)
	for rank := range parts {
		parts[rank] = p.Part(rank)
	}
	return parts
}

// All returns one program of each kind, of about so many ranks, at least 9: the
// nearest number below that the kind can have.
func All(ranks int) []Program {
	square, cube := int(math.Sqrt(float64(ranks))), int(math.Cbrt(float64(ranks)))
	return []Program{
		Stencil2D(square, square, 1000),
		Stencil3D(cube, cube, cube, 1000),
		Gather(Binomial, ranks, 10),
		Gather(Halving, ranks, 10),
		Gather(Heap, ranks, 10),
		Multipartition(square, 1000),
		PermutationSend(ranks, 1000, 1),
		Permutation(ranks, 1000, 1),
		RandomCounts(ranks, 100, 1),
		RandomPartners(ranks, 100, 1),
		RandomAlltoallv(ranks, 10, 1),
		Refinement(ranks, 20, 50, 1),
	}
}
