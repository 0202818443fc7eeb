package ti

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/cst"
)

// A form is a function and how its calls are written.
type form struct {
	function cst.Function
	fixed    int  // parameters that take one field each
	arrays   int  // parameters that take equal parts of the other fields
	text     bool // one parameter takes all of the other fields, blanks included
	blank    bool // a blank ends the line
	loose    bool // the last parameter is the text that is written, of which the others tell

	// Invariant: arrays == 0 or !text.
}

// spelled is the parameter that a loose form has after those of another.
var spelled = field("text", cst.KindString)

// loosened returns the form of lines that f would write but for blanks and the spelling of
// numbers, and whether there is one.
func (f form) loosened() (form, bool) {
	if f.text || f.arrays > 0 && f.blank { // the blank tells it from others with arrays
		return f, false
	}
	f.loose = true
	f.function.Params = append(slices.Clip(f.function.Params), spelled)
	return f, true
}

func makeForm(action string, fields []cst.Param) form {
	f := form{function: cst.Function{Name: action}}
	for _, p := range fields {
		switch p.Type.Kind {
		case 0:
			f.blank = true
			continue
		case cst.KindArray:
			f.arrays++
		case cst.KindString:
			f.text = true
		default:
			f.fixed++
		}
		f.function.Params = append(f.function.Params, p)
	}
	return f
}

// parse returns the arguments of the call that s writes: an action and its
// fields. It accepts s only if append writes it again, byte for byte.
func (f *form) parse(s string) (args []cst.Value, ok bool) {
	rest, ok := strings.CutPrefix(s, f.function.Name)
	if !ok || rest != "" && rest[0] != ' ' {
		return nil, false
	}
	if f.loose {
		return f.parseLoosely(rest)
	}
	if f.blank {
		if rest, ok = strings.CutSuffix(rest, " "); !ok {
			return nil, false
		}
	}
	if args, ok = f.values(rest, f.function.Params); !ok {
		return nil, false
	}
	var scratch [128]byte
	return args, string(f.append(scratch[:0], args)) == s
}

// parseLoosely is parse for a loose form, of what follows the action.
func (f *form) parseLoosely(rest string) (args []cst.Value, ok bool) {
	if rest == "" {
		return nil, false
	}
	var fields strings.Builder
	for field := range strings.SplitSeq(rest, " ") {
		if field != "" {
			fields.WriteString(" " + field)
		}
	}
	args, ok = f.values(fields.String(), f.function.Params[:len(f.function.Params)-1])
	return append(args, cst.String(rest[1:])), ok
}

// values returns the values of parameters that fields are, a blank before each.
func (f *form) values(rest string, params []cst.Param) (args []cst.Value, ok bool) {
	variable := strings.Count(rest, " ") - f.fixed
	if variable < 0 || f.arrays == 0 && !f.text && variable > 0 {
		return nil, false
	}
	args = make([]cst.Value, 0, len(f.function.Params))
	for _, p := range params {
		var v cst.Value
		switch p.Type.Kind {
		case cst.KindArray:
			v, rest, ok = cutArray(rest, variable/f.arrays, p.Type.Elem.Kind)
		case cst.KindString:
			v, rest, ok = cutText(rest, variable)
		default:
			v, rest, ok = cutValue(rest, p.Type.Kind)
		}
		if !ok {
			return nil, false
		}
		args = append(args, v)
	}
	return args, rest == ""
}

