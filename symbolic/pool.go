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
	n     int64
}

// Take takes the lowest number that is free.
func (p *Pool) Take() int64 {
	p.n++
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
	p.n--
	if id < 64 {
		p.taken &^= 1 << id
	} else {
		p.more.release(id - 64)
	}
}

// Reserve takes a number that the caller chose. It panics if that is negative or
// taken. The pool holds 1 bit for every lower number from then on.
func (p *Pool) Reserve(id int64) {
	if id < 0 || p.Taken(id) {
		panic(fmt.Sprintf("symbolic: %d cannot be reserved", id))
	}
	p.n++
	if id < 64 {
		p.taken |= 1 << id
		return
	}
	if p.more == nil {
		p.more = new(bitmap)
	}
	p.more.reserve(id - 64)
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

// Len returns how many numbers are taken.
func (p *Pool) Len() int64 { return p.n }

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

// reserve takes i, which is free.
func (b *bitmap) reserve(i int64) {
	for b.n <= i {
		b.release(b.grow())
	}
	b.remove(i)
}

// taken reports whether i was taken.
func (b *bitmap) taken(i int64) bool {
	return i < b.n && b.words[0][i>>6]>>(i&63)&1 == 0
}
