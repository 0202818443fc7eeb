package rankenc

import (
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
)

// An Expr is a closed form of a value in the rank of a process and the size of
// the group it is in. Exprs are comparable. The zero Expr is the constant 0.
type Expr struct {
	family uint8 // index into families
	params params
}

// params are the parameters of an expression, as many as its family has, the
// extents of a process grid first. The others are zero.
type params [6]int64

// A family is a kind of expression. Everything that the package knows of one is
// its row in families.
type family struct {
	// form is what all its expressions have in common, such as (rank+c) mod N.
	form string
	// params is the number of parameters. The first extents of them are lengths
	// of a process grid, from 1 to maxExtent.
	params, extents int
	// rim says that the last parameter is a value that stands for no rank: the
	// family may yield it although it is negative.
	rim bool
	// fit calls try with parameters that might yield the values of s. It need not
	// be sure: try evaluates the expression for every rank. It takes time in
	// proportion to s, and calls try a bounded number of times.
	fit func(s *sample, try func(params))
	// eval returns the value for rank in a group of size processes. It is total:
	// arithmetic wraps around, and extents are within their range.
	eval func(p params, rank, size int64) int64
	// text returns the expression as text.
	text func(p params) string
}

// maxExtent bounds the extents of a process grid, so that the product of two of
// them does not overflow.
const maxExtent = 1 << 31

// families lists the families by their numbers in encodings. Of expressions that
// take equally many bytes the first is preferred. A new family goes to the end.
var families = []family{
	constantNumber: constantFamily,
	shiftNumber:    shiftFamily,
	ringNumber:     ringFamily,
	3:              lineFamily,
	4:              linearFamily,
	xorNumber:      xorFamily,
	6:              digitsFamily,
	7:              threeDigitsFamily,
	8:              torusFamily,
	9:              gridFamily,
	10:             torus3Family,
	11:             grid3Family,
	12:             residuesFamily,
	13:             blocksFamily,
	14:             interiorsFamily,
	15:             cellsFamily,
}

const (
	constantNumber = 0
	shiftNumber    = 1
	ringNumber     = 2
	xorNumber      = 5
)

// Constant returns the expression that is value for every rank.
func Constant(value int64) Expr { return Expr{constantNumber, params{value}} }

// Shift returns the expression rank + c.
func Shift(c int64) Expr { return Expr{shiftNumber, params{c}} }

// Ring returns the expression (rank + c) mod N, for groups of size processes.
// It panics if there are none.
func Ring(c, size int64) Expr {
	if size <= 0 {
		panic(fmt.Sprintf("rankenc: a ring of %d processes", size))
	}
	return Expr{ringNumber, params{center(c, size)}}
}

// Xor returns the expression rank xor c, the partner in a butterfly or a hypercube.
func Xor(c int64) Expr { return Expr{xorNumber, params{c}} }

// Eval returns the value for rank in a group of size processes. Arithmetic wraps
// around on overflow.
func (e Expr) Eval(rank, size int64) int64 {
	return families[e.family].eval(e.params, rank, size)
}

// Constant reports whether e is the same for every rank, and which value it is.
func (e Expr) Constant() (int64, bool) { return e.params[0], e.family == constantNumber }

// Shift reports whether e is the rank plus a constant, and which.
func (e Expr) Shift() (int64, bool) { return e.params[0], e.family == shiftNumber }

// String returns e as text, such as "(rank+1) mod N".
func (e Expr) String() string { return families[e.family].text(e.params) }

// The first byte of an expression is the number of its family, which is below 0x20, or one of the
// most frequent expressions. From 0x20 to 0x3f it is that of other encodings of values, see internal/columns.
const (
	headConstants = 0x40 // the constant minConstant
	headShifts    = 0xc0 // rank + minShift

	minConstant, maxConstant = -16, minConstant + headShifts - headConstants - 1
	minShift, maxShift       = -32, minShift + 0xff - headShifts
)

// shortHead returns the byte that is the whole encoding of e, if there is one.
func (e Expr) shortHead() (byte, bool) {
	v := e.params[0]
	switch {
	case e.family == constantNumber && v >= minConstant && v <= maxConstant:
		return byte(v - minConstant + headConstants), true
	case e.family == shiftNumber && v >= minShift && v <= maxShift:
		return byte(v - minShift + headShifts), true
	}
	return 0, false
}

