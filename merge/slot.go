package merge

import (
	"math"
	"slices"

	"github.com/reprise-trace/reprise/cst"
)

// A slot is one integer of the arguments of a signature, and what it means.
// Pointers and statuses take three slots, arrays those of their elements, every
// other argument one.
type slot uint8

const (
	slotNumber    slot = iota
	slotRank           // of a process: what an expression of the caller's rank may be
	slotText           // the number of a string or of bytes in a list of texts
	slotFloat          // the bits of one
	slotGroupRank      // of the process in the group that the call names
	slotGroupSize      // of that group

	slotElement slot = 1 << 7 // flag: in an array
)

// groupSlots is the number of slots that a form with a group has besides those of
// the arguments.
const groupSlots = 2

// A form is what the signatures that ranks have for one terminal must share for
// the ranks to be of one shape: all but the values in the slots.
type form struct {
	function int   // in the functions of an Accumulator
	lengths  []int // of all arrays, in the order in which they begin
	slots    int
	grouped  bool   // the last two slots are the rank in a group, and its size
	streams  uint64 // bit k: slot k has the number of a stream
}

// equal reports whether f and g are the same form.
func (f form) equal(g form) bool {
	return f.function == g.function && f.grouped == g.grouped && f.streams == g.streams && slices.Equal(f.lengths, g.lengths)
}

// flatten appends the slots of v to slots and the lengths of its arrays to
// lengths. Text numbers a string.
func flatten(slots []int64, lengths []int, v cst.Value, text func(string) int64) ([]int64, []int) {
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
			slots, lengths = flatten(slots, lengths, v.Index(i), text)
		}
		return slots, lengths
	}
	return append(slots, v.Int()), lengths
}

// An unflattener rebuilds arguments from slots.
type unflattener struct {
	slots   []int64
	lengths []int
	texts   []string
	elems   []cst.Value // of the arrays that were rebuilt
}

// value returns the next value of type t.
func (u *unflattener) value(t cst.Type) cst.Value {
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
	elems := u.elements(u.length())
	for i := range elems {
		elems[i] = u.value(*t.Elem)
	}
	return cst.Array(elems...)
}

// elements returns room for the n elements of an array.
func (u *unflattener) elements(n int) []cst.Value {
	begin := len(u.elems)
	u.elems = slices.Grow(u.elems, n)[:begin+n]
	return u.elems[begin : begin+n : begin+n]
}

func (u *unflattener) next() int64 {
	v := u.slots[0]
	u.slots = u.slots[1:]
	return v
}

func (u *unflattener) length() int {
	n := u.lengths[0]
	u.lengths = u.lengths[1:]
	return n
}

// text returns the text of the next slot. A number that is out of range, which
// takes a file that contradicts itself, is the empty text.
func (u *unflattener) text() string {
	if n := u.next(); n >= 0 && n < int64(len(u.texts)) {
		return u.texts[n]
	}
	return ""
}

// layout appends the meaning of the slots of a value of type t, whose arrays
// have the lengths that it takes from lengths.
func layout(slots []slot, t cst.Type, lengths *[]int) []slot {
	switch t.Kind {
	case cst.KindRank:
		return append(slots, slotRank)
	case cst.KindString, cst.KindBytes:
		return append(slots, slotText)
	case cst.KindFloat:
		return append(slots, slotFloat)
	case cst.KindPointer:
		return append(slots, slotNumber, slotNumber, slotNumber)
	case cst.KindStatus:
		return append(slots, slotRank, slotNumber, slotNumber)
	case cst.KindArray:
		n := (*lengths)[0]
		*lengths = (*lengths)[1:]
		begin := len(slots)
		for range n {
			slots = layout(slots, *t.Elem, lengths)
		}
		for i := range slots[begin:] {
			slots[begin+i] |= slotElement
		}
		return slots
	}
	return append(slots, slotNumber)
}
