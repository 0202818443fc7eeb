package programs

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/compress"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/merging"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/extrapolate"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

func NewExtrapolate() *cobra.Command {
	a := new(extrapolateAnswer)
	q := &cli.Question{Command: cli.NewCommand("extrapolate")}
	q.AddOptions([]cli.Option{cli.OptJSON, cli.OptAll})
	f := q.Flags()
	f.StringVarP(&a.Output, "output", "o", "", "the `file` to write")
	f.IntVar(&a.Size, "ranks", 0, "`number` of ranks of the new trace")
	addExtrapolation(q.Command, &a.options)
	q.Args = func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return cli.BadUsage(errors.New("extrapolate takes traces of one program on different numbers of ranks"))
		case a.Output == "":
			return cli.BadUsage(errors.New("extrapolate needs -o OUT.rpz"))
		}
		return checkSize(a.Size)
	}
	q.RunE = func(_ *cobra.Command, args []string) error {
		a.Schema, a.Traces = cli.Schema, args
		if err := a.extrapolate(q); err != nil {
			return err
		}
		out := cli.SummaryOf(q.Command, a.Output)
		if q.JSON {
			return cli.PrintJSON(out, a)
		}
		fmt.Fprintf(out, "%s: %s of %s in %s\n", text.Printable(a.Output), text.Plural(a.Calls, "call"),
			text.Plural(uint64(a.Size), "rank"), text.Plural(uint64(a.Bytes), "byte"))
		a.print(q, out)
		return nil
	}
	return q.Command
}

// maxExtrapolated is the largest number of ranks, each of which is made for itself.
const maxExtrapolated = 1 << 20

// addExtrapolation adds the flags of what is extrapolated.
func addExtrapolation(cmd *cobra.Command, o *extrapolate.Options) {
	cmd.Flags().BoolVar(&o.Force, "force", false,
		"take the shortest rule that fits the most traces where they do not determine a value, and list it")
	cli.AddIgnore(cmd, nil, cli.Ignorable{Word: "addresses", On: &o.Ignore.Addresses},
		cli.Ignorable{Word: "sites", On: &o.Ignore.Sites}, cli.Ignorable{Word: "files", On: &o.Ignore.Files},
		cli.Ignorable{Word: "argv", On: &o.Ignore.Arguments})
}

func checkSize(ranks int) error {
	if ranks < 1 || ranks > maxExtrapolated {
		return cli.BadUsage(fmt.Errorf("--ranks is a number of ranks from 1 to %s", text.Count(maxExtrapolated)))
	}
	return nil
}

// An extrapolateAnswer is a run on another number of ranks.
type extrapolateAnswer struct {
	Schema int      `json:"schema"`
	Traces []string `json:"traces"`
	Output string   `json:"output"`
	Size   int      `json:"run_ranks"`
	Calls  uint64   `json:"calls"`
	Bytes  int64    `json:"trace_bytes"`
	extrapolation

	options extrapolate.Options
}

// An extrapolation says how a run is made of others.
type extrapolation struct {
	Grid   string            `json:"grid"`
	Fits   []extrapolate.Fit `json:"fits"`
	Weak   int               `json:"weak_fits"`
	Forced []string          `json:"forced"`
	Faults []string          `json:"faults"`

	Nearest []string `json:"nearest"`
}

// make makes the trace of a run on so many ranks of those at paths.
func (e *extrapolation) make(q *cli.Question, paths []string, ranks int, o extrapolate.Options) (
	file []byte, err error) {
	var traces []*trace.Trace
	for _, path := range paths {
		t, err := cli.OpenReadable(q.Command, path)
		if err != nil {
			return nil, err
		}
		defer t.Close()
		if err := cli.DamageOf(path, t); err != nil {
			return nil, err
		}
		traces = append(traces, t)
	}
	bar := cli.NewCounter(q.Context(), q.ErrOrStderr(), "extrapolate", int64(ranks), "ranks")
	o.Ranks, o.Check, o.Progress = ranks, query.Faults, func(n int) { bar.Show(uint64(n)) }
	o.Origin.Commands = []string{fmt.Sprintf("reprise extrapolate %s --ranks %d", text.ShellLine(paths), ranks)}
	for _, t := range traces {
		layout.MergeOrigin(&o.Origin, format.Origin{Assumptions: t.Run().Origin.Assumptions})
	}
	r, err := extrapolate.Make(q.Context(), traces, o)
	bar.Done()
	if err := q.Context().Err(); err != nil {
		return nil, err
	}
	if err != nil {
		if undetermined := new(extrapolate.Error); errors.As(err, &undetermined) {
			return nil, undeterminedError{undetermined, ranks, q.All}
		}
		return nil, errors.New(strings.TrimPrefix(err.Error(), "extrapolate: "))
	}
	*e = extrapolation{r.Grid, r.Fits, r.Weak, r.Forced, r.Faults, r.Nearest}
	return compress.Encode(q.Command, r.Write)
}

