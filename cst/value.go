package cst

import "math"

// A Value is the value of one argument. Values are built by the functions named
// after the kinds and are immutable. The zero Value is invalid.
//
// Two Values are the same argument exactly if their encodings are equal: floats
// compare bit for bit, so a NaN equals itself and −0 differs from 0.
type Value struct {
	kind Kind
	n    [3]int64 // Int, Rank, Tag, Handle: n[0]; Float: bits in n[0]; Pointer and Status: all
	text string   // String, Bytes
	list []Value  // Array
}

// A Pointer is a symbolic address: a byte inside a memory segment.
type Pointer struct {
	Segment      int64 // symbolic id of the segment
	Displacement int64 // from the start of the segment, in bytes
	Device       int64 // 0 is the host
}

// A Status tells how an operation completed.
type Status struct {
	Source int64 // rank of the sender
	Tag    int64
	Error  int64
}

// Int returns a Value of KindInt.
func Int(v int64) Value { return Value{kind: KindInt, n: [3]int64{v}} }

// Float returns a Value of KindFloat with the bits of v.
func Float(v float64) Value {
	return Value{kind: KindFloat, n: [3]int64{int64(math.Float64bits(v))}}
}

// String returns a Value of KindString. s need not be valid UTF-8.
func String(s string) Value { return Value{kind: KindString, text: s} }

// Bytes returns a Value of KindBytes that holds a copy of b.
func Bytes(b []byte) Value { return Value{kind: KindBytes, text: string(b)} }

// Rank returns a Value of KindRank.
func Rank(v int64) Value { return Value{kind: KindRank, n: [3]int64{v}} }

// Tag returns a Value of KindTag.
func Tag(v int64) Value { return Value{kind: KindTag, n: [3]int64{v}} }

// Handle returns a Value of KindHandle: the object with a symbolic id. The
// class belongs to the parameter's type, not to the value.
func Handle(id int64) Value { return Value{kind: KindHandle, n: [3]int64{id}} }

// PointerTo returns a Value of KindPointer.
func PointerTo(p Pointer) Value {
	return Value{kind: KindPointer, n: [3]int64{p.Segment, p.Displacement, p.Device}}
}

// StatusOf returns a Value of KindStatus.
func StatusOf(s Status) Value {
	return Value{kind: KindStatus, n: [3]int64{s.Source, s.Tag, s.Error}}
}

// Array returns a Value of KindArray. It keeps elems, which must not be
// changed afterwards.
func Array(elems ...Value) Value { return Value{kind: KindArray, list: elems} }

// Kind returns the kind of v, or zero if v is the zero Value.
func (v Value) Kind() Kind { return v.kind }

// Int returns the number in a Value of KindInt, KindRank, KindTag or
// KindHandle. It panics if v has another kind.
func (v Value) Int() int64 {
	switch v.kind {
	case KindInt, KindRank, KindTag, KindHandle:
		return v.n[0]
	}
	panic("cst: Int of a Value of kind " + v.kind.String())
}

// Float returns the number in a Value of KindFloat. It panics if v has another
// kind.
func (v Value) Float() float64 {
	v.must(KindFloat, "Float")
	return math.Float64frombits(uint64(v.n[0]))
}

// Text returns the contents of a Value of KindString or KindBytes. It panics if
// v has another kind.
func (v Value) Text() string {
	if v.kind != KindBytes {
		v.must(KindString, "Text")
	}
	return v.text
}

// Pointer returns the address in a Value of KindPointer. It panics if v has
// another kind.
func (v Value) Pointer() Pointer {
	v.must(KindPointer, "Pointer")
	return Pointer{Segment: v.n[0], Displacement: v.n[1], Device: v.n[2]}
}

// Status returns the status in a Value of KindStatus. It panics if v has
// another kind.
func (v Value) Status() Status {
	v.must(KindStatus, "Status")
	return Status{Source: v.n[0], Tag: v.n[1], Error: v.n[2]}
}

// Len returns the number of elements of a Value of KindArray. It panics if v
// has another kind.
func (v Value) Len() int {
	v.must(KindArray, "Len")
	return len(v.list)
}

// Index returns element i of a Value of KindArray. It panics if v has another
// kind or i is out of range.
func (v Value) Index(i int) Value {
	v.must(KindArray, "Index")
	return v.list[i]
}

func (v Value) must(k Kind, method string) {
	if v.kind != k {
		panic("cst: " + method + " of a Value of kind " + v.kind.String())
	}
}
