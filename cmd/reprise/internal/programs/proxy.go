package programs

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/extrapolate"
	"github.com/reprise-trace/reprise/mpi/proxy"
)

func NewProxy() *cobra.Command {
	var output, scale string
	var size int
	var other extrapolate.Options
	var q *cli.Question
	compute := cli.NewChoice(string(proxy.None), string(proxy.Spin), string(proxy.Sleep))
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
		return proxy.Options{Name: name, Compute: proxy.Compute(compute.String()),
			Gaps: proxy.Gaps(gaps.String()), Scale: factor}
	}
	q = cli.NewQuestion("proxy", check, func(q *cli.Question) error {
		return writeProxy(q, output, nil, options(filepath.Base(q.Path)))
	}, cli.OptJSON, cli.OptAll)
	f := q.Flags()
	f.StringVarP(&output, "output", "o", "", "`directory` to write, created if necessary")
	f.IntVar(&size, "ranks", 0, "`number` of ranks of the program, if not that of the trace")
	addExtrapolation(q.Command, &other)
	cli.AddChoice(q.Command, compute, "compute", "action in the gaps between calls")
	cli.AddChoice(q.Command, gaps, "gaps", aboutGaps)
	addScale(q.Command, &scale)
	oneTrace, ofTrace := q.Args, q.RunE
	q.Args = func(cmd *cobra.Command, args []string) error {
		switch {
		case !f.Changed("ranks") && (other.Force || f.Changed("ignore")):
			return cli.BadUsage(errors.New("--force and --ignore go with --ranks"))
		case !f.Changed("ranks") && len(args) > 1:
			return cli.BadUsage(errors.New("several traces go with --ranks, the number of ranks of the program"))
		case !f.Changed("ranks"):
			return oneTrace(cmd, args)
		case len(args) == 0:
			return oneTrace(cmd, args)
		}
		if err := check(); err != nil {
			return cli.BadUsage(err)
		}
		if size < 1 || size > proxy.MaxRanks {
			return cli.BadUsage(fmt.Errorf("--ranks is a number of ranks from 1 to %s, the max of a proxy",
				text.Count(proxy.MaxRanks)))
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
			q.Path = path
			if q.Trace, err = cli.OpenReadable(cmd, path); err != nil {
				return err
			}
			defer q.Trace.Close()
			if err := q.CheckExact(path, q.Trace); err != nil {
				return err
			}
			if err := writeProxy(q, output, nil, options(filepath.Base(path))); err != nil {
				return q.Fail(err)
			}
			return cli.DamageOf(path, q.Trace)
		}
		if compute.String() != string(proxy.None) {
			return cli.BadUsage(
				errors.New("--compute needs the times of a trace, and on another number of ranks there are none"))
		}
		e := &extrapolatedRun{Traces: args}
		file, err := e.make(q, args, size, other)
		if err != nil {
			return err
		}
		if q.Trace, err = cli.Reopen(file); err != nil {
			return err
		}
		defer q.Trace.Close()
		var names []string
		for _, path := range args {
			names = append(names, filepath.Base(path))
		}
		q.Path = fmt.Sprintf("%s on %d ranks", strings.Join(args, " "), size)
		return writeProxy(q, output, e, options("a run that is extrapolated from "+strings.Join(names, " ")))
	}
	return q.Command
}

// recordedOn returns the path of the trace that has so many ranks, or nothing.
func recordedOn(cmd *cobra.Command, paths []string, ranks int) (string, error) {
	for _, path := range paths {
		t, err := cli.OpenReadable(cmd, path)
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

// An extrapolatedRun says of what a run is made.
type extrapolatedRun struct {
	Traces []string `json:"traces"`
	extrapolation
}

// writeProxy writes the program of a trace to a directory.
func writeProxy(q *cli.Question, directory string, from *extrapolatedRun, o proxy.Options) error {
	q.WholeSet()
	p, err := proxy.Generate(q.Context(), q.Trace, o)
	if errors.Is(err, proxy.ErrNoTimes) {
		return cli.BadUsage(
			fmt.Errorf("--compute needs times, and %s has none: reprise record --times statistics, or exact, keeps them", q.Path))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", q.Path, err)
	}
	if err := writeProgram(q.Command, directory, p.Files); err != nil {
		return err
	}
	conditions := append([]string{}, q.Trace.Run().Origin.Assumptions...)
	answer := proxyAnswer{q.Header(), directory, q.Trace.Ranks(), p.Calls, p.Lines, p.Tables, leftOutOf(p),
		conditions, from}
	return q.Answer(answer, func() {
		tables := ""
		if p.Tables > 0 {
			tables = fmt.Sprintf(" and %s of tables", text.Count(uint64(p.Tables)))
		}
		q.Printf("%s: %s of C%s for %s of %s\n", text.Printable(directory),
			text.Plural(uint64(p.Lines), "line"), tables, text.Plural(p.Calls, "call"),
			text.Plural(uint64(q.Trace.Ranks()), "rank"))
		if from != nil {
			from.print(q, q.OutOrStdout())
		}
		printLeftOut(q, answer.LeftOut)
		for _, c := range conditions {
			q.Printf("conditional on %s\n", text.Printable(c))
		}
		command := strings.TrimSuffix(strings.TrimPrefix(p.Command, "make"), "./proxy")
		q.Printf("next: make -C %s%s%s\n", cli.Quoted(directory), command,
			cli.Quoted(filepath.Join(directory, "proxy")))
	})
}

// A proxyAnswer is what was written.
type proxyAnswer struct {
	cli.Header
	Output       string           `json:"output"`
	Ranks        int              `json:"ranks"`
	Calls        uint64           `json:"calls"`
	Lines        int              `json:"lines"`
	Tables       int              `json:"table_lines"`
	LeftOut      []LeftOut        `json:"left_out"`
	Conditions   []string         `json:"conditional_on"`
	Extrapolated *extrapolatedRun `json:"extrapolated"`
}
