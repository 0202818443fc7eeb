package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/fact"
	"github.com/reprise-trace/reprise/internal/slicing"
	"github.com/reprise-trace/reprise/internal/text"
)

func newSlice() *cobra.Command {
	var (
		p       slicing.Program
		explain []string
		lines   []fact.Position
	)
	cmd := newCommand("slice")
	f := cmd.Flags()
	f.StringVarP(&p.Output, "output", "o", "", "write the sliced program to a `file`")
	f.StringVar(&p.MPICC, "mpicc", "", "the compiler `command` of the MPI")
	f.StringArrayVar(&explain, "explain", nil, "say why a line is kept, as `FILE:LINE`")
	f.BoolVar(&p.ExecuteAll, "execute-all", false, "send all messages")
	f.BoolVar(&p.Whole, "whole", false, "leave nothing out, to compare with")
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if p.Output == "" {
			return usageError{errors.New("slice takes the name of the program to write, such as: reprise slice -o app.slice -- app.c")}
		}
		for _, line := range explain {
			at, err := parsePosition(line)
			if err != nil {
				return usageError{err}
			}
			lines = append(lines, at)
		}
		if err := p.Arguments(args); err != nil {
			return usageError{err}
		}
		return nil
	}
	cmd.RunE = func(_ *cobra.Command, _ []string) error {
		slice, err := p.Build(cmd.Context())
		if err != nil {
			return err
		}
		if p.Whole {
			return nil
		}
		printSlice(cmd, slice)
		for _, at := range lines {
			printReasons(cmd, slice, at)
		}
		return nil
	}
	return cmd
}

// parsePosition reads FILE:LINE.
func parsePosition(s string) (fact.Position, error) {
	colon := strings.LastIndexByte(s, ':')
	if colon > 0 {
		if line, err := strconv.Atoi(s[colon+1:]); err == nil && line > 0 {
			return fact.Position{File: s[:colon], Line: line}, nil
		}
	}
	return fact.Position{}, fmt.Errorf("--explain takes a line, such as solver.c:120, not %q", s)
}

// printSlice prints what is left of a program.
func printSlice(cmd *cobra.Command, s *fact.Slice) {
	w := cmd.OutOrStdout()
	for _, c := range s.Counts() {
		fmt.Fprintf(w, "%s: %d of %s kept\n", c.File, c.Kept, text.Plural(c.All, "instruction"))
	}
	calls := s.Calls()
	executed := 0
	for _, c := range calls {
		if c.Executed {
			executed++
		}
	}
	fmt.Fprintf(w, "%d of %s of MPI executed, the others only recorded\n", executed, text.Plural(len(calls), "call"))
	if open, ok := s.Open(); ok {
		fmt.Fprintf(w, "all messages are sent: what %s returns at %v depends on which messages come first\n", open.Function, open.Position)
	}
	for _, n := range s.Needed() {
		fmt.Fprintf(w, "%s: the data is needed, as %v reads what is received at %v\n", n.Group, n.Reader, n.Call)
	}
}

// printReasons prints why a line is kept.
func printReasons(cmd *cobra.Command, s *fact.Slice, at fact.Position) {
	w := cmd.OutOrStdout()
	steps := s.Explain(at)
	if steps == nil {
		fmt.Fprintf(w, "\n%v: nothing of it is kept\n", at)
		return
	}
	fmt.Fprintf(w, "\n%v is kept:\n", at)
	for k, step := range steps {
		if k+1 < len(steps) {
			fmt.Fprintf(w, "  %v %s, for\n", step.Position, step.How)
		} else {
			fmt.Fprintf(w, "  %v %s\n", step.Position, step.How)
		}
	}
}