// cutField returns the first field of s, in which a blank precedes every field,
// and what follows it.
func cutField(s string) (field, rest string) {
	s = s[1:]
	if i := strings.IndexByte(s, ' '); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// cutValue returns the value of the first field of s and what follows it.
func cutValue(s string, k cst.Kind) (v cst.Value, rest string, ok bool) {
	field, rest := cutField(s)
	if k == cst.KindFloat {
		x, err := strconv.ParseFloat(field, 64)
		return cst.Float(x), rest, err == nil
	}
	n, err := strconv.ParseInt(field, 10, 64)
	switch k {
	case cst.KindRank:
		v = cst.Rank(n)
	case cst.KindTag:
		v = cst.Tag(n)
	case cst.KindHandle:
		v = cst.Handle(n)
	default:
		n, err = parseCount(field)
		v = cst.Int(n)
	}
	return v, rest, err == nil
}

// parseCount returns the integer that a field is, which may be spelled as a float.
func parseCount(field string) (int64, error) {
	n, err := strconv.ParseInt(field, 10, 64)
	if err == nil {
		return n, nil
	}
	const exact = 1 << 53
	if x, ferr := strconv.ParseFloat(field, 64); ferr == nil && x == math.Trunc(x) && math.Abs(x) <= exact {
		return int64(x), nil
	}
	return 0, err
}

// cutArray returns the first n fields of s as an array and what follows them.
func cutArray(s string, n int, k cst.Kind) (v cst.Value, rest string, ok bool) {
	elems := make([]cst.Value, n)
	for i := range elems {
		if elems[i], s, ok = cutValue(s, k); !ok {
			return v, s, false
		}
	}
	return cst.Array(elems...), s, true
}

// cutText returns the first n fields of s as one string and what follows them.
func cutText(s string, n int) (v cst.Value, rest string, ok bool) {
	if n == 0 {
		return v, s, false
	}
	rest = s
	for range n {
		_, rest = cutField(rest)
	}
	return cst.String(s[1 : len(s)-len(rest)]), rest, true
}

// append appends the action and the fields. The arguments have the declared
// types.
func (f *form) append(dst []byte, args []cst.Value) []byte {
	dst = append(dst, f.function.Name...)
	if f.loose {
		return append(append(dst, ' '), args[len(args)-1].Text()...)
	}
	for _, v := range args {
		if v.Kind() == cst.KindArray {
			for i := range v.Len() {
				dst = appendValue(append(dst, ' '), v.Index(i))
			}
			continue
		}
		dst = appendValue(append(dst, ' '), v)
	}
	if f.blank {
		dst = append(dst, ' ')
	}
	return dst
}

func appendValue(dst []byte, v cst.Value) []byte {
	switch v.Kind() {
	case cst.KindFloat:
		return appendFloat(dst, v.Float())
	case cst.KindString:
		return append(dst, v.Text()...)
	}
	return strconv.AppendInt(dst, v.Int(), 10)
}

// appendFloat appends x as C's %g does.
func appendFloat(dst []byte, x float64) []byte {
	switch {
	case math.IsNaN(x):
		return append(dst, "nan"...)
	case math.IsInf(x, 1):
		return append(dst, "inf"...)
	case math.IsInf(x, -1):
		return append(dst, "-inf"...)
	}
	return strconv.AppendFloat(dst, x, 'g', 6, 64)
}

// check reports why args are not arguments that f can write.
func (f *form) check(args []cst.Value) error {
	if len(args) != len(f.function.Params) {
		return fmt.Errorf("%d arguments for %d parameters", len(args), len(f.function.Params))
	}
	length := -1 // of the arrays
	for i, p := range f.function.Params {
		v := args[i]
		if v.Kind() != p.Type.Kind {
			return fmt.Errorf("%s is of kind %v, not %v", p.Name, v.Kind(), p.Type.Kind)
		}
		switch v.Kind() {
		case cst.KindArray:
			if length >= 0 && v.Len() != length {
				return fmt.Errorf("%s has %d elements, not %d", p.Name, v.Len(), length)
			}
			length = v.Len()
			for j := range length {
				if k := v.Index(j).Kind(); k != p.Type.Elem.Kind {
					return fmt.Errorf("element %d of %s is of kind %v, not %v", j, p.Name, k, p.Type.Elem.Kind)
				}
			}
		case cst.KindString:
			if i := badByte(v.Text()); i >= 0 {
				return fmt.Errorf("%s has byte %#02x at %d", p.Name, v.Text()[i], i)
			}
		}
	}
	return nil
}
