package slice

import (
	"strings"
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

// TestCopied checks that of a structure that is copied, the field is needed that is read afterwards, and no other.
func TestCopied(t *testing.T) {
	_, text := sliced(t, `
declare i32 @MPI_Bcast(ptr, i32, i32, i32, i32)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define i32 @main() {
entry:
  %from = alloca { i32, i32 }
  %to = alloca { i32, i32 }
  %n = alloca i32
  store i32 3, ptr %from
  %second = getelementptr { i32, i32 }, ptr %from, i32 0, i32 1
  store i32 4, ptr %second
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 8, i1 false)
  %count = load i32, ptr %to
  %call = call i32 @MPI_Bcast(ptr %n, i32 %count, i32 1275069445, i32 0, i32 1140850688)
  ret i32 0
}
`)
	for part, kept := range map[string]bool{
		"store i32 3": true, "@llvm.memcpy.p0.p0.i64(ptr %to": true, "store i32 4": false,
	} {
		if strings.Contains(text, part) != kept {
			t.Errorf("%s is kept: %v\n%s", part, !kept, text)
		}
	}
}
