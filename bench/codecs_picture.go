package bench

import (
	"slices"

	"github.com/reprise-trace/reprise/internal/recorded"
)

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
		list, err := lossy(epsilon)
		if err != nil {
			return s, err
		}
		if err := addPoints(&s.Codecs, list, epsilon, in); err != nil {
			return s, err
		}
		bits, err := conditionalEntropy(epsilon, in)
		if err != nil {
			return s, err
		}
		s.Bound.Points = append(s.Bound.Points, Point{epsilon, bits / float64(s.Values)})
	}
	err = addPoints(&s.Exact, lossless(), 0, in)
	s.Peers = peerPoints(ranks)
	return s, err
}

// addPoints adds a point to the curve of each codec, which it makes if it is the
// first.
func addPoints(curves *[]Curve, list []contender, epsilon float64, in []column) error {
	for i, c := range list {
		k, err := c.keep(in, bySignature)
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
