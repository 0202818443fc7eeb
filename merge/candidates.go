package merge

import (
	"cmp"
	"maps"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
)

// A candidate is an argument that may be varying, or two of a function that may be together.
type candidate struct {
	function int
	slots    [2]int // counted without those in arrays; the second is −1 if it is one argument
	saved    int    // signatures without it
	values   int    // different ones at least
}

// arguments returns those of c.
func (c *candidate) arguments() []layout.StreamArgument {
	list := []layout.StreamArgument{{Function: c.function, Slot: c.slots[0]}}
	if c.slots[1] >= 0 {
		list = append(list, layout.StreamArgument{Function: c.function, Slot: c.slots[1]})
	}
	return list
}

// advances reports whether an argument of c advances in some calls, or is one of a run.
func (c *candidate) advances(shapes []*shape, functions []cst.Function) bool {
	if layout.StreamRoleOf(&functions[c.function]) != layout.NoStream {
		return true
	}
	mask := uint64(0)
	for _, s := range shapes {
		for i := range s.forms {
			if f := &s.forms[i]; f.function == c.function {
				mask |= f.streams
			}
		}
	}
	return mask>>c.slots[0]&1 == 1 || c.slots[1] >= 0 && mask>>c.slots[1]&1 == 1
}

// varyingCandidates returns arguments that may be varying: those without which a
// function has less than half of its signatures in some shape. With pairs, there are also two
// arguments without which it has less than half of those that it has without either of them. The ones
// that save most signatures come first.
func varyingCandidates(shapes []*shape, functions []cst.Function, pairs bool) []candidate {
	found := make(map[[3]int]candidate)
	for _, s := range shapes {
		if !s.isIrregular() {
			continue
		}
		v := varying{s, s.begins(), functions}
		calls, most := s.callsOf(len(functions)), s.mostVarying()
		for f, terminals := range s.byFunction(len(functions)) {
			if len(terminals) < minSignatures || calls[f] > most {
				continue
			}
			for _, c := range v.candidates(f, terminals, pairs) {
				key := [3]int{f, c.slots[0], c.slots[1]}
				x := found[key]
				c.saved, c.values = c.saved+x.saved, max(c.values, x.values)
				found[key] = c
			}
		}
	}
	maps.DeleteFunc(found, func(_ [3]int, c candidate) bool { return c.advances(shapes, functions) })
	return slices.SortedFunc(maps.Values(found), func(x, y candidate) int {
		return cmp.Or(y.saved-x.saved, x.function-y.function, slices.Compare(x.slots[:], y.slots[:]))
	})
}

// Varying looks for the arguments in which the signatures of a shape differ.
type varying struct {
	shape     *shape
	begins    []int
	functions []cst.Function
}

// candidates returns the arguments of a function in the terminals that may be varying, and pairs
// of them.
func (v *varying) candidates(function int, terminals []int, pairs bool) []candidate {
	var (
		list  []candidate
		slots []int
		rest  []int // terminals without each
		half  = (len(terminals) - 1) / 2
		most  = half
	)
	if pairs = pairs && len(terminals) <= maxPaired; pairs {
		most = len(terminals)
	}
	for k := range layout.ScalarKinds(v.functions[function]) {
		if !v.varies(terminals, k) {
			continue
		}
		n := v.countWithout(terminals, most, k)
		if slots, rest = append(slots, k), append(rest, n); n <= half {
			// All terminals differ, so that there are as many values at least as become one.
			list = append(list, candidate{function, [2]int{k, -1}, len(terminals) - n, len(terminals) / n})
		}
	}
	for j, k := range slots {
		for i := 0; i < j && pairs; i++ {
			most := (min(rest[i], rest[j]) - 1) / 2
			if n := v.countWithout(terminals, most, slots[i], k); n <= most {
				list = append(list, candidate{function, [2]int{slots[i], k}, len(terminals) - n, 1})
			}
		}
	}
	return list
}

// varies reports whether slot k has one value for all ranks in each terminal, but not in all.
func (v *varying) varies(terminals []int, k int) bool {
	differ, first := false, int64(0)
	for i, t := range terminals {
		value, ok := v.shape.scalar(t, k, v.begins, v.functions)
		if !ok {
			return false
		}
		if i == 0 {
			first = value
		}
		differ = differ || value != first
	}
	return differ
}

// countWithout returns how many of some terminals differ in more than some slots, or a
// number above most if it is.
func (v *varying) countWithout(terminals []int, most int, slots ...int) int {
	r := newRemainders(v.shape, v.begins)
	without := make([]int, len(slots))
	for _, t := range terminals {
		f := &v.shape.forms[t]
		for i, k := range slots {
			without[i] = layout.ScalarSlot(v.functions[f.function], f.lengths, k)
		}
		if r.number(t, without); len(r.of) > most {
			break
		}
	}
	return len(r.of)
}

// byFunction returns the terminals of each function.
func (s *shape) byFunction(functions int) [][]int {
	counts := make([]int, functions)
	for _, f := range s.forms {
		counts[f.function]++
	}
	terminals := make([][]int, functions)
	for t, f := range s.forms {
		if terminals[f.function] == nil {
			terminals[f.function] = make([]int, 0, counts[f.function])
		}
		terminals[f.function] = append(terminals[f.function], t)
	}
	return terminals
}

// scalar returns the value that all ranks of s have in slot k of those of a terminal in no array, if
// they have the same.
func (s *shape) scalar(t, k int, begins []int, functions []cst.Function) (int64, bool) {
	f := &s.forms[t]
	return s.constant(begins[t] + layout.ScalarSlot(functions[f.function], f.lengths, k))
}
