package programs

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/reprise-trace/reprise/cst"
)

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

// Halo26 exchanges halos in a grid of side³ processes without wrap-around, as bench/recording/halo26.c does:
// with the neighbours across faces, then edges, then corners, as far as there are any. The messages stand one
// after the other in one buffer, and the process waits for each of them.
func Halo26(side int, iterations uint64) Program {
	const points = 16 // along an edge
	var directions [][3]int
	for steps := 1; steps <= 3; steps++ {
		for n := range 27 {
			if d := [3]int{n%3 - 1, n/3%3 - 1, n/9 - 1}; d[0]*d[0]+d[1]*d[1]+d[2]*d[2] == steps {
				directions = append(directions, d)
			}
		}
	}
	sizes := [4]int{1: points * points, 2: points, 3: 1} // by the number of steps
	return newProgram(fmt.Sprintf("Halo26/%d", side), side*side*side, func(r *recorder, rank int) {
		at := [3]int{rank % side, rank / side % side, rank / side / side}
		exchange := func(transfer func(fn, offset int, m message), fn, buffer int) {
			offset := 0
			for _, d := range directions {
				peer, steps, inside := 0, 0, true
				for i := 2; i >= 0; i-- {
					p := at[i] + d[i]
					inside = inside && 0 <= p && p < side
					peer, steps = peer*side+p, steps+d[i]*d[i]
				}
				if inside {
					transfer(fn, 8*offset, message{buffer, sizes[steps], peer, 26})
					offset += sizes[steps]
				}
			}
		}
		r.loop(iterations, func() {
			exchange(r.nonblocking, mpiIrecv, 0)
			exchange(r.nonblocking, mpiIsend, 1)
			r.waits()
			r.allreduce(1)
		})
	})
}

// Polling exchanges messages between neighbours in a ring and waits for them by polling: how often in vain is
// drawn at random, of 64 numbers, before each of two messages in each exchange. There are 25 levels, each with
// lengths of its own, that take turns.
func Polling(ranks, exchanges int, seed uint64) Program {
	const pollBits, levels = 6, 25
	p := newProgram(fmt.Sprintf("Polling/%d", ranks), ranks, func(r *recorder, rank int) {
		next, last := (rank+1)%ranks, (rank+ranks-1)%ranks
		for i := range exchanges {
			level := i % levels
			r.irecv(message{0, 1 << countBits, last, 1}) // what there is room for
			r.send(message{1, drawCount(seed, level, rank), next, 1})
			r.send(message{2, drawCount(seed, level, rank, 0), next, 0})
			r.polls(draw(seed, i, rank, 0) >> (64 - pollBits))
			r.iprobe(1)
			r.recv(message{3, drawCount(seed, level, last, 0), last, 0})
			r.polls(draw(seed, i, rank, 1) >> (64 - pollBits))
			r.iprobe(0)
			r.call(mpiTest, cst.Handle(0), cst.Int(1))
			r.requests = 0
			r.allreduce(1)
		}
	})
	p.Entropy = float64(ranks) * float64(exchanges) * 2 * pollBits
	return p
}

// Multipartition sweeps through a cube of cells, as the NAS benchmarks BT and SP
// do: of q·q·q cells, each of q·q ranks has q, one in every slice in every
// dimension. Rank i + q·j has cell c at ((c+i) mod q, (c+j) mod q, c). In each
// iteration and dimension, the sweep goes from slice to slice, and the rank whose
// turn it is sends the face of its cell on. The points do not divide evenly, so
// the sizes of faces differ from slice to slice, in another order on each rank:
// all ranks call the same functions in the same order, with different counts.
func Multipartition(q int, iterations uint64) Program {
	return multipartition("Multipartition", q, iterations, func(dimension int, _ [3]int) int { return dimension })
}

// TaggedMultipartition is Multipartition with tags that say which cell of a slice a message is for, as those
// of BT and SP do.
func TaggedMultipartition(q int, iterations uint64) Program {
	return multipartition("TaggedMultipartition", q, iterations, func(dimension int, cell [3]int) int {
		return 2000 + 1000*dimension + cell[(dimension+1)%3] + q*cell[(dimension+2)%3]
	})
}

