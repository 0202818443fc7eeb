package trace

import (
	"context"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// Part reads the part of a rank, to be merged again: its functions are those of [Trace.Functions], and the
// counts of its signatures are zero, as the grammar has these. It has no times, see [Trace.AddTimes], and no
// transitions, which are of all ranks. A rank that made no calls has no signatures and an empty grammar.
func (t *Trace) Part(rank int) (merge.Part, error) {
	r, _, err := t.readRank(rank)
	if err != nil {
		return merge.Part{}, err
	}
	p, terminals := r.part(r.recorded)
	if r.shape != nil && r.shape.index != nil {
		p.Streams = r.streams(p.Table, terminals)
	}
	return p, nil
}

// PlainPart is Part without streams: calls whose arguments advance have a signature for each of their values.
func (t *Trace) PlainPart(rank int) (merge.Part, error) {
	r, _, err := t.expandedRank(rank)
	if err != nil {
		return merge.Part{}, err
	}
	p, _ := r.part(r.flow)
	return p, nil
}

// part returns the calls of a flow as a part, and its terminals there.
func (r *Rank) part(f *flow) (p merge.Part, terminals []sequitur.Symbol) {
	t := r.trace
	p = merge.Part{Rank: r.number, Grammar: f.calls.grammar(), Bounded: r.bounded()}
	p.Table, _, _ = cst.Merge(t.functions, &cst.Table{})
	terminals = make([]sequitur.Symbol, r.terminalsOf(f))
	var (
		same = true
		args []cst.Value
		e    evaluation
	)
	for i := range terminals {
		x := uint32(i)
		args = r.argumentsOf(args[:0], &e, f, x, nil)
		terminals[i] = p.Table.InternRun(r.functionOf(f, x), 0, args...)
		same = same && terminals[i] == x
		if e.grouped {
			if p.CallGroups == nil {
				p.CallGroups = make(map[uint32]merge.Group)
			}
			p.CallGroups[terminals[i]] = e.group
		}
	}
	if !same { // which takes a file that has equal signatures for a rank that is alone
		p.Grammar = p.Grammar.Rewrite(func(x sequitur.Symbol) sequitur.Symbol { return terminals[x] })
	}
	return p, terminals
}

// streams returns the streams of what advances in the calls of r, whose terminals in a table are given. It adds
// the runs to the table.
func (r *Rank) streams(table *cst.Table, terminals []sequitur.Symbol) *merge.Streams {
	s := &merge.Streams{Slots: make(map[uint32]uint64)}
	var scratch layout.Template
	for i, x := range terminals {
		if mask := r.trace.advancing(r.shape.signature(r.recorded.signatureOf(uint32(i)), &scratch)); mask != 0 {
			s.Slots[x] = mask
		}
	}
	t := r.shape.template()
	runs := make([]sequitur.Symbol, len(r.shape.signatures))
	var e evaluation
	for i := r.shape.own; i < len(runs); i++ {
		args := r.argumentsOf(nil, &e, t.flow, uint32(i), nil)
		runs[i] = table.InternRun(r.functionOf(t.flow, uint32(i)), 0, args...)
	}
	s.Runs = t.runs.Rewrite(func(x sequitur.Symbol) sequitur.Symbol { return runs[x] })
	return s
}

// AddTo adds all ranks of t to a, which must have none of them with calls, what t has of
// their times, and the names, but nothing else of the description of the run. It fails if
// t has times of calls that no rank makes, unless ranks were left out of it.
func (t *Trace) AddTo(ctx context.Context, a *merge.Accumulator) error {
	need.That(a != nil, "trace: no accumulator")
	kept, err := t.AllKept()
	if err != nil {
		return err
	}
	if err := a.Describe(merge.Run{Names: t.run.Names, Origin: t.run.Origin, Kept: kept,
		ThreadsUnordered: t.run.ThreadsUnordered, Worlds: t.run.Worlds, Clocks: t.run.Clocks}); err != nil {
		return err
	}
	first := true
	for _, rank := range t.RankSet().All() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p, err := t.Part(rank)
		if err == nil && first && p.Bounded != nil {
			p.Bounded.Transitions = t.run.Bounded.Transitions
		}
		first = false
		if err == nil {
			err = a.Add(p)
		}
		if err != nil {
			return err
		}
	}
	rest, err := t.AddTimes(a)
	if err == nil && rest > 0 && t.damage().unreadable.Len() == 0 {
		err = layout.Damaged(layout.KindSummaries, 0, layout.Corrupt(
			"%d values are of calls of ranks that are not there", rest))
	}
	return err
}

