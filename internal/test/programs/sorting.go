package programs

import (
	"fmt"
	"math"
)

// IntegerSort sorts numbers that are spread over all ranks, so many on each, again and again,
// in an MPI_Alltoallv: each rank gets buckets that follow each other and have, in all ranks,
// about as many numbers as it had. Before each iteration, rank 0 replaces two of its numbers
// by the smallest and the largest that there can be, as the kernel IS of the NAS benchmarks
// does. The numbers are drawn at random, as sums of four.
func IntegerSort(ranks, numbers, iterations int, seed uint64) Program {
	all := sortIntegers(ranks, numbers, iterations, seed)
	p := newProgram(fmt.Sprintf("IntegerSort/%d", ranks), ranks, func(r *recorder, rank int) {
		receive := make([]int, ranks)
		for _, sent := range all {
			for from := range ranks {
				receive[from] = sent[from][rank]
			}
			r.allreduce(ranks * bucketsPerRank)
			r.alltoallv(sent[rank], receive)
		}
	})
	if len(all) > 0 {
		p.Entropy = spreading(all[0])
	}
	return p
}

// spreading returns the information, in bits, in how many things each rank sends to each, if
// it is known how many it sends and how many each receives of all.
func spreading(sent [][]int) float64 {
	received, all := make([]float64, len(sent)), 0.0
	for _, row := range sent {
		for to, n := range row {
			received[to] += float64(n)
			all += float64(n)
		}
	}
	bits := 0.0
	for _, row := range sent {
		sum := 0
		for to, n := range row {
			sum += n
			bits += orderings(n)
			if n > 0 {
				bits -= float64(n) * math.Log2(received[to]/all)
			}
		}
		bits -= orderings(sum)
	}
	return bits
}

// bucketsPerRank is how many buckets there are for each rank.
const bucketsPerRank = 4

// sortIntegers returns, for each iteration, rank, and rank that receives, how many numbers
// are sent.
func sortIntegers(ranks, numbers, iterations int, seed uint64) [][][]int {
	var (
		buckets = ranks * bucketsPerRank
		counts  = make([][]int, ranks) // by rank and bucket
		first   []int                  // buckets of the numbers of rank 0
		sent    = make([][][]int, iterations)
	)
	for rank := range counts {
		counts[rank] = make([]int, buckets)
		for k := range numbers {
			sum := uint64(0)
			for part := range 4 {
				sum += draw(seed, rank, k, part) >> 34
			}
			b := int(sum * uint64(buckets) >> 32)
			counts[rank][b]++
			if rank == 0 {
				first = append(first, b)
			}
		}
	}
	for i := range sent {
		for k, to := range []int{0, buckets - 1} {
			if k += 2 * i; k < len(first) {
				counts[0][first[k]]--
				counts[0][to]++
			}
		}
		sent[i] = sendBuckets(counts, numbers)
	}
	return sent
}

// sendBuckets returns how many numbers each rank sends to each, if they have so many in each
// bucket.
func sendBuckets(counts [][]int, numbers int) [][]int {
	sent := make([][]int, len(counts))
	for rank := range sent {
		sent[rank] = make([]int, len(counts))
	}
	owner, sum := 0, 0
	for b := range counts[0] {
		for rank := range counts {
			sent[rank][owner] += counts[rank][b]
			sum += counts[rank][b]
		}
		if owner < len(counts)-1 && sum >= (owner+1)*numbers {
			owner++
		}
	}
	return sent
}
