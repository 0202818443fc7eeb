package proxy

import (
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/rankenc"
)

// expressionInC returns e in C, of int variables rank and size, for groups of size processes, and nothing
// if there is no short text for it that does not overflow. A number that may stand for no rank is written
// by name.
func expressionInC(e rankenc.Expr, size int64, name func(int64) string) string {
	const (
		most     = 1 << 20 // of a parameter
		mostSize = 1 << 10 // of a group, where a rank is multiplied by a parameter
	)
	form, p := e.Form()
	if v, ok := e.Constant(); ok && size > 0 {
		return name(v)
	}
	if size < 1 || slices.ContainsFunc(p, func(v int64) bool { return v > most || v < -most }) {
		return ""
	}
	switch form {
	case "rank+c":
		return plusInC("rank", p[0])
	case "(rank+c) mod N":
		switch {
		case p[0] >= 0:
			return "(" + plusInC("rank", p[0]) + ") % size"
		case p[0] >= -size:
			return "(" + plusInC("rank + size", p[0]) + ") % size"
		}
	case "rank+c or rim":
		condition := "rank < size - " + fmt.Sprint(p[0])
		if p[0] < 0 {
			condition = "rank >= " + fmt.Sprint(-p[0])
		}
		return condition + " ? " + plusInC("rank", p[0]) + " : " + name(p[1])
	case "a·rank+b":
		if size <= mostSize {
			return plusInC(fmt.Sprintf("%d * rank", p[0]), p[1])
		}
	case "rank xor c":
		return fmt.Sprintf("rank ^ %d", p[0])
	}
	return ""
}

// plusInC returns the sum of an expression and a constant in C.
func plusInC(text string, c int64) string {
	switch {
	case c > 0:
		return fmt.Sprintf("%s + %d", text, c)
	case c < 0:
		return fmt.Sprintf("%s - %d", text, -c)
	}
	return text
}