// AddTimes adds what t has of the times of calls to a, as far as a has the ranks, which must have been added
// as [Trace.Part] returns them, and without times: each series, the times of each rank, and the summaries of
// signatures that one of the ranks has. It returns how many values of summaries are of others. If AddTimes
// fails, nothing is added.
func (t *Trace) AddTimes(a *merge.Accumulator) (rest uint64, err error) {
	need.That(a != nil, "trace: no accumulator")
	ranks := a.RankSet()
	placed, rest, err := t.placeTimes(ranks)
	if err != nil {
		return 0, err
	}
	series, err := t.seriesIn(ranks)
	if err != nil {
		return 0, err
	}
	placed = append(placed, series...)
	own, err := t.rankTimes()
	if err != nil {
		return 0, err
	}
	if own == nil { // or they are left out
		return rest, a.AddTimes(placed, nil, nil)
	}
	return rest, a.AddTimes(placed, t.file, t.functions)
}

// placeTimes returns the summaries of t, those of each signature, or of two in a row,
// at a shape that has them and has one of some ranks, and how many values are left.
func (t *Trace) placeTimes(ranks rankenc.Set) (placed []merge.PlacedTimes, rest uint64, err error) {
	all, err := t.summaries()
	if err != nil || all.IsZero() {
		return nil, 0, err
	}
	left := all.Clone()
	for i := range t.Shapes() {
		rank, ok := commonRank(t.ShapeRanks(i), ranks)
		if !ok {
			continue
		}
		s, err := t.shape(i)
		if err != nil {
			return nil, 0, err
		}
		if p := s.placeTimes(rank, &left); !layout.NoSummary(&p.Durations) || !layout.NoSummary(&p.Gaps) {
			placed = append(placed, p)
		}
	}
	return placed, left.Values(), nil
}

// commonRank returns a rank that is in both sets, if there is one.
func commonRank(a, b rankenc.Set) (int, bool) {
	for first, last := range a.Ranges() {
		if k, _ := b.Index(first); k < b.Len() && int(b.At(k)) <= last {
			return int(b.At(k)), true
		}
	}
	return 0, false
}

// placeTimes returns the summaries of the signatures of a shape, of which rank is
// one of the ranks, and removes them from those of the trace.
func (s *Shape) placeTimes(rank int, of *layout.Summaries) merge.PlacedTimes {
	p := merge.PlacedTimes{Rank: rank}
	own := make(map[uint32]uint32)
	for at, n := range s.Grammar.FirstUses() {
		own[n] = uint32(len(p.Positions))
		p.Positions = append(p.Positions, at)
	}
	times := of.Take(own)
	p.Durations, p.Gaps = times[0], times[1]
	return p
}

// seriesIn returns the series of the ranks that are in a set.
func (t *Trace) seriesIn(ranks rankenc.Set) ([]merge.PlacedTimes, error) {
	table, err := t.series()
	if err != nil || table == nil {
		return nil, err
	}
	var list []merge.PlacedTimes
	err = t.sections.EachSeries(table, t.callsOf, func(s layout.RankSeries, err error) error {
		if !ranks.Contains(s.Rank) || t.untimed.Contains(s.Rank) {
			return nil
		}
		if err == nil && table.Sharing.Trainers > 0 {
			s.Data, err = t.unshared(s)
		}
		list = append(list, merge.PlacedTimes{Rank: s.Rank, Codec: s.Codec, Series: s.Data})
		return err
	})
	return list, err
}

// callsOf returns the number of calls of a rank, 0 if its shape cannot be read.
func (t *Trace) callsOf(rank int) uint64 {
	number, ok := t.index.find(rank)
	if !ok {
		return 0
	}
	s, err := t.shape(number)
	if err != nil {
		return 0
	}
	return s.Grammar.Len()
}
