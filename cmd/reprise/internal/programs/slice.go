package programs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/slicing"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/slice"
)

func NewSlice() *cobra.Command {
	var (
		p       slicing.Program
		explain []string
		assume  []string
		lines   []slice.Position
		asJSON  bool

		asCompiler bool
		missing    error // of the arguments
	)
	cmd := cli.NewCommand("slice")
	f := cmd.Flags()
	f.StringVarP(&p.Output, "output", "o", "", "write the sliced program to a `file`")
	f.StringVar(&p.MPICC, "mpicc", "", "the compiler `command` of the MPI")
	f.StringArrayVar(&explain, "explain", nil, "say why a line is kept, as `FILE:LINE`")
	f.StringArrayVar(&assume, "assume", nil, "assume that a condition is never or always true, as `FILE:LINE=never`")
	f.BoolVar(&p.AssumeNoErrors, "assume-no-errors", false, "assume that no condition ends the program with an error")
	f.BoolVar(&p.KeepErrors, "keep-errors", false, "keep all conditions that end the program with an error")
	f.BoolVar(&p.ExecuteAll, "execute-all", false, "send all messages")
	f.BoolVar(&asCompiler, "as-compiler", false,
		"act as a compiler with these arguments, and slice the program it links")
	f.BoolVar(&asJSON, "json", false, "print as JSON")
	f.BoolVar(&p.Whole, "whole", false, "leave nothing out, for comparison")
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if p.Output == "" && !asCompiler {
			return cli.BadUsage(
				errors.New("slice takes the name of the program to write, such as: reprise slice -o app.slice -- app.c"))
		}
		for _, line := range explain {
			at, ok := parsePosition(line)
			if !ok {
				return cli.BadUsage(fmt.Errorf("--explain takes a line, such as solver.c:120, not %q", line))
			}
			lines = append(lines, at)
		}
		for _, condition := range assume {
			a, ok := parseAssumption(condition)
			if !ok {
				return cli.BadUsage(
					fmt.Errorf("--assume takes a condition, such as solver.c:120=never or solver.c:120:9=always, not %q", condition))
			}
			p.Assume = append(p.Assume, a)
		}
		if p.Whole && (p.Assume != nil || p.AssumeNoErrors) {
			return cli.BadUsage(errors.New("--whole leaves nothing out: it takes no assumptions"))
		}
		if p.KeepErrors && p.AssumeNoErrors {
			return cli.BadUsage(errors.New("--keep-errors and --assume-no-errors contradict each other"))
		}
		switch {
		case asCompiler && len(args) == 0:
			return cli.BadUsage(
				errors.New("there is nothing to compile: the arguments are those of a compiler, such as -c solver.c, and make gives them: make CC=reprise-cc"))
		case asCompiler:
			return nil
		}
		if missing = p.Arguments(args); missing != nil && !errors.Is(missing, fs.ErrNotExist) {
			return cli.BadUsage(missing)
		}
		return nil
	}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if missing != nil {
			return missing
		}
		p.Warnings = cmd.ErrOrStderr()
		build := p.Build
		if asCompiler {
			build = func(ctx context.Context) (*slice.Slice, error) {
				return p.AsCompiler(ctx, args, cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
		}
		list, err := build(cmd.Context())
		if err != nil || list == nil {
			return err
		}
		a := newSliceAnswer(list, &p, lines)
		switch {
		case asJSON:
			return cli.PrintJSON(cmd.OutOrStdout(), a)
		case !p.Whole:
			a.print(cmd.OutOrStdout())
		}
		return nil
	}
	return cmd
}

// A Slice is a program without the code that its calls do not need.
type Slice struct {
	Schema   int            `json:"schema"`
	Output   string         `json:"output"`
	Files    []slice.Count  `json:"sources"`
	Executed int            `json:"executed_calls"`
	Calls    []slice.Call   `json:"call_sites"`
	Open     *slice.Opening `json:"depends_on_order"`
	Needed   []slice.Needed `json:"needed_data"`
	Sources  []slice.Source `json:"only_senders"`
	Lines    []KeptLine     `json:"explained"`

	Assumed []slice.Assumption `json:"conditional_on"`
}

// A KeptLine is why a line is kept.
type KeptLine struct {
	slice.Position
	Known string       `json:"known"` // "line", "file" if the program has no instruction of the line, or "none"
	Steps []slice.Step `json:"steps"` // none if nothing of it is kept
}

func newSliceAnswer(s *slice.Slice, p *slicing.Program, lines []slice.Position) *Slice {
	a := &Slice{Schema: cli.Schema, Output: p.Output, Files: append([]slice.Count{}, s.Counts()...),
		Calls:  append([]slice.Call{}, s.Calls()...),
		Needed: append([]slice.Needed{}, s.Needed()...), Lines: []KeptLine{},
		Sources: append([]slice.Source{}, s.Sources()...),
		Assumed: append([]slice.Assumption{}, p.Assumed...)}
	for k := range a.Files {
		if p.Whole {
			a.Files[k].Kept = a.Files[k].All
		}
	}
	for k := range a.Calls {
		a.Calls[k].Executed = a.Calls[k].Executed || p.Whole
		if a.Calls[k].Executed {
			a.Executed++
		}
	}
	if open, ok := s.Open(); ok {
		a.Open = &open
	}
	for _, at := range lines {
		known := "none"
		switch {
		case s.Has(at):
			known = "line"
		case s.Has(slice.Position{File: at.File}):
			known = "file"
		}
		a.Lines = append(a.Lines, KeptLine{at, known, append([]slice.Step{}, s.Explain(at)...)})
	}
	a.demangle()
	return a
}

