// Package fingerprint implements fingerprints of sequences of numbers, of which those of
// parts make that of the whole.
//
// A fingerprint is the values of a polynomial, whose coefficients are the numbers, the
// first being that of the highest power, at two places that are drawn at random, modulo
// the prime 2⁶¹−1. Of equal sequences it is equal. Two sequences of n numbers that are not
// equal have the same with a probability below n²/2¹²⁰, whoever chose them: the places are
// drawn anew for each program that runs. So fingerprints are for comparisons within one,
// and never part of what it writes.
//
// # Source
//
// R. M. Karp and M. O. Rabin, "Efficient randomized pattern-matching algorithms", IBM J.
// R&D 31(2), 1987.
package fingerprint

import (
	"math/bits"
	"math/rand/v2"
)

// A Print is the fingerprint of a sequence. Those of sequences are compared with ==. The
// zero Print is of none: [Empty] is that of no numbers.
type Print struct {
	// What stands before a sequence is multiplied by power, the place to the power of the
	// length, before value is added.
	value, power [2]uint64
}

const prime = 1<<61 - 1

// places are where polynomials are evaluated.
var places = [2]uint64{2 + rand.Uint64N(prime-2), 2 + rand.Uint64N(prime-2)}

// Empty is the print of no numbers.
var Empty = Print{power: [2]uint64{1, 1}}

// Of returns the print of one number, below 2⁶⁰.
func Of(number uint64) Print {
	return Print{[2]uint64{number + 1, number + 1}, places}
}

// Then returns the print of a sequence and another behind it.
func (p Print) Then(q Print) Print {
	for i := range places {
		p.value[i] = add61(mul61(p.value[i], q.power[i]), q.value[i])
		p.power[i] = mul61(p.power[i], q.power[i])
	}
	return p
}

// Times returns the print of a sequence n times, in O(log n) steps.
func (p Print) Times(n uint64) Print {
	all := Empty
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			all = all.Then(p)
		}
		if n > 1 {
			p = p.Then(p)
		}
	}
	return all
}

// A Monoid puts prints together, as a monoid of package sequitur.
type Monoid struct{}

// Unit returns Empty.
func (Monoid) Unit() Print { return Empty }

// Then returns a.Then(b).
func (Monoid) Then(a, b Print) (Print, uint64) { return a.Then(b), 0 }

// Times returns a.Times(n).
func (Monoid) Times(a Print, n uint64) Print { return a.Times(n) }

func add61(a, b uint64) uint64 {
	if a += b; a >= prime {
		a -= prime
	}
	return a
}

// mul61 returns the product of two numbers below the prime, modulo the prime.
func mul61(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return add61(low&prime, high<<3|low>>61)
}
