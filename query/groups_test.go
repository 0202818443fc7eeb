package query

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/timing"
)

// distributions are some of durations, in nanoseconds, and how many groups they are.
var distributions = []struct {
	name   string
	groups int
	hidden bool // if there are few bins
	draw   func(r *rand.Rand) float64
}{
	{"Constant", 1, false, func(*rand.Rand) float64 { return 1000 }},
	{"Zero", 1, false, func(*rand.Rand) float64 { return 0 }},
	{"Normal", 1, false, func(r *rand.Rand) float64 { return max(0, 1e5+2e4*r.NormFloat64()) }},
	{"Wide", 1, false, func(r *rand.Rand) float64 { return 1e4 * math.Exp(r.NormFloat64()) }},
	{"Exponential", 1, false, func(r *rand.Rand) float64 { return 1e5 * r.ExpFloat64() }},
	{"Uniform", 1, false, func(r *rand.Rand) float64 { return 1e5 * r.Float64() }},
	{"Outliers", 1, false, func(r *rand.Rand) float64 {
		if r.IntN(50) == 0 {
			return 1e8
		}
		return 1e4 * math.Exp(0.3*r.NormFloat64())
	}},
	{"NearTwice", 1, false, func(r *rand.Rand) float64 { return 1000 + 500*float64(r.IntN(2)) + 10*r.Float64() }},
	{"Two", 2, false, func(r *rand.Rand) float64 {
		return []float64{1e4, 1e6}[r.IntN(2)] * math.Exp(0.3*r.NormFloat64())
	}},
	{"Unequal", 2, true, func(r *rand.Rand) float64 {
		k := 0
		if r.IntN(8) == 0 {
			k = 1
		}
		return []float64{1e4, 2e5}[k] * math.Exp(0.3*r.NormFloat64())
	}},
	{"TwoConstants", 2, false, func(r *rand.Rand) float64 { return []float64{50, 700}[r.IntN(2)] }},
	{"Three", 3, true, func(r *rand.Rand) float64 {
		return []float64{1e3, 1e5, 1e7}[r.IntN(3)] * math.Exp(0.3*r.NormFloat64())
	}},
}

// TestGroups finds groups in values of known distributions.
func TestGroups(t *testing.T) {
	for _, d := range distributions {
		for _, n := range tier.Some([]int{100, 20000, 1000}, 2)[:tier.Number(1, 3)] {
			t.Run(fmt.Sprintf("%s/%d", d.name, n), func(t *testing.T) {
				wrong := map[string]int{}
				const tries = 50
				for seed := range uint64(tries) {
					r := rand.New(rand.NewPCG(seed, 1))
					var all timing.HistogramsBuilder
					var g logBins
					for range n {
						v := int64(d.draw(r))
						all.Append(0, v)
						g.add(v)
					}
					h := all.Finish(0).Find(timing.Path{Previous: timing.NoPrevious})
					merged := new(timing.Histogram)
					merged.Merge(h)
					for of, bins := range map[string][]bin{"series": g.bins(), "histogram": binsOf(h),
						"merged": binsOf(merged.Reduce(16))} {
						groups := groupsOf(bins)
						sum := uint64(0)
						for _, g := range groups {
							sum += g.Calls
						}
						if sum != uint64(n) {
							t.Fatalf("%d calls in groups of %d", sum, n)
						}
						if len(groups) != d.groups {
							wrong[of]++
						}
					}
				}
				for of, n := range wrong {
					const most = tries / 10
					if n > most && (of == "series" || !d.hidden) {
						t.Errorf("%s: %d of %d have not %d groups", of, n, tries, d.groups)
					}
				}
			})
		}
	}
}
