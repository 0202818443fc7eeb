package proxy

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// A Gaps says what is taken for the time between calls.
type Gaps string

// What a proxy knows of gaps.
const (
	Means Gaps = "mean"  // of the calls of a signature
	Drawn Gaps = "drawn" // from the histograms of signatures
	Every Gaps = "every" // as they were, call by call
)

// ErrNoTimes means that a trace does not say how long gaps are: it has no times of them, and no amounts of
// computing.
var ErrNoTimes = errors.New("proxy: the trace has no times")

// shares is how many values gaps are drawn from, each for an equal share of the calls.
const shares = 32

// checkTimes returns ErrNoTimes if options ask for computing, and it is not known how long.
func checkTimes(t *trace.Trace, o Options) error {
	if o.Compute != Spin && o.Compute != Sleep {
		return nil
	}
	_, gaps, err := t.Summaries()
	if err == nil && len(gaps.Statistics) == 0 && !slices.ContainsFunc(t.Functions(), semantics.HasAmount) {
		return ErrNoTimes
	}
	return err
}

// readGaps reads what is taken for the gaps before calls.
func (g *generator) readGaps() error {
	if g.options.Compute == None {
		return nil
	}
	_, gaps, err := g.trace.Summaries()
	if err != nil {
		return err
	}
	switch g.options.Gaps {
	case Every:
		if g.simgrid {
			return nil // amounts says them
		}
		return g.readEvery()
	case Drawn:
		if gaps.Histograms == nil {
			return errors.New("proxy: the trace has no histograms that gaps could be drawn from")
		}
	}
	drawn := make(map[uint32]*timing.Histogram) // by signature
	if g.options.Gaps == Drawn {
		for path, h := range gaps.Histograms.All() {
			if drawn[path.Terminal] == nil {
				drawn[path.Terminal] = new(timing.Histogram)
			}
			drawn[path.Terminal].Merge(h)
		}
	}
	for _, shape := range g.calls {
		for n, c := range shape {
			members := c.members
			if members == nil {
				members = []uint32{n}
			}
			var all timing.Statistics
			var h timing.Histogram
			for _, m := range members {
				if int(m) < len(gaps.Statistics) {
					all.Merge(&gaps.Statistics[m])
				}
				if drawn[m] != nil {
					h.Merge(drawn[m])
				}
			}
			if all.Count > 0 {
				c.gap = max(0, all.Mean()) * g.options.Scale / 1e9
			}
			if h.Statistics().Count > 0 && c.gap >= shortestGap {
				c.draws = draws(&h, c.gap)
			}
		}
	}
	return nil
}

// draws returns values, in nanoseconds, one for each of some equal shares of those of a histogram, whose mean
// is that of all, in seconds.
func draws(h *timing.Histogram, mean float64) []int64 {
	var list []int64
	sum := 0.0
	for i := range shares {
		list = append(list, h.Quantile((float64(i)+0.5)/shares))
		sum += float64(list[i])
	}
	if sum <= 0 {
		return nil
	}
	for i := range list {
		list[i] = int64(math.Round(float64(list[i]) * mean * 1e9 * shares / sum))
	}
	return list
}

// readEvery reads the gaps before all calls.
func (g *generator) readEvery() error {
	timed, _, err := g.trace.SeriesRanks()
	if err != nil {
		return err
	}
	if timed.Len() < g.trace.Content().Recorded.Len() {
		return errors.New("proxy: the trace does not have the times of every call, so that gaps are means")
	}
	read := 0
	for number, calls := range g.calls {
		if len(calls) == 0 {
			continue
		}
		shape, err := g.trace.Shape(number)
		if err != nil {
			return err
		}
		if length := shape.Grammar.Len(); length > uint64(maxTable-read)/uint64(shape.Ranks.Len()) {
			return fmt.Errorf("%w: the gaps of more than %d calls", errLimit, maxTable)
		}
		list := shape.Grammar.AppendSymbols(nil)
		for i, n := range list {
			if first, ok := g.folded[number][n]; ok {
				list[i] = first
			}
		}
		k := 0
		for _, rank := range shape.Ranks.All() {
			if err := g.readRank(calls, list, k, rank); err != nil {
				return err
			}
			k++
		}
		read += len(list) * k
	}
	return nil
}

// readRank reads the gaps of the k-th rank of a shape, which makes a list of calls.
func (g *generator) readRank(calls map[uint32]*call, list []uint32, k, rank int) error {
	if err := g.ctx.Err(); err != nil {
		return err
	}
	r, err := g.trace.Folded(rank, nil)
	if err != nil {
		return err
	}
	direct := r.Series().Form() == timing.Gaps
	i, end := 0, int64(0)
	for at, err := range r.Times(0) {
		if err != nil {
			return err
		}
		if i == len(list) {
			break
		}
		gap := at.Start - end
		switch {
		case i == 0:
			gap = 0
		case direct:
			gap = at.Delta
		}
		c := calls[list[i]]
		c.addGap(k, int64(math.Round(float64(max(gap, 0))*g.options.Scale)))
		end = at.Start + at.Duration
		i++
	}
	if i < len(list) {
		return fmt.Errorf("proxy: rank %d has the times of %d calls, not %d", rank, i, len(list))
	}
	return nil
}

// compute returns the statement for the gap before a call, or nothing if it is short.
func (g *generator) compute(c *call) (string, error) {
	switch {
	case g.options.Compute == None || c.signature.Function.Name == "MPI_Finalize":
		return "", nil
	case c.gaps != nil:
		n, err := g.number(c.gaps, c.key(), "gap", cst.Value.Int, numberName(""))
		if err != nil || n == "0" {
			return "", err
		}
		return fmt.Sprintf("compute(1e-9 * %s);", n), nil
	case c.gap < shortestGap:
		return "", nil
	case c.draws != nil:
		var cells []string
		for _, d := range c.draws {
			cells = append(cells, fmt.Sprint(d))
		}
		table, err := g.tables.add("gap", "long long", cells)
		return fmt.Sprintf("compute(1e-9 * drawn(%s, %d));", table, shares), err
	}
	return fmt.Sprintf("compute(%.3g);", c.gap), nil
}

// shortestGap is the shortest gap that a proxy computes for in the mean, in seconds: looking at the clock
// takes a good part of what is shorter.
const shortestGap = 200e-9
