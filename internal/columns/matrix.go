package columns

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/rankenc"
)

// A Matrix is an immutable sequence of rows of integers, such as the counts that
// each process passes to an all-to-all exchange: one row for each position of a
// [Domain], in the encoding that takes the fewest bytes. Rows may differ in
// length. A Matrix may refer to another one from which its values follow. Its
// methods may be called from several goroutines at once. The zero Matrix is
// empty.
type Matrix struct {
	domain Domain
	rows   int        // positions of the domain
	body   matrixBody // nil if the matrix is zero
}

// A matrixBody is an encoding of rows.
type matrixBody interface {
	// rowLen returns the length of row i.
	rowLen(i int) int
	// appendRow appends the first n elements of row i, 0 ≤ n ≤ rowLen(i), to dst.
	appendRow(dst []int64, i, n int) []int64
	// append appends the encoding to dst.
	append(dst []byte) []byte
}

// An ownBody is a matrixBody that refers to no other matrix.
type ownBody interface {
	matrixBody
	// at returns the element j of row i, 0 ≤ j < rowLen(i).
	at(i, j int) int64
	// appendColumn appends element j of the first n rows, 0 ≤ n ≤ the number of rows, to
	// dst. All rows must have it. The domain is that of all ranks.
	appendColumn(dst []int64, j, n int) []int64
}

// NewMatrix returns the matrix of rows, of which rows[i] is that of the i-th
// position of d, as it follows from the first of others that makes it smallest,
// or of its own. It does not retain rows. Which encoding it chooses depends on
// nothing but the arguments. There must be as many rows as positions, or
// NewMatrix panics.
func NewMatrix(d Domain, rows [][]int64, others []Matrix, o Options) Matrix {
	if d.len() != len(rows) {
		panic("columns: not as many rows as ranks")
	}
	var best matrixBody
	least := math.MaxInt
	try := func(b matrixBody) {
		n := len(b.append(nil))
		if _, ok := b.(*counted); ok {
			n += n / 8 // other encodings are what others compress further
		}
		if n < least {
			best, least = b, n
		}
	}
	for i := range others {
		if len(rows) > 0 && least <= minMatrix {
			break
		}
		if !others[i].begins(rows) {
			continue
		}
		for _, refer := range references {
			if b := refer(d, rows, others, i); b != nil {
				try(b)
			}
		}
	}
	for _, encode := range ownEncodings {
		if len(rows) > 0 && least <= minMatrix {
			break
		}
		if b := encode(d, rows, o, least); b != nil {
			try(b)
		}
	}
	return Matrix{d, len(rows), best}
}

// minMatrix is how many bytes any encoding of some rows takes at the least.
const minMatrix = 2

// begins reports whether the first of rows is as long as that of m: an encoding of rows that refers to m
// needs that.
func (m Matrix) begins(rows [][]int64) bool {
	return m.body != nil && m.len() == len(rows) && (len(rows) == 0 || m.body.rowLen(0) == len(rows[0]))
}

// references lists functions that return an encoding of rows which refers to
// others[i], or nil.
var references = []func(d Domain, rows [][]int64, others []Matrix, i int) matrixBody{
	newSame,
	newTransposed,
	newSums,
	newChanged,
}

// ownEncodings lists functions that return an encoding of rows which refers to
// nothing, or nil if there is none of less than limit bytes. One of the first and the last always
// returns one if limit is large enough.
var ownEncodings = []func(d Domain, rows [][]int64, o Options, limit int) matrixBody{
	newEqualRows,
	newCounted,
	newColumns,
	newFlat,
}

// len returns the number of rows.
func (m Matrix) len() int { return m.rows }

// check panics if there is no row i.
func (m Matrix) check(i int) {
	if i < 0 || i >= m.len() {
		panic(fmt.Sprintf("columns: row %d of %d", i, m.len()))
	}
}

// RowLen returns the length of the row at position i of the domain.
func (m Matrix) RowLen(i int) int {
	m.check(i)
	return m.body.rowLen(i)
}

