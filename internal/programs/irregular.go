package programs

import "fmt"

// draw returns a random number that depends on the seed and the place at which
// it is drawn, so that the ranks agree on it.
func draw(seed uint64, place ...int) uint64 {
	for _, p := range place {
		seed = mix(seed ^ mix(uint64(p)+0x9e3779b97f4a7c15))
	}
	return seed
}

// mix is the finalizer of the generator SplitMix64.
func mix(v uint64) uint64 {
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}

// countBits is the number of bits in a count that is drawn at random.
const countBits = 10

func drawCount(seed uint64, place ...int) int { return int(draw(seed, place...) >> (64 - countBits)) }

// RandomCounts sends a message from each rank to the next, in each iteration, of
// a length that is drawn at random.
func RandomCounts(ranks, iterations int, seed uint64) Program {
	p := newProgram(fmt.Sprintf("RandomCounts/%d", ranks), ranks, func(r *recorder, rank int) {
		next, last := (rank+1)%ranks, (rank+ranks-1)%ranks
		for i := range iterations {
			r.irecv(message{0, 1 << countBits, last, 0}) // what there is room for
			r.isend(message{1, drawCount(seed, i, rank), next, 0})
			r.waitall()
		}
	})
	p.Entropy = float64(ranks) * float64(iterations) * countBits
	return p
}

// RandomPartners sends a message from each rank to another one, in each iteration
// as another random permutation says. It is received from any source.
func RandomPartners(ranks, iterations int, seed uint64) Program {
	to := make([][]int32, iterations)
	for i := range to {
		to[i] = permutation(ranks, seed, uint64(i))
	}
	p := newProgram(fmt.Sprintf("RandomPartners/%d", ranks), ranks, func(r *recorder, rank int) {
		for i := range iterations {
			r.irecv(message{0, 1000, anySource, i})
			r.isend(message{1, 1000, int(to[i][rank]), i})
			r.waitall()
		}
	})
	p.Entropy = float64(iterations) * orderings(ranks)
	return p
}

// RandomAlltoallv exchanges messages between all ranks, in each iteration, of
// lengths that are drawn at random, as sorting does.
func RandomAlltoallv(ranks, iterations int, seed uint64) Program {
	p := newProgram(fmt.Sprintf("RandomAlltoallv/%d", ranks), ranks, func(r *recorder, rank int) {
		send, receive := make([]int, ranks), make([]int, ranks)
		for i := range iterations {
			for peer := range ranks {
				send[peer] = drawCount(seed, i, rank, peer)
				receive[peer] = drawCount(seed, i, peer, rank)
			}
			r.alltoallv(send, receive)
		}
	})
	p.Entropy = float64(ranks) * float64(ranks) * float64(iterations) * countBits
	return p
}
