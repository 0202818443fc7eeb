package merge

import "github.com/reprise-trace/reprise/internal/layout"

// summaries returns those of all signatures.
func (m *model) summaries(placed []PlacedTimes) layout.Summaries {
	numbers := make([][]uint32, len(m.shapes)) // of the signatures of each terminal
	for i, s := range m.shapes {
		numbers[i] = make([]uint32, len(s.forms))
	}
	for n, s := range m.signatures {
		for _, u := range s.uses {
			numbers[u.shape][u.terminal] = uint32(n)
		}
	}
	var all layout.Summaries
	for i, s := range m.shapes {
		own := s.times.Rename(numbers[i])
		all.Merge(&own)
	}
	for _, p := range placed {
		for i, s := range m.shapes {
			if s.ranks.contains(p.Rank) {
				times := p.times()
				own := times.Rename(p.signatures(s.grammar, numbers[i]))
				all.Merge(&own)
			}
		}
	}
	for i := range all {
		if h := all[i].Histograms; h != nil {
			all[i].Histograms = h.Reduce(layout.HistogramBins)
		}
	}
	return all
}