// AppendRow appends the row at position i of the domain to dst and returns the
// extended slice.
func (m Matrix) AppendRow(dst []int64, i int) []int64 {
	m.check(i)
	return m.body.appendRow(dst, i, m.body.rowLen(i))
}

// AppendRowBegin is like [Matrix.AppendRow], but appends the first n elements of a row that
// has more.
func (m Matrix) AppendRowBegin(dst []int64, i, n int) []int64 {
	if m.check(i); n < 0 {
		panic(fmt.Sprintf("columns: the first %d values of a row", n))
	}
	return m.body.appendRow(dst, i, min(n, m.body.rowLen(i)))
}

// all returns an iterator over the positions and rows of m, in ascending order.
// A row is overwritten by the next.
func (m Matrix) all() iter.Seq2[int, []int64] {
	return func(yield func(int, []int64) bool) {
		var row []int64
		for i := range m.len() {
			if row = m.AppendRow(row[:0], i); !yield(i, row) {
				return
			}
		}
	}
}

// equalRows are rows that are all the same.
type equalRows struct{ row Column }

func newEqualRows(_ Domain, rows [][]int64, o Options, _ int) matrixBody {
	var row []int64
	for i, r := range rows {
		if i > 0 && !slices.Equal(row, r) {
			return nil
		}
		row = r
	}
	return &equalRows{NewColumn(elements(len(row)), row, o)}
}

// elements returns the domain of the n elements of a row.
func elements(n int) Domain { return Over(rankenc.World(n), n) }

// element returns the value of element i, 0 ≤ i < c.Len(), of a column over what
// elements returns.
func (c *Column) element(i int) int64 { return c.body.at(i, int64(i), int64(c.domain.Size)) }

func (b *equalRows) rowLen(int) int    { return b.row.Len() }
func (b *equalRows) at(_, j int) int64 { return b.row.element(j) }
func (b *equalRows) appendRow(dst []int64, _, n int) []int64 {
	return b.row.appendElements(dst, 0, n)
}
func (b *equalRows) appendColumn(dst []int64, j, n int) []int64 {
	v := b.row.element(j)
	for range n {
		dst = append(dst, v)
	}
	return dst
}

// columns are rows of equal length, column by column.
type columns struct {
	number   Column // of the column in distinct, for each element of a row
	distinct []Column
}

func newColumns(d Domain, rows [][]int64, o Options, limit int) matrixBody {
	if len(rows) == 0 || len(rows[0]) == 0 {
		return nil
	}
	for _, r := range rows {
		if len(r) != len(rows[0]) {
			return nil
		}
	}
	var (
		b       columns
		size    int
		known   = make(map[string]int64)
		values  = make([]int64, len(rows))
		numbers = make([]int64, len(rows[0]))
		enc     []byte
	)
	column := func(j int) Column {
		for i, r := range rows {
			values[i] = r[j]
		}
		return NewColumn(d, values, o)
	}
	switch mean, how := irregular(len(numbers), limit, column); {
	case how == tooLarge || how == allPlain && mean > limit/len(numbers):
		return nil
	case how == allPlain:
		o.Plain = true
	}
	for j := range numbers {
		c := column(j)
		enc, _ = c.AppendBinary(enc[:0])
		n, ok := known[string(enc)]
		if !ok {
			n = int64(len(b.distinct))
			known[string(enc)] = n
			b.distinct = append(b.distinct, c)
			if size += len(enc); size >= limit {
				return nil
			}
		}
		numbers[j] = n
	}
	b.number = NewColumn(elements(len(numbers)), numbers, Options{})
	return &b
}

// sampled is how many columns are looked at to tell what many are.
const sampled = 16

// What some of many columns are like.
const (
	regular  = iota // some are equal, or expressions
	allPlain        // all differ and are plain
	tooLarge        // a plain one takes more than all may
)

