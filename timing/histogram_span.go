package timing

import "math"

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
	mean      float32 // (mean−low)/(high−low)
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
	s.mean = float32(max(0, min(below/s.width(), 1)))
	t := shapeOf(below, float64(high)-bin.mean, bin.squares/float64(bin.count))
	fraction, exponent := math.Frexp(t)
	if fraction < math.Sqrt2/2 {
		exponent--
	}
	s.shape = int8(max(minShape, exponent))
	return s
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
