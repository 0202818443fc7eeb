package programs

import "fmt"

// Stencil2D is a 5-point stencil on a grid of processes without wrap-around,
// rank y·width + x being at (x, y): in each iteration, every process exchanges
// a halo with each of its neighbours and takes part in an MPI_Allreduce. From 3
// by 3 processes on, there are 9 kinds of them.
func Stencil2D(width, height int, iterations uint64) Program {
	return stencil(fmt.Sprintf("Stencil2D/%dx%d", width, height), []int{width, height}, iterations)
}

// Stencil3D is a 7-point stencil on a grid of x by y by z processes without
// wrap-around, x varying fastest. From 3 by 3 by 3 processes on, there are 27
// kinds of them.
func Stencil3D(x, y, z int, iterations uint64) Program {
	return stencil(fmt.Sprintf("Stencil3D/%dx%dx%d", x, y, z), []int{x, y, z}, iterations)
}

// stencil exchanges halos in a grid of which the sides are given, the first
// varying fastest. Direction 2d leads to the neighbour before in dimension d,
// 2d+1 to the one behind; a message has its direction as its tag and, at the
// sender, as its buffer.
func stencil(name string, sides []int, iterations uint64) Program {
	ranks := 1
	for _, side := range sides {
		ranks *= side
	}
	directions := 2 * len(sides)
	return newProgram(name, ranks, func(r *recorder, rank int) {
		var neighbours [6]int // −1 for none
		stride := 1
		for d, side := range sides {
			at := rank / stride % side
			neighbours[2*d], neighbours[2*d+1] = rank-stride, rank+stride
			if at == 0 {
				neighbours[2*d] = -1
			}
			if at == side-1 {
				neighbours[2*d+1] = -1
			}
			stride *= side
		}
		r.loop(iterations, func() {
			for direction, peer := range neighbours[:directions] {
				if peer >= 0 {
					r.irecv(message{directions + direction, halo(direction), peer, direction ^ 1})
				}
			}
			for direction, peer := range neighbours[:directions] {
				if peer >= 0 {
					r.isend(message{direction, halo(direction), peer, direction})
				}
			}
			r.waitall()
			r.allreduce(1)
		})
	})
}

// halo returns the size of the halo in a direction: each dimension has its own.
func halo(direction int) int { return 1000 + 100*(direction/2) }
