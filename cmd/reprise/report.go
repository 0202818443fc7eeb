package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/report"
)

func newReport() *cobra.Command {
	var path string
	q := newQuestion("report", func() error {
		if path == "" {
			return errors.New("report needs -o, the name of the report, or - for standard output")
		}
		return nil
	}, func(q *question) error { return writeReport(q, path) }, optRanks)
	q.Flags().StringVarP(&path, "output", "o", "", "the `file` to write, or - for standard output")
	q.Flags().Lookup("ranks").DefValue = "some"
	return q.Command
}

func writeReport(q *question, path string) error {
	file, err := os.Stat(q.path)
	if err != nil {
		return err
	}
	o := report.Options{Name: filepath.Base(q.path), Bytes: file.Size(), Ranks: q.ranks}
	if q.Flags().Changed("ranks") && o.Ranks == nil { // all: not those that the report would choose
		all := q.trace.RankSet()
		o.Ranks = &all
	}
	bar := newCounter(q.Context(), q.ErrOrStderr(), "report", int64(q.trace.RankSet().Len()), "ranks")
	defer bar.done()
	o.Progress = func(_ string, ranks int) { bar.show(uint64(ranks)) }
	err = named(writeOutput(q.Command, path, []string{q.path}, func(w io.Writer) error {
		return report.Write(q.Context(), w, q.trace, o)
	}))
	bar.done()
	return tellWritten(q.Command, "html", path, "a report of "+text.Plural(q.trace.RankSet().Len(), "rank"), err)
}
