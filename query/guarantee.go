package query

import "github.com/reprise-trace/reprise/timing"

// Guarantee returns the weakest of those of the times of every call that the trace has,
// see [Clock.Guarantee]; exact if there are none. It reads one rank for each codec.
func (t *Times) Guarantee() (timing.Guarantee, error) {
	weakest := timing.Exact
	ranks, codecs, err := t.trace.SeriesRanks()
	if err != nil {
		return weakest, err
	}
	seen := make(map[string]bool)
	for _, rank := range ranks.All() {
		name, err := t.trace.SeriesCodec(int(rank))
		if err != nil {
			return weakest, err
		}
		if seen[name] {
			continue
		}
		s, err := t.trace.Series(int(rank))
		if err != nil || s == nil {
			continue // that of another rank may be readable
		}
		seen[name] = true
		weakest = max(weakest, s.Guarantee())
		if len(seen) == len(codecs) {
			break
		}
	}
	return weakest, nil
}
