package record

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
)

// summarizeRun returns what a trace tells of the run, nil if it keeps no times of ranks.
func summarizeRun(ctx context.Context, file []byte) (*query.Summary, error) {
	trace, err := cli.Reopen(file)
	if err != nil {
		return nil, err
	}
	return query.OpenSummary(ctx, trace)
}

// printSummary prints what a trace tells of the run, in lines of 80 columns. Of a run that ended early it
// does not compare ranks: they were not to stop where they did.
func printSummary(w io.Writer, s *query.Summary, early bool) {
	fmt.Fprintf(w, "reprise: ran %s", text.Around(s.Run, s.Error))
	if c := s.Share; c != nil {
		fmt.Fprintf(w, ", %s in MPI", text.Percent(c.Mean, 1))
		if c.MinRank != c.MaxRank && !early {
			fmt.Fprintf(w, ": %s on rank %d to %s on rank %d", text.Percent(c.Min, 1), c.MinRank,
				text.Percent(c.Max, 1), c.MaxRank)
		}
	}
	fmt.Fprintln(w)
	if s.Startup > 0 || s.Shutdown > 0 {
		fmt.Fprintf(w, "reprise: not counted: startup %s, shutdown %s\n", text.Duration(s.Startup),
			text.Duration(s.Shutdown))
	}
	if early {
		return
	}
	if r := s.Slowest; r != nil && r.Mean > 0 {
		fmt.Fprintf(w, "reprise: slowest rank %d: %s outside MPI, mean %s", r.Rank, text.Around(r.Outside, r.Error),
			text.Around(r.Mean, r.Error))
		if s.Balance != nil {
			fmt.Fprintf(w, "; balance %s", text.Percent(*s.Balance, 1))
		}
		fmt.Fprintln(w)
	}
	for i, f := range s.Waits {
		const columns = 80
		title := "wait time"
		if i > 0 {
			title = ""
		}
		line := fmt.Sprintf("reprise: %-9s %7s %6s of MPI  %s", title, text.Around(f.Wait, f.Error),
			text.Percent(f.Share, 1), text.Printable(f.Function))
		if f.Site != "" {
			line += "  " + text.Printable(f.Site)
		}
		fmt.Fprintln(w, text.Cut(line, columns))
	}
}

// nextCommand returns the command that shows a trace.
func nextCommand(path string) string {
	return "reprise report " + cli.Quoted(path) + " -o " + cli.Quoted(strings.TrimSuffix(path, ".rpz")+".html")
}
