package programs

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Permutation sends a message from each rank to that which a random permutation
// has in its place, in each iteration. The receiver names the sender, so every
// rank has two irregular peers, each of which follows from those that the other
// ranks have in the other place.
func Permutation(ranks int, iterations, seed uint64) Program {
	to := permutation(ranks, seed, 0)
	from := make([]int32, ranks)
	for rank, peer := range to {
		from[peer] = int32(rank)
	}
	return permute(fmt.Sprintf("Permutation/%d", ranks), iterations, to, func(rank int) int { return int(from[rank]) })
}

// PermutationSend is Permutation with receivers that take a message from any
// source: every rank has one irregular peer.
func PermutationSend(ranks int, iterations, seed uint64) Program {
	return permute(fmt.Sprintf("PermutationSend/%d", ranks), iterations, permutation(ranks, seed, 0), func(int) int { return anySource })
}

// permute sends a message from each rank to another, received from a source.
func permute(name string, iterations uint64, to []int32, source func(rank int) int) Program {
	p := newProgram(name, len(to), func(r *recorder, rank int) {
		r.loop(iterations, func() {
			r.irecv(message{0, 1000, source(rank), 0})
			r.isend(message{1, 1000, int(to[rank]), 0})
			r.waitall()
		})
	})
	p.Entropy = orderings(len(to))
	return p
}

// permutation returns a random permutation of so many ranks. Permutations of one
// seed with different numbers are independent.
func permutation(ranks int, seed, number uint64) []int32 {
	to := make([]int32, ranks)
	for rank := range to {
		to[rank] = int32(rank)
	}
	rand.New(rand.NewPCG(seed, number)).Shuffle(ranks, func(i, j int) { to[i], to[j] = to[j], to[i] })
	return to
}

// orderings returns the information in an ordering of n things, in bits.
func orderings(n int) float64 {
	v, _ := math.Lgamma(float64(n) + 1)
	return v / math.Ln2
}
