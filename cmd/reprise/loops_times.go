package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/query"
)

// maxTimedCalls is of how many calls the command grammar reads the times.
const maxTimedCalls = 20_000_000

// readTimes returns the times of the ranks whose loops l are, if the trace has those of
// every call of these, or else those of all ranks. It says what they are, or why they are
// not of every call: as the end of a sentence about statistics.
func (l loops) readTimes(cmd *cobra.Command, trace *reprise.Trace, path string, times *query.Times) (*query.Times, string, error) {
	series, _, err := trace.Merged().SeriesRanks()
	if err != nil {
		return nil, "", err
	}
	for _, rank := range l.ranks.All() {
		if !series.Contains(int(rank)) {
			return times, "", nil
		}
	}
	if most := maxTimedCalls / max(1, l.grammar.Len()); uint64(l.ranks.Len()) > most {
		return times, fmt.Sprintf(", as more than %s would have to be read for their own", plural(maxTimedCalls, "call")), nil
	}
	g, err := times.Guarantee()
	if err != nil {
		return nil, "", err
	}
	bar := newCounter(cmd.Context(), cmd.ErrOrStderr(), "times of every call", int64(l.ranks.Len()), "ranks")
	defer bar.done()
	read, err := times.ReadSeries(cmd.Context(), query.Options{Ranks: l.ranks, Progress: func(n int) { bar.show(uint64(n)) }})
	switch {
	case err != nil && cmd.Context().Err() == nil && times.Summarized():
		fmt.Fprintf(cmd.ErrOrStderr(), "reprise: warning: %s: the times of every call cannot be read: %v\n", path, err)
		return times, "", nil
	case err != nil:
		return nil, "", err
	}
	whose := fmt.Sprintf("rank %d", l.ranks.At(0))
	if l.ranks.Len() > 1 {
		whose = "these ranks"
	}
	return read, fmt.Sprintf("by the times of every call of %s, %s", whose, guaranteeText(g)), nil
}
