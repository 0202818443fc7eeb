package main

import (
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/format"
)

func newRepair() *cobra.Command {
	var (
		output string
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "repair DAMAGED.rpz -o OUT.rpz",
		Short: "Save what is intact of a damaged trace",
		Long: `Walk through a damaged or truncated trace, write a new one of the ranks that can
be read, and say what was lost. Of the ranks that are lost, the new trace has no
calls; the source that reprise info shows says which they are, and whether the
order of the calls of different ranks is lost: the ranks then stand one by one.

Times of calls can be lost without the calls: the times of every call of some
ranks, or the statistics and histograms of all. The source says that, too. Where
nothing tells what stood in the damaged place, as where a file is cut off, times
may be missing that are not named. The names of handles and other numbers can be
lost without the rest, too.

Ranks share what they have in common: damage to the run, to the texts, to the
signatures or to the first section of grammars loses all ranks, damage to
columns, to streams of values that vary from call to call, or to other grammars
those that need them, of a long column only some. If no rank can be read, the
exit status is 1, and there is no output. A part file is saved whole, perhaps
without times, or not at all.`,
		Example: "  reprise repair damaged.rpz -o saved.rpz && reprise info saved.rpz",
		Args: func(cmd *cobra.Command, args []string) error {
			if output == "" {
				return usageError{errors.New("repair needs -o OUT.rpz")}
			}
			return oneTrace(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := repair(cmd, args[0], output)
			if err != nil {
				return err
			}
			report := cmd.OutOrStdout()
			if output == "-" {
				report = cmd.ErrOrStderr()
			}
			if asJSON {
				return printJSON(report, r)
			}
			r.print(report)
			return nil
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "the `file` to write")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

// repair writes what is intact of the trace at path to output.
func repair(cmd *cobra.Command, path, output string) (*repairResult, error) {
	if err := checkSeekable(path); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return nil, err
	}
	file, losses, err := format.Salvage(f, stat.Size(), format.Options{})
	if errors.Is(err, format.ErrFormat) {
		err = errNoTrace // nor is there anything of one
	}
	if err != nil {
		return nil, fileError(path, err)
	}
	r := newRepairResult(path, output, losses)
	a, err := r.salvage(cmd, file)
	if err != nil {
		if cmd.Context().Err() == nil {
			r.printDamage(cmd.ErrOrStderr(), "reprise: damaged: ")
		}
		return nil, err
	}
	err = writeOutput(cmd, output, []string{path}, func(w io.Writer) error { return r.write(cmd, file, a, w) })
	if err != nil {
		return nil, err
	}
	return r, nil
}