func multipartition(name string, q int, iterations uint64, tag func(dimension int, cell [3]int) int) Program {
	width := func(slice int) int { // of a slice, in points
		if slice < (q+1)/2 {
			return 13
		}
		return 12
	}
	return newProgram(fmt.Sprintf("%s/%dx%d", name, q, q), q*q, func(r *recorder, rank int) {
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
						r.irecv(message{2 * dimension, 5 * face, last[dimension], tag(dimension, cell)})
						r.waitall()
					}
					if slice < q-1 {
						r.isend(message{2*dimension + 1, 5 * face, next[dimension], tag(dimension, cell)})
						r.waitall()
					}
				}
			}
		})
	})
}

// Pentadiagonal is what the NAS benchmark SP does with its buffers, on a multipartition of a cube of so many
// points in each dimension. In each iteration a rank exchanges the faces of its cells with six neighbours,
// those for each in one message, one behind the other in a buffer. Then it sweeps forth and back, as
// [Multipartition] does forth, with the interior of the cube only. Rank i + q·j has cell c at ((i+c) mod q,
// (j−c) mod q, c).
func Pentadiagonal(q, points int, iterations uint64) Program {
	const variables = 5
	return newProgram(fmt.Sprintf("Pentadiagonal/%dx%d", q, q), q*q, func(r *recorder, rank int) {
		m := newPentadiagonal(q, points, rank)
		r.loop(iterations, func() {
			at, sizes := 0, m.faces()
			for _, fn := range []int{mpiIrecv, mpiIsend} {
				for side, size := range sizes {
					tag := side
					if fn == mpiIrecv {
						tag ^= 1
					}
					r.nonblocking(fn, 8*at, message{fn - mpiIsend, 2 * variables * size, m.neighbours[side], tag})
					at += 2 * variables * size
				}
				at = 0
			}
			r.waitall()
			for dimension := range 3 {
				m.sweep(r, dimension, false)
				m.sweep(r, dimension, true)
			}
		})
	})
}

// A pentadiagonal is what a rank of [Pentadiagonal] has.
type pentadiagonal struct {
	q, points  int
	cells      [][3]int
	neighbours [6]int // after and before it in each dimension
}

func newPentadiagonal(q, points, rank int) *pentadiagonal {
	i, j := rank%q, rank/q
	at := func(i, j int) int { return (i+q)%q + q*((j+q)%q) }
	m := &pentadiagonal{q: q, points: points, neighbours: [6]int{at(i+1, j), at(i-1, j), at(i, j+1),
		at(i, j-1), at(i-1, j+1), at(i+1, j-1)}}
	for c := range q {
		m.cells = append(m.cells, [3]int{(i + c) % q, (j - c + q) % q, c})
	}
	return m
}

// width returns the points of a cell in a dimension and, without the first and the last of all, of its
// interior.
func (m *pentadiagonal) width(i int) (all, interior int) {
	all = m.points / m.q
	if i < m.points%m.q {
		all++
	}
	interior = all
	if i == 0 {
		interior--
	}
	if i == m.q-1 {
		interior--
	}
	return all, interior
}

// faces returns how many points go to each neighbour: of all cells that have one.
func (m *pentadiagonal) faces() (sizes [6]int) {
	for _, cell := range m.cells {
		for side := range sizes {
			d := side / 2
			if rim := (m.q - 1) * (1 - side%2); cell[d] != rim {
				a, _ := m.width(cell[(d+1)%3])
				b, _ := m.width(cell[(d+2)%3])
				sizes[side] += a * b
			}
		}
	}
	return sizes
}

// sweep goes from slice to slice of a dimension, or back.
func (m *pentadiagonal) sweep(r *recorder, dimension int, back bool) {
	numbers, from, to := 22, m.neighbours[2*dimension+1], m.neighbours[2*dimension]
	if back {
		numbers, from, to = 10, to, from
	}
	tag := 2*dimension + 10
	for n := range m.q {
		slice := n
		if back {
			slice = m.q - 1 - n
		}
		for _, cell := range m.cells {
			if cell[dimension] != slice {
				continue
			}
			_, a := m.width(cell[(dimension+1)%3])
			_, b := m.width(cell[(dimension+2)%3])
			if n > 0 {
				r.irecv(message{1, numbers * a * b, from, tag})
				r.waitall()
			}
			if n < m.q-1 {
				r.isend(message{0, numbers * a * b, to, tag})
				r.waitall()
			}
		}
	}
}

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
	return permute(fmt.Sprintf("PermutationSend/%d", ranks), iterations, permutation(ranks, seed, 0),
		func(int) int { return anySource })
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

