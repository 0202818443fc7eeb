package programs

import "fmt"

// Multipartition sweeps through a cube of cells, as the NAS benchmarks BT and SP
// do: of q·q·q cells, each of q·q ranks has q, one in every slice in every
// dimension. Rank i + q·j has cell c at ((c+i) mod q, (c+j) mod q, c). In each
// iteration and dimension, the sweep goes from slice to slice, and the rank whose
// turn it is sends the face of its cell on. The points do not divide evenly, so
// the sizes of faces differ from slice to slice, in another order on each rank:
// all ranks call the same functions in the same order, with different counts.
func Multipartition(q int, iterations uint64) Program {
	width := func(slice int) int { // of a slice, in points
		if slice < (q+1)/2 {
			return 13
		}
		return 12
	}
	return newProgram(fmt.Sprintf("Multipartition/%dx%d", q, q), q*q, func(r *recorder, rank int) {
		i, j := rank%q, rank/q
		at := func(i, j int) int { return (i+q)%q + q*((j+q)%q) }
		next := [3]int{at(i+1, j), at(i, j+1), at(i-1, j-1)}
		last := [3]int{at(i-1, j), at(i, j-1), at(i+1, j+1)}
		r.loop(iterations, func() {
			for dimension := range 3 {
				for slice := range q {
					c := (slice + 2*q - [3]int{i, j, 0}[dimension]) % q
					cell := [3]int{(c + i) % q, (c + j) % q, c}
					face := width(cell[(dimension+1)%3]) * width(cell[(dimension+2)%3])
					if slice > 0 {
						r.irecv(message{2 * dimension, 5 * face, last[dimension], dimension})
						r.waitall()
					}
					if slice < q-1 {
						r.isend(message{2*dimension + 1, 5 * face, next[dimension], dimension})
						r.waitall()
					}
				}
			}
		})
	})
}
