package wide

import (
	"math/big"
	"math/bits"
	"testing"

	"pgregory.net/rapid"
)

// integer returns x as a number of package math/big.
func integer(x Number) *big.Int {
	n := new(big.Int)
	for i := len(x) - 1; i >= 0; i-- {
		n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(x[i]))
	}
	return n
}

// draw draws a number, often of few bits.
func draw(t *rapid.T, label string) Number {
	var x Number
	for i := range rapid.IntRange(0, len(x)).Draw(t, label+" words") {
		x[i] = rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, 1, 1 << 63, 1<<64 - 1})).Draw(t, label)
	}
	return x
}

// TestNumbers compares all operations with those of package math/big.
func TestNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := draw(t, "x"), draw(t, "y")
		a, b := integer(x), integer(y)
		all := new(big.Int).Lsh(big.NewInt(1), 256)
		same := func(what string, got Number, want *big.Int) {
			if want.Mod(want, all); integer(got).Cmp(want) != 0 {
				t.Fatalf("%s of %v and %v: %v, want %v", what, a, b, integer(got), want)
			}
		}
		same("sum", x.Add(y), new(big.Int).Add(a, b))
		same("difference", x.Sub(y), new(big.Int).Sub(a, b))
		same("product", x.Mul(y), new(big.Int).Mul(a, b))
		n := rapid.IntRange(0, 255).Draw(t, "n")
		same("shift up", x.Shl(n), new(big.Int).Lsh(a, uint(n)))
		same("shift down", x.Shr(n), new(big.Int).Rsh(a, uint(n)))
		d := max(y[0], 1)
		q, r := x.DivMod(d)
		quotient, rest := new(big.Int).DivMod(a, new(big.Int).SetUint64(d), new(big.Int))
		same("quotient", q, quotient)
		same("remainder", Of(r), rest)
		if x.Less(y) != (a.Cmp(b) < 0) || x.BitLen() != a.BitLen() || x.IsZero() != (a.Sign() == 0) ||
			x.Bit(n) != uint64(a.Bit(n)) || x.IsNegative() != (a.BitLen() == 256) {
			t.Fatalf("%v and %v, bit %d: %v, %d, %v, %d, %v", a, b, n, x.Less(y), x.BitLen(), x.IsZero(), x.Bit(n),
				x.IsNegative())
		}
		if n, ok := x.Uint64(); ok != a.IsUint64() || ok && n != a.Uint64() {
			t.Fatalf("%v: %d, %v", a, n, ok)
		}
	})
}

// TestSigns has numbers in two's complement of fewer bits.
func TestSigns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64().Draw(t, "n")
		hi, lo := bits.Mul64(uint64(n), uint64(n)) // the square has no sign, and the product with −1 has another
		if n < 0 {
			hi -= 2 * uint64(n)
		}
		x := Signed(n)
		if x.IsNegative() != (n < 0) || x.Mul(x) != (Number{lo, hi}) || !Of(0).Sub(x).Add(x).IsZero() {
			t.Fatalf("%d: %v, squared %v, want %d, %d", n, x, x.Mul(x), lo, hi)
		}
		if Extended(x[:2]) != x || Extended(x[:]) != x {
			t.Fatalf("%v: %v", x, Extended(x[:2]))
		}
	})
}
