// Package streams makes the inputs of the benchmarks: the same named sequences,
// with fixed seeds, in every package that compares something on them.
package streams

import (
	"math/bits"
	"math/rand/v2"
	"slices"
)

// A Stream is a named sequence of symbols, cut to length.
type Stream struct {
	Name string
	Gen  func(n int) []uint32 // about n symbols
}

// All lists the streams.
var All = []Stream{
	{"Constant", func(n int) []uint32 { return cycle(n, 7) }},
	{"NestedLoop", func(n int) []uint32 { // ((1 2 3)^100 4)^k
		return cycle(max(1, n/301), append(cycle(100, 1, 2, 3), 4)...)
	}},
	{"Loop10", func(n int) []uint32 { return Loop(n, 10) }},
	{"Loop100", func(n int) []uint32 { return Loop(n, 100) }},
	{"Loop1000", func(n int) []uint32 { return Loop(n, 1000) }},
	{"Loop10000", func(n int) []uint32 { return Loop(n, 10_000) }},
	{"Random16", func(n int) []uint32 { return random(n, 16) }},
	{"Random100000", func(n int) []uint32 { return random(n, 100_000) }},
	{"NearMissStart", func(n int) []uint32 { return NearMiss(n, 1000, 0) }},
	{"NearMissMiddle", func(n int) []uint32 { return NearMiss(n, 1000, 500) }},
	{"NearMissEnd", func(n int) []uint32 { return NearMiss(n, 1000, 999) }},
	{"RandomBranch", randomBranch},
	{"Stencil", func(n int) []uint32 { return stencil(n, false) }},
	{"StencilWaitany", func(n int) []uint32 { return stencil(n, true) }},
	{"Fibonacci", fibonacci},
	{"ThueMorse", func(n int) []uint32 {
		s := make([]uint32, n)
		for i := range s {
			s[i] = uint32(bits.OnesCount(uint(i)) % 2)
		}
		return s
	}},
}

func cycle(n int, symbols ...uint32) []uint32 { return slices.Repeat(symbols, n) }

// source returns the source of randomness of a stream.
func source() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// Loop is a loop whose body is so many distinct symbols.
func Loop(n, body int) []uint32 {
	s := make([]uint32, n)
	for i := range s {
		s[i] = uint32(i % body)
	}
	return s
}

// NearMiss is a Loop in which the symbol at one place of the body is a random
// one of a thousand others in each round.
func NearMiss(n, body, place int) []uint32 {
	r := source()
	s := Loop(n, body)
	for i := place; i < len(s); i += body {
		s[i] = uint32(body + r.IntN(1000))
	}
	return s
}

func random(n, alphabet int) []uint32 {
	r := source()
	s := make([]uint32, n)
	for i := range s {
		s[i] = uint32(r.IntN(alphabet))
	}
	return s
}

func rounds(n int, round func([]uint32) []uint32) []uint32 {
	var s []uint32
	for len(s) < n {
		s = round(s)
	}
	return s
}

// randomBranch is a loop that branches at random in each round.
func randomBranch(n int) []uint32 {
	r := source()
	return rounds(n, func(s []uint32) []uint32 {
		if r.IntN(2) == 0 {
			return append(s, 1, 2, 3, 4, 5)
		}
		return append(s, 1, 2, 6, 7)
	})
}

// stencil is eight messages and a Waitall a step, or a Waitany for each message
// in random order; an Allreduce each 10, a Gather and a Bcast each 100 steps.
func stencil(n int, waitany bool) []uint32 {
	r := source()
	step := 0
	return rounds(n, func(s []uint32) []uint32 {
		step++
		s = append(s, 0, 1, 2, 3, 4, 5, 6, 7)
		if !waitany {
			s = append(s, 8)
		} else {
			for _, i := range r.Perm(8) {
				s = append(s, uint32(20+i))
			}
		}
		if step%10 == 0 {
			s = append(s, 9)
		}
		if step%100 == 0 {
			s = append(s, 10, 11)
		}
		return s
	})
}

func fibonacci(n int) []uint32 {
	a, b := []uint32{0}, []uint32{0, 1}
	for len(b) < n {
		a, b = b, slices.Concat(b, a)
	}
	return b[:n]
}
