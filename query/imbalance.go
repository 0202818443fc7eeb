package query

import (
	"cmp"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/timing"
)

// A Site is a call as the ranks make it, a signature of the trace, and how the durations
// of these calls differ, in nanoseconds.
type Site struct {
	Signature int    `json:"signature"` // of the trace, see [trace.Trace.Signature]
	Function  string `json:"function"`
	Call      string `json:"call,omitempty"` // in words, which who prints it has to set
	Ranks     int    `json:"ranks"`          // that make the call; of a Site that is Exact, those whose times were read
	Calls     uint64 `json:"calls"`

	Durations

	// Wait is the imbalance time: what goes by in these calls because they do not all take
	// as long as the shortest.
	//
	// If the Site is Exact, that is by rank: the sum over the ranks of how often one
	// makes the call, times by how much its mean duration is above that of the rank
	// where it is least. So it is 0 if all ranks spend the same time in it, however
	// different single calls are.
	//
	// Otherwise it is an upper bound of this: the sum of all durations less Calls · Min,
	// or 0 if one rank alone makes the call.
	Wait      Nanoseconds `json:"wait_ns"`
	WaitError Nanoseconds `json:"wait_error_ns"` // how far Wait may be off, +Inf if that is not known
	Exact     bool        `json:"exact"`

	// The ranks with the least and the greatest mean duration, and these, if the Site is
	// Exact.
	Fast *RankMean `json:"fastest,omitempty"`
	Slow *RankMean `json:"slowest,omitempty"`

	// Groups are those that the durations fall in, as far as histograms or the times of
	// every call tell; otherwise there are none. They are of at least a twentieth of
	// the calls each, with means that differ by a factor of two at least, and apart: on
	// a scale of logarithms, durations between them are less than half as frequent as
	// where they are most frequent in either. Histograms of few bins may hide one.
	Groups []Group `json:"groups,omitempty"`
}

// A RankMean is the mean duration of the calls of a rank.
type RankMean struct {
	Rank int         `json:"rank"`
	Mean Nanoseconds `json:"mean_ns"`
}

// Imbalance returns the calls of which durations are known, those of most imbalance time
// first, and last those that are [OutsideRun]. It takes time in proportion to the grammars of the shapes, and to the
// number of signatures and their histograms. They are Exact if t is from [Times.ReadSeries].
func (t *Times) Imbalance() ([]Site, error) {
	ranks, err := t.ranksOfSignatures()
	if err != nil {
		return nil, err
	}
	histograms := t.histograms()
	var sites []Site
	for n := range t.trace.Signatures() {
		s := t.statistics(durations, n)
		if s == nil {
			continue
		}
		site := Site{
			Signature: n, Function: t.trace.Functions()[t.trace.FunctionOf(n)].Name,
			Ranks: ranks[n], Calls: s.Count, Durations: *durationsOf(s),
		}
		switch {
		case t.measured != nil:
			m := t.measured[n]
			site.Exact, site.Ranks = true, m.ranks
			site.setWait(m)
			site.Fast, site.Slow = &m.fast, &m.slow
			site.Groups = groupsOf(m.bins.bins())
		case site.Ranks > 1:
			site.Wait, site.WaitError = max(0, site.Total-Nanoseconds(float64(s.Count)*float64(s.Min))), site.Error
		}
		if h := histograms[n]; h != nil {
			site.Groups = groupsOf(binsOf(h))
		}
		if last := len(site.Groups) - 1; last >= 0 { // bins may be wider
			site.Groups[0].Low, site.Groups[last].High = site.Min, site.Max
		}
		sites = append(sites, site)
	}
	slices.SortStableFunc(sites, func(a, b Site) int {
		return cmp.Or(CompareOutside(a.Function, b.Function), cmp.Compare(b.Wait, a.Wait),
			cmp.Compare(b.Total, a.Total))
	})
	return sites, nil
}

// setWait sets the wait time by what was measured.
func (s *Site) setWait(m *measured) {
	if s.Ranks == 1 {
		return // its mean, times the calls, is not quite the sum
	}
	n := Nanoseconds(s.Calls)
	s.Wait = max(0, s.Total-n*m.fast.Mean)
	switch {
	case s.Error == 0:
	case math.IsInf(float64(s.Error), 1) || math.IsInf(float64(m.high), 1):
		s.WaitError = Nanoseconds(math.Inf(1))
	default:
		least, most := max(0, s.Total-s.Error-n*m.high), max(0, s.Total+s.Error-n*m.low)
		s.WaitError = max(most-s.Wait, s.Wait-least)
	}
}

// ranksOfSignatures returns how many ranks make each call.
func (t *Times) ranksOfSignatures() ([]int, error) {
	m := t.trace
	ranks := make([]int, m.Signatures())
	for number := range m.Shapes() {
		if m.ShapeRanks(number).Len() == 0 {
			continue
		}
		s, err := m.Shape(number)
		if err != nil {
			return nil, err
		}
		for _, n := range s.Grammar.FirstUse() {
			ranks[n] += s.Ranks.Len()
		}
	}
	return ranks, nil
}

