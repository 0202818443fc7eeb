package cst

import (
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
	"unsafe"
)

// A Value is the value of one argument. Values are built by the functions named
// after the kinds and are immutable. The zero Value is invalid. A Value takes 32
// bytes, and what a string, bytes or an array refers to.
//
// Two Values are the same argument, as [Value.Equal] reports, exactly if their
// encodings are equal: floats compare bit for bit, so a NaN equals itself and −0
// differs from 0.
type Value struct {
	// Four words in four fields are what the compiler keeps in registers. What
	// they mean depends on the kind:
	//
	//	Int, Rank, Tag, Handle  a
	//	Float                   a, the bits
	//	String, Bytes           a, the length, and ref, a *byte
	//	Array                   a, the length, and ref, a *Value or, if c is the
	//	                        kind of the elements and not 0, an *int64
	//	Pointer, Status         a, b and c, or *(*int64)(ref) where c is too small
	head head
	a, b int64
	ref  unsafe.Pointer // nil where not mentioned, and for length 0
}

type head struct {
	_    [0]func() // Values do not compare with ==
	kind Kind
	c    int32
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
func Int(v int64) Value { return Value{head: head{kind: KindInt}, a: v} }

// Float returns a Value of KindFloat with the bits of v.
func Float(v float64) Value {
	return Value{head: head{kind: KindFloat}, a: int64(math.Float64bits(v))}
}

// String returns a Value of KindString. s need not be valid UTF-8.
func String(s string) Value { return textValue(KindString, s) }

// Bytes returns a Value of KindBytes that holds a copy of b.
func Bytes(b []byte) Value { return textValue(KindBytes, string(b)) }

// Rank returns a Value of KindRank.
func Rank(v int64) Value { return Value{head: head{kind: KindRank}, a: v} }

// Tag returns a Value of KindTag.
func Tag(v int64) Value { return Value{head: head{kind: KindTag}, a: v} }

// Handle returns a Value of KindHandle: the object with a symbolic id. The
// class belongs to the parameter's type, not to the value.
func Handle(id int64) Value { return Value{head: head{kind: KindHandle}, a: id} }

// PointerTo returns a Value of KindPointer.
func PointerTo(p Pointer) Value {
	return tripleValue(KindPointer, p.Segment, p.Displacement, p.Device)
}

// StatusOf returns a Value of KindStatus.
func StatusOf(s Status) Value { return tripleValue(KindStatus, s.Source, s.Tag, s.Error) }

// Array returns a Value of KindArray. It keeps elems, which must not be
// changed afterwards.
func Array(elems ...Value) Value {
	v := Value{head: head{kind: KindArray}, a: int64(len(elems))}
	if len(elems) > 0 {
		v.ref = unsafe.Pointer(unsafe.SliceData(elems))
	}
	return v
}

// Numbers returns a Value of KindArray whose elements are numbers of a kind: KindInt, KindRank,
// KindTag or KindHandle, or it panics. It is the same argument as the [Array] of them, and
// takes 8 bytes for each in place of 32. It keeps numbers, which must not be changed
// afterwards.
func Numbers(kind Kind, numbers []int64) Value {
	if !kind.isNumber() {
		panic("cst: Numbers of kind " + kind.String())
	}
	v := Value{head: head{kind: KindArray}, a: int64(len(numbers))}
	if len(numbers) > 0 {
		v.head.c, v.ref = int32(kind), unsafe.Pointer(unsafe.SliceData(numbers))
	}
	return v
}

func textValue(k Kind, s string) Value {
	v := Value{head: head{kind: k}, a: int64(len(s))}
	if len(s) > 0 {
		v.ref = unsafe.Pointer(unsafe.StringData(s))
	}
	return v
}

func tripleValue(k Kind, a, b, c int64) Value {
	v := Value{head: head{kind: k, c: int32(c)}, a: a, b: b}
	if int64(int32(c)) != c {
		v.ref = spill(c)
	}
	return v
}

// spill is apart from tripleValue so that only it allocates.
func spill(c int64) unsafe.Pointer {
	p := new(int64)
	*p = c
	return unsafe.Pointer(p)
}

// text returns the contents of a Value of KindString or KindBytes.
func (v *Value) text() string { return unsafe.String((*byte)(v.ref), int(v.a)) }

// packed returns whether the elements of a Value of KindArray are the numbers of
// [Numbers], and these.
func (v *Value) packed() (numbers []int64, ok bool) {
	if v.head.c == 0 {
		return nil, false
	}
	return unsafe.Slice((*int64)(v.ref), int(v.a)), true
}

// list returns the elements of a Value of KindArray that is not packed.
func (v *Value) list() []Value { return unsafe.Slice((*Value)(v.ref), int(v.a)) }

// index returns element i of a Value of KindArray.
func (v *Value) index(i int) Value {
	if numbers, ok := v.packed(); ok {
		return Value{head: head{kind: Kind(v.head.c)}, a: numbers[i]}
	}
	return v.list()[i]
}

// third returns the third number of a Value of KindPointer or KindStatus.
func (v *Value) third() int64 {
	if v.ref != nil {
		return *(*int64)(v.ref)
	}
	return int64(v.head.c)
}

// Kind returns the kind of v, or zero if v is the zero Value.
func (v Value) Kind() Kind { return v.head.kind }

// Int returns the number in a Value of KindInt, KindRank, KindTag or
// KindHandle. It panics if v has another kind.
func (v Value) Int() int64 {
	switch v.head.kind {
	case KindInt, KindRank, KindTag, KindHandle:
		return v.a
	}
	panic("cst: Int of a Value of kind " + v.head.kind.String())
}

// Float returns the number in a Value of KindFloat. It panics if v has another
// kind.
func (v Value) Float() float64 {
	v.must(KindFloat, "Float")
	return math.Float64frombits(uint64(v.a))
}

// Text returns the contents of a Value of KindString or KindBytes. It panics if
// v has another kind.
func (v Value) Text() string {
	if v.head.kind != KindBytes {
		v.must(KindString, "Text")
	}
	return v.text()
}

// Pointer returns the address in a Value of KindPointer. It panics if v has
// another kind.
func (v Value) Pointer() Pointer {
	v.must(KindPointer, "Pointer")
	return Pointer{Segment: v.a, Displacement: v.b, Device: v.third()}
}

// Status returns the status in a Value of KindStatus. It panics if v has
// another kind.
func (v Value) Status() Status {
	v.must(KindStatus, "Status")
	return Status{Source: v.a, Tag: v.b, Error: v.third()}
}

// Len returns the number of elements of a Value of KindArray. It panics if v
// has another kind.
func (v Value) Len() int {
	v.must(KindArray, "Len")
	return int(v.a)
}

// Index returns element i of a Value of KindArray. It panics if v has another
// kind or i is out of range.
func (v Value) Index(i int) Value {
	v.must(KindArray, "Index")
	if i < 0 || i >= int(v.a) {
		panic(fmt.Sprintf("cst: element %d of %d", i, v.a))
	}
	return v.index(i)
}

// Equal reports whether v and w are the same argument.
func (v Value) Equal(w Value) bool {
	if v.head.kind != w.head.kind || v.a != w.a || v.b != w.b {
		return false
	}
	switch v.head.kind {
	case KindString, KindBytes:
		return v.text() == w.text()
	case KindPointer, KindStatus:
		return v.third() == w.third()
	case KindArray:
		return v.equalElements(&w)
	}
	return true
}

// equalElements reports whether arrays of one length have the same elements.
func (v *Value) equalElements(w *Value) bool {
	if v.head.c != 0 && v.head.c == w.head.c {
		numbers, _ := v.packed()
		others, _ := w.packed()
		return slices.Equal(numbers, others)
	}
	for i := range int(v.a) {
		if !v.index(i).Equal(w.index(i)) {
			return false
		}
	}
	return true
}

func (v Value) must(k Kind, method string) {
	if v.head.kind != k {
		panic("cst: " + method + " of a Value of kind " + v.head.kind.String())
	}
}

// String returns v as it is written in listings; see [Value.AppendText].
func (v Value) String() string {
	text, _ := v.AppendText(nil)
	return string(text)
}

// AppendText appends v as it is written in listings and returns the extended
// slice. The error is always nil; it is there for [encoding.TextAppender].
//
// Numbers are decimal, floats as short as they can be without losing a bit, a
// NaN other than [math.NaN] with its bits. Strings are quoted as in Go, bytes
// are hexadecimal. Byte 16 of segment 3 is seg3+16, on device 1 seg3+16@1.
// Arrays are [1 2 3], statuses {source=1, tag=99, error=0}.
func (v Value) AppendText(dst []byte) ([]byte, error) { return v.appendText(dst), nil }

func (v *Value) appendText(dst []byte) []byte {
	switch v.head.kind {
	case KindInt, KindRank, KindTag, KindHandle:
		return strconv.AppendInt(dst, v.a, 10)
	case KindFloat:
		return appendFloat(dst, v.Float())
	case KindString:
		return strconv.AppendQuote(dst, v.text())
	case KindBytes:
		return hex.AppendEncode(append(dst, "0x"...), []byte(v.text()))
	case KindPointer:
		dst = fmt.Appendf(dst, "seg%d%+d", v.a, v.b)
		if device := v.third(); device != 0 {
			dst = fmt.Appendf(dst, "@%d", device)
		}
		return dst
	case KindStatus:
		return fmt.Appendf(dst, "{source=%d, tag=%d, error=%d}", v.a, v.b, v.third())
	case KindArray:
		dst = append(dst, '[')
		for i := range int(v.a) {
			if i > 0 {
				dst = append(dst, ' ')
			}
			e := v.index(i)
			dst = e.appendText(dst)
		}
		return append(dst, ']')
	}
	return append(dst, v.head.kind.String()...)
}

func appendFloat(dst []byte, f float64) []byte {
	if bits := math.Float64bits(f); f != f && bits != math.Float64bits(math.NaN()) {
		return fmt.Appendf(dst, "NaN(%#x)", bits)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}

// AppendCall appends a call of f as it is written in listings, such as
// MPI_Bcast(buffer=seg3+0, count=1, datatype=2, root=0, comm=0), and returns the
// extended slice. Names that do not print as they are, are quoted. It panics if
// the number of arguments is not that of f's parameters.
func AppendCall(dst []byte, f Function, args []Value) []byte {
	if len(args) != len(f.Params) {
		panic(f.arityError(args).Error())
	}
	dst = append(appendName(dst, f.Name), '(')
	for i, p := range f.Params {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(appendName(dst, p.Name), '=')
		dst = args[i].appendText(dst)
	}
	return append(dst, ')')
}

// appendName appends a name, which may come from a file, as people can read it.
func appendName(dst []byte, name string) []byte {
	for _, r := range name {
		if r == utf8.RuneError || !strconv.IsPrint(r) {
			return strconv.AppendQuote(dst, name)
		}
	}
	return append(dst, name...)
}
