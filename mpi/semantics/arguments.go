package semantics

import (
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// arguments are those of a call, found by the names of their parameters.
type arguments struct {
	function *cst.Function
	values   []cst.Value
}

// find returns the argument of a parameter of a kind, and whether there is one.
func (a arguments) find(name string, kind cst.Kind) (cst.Value, bool) {
	i := slices.IndexFunc(a.function.Params, func(p cst.Param) bool { return p.Name == name && p.Type.Kind == kind })
	if i < 0 {
		return cst.Value{}, false
	}
	return a.values[i], true
}

// told returns a status, or several: those that the program asked for, or else those that
// whoever recorded the call did.
func (a arguments) told(name string, kind cst.Kind) (cst.Value, bool) {
	if v, ok := a.find(name, kind); ok {
		return v, true
	}
	return a.find(name+"_out", kind)
}

// class returns the class of the handles that a parameter takes, "" if it takes none.
func (a arguments) class(name string) string {
	for _, p := range a.function.Params {
		if p.Name == name {
			return p.Type.Class
		}
	}
	return ""
}

// number returns an argument that is a number of a kind, Unknown if there is none.
func (a arguments) number(name string, kind cst.Kind) int64 {
	if v, ok := a.find(name, kind); ok {
		return v.Int()
	}
	return Unknown
}

// numbers returns the elements of an argument that is an array of numbers, and whether
// there is one.
func (a arguments) numbers(name string) (list []int64, ok bool) {
	v, ok := a.find(name, cst.KindArray)
	if !ok {
		return nil, false
	}
	list = make([]int64, v.Len())
	for i := range list {
		switch e := v.Index(i); e.Kind() {
		case cst.KindInt, cst.KindRank, cst.KindTag, cst.KindHandle:
			list[i] = e.Int()
		default:
			return nil, false
		}
	}
	return list, true
}

// toldSize returns the size of a datatype that is an argument, or of the i-th of several, where the
// trace has it beside the argument.
func (a arguments) toldSize(name string, i int) (int64, bool) {
	if v, ok := a.find(spec.SizeParam(name), cst.KindInt); ok {
		return v.Int(), v.Int() >= 0
	}
	size := a.element(spec.SizeParam(name), i)
	return size, size >= 0
}

// sizesOf returns the sizes of the datatypes in an argument that is an array, as the trace tells them or
// as they follow from their ids.
func (a arguments) sizesOf(name string, size func(id int64) int64) (list []int64, ok bool) {
	list, ok = a.numbers(name)
	for i, id := range list {
		if told, ok := a.toldSize(name, i); ok {
			list[i] = told
		} else {
			list[i] = size(id)
		}
	}
	return list, ok
}

// sum returns the sum of the elements of an argument that is an array, and how many there
// are; Unknown and −1 if there is none.
func (a arguments) sum(name string) (sum int64, length int) {
	list, ok := a.numbers(name)
	if !ok {
		return Unknown, -1
	}
	for _, n := range list {
		sum = plus(sum, n)
	}
	return sum, len(list)
}

// structure returns the bytes of counts in an array that have a datatype each, in another.
func (a arguments) structure(counts, types string, size func(id int64) int64) int64 {
	numbers, ok := a.numbers(counts)
	sizes, also := a.sizesOf(types, size)
	if !ok || !also || len(numbers) != len(sizes) {
		return Unknown
	}
	sum := int64(0)
	for i, n := range numbers {
		sum = plus(sum, product(n, sizes[i]))
	}
	return sum
}

// element returns an element of an argument that is an array, Unknown if there is none.
func (a arguments) element(name string, i int) int64 {
	if list, _ := a.numbers(name); i >= 0 && i < len(list) {
		return list[i]
	}
	return Unknown
}

// product returns what so many elements of a size take, [Unknown] if either is or it is
// more than there is.
func product(elements, size int64) int64 {
	switch {
	case elements == 0:
		return 0
	case elements < 0 || size < 0 || size > 0 && elements > (1<<62)/size:
		return Unknown
	}
	return elements * size
}

// plus returns a sum, [Unknown] if one of the numbers is or it is more than there is.
func plus(a, b int64) int64 {
	if a < 0 || b < 0 || a > 1<<62-b {
		return Unknown
	}
	return a + b
}
