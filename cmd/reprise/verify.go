package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/ti"
)

func newVerify() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify TRACE.rpz IN...",
		Short: "Compare a trace with what it was made from",
		Long: `Compare a trace with the SimGrid trace it was made from, call by call, and name
the first difference by rank and number of the call, from 0. Exit status 1 if
there is one. The order of the calls of different ranks is compared as well.`,
		Example: `  reprise verify lu.rpz lu.W.64.ti.zst
  xz -dc trace.txt.xz | reprise verify run.rpz -`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usageError{errors.New("verify takes a trace and the files it was made from")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return verify(cmd, args[0], args[1:], asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

type verifyResult struct {
	Equal      bool        `json:"equal"`
	Calls      uint64      `json:"calls"` // compared
	Ranks      int         `json:"ranks"`
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
	err = compare(trace, in, bar)
	bar.done()
	var found *difference
	if err != nil && !errors.As(err, &found) {
		return err
	}
	stats := in.Stats()
	if asJSON {
		result := verifyResult{Equal: found == nil, Calls: stats.Calls, Ranks: stats.Ranks, Difference: found}
		if err := printJSON(cmd.OutOrStdout(), result); err != nil {
			return err
		}
	}
	if found != nil {
		return fmt.Errorf("%s differs: %w", path, found)
	}
	if !asJSON {
		fmt.Fprintf(cmd.OutOrStdout(), "equal: %s of %s\n", plural(stats.Calls, "call"), plural(uint64(stats.Ranks), "rank"))
	}
	return nil
}