// irregular looks at some of many columns, and returns what they are like: if all of these differ and are
// plain, it is likely that all are. Mean is how many bytes one of them takes then. If one of these alone is
// plain and takes limit bytes, others are not looked at.
func irregular(n, limit int, column func(j int) Column) (mean, how int) {
	if n < 4*sampled {
		return 0, regular
	}
	known := make(map[string]bool)
	var enc []byte
	for k := range sampled {
		c := column((2*k + 1) * n / (2 * sampled))
		enc, _ = c.AppendBinary(enc[:0])
		switch {
		case !c.Plain() || known[string(enc)]:
			return 0, regular
		case len(enc) >= limit:
			return 0, tooLarge
		}
		known[string(enc)] = true
		mean += len(enc)
	}
	return mean / sampled, allPlain
}

func (b *columns) rowLen(int) int    { return b.number.Len() }
func (b *columns) at(i, j int) int64 { return b.distinct[b.number.element(j)].At(i) }
func (b *columns) appendRow(dst []int64, i, n int) []int64 {
	domain := b.distinct[0].domain // of all of them
	rank, size := int64(domain.Ranks.At(i)), int64(domain.Size)
	from := len(dst)
	dst = b.number.appendElements(dst, 0, n)
	for k, number := range dst[from:] {
		body := b.distinct[number].body
		if p, ok := body.(*packed); ok { // most are
			dst[from+k] = p.at(i, rank, size)
			continue
		}
		dst[from+k] = body.at(i, rank, size)
	}
	return dst
}
func (b *columns) appendColumn(dst []int64, j, n int) []int64 {
	return b.distinct[b.number.element(j)].appendElements(dst, 0, n)
}

// flat are rows one after the other.
type flat struct {
	lengths Column
	length  int // of all rows, if starts is nil
	// starts[k] is the number of elements before row k·startStep. It is nil if
	// all rows have the same length.
	starts []int
	values Column
}

// startStep is the number of rows for each start that is kept.
const startStep = 256

func newFlat(d Domain, rows [][]int64, o Options, limit int) matrixBody {
	if len(rows) == 1 {
		return nil // as equalRows takes less
	}
	lengths := make([]int64, len(rows))
	for i, r := range rows {
		lengths[i] = int64(len(r))
	}
	b := &flat{lengths: NewColumn(d, lengths, Options{})}
	total, _ := b.index(math.MaxInt)
	_, how := irregular(len(rows), limit, func(i int) Column { return NewColumn(elements(len(rows[i])), rows[i], o) })
	if how == tooLarge {
		return nil
	}
	values := slices.Concat(rows...)
	if how == allPlain {
		body, _ := smallestPlain(values, nil, limit)
		if body == nil {
			return nil
		}
		b.values = newColumn(elements(total), body)
		return b
	}
	b.values = NewColumn(elements(total), values, o)
	return b
}

// index sets starts and returns the number of elements in all rows, or a length
// that is not from 0 to limit, and false.
func (b *flat) index(limit int) (int, bool) {
	if e, ok := b.lengths.Expr(); ok {
		if n, ok := e.Constant(); ok {
			if n < 0 || n > int64(limit) {
				return int(n), false
			}
			b.length = int(n)
			return b.length * b.lengths.Len(), true
		}
	}
	total := 0
	for i, n := range b.lengths.All() {
		if n < 0 || n > int64(limit) {
			return int(n), false
		}
		if i%startStep == 0 {
			b.starts = append(b.starts, total)
		}
		total += int(n)
	}
	return total, true
}

// start returns the number of elements before row i.
func (b *flat) start(i int) int {
	if b.starts == nil {
		return i * b.length
	}
	n := b.starts[i/startStep]
	for k := i / startStep * startStep; k < i; k++ {
		n += b.rowLen(k)
	}
	return n
}

func (b *flat) rowLen(i int) int {
	if b.starts == nil {
		return b.length
	}
	return int(b.lengths.At(i))
}
func (b *flat) at(i, j int) int64 { return b.values.element(b.start(i) + j) }
func (b *flat) appendRow(dst []int64, i, n int) []int64 {
	return b.values.appendElements(dst, b.start(i), n)
}
func (b *flat) appendColumn(dst []int64, j, n int) []int64 {
	if p, ok := b.values.body.(*packed); ok && b.starts == nil { // most are
		dst, values := extend(dst, n)
		unpackSteps(values, p.bits, j*int(p.width), b.length*int(p.width), p.width)
		for i := range values {
			values[i] += p.least
		}
		return dst
	}
	for i := range n {
		dst = append(dst, b.at(i, j))
	}
	return dst
}

