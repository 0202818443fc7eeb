package cst

import (
	"fmt"
	"math"

	"github.com/reprise-trace/reprise/internal/wire"
)

const version = 1

// Bits of the first byte of a type.
const (
	kindMask       = 0x0f
	directionShift = 4
)

// AppendBinary appends the encoding of t, which [Parse] reads, to dst and
// returns the extended slice. The error is always nil; it is there for
// [encoding.BinaryAppender].
func (t *Table) AppendBinary(dst []byte) ([]byte, error) {
	dst = append(dst, version)
	dst = t.AppendFunctions(dst)
	dst = wire.AppendUvarint(dst, uint64(len(t.entries)))
	dst = append(dst, t.arena...)
	for _, e := range t.entries {
		dst = wire.AppendUvarint(dst, e.count)
	}
	return dst, nil
}

// AppendFunctions appends the encoding of the functions of t, which
// [ParseFunctions] reads, to dst and returns the extended slice. It serves a file that
// holds one list of functions for many tables.
func (t *Table) AppendFunctions(dst []byte) []byte {
	var known dictionary
	dst = wire.AppendUvarint(dst, uint64(len(t.functions)))
	for i := range t.functions {
		f := &t.functions[i]
		dst = known.appendName(dst, f.Name)
		dst = wire.AppendUvarint(dst, uint64(len(f.Params)))
		for j := range f.Params {
			dst = known.appendParam(dst, &f.Params[j])
		}
	}
	return dst
}

func (d *dictionary) appendName(dst []byte, s string) []byte {
	if number, known := d.name(s); known {
		return wire.AppendUvarint(dst, number<<1|1)
	}
	dst = wire.AppendUvarint(dst, uint64(len(s))<<1)
	return append(dst, s...)
}

func (d *dictionary) appendParam(dst []byte, p *Param) []byte {
	if number, known := d.param(p); known {
		return wire.AppendUvarint(dst, number+1)
	}
	dst = wire.AppendUvarint(dst, 0)
	dst = d.appendName(dst, p.Name)
	t := &p.Type
	dst = append(dst, byte(t.Kind)|byte(p.Direction)<<directionShift)
	for t.Kind == KindArray {
		t = t.Elem
		dst = append(dst, byte(t.Kind))
	}
	if t.Kind == KindHandle {
		dst = d.appendName(dst, t.Class)
	}
	return dst
}

// A ParseError reports where and why [Parse] or [ParseFunctions] rejected its input:
// the Offset of the first byte of the offending field, the Field as docs/format.md names
// it, and the cause Err.
type ParseError = wire.Error

const packageName = "cst"

// MaxValues is the largest number of values in one signature, counting each array and
// each of its elements: more are neither interned nor parsed. A value takes 32 bytes of memory
// when it is decoded.
const MaxValues = 1 << 24

// Parse decodes a table that fills data. It does not retain data. What it
// returns is safe to use whoever wrote data: there is no Validate to call.
// An error from Parse is a [*ParseError].
func Parse(data []byte) (*Table, error) { return parse(data, MaxValues) }

func parse(data []byte, maxValues uint64) (*Table, error) {
	d := wire.NewDecoder(packageName, data)
	if v := d.Byte("version"); v != version {
		d.Corrupt(0, "version", "version %d, want %d", v, version)
	}
	t := &Table{}
	t.readFunctions(&d)
	t.readSignatures(&d, maxValues)
	for i := range t.entries {
		t.entries[i].count = d.Uvarint("count")
	}
	return t.end(&d, "count")
}

// ParseFunctions decodes what [Table.AppendFunctions] encoded, if that fills
// data, into a table without signatures, as [Parse] does.
func ParseFunctions(data []byte) (*Table, error) {
	d := wire.NewDecoder(packageName, data)
	t := &Table{}
	t.readFunctions(&d)
	return t.end(&d, "function")
}

func (t *Table) end(d *wire.Decoder, last string) (*Table, error) {
	if d.End(last); d.Err() != nil {
		return nil, d.Err()
	}
	return t, nil
}

// readSignatures reads the signatures, all with the count zero.
func (t *Table) readSignatures(d *wire.Decoder, maxValues uint64) {
	n := d.Count("signatures", 1)
	if uint64(n) > maxLen {
		d.Limit(d.Offset(), "signatures", "%d signatures", n)
		return
	}
	t.entries = make([]entry, 0, n)
	t.arena = make([]byte, 0, d.Rest())
	for range n {
		at := d.Offset()
		t.skipSignature(d, maxValues)
		if d.Err() != nil {
			return
		}
		if terminal, known := t.intern(d.Since(at), 0); known {
			d.Corrupt(at, "signature", "equals signature %d", terminal)
			return
		}
	}
}

