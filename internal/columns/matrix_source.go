package columns

// A RowSource says of which elements a row of a matrix is made. Rows of equal sources, which
// compare with ==, are equal, whichever matrices they are of. Rows of others may be, too.
type RowSource struct {
	body        ownBody // a pointer
	index       int
	column      bool // of body; else a row
	sums        bool // of the elements before, times scale, plus base
	base, scale int64
}

// Source returns the source of the row at position i of the domain. It is found without
// decoding the row.
func (m Matrix) Source(i int) RowSource {
	m.check(i)
	switch b := m.body.(type) {
	case same:
		return b.other.Source(i)
	case transposed:
		if c, ok := b.other.body.(*changed); ok {
			return c.columnSource(i)
		}
		return RowSource{body: b.other.body.(ownBody), index: i, column: true}
	case *sums:
		s := b.other.Source(i)
		s.sums, s.base, s.scale = true, b.base.At(i), b.scale
		return s
	case *changed:
		return b.rowSource(i)
	}
	return RowSource{body: m.body.(ownBody), index: i}
}

// rowSource returns the source of row i.
func (b *changed) rowSource(i int) RowSource {
	if k := b.from(i, 0); k < len(b.elements) && int(b.elements[k].row) == i {
		return RowSource{body: b, index: i}
	}
	return RowSource{body: b.own(), index: i, column: b.turned}
}

// columnSource returns the source of column i.
func (b *changed) columnSource(i int) RowSource {
	if k := b.fromColumn(i); k < len(b.byColumn) && int(b.elements[b.byColumn[k]].column) == i {
		return RowSource{body: b, index: i, column: true}
	}
	return RowSource{body: b.own(), index: i, column: !b.turned}
}
