package cst

import "github.com/reprise-trace/reprise/internal/wire"

// A functionReader decodes a list of functions. The numbers of names and
// params are those of index, which finds whatever is written a second time.
type functionReader struct {
	*wire.Decoder
	index  functionIndex
	names  []string
	params []Param
}

// readFunctions reads the functions.
func (t *Table) readFunctions(d *wire.Decoder) {
	r := functionReader{Decoder: d}
	n := d.Count("functions", 2)
	for i := 0; i < n && d.Err() == nil; i++ {
		at := d.Offset()
		f := r.function()
		if d.Err() != nil {
			return
		}
		if number, known := r.index.number(&f); known {
			d.Corrupt(at, "function", "equals function %d", number)
		}
		t.functions = append(t.functions, f)
	}
}

func (r *functionReader) function() Function {
	f := Function{Name: r.name("name")}
	if n := r.Count("parameters", 1); n > 0 {
		f.Params = make([]Param, n)
	}
	for i := range f.Params {
		f.Params[i] = r.param()
	}
	return f
}

// name reads a name: one that is new, or the number of an earlier one.
func (r *functionReader) name(field string) string {
	at := r.Offset()
	v := r.Uvarint(field)
	if v&1 != 0 {
		if v >>= 1; v >= uint64(len(r.names)) {
			r.Corrupt(at, field, "name %d of %d", v, len(r.names))
			return ""
		}
		return r.names[v]
	}
	if v >>= 1; v > MaxName {
		r.Limit(at, field, "name of %d bytes", v)
		return ""
	}
	s := string(r.Bytes(field, int(v)))
	if r.Err() != nil {
		return ""
	}
	if number, known := r.index.name(s); known {
		r.Corrupt(at, field, "equals name %d", number)
		return ""
	}
	r.names = append(r.names, s)
	return s
}

// param reads a parameter: one that is new, or the number of an earlier one.
func (r *functionReader) param() Param {
	at := r.Offset()
	v := r.Uvarint("parameter")
	if v > uint64(len(r.params)) {
		r.Corrupt(at, "parameter", "parameter %d of %d", v-1, len(r.params))
		return Param{}
	}
	if v > 0 {
		return r.params[v-1]
	}
	p := Param{Name: r.name("name")}
	p.Type, p.Direction = r.typeAndDirection()
	if r.Err() != nil {
		return Param{}
	}
	if number, known := r.index.param(&p); known {
		r.Corrupt(at, "parameter", "equals parameter %d", number)
		return Param{}
	}
	r.params = append(r.params, p)
	return p
}

// typeAndDirection reads a type, whose first byte holds the direction as well.
func (r *functionReader) typeAndDirection() (Type, Direction) {
	at := r.Offset()
	b := r.Byte("type")
	kind, direction := Kind(b&kindMask), Direction(b>>directionShift)
	if !direction.valid() {
		r.Corrupt(at, "type", "direction %d", direction)
	}
	depth := 0
	for ; kind == KindArray && r.Err() == nil; depth++ {
		if depth == MaxDepth {
			r.Limit(at, "type", "arrays nest deeper than %d", MaxDepth)
			return Type{}, In
		}
		at = r.Offset()
		kind = Kind(r.Byte("type"))
	}
	if !kind.valid() {
		r.Corrupt(at, "type", "kind %d", kind)
	}
	t := Type{Kind: kind}
	if kind == KindHandle {
		t.Class = r.name("class")
	}
	for range depth {
		t = ArrayOf(t)
	}
	return t, direction
}
