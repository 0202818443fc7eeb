package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/report"
)

func newReport() *cobra.Command {
	var path string
	budget := byteFlag(report.DefaultBudget)
	q := newQuestion("report", func() error {
		if path == "" {
			return errors.New("report needs -o, the name of the report, or - for standard output")
		}
		return isPageName(path)
	}, func(q *question) error { return writeReport(q, path, int(budget)) }, optRanks)
	q.Flags().StringVarP(&path, "output", "o", "", "the `file` to write, or - for standard output")
	q.Flags().Var(&budget, "budget", "max size of a report with the times of every call")
	q.Flags().Lookup("ranks").DefValue = "some"
	return q.Command
}

// isPageName returns an error for a file that, by its name, is something else: it would be overwritten.
func isPageName(path string) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case "", ".html", ".htm", ".xhtml":
		return nil
	}
	return fmt.Errorf("%s: a report is a page of HTML: give it a name that ends in .html", path)
}

func writeReport(q *question, path string, budget int) error {
	file, err := os.Stat(q.path)
	if err != nil {
		return err
	}
	o := report.Options{Name: filepath.Base(q.path), Bytes: file.Size(), Ranks: q.ranks, Budget: budget}
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
