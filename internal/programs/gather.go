package programs

import (
	"fmt"
	"slices"
)

// A Tree is a tree of all ranks, of which rank 0 is the root.
type Tree int

const (
	// Binomial is the tree that MPI libraries use: the parent of a rank has the
	// lowest one bit of the rank cleared.
	Binomial Tree = iota

	// Halving cuts the ranks in two, again and again; the first rank of the upper
	// part is a child of the first of the lower one, which is not the larger one.
	Halving

	// Heap gives rank r the children 2r+1 and 2r+2.
	Heap
)

func (t Tree) String() string { return [...]string{"Binomial", "Halving", "Heap"}[t] }

// A branch is a rank with all that are below it in a tree.
type branch struct {
	rank int
	size int // number of ranks
}

// node returns the parent of a rank, −1 for the root, the number of ranks in its
// own branch, and the branches of its children in the order in which it receives
// from them.
func (t Tree) node(rank, ranks int) (parent, size int, children []branch) {
	switch t {
	case Binomial:
		return binomial(rank, ranks)
	case Halving:
		return halving(rank, ranks)
	}
	return heap(rank, ranks)
}

func binomial(rank, ranks int) (parent, size int, children []branch) {
	low := 1
	for ; rank&low == 0 && rank+low < ranks; low *= 2 {
		children = append(children, branch{rank + low, min(low, ranks-rank-low)})
	}
	if rank == 0 {
		return -1, ranks, children
	}
	low = rank & -rank
	return rank - low, min(low, ranks-rank), children
}

func halving(rank, ranks int) (parent, size int, children []branch) {
	parent, size = -1, ranks
	for first, n := 0, ranks; n > 1; {
		half := n / 2
		switch {
		case rank < first+half:
			if rank == first {
				children = append(children, branch{first + half, n - half})
			}
			n = half
			continue
		case rank == first+half:
			parent, size = first, n-half
		}
		first, n = first+half, n-half
	}
	slices.Reverse(children)
	return parent, size, children
}

func heap(rank, ranks int) (parent, size int, children []branch) {
	below := func(rank int) (size int) {
		for lo, hi := rank, rank; lo < ranks; lo, hi = 2*lo+1, 2*hi+2 {
			size += min(hi, ranks-1) - lo + 1
		}
		return size
	}
	for child := 2*rank + 1; child <= 2*rank+2 && child < ranks; child++ {
		children = append(children, branch{child, below(child)})
	}
	if rank == 0 {
		return -1, ranks, children
	}
	return (rank - 1) / 2, below(rank), children
}

// Gather is what Nek5000 does, after Wang et al., "Near-Lossless MPI Tracing",
// §4.3.2: at the beginning and at the end every rank sends a message to rank 0,
// which receives them one by one; in each iteration between them the ranks gather
// what they have on a tree. Ranks relative to the caller are the same in the one
// case, absolute ranks in the other.
func Gather(tree Tree, ranks int, iterations uint64) Program {
	const block = 64 // numbers that each rank has
	return newProgram(fmt.Sprintf("Gather%v/%d", tree, ranks), ranks, func(r *recorder, rank int) {
		direct := func(tag int) {
			if rank > 0 {
				r.send(message{0, 1, 0, tag})
				return
			}
			for peer := 1; peer < ranks; peer++ {
				r.recv(message{1, 1, peer, tag})
			}
		}
		parent, size, children := tree.node(rank, ranks)
		direct(1)
		r.loop(iterations, func() {
			for _, child := range children {
				r.recv(message{2, block * child.size, child.rank, 3})
			}
			if parent >= 0 {
				r.send(message{2, block * size, parent, 3})
			}
			r.allreduce(1)
		})
		direct(2)
	})
}
