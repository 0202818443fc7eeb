package cst

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// FunctionOf returns the function with a name whose parameters are the exported fields of the struct T,
// in their order, as those of
//
//	type send struct {
//		Dest  int32   `cst:"dest,rank"`
//		Tag   int32   `cst:"tag,tag"`
//		Comm  int64   `cst:"comm,handle=comm"`
//		Bytes []int64 `cst:"bytes"`
//		Err   string  `cst:",out"`
//		Notes any     `cst:"-"`
//	}
//
// A tag has the name of the parameter, or that of the field if it is empty, and then what it means and
// its direction: rank, tag and handle=CLASS of integers or lists of these; out, inout. The tag "-"
// leaves the field out.
//
// Integers and bools, which are 0 or 1, are of [KindInt]; floats of [KindFloat]; strings of
// [KindString]; slices and arrays of bytes of [KindBytes], of all else of [KindArray]; [Pointer] and
// [Status] of theirs. Fields of other kinds, such as structs, maps, interfaces and pointers, are an
// error that names the field, as is a tag that says something else.
//
// [ValuesOf] returns the arguments of a call. The first use of a type takes some microseconds, later
// ones look it up.
func FunctionOf[T any](name string) (Function, error) {
	l, err := layoutOf(reflect.TypeFor[T]())
	if err != nil {
		return Function{}, err
	}
	f := Function{Name: name}
	for _, field := range l.fields {
		f.Params = append(f.Params, field.param)
	}
	return f, f.Validate()
}

// ValuesOf returns the arguments of a call of the function that [FunctionOf] returns for the type of a
// struct: v is one, or a pointer to one. It copies what slices hold. The error names a field that is
// none of FunctionOf, or an unsigned integer above 2⁶³−1, which is no [Value]. Building the values by their
// functions takes less time.
func ValuesOf(v any) ([]Value, error) {
	of := reflect.ValueOf(v)
	if of.Kind() == reflect.Pointer && !of.IsNil() {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		return nil, fmt.Errorf("cst: %T is not a struct, or nil", v)
	}
	l, err := layoutOf(of.Type())
	if err != nil {
		return nil, err
	}
	values := make([]Value, len(l.fields))
	for i, field := range l.fields {
		if values[i], err = valueOf(of.Field(field.index), &field.param.Type); err != nil {
			return nil, fieldError(of.Type(), field.index, err)
		}
	}
	return values, nil
}

// A structLayout says which fields of a struct are parameters.
type structLayout struct{ fields []structField }

type structField struct {
	index int
	param Param
}

// layouts are those of the structs that were asked for: a structLayout or an error by type.
var layouts sync.Map

func layoutOf(t reflect.Type) (structLayout, error) {
	known, ok := layouts.Load(t)
	if !ok {
		if l, err := makeLayout(t); err != nil {
			known, _ = layouts.LoadOrStore(t, err)
		} else {
			known, _ = layouts.LoadOrStore(t, l)
		}
	}
	if err, failed := known.(error); failed {
		return structLayout{}, err
	}
	return known.(structLayout), nil
}

func makeLayout(t reflect.Type) (l structLayout, err error) {
	if t.Kind() != reflect.Struct {
		return l, fmt.Errorf("cst: %v is not a struct", t)
	}
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("cst")
		if tag == "-" {
			continue
		}
		if f.Anonymous {
			return l, fieldError(t, i, errEmbedded)
		}
		if !f.IsExported() {
			continue
		}
		p, err := paramOf(f, tag)
		if err != nil {
			return l, fieldError(t, i, err)
		}
		if slices.ContainsFunc(l.fields, func(f structField) bool { return f.param.Name == p.Name }) {
			return l, fieldError(t, i, fmt.Errorf("another field is the parameter %q, too", p.Name))
		}
		l.fields = append(l.fields, structField{i, p})
	}
	return l, nil
}

func fieldError(t reflect.Type, i int, err error) error {
	return fmt.Errorf("cst: field %s of %v: %w", t.Field(i).Name, t, err)
}