// A reference is an encoding of rows that follow from another matrix, which is
// in the list that the matrix was made or parsed with.
type reference struct {
	other  Matrix
	number int // in the list
	after  int // how many stand after it in the list
	level  int // larger than that of other
}

// refer returns a reference to others[i] for an encoding of that level over d, if it
// is of a lower one, and has as many rows.
func refer(d Domain, others []Matrix, i, level int) (reference, bool) {
	m := others[i]
	if r, ok := m.reference(); m.body == nil || ok && r.level >= level {
		return reference{}, false
	}
	return reference{m, i, len(others) - 1 - i, level}, m.len() == d.len()
}

func (r reference) refers() reference { return r }
func (r reference) rowLen(i int) int  { return r.other.RowLen(i) }

// reference returns the reference to another matrix that m is, and whether it is one.
func (m Matrix) reference() (reference, bool) {
	if b, ok := m.body.(interface{ refers() reference }); ok {
		return b.refers(), true
	}
	return reference{}, false
}

// Reference returns which of the matrices that m was made or parsed with it refers
// to, and whether it refers to one.
func (m Matrix) Reference() (number int, ok bool) {
	r, ok := m.reference()
	return r.number, ok
}

// Levels of the encodings that refer to a matrix. Sums may refer to a transposed
// matrix, as the displacements at the receiving side of an exchange do, and that to one
// that changed since another exchange.
const (
	changedLevel = 1
	copyLevel    = 2
	sumLevel     = 3
)

// same are the rows of another matrix.
type same struct{ reference }

func newSame(d Domain, rows [][]int64, others []Matrix, i int) matrixBody {
	r, ok := refer(d, others, i, copyLevel)
	if !ok {
		return nil
	}
	for i, row := range r.other.all() {
		if !slices.Equal(row, rows[i]) {
			return nil
		}
	}
	return same{r}
}

func (b same) appendRow(dst []int64, i, n int) []int64 { return b.other.AppendRowBegin(dst, i, n) }

// transposed are the columns of another matrix, which is square.
type transposed struct{ reference }

func newTransposed(d Domain, rows [][]int64, others []Matrix, i int) matrixBody {
	r, ok := refer(d, others, i, copyLevel)
	if !ok || !square(d, r.other) {
		return nil
	}
	other := r.other.body.(ownBody)
	for i, row := range rows {
		if len(row) != len(rows) {
			return nil
		}
		for j, v := range row {
			if other.at(j, i) != v {
				return nil
			}
		}
	}
	return transposed{r}
}

// square reports whether m has a row and a column for each process of the whole
// group that d is.
func square(d Domain, m Matrix) bool {
	s, ok := d.Ranks.(rankenc.Set)
	n := s.Len()
	if f, flat := m.body.(*flat); flat && f.starts != nil { // rows of different lengths
		return false
	}
	return ok && n > 0 && n == d.Size && s.Equal(rankenc.World(n)) && m.len() == n && m.body.rowLen(0) == n
}

func (b transposed) rowLen(int) int { return b.other.len() }
func (b transposed) appendRow(dst []int64, i, n int) []int64 {
	return b.other.body.(ownBody).appendColumn(dst, i, n) // since it is of a lower level
}

// sums are, in each row, what all elements before add up to in the same row of
// another matrix, times scale, plus base.
type sums struct {
	reference
	base  Column // for each row
	scale int64
}

func newSums(d Domain, rows [][]int64, others []Matrix, i int) matrixBody {
	r, ok := refer(d, others, i, sumLevel)
	if !ok {
		return nil
	}
	b := &sums{reference: r}
	base := make([]int64, len(rows))
	known := false // whether scale is
	for i, counts := range r.other.all() {
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

func (b *sums) appendRow(dst []int64, i, n int) []int64 {
	from := len(dst)
	dst = b.other.AppendRowBegin(dst, i, n)
	v := b.base.At(i)
	for j, count := range dst[from:] {
		dst[from+j] = v
		v += b.scale * count
	}
	return dst
}
