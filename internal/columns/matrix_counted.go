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

// A countModel codes numbers row by row. What is expected of a number is the mean of those before it in its column and
// of one that is like those in the columns to its left: about that which a Gamma–Poisson model predicts. The number
// is its difference from that, in units of about an eighth of the deviation of Poisson's distribution. The bits of a
// difference are predicted by those of numbers of which about as much was expected.
type countModel struct {
	coder  adaptive.Coder
	sums   []uint64 // of each column
	sum    uint64   // of all
	row    uint64   // complete rows
	left   int64    // the mean of the columns to the left, the nearest most, in units of 1/2^leftUnit
	coarse [64]*countClass
	fine   [64 << fineBits]*countClass
}

// A countClass predicts differences of numbers of which about the same was expected. Its nodes are those of a tree of
// the bits of a difference.
type countClass [1 << differenceBits]adaptive.Bit

const (
	maxCountBits   = 32
	differenceBits = 7 // of a difference and half of what these can be; the smallest and the largest have more
	middle         = 1 << differenceBits / 2

	meanUnit = 4  // means are in units of 1/2⁴
	leftUnit = 12 // or less

	fineBits = 3 // of a mean, below its first, that tell classes apart
	fewBits  = 8 // of a mean up to which they do; above, only the highest of them
)

func newCountModel(columns int) *countModel { return &countModel{sums: make([]uint64, columns)} }

// code writes v, which is the next number and in column j, or reads it, and returns it.
func (m *countModel) code(j int, v uint64) uint64 {
	mean := m.mean(j)
	n := bits.Len64(mean)
	shift := uint(max(0, (n-meanUnit)/2-3)) // the deviation is 2^(n−meanUnit)/2
	center := int64((mean + 1<<meanUnit/2) >> meanUnit >> shift)
	d := int64(v>>shift) - center
	at := int64(m.difference(mean, n, uint32(max(0, min(d+middle, 2*middle-1))))) - middle
	switch at {
	case -middle:
		at -= int64(m.rest(uint64(at - d)))
	case middle - 1:
		at += int64(m.rest(uint64(d - at)))
	}
	x := uint64(center + at)
	for i := int(shift) - 1; i >= 0; i-- {
		x = x<<1 | uint64(m.coder.Even(uint32(v>>i)&1))
	}
	m.sums[j] += x
	m.sum += x
	if j == len(m.sums)-1 {
		m.row++
	}
	return x
}

// mean returns what is expected of the next number in column j.
func (m *countModel) mean(j int) uint64 {
	switch {
	case j > 0:
		m.left += (int64(m.sums[j-1]<<leftUnit/(m.row+1)) - m.left) / 8
	case m.row > 0:
		m.left = int64(m.sum << leftUnit / (m.row * uint64(len(m.sums))))
	}
	return (m.sums[j]<<meanUnit + uint64(m.left)>>(leftUnit-meanUnit)) / (m.row + 1)
}

// difference codes the bits of u. Where a mean of n bits has not been expected yet, one of as many bits predicts them.
func (m *countModel) difference(mean uint64, n int, u uint32) uint32 {
	k := uint64(n) << fineBits
	if n > fineBits {
		k |= mean >> (n - 1 - fineBits) & (1<<fineBits - 1)
	} else {
		k |= mean & (1<<fineBits - 1)
	}
	if n > fewBits {
		k &^= 1<<(fineBits-1) - 1
	}
	coarse, fine := m.coarse[n&63], m.fine[k&(64<<fineBits-1)]
	if coarse == nil {
		coarse = new(countClass)
		m.coarse[n&63] = coarse
	}
	if fine == nil {
		fine = new(countClass)
		m.fine[k&(64<<fineBits-1)] = fine
	}
	node := uint32(1)
	for i := differenceBits - 1; i >= 0; i-- {
		parent := coarse[node].Or(adaptive.Even)
		bit := m.coder.Adapt(&fine[node], parent, u>>i&1)
		coarse[node] = parent.Learned(bit)
		node = node<<1 | bit
	}
	return node - 1<<differenceBits
}

// rest codes a number that hardly ever is not 0: how many bits it has, and these.
func (m *countModel) rest(v uint64) uint64 {
	n := 0
	for n < 64 && m.coder.Even(uint32(min(v>>n, 1))) == 1 {
		n++
	}
	x := uint64(min(n, 1))
	for i := n - 2; i >= 0; i-- {
		x = x<<1 | uint64(m.coder.Even(uint32(v>>i)&1))
	}
	return x
}
