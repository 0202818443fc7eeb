package bench

import (
	"fmt"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/timing"
)

// kept is what is left of values that were encoded and decoded: their size, and
// how far they are from what they were.
type kept struct {
	values, bytes int
	worst         float64 // relative error |d̂−d|/|d| of a value d; +Inf if d = 0 and d̂ is not
	relative      float64 // sum of relative errors
	nonzero       int     // values that are not 0, of which the mean error is
	squares       float64 // sum of squared errors
	least, most   int64   // of the values
}

// add takes account of values and of what became of them.
func (k *kept) add(values, got []int64) {
	for i, v := range values {
		if k.values == 0 && i == 0 {
			k.least, k.most = v, v
		}
		k.least, k.most = min(k.least, v), max(k.most, v)
		if v != 0 {
			k.nonzero++
		}
		if got[i] == v {
			continue
		}
		far := math.Abs(float64(got[i] - v))
		relative := math.Inf(1)
		if v != 0 {
			relative = far / math.Abs(float64(v))
			k.relative += relative
		}
		k.worst = max(k.worst, relative)
		k.squares += float64(far * far)
	}
	k.values += len(values)
}

// bits returns the bits per value.
func (k kept) bits() float64 { return 8 * k.bytesPerValue() }

func (k kept) bytesPerValue() float64 { return float64(k.bytes) / float64(k.values) }

// ratio returns how much smaller the values are than with 8 bytes each.
func (k kept) ratio() float64 { return 8 / k.bytesPerValue() }

// mean returns the mean relative error of the values that are not 0; the others
// have none.
func (k kept) mean() float64 { return k.relative / max(float64(k.nonzero), 1) }

// psnr returns the peak signal-to-noise ratio in decibels: the range of the
// values relative to the root of the mean squared error. It is +Inf for exact values.
func (k kept) psnr() float64 {
	return 20 * math.Log10((float64(k.most)-float64(k.least))/math.Sqrt(k.squares/float64(k.values)))
}

// cells returns size and errors as columns of a table.
func (k kept) cells() string {
	errors := "exact | exact | ∞"
	if k.squares > 0 {
		errors = fmt.Sprintf("%.2f %% | %.2f %% | %.1f", 100*k.worst, 100*k.mean(), k.psnr())
	}
	return fmt.Sprintf("%.3f | %.1f | %s", k.bytesPerValue(), k.ratio(), errors)
}

// conditionalEntropy returns the bits that the bins of columns take at least, all together, if
// each depends on the signature and on nothing else: the empirical entropy of bins
// given the terminal, rank by rank. What it costs to tell how often each bin
// occurs is not part of it, so that columns with few values for a signature cannot
// come close.
func conditionalEntropy(epsilon float64, columns []column) (float64, error) {
	bins, err := timing.NewBins(epsilon)
	if err != nil {
		return 0, err
	}
	type event struct {
		terminal uint32
		symbol   int32
	}
	total := 0.0
	for _, c := range columns {
		all, each := make(map[uint32]int), make(map[event]int)
		for i, v := range c.values {
			all[c.terminals[i]]++
			each[event{c.terminals[i], bins.Symbol(v)}]++
		}
		var sum []float64
		for e, n := range each {
			sum = append(sum, float64(n)*math.Log2(float64(all[e.terminal])/float64(n)))
		}
		slices.Sort(sum) // the order of a map is none
		for _, s := range sum {
			total += s
		}
	}
	return total, nil
}
