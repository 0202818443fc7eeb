package bench

import (
	"slices"

	"github.com/reprise-trace/reprise/internal/test/recorded"
)

// A peer is what other programs make of the columns of a kind of all ranks of a
// run, in bits per value, as they were measured once.
type peer struct {
	zstd, zfp, sz3, sz3Sorted, hist float64
}

// measuredPeers are the peers by run and kind. They were measured on the recorded
// runs that this package reads, on a machine of two cores with Debian 12, on all
// ranks one after the other:
//
//   - zstd: the program zstd -19, on seconds in float64. Those of gaps could not be
//     had again, perhaps because gaps were subtracted as such, which would fill their
//     low bits with noise: measuredZstd is the fair one;
//   - zfp: ZFP with an accuracy of 10 µs, which guarantees no relative error;
//   - sz3, sz3Sorted: SZ3 of February 2026, on the logarithms with an absolute bound
//     of ln 1.1, which is a relative error of 10 %; in the order of the calls, and
//     sorted by signature;
//   - hist: HIST as in the article of Wang, Guo, Balaji and Snir, with a relative error
//     of 10 %: 100 samples, K = 5, escapes of 32 bits.
var measuredPeers = map[string]map[string]peer{
	"lu.W.8": {
		"durations": {12.95, 3.70, 4.90, 4.25, 13.94},
		"gaps":      {27.36, 7.41, 5.48, 3.22, 7.81},
		"intervals": {18.56, 7.58, 1.30, 2.22, 8.37},
	},
	"cg.W.8": {
		"durations": {20.84, 8.77, 6.69, 5.74, 12.07},
		"gaps":      {28.27, 4.51, 5.81, 4.30, 8.63},
		"intervals": {53.22, 14.79, 5.46, 5.95, 15.68},
	},
	"mg.W.8": {
		"durations": {23.52, 7.61, 6.86, 6.21, 23.07},
		"gaps":      {35.55, 4.37, 5.73, 4.80, 20.75},
		"intervals": {56.53, 16.37, 3.84, 6.95, 30.09},
	},
}

// sz3Best returns the bits of SZ3 in the better of its two orders.
func (p peer) sz3Best() float64 { return min(p.sz3, p.sz3Sorted) }

// zstdBits are the bits per value that zstd -19 takes for nanoseconds of 8 bytes.
type zstdBits struct {
	byRank float64 // each rank's column apart, as codecs have them
	joined float64 // the columns of all ranks one after the other
}

// measuredZstd is what zstd -19, version 1.5.4, makes of the recorded runs, by run
// and kind. Unlike times, it is the same wherever it is measured.
var measuredZstd = map[string]map[string]zstdBits{
	"cg.W.8": {"durations": {14.52, 13.63}, "gaps": {10.75, 10.16}, "intervals": {24.97, 25.19}},
	"hpcc.4": {"durations": {9.54, 9.17}, "gaps": {4.48, 4.45}, "intervals": {9.80, 9.43}},
	"is.W.8": {"durations": {31.53, 26.42}, "gaps": {28.43, 21.33}, "intervals": {34.96, 29.35}},
	"lu.W.8": {"durations": {11.93, 11.29}, "gaps": {11.07, 10.66}, "intervals": {15.74, 14.91}},
	"mg.W.8": {"durations": {15.02, 15.15}, "gaps": {15.12, 13.46}, "intervals": {23.87, 24.80}},
}

// A Point is what a codec takes with a relative error.
type Point struct {
	Error float64 // at most, relative to the value; 0 if values are exact
	Bits  float64 // per value
}

// A Curve is what a codec takes over the relative error that it guarantees.
type Curve struct {
	Name   string
	Points []Point // in ascending order of errors
}

// SizesAndErrors are the sizes of durations and gaps over the relative errors that
// codecs guarantee.
type SizesAndErrors struct {
	Runs   []string
	Values int     // durations and gaps
	Codecs []Curve // lossy ones, each with several errors
	Exact  []Curve // lossless ones
	Bound  Curve   // entropy of the bins given the signature
	Peers  []Curve // as measured once
}

// errorsToShow are the relative errors at which codecs are drawn.
var errorsToShow = []float64{0.001, 0.01, 0.05, 0.1, 0.2, 0.5}

// MeasureSizesAndErrors measures the codecs on those recorded runs in a directory
// on which others were measured, too.
func MeasureSizesAndErrors(dir string) (SizesAndErrors, error) {
	var s SizesAndErrors
	ranks, err := readTimes(dir)
	if err != nil {
		return s, err
	}
	ranks = slices.DeleteFunc(ranks, func(r *recorded.Rank) bool { return measuredPeers[r.Run] == nil })
	in := append(columns(ranks, 0), columns(ranks, 1)...)
	for _, run := range byRun(ranks) {
		s.Runs = append(s.Runs, run[0].Run)
	}
	s.Values = 2 * calls(ranks)
	s.Bound.Name = "entropy of bins given the signature"
	for _, epsilon := range errorsToShow {
		list, lossy, err := contenders(epsilon)
		if err != nil {
			return s, err
		}
		if err := addPoints(&s.Codecs, list[:lossy], epsilon, in); err != nil {
			return s, err
		}
		if len(s.Exact) == 0 {
			if err := addPoints(&s.Exact, list[lossy:], 0, in); err != nil {
				return s, err
			}
		}
		bits, err := conditionalEntropy(epsilon, in)
		if err != nil {
			return s, err
		}
		s.Bound.Points = append(s.Bound.Points, Point{epsilon, bits / float64(s.Values)})
	}
	s.Peers = peerPoints(ranks)
	return s, nil
}

// addPoints adds a point to the curve of each codec, which it makes if it is the
// first.
func addPoints(curves *[]Curve, list []contender, epsilon float64, in []column) error {
	for i, c := range list {
		k, err := c.keep(in, bySignature, 1)
		if err != nil {
			return err
		}
		if i == len(*curves) {
			*curves = append(*curves, Curve{Name: c.name})
		}
		(*curves)[i].Points = append((*curves)[i].Points, Point{epsilon, k.bits()})
	}
	return nil
}

// peerPoints returns what others take for durations and gaps, if they guarantee a
// relative error.
func peerPoints(ranks []*recorded.Rank) []Curve {
	var sz3, hist, zstd float64
	for _, run := range byRun(ranks) {
		for _, kind := range kinds[:2] {
			n, p := float64(calls(run)), measuredPeers[run[0].Run][kind.name]
			sz3 += n * p.sz3Best()
			hist += n * p.hist
			zstd += n * measuredZstd[run[0].Run][kind.name].joined
		}
	}
	n := 2 * float64(calls(ranks))
	return []Curve{
		{"SZ3, better of two orders", []Point{{epsilon, sz3 / n}}},
		{"HIST as published", []Point{{epsilon, hist / n}}},
		{"zstd -19", []Point{{0, zstd / n}}},
	}
}
