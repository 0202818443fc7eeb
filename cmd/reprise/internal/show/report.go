package show

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/report"
)

func NewReport() *cobra.Command {
	var path string
	budget := cli.ByteFlag(report.DefaultBudget)
	q := cli.NewQuestion("report", func() error {
		if path == "" {
			return errors.New("report needs -o, the name of the report, or - for standard output")
		}
		return isPageName(path)
	}, func(q *cli.Question) error { return writeReport(q, path, int(budget)) }, cli.OptRanks,
		cli.OptReference, cli.OptRegion)
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

func writeReport(q *cli.Question, path string, budget int) error {
	file, err := os.Stat(q.Path)
	if err != nil {
		return err
	}
	o := report.Options{Name: filepath.Base(q.Path), Bytes: file.Size(), Ranks: q.Ranks, Region: q.Region,
		Budget: budget}
	if q.Flags().Changed("ranks") && o.Ranks == nil { // all: not those that the report would choose
		all := q.Trace.RankSet()
		o.Ranks = &all
	}
	inputs := []string{q.Path}
	if q.Reference != "" {
		reference, err := cli.OpenReadable(q.Command, q.Reference)
		if err != nil {
			return err
		}
		defer reference.Close()
		inputs = append(inputs, q.Reference)
		o.Reference = &report.Reference{Trace: reference, Name: filepath.Base(q.Reference)}
	}
	bar := cli.NewCounter(q.Context(), q.ErrOrStderr(), "report", int64(q.Trace.RankSet().Len()), "ranks")
	defer bar.Done()
	o.Progress = func(_ string, ranks int) { bar.Show(uint64(ranks)) }
	err = cli.Named(cli.WriteOutput(q.Command, path, inputs, func(w io.Writer) error {
		return report.Write(q.Context(), w, q.Trace, o)
	}))
	bar.Done()
	return cli.TellWritten(q.Command, "html", path, "a report of "+text.Plural(q.Trace.RankSet().Len(), "rank"), err)
}
