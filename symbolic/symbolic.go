// Package symbolic gives small numbers to what a program names by handles and
// addresses, such that the same program has the same numbers in every run, and
// processes that do the same have the same: symbolic ids.
//
//	var comms symbolic.Handles
//	comms.Declare(0x44000000, -1)         // MPI_COMM_WORLD, a constant
//	fmt.Println(comms.Create(0x84000007)) // 0: the first that MPI_Comm_dup makes
//
// [Handles] is for objects of one class, such as communicators or datatypes.
// [Memory] turns addresses into segments and displacements. All of these see one process, in the order of its
// events. [Pool] is what they take numbers from.
//
// Ids of one process suffice for a trace: group objects such as communicators have
// equal ids on all members as long as these do the same. Where they do not, package mpi/semantics finds out
// afterwards which objects are the same.
//
// # Ids
//
//	id of             is
//	a handle          the lowest number from 0 on that is free in its class
//	a segment         the lowest number from 0 on that is free
//	a region          what the caller declared, −1023 … −1
//	unknown memory    −1024 and less, in the order of first use
//	a constant        what the caller declared, a negative number
//
// Ids of handles are taken when an object is made, those of segments
// when a call first uses one. All are free again when the object is gone.
//
// # Limits
//
// Numbers of objects that exist at a time and of pools are below
// 2³¹. Methods panic if the caller uses an id that it was not given, and on nothing
// that a traced program does: handles that are freed twice or never, and memory that
// overlaps, are provided for.
//
// # Source
//
// Symbolic ids, lowest free first, and memory as segments of a search tree, are those of C. Wang, Y. Guo, P.
// Balaji and M. Snir, "Near-Lossless MPI Tracing and Proxy Application Autogeneration", IEEE TPDS 34(1),
// 2023, §2.3.3 and §2.4.2; recording only the freeing of segments that calls used is §3.3.3. This package
// departs from it in keeping segments in a B+ tree and giving them ids when they are first used; and in
// static data and stacks, where it keeps displacements instead of an id for each address.
package symbolic

import (
	"fmt"
	"math/bits"
)

// A Pool hands out numbers, the lowest that is free first. The zero Pool has all
// numbers from 0 on. Taking and releasing a number take constant time, and memory
// only for more numbers than were ever taken at once: 1 bit for each.
type Pool struct {
	taken uint64  // of the numbers 0 … 63
	more  *bitmap // the numbers from 64 on, less 64; nil before the first
}

// Take takes the lowest number that is free.
func (p *Pool) Take() int64 {
	if free := ^p.taken; free != 0 {
		p.taken |= free & -free
		return int64(bits.TrailingZeros64(free))
	}
	if p.more == nil {
		p.more = new(bitmap)
	}
	return 64 + p.more.take()
}

// Release gives a number back. It panics if the number is not taken.
func (p *Pool) Release(id int64) {
	if !p.Taken(id) {
		panic(fmt.Sprintf("symbolic: release of %d, which is not taken", id))
	}
	if id < 64 {
		p.taken &^= 1 << id
	} else {
		p.more.release(id - 64)
	}
}

// Taken reports whether a number is taken.
func (p *Pool) Taken(id int64) bool {
	switch {
	case id < 0:
		return false
	case id < 64:
		return p.taken>>id&1 != 0
	default:
		return p.more != nil && p.more.taken(id-64)
	}
}

// levels is the height of a bitmap: it has place for 64⁶ numbers.
const levels = 6

// A bitmap is a set of free numbers, with summaries that lead to the lowest. Bit
// i of the words of level 0 is set if i is free; bit i of a higher level is set
// if word i of the level below is not 0.
type bitmap struct {
	words [levels][]uint64
	n     int64 // numbers that have a bit
}

// take removes the lowest free number, adding one if there is none.
func (b *bitmap) take() int64 {
	if b.n == 0 || b.words[levels-1][0] == 0 {
		return b.grow()
	}
	var i int64
	for level := levels - 1; level >= 0; level-- {
		i = i<<6 | int64(bits.TrailingZeros64(b.words[level][i]))
	}
	b.remove(i)
	return i
}

// grow adds the number b.n, which is not free, and returns it.
func (b *bitmap) grow() int64 {
	i := b.n
	b.n++
	for level, words := 0, i>>6+1; level < levels; level, words = level+1, (words+63)>>6 {
		if int64(len(b.words[level])) < words {
			b.words[level] = append(b.words[level], 0)
		}
	}
	return i
}

// remove clears the bit of i, and those above it of words that became 0.
func (b *bitmap) remove(i int64) {
	for level := range levels {
		word := &b.words[level][i>>6]
		*word &^= 1 << (i & 63)
		if *word != 0 {
			return
		}
		i >>= 6
	}
}

// release sets the bit of i, and those above it of words that were 0.
func (b *bitmap) release(i int64) {
	for level := range levels {
		word := &b.words[level][i>>6]
		before := *word
		*word |= 1 << (i & 63)
		if before != 0 {
			return
		}
		i >>= 6
	}
}

// taken reports whether i was taken.
func (b *bitmap) taken(i int64) bool {
	return i < b.n && b.words[0][i>>6]>>(i&63)&1 == 0
}
