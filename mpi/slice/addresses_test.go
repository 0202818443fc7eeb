package slice

import (
	"testing"

	"pgregory.net/rapid"

	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn
)

func drawAddresses(t *rapid.T, name string) addresses {
	lo := rapid.Int64Range(-40, 40).Draw(t, name+" lo")
	hi := lo + rapid.Int64Range(1, 60).Draw(t, name+" length")
	return every(lo, hi, rapid.Int64Range(0, 12).Draw(t, name+" stride"),
		rapid.Int64Range(-20, 20).Draw(t, name+" from"), rapid.Int64Range(1, 12).Draw(t, name+" width"))
}

// list returns the addresses one by one.
func (a addresses) list() map[int64]bool {
	all := make(map[int64]bool)
	for k := a.lo; k < a.hi; k++ {
		if a.stride == 0 || modulo(k-a.from, a.stride) < a.width {
			all[k] = true
		}
	}
	return all
}

// TestAddresses checks that what is told of many addresses at once holds for each of them.
func TestAddresses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawAddresses(t, "a"), drawAddresses(t, "b")
		size := rapid.Int64Range(1, 9).Draw(t, "size")
		inA, inB, touched, behind := a.list(), b.list(), a.bytes(size).list(), a.plus(b).list()
		common := false
		for k := range inA {
			common = common || inB[k]
			for n := range size {
				if !touched[k+n] {
					t.Fatalf("%v.bytes(%d) = %v lacks %d", a, size, a.bytes(size), k+n)
				}
			}
			for n := range inB {
				if !behind[k+n] {
					t.Fatalf("%v.plus(%v) = %v lacks %d", a, b, a.plus(b), k+n)
				}
			}
		}
		if common && !a.overlap(b) {
			t.Fatalf("%v and %v overlap", a, b)
		}
		if a.overlap(b) != b.overlap(a) {
			t.Fatalf("%v and %v overlap in one order only", a, b)
		}
		if a.contain(b) {
			for k := range inB {
				if !inA[k] {
					t.Fatalf("%v does not contain %v", a, b)
				}
			}
		}
	})
}

// TestFields checks that two fields of the elements of an array are told apart, and that
// a field is found within its element.
func TestFields(t *testing.T) {
	first, second := every(0, 160, 16, 0, 8), every(0, 160, 16, 8, 8)
	if first.overlap(second) {
		t.Errorf("%v and %v overlap", first, second)
	}
	if inner := every(0, 160, 16, 2, 4); !first.contain(inner) || second.contain(inner) {
		t.Errorf("%v is within %v: %v, within %v: %v", inner, first, first.contain(inner), second,
			second.contain(inner))
	}
}
