package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/report"
)

func newReport() *cobra.Command {
	var path, ranks string
	cmd := &cobra.Command{
		Use:   "report TRACE.rpz -o REPORT.html",
		Short: "Write a page about a trace, to be opened in a browser",
		Long: `Write a page about a trace, to be opened in a browser: a summary, a timeline of
some ranks, the functions, who communicates with whom, the sizes of messages,
what is unevenly distributed over the ranks, and the loops.

The page is one file, which needs no network. Its timeline is drawn from the
compressed form: it opens at once, however many calls there are, and zooms in to
single calls with their arguments. The times in it are what the trace has: those
of every call, or means; or none, and then calls stand side by side.

The timeline shows at most 16 ranks, some of each shape of control flow, unless
--ranks chooses up to 256 others.

Ranks that cannot be read, of a damaged or repaired trace, are named and left
out; the exit status is then 1.`,
		Example: `  reprise report lu.rpz -o lu.html
  reprise report lu.rpz -o lu.html --ranks 0-7`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := oneTrace(cmd, args); err != nil {
				return err
			}
			if path == "" {
				return usageError{errors.New("report needs -o, the name of the page, or - for standard output")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			trace, err := openTrace(args[0])
			if err != nil {
				return err
			}
			defer trace.Close()
			file, err := os.Stat(args[0])
			if err != nil {
				return err
			}
			o := report.Options{Name: filepath.Base(args[0]), Bytes: file.Size()}
			if cmd.Flags().Changed("ranks") {
				if o.Ranks, err = chosenRanks(cmd, ranks, trace, args[0]); err != nil {
					return err
				}
			}
			lost := &lostRanks{path: args[0]}
			o.Unreadable = lost.add
			bar := newCounter(cmd.Context(), cmd.ErrOrStderr(), "report", int64(trace.Merged().RankSet().Len()), "ranks")
			defer bar.done()
			o.Progress = func(_ string, ranks int) { bar.show(uint64(ranks)) }
			err = writeOutput(cmd, path, args, func(w io.Writer) error {
				return report.Write(cmd.Context(), w, trace, o)
			})
			if err != nil {
				return err
			}
			return warnLost(cmd.ErrOrStderr(), lost.err())
		},
	}
	cmd.Flags().StringVarP(&path, "output", "o", "", "the `file` to write, or - for standard output")
	addRanks(cmd, &ranks)
	cmd.Flags().Lookup("ranks").DefValue = "some"
	return cmd
}
