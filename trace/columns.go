package trace

import (
	"errors"
	"sort"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/columns"
	"github.com/reprise-trace/reprise/internal/layout"
)

// columnValue returns the value of a stored column for a rank.
func (t *Trace) columnValue(n, shape, position, rank int) (int64, error) {
	at, err := t.place(n, shape, position, rank)
	if err != nil {
		return 0, err
	}
	c, err := t.columnAt(n, at)
	if err != nil {
		return 0, err
	}
	return c.value(at), nil
}

// row appends the row of a stored matrix for a rank, which must be of a length.
func (t *Trace) row(dst []int64, n, shape, position, rank, length int) ([]int64, error) {
	at, err := t.place(n, shape, position, rank)
	if err != nil {
		return nil, err
	}
	c, err := t.columnAt(n, at)
	if err != nil {
		return nil, err
	}
	if err := t.checkRow(c, n, at, length); err != nil {
		return nil, err
	}
	return c.appendRow(dst, at), nil
}

// checkRow returns an error if the row of matrix n at a position of its domain, which is in
// c, is not of a length.
func (t *Trace) checkRow(c *rankColumn, n, at, length int) error {
	if k := c.rowLen(at); k != length {
		return t.columnError(c.slice, layout.Corrupt("column %d has a row of %d, not %d", n, k, length))
	}
	return nil
}

// place returns the position of a rank in the domain of a column.
func (t *Trace) place(n, shape, position, rank int) (int, error) {
	d := t.signatures.Columns[n].Domain
	k, ok := t.signatures.Shapes[d].Index(shape)
	if !ok {
		return 0, layout.Damaged(layout.KindSignatures, 0,
			layout.Corrupt("shape %d is none of those of column %d", shape, n))
	}
	return t.signatures.Domains[d].Position(k, position, rank), nil
}

// What is counted for a column that is kept, in bytes: for each byte of its encoding, besides, and for
// each of the sums of rows.
const (
	columnPerByte  = 2
	columnOverhead = 500
	bytesPerSum    = 8
)

// A rankColumn is a column or a matrix, or a slice of one.
type rankColumn struct {
	column columns.Column
	matrix columns.Matrix
	slice  int // number of the slice
	begin  int // its first position in the domain
	end    int // the one after its last
	size   int // that is counted for it
}

// value returns the value at a position of the domain that is in the slice.
func (c *rankColumn) value(position int) int64 { return c.column.At(position - c.begin) }

// rowLen returns the length of the row at a position of the domain that is in the
// slice.
func (c *rankColumn) rowLen(position int) int { return c.matrix.RowLen(position - c.begin) }

// appendRow appends the row at a position of the domain that is in the slice.
func (c *rankColumn) appendRow(dst []int64, position int) []int64 {
	return c.matrix.AppendRow(dst, position-c.begin)
}

// appendRowBegin appends the first n elements of it, or all.
func (c *rankColumn) appendRowBegin(dst []int64, position, n int) []int64 {
	return c.matrix.AppendRowBegin(dst, position-c.begin, n)
}

// columnAt returns a column or a matrix, which must not be changed, or the slice of it that
// has a position of its domain.
func (t *Trace) columnAt(n, position int) (*rankColumn, error) {
	p := &t.signatures.Columns[n]
	k := p.First
	if p.Sliced() {
		k += sort.Search(p.End-p.First-1, func(i int) bool { return t.signatures.Slices[p.First+i].End > position })
	}
	if c := t.columns[k].get(); c != nil {
		return c, nil
	}
	data, err := t.sliceBytes(k)
	if err != nil {
		return nil, err
	}
	s := t.signatures.Slices[k]
	c := &rankColumn{slice: k, begin: s.Begin, end: s.End, size: columnPerByte*s.Size + columnOverhead}
	domain := t.signatures.Domains[p.Domain].Slice(s.Begin, s.End)
	if p.Matrix {
		var others []columns.Matrix
		if others, err = t.matrices(p, data); err == nil {
			c.matrix, err = columns.ParseMatrix(data, domain, others)
		}
	} else if number, ok := columns.RowSumsOf(data); ok {
		c.column, err = t.rowSums(p, number)
		c.size += bytesPerSum * c.column.Len()
	} else {
		c.column, err = columns.ParseColumn(data, domain)
	}
	if err != nil {
		return nil, t.columnError(k, err)
	}
	return keep(t.caches.columns, &t.columns[k], c, c.size), nil
}

// rowSums returns the column of the sums of the rows of a matrix, which must be of the same domain as the column
// at p, and not in slices.
func (t *Trace) rowSums(p *layout.ColumnPlace, number int) (columns.Column, error) {
	if number >= len(t.signatures.Columns) {
		return columns.Column{}, layout.Corrupt("sums of column %d of %d", number, len(t.signatures.Columns))
	}
	of := &t.signatures.Columns[number]
	if !of.Matrix || of.Domain != p.Domain || of.Sliced() || p.Sliced() {
		return columns.Column{}, layout.Corrupt("sums of column %d, which has none", number)
	}
	m, err := t.columnAt(number, 0)
	if err != nil {
		return columns.Column{}, err
	}
	c, ok := columns.RowSums(m.matrix, number)
	if !ok {
		return columns.Column{}, layout.Corrupt("sums of column %d, which is too large", number)
	}
	return c, nil
}

// A sliceReader reads a column or a matrix slice by slice. The zero rankColumn is
// before the first of them.
type sliceReader struct {
	trace  *Trace
	number int // of the column
	rankColumn
}

// seek reads the slice that has a position of the domain, unless it was the last.
func (r *sliceReader) seek(position int) (err error) {
	if position < r.begin || position >= r.end {
		var c *rankColumn
		if c, err = r.trace.columnAt(r.number, position); err == nil {
			r.rankColumn = *c
		}
	}
	return err
}

// columnError returns a SectionError about a slice of a column.
func (t *Trace) columnError(slice int, err error) error {
	var s *format.SectionError
	if errors.As(err, &s) {
		return err
	}
	if t.signatures.Inline != nil {
		return layout.Damaged(layout.KindSignatures, 0, err)
	}
	return layout.Damaged(layout.KindColumns, uint64(t.signatures.Slices[slice].Section), err)
}

// sliceBytes returns the encoding of a slice of a column, which must not be kept.
func (t *Trace) sliceBytes(n int) ([]byte, error) {
	s := t.signatures.Slices[n]
	if t.signatures.Inline != nil {
		return t.signatures.Inline[s.Offset : s.Offset+s.Size], nil
	}
	var data []byte
	err := t.sections.ReadShared(layout.KindColumns, uint64(s.Section), func(content []byte) (err error) {
		data, err = layout.ItemOf(content, s.Offset, s.Size)
		return err
	})
	return data, err
}

// matrices returns the matrices to which one may refer, whose encoding is data: none if it
// is in slices. It reads the one to which it refers, and has a zero one in place of others,
// and of one in slices, to which nothing refers.
func (t *Trace) matrices(p *layout.ColumnPlace, data []byte) ([]columns.Matrix, error) {
	number, ok := columns.ReferenceOf(data, len(p.Others))
	if p.Sliced() || !ok {
		return nil, nil
	}
	matrices := make([]columns.Matrix, len(p.Others))
	if n := p.Others[number]; !t.signatures.Columns[n].Sliced() {
		c, err := t.columnAt(n, 0)
		if err != nil {
			return nil, err
		}
		matrices[number] = c.matrix
	}
	return matrices, nil
}
