package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/extrapolate"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/merge"
)

func newExtrapolate() *cobra.Command {
	a := new(extrapolateAnswer)
	q := &question{Command: newCommand("extrapolate")}
	q.addOptions([]option{optJSON, optAll})
	f := q.Flags()
	f.StringVarP(&a.Output, "output", "o", "", "the `file` to write")
	f.IntVar(&a.Size, "ranks", 0, "`number` of ranks of the run that is made")
	f.BoolVar(&a.force, "force", false, "take what is not determined from the nearest rank, and list it")
	q.Args = func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return usageError{errors.New("extrapolate takes traces of one program on different numbers of ranks")}
		case a.Output == "":
			return usageError{errors.New("extrapolate needs -o OUT.rpz")}
		case a.Size < 1 || a.Size > maxExtrapolated:
			return usageError{fmt.Errorf("--ranks is a number of ranks from 1 to %s", text.Count(maxExtrapolated))}
		}
		return nil
	}
	q.RunE = func(_ *cobra.Command, args []string) error {
		a.Schema, a.Traces = schema, args
		if err := a.extrapolate(q); err != nil {
			return err
		}
		out := summaryOf(q.Command, a.Output)
		if q.json {
			return printJSON(out, a)
		}
		a.print(q, out)
		return nil
	}
	return q.Command
}

// maxExtrapolated is the largest number of ranks, each of which is made for itself.
const maxExtrapolated = 1 << 20

// An extrapolateAnswer is a run on another number of ranks.
type extrapolateAnswer struct {
	Schema int               `json:"schema"`
	Traces []string          `json:"traces"`
	Output string            `json:"output"`
	Size   int               `json:"run_ranks"`
	Calls  uint64            `json:"calls"`
	Bytes  int64             `json:"trace_bytes"`
	Grid   string            `json:"grid"`
	Fits   []extrapolate.Fit `json:"fits"`
	Weak   int               `json:"weak_fits"`
	Forced []string          `json:"forced"`

	force bool
}

// extrapolate makes the trace, and fills in the rest of a.
func (a *extrapolateAnswer) extrapolate(q *question) error {
	if err := refuseInside(a.Output, a.Traces); err != nil {
		return err
	}
	var traces []*reprise.Trace
	for _, path := range a.Traces {
		t, err := openReadable(q.Command, path)
		if err != nil {
			return err
		}
		defer t.Close()
		if err := damageOf(path, t); err != nil {
			return err
		}
		traces = append(traces, t)
	}
	bar := newCounter(q.Context(), q.ErrOrStderr(), "extrapolate", int64(a.Size), "ranks")
	r, err := extrapolate.Make(q.Context(), traces, extrapolate.Options{Ranks: a.Size, Force: a.force, Progress: func(n int) { bar.show(uint64(n)) }})
	bar.done()
	if err != nil {
		if undetermined := new(extrapolate.Error); errors.As(err, &undetermined) {
			return undeterminedError{undetermined, q.all}
		}
		return errors.New(strings.TrimPrefix(err.Error(), "extrapolate: "))
	}
	origin := merge.Origin{Commands: []string{fmt.Sprintf("reprise extrapolate %s --ranks %d", strings.Join(a.Traces, " "), a.Size)}}
	if err := r.Describe(merge.Run{Origin: origin}); err != nil {
		return err
	}
	a.Grid, a.Fits, a.Weak, a.Forced = r.Grid, r.Fits, r.Weak, r.Forced
	return writeOutput(q.Command, a.Output, a.Traces, func(w io.Writer) error {
		file, err := encode(q.Command, r.Write)
		if err != nil {
			return err
		}
		made, err := reopen(file)
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
	err *extrapolate.Error
	all bool
}

func (e undeterminedError) Error() string {
	var b strings.Builder
	b.WriteString("the run is not determined:")
	list := e.err.Problems
	if !e.all {
		list = list[:min(len(list), maxDifferences)]
	}
	for _, p := range list {
		b.WriteString("\n  " + text.Printable(p))
	}
	if more := len(e.err.Problems) - len(list); more > 0 {
		fmt.Fprintf(&b, "\n  and %d more, which --all shows", more)
	}
	return b.String()
}

func (e undeterminedError) Unwrap() error { return e.err }

func (a *extrapolateAnswer) print(q *question, out io.Writer) {
	fmt.Fprintf(out, "%s: %s of %s in %s\n", a.Output, text.Plural(a.Calls, "call"), text.Plural(uint64(a.Size), "rank"), text.Plural(uint64(a.Bytes), "byte"))
	fmt.Fprintf(out, "grid: %s\n", a.Grid)
	most := maxDifferences
	if q.all {
		most = text.All
	}
	if len(a.Fits) > 0 {
		fmt.Fprintln(out)
		t := text.NewTable(out, most, "<of", "<argument", "<expression", "<ranks")
		for _, f := range a.Fits {
			t.Row(text.Printable(f.Function), text.Printable(f.Parameter), f.Expression, f.Class)
		}
		t.Close()
	}
	if a.Weak > 0 {
		warn(q.ErrOrStderr(), "%s of the number of ranks rest on two traces: a third would confirm them", text.Plural(uint64(a.Weak), "expression"))
	}
	for _, f := range a.Forced {
		warn(q.ErrOrStderr(), "not determined, and taken all the same: %s", text.Printable(f))
	}
}
