package columns

import (
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
)

// Numbers of the encodings of matrices, as their first byte.
const (
	headOldSame = iota // the first three are in older files only
	headOldTransposed
	headOldSums
	headEqualRows
	headSingle // one distinct column
	headDistinct
	headFlat
	headChanged
	headCounted
	headSame // these in the order of the first three
	headTransposed
	headSums
)

// oldTogether is what the numbers of references in older files are counted from: the last
// multiple of it in the list.
const oldTogether = 8

// maxLen is the largest number of rows, and of elements in a row, that are
// accepted where an encoding needs them to be looked through.
const maxLen = 1 << 22

// AppendBinary appends the encoding of m, without that of its domain and of the
// matrices that it refers to, to dst and returns the extended slice. The error
// is always nil; it is there for [encoding.BinaryAppender].
func (m Matrix) AppendBinary(dst []byte) ([]byte, error) {
	if m.body == nil {
		return (&equalRows{}).append(dst), nil
	}
	return m.body.append(dst), nil
}

func (b *equalRows) append(dst []byte) []byte {
	dst = append(dst, headEqualRows)
	dst = wire.AppendUvarint(dst, uint64(b.row.Len()))
	dst, _ = b.row.AppendBinary(dst)
	return dst
}

func (b *columns) append(dst []byte) []byte {
	if len(b.distinct) == 1 {
		dst = append(dst, headSingle)
		dst = wire.AppendUvarint(dst, uint64(b.number.Len()))
	} else {
		dst = append(dst, headDistinct)
		dst = wire.AppendUvarint(dst, uint64(b.number.Len()))
		dst, _ = b.number.AppendBinary(dst)
		dst = wire.AppendUvarint(dst, uint64(len(b.distinct)))
	}
	for _, c := range b.distinct {
		dst, _ = c.AppendBinary(dst)
	}
	return dst
}

func (b *flat) append(dst []byte) []byte {
	dst, _ = b.lengths.AppendBinary(append(dst, headFlat))
	dst, _ = b.values.AppendBinary(dst)
	return dst
}

func (b same) append(dst []byte) []byte {
	return wire.AppendUvarint(append(dst, headSame), uint64(b.after))
}

func (b transposed) append(dst []byte) []byte {
	return wire.AppendUvarint(append(dst, headTransposed), uint64(b.after))
}

func (b *sums) append(dst []byte) []byte {
	dst = wire.AppendUvarint(append(dst, headSums), uint64(b.after))
	dst, _ = b.base.AppendBinary(dst)
	return wire.AppendVarint(dst, b.scale)
}

// ParseMatrix decodes a matrix over domain that fills data. It does not retain data.
// Others are the matrices that the one encoded was made with.
func ParseMatrix(data []byte, domain Domain, others []Matrix) (Matrix, error) {
	return parse(data, "matrix", func(d *wire.Decoder) Matrix { return decodeMatrix(d, domain, others) })
}

// ReferenceOf returns which of so many matrices that it is parsed with an encoded matrix
// refers to, and whether it refers to one of them: the others need not be there.
func ReferenceOf(enc []byte, matrices int) (number int, ok bool) {
	d := wire.NewDecoder("rankenc", enc)
	head := d.Byte("encoding")
	v := d.Uvarint("matrix")
	if d.Err() != nil || v > maxLen {
		return 0, false
	}
	switch head {
	case headOldSame, headOldTransposed, headOldSums:
		number = matrices - matrices%oldTogether + int(v)
	case headSame, headTransposed, headSums:
		number = matrices - 1 - int(v)
	case headChanged:
		number = int(v >> 1)
	default:
		return 0, false
	}
	return number, number >= 0 && number < matrices
}

func decodeMatrix(d *wire.Decoder, domain Domain, others []Matrix) Matrix {
	at := d.Offset()
	head := d.Byte("encoding")
	if d.Err() != nil {
		return Matrix{}
	}
	var b matrixBody
	switch head {
	case headCounted:
		b = decodeCounted(d, domain)
	case headChanged:
		b = decodeChanged(d, domain, others)
	case headOldSame, headOldTransposed, headOldSums, headSame, headTransposed, headSums:
		b = decodeReference(d, head, domain, others)
	case headEqualRows:
		b = &equalRows{DecodeColumn(d, elements(decodeLen(d)))}
	case headSingle, headDistinct:
		b = decodeColumns(d, head, domain)
	case headFlat:
		b = decodeFlat(d, domain)
	default:
		d.Corrupt(at, "encoding", "%d", head)
	}
	if d.Err() != nil {
		return Matrix{}
	}
	return Matrix{domain, domain.len(), b}
}