// skipSignature reads a signature and keeps nothing of it.
func (t *Table) skipSignature(d *wire.Decoder, maxValues uint64) {
	at := d.Offset()
	fn := d.Uvarint("function")
	if d.Err() != nil {
		return
	}
	if fn >= uint64(len(t.functions)) {
		d.Corrupt(at, "function", "function %d of %d", fn, len(t.functions))
		return
	}
	params := t.functions[fn].Params
	for i := range params {
		if skipValue(d, &params[i].Type, &maxValues); d.Err() != nil {
			return
		}
	}
}

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
		if depth == maxDepth {
			r.Limit(at, "type", "arrays nest deeper than %d", maxDepth)
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

// A signature is encoded as the number of its function and the values of its
// arguments, each as its parameter's type says. Nothing else is needed to find
// its end, so no signature is a proper prefix of another one.
//
// The functions below that call themselves do so once for each level of a
// declared type, at most maxDepth deep.

// appendSignature appends the signature of a call of f, which has number fn, or
// returns what is wrong if args are not arguments of f.
func appendSignature(dst []byte, fn int, f *Function, args []Value) ([]byte, error) {
	if len(args) != len(f.Params) {
		return dst, f.arityError(args)
	}
	dst = wire.AppendUvarint(dst, uint64(fn))
	params, left := f.Params[:len(args)], MaxValues-len(args)
	for i := range args {
		v, t := &args[i], &params[i].Type
		if v.head.kind != t.Kind {
			return dst, f.kindError(i, *v)
		}
		switch v.head.kind {
		case KindInt, KindRank, KindTag, KindHandle: // most arguments
			dst = wire.AppendVarint(dst, v.a)
		default:
			ok := true
			if dst, ok = appendValue(dst, t, v, &left); !ok {
				return dst, f.valueError(i, *v, left)
			}
		}
	}
	if left < 0 {
		return dst, f.manyError()
	}
	return dst, nil
}

func (f *Function) arityError(args []Value) error {
	return fmt.Errorf("cst: %d arguments for %s, which takes %d", len(args), f.Name, len(f.Params))
}

// kindError is the error of a value that is not one of parameter i.
func (f *Function) kindError(i int, v Value) error {
	p := &f.Params[i]
	return fmt.Errorf("cst: %s for parameter %s of %s, which is %v", describeKinds(v), p.Name, f.Name, p.Type)
}

// valueError is the error of a value that could not be appended, when so many more were allowed.
func (f *Function) valueError(i int, v Value, left int) error {
	if left < 0 {
		return f.manyError()
	}
	return f.kindError(i, v)
}

func (f *Function) manyError() error {
	return fmt.Errorf(
		"cst: more than %d values in one call of %s: arrays as long as that must be cut, or given as what tells them apart, such as a length and a hash", MaxValues, f.Name)
}

// describeKinds names the kind of a value and, of an array, those of its elements.
func describeKinds(v Value) string {
	if v.head.kind != KindArray {
		return v.head.kind.String() + " value"
	}
	kinds := ""
	seen := make(map[Kind]bool)
	for i := range int(v.a) {
		if k := v.index(i).head.kind; !seen[k] {
			seen[k] = true
			kinds += " " + k.String()
		}
	}
	return "array with values of kinds" + kinds
}

// appendValue appends v, whose kind is that of t. It reports whether the elements of
// arrays are what t says, and no more than are left, from which it takes them.
func appendValue(dst []byte, t *Type, v *Value, left *int) (_ []byte, ok bool) {
	switch v.head.kind {
	case KindInt, KindRank, KindTag, KindHandle:
		return wire.AppendVarint(dst, v.a), true
	case KindFloat:
		return wire.AppendUint64(dst, uint64(v.a)), true
	case KindString, KindBytes:
		return wire.AppendString(dst, v.text()), true
	case KindPointer, KindStatus:
		dst = wire.AppendVarint(dst, v.a)
		dst = wire.AppendVarint(dst, v.b)
		return wire.AppendVarint(dst, v.third()), true
	}
	if *left -= int(v.a); *left < 0 {
		return dst, false
	}
	dst = wire.AppendUvarint(dst, uint64(v.a))
	if numbers, ok := v.packed(); ok {
		for _, n := range numbers {
			dst = wire.AppendVarint(dst, n)
		}
		return dst, Kind(v.head.c) == t.Elem.Kind
	}
	list := v.list()
	for i := range list {
		if list[i].head.kind != t.Elem.Kind {
			return dst, false
		}
		if dst, ok = appendValue(dst, t.Elem, &list[i], left); !ok {
			return dst, false
		}
	}
	return dst, true
}

// decodeValue reads a value of type t. It allocates one Value, 32 bytes, for
// each element of an array, which takes at least one byte of the input, and the
// bytes of each text.
func decodeValue(d *wire.Decoder, t *Type) Value {
	switch t.Kind {
	case KindFloat:
		return Float(math.Float64frombits(d.Uint64("argument")))
	case KindString, KindBytes:
		return textValue(t.Kind, string(d.String("argument")))
	case KindPointer, KindStatus:
		a, b, c := d.Varint("argument"), d.Varint("argument"), d.Varint("argument")
		return tripleValue(t.Kind, a, b, c)
	case KindArray:
		list := make([]Value, d.Count("argument", 1))
		for i := range list {
			list[i] = decodeValue(d, t.Elem)
		}
		return Array(list...)
	}
	return Value{head: head{kind: t.Kind}, a: d.Varint("argument")}
}

// skipValue reads a value of type t and keeps nothing of it. It takes the number
// of values read, elements included, from budget, and fails when that would
// fall below zero.
func skipValue(d *wire.Decoder, t *Type, budget *uint64) {
	at := d.Offset()
	if *budget == 0 {
		d.Limit(at, "argument", "too many values in one signature")
		return
	}
	*budget--
	switch t.Kind {
	case KindInt, KindRank, KindTag, KindHandle:
		d.Varint("argument")
	case KindFloat:
		d.Uint64("argument")
	case KindString, KindBytes:
		d.String("argument")
	case KindPointer, KindStatus:
		for range 3 {
			d.Varint("argument")
		}
	case KindArray:
		for n := d.Count("argument", 1); n > 0 && d.Err() == nil; n-- {
			skipValue(d, t.Elem, budget)
		}
	}
}