// reach is how far away neighbours may be in a Refinement.
const reach = 4

// link returns the length of the messages between a rank and the one that is so
// far behind it, or 0 if they are not neighbours: half of the pairs are, on one
// of four levels.
func link(seed uint64, epoch, rank, distance int) int {
	v := draw(seed, epoch, rank, distance)
	if v>>63 == 0 {
		return 0
	}
	return 256 << (v >> 61 & 3)
}

// Refinement is an adaptive mesh: which ranks are neighbours, and how much they
// exchange in each iteration, is drawn at random in each epoch.
func Refinement(ranks, epochs int, iterations, seed uint64) Program {
	p := newProgram(fmt.Sprintf("Refinement/%d", ranks), ranks, func(r *recorder, rank int) {
		for epoch := range epochs {
			r.loop(iterations, func() {
				exchange(r.irecv, 1, seed, epoch, rank, ranks)
				exchange(r.isend, 0, seed, epoch, rank, ranks)
				r.waitall()
				r.allreduce(1)
			})
		}
	})
	for epoch := range epochs {
		for rank := range ranks {
			for distance := 1; distance <= reach; distance++ {
				p.Entropy++
				if link(seed, epoch, rank, distance) > 0 {
					p.Entropy += 2
				}
			}
		}
	}
	return p
}

// exchange sends, or receives, the messages of a rank with its neighbours. A
// message has tag 2·distance if it goes to the rank behind, 2·distance+1 if it
// goes to the one before; receiving is 1 for what is received.
func exchange(transfer func(message), receiving int, seed uint64, epoch, rank, ranks int) {
	for distance := 1; distance <= reach; distance++ {
		behind, before := (rank+distance)%ranks, (rank+ranks-distance)%ranks
		if n := link(seed, epoch, rank, distance); n > 0 {
			transfer(message{receiving, n, behind, 2*distance + receiving})
		}
		if n := link(seed, epoch, before, distance); n > 0 {
			transfer(message{receiving, n, before, 2*distance + 1 - receiving})
		}
	}
}

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

// RandomMessages sends a message from each rank to another one, in each iteration as another
// random permutation says, of a length that is drawn at random.
func RandomMessages(ranks, iterations int, seed uint64) Program {
	to, from := make([][]int32, iterations), make([][]int32, iterations)
	for i := range to {
		to[i], from[i] = permutation(ranks, seed, uint64(i)), make([]int32, ranks)
		for rank, peer := range to[i] {
			from[i][peer] = int32(rank)
		}
	}
	p := newProgram(fmt.Sprintf("RandomMessages/%d", ranks), ranks, func(r *recorder, rank int) {
		for i := range iterations {
			r.irecv(message{0, drawCount(seed, i, int(from[i][rank])), int(from[i][rank]), 0})
			r.isend(message{1, drawCount(seed, i, rank), int(to[i][rank]), 0})
			r.waitall()
		}
	})
	p.Entropy = float64(iterations) * (orderings(ranks) + float64(ranks)*countBits)
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

// TripCounts is a loop in which each process sends a message to itself, of so many iterations
// at rank 0, and one more at each rank after it.
func TripCounts(ranks int, least uint64) Program {
	return newProgram(fmt.Sprintf("TripCounts/%d", ranks), ranks, func(r *recorder, rank int) {
		r.loop(least+uint64(rank), func() { toItself(r, rank, 0) })
	})
}

// RandomTrips is a loop in a loop, in which each process sends messages to itself: how often both
// repeat is drawn at random, of 16 numbers.
func RandomTrips(ranks int, seed uint64) Program {
	const tripBits = 4
	drawTrips := func(place ...int) uint64 { return 1 + draw(seed, place...)>>(64-tripBits) }
	p := newProgram(fmt.Sprintf("RandomTrips/%d", ranks), ranks, func(r *recorder, rank int) {
		for i := range drawTrips(rank) {
			r.loop(1, func() { toItself(r, rank, 0) })
			r.loop(drawTrips(rank, int(i)), func() { toItself(r, rank, 1) })
		}
	})
	for rank := range ranks {
		p.Entropy += tripBits * float64(1+drawTrips(rank))
	}
	return p
}

// toItself sends a message from a process to itself.
func toItself(r *recorder, rank, tag int) {
	r.irecv(message{0, 1000, rank, tag})
	r.isend(message{1, 1000, rank, tag})
	r.waitall()
}
