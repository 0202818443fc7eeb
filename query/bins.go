package query

import (
	"math/bits"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/timing"
)

// crowded is the share of a bin in which almost all of its values are if they are crowded
// in it.
const crowded = 0.5

// binsOf returns the bins of a histogram, of those that are crowded only where their
// values are. What is negative counts as 0.
func binsOf(h *timing.Histogram) []bin {
	var list []bin
	for _, b := range h.Bins() {
		low, high := max(0, float64(b.Low)), max(0, float64(b.High))
		least, most := max(low, b.Mean-2*b.StandardDeviation), min(high, b.Mean+2*b.StandardDeviation)
		if octave(most)-octave(least) < crowded*(octave(high)-octave(low)) {
			low, high = least, most
		}
		list = append(list, bin{low, high, b.Count, max(0, b.Mean) * float64(b.Count)})
	}
	return list
}

// LogBins count values in bins of which there are eight for each power of two. The zero
// logBins are empty.
type logBins struct {
	first int // number of the first bin
	list  []logBin
}

type logBin struct {
	count uint64
	sum   uint64
}

// logBits is the number of bits of a value that tell its bin.
const logBits = 4

// logNumber returns the number of the bin of a value.
func logNumber(v uint64) int {
	shift := max(0, bits.Len64(v)-logBits)
	return shift<<(logBits-1) + int(v>>shift)
}

// logRange returns the least and the greatest value of a bin.
func logRange(number int) (low, high uint64) {
	shift := max(0, number>>(logBits-1)-1)
	low = uint64(number-shift<<(logBits-1)) << shift
	return low, low + 1<<shift - 1
}

// add adds a value. What is negative counts as 0.
func (l *logBins) add(v int64) {
	n := logNumber(uint64(max(0, v)))
	l.at(n).add(logBin{1, uint64(max(0, v))})
}

// at returns the bin of a number.
func (l *logBins) at(n int) *logBin {
	switch {
	case len(l.list) == 0:
		l.first, l.list = n, make([]logBin, 1)
	case n < l.first:
		l.list = slices.Insert(l.list, 0, make([]logBin, l.first-n)...)
		l.first = n
	case n >= l.first+len(l.list):
		l.list = append(l.list, make([]logBin, n-l.first-len(l.list)+1)...)
	}
	return &l.list[n-l.first]
}

func (b *logBin) add(o logBin) {
	b.count += o.count
	b.sum = wire.AddSat(b.sum, o.sum)
}

// merge adds the values of o.
func (l *logBins) merge(o *logBins) {
	for i, b := range o.list {
		if b.count > 0 {
			l.at(o.first + i).add(b)
		}
	}
}

// bins returns the bins that have values.
func (l *logBins) bins() []bin {
	var list []bin
	for i, b := range l.list {
		if b.count > 0 {
			low, high := logRange(l.first + i)
			list = append(list, bin{float64(low), float64(high), b.count, float64(b.sum)})
		}
	}
	return list
}
