package tracer

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/reprise-trace/reprise/cst"
)

// A Function is a function whose calls are recorded. One Function serves all processes
// and goroutines: it is made once, as a variable of a package. [Func1] and its relatives
// make functions of which the compiler checks the arguments.
type Function struct {
	function, threaded cst.Function // the latter has the number of the thread first
	id                 int32
	err                error // why it is invalid
}

// functions counts those that were made.
var functions atomic.Int32

// threadParam is the name of the parameter of threaded functions, as readers know it.
const threadParam = "thread"

// Func returns a Function from its declaration. If f is invalid, see
// [cst.Function.Validate], its calls are left out, and [Process.Close] tells. So it is with
// an integer parameter named thread: in a trace, that is the number of the thread.
func Func(f cst.Function) *Function {
	thread := cst.Param{Name: threadParam, Type: cst.Type{Kind: cst.KindInt}}
	threaded := cst.Function{Name: f.Name, Params: append([]cst.Param{thread}, f.Params...)}
	err := f.Validate()
	for _, p := range f.Params {
		if p.Name == threadParam && p.Type.Kind == cst.KindInt {
			err = fmt.Errorf(
				"function %s: the name of parameter thread stands for the number of the thread: choose another", f.Name)
		}
	}
	return &Function{f, threaded, functions.Add(1), err}
}

// Rank, Tag and Handle are integers that mean more in a trace: a number of a process, a
// message tag, and an object of a class. The class is the name of the type C:
//
//	type file struct{}
//
//	var read = tracer.Func2[tracer.Handle[file], int]("read", "file", "bytes")
type (
	Rank          int
	Tag           int
	Handle[C any] int64
)

func (Handle[C]) class() string {
	name, _, _ := strings.Cut(reflect.TypeFor[C]().Name(), "[")
	return name
}

// An Argument is a type of arguments. Booleans are 0 and 1. Slices are copied.
type Argument interface {
	~bool | ~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 |
		~float32 | ~float64 | ~string | ~[]byte | ~[]int | ~[]int64 | ~[]float64 | ~[]string | ~[]Rank |
		cst.Pointer | cst.Status
}

// A param is a parameter of a function with typed arguments.
type param[A Argument] struct{ value func(A) cst.Value }

// of returns the value of an argument, the zero Value if the function was not declared.
func (p *param[A]) of(v A) cst.Value {
	if p.value == nil {
		return cst.Value{}
	}
	return p.value(v)
}

// as returns v as another type of the same representation.
func as[T, A any](v A) T { return *(*T)(unsafe.Pointer(&v)) }

// add appends a parameter to those of a function.
func (p *param[A]) add(f *cst.Function, name string) {
	of := cst.Param{Name: name}
	if result, ok := strings.CutPrefix(name, "out "); ok {
		of.Name, of.Direction = result, cst.Out
	} else if changed, ok := strings.CutPrefix(name, "inout "); ok {
		of.Name, of.Direction = changed, cst.InOut
	}
	of.Type, p.value = encoder[A]()
	f.Params = append(f.Params, of)
}

// encoder returns the type of arguments of type A, and what makes a value of one.
func encoder[A Argument]() (cst.Type, func(A) cst.Value) {
	var zero A
	switch any(zero).(type) {
	case cst.Pointer:
		return cst.Type{Kind: cst.KindPointer}, func(v A) cst.Value { return cst.PointerTo(as[cst.Pointer](v)) }
	case cst.Status:
		return cst.Type{Kind: cst.KindStatus}, func(v A) cst.Value { return cst.StatusOf(as[cst.Status](v)) }
	case Rank:
		return cst.Type{Kind: cst.KindRank}, func(v A) cst.Value { return cst.Rank(int64(as[int](v))) }
	case Tag:
		return cst.Type{Kind: cst.KindTag}, func(v A) cst.Value { return cst.Tag(int64(as[int](v))) }
	case interface{ class() string }:
		class := any(zero).(interface{ class() string }).class()
		return cst.HandleOf(class), func(v A) cst.Value { return cst.Handle(as[int64](v)) }
	}
	switch t := reflect.TypeFor[A](); t.Kind() {
	case reflect.String:
		return cst.Type{Kind: cst.KindString}, func(v A) cst.Value { return cst.String(as[string](v)) }
	case reflect.Float32:
		return cst.Type{Kind: cst.KindFloat}, func(v A) cst.Value { return cst.Float(float64(as[float32](v))) }
	case reflect.Float64:
		return cst.Type{Kind: cst.KindFloat}, func(v A) cst.Value { return cst.Float(as[float64](v)) }
	case reflect.Slice:
		return arrays[A](t.Elem())
	}
	return cst.Type{Kind: cst.KindInt}, integers[A]()
}

