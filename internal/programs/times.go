package programs

import (
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/timing"
)

// Timed returns p with statistics of times, which are made up: half of the calls of a
// signature take twice as long as the other half, some microseconds that depend on the
// signature and the rank, and come as long after the call before. They take no time that
// grows with the number of calls.
func (p Program) Timed() Program {
	untimed := p.Part
	p.Part = func(rank int) merge.Part {
		part := untimed(rank)
		times := new(merge.Times)
		first := true
		for s, n := range part.Grammar.Occurrences() {
			base := 1000*(1+int64(s)%7) + int64(rank)%97
			times.Durations.Statistics = append(times.Durations.Statistics, values(rank, base, n))
			gaps := n
			if first { // as nothing is before it
				gaps--
			}
			first = false
			times.Gaps.Statistics = append(times.Gaps.Statistics, values(rank, base/2, gaps))
		}
		part.Times = times
		return part
	}
	return p
}

// values returns the statistics of n values of a rank, half of which are least, and half
// twice that.
func values(rank int, least int64, n uint64) timing.Statistics {
	var all, power timing.Statistics // power is of 1, 2, 4, … pairs
	power.Add(uint32(rank), least)
	power.Add(uint32(rank), 2*least)
	for pairs := n / 2; pairs > 0; pairs /= 2 {
		if pairs%2 == 1 {
			all.Merge(&power)
		}
		same := power
		power.Merge(&same)
	}
	if n%2 == 1 {
		all.Add(uint32(rank), least)
	}
	return all
}
