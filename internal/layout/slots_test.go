package layout

import (
	"testing"

	"github.com/reprise-trace/reprise/cst"
)

// TestCountSlotsLimit has values that take all slots there may be, and one more.
func TestCountSlotsLimit(t *testing.T) {
	numbers := cst.ArrayOf(cst.Type{Kind: cst.KindInt})
	for _, tt := range []struct {
		name    string
		before  int
		t       cst.Type
		lengths []int
		ok      bool
	}{
		{"Pointer", MaxSlots - 3, cst.Type{Kind: cst.KindPointer}, nil, true},
		{"PointerTooMany", MaxSlots - 2, cst.Type{Kind: cst.KindPointer}, nil, false},
		{"Int", MaxSlots - 1, cst.Type{Kind: cst.KindInt}, nil, true},
		{"IntTooMany", MaxSlots, cst.Type{Kind: cst.KindInt}, nil, false},
		{"Array", MaxSlots - 7, numbers, []int{7}, true},
		{"ArrayTooMany", MaxSlots - 7, numbers, []int{8}, false},
		{"NoLength", 0, numbers, nil, false},
		{"Nested", MaxSlots - 3, cst.ArrayOf(numbers), []int{2, 1, 2}, true},
		{"NestedTooMany", MaxSlots - 3, cst.ArrayOf(numbers), []int{2, 2, 2}, false},
	} {
		lengths := tt.lengths
		if n, ok := CountSlots(tt.before, tt.t, &lengths); ok != tt.ok || ok && n != MaxSlots {
			t.Errorf("%s: %d, %v", tt.name, n-MaxSlots, ok)
		}
	}
}