// integers returns what makes a value of an integer or a boolean. Numbers that do not fit
// in 64 bits with a sign give the zero Value, which no function takes.
func integers[A Argument]() func(A) cst.Value {
	switch reflect.TypeFor[A]().Kind() {
	case reflect.Bool, reflect.Uint8:
		return func(v A) cst.Value { return cst.Int(int64(as[uint8](v))) }
	case reflect.Int8:
		return func(v A) cst.Value { return cst.Int(int64(as[int8](v))) }
	case reflect.Int16:
		return func(v A) cst.Value { return cst.Int(int64(as[int16](v))) }
	case reflect.Uint16:
		return func(v A) cst.Value { return cst.Int(int64(as[uint16](v))) }
	case reflect.Int32:
		return func(v A) cst.Value { return cst.Int(int64(as[int32](v))) }
	case reflect.Uint32:
		return func(v A) cst.Value { return cst.Int(int64(as[uint32](v))) }
	case reflect.Uint64:
		return func(v A) cst.Value { return unsigned(as[uint64](v)) }
	case reflect.Uint:
		return func(v A) cst.Value { return unsigned(uint64(as[uint](v))) }
	case reflect.Int64:
		return func(v A) cst.Value { return cst.Int(as[int64](v)) }
	}
	return func(v A) cst.Value { return cst.Int(int64(as[int](v))) }
}

func unsigned(v uint64) cst.Value {
	if v > math.MaxInt64 {
		return cst.Value{}
	}
	return cst.Int(int64(v))
}

// arrays returns the type of slices of elements, and what makes a value of one.
func arrays[A Argument](elem reflect.Type) (cst.Type, func(A) cst.Value) {
	of := func(k cst.Kind) cst.Type { return cst.ArrayOf(cst.Type{Kind: k}) }
	switch {
	case elem.Kind() == reflect.Uint8:
		return cst.Type{Kind: cst.KindBytes}, func(v A) cst.Value { return cst.Bytes(as[[]byte](v)) }
	case elem.Kind() == reflect.Int64:
		return of(cst.KindInt), func(v A) cst.Value { return array(as[[]int64](v), cst.Int) }
	case elem.Kind() == reflect.Float64:
		return of(cst.KindFloat), func(v A) cst.Value { return array(as[[]float64](v), cst.Float) }
	case elem.Kind() == reflect.String:
		return of(cst.KindString), func(v A) cst.Value { return array(as[[]string](v), cst.String) }
	case elem == reflect.TypeFor[Rank]():
		return of(cst.KindRank), func(v A) cst.Value {
			return array(as[[]Rank](v), func(r Rank) cst.Value { return cst.Rank(int64(r)) })
		}
	}
	return of(cst.KindInt), func(v A) cst.Value {
		return array(as[[]int](v), func(n int) cst.Value { return cst.Int(int64(n)) })
	}
}

func array[E any](list []E, value func(E) cst.Value) cst.Value {
	values := make([]cst.Value, len(list))
	for i, e := range list {
		values[i] = value(e)
	}
	return cst.Array(values...)
}
