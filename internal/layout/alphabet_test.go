package layout

import (
	"fmt"
	"testing"

	"github.com/reprise-trace/reprise/cst"
)

// TestAlphabetTells checks that classes and variants tell all signatures apart, even equal ones.
func TestAlphabetTells(t *testing.T) {
	table := &Table{
		declared:  []cst.Function{{Name: "f"}, {Name: "g"}},
		Functions: []uint32{1, 0, 1, 1, 0},
		indexes:   []uint32{0, 0, 1, 2, 1},
		Groups:    make([]FunctionGroup, 2),
	}
	a := table.Alphabet()
	seen := make(map[[2]uint32]int)
	for n := range table.Functions {
		key := [2]uint32{a.Class[n], a.Variant[n]}
		if other, ok := seen[key]; ok {
			t.Errorf("signatures %d and %d are both variant %d of class %d", other, n, key[1], key[0])
		}
		if seen[key] = n; a.Group[a.Class[n]] != table.Functions[n] || int(a.Variant[n]) >= len(table.Functions) {
			t.Errorf("signature %d is variant %d of class %d, of function %d", n, a.Variant[n], a.Class[n],
				a.Group[a.Class[n]])
		}
	}
}

// TestAlphabetOfManyClasses has more classes of handles than are compared.
func TestAlphabetOfManyClasses(t *testing.T) {
	table := &Table{declared: make([]cst.Function, 1<<14), Groups: make([]FunctionGroup, 1<<14)}
	for i := range table.declared {
		table.declared[i] = cst.Function{Name: "f", Params: []cst.Param{{Name: "h", Type: cst.HandleOf(fmt.Sprint(i))}}}
	}
	table.declared[0].Params = nil
	for i := range 1 << 13 {
		table.Functions, table.indexes = append(table.Functions, 0), append(table.indexes, uint32(i))
	}
	if a := table.Alphabet(); len(a.Group) != 1 {
		t.Errorf("%d classes", len(a.Group))
	}
}
