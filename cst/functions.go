package cst

import "github.com/reprise-trace/reprise/internal/wire"

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
	key       []byte
}

// number returns the number of f, which is valid, and reports whether it had one
// before.
func (x *functionIndex) number(f *Function) (number int, known bool) {
	n, _ := x.name(f.Name)
	x.key = wire.AppendUvarint(x.key[:0], n)
	for i := range f.Params {
		n, _ = x.param(&f.Params[i])
		x.key = wire.AppendUvarint(x.key, n)
	}
	if number, known = x.functions[string(x.key)]; known {
		return number, true
	}
	if x.functions == nil {
		x.functions = make(map[string]int)
	}
	number = len(x.functions)
	x.functions[string(x.key)] = number
	return number, false
}
