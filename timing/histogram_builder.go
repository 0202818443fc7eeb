package timing

import (
	"cmp"
	"math"
	"slices"
)

// Numbers of bins of a histogram of one series.
const (
	defaultHistogramBins = 8
	maxHistogramBins     = 64
)

// A histogramBuilder makes the histogram of a series of values of a rank, as a
// [HistogramsBuilder] does of several. The zero histogramBuilder is ready for use.
type histogramBuilder struct {
	statistics Statistics
	edges      []int64 // bin i holds the values v with edges[i−1] ≤ v < edges[i]
	bins       []growingBin
	size       int // number of bins; 0 means defaultHistogramBins
	added      uint64
}

// A growingBin describes the values of a bin.
type growingBin struct {
	count   uint64
	mean    float64
	squares float64 // sum of the squares of distances from the mean
}

// Bins are balanced again when a number of values were added since the last
// time: at least balanceValues, and a share 1/balanceShare of all.
const (
	balanceValues = 8
	balanceShare  = 32
)

// add adds the next value. It takes constant time.
func (b *histogramBuilder) add(v int64) {
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
func (b *histogramBuilder) create(v int64) {
	n := cmp.Or(b.size, defaultHistogramBins)
	b.bins = make([]growingBin, n)
	b.edges = make([]int64, n-1, n)
	x := max(-0x1p61, min(float64(v), 0x1p61))
	for i := range b.edges {
		b.edges[i] = int64(math.Ceil(float64(2*x) * float64(i+1) / float64(n)))
	}
	slices.Sort(b.edges)
}

// bounds returns the ends of a bin, within the extremes. It is empty if low > high.
func (b *histogramBuilder) bounds(i int) (low, high int64) {
	low, high = b.statistics.Min, b.statistics.Max
	if i > 0 {
		low = max(low, b.edges[i-1])
	}
	if i < len(b.edges) && b.edges[i] <= high {
		high = b.edges[i] - 1
	}
	return low, high
}

// balance merges the two neighbours that have the fewest values, and splits the
// bin that has the most, as often as the former have at most half as many.
func (b *histogramBuilder) balance() {
	for range b.bins {
		fullest, at := b.fullest()
		if fullest < 0 {
			return
		}
		pair := emptiest(b.bins, fullest)
		if pair < 0 || b.bins[pair].count+b.bins[pair+1].count > b.bins[fullest].count/2 {
			return
		}
		b.split(fullest, at)
		if pair > fullest {
			pair++
		}
		b.merge(pair)
	}
}

// fullest returns the bin that has the most values of those that can be split,
// and where; −1 if there is none.
func (b *histogramBuilder) fullest() (fullest int, at int64) {
	fullest = -1
	for i, bin := range b.bins {
		if bin.count < 2 || bin.squares == 0 || fullest >= 0 && bin.count <= b.bins[fullest].count {
			continue
		}
		low, high := b.bounds(i)
		if e := int64(math.Ceil(bin.mean)); low < e && e <= high {
			fullest, at = i, e
		}
	}
	return fullest, at
}

// emptiest returns the first of the two neighbours that have the fewest values,
// where neither has the index apart; −1 if there are none.
func emptiest(bins []growingBin, apart int) int {
	pair, fewest := -1, uint64(math.MaxUint64)
	for i := range bins[1:] {
		if n := bins[i].count + bins[i+1].count; n < fewest && i != apart && i+1 != apart {
			pair, fewest = i, n
		}
	}
	return pair
}

// merge makes one bin of two neighbours.
func (b *histogramBuilder) merge(i int) {
	b.bins[i].merge(&b.bins[i+1])
	b.bins = slices.Delete(b.bins, i+1, i+2)
	b.edges = slices.Delete(b.edges, i, i+1)
}

// merge adds the values of q.
func (p *growingBin) merge(q *growingBin) {
	n := float64(p.count) + float64(q.count)
	if n == 0 {
		return
	}
	d, share := q.mean-p.mean, float64(q.count)/n
	p.squares += q.squares + float64(float64(d*d)*float64(float64(p.count)*share))
	p.mean += float64(d * share)
	p.count += q.count
}

// split divides a bin. What of it is below, and the means and variances of both
// parts, are those of a span; the mean and the variance of both together
// remain what they were.
func (b *histogramBuilder) split(i int, at int64) {
	low, high := b.bounds(i)
	all := b.bins[i]
	below, above := all.mean-float64(low), float64(high)-all.mean
	t := shapeOf(below, above, all.squares/float64(all.count))
	least := math.Floor(float64(float64(all.count)*above)/(below+above) + 0.5)
	n := max(1, min(uint64(min(least, 0x1p63)), all.count-1))
	p, q := growingBin{count: n}, growingBin{count: all.count - n}
	nearer, farther := below/(t+1), above/(t+1)
	if ratio := float64(p.count) / float64(q.count); float64(nearer*ratio) <= above {
		farther = float64(nearer * ratio)
	} else {
		nearer = farther / ratio
	}
	end := float64(at)
	p.mean = max(float64(low), min(all.mean-nearer, end))
	q.mean = max(end, min(all.mean+farther, float64(high)))
	between := float64(float64(nearer*nearer)*float64(p.count)) + float64(float64(farther*farther)*float64(q.count))
	within := max(0, all.squares-between)
	partOfP, partOfQ := float64(float64(below*below)*float64(p.count)), float64(float64(above*above)*float64(q.count))
	share := partOfP / (partOfP + partOfQ)
	p.squares, q.squares = float64(within*share), float64(within*(1-share))
	b.bins[i] = p
	b.bins = slices.Insert(b.bins, i+1, q)
	b.edges = slices.Insert(b.edges, i, at)
}

// histogram returns the histogram of the values so far, which were all of one rank.
func (b *histogramBuilder) histogram(rank uint32) *Histogram {
	h := &Histogram{statistics: b.statistics}
	s := &h.statistics
	s.MinRank, s.MaxRank = rank, rank
	if s.Min == s.Max {
		return h
	}
	for i := range b.bins {
		if b.bins[i].count > 0 {
			low, high := b.bounds(i)
			h.spans = append(h.spans, newSpan(low, high, b.bins[i]))
		}
	}
	h.spans = numbered(h.spans)
	return h
}