// histograms returns those of durations, by signature.
func (t *Times) histograms() map[int]*timing.Histogram {
	found := make(map[int]*timing.Histogram)
	if t.summaries[durations].Histograms == nil {
		return found
	}
	merged := make(map[int]bool)
	for p, h := range t.summaries[durations].Histograms.All() {
		n := int(p.Terminal)
		switch {
		case found[n] == nil:
			found[n] = h
		case !merged[n]: // what the trace has is not changed
			both := new(timing.Histogram)
			both.Merge(found[n])
			both.Merge(h)
			found[n], merged[n] = both, true
		default:
			found[n].Merge(h)
		}
	}
	return found
}

// A Group is durations that lie together, apart from others.
type Group struct {
	Low   int64       `json:"low_ns"` // Low ≤ duration ≤ High
	High  int64       `json:"high_ns"`
	Calls uint64      `json:"calls"`
	Mean  Nanoseconds `json:"mean_ns"`
}

// A bin is durations from low to high, which are not negative.
type bin struct {
	low, high float64
	count     uint64
	sum       float64
}

// Groups are told apart only if they are clear: two neighbours have at least a share of
// 1/groupShare of the calls each, and groupCalls calls, their means differ by a factor
// of groupFactor, and between them, on a scale of logarithms, durations are less than
// half as frequent as where they are most frequent in either.
const (
	groupShare  = 20
	groupCalls  = 4
	groupFactor = 2

	minOctaves = 1.0 / 8 // of a bin; narrower ones are not told apart from that
	maxOctaves = 1.0 / 2 // between bins that are joined
)

// groupsOf returns the groups of durations in bins, in ascending order: at least one
// if there is a bin.
func groupsOf(bins []bin) []Group {
	bins = coarsen(bins)
	var groups []group
	for i, b := range bins {
		low := octave(b.low)
		high := max(octave(b.high), low+minOctaves)
		g := group{bin: b, first: low, last: high, peak: float64(b.count) / (high - low)}
		if i > 0 {
			before := &groups[i-1]
			before.valley = min(before.likely(), g.likely())
			if empty := low - before.last; empty > 0 {
				before.valley = min(before.valley, groupCalls/empty) // as a few would not surprise
			}
		}
		groups = append(groups, g)
	}
	calls := uint64(0)
	for _, b := range bins {
		calls += b.count
	}
	for least := max(groupCalls, calls/groupShare); len(groups) > 1; {
		k := closest(groups, least)
		if k < 0 {
			break
		}
		groups[k].merge(&groups[k+1])
		groups = slices.Delete(groups, k+1, k+2)
	}
	list := make([]Group, len(groups))
	for i, g := range groups {
		list[i] = Group{int64(g.low), int64(g.high), g.count, Nanoseconds(g.sum / float64(g.count))}
	}
	return list
}

// A group is neighbouring bins.
type group struct {
	bin

	first, last float64 // its ends in octaves

	peak   float64 // calls for each octave, where these are most
	valley float64 // the same, where these are least between it and the next
}

// likely returns how many calls for each octave would not surprise in a bin.
func (g *group) likely() float64 {
	n := float64(g.count)
	return (n + 2*math.Sqrt(n)) / (g.last - g.first)
}

func (g *group) mean() float64 { return g.sum / float64(g.count) }

// merge adds the next group.
func (g *group) merge(next *group) {
	g.high, g.count, g.sum = next.high, g.count+next.count, g.sum+next.sum
	g.last, g.peak, g.valley = next.last, max(g.peak, next.peak), next.valley
}

// closest returns the group that is least apart from the next one, −1 if all are clear.
func closest(groups []group, least uint64) int {
	const apart = 0.5
	found, most := -1, apart
	for i := range groups[:len(groups)-1] {
		a, b := &groups[i], &groups[i+1]
		ratio := a.valley / min(a.peak, b.peak)
		if min(a.count, b.count) < least || b.mean() < groupFactor*a.mean() {
			ratio = 1 + ratio // before those that only have no valley between them
		}
		if ratio >= most && (found < 0 || ratio > most) {
			found, most = i, ratio
		}
	}
	return found
}

// octave returns where a duration is on the scale of logarithms.
func octave(ns float64) float64 { return math.Log2(1 + ns) }

// coarsen joins neighbouring bins until each but the last has enough calls to tell how
// frequent they are.
func coarsen(bins []bin) []bin {
	const parts, fewCalls = 32, 12
	calls := uint64(0)
	for _, b := range bins {
		calls += b.count
	}
	least := max(fewCalls, calls/parts)
	var joined []bin
	for _, b := range bins {
		if last := len(joined) - 1; last >= 0 && joined[last].count < least &&
			octave(b.low)-octave(joined[last].high) < maxOctaves {
			joined[last].high = b.high
			joined[last].count += b.count
			joined[last].sum += b.sum
			continue
		}
		joined = append(joined, b)
	}
	return joined
}
