package merge

import (
	"fmt"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// PlacedTimes are summaries of the calls of all ranks of a shape of a trace that is
// added to an accumulator. There, its ranks may be of several shapes, and have one
// terminal for what were several signatures; but the calls of one signature of the
// trace, and no others, are at the positions where it is in any of its ranks.
type PlacedTimes struct {
	Rank            int      // any of those of the shape
	Positions       []uint64 // ascending: where each signature is first in the calls of the rank
	Durations, Gaps Summary  // over the indexes of Positions
}

func (p *PlacedTimes) times() layout.Summaries { return layout.Summaries{p.Durations, p.Gaps} }

// A RankSeries is the times of every call of a rank: its Rank, the name of the Codec,
// and the Data, as package timing encodes them.
type RankSeries = layout.RankSeries

// AddTimes adds times of calls of ranks that a has, and that were added without times:
// summaries, and the series of ranks. If it fails, nothing is added.
func (a *Accumulator) AddTimes(placed []PlacedTimes, series []RankSeries) error {
	a.settle()
	if err := a.checkTwice(placed, series); err != nil {
		return err
	}
	counts := a.callCounts()
	kind := a.kind
	for i := range placed {
		times := placed[i].times()
		if err := kind.Take(times.Kind()); err != nil {
			return fmt.Errorf("merge: %w", err)
		}
		if n, last := counts.of(placed[i].Rank), len(placed[i].Positions)-1; n == 0 || last >= 0 && placed[i].Positions[last] >= n {
			return fmt.Errorf("merge: times of calls that rank %d does not have", placed[i].Rank)
		}
	}
	for _, s := range series {
		if err := layout.CheckSeries(s.Codec, s.Data, counts.of(s.Rank)); err != nil {
			return fmt.Errorf("merge: times of rank %d: %w", s.Rank, err)
		}
	}
	a.kind, a.placed, a.series = kind, append(a.placed, placed...), append(a.series, series...)
	return nil
}

// checkTwice returns an error if a has times already of ranks of which there are
// some to be added.
func (a *Accumulator) checkTwice(placed []PlacedTimes, series []RankSeries) error {
	has := make(map[int]bool)
	for _, s := range a.series {
		has[s.Rank] = true
	}
	for _, p := range a.placed {
		has[p.Rank] = true
	}
	for _, s := range series {
		if has[s.Rank] {
			return fmt.Errorf("merge: times of rank %d, which has some", s.Rank)
		}
	}
	for _, p := range placed {
		if has[p.Rank] {
			return fmt.Errorf("merge: times of rank %d, which has some", p.Rank)
		}
	}
	return nil
}

// signatures returns the numbers of the signatures that are at the positions in a
// shape, of whose terminals of says which signature each is.
func (p *PlacedTimes) signatures(g *sequitur.Grammar, of []uint32) []uint32 {
	numbers := make([]uint32, len(p.Positions))
	for i, at := range p.Positions {
		numbers[i] = of[g.At(at)]
	}
	return numbers
}

// append appends the encoding of p.
func (p *PlacedTimes) append(dst []byte) []byte {
	dst = wire.AppendUvarint(dst, uint64(p.Rank))
	dst = wire.AppendUvarint(dst, uint64(len(p.Positions)))
	last := uint64(0)
	for _, at := range p.Positions {
		dst = wire.AppendUvarint(dst, at-last)
		last = at
	}
	times := p.times()
	return times.Append(dst, len(p.Positions))
}

// parsePlaced decodes placed summaries of a rank of which calls tells the number of
// its calls.
func parsePlaced(data []byte, calls callCounts) (PlacedTimes, error) {
	d := wire.NewDecoder("merge", data)
	at := d.Offset()
	p := PlacedTimes{Rank: int(d.UvarintMax("rank", layout.MaxRanks-1))}
	n := uint64(0)
	if d.Err() == nil {
		if n = calls.of(p.Rank); n == 0 {
			d.Corrupt(at, "rank", "%d has no calls", p.Rank)
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
		p.Positions = append(p.Positions, last)
	}
	if d.Err() != nil {
		return p, d.Err()
	}
	times, err := layout.ParseSummaries(data[d.Offset():], len(p.Positions))
	if err != nil {
		return p, layout.AtOffset(err, d.Offset())
	}
	p.Durations, p.Gaps = times[0], times[1]
	return p, nil
}
