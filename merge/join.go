package merge

import (
	"errors"
	"fmt"
	"maps"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/blockindex"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/sequitur"
)

// Join returns the part of a rank from those of its threads, each with a table, a grammar and times of its
// own: the calls of one thread after those of the other, but where the order, which numbers threads as they
// are given, says that calls come after those of another thread. So each thread's loops are found, however
// the threads interleave. Without an order it is not known, and the part is Unordered; so it is if the order
// matters and parts are [Bounded]. Times stand thread by thread. Parts must agree in the codec of their
// series, and in the length of its blocks; if one has left out its series, see [Bounded], none is kept. Join
// does not change them, and the result may share memory with them.
//
// Signatures must tell threads apart if there are an order and series, by an argument with the number of the
// thread, in ascending order of the threads. They should in any case, so that the statistics of a signature
// are those of one thread.
func Join(rank int, order *ThreadOrder, threads ...Part) (Part, error) {
	of := make([]int, len(threads)) // the number of each among those with calls
	calling := make([]Part, 0, len(threads))
	bounded := false
	for i, p := range threads {
		if err := p.check(); err != nil {
			return Part{}, fmt.Errorf("merge: rank %d: thread %d: %w", rank, i, err)
		}
		of[i] = len(calling)
		if p.Grammar.Len() > 0 {
			calling = append(calling, p)
		}
		bounded = bounded || p.Bounded != nil
	}
	apart := order == nil || order.isThreadByThread(len(threads))
	threads = calling
	if len(threads) == 1 {
		p := threads[0]
		joined := Part{Rank: rank, Table: p.Table, Grammar: p.Grammar, Groups: p.Groups, Times: p.Times,
			Streams: p.Streams}
		joined.Bounded = joinBounded(rank, p.Table, threads)
		return joined, nil
	}
	joined := Part{Rank: rank, ThreadsUnordered: len(threads) > 1 && (order == nil || bounded && !apart)}
	threads, table, numbers := withStreamsApart(threads)
	grammars := make([]*sequitur.Grammar, len(threads))
	for i, p := range threads {
		grammars[i] = p.Grammar.Rewrite(func(s sequitur.Symbol) sequitur.Symbol { return numbers[i][s] })
		for h, g := range p.Groups {
			if joined.Groups == nil {
				joined.Groups = maps.Clone(p.Groups)
			}
			joined.Groups[h] = g
		}
	}
	if apart || bounded {
		joined.Grammar = sequitur.Concat(grammars...)
	} else {
		joined.Grammar = order.weave(grammars, of)
	}
	if !bounded && !isSortedByUse(joined.Grammar) {
		table, joined.Grammar = sortedByUse(table, joined.Grammar, numbers)
	}
	joined.Table = table
	joined.Streams = joinStreams(threads, table, numbers, joined.Grammar)
	joined.Bounded = joinBounded(rank, table, threads)
	var err error
	joined.Times, err = joinTimes(threads, numbers, joined.Bounded != nil && joined.Bounded.Untimed)
	if err != nil {
		return Part{}, err
	}
	return joined, nil
}

// isSortedByUse reports whether the terminals of a grammar are numbered in the order of their first use. Those of
// threads one after the other are not where a table has signatures that no call has.
func isSortedByUse(g *sequitur.Grammar) bool {
	for i, s := range g.FirstUse() {
		if int(s) != i {
			return false
		}
	}
	return true
}

// sortedByUse returns a table and a grammar whose terminals are numbered in the order of their first use, as
// those of one thread are, and changes the numbers of terminals to these.
func sortedByUse(table *cst.Table, g *sequitur.Grammar, numbers [][]uint32) (*cst.Table, *sequitur.Grammar) {
	sorted, number := new(cst.Table), make([]uint32, table.Len())
	for _, f := range table.Functions() {
		sorted.Declare(f)
	}
	used := make([]bool, table.Len())
	add := func(s sequitur.Symbol) {
		fn, args := table.Signature(s)
		number[s], used[s] = sorted.InternRun(fn, table.Count(s), args...), true
	}
	for _, s := range g.FirstUse() {
		add(s)
	}
	for s := range used {
		if !used[s] {
			add(sequitur.Symbol(s))
		}
	}
	for _, list := range numbers {
		for i, n := range list {
			list[i] = number[n]
		}
	}
	return sorted, g.Rewrite(func(s sequitur.Symbol) sequitur.Symbol { return number[s] })
}

