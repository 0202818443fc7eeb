package cst

import (
	"fmt"
	"math"

	"github.com/reprise-trace/reprise/internal/wire"
)

// A signature is encoded as the number of its function and the values of its
// arguments, each as its parameter's type says. Nothing else is needed to find
// its end, so no signature is a proper prefix of another one.
//
// The functions below that call themselves do so once for each level of a
// declared type, at most MaxDepth deep.

// appendSignature appends the signature of a call of f, which has number fn.
// It panics if args are not arguments of f.
func appendSignature(dst []byte, fn int, f *Function, args []Value) []byte {
	f.checkArity(args)
	dst = wire.AppendUvarint(dst, uint64(fn))
	params := f.Params[:len(args)]
	for i := range args {
		v, t := &args[i], &params[i].Type
		if v.head.kind != t.Kind {
			panic(fmt.Sprintf("cst: %v value for parameter %s of %s, which is %v", v.head.kind, params[i].Name, f.Name, *t))
		}
		switch v.head.kind {
		case KindInt, KindRank, KindTag, KindHandle: // most arguments
			dst = wire.AppendVarint(dst, v.a)
		default:
			dst = appendValue(dst, t, v)
		}
	}
	return dst
}

func (f *Function) checkArity(args []Value) {
	if len(args) != len(f.Params) {
		panic(fmt.Sprintf("cst: %d arguments for %s, which takes %d", len(args), f.Name, len(f.Params)))
	}
}

// appendValue appends v, whose kind is that of t.
func appendValue(dst []byte, t *Type, v *Value) []byte {
	switch v.head.kind {
	case KindInt, KindRank, KindTag, KindHandle:
		return wire.AppendVarint(dst, v.a)
	case KindFloat:
		return wire.AppendUint64(dst, uint64(v.a))
	case KindString, KindBytes:
		return wire.AppendString(dst, v.text())
	case KindPointer, KindStatus:
		dst = wire.AppendVarint(dst, v.a)
		dst = wire.AppendVarint(dst, v.b)
		return wire.AppendVarint(dst, v.third())
	}
	list := v.list()
	dst = wire.AppendUvarint(dst, uint64(len(list)))
	for i := range list {
		if k := list[i].head.kind; k != t.Elem.Kind {
			panic(fmt.Sprintf("cst: %v value in an %v", k, *t))
		}
		dst = appendValue(dst, t.Elem, &list[i])
	}
	return dst
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
