package trace

import (
	"sync/atomic"

	"github.com/reprise-trace/reprise/internal/columns"
	"github.com/reprise-trace/reprise/internal/layout"
)

// StoredValues are the values that a rank has in columns and matrices, of all signatures
// of its shape in their order.
type storedValues struct {
	scalars []int64
	rows    []storedRow
}

// A storedRow is the elements of an array. They are decoded when they are asked for, as
// many calls are read without their arguments, unless that kept too much in memory.
type storedRow struct {
	column *rankColumn // nil if the row is decoded
	at     int         // in the domain of the column
	values []int64
}

// maxHeld is how many bytes of columns the rows of a rank keep decoded, and each shape that is in memory.
const maxHeld = 2 << 20

// len returns the number of elements.
func (x *storedRow) len() int {
	if x.column == nil {
		return len(x.values)
	}
	return x.column.rowLen(x.at)
}

// source returns the source of the elements, and whether it is known.
func (x *storedRow) source() (source columns.RowSource, ok bool) {
	if x.column == nil {
		return source, false
	}
	return x.column.matrix.Source(x.at - x.column.begin), true
}

// appendTo appends the elements to dst.
func (x *storedRow) appendTo(dst []int64) []int64 {
	if x.column == nil {
		return append(dst, x.values...)
	}
	return x.column.appendRow(dst, x.at)
}

// appendBegin appends the first elements, at most n, to dst.
func (x *storedRow) appendBegin(dst []int64, n int) []int64 {
	if x.column == nil {
		return append(dst, x.values[:min(n, len(x.values))]...)
	}
	return x.column.appendRowBegin(dst, x.at, n)
}

// A columnUse is a column or matrix of which a signature has a value or a row.
type columnUse struct {
	column int
	slots  int // elements of a row, 0 for a value
}

// appendUses appends the columns and matrices that a signature uses, columns first.
func appendUses(dst []columnUse, x *layout.Template) []columnUse {
	for k := range x.Values {
		switch v := &x.Values[k]; v.How {
		case layout.Column:
			dst = append(dst, columnUse{int(v.Number), 0})
		case layout.InGroup:
			dst = append(dst, columnUse{int(v.Number), 0}, columnUse{int(v.Number) + 1, 0})
		}
	}
	for _, a := range x.Arrays {
		if a.Slots > 0 {
			dst = append(dst, columnUse{a.Column, a.Slots})
		}
	}
	return dst
}

// Kept columns are those that the ranks of a shape use, use by use, of one slice each, and all together no
// more than the rows of a rank may keep decoded: so the values of a rank are there without a look into the
// file.
type keptColumns struct {
	uses    []columnUse
	columns []*rankColumn // none if they cannot be kept
	places  []int         // of the shape in the domain of each
	size    int           // of all columns, as that of one counts
}

// add adds the column of a use, and reports whether those that there are can be kept.
func (k *keptColumns) add(s *Shape, use columnUse, c *rankColumn) bool {
	x := s.trace.signatures
	place := &x.Columns[use.column]
	if k.size += c.size; place.Sliced() || k.size > s.trace.held {
		*k = keptColumns{}
		return false
	}
	at, _ := x.Shapes[place.Domain].Index(s.number)
	k.uses, k.columns, k.places = append(k.uses, use), append(k.columns, c), append(k.places, at)
	return true
}

// stored returns the values of a rank of s, which has these columns.
func (k *keptColumns) stored(s *Shape, rank int) storedValues {
	t, x := s.template(), s.trace.signatures
	last := len(s.signatures)
	v := storedValues{make([]int64, 0, t.scalars[last]), make([]storedRow, 0, t.rows[last])}
	position, _ := s.trace.all[s.number].Index(rank)
	domain, at := -1, 0 // of the column before, and where the rank is in it
	for i, c := range k.columns {
		if d := x.Columns[k.uses[i].column].Domain; d != domain {
			domain, at = d, x.Domains[d].Position(k.places[i], position, rank)
		}
		if k.uses[i].slots == 0 {
			v.scalars = append(v.scalars, c.value(at))
		} else {
			v.rows = append(v.rows, storedRow{column: c, at: at})
		}
	}
	return v
}

// LazyValues are the stored values of a rank. Those of a rank that was read before are found when they are
// asked for.
type lazyValues struct {
	kept  *keptColumns // where they are, if they are not found
	found atomic.Pointer[storedValues]
}

// get returns the values, which are those of a rank of s.
func (x *lazyValues) get(s *Shape, rank int) *storedValues {
	if v := x.found.Load(); v != nil {
		return v
	}
	v := x.kept.stored(s, rank)
	x.found.Store(&v) // equal to what another goroutine may have stored
	return &v
}

// checked is stored for a rank whose rows may not have the lengths that they must.
func (k *keptColumns) checked(s *Shape, rank int) (storedValues, error) {
	v := k.stored(s, rank)
	row := 0
	for i, use := range k.uses {
		if use.slots == 0 {
			continue
		}
		if err := s.trace.checkRow(k.columns[i], use.column, v.rows[row].at, use.slots); err != nil {
			return v, err
		}
		row++
	}
	return v, nil
}

// readStored reads the values of a rank of s that are stored in columns and matrices. The
// rows of matrices are found, and have the lengths that they must.
func (s *Shape) readStored(rank int) (storedValues, error) {
	var v storedValues
	t := s.template()
	last := len(s.signatures)
	if t.scalars[last] == 0 && t.rows[last] == 0 {
		return v, nil
	}
	known := s.kept.Load()
	if known != nil && len(known.columns) > 0 {
		return known.checked(s, rank)
	}
	position, _ := s.trace.all[s.number].Index(rank)
	v.scalars = make([]int64, 0, t.scalars[last])
	v.rows = make([]storedRow, 0, t.rows[last])
	var (
		scratch layout.Template
		uses    []columnUse
		held    int
		domain  = -1 // of the column before, in which the rank is
		at      int  // there
		kept    keptColumns
		keep    = known == nil
	)
	for i := range s.signatures {
		if t.scalars[i] == t.scalars[i+1] && t.rows[i] == t.rows[i+1] {
			continue
		}
		uses = appendUses(uses[:0], s.signature(i, &scratch))
		for _, use := range uses {
			if d := s.trace.signatures.Columns[use.column].Domain; d != domain {
				var err error
				if at, err = s.trace.place(use.column, s.number, position, rank); err != nil {
					return v, err
				}
				domain = d
			}
			c, err := s.trace.columnAt(use.column, at)
			switch {
			case err != nil:
				return v, err
			case use.slots == 0:
				v.scalars = append(v.scalars, c.value(at))
			default:
				if err := s.trace.checkRow(c, use.column, at, use.slots); err != nil {
					return v, err
				}
				row := storedRow{column: c, at: at}
				if held += c.size; held > s.trace.held {
					row = storedRow{values: c.appendRow(make([]int64, 0, use.slots), at)}
				}
				v.rows = append(v.rows, row)
			}
			keep = keep && kept.add(s, use, c)
		}
	}
	if known == nil && s.kept.CompareAndSwap(nil, &kept) && !s.hasRoom(kept.size) {
		s.kept.Store(nil) // there may be room for the next rank
	}
	return v, nil
}
