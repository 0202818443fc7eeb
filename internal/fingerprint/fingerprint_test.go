package fingerprint

import (
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn
)

func of(list []uint64) Print {
	p := Empty
	for _, n := range list {
		p = p.Then(Of(n))
	}
	return p
}

// TestPrint checks that prints of parts make that of the whole, and that others differ.
func TestPrint(t *testing.T) {
	numbers := rapid.SliceOfN(rapid.Uint64Range(0, 3), 0, 8)
	rapid.Check(t, func(t *rapid.T) {
		a, b := numbers.Draw(t, "a"), numbers.Draw(t, "b")
		n := rapid.IntRange(0, 9).Draw(t, "n")
		if of(a).Then(of(b)) != of(slices.Concat(a, b)) {
			t.Fatal("the parts do not make the whole")
		}
		if of(a).Times(uint64(n)) != of(slices.Repeat(a, n)) {
			t.Fatalf("%d times is not the repetition", n)
		}
		if (of(a) == of(b)) != slices.Equal(a, b) {
			t.Fatalf("prints of %v and %v: %v and %v", a, b, of(a), of(b))
		}
	})
}

func TestProduct(t *testing.T) {
	number := rapid.OneOf(rapid.Uint64Range(0, prime-1), rapid.Uint64Range(prime-9, prime-1))
	rapid.Check(t, func(t *rapid.T) {
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		want := new(big.Int).SetUint64(a)
		want.Mul(want, new(big.Int).SetUint64(b)).Mod(want, big.NewInt(prime))
		if got := mul61(a, b); got != want.Uint64() {
			t.Fatalf("%d times %d is %d, want %d", a, b, got, want)
		}
	})
}
