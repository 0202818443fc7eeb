package timing

import (
	"math"
	"slices"
)

// balance merges the two neighbours that have the fewest values, and splits the
// bin that has the most, as often as the former have at most half as many.
func (b *HistogramBuilder) balance() {
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
func (b *HistogramBuilder) fullest() (fullest int, at int64) {
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
func (b *HistogramBuilder) merge(i int) {
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
// parts, are those of a [span]; the mean and the variance of both together
// remain what they were.
func (b *HistogramBuilder) split(i int, at int64) {
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

// Finish returns the histogram of the values, which were all of one rank. The
// builder must not be used after that.
func (b *HistogramBuilder) Finish(rank uint32) *Histogram {
	h := &Histogram{statistics: b.statistics}
	if s := &h.statistics; s.Count > 0 {
		s.MinRank, s.MaxRank = rank, rank
		if s.Min < s.Max {
			h.spans = b.spans()
		}
	}
	return h
}

// spans returns the bins that have values.
func (b *HistogramBuilder) spans() []span {
	spans := make([]span, 0, len(b.bins))
	for i := range b.bins {
		if b.bins[i].count > 0 {
			low, high := b.bounds(i)
			spans = append(spans, newSpan(low, high, b.bins[i]))
		}
	}
	return numbered(spans)
}
