package rankenc

import (
	"fmt"
	"slices"
)

// A reference is an encoding of rows that follow from another matrix, which is
// in the list that the matrix was made or parsed with.
type reference struct {
	other  Matrix
	number int // in the list
}

// refer returns a reference to others[i] for an encoding of that level, if it is
// of a lower one.
func refer(others []Matrix, i, level int) (reference, bool) {
	m := others[i]
	return reference{m, i}, m.body != nil && m.body.level() < level
}

// Reference returns which of the matrices that m was made or parsed with it refers
// to, and whether it refers to one.
func (m Matrix) Reference() (number int, ok bool) {
	switch b := m.body.(type) {
	case same:
		return b.number, true
	case transposed:
		return b.number, true
	case *sums:
		return b.number, true
	}
	return 0, false
}

// Levels of the encodings that refer to a matrix. Sums may refer to a transposed
// matrix, as the displacements at the receiving side of an exchange do.
const (
	copyLevel = 1
	sumLevel  = 2
)

// same are the rows of another matrix.
type same struct{ reference }

func newSame(d Domain, rows [][]int64, others []Matrix, i int) matrixBody {
	r, ok := refer(others, i, copyLevel)
	if !ok || r.other.Len() != d.Len() {
		return nil
	}
	for i, row := range r.other.All() {
		if !slices.Equal(row, rows[i]) {
			return nil
		}
	}
	return same{r}
}

func (b same) rowLen(i int) int                     { return b.other.RowLen(i) }
func (b same) width() (int, bool)                   { return b.other.body.width() }
func (b same) level() int                           { return copyLevel }
func (b same) at(i, j int) int64                    { return b.other.body.at(i, j) }
func (b same) text() string                         { return fmt.Sprintf("as matrix %d", b.number) }
func (b same) appendRow(dst []int64, i int) []int64 { return b.other.AppendRow(dst, i) }

// transposed are the columns of another matrix, which is square.
type transposed struct{ reference }

func newTransposed(d Domain, rows [][]int64, others []Matrix, i int) matrixBody {
	r, ok := refer(others, i, copyLevel)
	if !ok || !square(d, r.other) {
		return nil
	}
	for i, row := range rows {
		if len(row) != len(rows) {
			return nil
		}
		for j, v := range row {
			if r.other.body.at(j, i) != v {
				return nil
			}
		}
	}
	return transposed{r}
}

// square reports whether m has a row and a column for each process of the whole
// group that d is.
func square(d Domain, m Matrix) bool {
	s, ok := d.Ranks.(Set)
	n := s.Len()
	if !ok || n == 0 || n != d.Size || !s.Equal(World(n)) || m.Len() != n {
		return false
	}
	w, ok := m.body.width()
	return ok && w == n
}

func (b transposed) rowLen(int) int     { return b.other.Len() }
func (b transposed) width() (int, bool) { return b.other.Len(), true }
func (b transposed) level() int         { return copyLevel }
func (b transposed) at(i, j int) int64  { return b.other.body.at(j, i) }
func (b transposed) text() string       { return fmt.Sprintf("transposed matrix %d", b.number) }
func (b transposed) appendRow(dst []int64, i int) []int64 {
	for j := range b.other.Len() {
		dst = append(dst, b.other.body.at(j, i))
	}
	return dst
}

// sums are, in each row, what all elements before add up to in the same row of
// another matrix, times scale, plus base.
type sums struct {
	reference
	base  Column // for each row
	scale int64
}

func newSums(d Domain, rows [][]int64, others []Matrix, i int) matrixBody {
	r, ok := refer(others, i, sumLevel)
	if !ok || r.other.Len() != d.Len() {
		return nil
	}
	b := &sums{reference: r}
	base := make([]int64, len(rows))
	known := false // whether scale is
	for i, counts := range r.other.All() {
		row := rows[i]
		if len(row) != len(counts) {
			return nil
		}
		if len(row) > 0 {
			base[i] = row[0]
		}
		for j := 1; j < len(row); j++ {
			step, count := row[j]-row[j-1], counts[j-1]
			if !known && count != 0 {
				b.scale, known = step/count, true
			}
			if step != b.scale*count {
				return nil
			}
		}
	}
	b.base = NewColumn(d, base, Options{})
	return b
}

func (b *sums) rowLen(i int) int   { return b.other.RowLen(i) }
func (b *sums) width() (int, bool) { return b.other.body.width() }
func (b *sums) level() int         { return sumLevel }
func (b *sums) text() string {
	return fmt.Sprintf("%v plus sums of %s", b.base, times(b.scale, fmt.Sprintf("matrix %d", b.number)))
}
func (b *sums) at(i, j int) int64 {
	v := b.base.At(i)
	for k := range j {
		v += b.scale * b.other.body.at(i, k)
	}
	return v
}
func (b *sums) appendRow(dst []int64, i int) []int64 {
	from := len(dst)
	dst = b.other.AppendRow(dst, i)
	v := b.base.At(i)
	for j, count := range dst[from:] {
		dst[from+j] = v
		v += b.scale * count
	}
	return dst
}
