package columns

import (
	"fmt"
	"iter"
	"math"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
)

// A Column is an immutable sequence of integers, one for each position of a
// [Domain], in the encoding that takes the fewest bytes. It is read without
// expanding it. Its methods may be called from several goroutines at once. The
// zero Column is empty.
type Column struct {
	domain Domain
	body   body // nil if the column is empty
	length int
	ranked bool // the body needs the ranks of the domain
}

// newColumn returns a column of a body, which is nil if d is empty.
func newColumn(d Domain, b body) Column {
	c := Column{domain: d, body: b, length: d.len()}
	if e, ok := b.(exprBody); ok {
		_, constant := e.Constant()
		c.ranked = !constant
	} else {
		_, sums := b.(*rowSums)
		c.ranked = b != nil && !c.Plain() && !sums
	}
	return c
}

// A body is an encoding of values.
type body interface {
	// at returns the i-th value, which is that of rank in a group of size
	// processes.
	at(i int, rank, size int64) int64
	// append appends the encoding to dst.
	append(dst []byte) []byte
	// text says which encoding it is.
	text() string
}

// The first byte of a column that is no expression says which encoding it is. Expressions begin with
// other bytes.
const (
	headColumns  = 0x20 // first of them
	headNoColumn = 0x40 // first after them
)

// isColumn reports whether what begins with head is another encoding than an expression.
func isColumn(head byte) bool { return head >= headColumns && head < headNoColumn }

// Numbers of the encodings of columns that are no expression.
const (
	headRuns = headColumns + iota
	headPacked
	headDictionary
	headDeltas
	headPieces
	headRelative
	headRowSums
)

// exprBody is an expression as a body.
type exprBody struct{ rankenc.Expr }

func (b exprBody) at(_ int, rank, size int64) int64 { return b.Eval(rank, size) }
func (b exprBody) text() string                     { return b.String() }
func (b exprBody) append(dst []byte) []byte {
	dst, _ = b.AppendBinary(dst)
	return dst
}

// NewColumn returns the column of values, of which values[i] is that of the i-th
// position of d. It does not retain values. Which encoding it chooses depends on
// nothing but the arguments. It takes time in proportion to the number of
// values, which must be that of the positions of d, or it panics.
func NewColumn(d Domain, values []int64, o Options) Column {
	if d.len() != len(values) {
		panic("columns: not as many values as ranks")
	}
	if len(values) == 0 {
		return newColumn(d, nil)
	}
	if o.Plain {
		b, _ := smallestPlain(values, nil, math.MaxInt)
		return newColumn(d, b)
	}
	return newColumn(d, smallest(d.List(), values, int64(d.Size), o))
}

// enough is the number of bytes of an expression below which no other encoding
// is tried.
const enough = 4

// smallest returns the encoding of values, of which there are some, that takes
// the fewest bytes, and the first of several.
func smallest(ranks, values []int64, size int64, o Options) body {
	least := math.MaxInt
	var best body
	if e, ok := o.fit(ranks, values, size); ok {
		best = exprBody{e}
		least = len(best.append(nil))
		if least <= enough {
			return best
		}
		best, _ = smallestPlain(values, best, least)
		return best
	}
	best, least = smallestPlain(values, best, least)
	if p := fitPieces(ranks, values, size, o, least); p != nil {
		if n := len(p.append(nil)); n < least {
			best, least = p, n
		}
	}
	if o.Ranks {
		if r := newRelative(ranks, values, size, least); r != nil {
			best = r
		}
	}
	return best
}

// smallestPlain returns best, which takes least bytes, or an encoding of values
// that takes fewer and does not depend on ranks, with the bytes that it takes.
func smallestPlain(values []int64, best body, least int) (body, int) {
	for _, encode := range plainEncodings {
		if b := encode(values, least); b != nil {
			if n := len(b.append(nil)); n < least {
				best, least = b, n
			}
		}
	}
	return best, least
}

// plainEncodings lists functions that return an encoding of values, or nil if it
// would not take less than limit bytes.
var plainEncodings = []func(values []int64, limit int) body{
	newRuns,
	newPacked,
	newDictionary,
	newDeltas,
}

// Len returns the number of values.
func (c Column) Len() int { return c.length }

