package replay

import (
	"context"
	"maps"
	"math"

	"github.com/reprise-trace/reprise/mpi/semantics"
)

// Together has as many of the draws be the same on all ranks, at one position, as the time that the run took
// says: ranks that compute for long at the same time, as all do in iterations with subnormal numbers, do not
// wait for each other, and ranks that do so one after the other all wait. Took is that time, from when ranks
// may compute until they no longer do, see [Recorded.Bound]. Without it, each rank draws for itself.
//
// It replays the run without a network, once with draws apart, and if that takes longer than the run did
// without the min durations of its calls, once with the same draws. In between, the time is taken to be
// linear. Call it after all other methods that configure r. Progress, unless it is nil, is called as that of [Options]
// in each of these replays, of which it is told how many came before.
func (r *Recorded) Together(ctx context.Context, model *semantics.Model, took Time,
	progress func(before int, calls uint64)) error {
	if r.draws == nil {
		return nil
	}
	apart, least, err := r.alone(ctx, model, 0, progress)
	if err != nil || apart <= took-least {
		return err
	}
	same, _, err := r.alone(ctx, model, 1, progress)
	if err == nil && same < apart {
		r.draws.together = min(float64(apart-(took-least))/float64(apart-same), 1)
	}
	return err
}

// alone returns how long the run takes without a network, if such a share of the draws is the same, and how
// long its calls take that do something to other ranks if each takes its min: of the ranks the mean.
func (r *Recorded) alone(ctx context.Context, model *semantics.Model, share float64,
	progress func(before int, calls uint64)) (took, least Time, err error) {
	again := *r
	again.threads, again.bounded = make(map[threadKey]*clock), maps.Clone(r.bounded)
	again.owned = nil
	again.Draw(r.draws.seed)
	again.draws.together = share
	o := Options{Seed: r.draws.seed}
	if progress != nil {
		o.Progress = func(calls uint64) { progress(int(share), calls) }
	}
	result, err := RunWith(ctx, model, &again, o)
	if err != nil {
		return 0, 0, err
	}
	return result.End, Time(again.draws.least / float64(max(len(result.Ranks), 1))), again.err
}

// drawnBy returns the number of the rank that draws for a call.
func (d *draws) drawnBy(c *Call, which extremes) uint64 {
	if d.together > 0 && float64(hashed(d.seed, c.Position, uint64(which))) < d.together*math.MaxUint64 {
		return 0
	}
	return uint64(c.Rank.Number())
}
