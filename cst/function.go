package cst

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/internal/wire"
)

// Limits of a [Function], which every table and every encoding keeps.
const (
	maxDepth = 32   // arrays inside one another
	MaxName  = 4096 // bytes in the name of a function, a parameter or a class
)

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

// isNumber reports whether values of kind k are a number, which [Value.Int] returns.
func (k Kind) isNumber() bool {
	switch k {
	case KindInt, KindRank, KindTag, KindHandle:
		return true
	}
	return false
}

func (k Kind) String() string {
	if !k.valid() {
		return "invalid"
	}
	return kindNames[k]
}

// A Type is the type of a parameter: a kind, and what the kind needs besides.
// Elem must not lead back to the Type itself.
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

func (d Direction) valid() bool { return d <= InOut }

func (d Direction) String() string {
	if !d.valid() {
		return "invalid"
	}
	return [...]string{In: "in", Out: "out", InOut: "inout"}[d]
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

// Equal reports whether f and g are the same function.
func (f Function) Equal(g Function) bool {
	return f.Name == g.Name && slices.EqualFunc(f.Params, g.Params, func(p, q Param) bool {
		return p.Name == q.Name && p.Direction == q.Direction && p.Type.Equal(q.Type)
	})
}

// Validate returns nil if f can be declared in a [Table], and what is wrong
// with it otherwise: an invalid kind or direction, a class on a type other than
// a handle, an array without a type of elements or a type of elements on
// something else, or more than [maxDepth] or [MaxName] allow. Names may be
// empty and need not be valid UTF-8.
func (f Function) Validate() error {
	if len(f.Name) > MaxName {
		return fmt.Errorf("cst: name of a function has %d bytes", len(f.Name))
	}
	for i, p := range f.Params {
		if err := p.check(); err != nil {
			return fmt.Errorf("cst: function %s: parameter %d: %w", f.Name, i, err)
		}
	}
	return nil
}

func (p Param) check() error {
	if len(p.Name) > MaxName {
		return fmt.Errorf("name has %d bytes", len(p.Name))
	}
	if !p.Direction.valid() {
		return fmt.Errorf("direction %d", p.Direction)
	}
	return p.Type.check()
}

func (t Type) check() error {
	for depth := 0; ; depth++ {
		switch {
		case !t.Kind.valid():
			return fmt.Errorf("kind %d", t.Kind)
		case t.Kind != KindHandle && t.Class != "":
			return fmt.Errorf("class %q of kind %v", t.Class, t.Kind)
		case len(t.Class) > MaxName:
			return fmt.Errorf("class has %d bytes", len(t.Class))
		case t.Kind != KindArray && t.Elem != nil:
			return fmt.Errorf("type of elements of kind %v", t.Kind)
		case t.Kind != KindArray:
			return nil
		case t.Elem == nil:
			return errors.New("array without a type of elements")
		case depth == maxDepth:
			return fmt.Errorf("arrays nest deeper than %d", maxDepth)
		}
		t = *t.Elem
	}
}

// clone returns a copy of t that shares no storage with it.
func (t Type) clone() Type {
	if t.Kind == KindArray {
		return ArrayOf(t.Elem.clone()) // at most maxDepth deep
	}
	return t
}

// A dictionary numbers the distinct names and parameters in a list of functions
// in the order of their first use. Functions share most of both, and an
// encoding refers to what it already holds by number.
type dictionary struct {
	names  map[string]uint64
	params map[paramKey]uint64
}

// A paramKey identifies a parameter.
type paramKey struct {
	name      string
	class     string
	depth     uint8 // arrays around kind
	kind      Kind
	direction Direction
}

func (p *Param) key() paramKey {
	k := paramKey{name: p.Name, direction: p.Direction}
	t := &p.Type
	for ; t.Kind == KindArray; t = t.Elem {
		k.depth++
	}
	k.class, k.kind = t.Class, t.Kind
	return k
}

// name returns the number of a name and reports whether it had one before.
func (d *dictionary) name(s string) (number uint64, known bool) {
	if number, known = d.names[s]; known {
		return number, true
	}
	if d.names == nil {
		d.names = make(map[string]uint64)
	}
	number = uint64(len(d.names))
	d.names[s] = number
	return number, false
}

// param returns the number of a parameter and reports whether it had one before.
func (d *dictionary) param(p *Param) (number uint64, known bool) {
	k := p.key()
	if number, known = d.params[k]; known {
		return number, true
	}
	if d.params == nil {
		d.params = make(map[paramKey]uint64)
	}
	number = uint64(len(d.params))
	d.params[k] = number
	return number, false
}

// A functionIndex numbers distinct functions in the order of their first use.
// It identifies a function by the numbers of its name and parameters, so its
// size follows from the encoding of the list however often a name recurs.
type functionIndex struct {
	dictionary
	functions map[string]int
	bare      []uint32 // functions without parameters, by the numbers of their names, plus 1
	key       []byte
	n         int
}

// number returns the number of f, which is valid, and reports whether it had one
// before.
func (x *functionIndex) number(f *Function) (number int, known bool) {
	name, _ := x.name(f.Name)
	if len(f.Params) == 0 {
		return x.numberBare(name)
	}
	x.key = wire.AppendUvarint(x.key[:0], name)
	for i := range f.Params {
		n, _ := x.param(&f.Params[i])
		x.key = wire.AppendUvarint(x.key, n)
	}
	if number, known = x.functions[string(x.key)]; known {
		return number, true
	}
	if x.functions == nil {
		x.functions = make(map[string]int)
	}
	number = x.n
	x.functions[string(x.key)] = number
	x.n++
	return number, false
}

// numberBare is number of a function of a name without parameters.
func (x *functionIndex) numberBare(name uint64) (number int, known bool) {
	for uint64(len(x.bare)) <= name {
		x.bare = append(x.bare, 0)
	}
	if n := x.bare[name]; n > 0 {
		return int(n) - 1, true
	}
	number = x.n
	x.n++
	x.bare[name] = uint32(x.n)
	return number, false
}
