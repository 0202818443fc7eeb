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
