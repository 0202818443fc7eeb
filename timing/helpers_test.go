package timing

import (
	"math"

	"github.com/reprise-trace/reprise/internal/wire"
)

// parseStatistics returns the statistics encoded in data. The error is a
// [*ParseError].
func parseStatistics(data []byte) (*Statistics, error) {
	d := wire.NewDecoder("timing", data)
	s := decodeStatistics(&d)
	d.End("statistics")
	if err := d.Err(); err != nil {
		return nil, err
	}
	return s, nil
}

// parseHistogram returns the histogram encoded in data. The error is a
// [*ParseError].
func parseHistogram(data []byte) (*Histogram, error) {
	d := wire.NewDecoder("timing", data)
	h := decodeHistogram(&d)
	d.End("histogram")
	if err := d.Err(); err != nil {
		return nil, err
	}
	return h, nil
}

// cdf returns about what share of the values are at most v; NaN if there are no
// values.
func (h *Histogram) cdf(v int64) float64 {
	s := &h.statistics
	switch {
	case s.Count == 0:
		return math.NaN()
	case v < s.Min:
		return 0
	case v >= s.Max:
		return 1
	}
	var below float64
	for _, s := range h.readable() {
		if v < s.low {
			break
		}
		below += float64(s.upTo(v) * float64(s.count))
	}
	return min(below/float64(s.Count), 1)
}

// A random is a generator of pseudo-random numbers, SplitMix64.
type random struct{ state uint64 }

func newRandom(seed uint64) *random { return &random{seed} }

func (r *random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// float returns a number from 0 to 1.
func (r *random) float() float64 { return float64(r.next()>>11) / (1 << 53) }
