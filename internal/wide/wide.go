// Package wide calculates with integers of 256 bits, which sums of squares of times need. Numbers of package
// math/big take some allocations for each operation, and a hundred for a row of a table of statistics.
package wide

import "math/bits"

// A Number is a number below 2²⁵⁶, least significant word first. Results are modulo 2²⁵⁶, so that differences
// may also be taken as in two's complement.
type Number [4]uint64

// Of returns n as a Number.
func Of(n uint64) Number { return Number{n} }

// Signed returns a number in two's complement of 64 bits.
func Signed(n int64) Number { return Extended([]uint64{uint64(n)}) }

// Extended returns the number that at most four words are in two's complement.
func Extended(words []uint64) (x Number) {
	n := copy(x[:], words)
	for sign := uint64(int64(words[n-1]) >> 63); n < len(x); n++ {
		x[n] = sign
	}
	return x
}

// IsNegative reports whether x is below 0 in two's complement.
func (x Number) IsNegative() bool { return x[3]>>63 == 1 }

// IsZero reports whether x is 0.
func (x Number) IsZero() bool { return x == Number{} }

// Uint64 returns x if it has at most 64 bits.
func (x Number) Uint64() (n uint64, ok bool) { return x[0], x == Number{x[0]} }

// BitLen returns how many bits x has, 0 of 0.
func (x Number) BitLen() int {
	for i := len(x) - 1; i >= 0; i-- {
		if x[i] != 0 {
			return 64*i + bits.Len64(x[i])
		}
	}
	return 0
}

// Bit returns bit i of x, the least significant one for 0.
func (x Number) Bit(i int) uint64 { return x[i>>6] >> (i & 63) & 1 }

// Less reports whether x is less than y.
func (x Number) Less(y Number) bool {
	_, borrow := x.sub(y)
	return borrow == 1
}

// Add returns x + y.
func (x Number) Add(y Number) (z Number) {
	var carry uint64
	for i := range x {
		z[i], carry = bits.Add64(x[i], y[i], carry)
	}
	return z
}

// Sub returns x − y.
func (x Number) Sub(y Number) Number {
	z, _ := x.sub(y)
	return z
}

func (x Number) sub(y Number) (z Number, borrow uint64) {
	for i := range x {
		z[i], borrow = bits.Sub64(x[i], y[i], borrow)
	}
	return z, borrow
}

// Mul returns x · y.
func (x Number) Mul(y Number) (z Number) {
	for i, a := range x {
		if a == 0 {
			continue
		}
		var carry uint64
		for k, b := range y[:len(y)-i] {
			hi, lo := bits.Mul64(a, b)
			var c uint64
			lo, c = bits.Add64(lo, carry, 0)
			hi += c
			z[i+k], c = bits.Add64(z[i+k], lo, 0)
			carry = hi + c
		}
	}
	return z
}

// DivMod returns the quotient and the remainder of x and a divisor, which is not 0.
func (x Number) DivMod(divisor uint64) (quotient Number, remainder uint64) {
	for i := len(x) - 1; i >= 0; i-- {
		quotient[i], remainder = bits.Div64(remainder, x[i], divisor)
	}
	return quotient, remainder
}

// Shl returns x · 2ⁿ.
func (x Number) Shl(n int) (z Number) {
	words, by := n>>6, uint(n&63)
	for i := len(x) - 1; i >= words; i-- {
		z[i] = x[i-words] << by
		if i > words {
			z[i] |= x[i-words-1] >> (64 - by)
		}
	}
	return z
}

// Shr returns ⌊x / 2ⁿ⌋.
func (x Number) Shr(n int) (z Number) {
	words, by := n>>6, uint(n&63)
	for i := range len(x) - words {
		z[i] = x[i+words] >> by
		if i+words+1 < len(x) {
			z[i] |= x[i+words+1] << (64 - by)
		}
	}
	return z
}
