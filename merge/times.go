package merge

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
)

// Times are what was recorded of the times of calls, in nanoseconds: summaries of
// how long calls took, and of the gaps between them, which are the times since the
// end of the rank's call before, and the times of every call. Any of them may be
// absent.
type Times struct {
	Durations, Gaps timing.Summary

	// Begin and End say when the first call began, and when the last one ended. Without
	// them, a rank begins at 0, and runs for the sum of all durations and gaps.
	Begin, End int64

	// Series has the times of every call, as package timing encodes them with the
	// codec of that name, over terminals that are numbered in the order of their
	// first use. Nil means that they were not kept. The codec of a column in it need not be
	// registered here, but where the times are read: see [timing.Register].
	Codec  string
	Series []byte

	// Recorded has the calls of Series as they were, of one thread after the other. If it is not nil, a trace
	// keeps these in place of Series, exactly, as long as those of all ranks take less than 64 kB. If it
	// is empty and not nil, they take more: no rank whose Recorded is not nil has exact times.
	Recorded []*timing.Recorded
}

// checkTimes checks that s has no more values than its ranks have calls.
func (s *shape) checkTimes() error {
	calls := make([]uint64, len(s.forms))
	for t, n := range s.grammar.Occurrences() {
		calls[t] = wire.MulSat(n, uint64(s.ranks.len()))
	}
	for i := range s.times {
		if err := layout.CheckSummary(&s.times[i], calls); err != nil {
			return layout.Corrupt("%v", err)
		}
	}
	return nil
}

// checkTimes checks the times of p, of whose terminals order are those in use, in
// the order of their first use.
func (p Part) checkTimes(order []uint32) error {
	t := p.Times
	if t == nil {
		return nil
	}
	if !layout.NoSummary(&t.Durations) || !layout.NoSummary(&t.Gaps) {
		calls := p.timedCalls()
		for _, s := range []*timing.Summary{&t.Durations, &t.Gaps} {
			if err := layout.CheckSummary(s, calls); err != nil {
				return err
			}
		}
	}
	if own := (layout.Summaries{t.Durations, t.Gaps}); own.Mixed() {
		return errors.New("histograms of durations by call and of gaps by pair of calls, or the other way round")
	}
	if t.Series == nil {
		return nil
	}
	for i, terminal := range order {
		if int(terminal) != i {
			return errors.New("a series needs terminals that are numbered in the order of their first use")
		}
	}
	if err := layout.CheckSeries(t.Codec, t.Series, p.Grammar.Len()); err != nil {
		return err
	}
	return t.checkRecorded(p.Grammar.Len())
}

// timedCalls returns how many calls each terminal may have times of: its own, or those of its
// function, if statistics are by function.
func (p Part) timedCalls() []uint64 {
	calls, functions := make([]uint64, p.Table.Len()), make([]uint64, len(p.Table.Functions()))
	of := make([]int, len(calls))
	var args []cst.Value
	for s, n := range p.Grammar.Occurrences() {
		calls[s] = n
		if p.timesByFunction() {
			of[s], args = p.Table.AppendSignature(args[:0], s)
			functions[of[s]] += n
		}
	}
	for s, n := range calls {
		if p.timesByFunction() && n > 0 {
			calls[s] = functions[of[s]]
		}
	}
	return calls
}

// timesByFunction reports whether statistics are of all calls of a function, at one of its signatures.
func (p Part) timesByFunction() bool { return p.Bounded != nil && p.Bounded.ByFunction }

// addTimes adds the times of a part of a shape, of which order says which terminals
// of the part are those of the shape.
func (a *Accumulator) addTimes(s *shape, p Part, order []uint32) {
	if p.Times == nil {
		return
	}
	a.addRankTimes(s, p, order)
	if p.timesByFunction() {
		a.placed = append(a.placed, p.placedTimes())
		return
	}
	number := make([]uint32, p.Table.Len())
	for i, old := range order {
		number[old] = uint32(i)
	}
	own := layout.Summaries{p.Times.Durations, p.Times.Gaps}
	own = own.Rename(number)
	if s.times.IsZero() {
		s.times = own
	} else {
		s.times.Merge(&own)
	}
	if p.Times.Series != nil {
		a.addSeries(layout.RankSeries{Rank: p.Rank, Codec: p.Times.Codec, Data: p.Times.Series}, p.Times.Recorded)
	}
}

// placedTimes returns the statistics of p at the first calls of the signatures that have some.
func (p Part) placedTimes() PlacedTimes {
	placed := PlacedTimes{Rank: p.Rank}
	all := layout.Summaries{p.Times.Durations, p.Times.Gaps}
	all = all.Clone()
	numbers := make(map[uint32]uint32)
	for at, t := range p.Grammar.FirstUses() {
		if slices.ContainsFunc(all[:], func(s timing.Summary) bool {
			return int(t) < len(s.Statistics) && s.Statistics[t].Count > 0
		}) {
			numbers[t] = uint32(len(placed.Positions))
			placed.Positions = append(placed.Positions, at)
		}
	}
	taken := all.Take(numbers)
	placed.Durations, placed.Gaps = taken[0], taken[1]
	return placed
}

// LeavesOutRankTimes reports whether what is kept of the times of each rank is too much to be
// written, to a part file or to a trace: then these have the statistics of all ranks only.
func (a *Accumulator) LeavesOutRankTimes(part bool) bool {
	r := &a.rankTimes
	if !part {
		r = r.Coarse()
	}
	return r.Len() > 0 && !r.Fits(len(a.functions.Functions()))
}