// At returns the value at position i, 0 ≤ i < c.Len(). It takes time logarithmic
// in the bytes of the encoding at most, plus what it takes to find the rank at
// position i.
func (c Column) At(i int) int64 {
	if i < 0 || i >= c.Len() {
		panic(fmt.Sprintf("columns: value number %d of %d", i, c.Len()))
	}
	if !c.ranked {
		return c.body.at(i, 0, int64(c.domain.Size))
	}
	return c.body.at(i, int64(c.domain.Ranks.At(i)), int64(c.domain.Size))
}

// All returns an iterator over the positions and values of c, in ascending order.
func (c Column) All() iter.Seq2[int, int64] {
	return func(yield func(int, int64) bool) {
		if s, ok := c.domain.Ranks.(rankenc.Set); ok {
			for i, r := range s.All() {
				if !yield(i, c.body.at(i, int64(r), int64(c.domain.Size))) {
					return
				}
			}
			return
		}
		for i := range c.Len() {
			if !yield(i, c.At(i)) {
				return
			}
		}
	}
}

// Expr returns the expression that c is, and whether it is one. An empty column
// is the constant 0.
func (c Column) Expr() (rankenc.Expr, bool) {
	if c.body == nil {
		return rankenc.Expr{}, true
	}
	b, ok := c.body.(exprBody)
	return b.Expr, ok
}

// IsPlain reports whether an encoding of a column that is not empty depends on its values alone, and not on the
// ranks of its domain.
func IsPlain(encoding []byte) bool {
	head := encoding[0]
	return headRuns <= head && head <= headDeltas
}

// Plain reports whether the encoding of c depends on its values alone, and not on the
// ranks of its domain.
func (c Column) Plain() bool {
	switch c.body.(type) {
	case *runs, *packed, *dictionary, *deltas:
		return true
	}
	return false
}

// String says how c is encoded: the expression it is, or the name of the
// encoding, such as "12 runs".
func (c Column) String() string {
	if c.body == nil {
		return rankenc.Expr{}.String()
	}
	return c.body.text()
}

// AppendBinary appends the encoding of c, without that of its domain, to dst and
// returns the extended slice. The error is always nil; it is there for
// [encoding.BinaryAppender].
func (c Column) AppendBinary(dst []byte) ([]byte, error) {
	if c.body == nil {
		return rankenc.Expr{}.AppendBinary(dst)
	}
	return c.body.append(dst), nil
}

// ParseColumn decodes a column over domain that fills data, unless [RowSumsOf] says that it is another. It does
// not retain data.
func ParseColumn(data []byte, domain Domain) (Column, error) {
	return parse(data, "column", func(d *wire.Decoder) Column { return DecodeColumn(d, domain) })
}

// DecodeColumn reads a column over domain. If it fails, d has an error and the column is empty.
func DecodeColumn(d *wire.Decoder, domain Domain) Column {
	at := d.Offset()
	b := decodeBody(d, domain.len(), true)
	if b, ok := b.(exprBody); domain.len() == 0 && d.Err() == nil && (!ok || b.Expr != rankenc.Expr{}) {
		d.Corrupt(at, "column", "values at no position")
	}
	if d.Err() != nil {
		return Column{}
	}
	if domain.len() == 0 {
		return newColumn(domain, nil)
	}
	return newColumn(domain, b)
}

// decodeBody reads an encoding of count values, which may be one that has another
// in it or not.
func decodeBody(d *wire.Decoder, count int, nested bool) body {
	if d.Err() != nil {
		return nil
	}
	at := d.Offset()
	head := d.Peek()
	if !isColumn(head) {
		return exprBody{decodeExpr(d)}
	}
	d.Byte("encoding")
	switch {
	case head == headRuns:
		return decodeRuns(d, count)
	case head == headPacked:
		return decodePacked(d, count)
	case head == headDictionary:
		return decodeDictionary(d, count)
	case head == headDeltas:
		return decodeDeltas(d, count)
	case head == headPieces && nested:
		return decodePieces(d, count)
	case head == headRelative && nested:
		return relative{decodeBody(d, count, false)}
	}
	d.Corrupt(at, "encoding", "%d", head)
	return nil
}

// decodeExpr reads an expression.
func decodeExpr(d *wire.Decoder) rankenc.Expr { return wire.Embed(d, rankenc.ParseExpr) }
