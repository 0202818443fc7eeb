package trace

import (
	"errors"
	"fmt"
	"sync"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
)

// Short series of a trace may begin with what others have taught, see [layout.Sharing].

// sharedTimes are the series that share priors, in their order.
type sharedTimes struct {
	order  *layout.SeriesOrder
	priors *layout.Priors
}

// newSharedTimes returns those of t, once its table is known to have some.
func (t *Trace) newSharedTimes() (*sharedTimes, error) {
	table, err := t.series()
	if err != nil {
		return nil, err
	}
	name := table.Names[table.Sharing.Codec]
	codec, err := layout.KnownCodecs.Get(name)
	if err == nil && !codec.Learns() {
		err = fmt.Errorf("the codec %s does not learn", name)
	}
	if err != nil {
		return nil, layout.Damaged(layout.KindSeries, 0, layout.Corrupt("%v", err))
	}
	s := &sharedTimes{order: t.sections.OrderSeries(table)}
	s.priors = layout.NewPriors(table.Sharing, codec,
		func(i int, prior func() (*timing.Prior, error)) (*timing.Series, timing.Terminals, error) {
			return t.trainer(codec, s.order.Trainer(i), prior)
		})
	return s, nil
}

// trainer returns the i-th series of the table, which has a codec and a prior, and the terminals of its calls.
func (t *Trace) trainer(
	codec *timing.SeriesCodec, i int, prior func() (*timing.Prior, error),
) (*timing.Series, timing.Terminals, error) {
	table, err := t.series()
	if err != nil {
		return nil, nil, err
	}
	r, _, err := t.readRank(table.Ranks.At(i))
	if err != nil {
		return nil, nil, err
	}
	x, err := t.sections.OpenSeries(table, i)
	if err != nil {
		return nil, nil, err
	}
	if n, calls := x.Index.Len(), r.recorded.calls.Len(); n != calls {
		return nil, nil, x.Error(layout.Corrupt("the series of rank %d is of %d calls, not %d", r.number, n, calls))
	}
	s, err := codec.Open(x.Head, x.Block, prior, timing.Options{})
	return s, r.timedTerminals, err
}

// timedTerminals sets dst to the terminals over which the times of calls from first on are, of a rank whose times
// stand as its calls do.
func (r *Rank) timedTerminals(dst []uint32, first uint64) {
	walk, run := r.recorded.calls.Walk(first), sequitur.Run{}
	for i := range dst {
		if run.Count == 0 {
			run = walk.Next()
		}
		run.Count--
		dst[i] = run.Symbol
	}
}

// sharedPrior returns the function that returns the prior of the i-th series of the table, nil if it has none.
func (t *Trace) sharedPrior(i int, r *layout.SeriesReader) (func() (*timing.Prior, error), error) {
	table, err := t.series()
	if err != nil || table.Sharing.Trainers == 0 {
		return nil, err
	}
	shared, err := t.shared()
	if err != nil || !shared.order.Shares(i, r) {
		return nil, err
	}
	return sync.OnceValues(func() (*timing.Prior, error) {
		k, err := shared.order.Number(i)
		if err != nil {
			return nil, err
		}
		p, err := shared.priors.Of(k)
		if err != nil && !errors.As(err, new(*format.SectionError)) {
			err = r.Error(fmt.Errorf("the times of a rank before, which were not read: %w", err))
		}
		return p, err
	}), nil
}

// unshared returns a series of the table as it would be alone.
func (t *Trace) unshared(s layout.RankSeries) ([]byte, error) {
	r, _, err := t.readRank(s.Rank)
	if err != nil {
		return nil, err
	}
	series, err := t.openSeries(r)
	if err != nil || series == nil || !series.HasPrior() {
		return s.Data, err
	}
	return series.Recode(nil, r.timedTerminals, nil)
}

// findTaught adds the ranks whose times need those of others, which cannot be read.
func (f *damageFinder) findTaught(table *layout.SeriesTable, unreadable rankenc.Set) {
	if table.Sharing.Trainers == 0 {
		return
	}
	var (
		order = f.sections.OrderSeries(table)
		cause *Damage // of the first trainer that cannot be read
		first int     // its number
		lost  rankenc.SetBuilder
	)
	for i, rank := range table.Ranks.All() {
		if table.Codec.At(i) != int64(table.Sharing.Codec) {
			continue
		}
		if r, err := f.sections.OpenSeries(table, i); err == nil && !order.Shares(i, r) {
			continue
		}
		k, err := order.Number(i)
		switch {
		case cause != nil && (err != nil || table.Sharing.Needs(k, first)):
			if !unreadable.Contains(int(rank)) && !f.readsAlone(int(rank)) {
				lost.Add(rank)
			}
		case cause == nil && k == table.Sharing.Trainers:
			return
		case cause == nil:
			cause, first = f.seriesDamage(int(rank)), k
		}
	}
	if cause != nil {
		cause.Ranks = cause.Ranks.Union(lost.Finish())
	}
}

// readsAlone reports whether the times of a rank can be read though those of others cannot: what these taught may be
// of no use to it.
func (f *damageFinder) readsAlone(rank int) bool {
	r, _, err := f.readRank(rank)
	if err != nil {
		return false
	}
	s, err := f.openSeries(r)
	if err != nil || s == nil {
		return false
	}
	_, err = s.Block(0)
	return err == nil
}

// seriesDamage returns why the times of a rank cannot be read, nil if they can be.
func (f *damageFinder) seriesDamage(rank int) *Damage {
	for _, d := range f.list {
		if d.Err.Kind == layout.KindSeries && d.Ranks.Contains(rank) {
			return d
		}
	}
	for _, d := range f.list {
		if !d.Times && d.Ranks.Contains(rank) {
			own := newDamage(layout.KindSeries, 0, d.Err.Offset, layout.Corrupt(
				"series begin with what that of rank %d teaches, whose calls cannot be read", rank))
			own.Times = true
			f.list = append(f.list, own)
			return own
		}
	}
	return nil
}
