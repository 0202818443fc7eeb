package cst

import "strings"

// A Kind says what an argument means, which decides how its values are encoded
// and what a later stage may do with them: a Rank may be rewritten relative to
// the caller, a Handle names an object, a Pointer is symbolic.
type Kind uint8

// The kinds. The zero Kind is invalid.
const (
	KindInt     Kind = iota + 1 // a 64-bit signed integer
	KindFloat                   // a 64-bit IEEE 754 number, bit for bit
	KindString                  // text, any bytes
	KindBytes                   // opaque bytes
	KindRank                    // a process number in the group the call names; negative values are reserved
	KindTag                     // a message tag; negative values are reserved
	KindHandle                  // a symbolic id of an object of a class
	KindPointer                 // a symbolic address
	KindStatus                  // source, tag and error code of a completed operation
	KindArray                   // a sequence of values of one type
)

var kindNames = [...]string{
	KindInt: "int", KindFloat: "float", KindString: "string", KindBytes: "bytes", KindRank: "rank", KindTag: "tag",
	KindHandle: "handle", KindPointer: "pointer", KindStatus: "status", KindArray: "array",
}

func (k Kind) valid() bool { return k >= KindInt && k <= KindArray }

func (k Kind) String() string {
	if !k.valid() {
		return "invalid"
	}
	return kindNames[k]
}

// A Type is the type of a parameter: a kind, and what the kind needs besides.
type Type struct {
	Kind  Kind
	Class string // KindHandle: the class of the object, such as "comm"
	Elem  *Type  // KindArray: the type of the elements
}

// HandleOf returns the type of handles of a class.
func HandleOf(class string) Type { return Type{Kind: KindHandle, Class: class} }

// ArrayOf returns the type of arrays of elem.
func ArrayOf(elem Type) Type { return Type{Kind: KindArray, Elem: &elem} }

// Equal reports whether t and u are the same type.
func (t Type) Equal(u Type) bool {
	for t.Kind == KindArray && u.Kind == KindArray && t.Elem != nil && u.Elem != nil {
		t, u = *t.Elem, *u.Elem
	}
	return t.Kind == u.Kind && t.Class == u.Class && (t.Elem == nil) == (u.Elem == nil)
}

// String returns the type as it is written in listings: int, handle(comm),
// array of rank.
func (t Type) String() string {
	var b strings.Builder
	for t.Kind == KindArray && t.Elem != nil {
		b.WriteString("array of ")
		t = *t.Elem
	}
	b.WriteString(t.Kind.String())
	if t.Kind == KindHandle {
		b.WriteString("(" + t.Class + ")")
	}
	return b.String()
}

// A Direction says whether an argument's value is taken before or after a call.
type Direction uint8

// The directions. The zero Direction is In.
const (
	In    Direction = iota // read by the function, recorded before the call
	Out                    // written by the function, recorded after the call
	InOut                  // both, recorded after the call
)

func (d Direction) String() string {
	switch d {
	case In:
		return "in"
	case Out:
		return "out"
	case InOut:
		return "inout"
	}
	return "invalid"
}

// A Param is a parameter of a function.
type Param struct {
	Name      string
	Type      Type
	Direction Direction
}

// A Function is what a call invokes: a name and ordered parameters. Functions
// of one name with different parameters are different functions.
type Function struct {
	Name   string
	Params []Param
}
