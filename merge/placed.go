package merge

import (
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
)

// PlacedTimes are summaries of the calls of all ranks of a shape of a trace that
// was added to an accumulator. There, its ranks may be of several shapes, and have
// one terminal for what were several signatures; but the calls of one signature of
// the trace, and no others, are at the places where it is in any of its ranks.
type placedTimes struct {
	rank      int       // any of those of the shape
	positions []uint64  // ascending: where each signature is first in the calls of the rank
	times     summaries // over the indexes of positions
}

// placeTimes returns the summaries of the signatures of a shape, of which rank is
// one of the ranks, and removes them from those of the trace.
func (s *Shape) placeTimes(rank int, of *summaries) placedTimes {
	p := placedTimes{rank: rank}
	own := make(map[uint32]uint32)
	for at, n := range s.Grammar.FirstUses() {
		own[n] = uint32(len(p.positions))
		p.positions = append(p.positions, at)
	}
	p.times = of.take(own)
	return p
}

// signatures returns the numbers of the signatures that are at the positions in a
// shape, of whose terminals of says which signature each is.
func (p *placedTimes) signatures(g *sequitur.Grammar, of []uint32) []uint32 {
	numbers := make([]uint32, len(p.positions))
	for i, at := range p.positions {
		numbers[i] = of[g.At(at)]
	}
	return numbers
}

// append appends the encoding of p.
func (p *placedTimes) append(dst []byte) []byte {
	dst = wire.AppendUvarint(dst, uint64(p.rank))
	dst = wire.AppendUvarint(dst, uint64(len(p.positions)))
	last := uint64(0)
	for _, at := range p.positions {
		dst = wire.AppendUvarint(dst, at-last)
		last = at
	}
	return p.times.append(dst, len(p.positions))
}

// parsePlaced decodes placed summaries of a rank of which calls tells the number of
// its calls.
func parsePlaced(data []byte, calls callCounts) (placedTimes, error) {
	d := wire.NewDecoder("merge", data)
	at := d.Offset()
	p := placedTimes{rank: int(d.UvarintMax("rank", maxRanks-1))}
	n := uint64(0)
	if d.Err() == nil {
		if n = calls.of(p.rank); n == 0 {
			d.Corrupt(at, "rank", "%d has no calls", p.rank)
		}
	}
	last := uint64(0)
	for i := range d.Count("positions", 1) {
		at = d.Offset()
		step := d.Uvarint("position")
		if d.Err() == nil && (i > 0 && step == 0 || step >= n-last) {
			d.Corrupt(at, "position", "%d after %d of %d", step, last, n)
		}
		if d.Err() != nil {
			break
		}
		last += step
		p.positions = append(p.positions, last)
	}
	if d.Err() != nil {
		return p, d.Err()
	}
	var err error
	if p.times, err = parseSummaries(data[d.Offset():], len(p.positions)); err != nil {
		return p, atOffset(err, d.Offset())
	}
	return p, nil
}

// take removes from s what is of terminals that own has, and returns it over what
// these are there.
func (s *summaries) take(own map[uint32]uint32) summaries {
	var taken summaries
	for i := range s {
		for n, t := range own {
			if int(n) >= len(s[i].Statistics) || s[i].Statistics[n].Count == 0 {
				continue
			}
			taken[i].of(t).Merge(&s[i].Statistics[n])
			s[i].Statistics[n] = timing.Statistics{}
		}
		taken[i].Histograms, s[i].Histograms = splitHistograms(s[i].Histograms, own)
	}
	return taken
}

// splitHistograms returns the histograms of paths that own has, over what the
// terminals are there, and the others.
func splitHistograms(h *timing.Histograms, own map[uint32]uint32) (taken, left *timing.Histograms) {
	if h == nil {
		return nil, nil
	}
	has := func(p timing.Path) bool {
		_, ok := own[p.Terminal]
		if p.Previous != timing.NoPrevious && ok {
			_, ok = own[uint32(p.Previous)]
		}
		return ok
	}
	if taken = h.Select(has).Rename(func(t uint32) uint32 { return own[t] }); taken.Len() == 0 {
		taken = nil
	}
	if left = h.Select(func(p timing.Path) bool { return !has(p) }); left.Len() == 0 {
		left = nil
	}
	return taken, left
}

// values returns the number of values in s that statistics have, or histograms.
func (s *summaries) values() uint64 {
	n := uint64(0)
	for i := range s {
		for t := range s[i].Statistics {
			n = wire.AddSat(n, s[i].Statistics[t].Count)
		}
		if s[i].Histograms == nil {
			continue
		}
		for _, h := range s[i].Histograms.All() {
			n = wire.AddSat(n, h.Statistics().Count)
		}
	}
	return n
}
