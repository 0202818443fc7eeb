package columns

import (
	"github.com/reprise-trace/reprise/internal/wire"
)

// rowSums are the sums of the rows of a matrix over the same domain, as the number of elements that a process
// sends in all is the sum of those that it sends to each.
type rowSums struct {
	number int // of the matrix
	values []int64
}

// RowSums returns the column of the sums of the rows of m, to which its encoding refers by that number, and
// whether m is small enough for that.
func RowSums(m Matrix, number int) (c Column, ok bool) {
	values := make([]int64, 0, min(m.len(), maxLen))
	ok = eachRowSum(m, func(sum int64) bool {
		values = append(values, sum)
		return true
	})
	return newColumn(m.domain, &rowSums{number, values}), ok
}

// AreRowSums reports whether values are the sums of the rows of m, and m is small enough for [RowSums].
func AreRowSums(values []int64, m Matrix) bool {
	return len(values) == m.len() && eachRowSum(m, func(sum int64) bool {
		same := sum == values[0]
		values = values[1:]
		return same
	})
}

// eachRowSum calls yield with the sum of each row of m until it returns false. It reports whether it came to the end:
// not if m is empty or too large.
func eachRowSum(m Matrix, yield func(int64) bool) bool {
	var row []int64
	for i, elements := 0, 0; i < m.len(); i++ {
		if elements += 1 + m.body.rowLen(i); elements > maxLen {
			return false
		}
		row = m.AppendRow(row[:0], i)
		sum := int64(0)
		for _, v := range row {
			sum += v
		}
		if !yield(sum) {
			return false
		}
	}
	return m.len() > 0
}

// AppendRowSums appends the encoding of the column that [RowSums] returns to dst.
func AppendRowSums(dst []byte, number int) []byte { return (&rowSums{number: number}).append(dst) }

// RowSumsOf returns the number of the matrix of which an encoded column is the sums of the rows, and whether it
// is that.
func RowSumsOf(enc []byte) (number int, ok bool) {
	d := wire.NewDecoder("rankenc", enc)
	if d.Byte("encoding") != headRowSums {
		return 0, false
	}
	number = int(d.UvarintMax("matrix", maxLen))
	return number, d.Err() == nil && d.Rest() == 0
}

func (b *rowSums) at(i int, _, _ int64) int64 { return b.values[i] }
func (b *rowSums) text() string               { return "sums of rows" }
func (b *rowSums) append(dst []byte) []byte {
	return wire.AppendUvarint(append(dst, headRowSums), uint64(b.number))
}
