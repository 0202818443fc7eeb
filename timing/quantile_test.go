package timing

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
)

// quantileColumns are distributions as durations have them.
var quantileColumns = map[string]func(r *rand.Rand) float64{
	"uniform":     func(r *rand.Rand) float64 { return 1e6 * r.Float64() },
	"exponential": func(r *rand.Rand) float64 { return 1e5 * r.ExpFloat64() },
	"log-normal":  func(r *rand.Rand) float64 { return 1e4 * math.Exp(r.NormFloat64()) },
	"two peaks": func(r *rand.Rand) float64 {
		if r.IntN(10) == 0 {
			return 1e6 + 1e4*r.NormFloat64()
		}
		return 2e4 + 1e3*r.NormFloat64()
	},
}

// TestQuantileError holds what the documentation of Quantile says of its error: how far the share of
// values below is from the share that was asked for, in percent of all values.
func TestQuantileError(t *testing.T) {
	for name, draw := range quantileColumns {
		for seed := range uint64(6) {
			bins := []int{8, 32}[seed%2]
			var (
				all    []int64
				merged Histograms
				one    *Histogram
			)
			r := rand.New(rand.NewPCG(seed, 2))
			for rank := range uint32(16) {
				b, err := NewHistogramsBuilder(HistogramOptions{Bins: bins})
				if err != nil {
					t.Fatal(err)
				}
				for range 5000 {
					v := max(int64(draw(r)), 0)
					all = append(all, v)
					b.Append(0, v)
				}
				if h := b.Finish(rank); rank == 0 {
					one = h.Find(Path{Previous: NoPrevious})
					merged.Merge(h)
				} else {
					merged.Merge(h)
				}
			}
			first := slices.Sorted(slices.Values(all[:5000]))
			slices.SortFunc(all, cmp.Compare)
			all16 := merged.Find(Path{Previous: NoPrevious})
			few := quantileError(all16.Reduce(16), all)
			of1, of16 := quantileError(one, first), quantileError(all16, all)
			t.Logf("%s, %d bins: %.2f %% of one series, %.2f %% of 16, %.2f %% in 16 bins", name, bins, of1, of16, few)
			if most := map[int]float64{8: 5.5, 32: 2}[bins]; max(of1, of16) > most || few > 5.5 {
				t.Errorf("%s, %d bins: %.2f %%, %.2f %%, %.2f %%; at most %v %% is said, and 5.5 %% of 16 bins", name, bins, of1, of16, few, most)
			}
		}
	}
}

// quantileError returns the largest error for several shares, in percent of all values.
func quantileError(h *Histogram, sorted []int64) (worst float64) {
	for _, q := range []float64{0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999} {
		v := h.Quantile(q)
		low := float64(sort.Search(len(sorted), func(i int) bool { return sorted[i] >= v })) / float64(len(sorted))
		high := float64(sort.Search(len(sorted), func(i int) bool { return sorted[i] > v })) / float64(len(sorted))
		worst = max(worst, low-q, q-high)
	}
	return 100 * worst
}
