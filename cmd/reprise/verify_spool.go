package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi"
	"github.com/reprise-trace/reprise/mpi/collect"
)

// isSpool reports whether a directory has raw records of MPI calls.
func isSpool(path string) bool {
	threads, err := mpi.ListSpool(path)
	return err == nil && len(threads) > 0
}

// verifySpool compares a trace with the raw records that it was made from.
func verifySpool(cmd *cobra.Command, path, spool string, asJSON bool) error {
	trace, err := openTrace(path)
	if err != nil {
		return err
	}
	defer trace.Close()
	var lost error
	read := make(map[int]bool)
	var last reprise.Call // that was compared
	calls, err := collect.Compare(cmd.Context(), spool, func(rank int) collect.Calls {
		return func(yield func(*cst.Function, []cst.Value) bool) {
			read[rank] = true
			if rank >= trace.Ranks() {
				return
			}
			r, err := trace.Rank(rank)
			if err != nil {
				lost = err
				return
			}
			for _, c := range r.Calls() {
				last = c
				if !yield(c.Function, c.Args) {
					return
				}
			}
		}
	})
	if lost != nil {
		return lost
	}
	var found *collect.Difference
	if err != nil && !errors.As(err, &found) {
		return err
	}
	if found != nil && last.Function != nil {
		found.Reason = inWords(trace, last, found.Reason)
	}
	for rank := range trace.Active() {
		if found == nil && !read[rank] {
			found = &collect.Difference{Rank: rank, Reason: "the rank has calls in the trace alone"}
		}
	}
	if asJSON {
		result := spoolResult{Equal: found == nil, Calls: calls, Ranks: len(read), Difference: found}
		if err := printJSON(cmd.OutOrStdout(), result); err != nil {
			return err
		}
	}
	if found != nil {
		return fmt.Errorf("%s differs: %w", path, found)
	}
	if !asJSON {
		fmt.Fprintf(cmd.OutOrStdout(), "equal: %s of %s\n", text.Plural(calls, "call"), text.Plural(len(read), "rank"))
	}
	return nil
}

// inWords returns the reason of a difference in the words of cat: the call, if that is
// what it is about, and the argument that was recorded.
func inWords(trace *reprise.Trace, c reprise.Call, reason string) string {
	before, after, ok := strings.Cut(reason, c.String())
	if !ok {
		return reason // of another thread than the call
	}
	p := trace.Printer(reprise.PrintOptions{Absolute: true})
	for _, param := range c.Function.Params {
		value, isThis := strings.CutPrefix(after, ": "+param.Name+"=")
		value, rest, isRecorded := strings.Cut(value, " was recorded")
		if isThis && isRecorded {
			one := merge.Signature{Function: &cst.Function{Params: []cst.Param{param}}, Args: []string{value}}
			after = ": " + param.Name + "=" + p.Signature(nil, one).Args[0] + " was recorded" + rest
			break
		}
	}
	return before + string(p.AppendCall(nil, c)) + after
}

type spoolResult struct {
	Equal      bool                `json:"equal"`
	Calls      uint64              `json:"calls"` // compared
	Ranks      int                 `json:"ranks"` // compared
	Difference *collect.Difference `json:"difference"`
}
