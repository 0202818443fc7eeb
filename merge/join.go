package merge

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
)

// Join returns the part of a rank from those of its threads, each with a table, a grammar
// and times of its own: the calls of one thread after those of the other. Each thread's
// loops are found, however the threads interleave. The order between threads is that of
// their times, where these are kept, and is not kept otherwise. Parts must agree in the
// codec of their series, and in the length of its blocks. Join does not change them, and
// the result may share memory with them.
//
// Signatures should tell threads apart, as by an argument with the number of the thread,
// so that the statistics of a signature are those of one thread.
func Join(rank int, threads ...Part) (Part, error) {
	var (
		joined   = Part{Rank: rank}
		tables   []*cst.Table
		grammars []*sequitur.Grammar
		times    layout.Summaries
		series   [][]byte
		timed    = true // every call has a time

		begin, end int64 // of all
	)
	threads = slices.DeleteFunc(slices.Clone(threads), func(p Part) bool { return p.Grammar.Len() == 0 })
	if len(threads) == 1 {
		p := threads[0]
		return Part{Rank: rank, Table: p.Table, Grammar: p.Grammar, Groups: p.Groups, Times: p.Times}, nil
	}
	for _, p := range threads {
		tables = append(tables, p.Table)
	}
	table, numbersOf := mergeTables(tables)
	joined.Table = table
	for i, p := range threads {
		numbers := numbersOf[i]
		grammars = append(grammars, p.Grammar.Rewrite(func(s sequitur.Symbol) sequitur.Symbol { return numbers[s] }))
		for h, g := range p.Groups {
			if joined.Groups == nil {
				joined.Groups = maps.Clone(p.Groups)
			}
			joined.Groups[h] = g
		}
		if p.Times == nil {
			timed = false
			continue
		}
		if own := p.Times; own.Begin != 0 || own.End != 0 {
			if begin == 0 && end == 0 {
				begin, end = own.Begin, own.End
			}
			begin, end = min(begin, own.Begin), max(end, own.End)
		}
		own := layout.Summaries{p.Times.Durations, p.Times.Gaps}
		own = own.Rename(numbers)
		if own.Kind() != layout.NoHistograms && times.Kind() != layout.NoHistograms && own.Kind() != times.Kind() {
			return Part{}, errors.New("merge: threads with histograms by call and by pair of calls")
		}
		times.Merge(&own)
		if p.Times.Series == nil {
			timed = false
			continue
		}
		series = append(series, p.Times.Series)
		if joined.Times == nil {
			joined.Times = &Times{Codec: p.Times.Codec}
		} else if joined.Times.Codec != p.Times.Codec {
			return Part{}, fmt.Errorf("merge: threads with series of the codecs %s and %s", joined.Times.Codec, p.Times.Codec)
		}
	}
	joined.Grammar = sequitur.Concat(grammars...)
	if len(series) > 0 {
		if !timed {
			return Part{}, errors.New("merge: threads with and without the times of every call")
		}
		var err error
		if joined.Times.Series, err = timing.JoinSeries(series...); err != nil {
			return Part{}, fmt.Errorf("merge: %w", err)
		}
	}
	if !times.IsZero() {
		if joined.Times == nil {
			joined.Times = new(Times)
		}
		joined.Times.Durations, joined.Times.Gaps = times[0], times[1]
		joined.Times.Begin, joined.Times.End = begin, end
	}
	return joined, nil
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
