package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/rankenc"
)

// addRanks adds the option that chooses ranks of a trace.
func addRanks(cmd *cobra.Command, text *string) {
	cmd.Flags().StringVar(text, "ranks", "", "only these `ranks`, as 0-3,8 or 0-62:2")
	cmd.Flags().Lookup("ranks").DefValue = "all"
}

// chosenRanks returns the ranks of the option, which must be some of those of the trace at
// path: all of them if it is not given.
func chosenRanks(cmd *cobra.Command, text string, trace *reprise.Trace, path string) (rankenc.Set, error) {
	if !cmd.Flags().Changed("ranks") {
		return rankenc.World(trace.Ranks()), nil
	}
	set, err := rankenc.SetOfText(text, rankenc.MaxRank+1)
	if err != nil {
		return rankenc.Set{}, usageError{errors.New("--ranks: " + strings.TrimPrefix(err.Error(), "rankenc: ranks "))}
	}
	for first, last := range set.Ranges() {
		if last >= trace.Ranks() { // which depends on the trace: the command line is as it should be
			return rankenc.Set{}, noRank(path, max(first, trace.Ranks()), trace.Ranks())
		}
	}
	return set, nil
}
