package layout

import (
	"math"
	"slices"

	"github.com/reprise-trace/reprise/cst"
)

// ScalarKinds returns the meaning of the slots of f that may be varying: those
// that are in no array.
func ScalarKinds(f cst.Function) []SlotKind {
	var kinds []SlotKind
	for _, p := range f.Params {
		if p.Type.Kind != cst.KindArray {
			kinds = AppendKinds(kinds, p.Type, nil)
		}
	}
	return kinds[:min(len(kinds), MaxStreamSlot)]
}

// ScalarSlot returns the slot of f that is the k-th of those in no array, where the arrays have
// these lengths. It is after the last slot if there are not so many.
func ScalarSlot(f cst.Function, lengths []int, k int) int {
	if len(lengths) == 0 {
		return k
	}
	slot, scalars := 0, 0
	for _, p := range f.Params {
		next, _ := CountSlots(slot, p.Type, &lengths)
		if p.Type.Kind != cst.KindArray {
			if k < scalars+next-slot {
				return slot + k - scalars
			}
			scalars += next - slot
		}
		slot = next
	}
	return slot
}

// ScalarSlots returns the number of slots of an argument that is no array.
func ScalarSlots(t cst.Type) int {
	n, _ := CountSlots(0, t, nil)
	return n
}

// CountSlots adds the number of slots of a value of type t to n, and reports
// whether the lengths of its arrays are there and n is at most maxSlots. It takes
// time in proportion to the lengths, not to the slots.
func CountSlots(n int, t cst.Type, lengths *[]int) (int, bool) {
	switch t.Kind {
	case cst.KindPointer, cst.KindStatus:
		return n + 3, n+3 <= MaxSlots
	case cst.KindArray:
		if len(*lengths) == 0 {
			return n, false
		}
		k := (*lengths)[0]
		*lengths = (*lengths)[1:]
		if t.Elem.Kind != cst.KindArray {
			of, _ := CountSlots(0, *t.Elem, nil)
			n += k * of // at most 3·MaxSlots more
			return n, n <= MaxSlots
		}
		for range k {
			var ok bool
			if n, ok = CountSlots(n, *t.Elem, lengths); !ok {
				return n, false
			}
		}
		return n, true
	}
	return n + 1, n+1 <= MaxSlots
}

// A slot is one integer of the arguments of a signature, and what it means.
// Pointers and statuses take three slots, arrays those of their elements, every
// other argument one.
type SlotKind uint8

const (
	Number    SlotKind = iota
	Rank               // of a process: what an expression of the caller's rank may be
	Text               // the number of a string or of bytes in a list of texts
	Float              // the bits of one
	GroupRank          // of the process in the group that the call names
	GroupSize          // of that group

	Element SlotKind = 1 << 7 // flag: in an array
)

// Flatten appends the slots of v to slots and the lengths of its arrays to
// lengths. Text numbers a string.
func Flatten(slots []int64, lengths []int, v cst.Value, text func(string) int64) ([]int64, []int) {
	switch v.Kind() {
	case cst.KindFloat:
		return append(slots, int64(math.Float64bits(v.Float()))), lengths
	case cst.KindString, cst.KindBytes:
		return append(slots, text(v.Text())), lengths
	case cst.KindPointer:
		p := v.Pointer()
		return append(slots, p.Segment, p.Displacement, p.Device), lengths
	case cst.KindStatus:
		s := v.Status()
		return append(slots, s.Source, s.Tag, s.Error), lengths
	case cst.KindArray:
		lengths = append(lengths, v.Len())
		for i := range v.Len() {
			slots, lengths = Flatten(slots, lengths, v.Index(i), text)
		}
		return slots, lengths
	}
	return append(slots, v.Int()), lengths
}

// A Rebuilder rebuilds arguments from slots. Arrays of numbers keep theirs.
type Rebuilder struct {
	Slots    []int64
	Lengths  []int
	Texts    []string
	Elements []cst.Value // of the arrays that were rebuilt
}

// Value returns the next value of type t.
func (u *Rebuilder) Value(t cst.Type) cst.Value {
	switch t.Kind {
	case cst.KindInt:
		return cst.Int(u.next())
	case cst.KindFloat:
		return cst.Float(math.Float64frombits(uint64(u.next())))
	case cst.KindString:
		return cst.String(u.text())
	case cst.KindBytes:
		return cst.Bytes([]byte(u.text()))
	case cst.KindRank:
		return cst.Rank(u.next())
	case cst.KindTag:
		return cst.Tag(u.next())
	case cst.KindHandle:
		return cst.Handle(u.next())
	case cst.KindPointer:
		return cst.PointerTo(cst.Pointer{Segment: u.next(), Displacement: u.next(), Device: u.next()})
	case cst.KindStatus:
		return cst.StatusOf(cst.Status{Source: u.next(), Tag: u.next(), Error: u.next()})
	}
	n := u.length()
	switch t.Elem.Kind {
	case cst.KindInt, cst.KindRank, cst.KindTag, cst.KindHandle:
		numbers := u.Slots[:n:n]
		u.Slots = u.Slots[n:]
		return cst.Numbers(t.Elem.Kind, numbers)
	}
	elems := u.elements(n)
	for i := range elems {
		elems[i] = u.Value(*t.Elem)
	}
	return cst.Array(elems...)
}

// elements returns room for the n elements of an array.
func (u *Rebuilder) elements(n int) []cst.Value {
	begin := len(u.Elements)
	u.Elements = slices.Grow(u.Elements, n)[:begin+n]
	return u.Elements[begin : begin+n : begin+n]
}

func (u *Rebuilder) next() int64 {
	v := u.Slots[0]
	u.Slots = u.Slots[1:]
	return v
}

func (u *Rebuilder) length() int {
	n := u.Lengths[0]
	u.Lengths = u.Lengths[1:]
	return n
}

// text returns the text of the next slot. A number that is out of range, which
// takes a file that contradicts itself, is the empty text.
func (u *Rebuilder) text() string {
	if n := u.next(); n >= 0 && n < int64(len(u.Texts)) {
		return u.Texts[n]
	}
	return ""
}

// layout appends the meaning of the slots of a value of type t, whose arrays
// have the lengths that it takes from lengths.
func AppendKinds(slots []SlotKind, t cst.Type, lengths *[]int) []SlotKind {
	switch t.Kind {
	case cst.KindRank:
		return append(slots, Rank)
	case cst.KindString, cst.KindBytes:
		return append(slots, Text)
	case cst.KindFloat:
		return append(slots, Float)
	case cst.KindPointer:
		return append(slots, Number, Number, Number)
	case cst.KindStatus:
		return append(slots, Rank, Number, Number)
	case cst.KindArray:
		n := (*lengths)[0]
		*lengths = (*lengths)[1:]
		begin := len(slots)
		for range n {
			slots = AppendKinds(slots, *t.Elem, lengths)
		}
		for i := range slots[begin:] {
			slots[begin+i] |= Element
		}
		return slots
	}
	return append(slots, Number)
}

func HasArrays(f cst.Function) bool {
	return slices.ContainsFunc(f.Params, func(p cst.Param) bool { return p.Type.Kind == cst.KindArray })
}
