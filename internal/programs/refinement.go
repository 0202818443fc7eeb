package programs

import "fmt"

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
