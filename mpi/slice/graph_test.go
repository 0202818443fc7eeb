package slice

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// graphGen draws functions without instructions. Each block reaches one without successors.
func graphGen(t *rapid.T) *function {
	n := rapid.IntRange(1, 12).Draw(t, "blocks")
	f := &function{}
	for range n {
		f.newBlock("%"+fmt.Sprint(len(f.blocks)), 0)
	}
	for k, b := range f.blocks[:n-1] {
		next := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, 3, rapid.ID).Draw(t, "successors")
		next = append(next, rapid.IntRange(k+1, n-1).Draw(t, "forward"))
		for _, s := range next {
			if to := f.blocks[s]; !slices.Contains(b.succ, to) {
				b.succ, to.pred = append(b.succ, to), append(to.pred, b)
			}
		}
	}
	return f
}

// ends reports whether the end of the function can be reached from a block without another one.
func ends(from, without *block, seen map[*block]bool) bool {
	if from == without || seen[from] {
		return false
	}
	seen[from] = true
	return len(from.succ) == 0 || slices.ContainsFunc(from.succ, func(s *block) bool { return ends(s, without, seen) })
}

// TestControl compares postdominators and control dependences with their definitions.
func TestControl(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := graphGen(t)
		f.control()
		behind := func(a, b *block) bool { return a != b && !ends(b, a, map[*block]bool{}) } // a is on all ways from b
		for _, b := range f.blocks {
			for _, other := range f.blocks {
				if strict := behind(other, b); strict != isAfter(other, b) {
					t.Fatalf("%s behind %s: %v", other.name, b.name, strict)
				}
				// b depends on other if it is on all ways from one of its successors, and not from other
				// itself.
				want := !behind(b, other) && len(other.succ) > 1 &&
					slices.ContainsFunc(other.succ, func(s *block) bool { return s == b || behind(b, s) })
				if got := slices.Contains(b.controls, other); got != want {
					t.Fatalf("%s depends on %s: %v, want %v", b.name, other.name, got, want)
				}
			}
		}
	})
}

func isAfter(a, b *block) bool {
	for b = b.after; b != nil; b = b.after {
		if a == b {
			return true
		}
	}
	return false
}

// TestStep checks where parts of types are.
func TestStep(t *testing.T) {
	c := &cursor{m: &Module{types: map[string]*irType{}}, text: "{ i8, [4 x { i32, double }], [0 x i16] }"}
	typ := c.typ()
	if c.err != nil || typ.bytes() != 72 {
		t.Fatalf("%d bytes, %v", typ.bytes(), c.err)
	}
	plain := (&cursor{m: &Module{types: map[string]*irType{}}, text: "[3 x i32]"}).typ()
	for _, accessed := range []bool{false, true} {
		want := addresses{lo: 0, hi: 13}
		if accessed {
			want.hi = 9
		}
		if got := step(plain, []value{{isNumber: true}, {}}, accessed); got != want {
			t.Errorf("accessed %t: %v, want %v", accessed, got, want)
		}
	}
	n := func(n int64) value { return value{isNumber: true, number: n} }
	any := value{}
	for _, tt := range []struct {
		name    string
		indices []value
		want    addresses
	}{
		{"Itself", []value{n(0)}, at(0)},
		{"Next", []value{n(2)}, at(144)},
		{"Before", []value{n(-1), n(1)}, at(-64)},
		{"AnyElement", []value{any}, addresses{-maxSize, maxSize, 72, 0, 1}},
		{"Field", []value{n(0), n(1)}, at(8)},
		{"Element", []value{n(0), n(1), n(2)}, at(40)},
		{"FieldOfElement", []value{n(0), n(1), n(2), n(1)}, at(48)},
		{"AnyInArray", []value{n(0), n(1), any}, addresses{8, 73, 16, 8, 1}},
		{"AnyAccessed", []value{n(0), n(1), any}, addresses{8, 57, 16, 8, 1}},
		{"FieldOfAny", []value{n(0), n(1), any, n(1)}, addresses{8, 73, 16, 0, 1}},
		{"AnyInArrayWithoutEnd", []value{n(0), n(2), any}, addresses{lo: 72, hi: maxSize}},
	} {
		if got := step(typ, tt.indices, tt.name == "AnyAccessed"); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
