package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/proxy"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/trace"
)

func newProxy() *cobra.Command {
	var output, scale string
	var size int
	var force bool
	var q *question
	compute := newChoice(string(proxy.None), string(proxy.Spin), string(proxy.Sleep))
	gaps := newGaps()
	check := func() error {
		if output == "" {
			return errors.New("proxy needs -o DIR")
		}
		for _, name := range []string{"gaps", "scale"} {
			if q.Flags().Changed(name) && compute.String() == string(proxy.None) {
				return fmt.Errorf("--%s needs --compute, which chooses the action in gaps", name)
			}
		}
		_, err := scaleOf(scale)
		return err
	}
	options := func(name string) proxy.Options {
		factor, _ := scaleOf(scale) // it was checked
		return proxy.Options{Name: name, Compute: proxy.Compute(compute.String()), Gaps: proxy.Gaps(gaps.String()), Scale: factor}
	}
	q = newQuestion("proxy", check, func(q *question) error {
		return writeProxy(q, output, nil, options(filepath.Base(q.path)))
	}, optJSON, optAll)
	f := q.Flags()
	f.StringVarP(&output, "output", "o", "", "`directory` to write, created if necessary")
	f.IntVar(&size, "ranks", 0, "`number` of ranks of the program, if not that of the trace")
	addForce(q.Command, &force)
	addChoice(q.Command, compute, "compute", "action in the gaps between calls")
	addChoice(q.Command, gaps, "gaps", aboutGaps)
	addScale(q.Command, &scale)
	oneTrace, ofTrace := q.Args, q.RunE
	q.Args = func(cmd *cobra.Command, args []string) error {
		switch {
		case !f.Changed("ranks") && force:
			return badUsage(errors.New("--force goes with --ranks"))
		case !f.Changed("ranks") && len(args) > 1:
			return badUsage(errors.New("several traces go with --ranks, the number of ranks of the program"))
		case !f.Changed("ranks"):
			return oneTrace(cmd, args)
		case len(args) == 0:
			return oneTrace(cmd, args)
		}
		if err := check(); err != nil {
			return badUsage(err)
		}
		if size < 1 || size > proxy.MaxRanks {
			return badUsage(fmt.Errorf("--ranks is a number of ranks from 1 to %s, the max of a proxy", text.Count(proxy.MaxRanks)))
		}
		return nil
	}
	q.RunE = func(cmd *cobra.Command, args []string) error {
		if !f.Changed("ranks") {
			return ofTrace(cmd, args)
		}
		path, err := recordedOn(cmd, args, size)
		if err != nil {
			return err
		}
		if path != "" {
			q.path = path
			if q.trace, err = openReadable(cmd, path); err != nil {
				return err
			}
			defer q.trace.Close()
			if err := q.checkExact(path, q.trace); err != nil {
				return err
			}
			if err := writeProxy(q, output, nil, options(filepath.Base(path))); err != nil {
				return q.fail(err)
			}
			return damageOf(path, q.trace)
		}
		if compute.String() != string(proxy.None) {
			return badUsage(errors.New("--compute needs the times of a trace, and on another number of ranks there are none"))
		}
		e := &extrapolatedRun{Traces: args}
		file, err := e.make(q, args, size, force)
		if err != nil {
			return err
		}
		if q.trace, err = reopen(file); err != nil {
			return err
		}
		defer q.trace.Close()
		var names []string
		for _, path := range args {
			names = append(names, filepath.Base(path))
		}
		q.path = fmt.Sprintf("%s on %d ranks", strings.Join(args, " "), size)
		return writeProxy(q, output, e, options("a run that is extrapolated from "+strings.Join(names, " ")))
	}
	return q.Command
}

// recordedOn returns the path of the trace that has so many ranks, or nothing.
func recordedOn(cmd *cobra.Command, paths []string, ranks int) (string, error) {
	for _, path := range paths {
		t, err := openReadable(cmd, path)
		if err != nil {
			return "", err
		}
		has := t.Ranks()
		t.Close()
		if has == ranks {
			return path, nil
		}
	}
	return "", nil
}

// hasTimes reports whether a trace says how long gaps are: it has their times, or is one of SimGrid, with amounts of computing.
func hasTimes(tr *trace.Trace) (bool, error) {
	_, gaps, err := tr.Summaries()
	return len(gaps.Statistics) > 0 || slices.ContainsFunc(tr.Functions(), semantics.HasAmount), err
}

// An extrapolatedRun says of what a run is made.
type extrapolatedRun struct {
	Traces []string `json:"traces"`
	extrapolation
}

// writeProxy writes the program of a trace to a directory.
func writeProxy(q *question, directory string, from *extrapolatedRun, o proxy.Options) error {
	q.wholeSet()
	if o.Compute != proxy.None {
		if timed, err := hasTimes(q.trace); err != nil {
			return err
		} else if !timed {
			return badUsage(fmt.Errorf("--compute needs times, and %s has none: reprise record --times statistics, or exact, keeps them", q.path))
		}
	}
	p, err := proxy.Generate(q.Context(), q.trace, o)
	if err != nil {
		return fmt.Errorf("%s: %w", q.path, err)
	}
	if err := writeProgram(q.Command, directory, p.Files); err != nil {
		return err
	}
	conditions := append([]string{}, q.trace.Run().Origin.Assumptions...)
	answer := proxyAnswer{q.header(), directory, q.trace.Ranks(), p.Calls, p.Lines, p.Tables, leftOutOf(p), conditions, from}
	return q.answer(answer, func() {
		tables := ""
		if p.Tables > 0 {
			tables = fmt.Sprintf(" and %s of tables", text.Count(uint64(p.Tables)))
		}
		q.printf("%s: %s of C%s for %s of %s\n", text.Printable(directory), text.Plural(uint64(p.Lines), "line"), tables, text.Plural(p.Calls, "call"),
			text.Plural(uint64(q.trace.Ranks()), "rank"))
		if from != nil {
			from.print(q, q.OutOrStdout())
		}
		printLeftOut(q, answer.LeftOut)
		for _, c := range conditions {
			q.printf("conditional on %s\n", text.Printable(c))
		}
		command := strings.TrimSuffix(strings.TrimPrefix(p.Command, "make"), "./proxy")
		q.printf("next: make -C %s%s%s\n", quoted(directory), command, quoted(filepath.Join(directory, "proxy")))
	})
}

// A proxyAnswer is what was written.
type proxyAnswer struct {
	header
	Output       string           `json:"output"`
	Ranks        int              `json:"ranks"`
	Calls        uint64           `json:"calls"`
	Lines        int              `json:"lines"`
	Tables       int              `json:"table_lines"`
	LeftOut      []leftOut        `json:"left_out"`
	Conditions   []string         `json:"conditional_on"`
	Extrapolated *extrapolatedRun `json:"extrapolated"`
}
