package query

import (
	"cmp"
	"slices"

	"github.com/reprise-trace/reprise/timing"
)

// A Site is a call as the ranks make it, a signature of the trace, and how the durations
// of these calls differ, in nanoseconds.
type Site struct {
	Signature int    `json:"signature"` // of the trace, see [reprise.Trace.Signature]
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
	Wait  Nanoseconds `json:"wait_ns"`
	Exact bool        `json:"exact"`

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
// first. It takes time in proportion to the grammars of the shapes, and to the
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
			Ranks: ranks[n], Calls: s.Count, Durations: *DurationsOf(s),
		}
		switch {
		case t.measured != nil:
			m := t.measured[n]
			site.Exact, site.Ranks = true, m.ranks
			site.Wait = max(0, site.Total-Nanoseconds(float64(s.Count)*float64(m.fast.Mean)))
			site.Fast, site.Slow = &m.fast, &m.slow
			site.Groups = groupsOf(m.bins.bins())
		case site.Ranks > 1:
			site.Wait = max(0, site.Total-Nanoseconds(float64(s.Count)*float64(s.Min)))
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
		return cmp.Or(cmp.Compare(b.Wait, a.Wait), cmp.Compare(b.Total, a.Total))
	})
	return sites, nil
}

// ranksOfSignatures returns how many ranks make each call.
func (t *Times) ranksOfSignatures() ([]int, error) {
	m := t.trace
	ranks := make([]int, m.Signatures())
	for number := range m.Shapes() {
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
