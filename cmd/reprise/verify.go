package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/ti"
)

func newVerify() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify TRACE.rpz IN...",
		Short: "Compare a trace with what it was made from",
		Long: `Compare a trace with the SimGrid trace it was made from, call by call, and name
the first difference by rank, number of the call, from 0, and line of the input.
Exit status 1 if there is one. The order of the calls of different ranks is
compared as well. Ranks of the trace that cannot be read are named, the others
are compared; the exit status is then 1, too. The input is given as to compress.

If IN is a directory that record --keep-raw has left, the trace is compared with
the raw records of MPI calls in it, argument by argument.

Two traces are compared by the command diff. The same lines make the same file.`,
		Example: `  reprise verify lu.rpz lu.W.64.ti.zst
  reprise verify lu.rpz node1 node2         # directories of the files of ranks
  xz -dc trace.txt.xz | reprise verify run.rpz -`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usageError{errors.New("verify takes a trace and the files it was made from")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 && isSpool(args[1]) {
				return verifySpool(cmd, args[0], args[1], asJSON)
			}
			return verify(cmd, args[0], args[1:], asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

type verifyResult struct {
	Equal      bool        `json:"equal"`
	Calls      uint64      `json:"calls"`            // compared
	Ranks      int         `json:"ranks"`            // compared
	Unreadable string      `json:"unreadable_ranks"` // as a list
	Difference *difference `json:"difference"`
}

func verify(cmd *cobra.Command, path string, inputs []string, asJSON bool) error {
	trace, err := openTrace(path)
	if err != nil {
		return err
	}
	defer trace.Close()
	in, err := ti.Open(inputs, ti.Options{Stdin: cmd.InOrStdin()})
	if err != nil {
		return err
	}
	defer in.Close()
	bar := newProgress(cmd.Context(), cmd.ErrOrStderr(), "verify", textSize(inputs))
	c := newComparison(trace, path)
	err = c.compare(in, bar)
	bar.done()
	var found *difference
	if err != nil && !errors.As(err, &found) {
		return err
	}
	result := c.result(in.Stats(), found)
	if asJSON {
		if err := printJSON(cmd.OutOrStdout(), result); err != nil {
			return err
		}
	}
	c.lost.warn(cmd.ErrOrStderr())
	if found != nil {
		return fmt.Errorf("%s differs: %w", path, found)
	}
	switch {
	case asJSON:
	case result.Ranks == 0 && len(c.lost.list) > 0:
		fmt.Fprintln(cmd.OutOrStdout(), "nothing was compared")
	default:
		fmt.Fprintf(cmd.OutOrStdout(), "equal: %s of %s\n", text.Plural(result.Calls, "call"), text.Plural(result.Ranks, "rank"))
	}
	return c.lost.err()
}

// result returns what was found after reading as much as stats says.
func (c *comparison) result(stats ti.Stats, found *difference) verifyResult {
	return verifyResult{
		Equal:      found == nil && len(c.lost.list) == 0,
		Calls:      stats.Calls - c.skippedCalls,
		Ranks:      stats.Ranks - c.skippedRanks,
		Unreadable: c.lost.text(),
		Difference: found,
	}
}
