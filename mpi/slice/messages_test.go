package slice

import "testing"

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
