package numbers

import (
	"fmt"
	"math/bits"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/wire"
)

// AppendTable appends an encoding of columns of equal length to dst, and returns the
// extended slice: each number as its distance from what those above it let expect. So it is
// short where the numbers of a column are similar. A decoder has to know the numbers of rows
// and columns, and of each column a class: numbers of a class are likely to be as similar. It panics
// if columns have different lengths, or there is no class.
func AppendTable(dst []byte, class func(column int) uint32, columns ...[]uint32) []byte {
	rows := 0
	if len(columns) > 0 {
		rows = len(columns[0])
	}
	need.That(class != nil, "numbers: a table without classes")
	c := newNumberCoder(rows, len(columns))
	c.Coder.Write(dst)
	for i, column := range columns {
		if len(column) != rows {
			panic(fmt.Sprintf("numbers: a table of columns of %d and %d numbers", rows, len(column)))
		}
		c.begin(i, class(i))
		for _, n := range column {
			c.next(n)
		}
	}
	return c.Coder.Finish()
}

// ParseTable returns the columns in data, of so many rows. The error is a
// [*wire.Error]. It takes memory in proportion to data.
func ParseTable(data []byte, rows, columns int, class func(column int) uint32) ([][]uint32, error) {
	fail := func(format string, args ...any) ([][]uint32, error) {
		return nil, &wire.Error{Package: "timing", Field: "numbers",
			Err: fmt.Errorf("%w: "+format, append([]any{wire.ErrCorrupt}, args...)...)}
	}
	// Each number takes 1/maxNumbers of a bit at least. Columns without rows take memory, too.
	if wire.MulSat(uint64(max(rows, 1)), uint64(columns)) > maxNumbers*8*uint64(len(data)+8) {
		return fail("%d columns of %d rows in %d bytes", columns, rows, len(data))
	}
	c := newNumberCoder(rows, columns)
	c.Coder.Read(data)
	table := make([][]uint32, columns)
	for i := range table {
		c.begin(i, class(i))
		column := make([]uint32, rows)
		table[i] = column
		for row := range column {
			column[row] = c.next(0)
			if c.Coder.Ended() {
				return fail("the number ends in column %d of %d", i, columns)
			}
			if c.bad {
				return fail("column %d has a number that is no distance from %d", i, c.expected())
			}
		}
	}
	if !c.Coder.Finished() {
		return fail("the number ends otherwise")
	}
	return table, nil
}

// maxNumbers is how many numbers a bit has at most: each is led by a bit that is very likely.
const maxNumbers = 22

// The kinds of bits and numbers of a table.
const (
	numberDistance = iota
	numberSign
)

// A numberCoder writes the numbers of a table, or reads them.
type numberCoder struct {
	Model
	column   int
	class    uint64
	mean     uint64 // of those above, in units of 1/meanUnit, of which the last count most
	first    bool   // none is above
	distance int    // bits of that of the number above
	bad      bool
}

const meanUnit = 1 << 8

func newNumberCoder(rows, columns int) *numberCoder {
	c := new(numberCoder)
	c.Reset(int(min(wire.MulSat(uint64(rows), uint64(columns)), 1<<20)))
	return c
}

// begin begins a column.
func (c *numberCoder) begin(column int, class uint32) {
	c.column, c.class, c.mean, c.first, c.distance = column, uint64(class), 0, true, 0
}

// expected returns the number that is likely to be next.
func (c *numberCoder) expected() uint32 { return uint32((c.mean + meanUnit/2) / meanUnit) }

// next codes a number.
func (c *numberCoder) next(n uint32) uint32 {
	if c.Coder.Code(0, 1<<11) != 0 { // so that numbers are at most in proportion to the input
		c.bad = true
		return 0
	}
	expected := c.expected()
	below := n < expected
	distance := max(n, expected) - min(n, expected)
	last := uint64(c.distance)
	if c.first {
		last = 63
	}
	column := uint64(c.column)
	coded := c.Small(numberDistance, 6, uint64(distance), c.class, c.class<<6|last, column<<1|min(last>>5, 1))
	if bits.Len64(coded) > 32 {
		c.bad = true
		return 0
	}
	distance = uint32(coded)
	if distance > 0 && expected > 0 {
		below = c.Flag(numberSign, below, 0, column)
	} else {
		below = false
	}
	c.distance = bits.Len32(distance)
	switch {
	case below && distance > expected, !below && distance > ^uint32(0)-expected:
		c.bad = true
		return 0
	case below:
		n = expected - distance
	default:
		n = expected + distance
	}
	if c.first {
		c.mean = uint64(n) * meanUnit
	} else {
		c.mean = (3*c.mean + uint64(n)*meanUnit) / 4
	}
	c.first = false
	return n
}
