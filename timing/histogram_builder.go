package timing

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Numbers of bins of a histogram of one series.
const (
	DefaultHistogramBins = 8
	MaxHistogramBins     = 64
)

// HistogramOptions configures [NewHistogramBuilder] and [NewHistogramsBuilder].
// The zero HistogramOptions is the default configuration.
type HistogramOptions struct {
	// Bins is the number of bins of a series, from 2 to MaxHistogramBins. Zero
	// means DefaultHistogramBins.
	Bins int

	// PathSensitive asks for a histogram for each pair of a terminal and the
	// terminal of the rank's call before, and not for each terminal. One
	// histogram alone does not depend on it.
	PathSensitive bool
}

// A HistogramBuilder makes the [Histogram] of a series of values of a rank, with
// the algorithm of Ratn, Mueller, de Supinski and Schulz, "Preserving Time in
// Large-Scale Communication Traces", ICS 2008, §3.2. Bins of equal size are made
// from 0 to twice the first value. The outermost ones grow with new
// extremes. From time to time, two neighbours with few values become one, and the
// bin with the most values is split at its mean.
//
// Every value is counted in the bin where it belongs when it is added. What is on
// which side of a split is estimated; see the package documentation for how
// this departs from the paper.
//
// The zero HistogramBuilder is ready for use, with the default options. A
// HistogramBuilder must not be used by two goroutines at once.
type HistogramBuilder struct {
	statistics Statistics
	edges      []int64 // bin i holds the values v with edges[i−1] ≤ v < edges[i]
	bins       []growingBin
	size       int // number of bins; 0 means DefaultHistogramBins
	added      uint64
}

// A growingBin is what is known of the values of a bin.
type growingBin struct {
	count   uint64
	mean    float64
	squares float64 // sum of the squares of distances from the mean
}

// NewHistogramBuilder returns a builder with such options.
func NewHistogramBuilder(o HistogramOptions) (*HistogramBuilder, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	return &HistogramBuilder{size: o.Bins}, nil
}

func (o HistogramOptions) check() error {
	if o.Bins != 0 && (o.Bins < 2 || o.Bins > MaxHistogramBins) {
		return fmt.Errorf("timing: %d bins are not from 2 to %d", o.Bins, MaxHistogramBins)
	}
	return nil
}

// Bins are balanced again when a number of values were added since the last
// time: at least balanceValues, and a share 1/balanceShare of all.
const (
	balanceValues = 8
	balanceShare  = 32
)

// Add adds the next value. It takes constant time.
func (b *HistogramBuilder) Add(v int64) {
	if b.statistics.Count == 0 {
		b.create(v)
	}
	b.statistics.Add(0, v)
	i := 0
	for _, e := range b.edges {
		if v >= e {
			i++
		}
	}
	bin, x := &b.bins[i], float64(v)
	bin.count++
	d := x - bin.mean
	bin.mean += d / float64(bin.count)
	bin.squares += float64(d * (x - bin.mean))
	if b.added++; b.added >= max(balanceValues, b.statistics.Count/balanceShare) {
		b.added = 0
		b.balance()
	}
}

// create makes bins of equal size from 0 to 2v.
func (b *HistogramBuilder) create(v int64) {
	n := cmp.Or(b.size, DefaultHistogramBins)
	b.bins = make([]growingBin, n)
	b.edges = make([]int64, n-1, n)
	x := max(-0x1p61, min(float64(v), 0x1p61))
	for i := range b.edges {
		b.edges[i] = int64(math.Ceil(float64(2*x) * float64(i+1) / float64(n)))
	}
	slices.Sort(b.edges)
}

// bounds returns the ends of a bin, within the extremes. It is empty if low > high.
func (b *HistogramBuilder) bounds(i int) (low, high int64) {
	low, high = b.statistics.Min, b.statistics.Max
	if i > 0 {
		low = max(low, b.edges[i-1])
	}
	if i < len(b.edges) && b.edges[i] <= high {
		high = b.edges[i] - 1
	}
	return low, high
}
