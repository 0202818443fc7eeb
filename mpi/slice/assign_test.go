package slice

import (
	"strings"
	"testing"
)

// TestAssigned checks that an assignment of arrays in Fortran writes the elements of the first one.
func TestAssigned(t *testing.T) {
	_, text := sliced(t, `
declare i32 @MPI_Bcast(ptr, i32, i32, i32, i32)
declare {} @_FortranAAssign(ptr, ptr, ptr, i32)

define i32 @main() {
entry:
  %to = alloca { ptr, i64, [3 x i64] }
  %from = alloca { ptr, i64, [3 x i64] }
  %x = alloca [4 x i32]
  %y = alloca [4 x i32]
  %k = alloca i32
  store ptr %x, ptr %to
  store ptr %y, ptr %from
  store i32 3, ptr %y
  %done = call {} @_FortranAAssign(ptr %to, ptr %from, ptr null, i32 1)
  %n = load i32, ptr %x
  %call = call i32 @MPI_Bcast(ptr %k, i32 %n, i32 1275069445, i32 0, i32 1140850688)
  ret i32 0
}
`)
	for _, part := range []string{"store i32 3", "@_FortranAAssign(ptr %to"} {
		if !strings.Contains(text, part) {
			t.Errorf("%s is left out\n%s", part, text)
		}
	}
}
