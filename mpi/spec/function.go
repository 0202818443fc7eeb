package spec

import (
	"strings"

	"github.com/reprise-trace/reprise/cst"
)

//go:generate go run ./internal/tablegen -o functions_gen.go

// A Function is a function of MPI's C interface.
type Function struct {
	Name   string
	Result cst.Type // of the value it returns; the zero Type for an error code
	Params []Param
}

// A Param is a parameter of a [Function].
type Param struct {
	Name string
	Type cst.Type // of the value that is recorded

	// Direction says what the function does with what the parameter stands for:
	// a buffer to receive into is [cst.Out], although its address is known
	// before the call.
	Direction cst.Direction

	Form Form
	Use  Use

	// Length is a C expression for the number of elements of an Array, of
	// Texts or of TextLists, and for the most bytes of a Text that the function writes. It is
	// empty if the argument itself says where it ends.
	Length string

	// Given is a C expression for whether the argument counts, or empty for one
	// that always does: the receive counts of a gather count at its root only,
	// and a status if a test found something. A value that need not count is
	// recorded with its length, even if it is a single one.
	Given string

	// Asked is a C expression for a value that is no argument: the interposer asks
	// MPI for it after a call that succeeded. It is the value of an Indirect, and
	// of an Array a pointer to memory to be freed. Such parameters come last. They
	// say what the arguments leave open, such as the members of a communicator. One of the direction In is
	// found before the call: an argument that the function may have, and does not declare.
	Asked string
}

// A Form says how C passes an argument.
type Form uint8

// The forms. A record holds the value that the comment names.
const (
	ByValue   Form = iota // the argument
	Indirect              // the value the argument points to
	Array                 // the elements the argument points to
	Text                  // the characters the argument points to
	Texts                 // the strings in an array of pointers to them
	TextLists             // the strings in an array of such arrays, each closed by an absent string
)

// A Use says more of a number or an address than its type.
type Use uint8

// The uses.
const (
	_         Use = iota
	ErrorCode     // the code of an error, which differs between runs
	Distances     // in bytes from an address that may be zero: they may be addresses
	Target        // a displacement in a window: it may be an address
	Word          // an address that is no buffer, or a number in its place: no constant stands for it
)

// Before reports whether a record holds the value from before the call.
func (p *Param) Before() bool {
	return p.Form == ByValue || p.Direction != cst.Out
}

// After reports whether a record holds the value from after the call.
func (p *Param) After() bool {
	return p.Form != ByValue && p.Direction != cst.In
}

// Counted reports whether the value has its length in front of it in a record.
func (p *Param) Counted() bool {
	return p.Form > Indirect || p.Given != "" || p.Type.Kind == cst.KindStatus
}

// Element returns the type of what an Array holds, and Type for other forms.
func (p *Param) Element() cst.Type {
	if p.Type.Kind == cst.KindArray {
		return *p.Type.Elem
	}
	return p.Type
}

// Functions returns the functions of the table in the order of their names.
// The position is the number of a function in a spool. The result must not be
// changed.
func Functions() []Function { return functions }

// Lookup returns the number of the function of a name, and whether there is
// one.
func Lookup(name string) (number int, ok bool) {
	number, ok = numbers[name]
	return number, ok
}

var numbers = func() map[string]int {
	m := make(map[string]int, len(functions))
	for i := range functions {
		m[functions[i].Name] = i
	}
	return m
}()

// Base returns the name of a function without MPI_ or MPIX_ and without the _c of
// those with large counts: Isend for MPI_Isend_c. Names of functions that are not of MPI
// stay as they are.
func Base(name string) string {
	base, ok := strings.CutPrefix(name, "MPI_")
	if !ok {
		base, ok = strings.CutPrefix(name, "MPIX_")
	}
	if !ok {
		return name
	}
	return strings.TrimSuffix(base, "_c")
}

// Declared returns the parameters that the function has in C: those that are not [Param.Asked].
func (f *Function) Declared() []Param {
	n := len(f.Params)
	for n > 0 && f.Params[n-1].Asked != "" {
		n--
	}
	return f.Params[:n]
}

// Outlives reports whether the function makes or frees an object other than
// a request or a message.
func (f *Function) Outlives() bool {
	for i := range f.Params {
		p := &f.Params[i]
		if p.Direction == cst.In || p.Form == ByValue {
			continue
		}
		switch element := p.Element(); element.Class {
		case "", "request", "message":
		default:
			return true
		}
	}
	return false
}

// takesRequests reports whether there are requests among the arguments before a
// call.
func (f *Function) takesRequests() bool {
	for i := range f.Params {
		if p := &f.Params[i]; p.Before() && p.Direction != cst.Out && p.Element().Class == "request" {
			return true
		}
	}
	return false
}

// FreesObject reports whether the function frees the object that a handle stands for, or lets go of it, and
// nulls the handle. Requests do not count. A call that failed may leave the handle as it was.
func (f *Function) FreesObject() bool {
	for i := range f.Params {
		p := &f.Params[i]
		if p.Form == Indirect && p.Direction == cst.InOut && p.Type.Kind == cst.KindHandle {
			return p.Type.Class != "request" && f.Name != "MPI_Type_commit"
		}
	}
	return false
}

// Begins reports whether a spool says when a call of the function begins, and not only that
// it returned: whether it takes requests, frees an object, or frees memory. While the call
// runs, another thread may be given the same handle or the same memory for something new:
// what the arguments stand for is decided when it begins.
func (f *Function) Begins() bool {
	return f.takesRequests() || f.FreesObject() || RoleOf(f.Name).FreesMemory
}

// Communicator returns the index of the parameter for the communicator that the function
// makes, or −1. One that is still to be completed with a request does not count:
// nothing may be asked about it.
func (f *Function) Communicator() int {
	made := -1
	for i := range f.Params {
		if p := &f.Params[i]; p.Direction == cst.Out && p.Form == Indirect && p.Type.Class == "comm" {
			made = i
		} else if p.Direction == cst.Out && p.Type.Class == "request" {
			return -1
		}
	}
	return made
}

// Types that the table is written in.
var (
	integer = cst.Type{Kind: cst.KindInt}
	float   = cst.Type{Kind: cst.KindFloat}
	text    = cst.Type{Kind: cst.KindString}
	rank    = cst.Type{Kind: cst.KindRank}
	tag     = cst.Type{Kind: cst.KindTag}
	pointer = cst.Type{Kind: cst.KindPointer}
	status  = cst.Type{Kind: cst.KindStatus}
)
