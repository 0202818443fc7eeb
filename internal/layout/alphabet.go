package layout

import (
	"encoding/binary"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/mixing"
)

// How many signatures are compared for an Alphabet, and with the handles of how many classes left
// out, at the most.
const (
	maxAlphabet = 1 << 16
	maxHandles  = 1 << 6
)

// Alphabet returns what helps to predict signatures in sequences of them: those that are
// equal but for their handles of one class, such as requests, are of a class. It takes the
// class of handles that makes the fewest classes of signatures. Signatures of a class have the
// same streams.
func (t *Table) Alphabet() mixing.Alphabet {
	a := t.classes()
	if t.Streams == nil || !t.Streams.InBlocks {
		return a
	}
	a.Streams = make([][]int, len(a.Group))
	for n, class := range a.Class {
		if mask := t.Mask(n); mask != 0 && a.Streams[class] == nil {
			a.Streams[class] = t.Streams.Of(int(t.Functions[n]), mask)
		}
	}
	a.Values = t.Streams.Values
	return a
}

// classes returns the classes of signatures.
func (t *Table) classes() mixing.Alphabet {
	if len(t.Functions) > maxAlphabet {
		return mixing.Plain(len(t.Functions))
	}
	best := t.alphabet("")
	classes := t.handleClasses()
	for _, class := range classes[:min(len(classes), maxHandles)] {
		if a := t.alphabet(class); len(a.Group) < len(best.Group) {
			best = a
		}
	}
	return best
}

// handleClasses returns the classes of handles that functions have, in ascending order.
func (t *Table) handleClasses() []string {
	var classes []string
	for _, f := range t.declared {
		for _, p := range f.Params {
			if c := handleClass(p.Type); c != "" {
				classes = append(classes, c)
			}
		}
	}
	slices.Sort(classes)
	return slices.Compact(classes)
}

// handleClass returns the class of the handles that are of a type, or are elements of it,
// "" if there are none.
func handleClass(t cst.Type) string {
	for t.Kind == cst.KindArray {
		t = *t.Elem
	}
	return t.Class
}

// alphabet is Alphabet with handles of a class.
func (t *Table) alphabet(handles string) mixing.Alphabet {
	var (
		a = mixing.Alphabet{Class: make([]uint32, len(t.Functions)),
			Variant: make([]uint32, len(t.Functions))}
		classes       = make(map[string]uint32)
		variants      = make(map[string]uint32)
		taken         = make(map[[2]uint32]bool)
		equal         []int    // signatures that are equal to earlier ones
		functions     []uint32 // of each class
		class, others []byte
		s             Template
	)
	number := func(of map[string]uint32, key []byte) uint32 {
		n, ok := of[string(key)]
		if !ok {
			n = uint32(len(of))
			of[string(key)] = n
		}
		return n
	}
	for n := range t.Functions {
		t.Template(&s, n)
		class, others = t.appendKeys(class[:0], others[:0], &s, handles)
		a.Class[n], a.Variant[n] = number(classes, class), number(variants, others)
		key := [2]uint32{a.Class[n], a.Variant[n]}
		if taken[key] {
			equal = append(equal, n)
		}
		taken[key] = true
		if int(a.Class[n]) == len(functions) {
			functions = append(functions, t.Functions[n])
		}
	}
	for i, n := range equal {
		a.Variant[n] = uint32(len(variants) + i)
	}
	order := make([]uint32, len(functions))
	for c := range order {
		order[c] = uint32(c)
	}
	slices.SortStableFunc(order, func(x, y uint32) int { return int(functions[x]) - int(functions[y]) })
	to := make([]uint32, len(functions))
	for i, c := range order {
		to[c] = uint32(i)
		a.Group = append(a.Group, functions[c])
	}
	for n, c := range a.Class {
		a.Class[n] = to[c]
	}
	return a
}

// appendKeys appends what s is without its handles of a class, and these.
func (t *Table) appendKeys(class, others []byte, s *Template, handles string) (key, variant []byte) {
	class = binary.AppendUvarint(class, uint64(s.Function))
	class = binary.AppendUvarint(class, s.Streams)
	for _, n := range s.Lengths {
		class = binary.AppendUvarint(class, uint64(n))
	}
	values, arrays := s.Values, s.Arrays
	for _, p := range t.declared[s.Function].Params {
		to := &class
		if handles != "" && handleClass(p.Type) == handles {
			to = &others
		}
		if p.Type.Kind == cst.KindArray {
			*to = binary.AppendUvarint(*to, uint64(arrays[0].Column))
			arrays = arrays[1:]
			continue
		}
		slots := len(AppendKinds(nil, p.Type, nil))
		for i := range slots {
			*to = values[i].appendKey(*to)
		}
		values = values[slots:]
	}
	return class, others
}

// appendKey appends what tells v from other values.
func (v *Value) appendKey(dst []byte) []byte {
	dst = binary.AppendVarint(binary.AppendVarint(dst, v.How), v.Number)
	if v.Expr != nil {
		dst, _ = v.Expr.AppendBinary(dst)
	}
	return dst
}