// demangle puts the names that a user of C++ knows in the place of those of compilers.
func (a *Slice) demangle() {
	var names []*string
	if a.Open != nil {
		names = append(names, &a.Open.Function)
	}
	for _, l := range a.Lines {
		for k := range l.Steps {
			names = append(names, &l.Steps[k].Function, &l.Steps[k].How)
		}
	}
	slicing.Demangle(names)
}

// parsePosition reads FILE:LINE.
func parsePosition(s string) (at slice.Position, ok bool) {
	at.File, at.Line, ok = cutNumber(s)
	return at, ok
}

// cutNumber cuts a positive number from the end of a text, and the colon before it.
func cutNumber(s string) (before string, n int, ok bool) {
	colon := strings.LastIndexByte(s, ':')
	if colon <= 0 {
		return s, 0, false
	}
	n, err := strconv.Atoi(s[colon+1:])
	return s[:colon], n, err == nil && n > 0
}

// parseAssumption reads FILE:LINE[:COLUMN]=never|always.
func parseAssumption(s string) (a slice.Assumption, ok bool) {
	equals := strings.LastIndexByte(s, '=')
	if equals < 0 || s[equals+1:] != "never" && s[equals+1:] != "always" {
		return a, false
	}
	a.Always = s[equals+1:] == "always"
	if a.Position, ok = parsePosition(s[:equals]); !ok {
		return a, false
	}
	if at, ok := parsePosition(a.File); ok {
		a.Position, a.Column = at, a.Line
	}
	return a, true
}

func (a *Slice) print(w io.Writer) {
	a.PrintFiles(w)
	fmt.Fprintf(w, "%d of %s executed, the others only recorded\n", a.Executed, text.Plural(len(a.Calls), "MPI call"))
	if a.Open != nil {
		fmt.Fprintf(w, "all messages are sent, for %s at %v: %s\n", a.Open.Function, a.Open.Position, a.Open.Why)
	}
	for _, source := range a.Sources {
		fmt.Fprintf(w, "%s at %v receives from one rank only: "+
			"%v sends to the rank computed at %v, another one for each sender\n",
			source.Function, source.Position, source.Sender, source.Receiver)
	}
	for _, n := range a.Needed {
		fmt.Fprintf(w, "%s: the data is needed, because %v reads the data received at %v\n", n.Group, n.Reader, n.Call)
	}
	for _, assumed := range a.Assumed {
		fmt.Fprintf(w, "conditional on %v\n", assumed)
	}
	for _, l := range a.Lines {
		l.print(w)
	}
}

// PrintFiles prints how much of files is kept, those of libraries as one.
func (a *Slice) PrintFiles(w io.Writer) {
	libraries, other, total := slice.Count{File: "headers of libraries"},
		slice.Count{File: "code added by compilers"}, slice.Count{File: "all files"}
	print := func(c slice.Count) {
		if c.All > 0 {
			fmt.Fprintf(w, "%s: %d of %s kept\n", c.File, c.Kept, text.Plural(c.All, "instruction"))
		}
	}
	add := func(to *slice.Count, c slice.Count) { to.Kept, to.All = to.Kept+c.Kept, to.All+c.All }
	for _, c := range a.Files {
		switch add(&total, c); {
		case c.File == "":
			add(&other, c)
		case strings.HasPrefix(c.File, "/usr/"):
			add(&libraries, c)
		default:
			print(c)
		}
	}
	print(libraries)
	print(other)
	if len(a.Files) > 1 {
		print(total)
	}
}

func (l *KeptLine) print(w io.Writer) {
	switch {
	case l.Known == "none":
		fmt.Fprintf(w, "\n%v: the program has no instruction of a file of this name\n", l.Position)
		return
	case l.Known == "file":
		fmt.Fprintf(w, "\n%v: the program has no instruction of this line: it may be a declaration, a comment, or code that a compiler leaves out\n", l.Position)
		return
	case len(l.Steps) == 0:
		fmt.Fprintf(w, "\n%v: nothing of it is kept\n", l.Position)
		return
	}
	fmt.Fprintf(w, "\n%v is kept:\n", l.Position)
	for k, step := range l.Steps {
		in, end := "", ""
		if strings.ContainsAny(step.Function, "(:") { // of C++
			in = " in " + step.Function
		}
		if k+1 < len(l.Steps) {
			end = ", for"
		}
		fmt.Fprintf(w, "  %v%s %s%s\n", step.Position, in, step.How, end)
	}
}