// decodeLen reads the length of a row.
func decodeLen(d *wire.Decoder) int { return int(d.UvarintMax("length", rankenc.MaxRank+1)) }

func decodeColumns(d *wire.Decoder, head byte, domain Domain) matrixBody {
	at := d.Offset()
	n := decodeLen(d)
	if n == 0 {
		d.Corrupt(at, "length", "0 columns")
		return nil
	}
	b := &columns{}
	distinct := 1
	if head == headSingle {
		b.number = newColumn(elements(n), exprBody{rankenc.Constant(0)})
	} else {
		if n > maxLen {
			d.Limit(at, "length", "%d elements, more than %d", n, maxLen)
			return nil
		}
		at = d.Offset()
		b.number = DecodeColumn(d, elements(n))
		distinctAt := d.Offset()
		distinct = d.Count("distinct", 1)
		if distinct < 2 {
			d.Corrupt(distinctAt, "distinct", "%d columns", distinct)
		}
		if d.Err() != nil {
			return nil
		}
		for j, v := range b.number.All() {
			if v < 0 || v >= int64(distinct) {
				d.Corrupt(at, "number", "column %d of %d for element %d", v, distinct, j)
				return nil
			}
		}
	}
	for i := 0; i < distinct && d.Err() == nil; i++ {
		b.distinct = append(b.distinct, DecodeColumn(d, domain))
	}
	return b
}

func decodeFlat(d *wire.Decoder, domain Domain) matrixBody {
	at := d.Offset()
	b := &flat{lengths: DecodeColumn(d, domain)}
	if d.Err() != nil {
		return nil
	}
	e, isExpr := b.lengths.Expr()
	if _, constant := e.Constant(); !(isExpr && constant) && domain.len() > maxLen {
		d.Limit(at, "lengths", "%d rows, more than %d", domain.len(), maxLen)
		return nil
	}
	total, ok := b.index(maxLen)
	switch {
	case total < 0:
		d.Corrupt(at, "lengths", "%d elements", total)
		return nil
	case !ok || total > rankenc.MaxRank:
		d.Limit(at, "lengths", "%d elements", total)
		return nil
	}
	b.values = DecodeColumn(d, elements(total))
	return b
}

// lastReference reads how many of so many matrices stand after the one that is meant, and
// returns its number.
func lastReference(d *wire.Decoder, matrices int) (number int) {
	at := d.Offset()
	after := d.Uvarint("matrix")
	if after >= uint64(matrices) {
		d.Corrupt(at, "matrix", "%d before the last of %d", after, matrices)
		return 0
	}
	return matrices - 1 - int(after)
}

// oldReference is lastReference of older files, which have the number itself, from the last
// multiple of oldTogether on.
func oldReference(d *wire.Decoder, matrices int) (number int) {
	at := d.Offset()
	v := d.Uvarint("matrix")
	if v >= uint64(matrices%oldTogether) {
		d.Corrupt(at, "matrix", "number %d of %d", v, matrices%oldTogether)
		return 0
	}
	return matrices - matrices%oldTogether + int(v)
}

func decodeReference(d *wire.Decoder, head byte, domain Domain, others []Matrix) matrixBody {
	at := d.Offset()
	number := 0
	if head < headEqualRows {
		head += headSame - headOldSame
		number = oldReference(d, len(others))
	} else {
		number = lastReference(d, len(others))
	}
	if d.Err() != nil {
		return nil
	}
	level := copyLevel
	if head == headSums {
		level = sumLevel
	}
	r, ok := refer(domain, others, number, level)
	if !ok || head == headTransposed && !square(domain, r.other) {
		d.Corrupt(at, "matrix", "number %d has another form", number)
		return nil
	}
	switch head {
	case headSame:
		return same{r}
	case headTransposed:
		return transposed{r}
	}
	return &sums{r, DecodeColumn(d, domain), d.Varint("scale")}
}
