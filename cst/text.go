package cst

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// String returns v as it is written in listings; see [Value.AppendText].
func (v Value) String() string {
	text, _ := v.AppendText(nil)
	return string(text)
}

// AppendText appends v as it is written in listings and returns the extended
// slice. The error is always nil; it is there for [encoding.TextAppender].
//
// Numbers are decimal, floats as short as they can be without losing a bit, a
// NaN other than [math.NaN] with its bits. Strings are quoted as in Go, bytes
// are hexadecimal. Byte 16 of segment 3 is seg3+16, on device 1 seg3+16@1.
// Arrays are [1 2 3], statuses {source=1, tag=99, error=0}.
func (v Value) AppendText(dst []byte) ([]byte, error) { return v.appendText(dst), nil }

func (v *Value) appendText(dst []byte) []byte {
	switch v.head.kind {
	case KindInt, KindRank, KindTag, KindHandle:
		return strconv.AppendInt(dst, v.a, 10)
	case KindFloat:
		return appendFloat(dst, v.Float())
	case KindString:
		return strconv.AppendQuote(dst, v.text())
	case KindBytes:
		return hex.AppendEncode(append(dst, "0x"...), []byte(v.text()))
	case KindPointer:
		dst = fmt.Appendf(dst, "seg%d%+d", v.a, v.b)
		if device := v.third(); device != 0 {
			dst = fmt.Appendf(dst, "@%d", device)
		}
		return dst
	case KindStatus:
		return fmt.Appendf(dst, "{source=%d, tag=%d, error=%d}", v.a, v.b, v.third())
	case KindArray:
		dst = append(dst, '[')
		for i, e := range v.list() {
			if i > 0 {
				dst = append(dst, ' ')
			}
			dst = e.appendText(dst)
		}
		return append(dst, ']')
	}
	return append(dst, v.head.kind.String()...)
}

func appendFloat(dst []byte, f float64) []byte {
	if bits := math.Float64bits(f); f != f && bits != math.Float64bits(math.NaN()) {
		return fmt.Appendf(dst, "NaN(%#x)", bits)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}

// AppendCall appends a call of f as it is written in listings, such as
// MPI_Bcast(buffer=seg3+0, count=1, datatype=2, root=0, comm=0), and returns the
// extended slice. Names that do not print as they are, are quoted. It panics if
// the number of arguments is not that of f's parameters.
func AppendCall(dst []byte, f Function, args []Value) []byte {
	f.checkArity(args)
	dst = append(appendName(dst, f.Name), '(')
	for i, p := range f.Params {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(appendName(dst, p.Name), '=')
		dst = args[i].appendText(dst)
	}
	return append(dst, ')')
}

// appendName appends a name, which may come from a file, as people can read it.
func appendName(dst []byte, name string) []byte {
	for _, r := range name {
		if r == utf8.RuneError || !strconv.IsPrint(r) {
			return strconv.AppendQuote(dst, name)
		}
	}
	return append(dst, name...)
}
