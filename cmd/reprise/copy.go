package main

import (
	"context"
	"fmt"
	"io"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/text"
)

// A callWriter writes a call that stands at a position, in its rank or in all.
type callWriter func(position uint64, c reprise.Call) error

// copyCalls gives the calls that o selects to write. Of a trace that has its
// calls rank by rank it leaves out the ranks that cannot be read, as if there
// were none, and returns a *lostRanks at the end.
func copyCalls(ctx context.Context, trace *reprise.Trace, path string, o catOptions, write callWriter) error {
	switch {
	case !o.all:
		return copyRank(trace, path, o, write)
	case trace.Run().Interleaving == nil || o.split != "":
		return copyRanks(ctx, trace, path, o, write)
	}
	return copyInterleaved(trace, path, o, write)
}

// copyRank copies calls of one rank.
func copyRank(trace *reprise.Trace, path string, o catOptions, write callWriter) error {
	rank, err := openRank(trace, path, o.rank)
	if err != nil {
		return err
	}
	if n := rank.Len(); o.from > n {
		return noCall(path, o.from, fmt.Sprintf("rank %d", o.rank), n)
	}
	left := o.count
	for position, c := range rank.CallsFrom(o.from) {
		if left == 0 {
			break
		}
		if err := write(position, c); err != nil {
			return err
		}
		left--
	}
	return rank.LostTimes()
}

// copyRanks copies calls of all ranks, rank by rank.
func copyRanks(ctx context.Context, trace *reprise.Trace, path string, o catOptions, write callWriter) error {
	lost, ranks := lostRanks{path: path}, newRankReader(trace.Merged())
	var lostTimes error
	skip, left, position := o.from, o.count, o.from
	for number := range trace.Active() {
		if skip == 0 && left == 0 {
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		rank, err := ranks.rank(trace, number)
		if err != nil {
			lost.add(number, err)
			continue
		}
		first := min(skip, rank.Len())
		skip -= first
		for _, c := range rank.CallsFrom(first) {
			if left == 0 {
				break
			}
			if err := write(position, c); err != nil {
				return err
			}
			position++
			left--
		}
		if lostTimes == nil {
			lostTimes = rank.LostTimes()
		}
	}
	if err := lost.err(); err != nil {
		return err
	}
	if skip > 0 {
		return noCall(path, o.from, "the trace", o.from-skip)
	}
	return lostTimes
}

// copyInterleaved copies calls of all ranks in the order in which they were read.
func copyInterleaved(trace *reprise.Trace, path string, o catOptions, write callWriter) error {
	if n := trace.Run().Interleaving.Len(); o.from > n {
		return noCall(path, o.from, "the trace", n)
	}
	calls := trace.Calls(o.from)
	for i := range o.count {
		c, err := calls.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("%w; the calls of the ranks alternate: --rank reads the others", err)
		}
		if err := write(o.from+i, c); err != nil {
			return err
		}
	}
	return calls.LostTimes()
}

// noCall returns the error of a position beyond the end.
func noCall(path string, position uint64, of string, calls uint64) error {
	return fmt.Errorf("%s: there is no call %d: %s has %s", path, position, of, text.Plural(calls, "call"))
}
