// Package pairmap has a hash table for pairs of integers that costs less than a
// map of Go.
package pairmap

import (
	"math/bits"
	"math/rand/v2"
)

// A Map maps pairs of integers to numbers below 2³²−1. The zero Map is empty and
// ready for use. While nobody changes it, several goroutines may read it.
type Map struct {
	// slots is a hash table with open addressing and linear probing. Its length is
	// zero or a power of two, and at most three of four slots are taken.
	slots []slot
	used  int
}

type slot struct {
	a    uint64
	b    uint32
	next uint32 // the number + 1, or zero if the slot is free
}

const minSlots = 16

// seeds differ from one process to the next, so that nobody can prepare pairs
// that collide. No output depends on them.
var seeds = [2]uint64{rand.Uint64(), rand.Uint64() | 1<<63}

func hash(a uint64, b uint32) int {
	high, low := bits.Mul64(a^seeds[0], uint64(b)^seeds[1])
	high, low = bits.Mul64(high^low, 0x9e3779b97f4a7c15) // which no seed spoils
	return int(high ^ low)
}

// Get returns the number of a pair, and whether it has one.
func (m *Map) Get(a uint64, b uint32) (uint32, bool) {
	if m.used == 0 {
		return 0, false
	}
	s := m.find(a, b)
	return s.next - 1, s.next > 0
}

// Put gives a pair a number, in place of the one that it may have.
func (m *Map) Put(a uint64, b uint32, number uint32) {
	if 4*m.used >= 3*len(m.slots) {
		m.grow()
	}
	s := m.find(a, b)
	if s.next == 0 {
		m.used++
	}
	*s = slot{a, b, number + 1}
}

// find returns the slot of a pair, or the free one in which it belongs.
func (m *Map) find(a uint64, b uint32) *slot {
	for i := hash(a, b); ; i++ {
		s := &m.slots[i&(len(m.slots)-1)]
		if s.next == 0 || s.a == a && s.b == b {
			return s
		}
	}
}

func (m *Map) grow() {
	old := m.slots
	m.slots = make([]slot, max(minSlots, 2*len(old)))
	for _, s := range old {
		if s.next > 0 {
			*m.find(s.a, s.b) = s
		}
	}
}
