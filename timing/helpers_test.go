package timing

import (
	"math"
	"math/big"

	"pgregory.net/rapid"

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

// within reports, in exact arithmetic, whether |d̂−d| ≤ ε·|d|.
func within(got, d int64, epsilon float64) bool {
	const prec = 200 // bits of an int64 times ε, and more
	number := func(v int64) *big.Float { return new(big.Float).SetPrec(prec).SetInt64(v) }
	x, y := number(got), number(d)
	e := new(big.Float).SetPrec(prec).Sub(x, y)
	y.Mul(y.Abs(y), new(big.Float).SetPrec(prec).SetFloat64(epsilon))
	return e.Abs(e).Cmp(y) <= 0
}

// valueGen draws numbers of all magnitudes and signs, zero included.
func valueGen() *rapid.Generator[int64] {
	return rapid.Custom(func(t *rapid.T) int64 {
		u := rapid.Uint64().Draw(t, "u")
		return int64(u>>rapid.IntRange(0, 63).Draw(t, "shift")) * (1 - 2*rapid.Int64Range(0, 1).Draw(t, "sign"))
	})
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