// extrapolate makes the trace, and fills in the rest of a.
func (a *extrapolateAnswer) extrapolate(q *cli.Question) error {
	if err := merging.RefuseInside(a.Output, a.Traces); err != nil {
		return err
	}
	file, err := a.make(q, a.Traces, a.Size, a.options)
	if err != nil {
		return err
	}
	return cli.WriteOutput(q.Command, a.Output, a.Traces, func(w io.Writer) error {
		made, err := cli.Reopen(file)
		if err != nil {
			return err
		}
		a.Bytes = int64(len(file))
		for i := range made.Shapes() {
			s, err := made.Shape(i)
			if err != nil {
				return err
			}
			a.Calls += s.Grammar.Len() * uint64(s.Ranks.Len())
		}
		_, err = w.Write(file)
		return err
	})
}

// An undeterminedError is an [extrapolate.Error] in the words of the command.
type undeterminedError struct {
	err   *extrapolate.Error
	ranks int
	all   bool
}

func (e undeterminedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the run is not determined: %s:", e.advice())
	list := e.err.Problems
	if !e.all {
		list = list[:min(len(list), cli.MaxDifferences)]
	}
	for _, p := range list {
		b.WriteString("\n" + text.Printable(signs.Replace(p)))
	}
	if more := len(e.err.Problems) - len(list); more > 0 {
		fmt.Fprintf(&b, "\nand %d more, which --all shows", more)
	}
	return b.String()
}

// advice says what would determine the run.
func (e undeterminedError) advice() string {
	more := "traces of more numbers of ranks"
	if n := e.err.Ranks; n > 0 {
		more = fmt.Sprintf("a trace of %s, too,", text.Plural(uint64(n), "rank"))
	}
	if e.err.NoGrid {
		return fmt.Sprintf(
			"give %s or record it on %s, as places in a grid do not say which calls ranks make", more,
			text.Plural(uint64(e.ranks), "rank"))
	}
	return fmt.Sprintf("give %s or take the shortest rules with --force", more)
}

func (e undeterminedError) Unwrap() error { return e.err }

// What expressions and grids are made of, as a person writes it.
var (
	signs   = strings.NewReplacer("+-1*", "-", "-1*", "-", "+-", "-")
	oneRank = regexp.MustCompile(`\b1 ranks`)
)

func (e *extrapolation) print(q *cli.Question, out io.Writer) {
	fmt.Fprintf(out, "grid: %s\n", oneRank.ReplaceAllString(e.Grid, "1 rank"))
	most := cli.MaxDifferences
	if q.All {
		most = text.All
	}
	if len(e.Fits) > 0 {
		fmt.Fprintln(out)
		columns := []string{"function", "argument", "expression", "<ranks"}
		if len(e.Forced) > 0 {
			columns = append(columns, "<determined")
		}
		t := text.NewTable(out, most, columns...)
		for _, f := range e.Fits {
			row := []any{text.Printable(f.Function), text.Printable(f.Parameter), signs.Replace(f.Expression), f.Class}
			switch {
			case len(e.Forced) == 0:
			case f.Forced:
				row = append(row, "no")
			default:
				row = append(row, "by "+text.Plural(uint64(f.Traces), "trace"))
			}
			t.Row(row...)
		}
		t.Close()
	}
	e.warnOfForced(q, out)
	if e.Weak > 0 {
		cli.Warn(q.ErrOrStderr(), "%s of the number of ranks rest on two traces: a third would confirm them",
			text.Plural(uint64(e.Weak), "expression"))
	}
	if len(e.Nearest) > 0 {
		list := e.Nearest
		more := ""
		if n := len(list) - cli.MaxDifferences; n > 0 && !q.All {
			list, more = list[:cli.MaxDifferences], fmt.Sprintf(" and %d more", n)
		}
		cli.Warn(q.ErrOrStderr(), "without a rule, and taken from the nearest rank of the largest trace: %s%s",
			text.Printable(strings.Join(list, ", ")), more)
	}
}

// warnOfForced says how sure a forced run is, and what is not proved.
func (e *extrapolation) warnOfForced(q *cli.Question, out io.Writer) {
	if len(e.Forced) == 0 {
		return
	}
	fmt.Fprintf(out, "\nnot proved: %s; the run is a guess where these are wrong\n",
		text.Plural(uint64(len(e.Forced)), "rule"))
	if len(e.Faults) > 0 {
		fmt.Fprintf(out, "wrong for certain: %s of the run cannot be right, such as calls without a partner\n",
			text.Plural(uint64(len(e.Faults)), "thing"))
	}
	list := func(what string, all []string) {
		shown := all
		if !q.All {
			shown = all[:min(len(all), cli.MaxDifferences)]
		}
		for _, f := range shown {
			cli.Warn(q.ErrOrStderr(), "%s: %s", what, text.Printable(signs.Replace(f)))
		}
		if more := len(all) - len(shown); more > 0 {
			cli.Warn(q.ErrOrStderr(), "%s: and %d more, which --all shows", what, more)
		}
	}
	list("wrong in the forced run", e.Faults)
	list("not determined by the traces, forced", e.Forced)
}
