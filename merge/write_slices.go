package merge

import (
	"context"
	"math"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/columns"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/wire"
)

// A storedColumn is a column or a matrix over the ranks of a domain.
type storedColumn struct {
	domain   int
	matrix   bool
	data     []byte
	ranks    bool           // the values of the column are ranks
	rows     columns.Matrix // the matrix; not kept if it is not long
	referred bool           // another matrix refers to this one, or this one to another
	kept     bool           // the matrix is kept in encodings
	slices   []columnSlice  // in place of data; nil if it is not in slices
}

// A columnSlice is a column or a matrix over consecutive positions of its domain.
type columnSlice struct {
	positions int
	data      []byte
}

// A signatureSection is the section of the signatures, and the columns.
type signatureSection struct {
	head, tail []byte // of the section, before and after the places of the columns
	domains    []*layout.Domain
	stored     []storedColumn
	lists      layout.HandleLists
}

// contents returns the section of the signatures, and those of the columns.
func (x *signatureSection) contents() (signatures []byte, columns [][]byte) {
	signatures = wire.AppendUvarint(x.head[:len(x.head):len(x.head)], uint64(len(x.stored)))
	var packed layout.PackedSections
	for i := range x.stored {
		c := &x.stored[i]
		v := uint64(c.domain) << 1
		if c.matrix {
			v |= 1
		}
		signatures = c.appendSizes(wire.AppendUvarint(signatures, v))
		if c.slices == nil {
			packed.Add(c.data)
			continue
		}
		packed.End()
		packed.Add(c.slicesData()...)
		packed.End()
	}
	signatures = append(signatures, x.tail...)
	if columns = packed.Sections; len(columns) == 1 && len(columns[0]) <= layout.MaxInline {
		return append(signatures, columns[0]...), nil
	}
	return signatures, columns
}

// slicesData returns the encodings of the slices.
func (c *storedColumn) slicesData() [][]byte {
	items := make([][]byte, len(c.slices))
	for i := range items {
		items[i] = c.slices[i].data
	}
	return items
}

// appendSizes appends how long the encoding of c is, or its slices are.
func (c *storedColumn) appendSizes(dst []byte) []byte {
	if c.slices == nil {
		return wire.AppendUvarint(dst, uint64(len(c.data)))
	}
	dst = wire.AppendUvarint(append(dst, 0), uint64(len(c.slices)))
	for i, s := range c.slices {
		if i < len(c.slices)-1 {
			dst = wire.AppendUvarint(dst, uint64(s.positions-1))
		}
		dst = wire.AppendUvarint(dst, uint64(len(s.data)))
	}
	return dst
}

// long reports whether one rank should not have to read all of c.
func (c *storedColumn) long() bool { return len(c.data) > maxSlice }

// slice stores long columns in slices. It need not have done so if ctx is done.
func (x *signatureSection) slice(ctx context.Context) {
	for i := range x.stored {
		c := &x.stored[i]
		if !c.long() || c.referred || ctx.Err() != nil {
			continue
		}
		s := slicer{column: c, domain: x.domains[c.domain]}
		if s.cut(ctx, 0, s.domain.Len(), len(c.data)) && s.pays() {
			c.slices = s.slices
		}
	}
}

// A slice takes maxSlice bytes at most, and is meant to take sliceBytes: a little more
// than a section of columns, so that 2¹⁶ values of 2 bytes are in two. The bytes of
// all slices may be an eighth more than those of the column, and what they take in
// the file a hundredth.
const (
	maxSlice         = layout.MaxPacked + layout.MaxPacked/64
	sliceBytes       = layout.MaxPacked + layout.MaxPacked/128
	maxSlicedBytes   = 8
	maxSlicedStorage = 100
)

// A slicer cuts a column into slices.
type slicer struct {
	column *storedColumn
	domain *layout.Domain
	values []int64 // of the column
	plain  bool    // its encoding depends on these alone
	bytes  int     // of slices
	slices []columnSlice
}

// cut adds slices of the positions from begin to end, of which the encoding takes
// size bytes, and reports whether they are short enough and ctx is not done. Slices
// of more than maxSlice bytes are cut again, unless they are one position.
func (s *slicer) cut(ctx context.Context, begin, end, size int) bool {
	number := min((size-1)/sliceBytes+1, end-begin)
	step := (end-begin-1)/number + 1
	for begin < end {
		if ctx.Err() != nil {
			return false
		}
		n := min(step, end-begin)
		enc := s.encode(begin, begin+n)
		if len(enc) > maxSlice && n > 1 {
			if !s.cut(ctx, begin, begin+n, len(enc)) {
				return false
			}
		} else {
			s.slices = append(s.slices, columnSlice{n, enc})
			s.bytes += len(enc)
		}
		if s.bytes > len(s.column.data)+len(s.column.data)/maxSlicedBytes {
			return false
		}
		begin += n
	}
	return true
}

// encode returns the encoding of the positions from begin to end.
func (s *slicer) encode(begin, end int) []byte {
	d := s.domain.Slice(begin, end)
	if s.column.matrix {
		rows := make([][]int64, end-begin)
		for i := range rows {
			rows[i] = s.column.rows.AppendRow(nil, begin+i)
		}
		enc, _ := columns.NewMatrix(d, rows, nil, columns.Options{}).AppendBinary(nil)
		return enc
	}
	if s.values == nil {
		c, err := columns.ParseColumn(s.column.data, s.domain.Columns())
		if err != nil {
			panic(err) // it was just encoded
		}
		s.plain = c.Plain()
		s.values = make([]int64, 0, c.Len())
		for _, v := range c.All() {
			s.values = append(s.values, v)
		}
	}
	o := columns.Options{Ranks: s.column.ranks, Plain: s.plain}
	enc, _ := columns.NewColumn(d, s.values[begin:end], o).AppendBinary(nil)
	return enc
}

// pays reports whether there are several slices, and they take little more in the
// file than the column.
func (s *slicer) pays() bool {
	if len(s.slices) < 2 {
		return false
	}
	sliced := storedColumn{slices: s.slices}
	most := bytesOf([][]byte{s.column.data})
	most += most/maxSlicedStorage - len(sliced.appendSizes(nil))
	const section = 32 // bytes of one at most, besides its content, which need not be compressed
	return s.bytes+section*len(s.slices) <= most || bytesOf(layout.Pack(sliced.slicesData())) <= most
}

// bytesOf returns the number of bytes that sections of these contents take in a
// file, and more than any if they cannot be in one.
func bytesOf(contents [][]byte) int {
	var n layout.Counter
	out := format.NewWriter(&n, format.Options{})
	for i, c := range contents {
		out.Add(layout.KindColumns, uint64(i), c)
	}
	if out.Close() != nil {
		return math.MaxInt / 2
	}
	return int(n)
}