// AppendBinary appends the encoding of e to dst and returns the extended slice.
// The error is always nil; it is there for [encoding.BinaryAppender].
func (e Expr) AppendBinary(dst []byte) ([]byte, error) { return e.append(dst), nil }

func (e Expr) append(dst []byte) []byte {
	if head, ok := e.shortHead(); ok {
		return append(dst, head)
	}
	f := &families[e.family]
	dst = append(dst, e.family)
	for _, v := range e.params[:f.extents] {
		dst = wire.AppendUvarint(dst, uint64(v-1))
	}
	for _, v := range e.params[f.extents:f.params] {
		dst = wire.AppendVarint(dst, v)
	}
	return dst
}

// ParseExpr decodes the expression that data begins with, and returns the bytes after it. An
// error says where and why data was rejected. It wraps [io.ErrUnexpectedEOF] if data ends too soon.
func ParseExpr(data []byte) (e Expr, rest []byte, err error) {
	d := wire.NewDecoder("rankenc", data)
	e = decodeExpr(&d)
	return e, data[d.Offset():], d.Err()
}

// decodeExpr reads an expression. If it fails, d has an error and the expression is zero.
func decodeExpr(d *wire.Decoder) Expr {
	at := d.Offset()
	head := d.Byte("family")
	switch {
	case d.Err() != nil:
		return Expr{}
	case head >= headShifts:
		return Shift(int64(head) - headShifts + minShift)
	case head >= headConstants:
		return Constant(int64(head) - headConstants + minConstant)
	case int(head) >= len(families):
		d.Corrupt(at, "family", "%d of %d", head, len(families))
		return Expr{}
	}
	e := Expr{family: head}
	f := &families[head]
	for i := range f.extents {
		e.params[i] = int64(d.UvarintMax("extent", maxExtent-1)) + 1
	}
	for i := f.extents; i < f.params; i++ {
		e.params[i] = d.Varint("parameter")
	}
	if _, short := e.shortHead(); short && d.Err() == nil {
		d.Corrupt(at, "family", "%v has a shorter encoding", e)
	}
	if d.Err() != nil {
		return Expr{}
	}
	return e
}

// Form returns the form of e, which all expressions of its family share, such as
// (rank+c) mod N, and the parameters of e, such as c, in the order of its encoding.
func (e Expr) Form() (form string, parameters []int64) {
	f := &families[e.family]
	return f.form, slices.Clone(e.params[:f.params])
}

// floorDiv returns v/n rounded down, n > 0.
func floorDiv(v, n int64) int64 {
	q := v / n
	if v%n < 0 {
		q--
	}
	return q
}

// floorMod returns v − n·floorDiv(v, n), which is in 0 … n−1.
func floorMod(v, n int64) int64 {
	if v %= n; v < 0 {
		v += n
	}
	return v
}

// center returns the number congruent to v modulo n, n > 0, of smallest
// magnitude, and the positive one of two.
func center(v, n int64) int64 {
	if v = floorMod(v, n); v > n/2 {
		v -= n
	}
	return v
}

// plus returns name followed by c with its sign, or name alone if c is zero.
func plus(name string, c int64) string {
	if c == 0 {
		return name
	}
	return fmt.Sprintf("%s%+d", name, c)
}

// times returns the product of a and name as text.
func times(a int64, name string) string {
	if a == 1 {
		return name
	}
	return fmt.Sprintf("%d·%s", a, name)
}

// sum returns the sum of the products of factors and names, and c, as text.
func sum(factors []int64, names []string, c int64) string {
	var text string
	for i, a := range factors {
		switch {
		case a == 0:
		case text == "":
			text = times(a, names[i])
		case a < 0:
			text += " - " + times(-a, names[i])
		default:
			text += " + " + times(a, names[i])
		}
	}
	if text == "" {
		return fmt.Sprint(c)
	}
	return plus(text, c)
}

// rowsOf returns the number of rows of k processes, k > 0, that hold a group of
// size processes, at least 1.
func rowsOf(size, k int64) int64 {
	if size <= k {
		return 1
	}
	return (size-1)/k + 1
}

// splitRows returns how many rows and planes of m rows of k processes lie
// between rank and the row that is rest rows further.
func splitRows(rank, rest, k, m int64) (rows, planes int64) {
	from := floorDiv(rank, k)
	to := from + rest
	return floorMod(to, m) - floorMod(from, m), floorDiv(to, m) - floorDiv(from, m)
}
