package parquet

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/reprise-trace/reprise/export/internal/rows"
)

// maxBound is the longest text that is a bound, in bytes.
const maxBound = 1 << 10

// bounds are the min and max of values of a type. The zero bounds are of none.
type bounds struct {
	any         bool
	unknown     bool // a value is NaN, or a text too long
	least, most int64
	low, high   float64
	first, last string
}

// add takes note of a value.
func (b *bounds) add(t rows.Type, cell rows.Cell) {
	switch t {
	case rows.Float:
		b.float(cell.Float, cell.Float)
	case rows.Text:
		b.text(cell.Text, cell.Text)
	default:
		b.span(cell.Int, cell.Int)
	}
}

// span takes note of integers.
func (b *bounds) span(least, most int64) {
	if !b.any {
		b.least, b.most, b.any = least, most, true
	}
	b.least, b.most = min(b.least, least), max(b.most, most)
}

func (b *bounds) float(low, high float64) {
	if math.IsNaN(low) {
		b.unknown = true
		return
	}
	if !b.any {
		b.low, b.high, b.any = low, high, true
	}
	b.low, b.high = min(b.low, low), max(b.high, high) // −0 is less than 0
}

func (b *bounds) text(first, last string) {
	if len(first) > maxBound || len(last) > maxBound {
		b.unknown = true
		return
	}
	if !b.any {
		b.first, b.last, b.any = first, last, true
	}
	b.first, b.last = min(b.first, first), max(b.last, last)
}

// merge takes note of the values of others.
func (b *bounds) merge(t rows.Type, o *bounds) {
	switch b.unknown = b.unknown || o.unknown; {
	case !o.any:
	case t == rows.Float:
		b.float(o.low, o.high)
	case t == rows.Text:
		b.text(o.first, o.last)
	default:
		b.span(o.least, o.most)
	}
}

// encode returns the min and max as statistics have them; nothing if they are not known.
func (b *bounds) encode(t rows.Type) (least, most []byte) {
	if !b.any || b.unknown {
		return nil, nil
	}
	switch t {
	case rows.Float:
		low, high := b.low, b.high
		if low == 0 {
			low = math.Copysign(0, -1)
		}
		if high == 0 {
			high = 0
		}
		return appendWord(math.Float64bits(low)), appendWord(math.Float64bits(high))
	case rows.Text:
		return []byte(b.first), []byte(b.last)
	}
	return appendWord(uint64(b.least)), appendWord(uint64(b.most))
}

func appendWord(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

// compare compares two bounds of a type that were encoded.
func compare(t rows.Type, a, b []byte) int {
	word := func(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }
	switch t {
	case rows.Float:
		return cmpLess(math.Float64frombits(word(a)), math.Float64frombits(word(b)))
	case rows.Text:
		return bytes.Compare(a, b)
	}
	return cmpLess(int64(word(a)), int64(word(b)))
}

func cmpLess[T int64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// A placed is a data page of a chunk.
type placed struct {
	offset int64 // in the pages of the chunk
	size   int32 // in the file, with the header
	row    int64 // first of the row group
	values int64 // with those that are missing
	nulls  int64
	bounds bounds
}

// indexes returns the index of the columns of the pages of a chunk, nil if the bounds of one are
// not known, and the index of their offsets, if the first is at an offset in the file.
func (c *chunk) indexes(t rows.Type, first int64) (columns, offsets []byte, err error) {
	var (
		x     format.ColumnIndex
		o     format.OffsetIndex
		known = true
	)
	ascending, descending := true, true
	var before [2][]byte
	for i := range c.placed {
		p := &c.placed[i]
		o.PageLocations = append(o.PageLocations, format.PageLocation{Offset: first + p.offset,
			CompressedPageSize: p.size, FirstRowIndex: p.row})
		least, most := p.bounds.encode(t)
		none := p.nulls == p.values
		known = known && (none || least != nil)
		x.NullPages, x.NullCounts = append(x.NullPages, none), append(x.NullCounts, p.nulls)
		x.MinValues, x.MaxValues = append(x.MinValues, least), append(x.MaxValues, most)
		if none || !known {
			continue
		}
		if before[0] != nil {
			low, high := compare(t, before[0], least), compare(t, before[1], most)
			ascending, descending = ascending && low <= 0 && high <= 0, descending && low >= 0 && high >= 0
		}
		before = [2][]byte{least, most}
	}
	switch {
	case ascending:
		x.BoundaryOrder = format.Ascending
	case descending:
		x.BoundaryOrder = format.Descending
	}
	if known {
		if columns, err = thrift.Marshal(new(thrift.CompactProtocol), &x); err != nil {
			return nil, nil, err
		}
	}
	offsets, err = thrift.Marshal(new(thrift.CompactProtocol), &o)
	return columns, offsets, err
}
