package slice

import (
	"testing"

	"pgregory.net/rapid"
)

// TestPart checks that each byte that a copy writes to some addresses is of the part that is needed for them.
func TestPart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		to, b := place{addresses: drawAddresses(t, "to")}, drawAddresses(t, "b")
		if rapid.Bool().Draw(t, "exact") {
			to.addresses = at(to.lo)
		}
		size := rapid.Int64Range(1, 30).Draw(t, "size")
		wanted, part := b.list(), to.part(b, size).list()
		for k := range to.list() {
			for n := range size {
				if wanted[k+n] && !part[n] {
					t.Fatalf("byte %d of %d to %d, of %v, is not of %v", n, size, k, to, to.part(b, size))
				}
			}
		}
	})
	element, field := place{addresses: every(0, 160, 16, 0, 1)}, every(0, 160, 16, 8, 4)
	if part := element.part(field, 16); part != (addresses{lo: 8, hi: 12}) {
		t.Errorf("a field of an element: %v", part)
	}
	if part := element.part(field, maxSize); part != every(0, maxSize, 16, 8, 4) {
		t.Errorf("a field of several elements: %v", part)
	}
	if part := (place{addresses: at(16)}).part(at(24).bytes(8), 64); part != (addresses{lo: 8, hi: 16}) {
		t.Errorf("a part of one: %v", part)
	}
}