// paramOf returns the parameter that a field with a tag is.
func paramOf(f reflect.StructField, tag string) (p Param, err error) {
	name, options, more := strings.Cut(tag, ",")
	p.Name = cmp.Or(name, f.Name)
	number := Type{Kind: KindInt}
	kinds, directions := 0, 0 // that the options give
	for more {
		var option string
		option, options, more = strings.Cut(options, ",")
		class, handle := strings.CutPrefix(option, "handle=")
		switch {
		case handle && class != "":
			number, kinds = HandleOf(class), kinds+1
		case option == "rank":
			number.Kind, kinds = KindRank, kinds+1
		case option == "tag":
			number.Kind, kinds = KindTag, kinds+1
		case option == "out":
			p.Direction, directions = Out, directions+1
		case option == "inout":
			p.Direction, directions = InOut, directions+1
		default:
			return p, fmt.Errorf("%q in its tag is not rank, tag, handle=CLASS, out or inout", option)
		}
	}
	if kinds > 1 || directions > 1 {
		return p, fmt.Errorf("its tag %q says more than one of rank, tag and handle, or of out and inout", tag)
	}
	if p.Type, err = typeOf(f.Type, number, 0); err != nil {
		return p, err
	}
	if of := p.Type.innermost(); number.Kind != KindInt && of.Kind != number.Kind {
		return p, fmt.Errorf("%v values are no %v", of.Kind, number.Kind)
	}
	return p, p.check()
}

// innermost returns the type of the elements of arrays, however deep they nest.
func (t Type) innermost() Type {
	for t.Kind == KindArray {
		t = *t.Elem
	}
	return t
}

// typeOf returns the type of parameters that values of a type of Go are. Integers are of the type number.
func typeOf(t reflect.Type, number Type, depth int) (Type, error) {
	switch t {
	case reflect.TypeFor[Pointer]():
		return Type{Kind: KindPointer}, nil
	case reflect.TypeFor[Status]():
		return Type{Kind: KindStatus}, nil
	}
	switch t.Kind() {
	case reflect.Bool:
		return Type{Kind: KindInt}, nil
	case reflect.Float32, reflect.Float64:
		return Type{Kind: KindFloat}, nil
	case reflect.String:
		return Type{Kind: KindString}, nil
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return Type{Kind: KindBytes}, nil
		}
		if depth == maxDepth {
			return Type{}, fmt.Errorf("arrays nest deeper than %d", maxDepth)
		}
		elem, err := typeOf(t.Elem(), number, depth+1)
		return ArrayOf(elem), err
	}
	if isInteger(t.Kind()) {
		return number, nil
	}
	return Type{}, fmt.Errorf("%v is no argument: its kind is %v", t, t.Kind())
}

func isInteger(k reflect.Kind) bool { return k >= reflect.Int && k <= reflect.Uint64 }

// errEmbedded is that of an embedded field, whose own fields would be those of another struct.
var errEmbedded = errors.New(`is embedded: give it a name, or the tag cst:"-"`)

// errUnsigned is that of an unsigned integer that no Value holds.
var errUnsigned = errors.New("an integer above 2⁶³−1")

// valueOf returns the argument that v is, of a type that typeOf returned.
func valueOf(v reflect.Value, t *Type) (Value, error) {
	switch t.Kind {
	case KindFloat:
		return Float(v.Float()), nil
	case KindString:
		return String(v.String()), nil
	case KindBytes:
		b := make([]byte, v.Len())
		for i := range b { // whose type may have a name of its own
			b[i] = byte(v.Index(i).Uint())
		}
		return textValue(KindBytes, string(b)), nil
	case KindPointer:
		return PointerTo(v.Interface().(Pointer)), nil
	case KindStatus:
		return StatusOf(v.Interface().(Status)), nil
	case KindArray:
		return arrayOf(v, t.Elem)
	}
	n, err := integerOf(v)
	return Value{head: head{kind: t.Kind}, a: n}, err
}

// arrayOf returns the argument that a slice or an array is.
func arrayOf(v reflect.Value, elem *Type) (Value, error) {
	if !elem.Kind.isNumber() {
		list := make([]Value, v.Len())
		for i := range list {
			var err error
			if list[i], err = valueOf(v.Index(i), elem); err != nil {
				return Value{}, err
			}
		}
		return Array(list...), nil
	}
	numbers := make([]int64, v.Len())
	for i := range numbers {
		var err error
		if numbers[i], err = integerOf(v.Index(i)); err != nil {
			return Value{}, err
		}
	}
	return Numbers(elem.Kind, numbers), nil
}

func integerOf(v reflect.Value) (int64, error) {
	switch {
	case v.CanInt():
		return v.Int(), nil
	case v.Kind() == reflect.Bool:
		if v.Bool() {
			return 1, nil
		}
		return 0, nil
	}
	u := v.Uint()
	if u > math.MaxInt64 {
		return 0, errUnsigned
	}
	return int64(u), nil
}
