package timing

import (
	"math"
	"math/bits"
	"slices"
)

// maxCells is the number of cells that a merged histogram has at most.
const maxCells = 512

// A cell is an interval of a grid that is the same for all histograms, and how
// many values are there. Cells have an index, which grows with the values. On
// the finest grid, of level 0, that of 0 has index 0, each octave has 64 cells
// of equal length, and a cell holds an integer at least. On the grid of level k, the cell with index i holds those from i·2ᵏ to (i+1)·2ᵏ−1.
//
// The level of a histogram is the least where it has at most maxCells cells that
// are not empty. Adding values can only make the number of such cells
// larger, on every level, so that the level of a part of the values is not above
// that of all: what a part has lost, the whole would lose.
type cell struct {
	index int32
	count uint64
}

// lastLevel is the level on which there are no more than maxCells cells at all.
const lastLevel = 9

// octaveBits is how many bits of a number after the first tell its cell of the
// finest grid.
const octaveBits = 6

// cellIndex returns the index of the cell of v on the finest grid.
func cellIndex(v int64) int32 {
	if v < 0 {
		return -naturalIndex(-uint64(v))
	}
	return naturalIndex(uint64(v))
}

// naturalIndex is cellIndex of an integer n ≥ 0.
func naturalIndex(n uint64) int32 {
	if n < 2<<octaveBits {
		return int32(n)
	}
	k := bits.Len64(n) - 1 - octaveBits
	return int32(k)<<octaveBits + int32(n>>k)
}

// leastNatural returns the least integer with an index i ≥ 0, in 64 bits.
func leastNatural(i int32) uint64 {
	if i < 2<<octaveBits {
		return uint64(i)
	}
	const octave = 1 << octaveBits
	return (octave + uint64(i%octave)) << (i/octave - 1)
}

// lowest returns the lower end of a cell of the finest grid, or the least value
// for an index below those of all values.
func lowest(i int32) int64 {
	switch {
	case i <= cellIndex(math.MinInt64):
		return math.MinInt64
	case i < 0:
		return -int64(leastNatural(1-i) - 1)
	}
	return int64(leastNatural(i))
}

// highest returns the upper end of a cell of the finest grid, or the largest
// value for an index above those of all values.
func highest(i int32) int64 {
	switch {
	case i >= cellIndex(math.MaxInt64):
		return math.MaxInt64
	case i < 0:
		return -int64(leastNatural(-i))
	}
	return int64(leastNatural(i+1) - 1)
}

// cellsOf returns the cells of the finest grid that have values of the spans of
// a series: the minimum, the maximum, and as many of the others as the spans have
// there by what they know of them.
func cellsOf(spans []span) []cell {
	last := len(spans) - 1
	least, most := spans[0].low, spans[last].high
	cells := make([]cell, 1, 64)
	cells[0] = cell{cellIndex(least), 1}
	for i, s := range spans {
		if i == 0 {
			s.count--
		}
		if i == last {
			s.count--
		}
		cells = s.spread(cells, cellIndex(s.low), cellIndex(s.high), 0, s.count)
	}
	return addCell(cells, cell{cellIndex(most), 1})
}

// spread adds the values with numbers from begin to end, in their order, to
// cells: to those with indices from first to last, where they are.
func (s *span) spread(cells []cell, first, last int32, begin, end uint64) []cell {
	if begin == end {
		return cells
	}
	if first == last {
		return addCell(cells, cell{first, end - begin})
	}
	middle := first + (last-first)/2
	n := max(begin, min(s.countUpTo(highest(middle)), end))
	cells = s.spread(cells, first, middle, begin, n)
	return s.spread(cells, middle+1, last, n, end)
}

// addCell adds the values of c, which is not before the last cell.
func addCell(cells []cell, c cell) []cell {
	if n := len(cells); n > 0 && cells[n-1].index == c.index {
		cells[n-1].count += c.count
		return cells
	}
	return append(cells, c)
}

// mergeCells returns the sum of two histograms and its level.
func mergeCells(a []cell, levelA uint8, b []cell, levelB uint8) ([]cell, uint8) {
	level := max(levelA, levelB)
	sum := make([]cell, 0, len(a)+len(b))
	for len(a) > 0 || len(b) > 0 {
		if len(b) == 0 || len(a) > 0 && a[0].index>>(level-levelA) <= b[0].index>>(level-levelB) {
			sum = addCell(sum, cell{a[0].index >> (level - levelA), a[0].count})
			a = a[1:]
		} else {
			sum = addCell(sum, cell{b[0].index >> (level - levelB), b[0].count})
			b = b[1:]
		}
	}
	for len(sum) > maxCells {
		level++
		all := sum
		sum = sum[:0]
		for _, c := range all {
			sum = addCell(sum, cell{c.index >> 1, c.count})
		}
	}
	return slices.Clone(sum), level // without the room that was needed
}

// spansOf returns the bins that cells are. Their means are at the same
// place in each, such that the sum of all values is what it is.
func spansOf(cells []cell, level uint8, all *Statistics) []span {
	spans := make([]span, len(cells))
	var lows, widths float64
	for i, c := range cells {
		s := &spans[i]
		s.low = max(lowest(c.index<<level), all.Min)
		s.high = min(highest((c.index+1)<<level-1), all.Max)
		s.count = c.count
		lows += float64(float64(s.low) * float64(c.count))
		widths += float64(s.width() * float64(c.count))
	}
	mean := float32(0.5)
	if widths > 0 {
		mean = float32(max(0, min((all.Sum()-lows)/widths, 1)))
	}
	for i := range spans {
		if spans[i].width() > 0 {
			spans[i].mean = mean
		}
	}
	return numbered(spans)
}
