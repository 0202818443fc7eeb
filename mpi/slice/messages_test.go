package slice

import (
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
	for _, tt := range []struct {
		predicate      string
		less, same, up bool
	}{
		{"eq", false, true, false}, {"ne", true, false, true}, {"slt", true, false, false}, {"sle", true, true, false},
		{"sgt", false, false, true}, {"sge", false, true, true},
	} {
		for k, want := range []bool{tt.less, tt.same, tt.up} {
			if got, known := compare("  %c = icmp "+tt.predicate+" i32 %a, 5", int64(4+k), 5); !known || got != want {
				t.Errorf("%d %s 5: %v, %v, want %v", 4+k, tt.predicate, got, known, want)
			}
		}
	}
	if _, known := compare("  %c = icmp ult i32 %a, 5", 4, 5); known {
		t.Error("a comparison of numbers without signs is known")
	}
}

// TestTagsApart checks that what is sent with tags that a message cannot have is left out.
func TestTagsApart(t *testing.T) {
	_, text := sliced(t, `
declare i32 @MPI_Comm_rank(i32, ptr)
declare i32 @MPI_Bcast(ptr, i32, i32, i32, i32)
declare i32 @MPI_Send(ptr, i32, i32, i32, i32, i32)
declare i32 @MPI_Recv(ptr, i32, i32, i32, i32, i32, ptr)

define i32 @main() {
entry:
  %rank = alloca i32
  %one = alloca i32
  %two = alloca i32
  %got = alloca i32
  %status = alloca [5 x i32]
  %call = call i32 @MPI_Comm_rank(i32 1140850688, ptr %rank)
  %r = load i32, ptr %rank
  %low = and i32 %r, 3
  %high = add nsw i32 %low, 16
  store i32 7, ptr %one
  store i32 8, ptr %two
  %call1 = call i32 @MPI_Send(ptr %one, i32 1, i32 1275069445, i32 1, i32 %low, i32 1140850688)
  %call2 = call i32 @MPI_Send(ptr %two, i32 1, i32 1275069445, i32 1, i32 %high, i32 1140850688)
  %call3 = call i32 @MPI_Recv(ptr %got, i32 1, i32 1275069445, i32 1, i32 %high, i32 1140850688, ptr %status)
  %n = load i32, ptr %got
  %call4 = call i32 @MPI_Bcast(ptr %rank, i32 %n, i32 1275069445, i32 0, i32 1140850688)
  ret i32 0
}
`)
	for part, kept := range map[string]bool{"store i32 7": false, "store i32 8": true} {
		if strings.Contains(text, part) != kept {
			t.Errorf("%s is kept: %v\n%s", part, !kept, text)
		}
	}
}
