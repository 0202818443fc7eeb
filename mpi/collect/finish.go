package collect

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
)

// A Summary says what was collected.
type Summary struct {
	First      int // the lowest rank
	Ranks      int // of the run, as far as it is known
	Processes  int // that made calls
	Calls      uint64
	Bytes      int64 // of the spool
	Unfinished []int // ranks that did not call MPI_Finalize

	// Unrecorded are the ranks of MPI_COMM_WORLD of which there is no record: all those that others have
	// collected, or that could not write any.
	Unrecorded rankenc.Set

	// Overhead is the share of the processes' time that recording took in them, as
	// far as the processes know what a record costs.
	Overhead float64

	// Gone are ranks whose processes were there no more in a [Collector.Snapshot], and had not
	// called MPI_Finalize.
	Gone []int

	// Alone is the number of processes that one launcher started and that are each alone in a
	// world, if it started more than one: it is that of another MPI, most likely.
	Alone int

	// Uncalled are the functions of Options.Times.DurationsOf that no process called.
	Uncalled []string

	// Wrapping are functions of the program that wrap MPI, as hypre_MPI_Isend does: calls in them have the sites
	// where these are called.
	Wrapping []string

	// Problems says what could not be read, or was not written; nil if nothing.
	Problems error
}

// Finish takes what is left, when all processes have ended, and returns the parts
// of all ranks.
func (c *Collector) Finish(ctx context.Context) (*merge.Accumulator, Summary, error) {
	problem := c.drain(ctx)
	if problem != nil && ctx.Err() != nil {
		return nil, Summary{}, problem
	}
	latest := int64(0) // since 1970
	for _, p := range c.processes {
		latest = max(latest, p.since1970(p.threads[0], p.latest))
	}
	return c.parts(ctx, max(latest, c.alive), true, problem) // what was collected before is there
}

// Snapshot returns the parts of all ranks as they are now, while the processes run, as
// Finish does when they have ended. The calls that they are in last until now.
func (c *Collector) Snapshot(ctx context.Context) (*merge.Accumulator, Summary, error) {
	return c.parts(ctx, time.Now().UnixNano(), false, nil)
}

// parts returns the parts of all ranks, and ends the recording if that is said. Calls that
// have not returned last until the time given, in nanoseconds since 1970.
func (c *Collector) parts(ctx context.Context, until int64, end bool, problem error) (*merge.Accumulator,
	Summary, error) {
	list := c.ranked()
	g := gathering{until: until, end: end, all: new(merge.Accumulator), called: make(naming),
		uncalled: maps.Clone(c.options.Times.DurationsOf)}
	g.run = merge.Run{Source: Source, Origin: c.options.Origin, Worlds: worldsOf(list)}
	g.summary.Alone = alone(list)
	g.problems = append(c.unranked(), problem)
	if len(list) > 0 {
		g.summary.First = list[0].rank
	}
	for i, p := range list {
		if err := ctx.Err(); err != nil {
			return nil, g.summary, err
		}
		if end {
			c.tell("merge", int64(i), int64(len(list)))
		}
		if err := g.add(p); err != nil {
			return nil, g.summary, err
		}
	}
	if end {
		g.problems = append(g.problems, c.gone())
	}
	c.measure()
	g.run.Clocks = c.clocks(g.added)
	sites := siteNames(list)
	if end {
		g.summary.Wrapping = wrappingOf(list)
	}
	g.run.Names = append(g.called.list(), sites...)
	layout.MergeOrigin(&g.run.Origin, format.Origin{Polls: pollsOf(list, sites)})
	if err := g.finish(); err != nil {
		return nil, g.summary, err
	}
	return g.all, g.summary, nil
}

// A gathering is the parts of all ranks, and what is said of them, as processes are added.
type gathering struct {
	until int64 // where calls that have not returned end, in nanoseconds since 1970
	end   bool  // of the recording

	all     *merge.Accumulator
	run     merge.Run
	summary Summary

	added          []*process // those whose part is there
	called         naming
	uncalled       map[string]timing.Codec // functions of Options.Times.DurationsOf that no process has called so far
	cost, duration float64                 // of recording, and of the processes, in nanoseconds
	recorded, off  rankenc.SetBuilder
	problems       []error
}

// add adds what a process has called. Its error is one of the merge: what cannot be read is a problem.
func (g *gathering) add(p *process) error {
	problem := p.problems()
	g.problems = append(g.problems, problem)
	g.note(p, problem)
	if p.calls == 0 {
		if problem == nil && p.hidden {
			g.off.Add(p.rank)
		} else if problem == nil {
			g.problems = append(g.problems, fmt.Errorf("rank %d: %s has no call", p.rank, p.threads[0].segment(0)))
		}
		return nil
	}
	g.summary.Processes++
	part, err := p.part(g.until, g.end)
	if err != nil {
		g.problems = append(g.problems, err)
		return nil
	}
	g.summary.Calls += part.Grammar.Len()
	g.called.add(p, &part)
	for _, f := range part.Table.Functions() {
		delete(g.uncalled, f.Name)
	}
	g.added = append(g.added, p)
	if p.epoch > 0 {
		g.off.Add(p.rank)
	}
	return g.all.Add(part)
}

// note takes down facts about a process without its calls.
func (g *gathering) note(p *process, problem error) {
	s := &g.summary
	if !p.ended && problem == nil && p.calls > 0 {
		s.Unfinished = append(s.Unfinished, p.rank)
		if !g.end && !p.exists() {
			s.Gone = append(s.Gone, p.rank)
		}
	}
	for _, t := range p.threads {
		s.Bytes += t.bytes
	}
	g.cost += p.cost()
	g.duration += p.duration()
	g.run.Ranks = max(g.run.Ranks, p.rank+1, p.rank-p.place.Rank+p.size)
	layout.MergeOrigin(&g.run.Origin, p.origin())
	if p.calls > 0 || p.hidden {
		g.recorded.Add(p.rank)
	}
}

// finish describes the run, when all processes are added.
func (g *gathering) finish() error {
	s := &g.summary
	if g.duration > 0 {
		s.Overhead = g.cost / g.duration
	}
	if g.run.Origin.World > 0 {
		s.Unrecorded = rankenc.World(g.run.Ranks).Difference(g.recorded.Finish())
	}
	layout.MergeOrigin(&g.run.Origin, format.Origin{Off: g.off.Finish()})
	s.Ranks, s.Uncalled, s.Problems = g.run.Ranks, slices.Sorted(maps.Keys(g.uncalled)), errors.Join(g.problems...)
	return g.all.Describe(g.run)
}