// addRankTimes adds what is kept of the rank of a part, if it has statistics.
func (a *Accumulator) addRankTimes(s *shape, p Part, order []uint32) {
	durations := p.Times.Durations.Statistics
	if len(durations) == 0 {
		return
	}
	all := make([]timing.Statistics, len(a.functions.Functions()))
	var whole, gaps timing.Statistics
	for i, t := range order {
		if int(t) < len(durations) {
			all[s.forms[i].function].Merge(&durations[t])
		}
	}
	for t := range p.Times.Gaps.Statistics {
		gaps.Merge(&p.Times.Gaps.Statistics[t])
	}
	begin, end := p.Times.Begin, p.Times.End
	if begin == 0 && end == 0 {
		for f := range all {
			whole.Merge(&all[f])
		}
		whole.Merge(&gaps)
		end = clamped(&whole)
	}
	a.rankTimes.Add(p.Rank, begin, end, clamped(&gaps), len(all), func(f int) (sum, most int64) {
		return clamped(&all[f]), all[f].Max
	})
}

// clamped returns the sum of values, 0 if it is negative.
func clamped(s *timing.Statistics) int64 {
	switch sum := s.Integer(); {
	case sum.Sign() <= 0:
		return 0
	case !sum.IsInt64():
		return math.MaxInt64
	default:
		return sum.Int64()
	}
}

// firstOf returns the first of the new terminals, of which to says which old one
// each is, for each of n old ones.
func firstOf(to []uint32, n int) []uint32 {
	first := make([]uint32, n)
	for i := len(to) - 1; i >= 0; i-- {
		first[to[i]] = uint32(i)
	}
	return first
}

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
		if own := s.times.Rename(numbers[i]); i == 0 {
			all = own
		} else {
			all.Merge(&own)
		}
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

// PlacedTimes are summaries of the calls of all ranks of a shape of a trace that is
// added to an accumulator. There, its ranks may be of several shapes, and have one
// terminal for what were several signatures; but the calls of one signature of the
// trace, and no others, are at the positions where it is in any of its ranks.
type PlacedTimes struct {
	Rank            int            // any of those of the shape
	Positions       []uint64       // ascending: where each signature is first in the calls of the rank
	Durations, Gaps timing.Summary // over the indexes of Positions

	// Codec and Series are the times of every call of the rank alone, as in [Times]; nil means that there are none.
	Codec  string
	Series []byte
}

func (p *PlacedTimes) times() layout.Summaries { return layout.Summaries{p.Durations, p.Gaps} }

// AddTimes adds times of calls of ranks that a has, and that were added without times, and what the trace in
// a file keeps of the times of each rank that a has, of the functions that a table declares; nil for none. If
// AddTimes fails, nothing is added.
func (a *Accumulator) AddTimes(times []PlacedTimes, kept *format.Reader, functions *cst.Table) error {
	a.settle()
	if err := a.checkTwice(times); err != nil {
		return err
	}
	ranks := a.RankSet()
	var ofRanks *layout.RankTimes
	if kept != nil {
		var err error
		if ofRanks, err = layout.ReadRankTimes(kept, len(functions.Functions()),
			rankenc.World(layout.MaxRanks)); err != nil {
			return fmt.Errorf("merge: %w", err)
		}
	}
	if ofRanks != nil {
		if twice := ofRanks.Ranks().Intersection(ranks).Intersection(a.rankTimes.Ranks()); twice.Len() > 0 {
			return fmt.Errorf("merge: times of ranks %s, which have some", twice.Abbreviated(layout.MaxNamed))
		}
	}
	counts, kind := a.callCounts(), a.kind
	placed, series := a.placed, a.series
	for _, t := range times {
		summaries := t.times()
		if err := kind.Take(summaries.Kind()); err != nil {
			return fmt.Errorf("merge: %w", err)
		}
		if n, last := counts.of(t.Rank), len(t.Positions)-1; n == 0 || last >= 0 && t.Positions[last] >= n {
			return fmt.Errorf("merge: times of calls that rank %d does not have", t.Rank)
		}
		if t.Series != nil {
			if err := layout.CheckSeries(t.Codec, t.Series, counts.of(t.Rank)); err != nil {
				return fmt.Errorf("merge: times of rank %d: %w", t.Rank, err)
			}
			series = append(series, layout.RankSeries{Rank: t.Rank, Codec: t.Codec, Data: t.Series})
			t.Codec, t.Series = "", nil
		}
		if !summaries.IsZero() {
			placed = append(placed, t)
		}
	}
	a.kind, a.placed, a.series = kind, placed, series
	if ofRanks != nil {
		a.declare(functions)
		a.rankTimes.Merge(ofRanks, a.scratch.functions, &ranks)
	}
	return nil
}

// checkTwice returns an error if a has times already of ranks of which there are
// some to be added.
func (a *Accumulator) checkTwice(times []PlacedTimes) error {
	has := make(map[int]bool)
	for _, s := range a.series {
		has[s.Rank] = true
	}
	for _, p := range a.placed {
		has[p.Rank] = true
	}
	for _, t := range times {
		if has[t.Rank] {
			return fmt.Errorf("merge: times of rank %d, which has some", t.Rank)
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
