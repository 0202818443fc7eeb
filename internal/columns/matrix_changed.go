package columns

import (
	"cmp"
	"slices"
	"sort"

	"github.com/reprise-trace/reprise/internal/wire"
)

// changed are the rows of another matrix, or its columns, but for some elements. All rows
// have one length.
type changed struct {
	reference
	turned   bool // the columns
	length   int  // of a row
	elements []changedElement
	byColumn []int32 // the numbers of these, column by column
}

// A changedElement is an element that differs from the one of the other matrix.
type changedElement struct {
	row, column int32
	value       int64
}

// maxChanged is in how many elements one may differ.
const maxChanged = 16

// newChanged returns how rows differ from others[i] or, where that is smaller, from its
// columns.
func newChanged(d Domain, rows [][]int64, others []Matrix, i int) matrixBody {
	var best matrixBody
	for _, turned := range []bool{false, true} {
		b, ok := referChanged(d, others, i, turned)
		if !ok || len(rows) == 0 {
			continue
		}
		most := len(rows) * b.length / maxChanged
		if known, ok := best.(*changed); ok {
			most = min(most, len(known.elements)-1)
		}
		if b.compare(rows, most) {
			b.sort()
			best = b
		}
	}
	return best
}

// referChanged returns a reference to the rows of others[i], or its columns, and whether
// these are such that others can differ from them in elements.
func referChanged(d Domain, others []Matrix, i int, turned bool) (*changed, bool) {
	r, ok := refer(d, others, i, changedLevel)
	if !ok || r.other.len() == 0 || !r.other.rectangular() || turned && !square(d, r.other) {
		return nil, false
	}
	return &changed{reference: r, turned: turned, length: r.other.body.rowLen(0)}, true
}

// rectangular reports whether it is known that all rows have one length.
func (m Matrix) rectangular() bool {
	f, ok := m.body.(*flat)
	return !ok || f.starts == nil
}

// compare finds the elements of rows that changed, and reports whether they are at most so
// many.
func (b *changed) compare(rows [][]int64, most int) bool {
	var before []int64
	for i, row := range rows {
		if len(row) != b.length {
			return false
		}
		before = b.before(before[:0], i, b.length)
		for j, v := range row {
			if v == before[j] {
				continue
			}
			if len(b.elements) >= most {
				return false
			}
			b.elements = append(b.elements, changedElement{int32(i), int32(j), v})
		}
	}
	return true
}

// sort sets b.byColumn.
func (b *changed) sort() {
	b.byColumn = make([]int32, len(b.elements))
	for k := range b.byColumn {
		b.byColumn[k] = int32(k)
	}
	slices.SortFunc(b.byColumn, func(x, y int32) int {
		return cmp.Or(cmp.Compare(b.elements[x].column, b.elements[y].column), cmp.Compare(x, y))
	})
}

// before appends the first n elements of row i as they were before some changed.
func (b *changed) before(dst []int64, i, n int) []int64 {
	if b.turned {
		return b.own().appendColumn(dst, i, n)
	}
	return b.other.body.appendRow(dst, i, n)
}

// own returns the other matrix, which refers to nothing.
func (b *changed) own() ownBody { return b.other.body.(ownBody) }

func (b *changed) rowLen(int) int { return b.length }

// from returns the number of the first changed element from an element on.
func (b *changed) from(row, column int) int {
	return sort.Search(len(b.elements), func(k int) bool {
		x := &b.elements[k]
		return int(x.row) > row || int(x.row) == row && int(x.column) >= column
	})
}

// fromColumn returns where in b.byColumn the first one from a column on stands.
func (b *changed) fromColumn(column int) int {
	return sort.Search(len(b.byColumn), func(k int) bool { return int(b.elements[b.byColumn[k]].column) >= column })
}

func (b *changed) at(i, j int) int64 {
	if k := b.from(i, j); k < len(b.elements) && int(b.elements[k].row) == i && int(b.elements[k].column) == j {
		return b.elements[k].value
	}
	return b.old(i, j)
}

// old returns an element as it was before some changed.
func (b *changed) old(i, j int) int64 {
	if b.turned {
		i, j = j, i
	}
	return b.own().at(i, j)
}

func (b *changed) appendRow(dst []int64, i, n int) []int64 {
	from := len(dst)
	dst = b.before(dst, i, n)
	for _, x := range b.elements[b.from(i, 0):] {
		if int(x.row) != i || int(x.column) >= n {
			break
		}
		dst[from+int(x.column)] = x.value
	}
	return dst
}

func (b *changed) appendColumn(dst []int64, j, n int) []int64 {
	from := len(dst)
	if b.turned {
		dst = b.other.body.appendRow(dst, j, n)
	} else {
		dst = b.own().appendColumn(dst, j, n)
	}
	for _, k := range b.byColumn[b.fromColumn(j):] {
		x := &b.elements[k]
		if int(x.column) != j || int(x.row) >= n {
			break
		}
		dst[from+int(x.row)] = x.value
	}
	return dst
}

func (b *changed) append(dst []byte) []byte {
	v := uint64(b.number) << 1
	if b.turned {
		v |= 1
	}
	dst = wire.AppendUvarint(append(dst, headChanged), v)
	dst = wire.AppendUvarint(dst, uint64(len(b.elements)))
	next := 0
	for _, x := range b.elements {
		at := int(x.row)*b.length + int(x.column)
		dst = wire.AppendUvarint(dst, uint64(at-next))
		dst = wire.AppendVarint(dst, x.value-b.old(int(x.row), int(x.column)))
		next = at + 1
	}
	return dst
}

func decodeChanged(d *wire.Decoder, domain Domain, others []Matrix) matrixBody {
	at := d.Offset()
	v := d.Uvarint("matrix")
	if v>>1 >= uint64(len(others)) {
		d.Corrupt(at, "matrix", "number %d of %d", v>>1, len(others))
	}
	if d.Err() != nil {
		return nil
	}
	b, ok := referChanged(domain, others, int(v>>1), v&1 == 1)
	if !ok {
		d.Corrupt(at, "matrix", "number %d has another form", v>>1)
		return nil
	}
	cells := wire.MulSat(uint64(domain.len()), uint64(b.length))
	next := uint64(0)
	for n := d.Count("changes", 2); n > 0 && d.Err() == nil; n-- {
		at := d.Offset()
		skipped := d.Uvarint("position")
		if d.Err() == nil && skipped >= cells-next {
			d.Corrupt(at, "position", "%d after %d of %d", skipped, next, cells)
		}
		if d.Err() != nil {
			return nil
		}
		next += skipped
		x := changedElement{row: int32(next / uint64(b.length)), column: int32(next % uint64(b.length))}
		x.value = b.old(int(x.row), int(x.column)) + d.Varint("change")
		b.elements = append(b.elements, x)
		next++
	}
	b.sort()
	return b
}
