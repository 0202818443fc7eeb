package columns

import (
	"math/bits"

	"github.com/reprise-trace/reprise/internal/adaptive"
	"github.com/reprise-trace/reprise/internal/wire"
)

// counted are rows of equal length of numbers from 0 on, such as how many things each
// process sends to each, that are likely to be about as large as those before them in their
// column. They are written row by row with an adaptive entropy coder, and held as bits.
type counted struct {
	rows, length int
	width        uint   // of a number in bits
	stride       int    // from row to row, in bytes of bits
	bits         []byte // those of a row begin at a byte
	enc          []byte
}

// Limits of counted.
const (
	maxCount     = 1<<maxCountBits - 1
	cellsPerByte = 32  // of enc, at most
	fewCells     = 256 // are not counted
)

// newCounted returns an encoding of rows of less than limit bytes, or nil.
func newCounted(d Domain, rows [][]int64, _ Options, limit int) matrixBody {
	if len(rows) == 0 || len(rows[0])*len(rows) < fewCells || len(rows[0]) > maxLen {
		return nil
	}
	b := &counted{rows: len(rows), length: len(rows[0])}
	var all uint64
	for _, row := range rows {
		if len(row) != b.length {
			return nil
		}
		for _, v := range row {
			if uint64(v) > maxCount {
				return nil
			}
			all |= uint64(v)
		}
	}
	b.width = width(all)
	b.stride = int(bitsLen(b.length, b.width))
	m := newCountModel(b.length)
	m.coder.Write(nil)
	for _, row := range rows {
		b.appendBits(row)
		for j, v := range row {
			m.code(j, uint64(v))
		}
		if m.coder.Len() >= limit {
			return nil
		}
	}
	if b.enc = m.coder.Finish(); uint64(b.length)*uint64(b.rows) > cellsPerByte*uint64(len(b.enc)) {
		return nil
	}
	return b
}

// appendBits adds the next row.
func (b *counted) appendBits(row []int64) {
	b.bits = appendBits(b.bits, len(row), b.width, func(j int) uint64 { return uint64(row[j]) })
}

func (b *counted) rowLen(int) int { return b.length }

func (b *counted) at(i, j int) int64 {
	return int64(bitsAt(b.bits, i*b.stride*8+j*int(b.width), b.width))
}

func (b *counted) appendRow(dst []int64, i, n int) []int64 {
	return b.appendSteps(dst, n, i*b.stride*8, int(b.width))
}

func (b *counted) appendColumn(dst []int64, j, n int) []int64 {
	return b.appendSteps(dst, n, j*int(b.width), b.stride*8)
}

// appendSteps appends n numbers, of which the first begins at a bit, and each of the others so
// many bits after the one before.
func (b *counted) appendSteps(dst []int64, n, bit, step int) []int64 {
	dst, values := extend(dst, n)
	unpackSteps(values, b.bits, bit, step, b.width)
	return dst
}

func (b *counted) append(dst []byte) []byte {
	dst = wire.AppendUvarint(append(dst, headCounted), uint64(b.length))
	dst = wire.AppendUvarint(dst, uint64(b.width))
	dst = wire.AppendUvarint(dst, uint64(len(b.enc)))
	return append(dst, b.enc...)
}

func decodeCounted(d *wire.Decoder, domain Domain) matrixBody {
	at := d.Offset()
	b := &counted{rows: domain.len(), length: int(d.UvarintMax("length", maxLen)),
		width: uint(d.UvarintMax("width", maxCountBits))}
	enc := d.Bytes("numbers", d.Count("bytes", 1))
	if cells := wire.MulSat(uint64(b.rows), uint64(b.length)); cells > wire.MulSat(cellsPerByte,
		uint64(len(enc))) || cells == 0 {
		d.Corrupt(at, "length", "%d rows of %d elements in %d bytes", b.rows, b.length, len(enc))
	}
	if d.Err() != nil {
		return nil
	}
	b.enc = append([]byte(nil), enc...)
	b.stride = int(bitsLen(b.length, b.width))
	m := newCountModel(b.length)
	m.coder.Read(b.enc)
	row := make([]int64, b.length)
	for range b.rows {
		for j := range row {
			v := m.code(j, 0)
			if width(v) > b.width {
				d.Corrupt(at, "numbers", "%d, which takes more than %d bits", v, b.width)
				return nil
			}
			row[j] = int64(v)
		}
		b.appendBits(row)
	}
	if !m.coder.Finished() {
		d.Corrupt(at, "numbers", "%d bytes do not end with the last of them", len(b.enc))
		return nil
	}
	return b
}

// A countModel codes numbers row by row. The bits of a number are predicted by those of
// numbers of which about as much was expected: the mean of those in its column so far and of
// one that is the mean of all.
type countModel struct {
	coder   adaptive.Coder
	sums    []uint64 // of each column
	sum     uint64   // of all
	row     uint64   // complete rows
	classes [2 * 64]*countClass
}

// A countClass predicts numbers of which about the same is expected. A number is the number
// of its bits, as so many ones and a zero, then the bits below the first, of which at most
// upperBits are predicted.
type countClass struct {
	length [maxCountBits]adaptive.Bit
	upper  [maxCountBits + 1][1 << upperBits]adaptive.Bit // by length
}

const (
	maxCountBits = 32
	upperBits    = 3
)

func newCountModel(columns int) *countModel { return &countModel{sums: make([]uint64, columns)} }

// code writes v, which is the next number and in column j, or reads it, and returns it.
func (m *countModel) code(j int, v uint64) uint64 {
	c := m.class(j)
	n := uint(0)
	for n < maxCountBits && m.coder.Adapt(&c.length[n], adaptive.Even, uint32(min(v>>n, 1))) == 1 {
		n++
	}
	x := uint64(min(n, 1)) // what is known of v
	for left, node := n, 1; left > 1; left-- {
		bit := uint32(v >> (left - 2) & 1)
		if node < 1<<upperBits {
			bit = m.coder.Adapt(&c.upper[n][node], adaptive.Even, bit)
			node = node<<1 | int(bit)
		} else {
			bit = m.coder.Even(bit)
		}
		x = x<<1 | uint64(bit)
	}
	m.sums[j] += x
	m.sum += x
	if j == len(m.sums)-1 {
		m.row++
	}
	return x
}

// class returns the class of the next number in column j.
func (m *countModel) class(j int) *countClass {
	const unit = 8 // of means
	mean := uint64(0)
	if n := m.row*uint64(len(m.sums)) + uint64(j); n > 0 {
		mean = unit * m.sum / n
	}
	mean = (unit*m.sums[j] + mean) / (m.row + 1)
	n := bits.Len64(mean)
	k := 2 * n
	if n > 1 {
		k += int(mean >> (n - 2) & 1)
	}
	if m.classes[k] == nil {
		m.classes[k] = new(countClass)
	}
	return m.classes[k]
}
