package query

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
)

// A measured is what the times of every call tell of a signature.
type measured struct {
	bins  logBins // of durations
	ranks int     // of which the times are known
	fast  RankMean
	slow  RankMean

	low, high Nanoseconds // between which the mean of the fastest rank was
}

// ReadSeries returns times as t has them, but with statistics made of the times of every
// call, of the ranks that have these. It decodes every call: it takes time in proportion
// to their number, some 30 to 300 ns for each and goroutine, as the codec does. Memory
// does not depend on their number.
func (t *Times) ReadSeries(ctx context.Context, o Options) (*Times, error) {
	timed, _, err := t.trace.SeriesRanks()
	if err != nil {
		return nil, err
	}
	ranks, err := o.ranks(t.trace, fewPerRank)
	if err != nil {
		return nil, err
	}
	ranks = slices.DeleteFunc(ranks, func(rank int) bool { return !timed.Contains(rank) })
	n := t.trace.Signatures()
	m := t.with([2]timing.Summary{{Statistics: make([]timing.Statistics, n)},
		{Statistics: make([]timing.Statistics, n)}})
	m.measured = make([]*measured, n)
	var (
		mu   sync.Mutex
		done = progress{tell: o.Progress}
	)
	err = o.each(ctx, len(ranks), func(i int) error {
		sites, err := t.measure(ctx, ranks[i], o.Region)
		if err != nil {
			return err
		}
		mu.Lock()
		m.add(ranks[i], sites)
		mu.Unlock()
		done.add(1)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// A rankSite is the times of the calls of a rank that are of one signature.
type rankSite struct {
	statistics [2]timing.Statistics // of durations and of gaps
	bins       logBins
}

// measure returns the times of the calls of a rank in a region, of all if that is nil, by signature: of equal calls under
// several, the first has all, as in the summaries of a trace.
func (t *Times) measure(ctx context.Context, rank int, g *Region) (map[int]*rankSite, error) {
	r, err := t.trace.Folded(rank, nil)
	if err != nil {
		return nil, err
	}
	var (
		sites = make(map[int]*rankSite)
		lasts = make(map[int]timing.Time) // the last call of each thread
		calls uint64
	)
	err = seriesOf(r, g, func(terminal sequitur.Symbol, position uint64, at timing.Time, first bool) error {
		n := r.Signature(terminal)
		site := sites[n]
		if site == nil {
			site = new(rankSite)
			sites[n] = site
		}
		site.statistics[durations].Add(uint32(rank), at.Duration)
		site.bins.add(at.Duration)
		thread := r.Call(terminal).Thread()
		if first {
			clear(lasts)
		}
		if last, ok := lasts[thread]; ok {
			gap := wire.SubTimes(wire.SubTimes(at.Start, last.Start), last.Duration)
			if r.Series().Form() == timing.Gaps {
				gap = at.Delta // to which the error of a long call before does not add
			}
			site.statistics[gaps].Add(uint32(rank), gap)
		}
		lasts[thread] = at
		if calls++; calls%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if off := r.Series().Guarantee(); len(sites) > 0 && off > timing.Exact {
		for _, s := range sites {
			s.statistics[durations].SetSumError(sumError(&s.statistics[durations], off))
		}
	}
	return sites, nil
}

// sumError returns how far the sum of values may be off that have a guarantee: as each v̂ is off
// by at most g·|v|, that is g/(1−g)·Σ|v̂|.
func sumError(s *timing.Statistics, g timing.Guarantee) uint64 {
	const margin = 1 + 1e-9 // for what is rounded here
	sum := s.Sum()
	if s.Min < 0 {
		sum = float64(s.Count) * max(-float64(s.Min), float64(s.Max))
	}
	bound := math.Ceil(margin * float64(g) / (1 - float64(g)) * sum)
	if !(bound < math.MaxUint64) {
		return math.MaxUint64
	}
	return uint64(bound)
}

// add adds the times of a rank. The result does not depend on the order of ranks.
func (t *Times) add(rank int, sites map[int]*rankSite) {
	for n, s := range sites {
		for i := range s.statistics {
			t.summaries[i].Statistics[n].Merge(&s.statistics[i])
		}
		m := t.measured[n]
		if m == nil {
			m = new(measured)
			t.measured[n] = m
		}
		of := &s.statistics[durations]
		mean, off := RankMean{rank, Nanoseconds(of.Mean())}, Nanoseconds(of.SumError())/Nanoseconds(of.Count)
		if of.SumError() == math.MaxUint64 {
			off = Nanoseconds(math.Inf(1))
		}
		if m.ranks == 0 || mean.Mean-off < m.low {
			m.low = mean.Mean - off
		}
		if m.ranks == 0 || mean.Mean+off < m.high {
			m.high = mean.Mean + off
		}
		if m.ranks == 0 || mean.Mean < m.fast.Mean || mean.Mean == m.fast.Mean && rank < m.fast.Rank {
			m.fast = mean
		}
		if m.ranks == 0 || mean.Mean > m.slow.Mean || mean.Mean == m.slow.Mean && rank < m.slow.Rank {
			m.slow = mean
		}
		m.ranks++
		m.bins.merge(&s.bins)
	}
}

// crowded is the share of a bin in which almost all of its values are if they are crowded
// in it.
const crowded = 0.5

// binsOf returns the bins of a histogram, of those that are crowded only where their
// values are. What is negative counts as 0.
func binsOf(h *timing.Histogram) []bin {
	var list []bin
	for _, b := range h.Bins() {
		low, high := max(0, float64(b.Low)), max(0, float64(b.High))
		least, most := max(low, b.Mean-2*b.StandardDeviation), min(high, b.Mean+2*b.StandardDeviation)
		if octave(most)-octave(least) < crowded*(octave(high)-octave(low)) {
			low, high = least, most
		}
		list = append(list, bin{low, high, b.Count, max(0, b.Mean) * float64(b.Count)})
	}
	return list
}

// LogBins count values in bins of which there are eight for each power of two. The zero
// logBins are empty.
type logBins struct {
	first int // number of the first bin
	list  []logBin
}

type logBin struct {
	count uint64
	sum   uint64
}

// logBits is the number of bits of a value that tell its bin.
const logBits = 4

// logNumber returns the number of the bin of a value.
func logNumber(v uint64) int {
	shift := max(0, bits.Len64(v)-logBits)
	return shift<<(logBits-1) + int(v>>shift)
}

// logRange returns the least and the greatest value of a bin.
func logRange(number int) (low, high uint64) {
	shift := max(0, number>>(logBits-1)-1)
	low = uint64(number-shift<<(logBits-1)) << shift
	return low, low + 1<<shift - 1
}

// add adds a value. What is negative counts as 0.
func (l *logBins) add(v int64) {
	n := logNumber(uint64(max(0, v)))
	l.at(n).add(logBin{1, uint64(max(0, v))})
}

// at returns the bin of a number.
func (l *logBins) at(n int) *logBin {
	switch {
	case len(l.list) == 0:
		l.first, l.list = n, make([]logBin, 1)
	case n < l.first:
		l.list = slices.Insert(l.list, 0, make([]logBin, l.first-n)...)
		l.first = n
	case n >= l.first+len(l.list):
		l.list = append(l.list, make([]logBin, n-l.first-len(l.list)+1)...)
	}
	return &l.list[n-l.first]
}

func (b *logBin) add(o logBin) {
	b.count += o.count
	b.sum = wire.AddSat(b.sum, o.sum)
}

// merge adds the values of o.
func (l *logBins) merge(o *logBins) {
	for i, b := range o.list {
		if b.count > 0 {
			l.at(o.first + i).add(b)
		}
	}
}

// bins returns the bins that have values.
func (l *logBins) bins() []bin {
	var list []bin
	for i, b := range l.list {
		if b.count > 0 {
			low, high := logRange(l.first + i)
			list = append(list, bin{float64(low), float64(high), b.count, float64(b.sum)})
		}
	}
	return list
}
