package query

import (
	"math"
	"slices"
)

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
	valley float64 // likewise, where these are least between it and the next
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
		if last := len(joined) - 1; last >= 0 && joined[last].count < least && octave(b.low)-octave(joined[last].high) < maxOctaves {
			joined[last].high = b.high
			joined[last].count += b.count
			joined[last].sum += b.sum
			continue
		}
		joined = append(joined, b)
	}
	return joined
}
