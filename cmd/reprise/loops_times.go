package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
)

// maxTimedCalls is of how many calls the command grammar reads the times.
const maxTimedCalls = 20_000_000

// readTimes returns the times of the ranks whose loops l are, if the trace has those of
// every call of these, or else those of all ranks. It says what they are, or why they are
// not of every call: as the end of a sentence about statistics. The error lost is of times
// of every call that cannot be read.
func (l loops) readTimes(cmd *cobra.Command, trace *reprise.Trace, path string, times *query.Times) (of *query.Times, by string, lost, err error) {
	series, _, err := trace.Merged().SeriesRanks()
	if err != nil {
		return times, "", lostSeries(path, err), nil
	}
	for _, rank := range l.ranks.All() {
		if !series.Contains(int(rank)) {
			return times, "", nil, nil
		}
	}
	if most := maxTimedCalls / max(1, l.grammar.Len()); uint64(l.ranks.Len()) > most {
		return times, fmt.Sprintf(", as more than %s would have to be read for their own", text.Plural(maxTimedCalls, "call")), nil, nil
	}
	g, err := times.Guarantee()
	if err != nil {
		return nil, "", nil, err
	}
	bar := newCounter(cmd.Context(), cmd.ErrOrStderr(), "times of every call", int64(l.ranks.Len()), "ranks")
	defer bar.done()
	without := &lostRanks{path: path, what: "the times of "}
	read, err := times.ReadSeries(cmd.Context(), query.Options{Ranks: &l.ranks, Unreadable: without.add, Progress: func(n int) { bar.show(uint64(n)) }})
	if err != nil {
		return nil, "", nil, err
	}
	rest := without.others(l.ranks)
	if rest.Len() == 0 {
		return times, "", without.err(), nil
	}
	return read, fmt.Sprintf("the means of like calls, by the times of every call of %s, %s", text.Ranks(rest), text.Error(g)), without.err(), nil
}