// joinTimes returns the times of threads, whose terminals have these numbers in the part of all. Untimed says
// that the times of every call are left out.
func joinTimes(threads []Part, numbers [][]uint32, untimed bool) (*Times, error) {
	var (
		joined *Times
		all    layout.Summaries
		series [][]byte

		begin, end int64 // of all
	)
	for i, p := range threads {
		if p.Times == nil {
			continue
		}
		if own := p.Times; own.Begin != 0 || own.End != 0 {
			if begin == 0 && end == 0 {
				begin, end = own.Begin, own.End
			}
			begin, end = min(begin, own.Begin), max(end, own.End)
		}
		own := layout.Summaries{p.Times.Durations, p.Times.Gaps}
		if own.Kind() != layout.NoHistograms && all.Kind() != layout.NoHistograms && own.Kind() != all.Kind() {
			return nil, errors.New("merge: threads with histograms by call and by pair of calls")
		}
		all.MergeAs(&own, numbers[i])
		if p.Times.Series == nil || untimed {
			continue
		}
		series = append(series, p.Times.Series)
		if joined == nil {
			joined = &Times{Codec: p.Times.Codec}
		} else if joined.Codec != p.Times.Codec {
			return nil, fmt.Errorf("merge: threads with series of the codecs %s and %s", joined.Codec, p.Times.Codec)
		}
	}
	if len(series) > 0 {
		if len(series) < len(threads) {
			return nil, errors.New("merge: threads with and without the times of every call")
		}
		var err error
		if joined.Series, err = blockindex.Join(series...); err != nil {
			return nil, fmt.Errorf("merge: %w", err)
		}
		joined.Recorded = joinRecorded(threads)
	}
	if !all.IsZero() {
		if joined == nil {
			joined = new(Times)
		}
		joined.Durations, joined.Gaps = all[0], all[1]
		joined.Begin, joined.End = begin, end
	}
	return joined, nil
}

// joinBounded returns what is not as it was recorded in threads, one after the other, of the functions
// of a table that has those of all; nil if all is.
func joinBounded(rank int, table *cst.Table, threads []Part) *format.Bounded {
	var all bounded
	at := uint64(0)
	var stretches []format.Stretch
	for _, p := range threads {
		if b := p.Bounded; b != nil {
			functions := identity(len(p.Table.Functions()))
			if p.Table != table {
				for i, f := range p.Table.Functions() {
					functions[i] = table.Declare(f)
				}
			}
			all.add(b, functions)
			for _, s := range b.Stretches[p.Rank] {
				stretches = append(stretches, format.Stretch{First: at + s.First, Calls: s.Calls})
			}
		}
		at += p.Grammar.Len()
	}
	all.Stretches = nil
	all.addStretches(rank, stretches)
	return all.what()
}

// mergeTables merges tables as [cst.Merge] does, and returns the terminals of each in the
// result. It merges halves, so that many tables cost little more than few of their size.
func mergeTables(tables []*cst.Table) (*cst.Table, [][]uint32) {
	switch len(tables) {
	case 0:
		return new(cst.Table), nil
	case 1:
		merged, _, numbers := cst.Merge(new(cst.Table), tables[0]) // a copy
		return merged, [][]uint32{numbers}
	}
	half := len(tables) / 2
	a, numbers := mergeTables(tables[:half])
	b, others := mergeTables(tables[half:])
	merged, _, from := cst.Merge(a, b)
	for _, list := range others {
		for i, n := range list {
			list[i] = from[n]
		}
	}
	return merged, append(numbers, others...)
}
