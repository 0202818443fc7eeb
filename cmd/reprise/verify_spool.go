package main

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/rankenc"
)

// isSpool reports whether a directory has raw records of MPI calls.
func isSpool(path string) bool {
	threads, err := mpi.ListSpool(path)
	return err == nil && len(threads) > 0
}

type spoolResult struct {
	Equal      bool             `json:"equal"`
	Calls      uint64           `json:"calls"` // compared
	Ranks      int              `json:"ranks"` // compared
	Difference *spoolDifference `json:"difference"`
}

// A spoolDifference is where a trace is not what was recorded.
type spoolDifference struct {
	Rank   int    `json:"rank"`
	Call   uint64 `json:"call"` // of the rank, from 0
	Reason string `json:"reason"`
}

func (d *spoolDifference) Error() string {
	return fmt.Sprintf("rank %d, call %d: %s", d.Rank, d.Call, d.Reason)
}

// verifySpool compares a trace with one that it makes of raw records.
func verifySpool(cmd *cobra.Command, path, spool string, asJSON bool) error {
	trace, err := openTrace(path)
	if err != nil {
		return err
	}
	defer trace.Close()
	recorded, err := collectAgain(cmd.Context(), spool)
	if err != nil {
		return err
	}
	var result spoolResult
	for rank := range recorded.Active() {
		var n uint64
		n, result.Difference, err = compareRecorded(cmd.Context(), trace, recorded, rank)
		if err != nil {
			return err
		}
		result.Calls += n
		if result.Ranks++; result.Difference != nil {
			break
		}
	}
	others := rankenc.SetOf(slices.Collect(trace.Active())...).Difference(rankenc.SetOf(slices.Collect(recorded.Active())...))
	if result.Difference == nil && others.Len() > 0 {
		result.Difference = &spoolDifference{Rank: others.At(0), Reason: "the rank has calls in the trace alone"}
	}
	result.Equal = result.Difference == nil
	if asJSON {
		if err := printJSON(cmd.OutOrStdout(), result); err != nil {
			return err
		}
	}
	if !result.Equal {
		return fmt.Errorf("%s differs: %w", path, result.Difference)
	}
	if !asJSON {
		fmt.Fprintf(cmd.OutOrStdout(), "equal: %s of %s\n", text.Plural(result.Calls, "call"), text.Plural(result.Ranks, "rank"))
	}
	return nil
}

// collectAgain returns the trace of raw records, which it leaves as they are.
func collectAgain(ctx context.Context, spool string) (*reprise.Trace, error) {
	c, err := collect.New(spool, collect.Options{Untimed: true, Keep: true})
	if err != nil {
		return nil, err
	}
	a, summary, err := c.Finish(ctx)
	if err != nil {
		return nil, err
	}
	if summary.Problems != nil {
		return nil, summary.Problems
	}
	var file bytes.Buffer
	if err := a.Write(&file); err != nil {
		return nil, err
	}
	return reprise.OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
}

// compareRecorded compares the calls of a rank with those that were recorded, of which
// there are some, and returns how many are equal and the first difference.
func compareRecorded(ctx context.Context, trace, recorded *reprise.Trace, rank int) (uint64, *spoolDifference, error) {
	want, err := recorded.Rank(rank)
	if err != nil {
		return 0, nil, err
	}
	next := func() (uint64, reprise.Call, bool) { return 0, reprise.Call{}, false }
	if rank < trace.Ranks() {
		r, err := trace.Rank(rank)
		if err != nil {
			return 0, nil, err
		}
		var stop func()
		next, stop = iter.Pull2(r.Calls())
		defer stop()
	}
	p, q := trace.Printer(reprise.PrintOptions{Absolute: true}), recorded.Printer(reprise.PrintOptions{Absolute: true})
	for i, c := range want.Calls() {
		if i%10000 == 0 && ctx.Err() != nil {
			return i, nil, context.Cause(ctx)
		}
		_, have, ok := next()
		reason := ""
		switch {
		case !ok:
			reason = "the trace ends before a call of " + c.Function.Name
		case have.Function.Name != c.Function.Name:
			reason = fmt.Sprintf("%s was recorded, not %s", c.Function.Name, p.AppendCall(nil, have))
		default:
			reason = otherArgument(p, q, have, c)
		}
		if reason != "" {
			return i, &spoolDifference{rank, i, reason}, nil
		}
	}
	if _, more, ok := next(); ok {
		reason := fmt.Sprintf("the trace has a call that was not recorded: %s", p.AppendCall(nil, more))
		return want.Len(), &spoolDifference{rank, want.Len(), reason}, nil
	}
	return want.Len(), nil, nil
}

// otherArgument says which argument of a call is not as it was recorded, nothing if all
// are. Each call comes with a printer.
func otherArgument(p, q *reprise.Printer, have, want reprise.Call) string {
	for i, param := range want.Function.Params {
		switch {
		case i >= len(have.Args) || have.Function.Params[i].Name != param.Name:
			return fmt.Sprintf("%s lacks the argument %s=%s in its place", p.AppendCall(nil, have), param.Name, q.AppendArgument(nil, want, i))
		case !have.Function.Params[i].Type.Equal(param.Type) || have.Function.Params[i].Direction != param.Direction:
			return fmt.Sprintf("%s: %s is of another type or direction than was recorded", p.AppendCall(nil, have), param.Name)
		case !have.Args[i].Equal(want.Args[i]):
			return fmt.Sprintf("%s: %s=%s was recorded", p.AppendCall(nil, have), param.Name, q.AppendArgument(nil, want, i))
		}
	}
	if n := len(want.Args); n < len(have.Args) {
		return fmt.Sprintf("%s has the argument %s, which was not recorded", p.AppendCall(nil, have), have.Function.Params[n].Name)
	}
	return ""
}
