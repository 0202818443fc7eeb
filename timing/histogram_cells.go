package timing

import (
	"math"
	"math/bits"
	"slices"
)

// A span is a bin of a histogram, of which some things about its values are
// known: their number, their mean and their variance. Of the values, the share
// (high−mean)/(high−low) is below the mean. A value below is mean−(mean−low)·uᵗ,
// and one above is mean+(high−mean)·uᵗ, where u is uniform from 0 to 1. Whatever
// t is, mean is the mean then, and the variance is (mean−low)(high−mean)/(2t+1),
// which can have any value that is possible. With t = 1 the values are uniform
// on both sides of the mean.
//
// Nothing here depends on the machine: it is computed without fused operations
// and with no functions but the square root.
type span struct {
	low, high int64   // low ≤ high
	count     uint64  // at least 1
	before    uint64  // number of values in the spans before
	mean      float32 // (mean−low)/(high−low), of 16 bits
	shape     int8    // t = 2^shape; minShape ≤ shape ≤ maxShape
}

const (
	minShape = -3
	maxShape = 12
)

// numbered sets of each span how many values are before it, and returns the spans.
func numbered(spans []span) []span {
	var n uint64
	for i := range spans {
		spans[i].before = n
		n += spans[i].count
	}
	return spans
}

// width returns the distance of the ends; 0 if all values are taken to be low.
func (s *span) width() float64 { return float64(s.high) - float64(s.low) }

// average returns the mean.
func (s *span) average() float64 {
	return min(float64(s.low)+float64(s.width()*float64(s.mean)), float64(s.high))
}

// deviation returns the standard deviation.
func (s *span) deviation() float64 {
	mean := float64(s.mean)
	spread := math.Sqrt(float64(mean*(1-mean)) / (2*math.Ldexp(1, int(s.shape)) + 1))
	return float64(s.width() * spread)
}

// newSpan returns the span of a bin that has values and such ends.
func newSpan(low, high int64, bin growingBin) span {
	s := span{low: low, high: high, count: bin.count}
	if s.width() == 0 {
		return s
	}
	below := bin.mean - float64(low)
	s.mean = half(max(0, min(below/s.width(), 1)))
	t := shapeOf(below, float64(high)-bin.mean, bin.squares/float64(bin.count))
	fraction, exponent := math.Frexp(t)
	if fraction < math.Sqrt2/2 {
		exponent--
	}
	s.shape = int8(max(minShape, exponent))
	return s
}

// half returns the number from 0 to 1 of which a float32 needs the upper half of its bits, that is nearest.
func half(x float64) float32 {
	return math.Float32frombits((math.Float32bits(float32(x)) + 1<<15) &^ (1<<16 - 1))
}

// bin is the inverse of newSpan.
func (s *span) bin() growingBin {
	d := s.deviation()
	return growingBin{s.count, s.average(), float64(float64(d*d) * float64(s.count))}
}

// shapeOf returns t, if the mean is so far from both ends: at least 0, and at
// most 2^maxShape.
func shapeOf(below, above, variance float64) float64 {
	t := (float64(below*above)/variance - 1) / 2
	switch {
	case t > 0 && t < 1<<maxShape:
		return t
	case t <= 0:
		return 0
	}
	return 1 << maxShape
}

// power returns u to the power 2^k.
func power(u float64, k int8) float64 {
	for ; k > 0; k-- {
		u = float64(u * u)
	}
	for ; k < 0; k++ {
		u = math.Sqrt(u)
	}
	return u
}

// at returns the value of which the share f of the values is smaller.
func (s *span) at(f float64) int64 {
	mean := float64(s.mean)
	below := 1 - mean
	var place float64
	switch {
	case f < below:
		place = float64(mean * (1 - power(1-f/below, s.shape)))
	case mean > 0:
		place = mean + float64(below*power(min((f-below)/mean, 1), s.shape))
	}
	x := float64(s.low) + float64(s.width()*place)
	x = math.Floor(x + 0.5)
	if x >= float64(s.high) { // not every int64 is a float64
		return s.high
	}
	return max(s.low, int64(x))
}

// upTo returns the share of the values that are at most v, where low ≤ v.
func (s *span) upTo(v int64) float64 {
	if v >= s.high || s.width() == 0 {
		return 1
	}
	x := float64(v) - float64(s.low) + 0.5
	mean, place := float64(s.mean), x/s.width()
	below := 1 - mean
	if place < mean {
		return float64(below * (1 - power((mean-place)/mean, -s.shape)))
	}
	if below == 0 {
		return 1
	}
	return below + float64(mean*power(min((place-mean)/below, 1), -s.shape))
}

// countUpTo returns upTo times the number of values, rounded.
func (s *span) countUpTo(v int64) uint64 {
	if v >= s.high {
		return s.count
	}
	if v < s.low {
		return 0
	}
	n := math.Floor(float64(s.upTo(v)*float64(s.count)) + 0.5)
	if n >= float64(s.count) {
		return s.count
	}
	return uint64(n)
}

// maxCells is the number of cells that a merged histogram has at most.
const maxCells = 512

// A cell is an interval of a grid that is the same for all histograms, and how many values are there. Cells
// have an index, which grows with the values. On the finest grid, of level 0, that of 0 has index 0, each
// octave has 64 cells of equal length, and a cell holds an integer at least. On the grid of level k, the cell
// with index i holds those from i·2ᵏ to (i+1)·2ᵏ−1.
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
