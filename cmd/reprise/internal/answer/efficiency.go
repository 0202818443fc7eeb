package answer

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/answers"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/query/efficiency"
	"github.com/reprise-trace/reprise/trace"
)

func NewEfficiency() *cobra.Command {
	var weak bool
	q := &cli.Question{Command: cli.NewCommand("efficiency")}
	q.AddOptions([]cli.Option{cli.OptJSON, cli.OptAll, cli.OptRegion})
	q.Flags().BoolVar(&weak, "weak", false, "the problem grows with the number of ranks: compare computing per rank")
	q.Args = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return cli.BadUsage(errors.New("efficiency takes a trace, or several"))
		case weak && len(args) == 1:
			return cli.BadUsage(errors.New("--weak goes with several traces"))
		case q.All && len(args) > 1:
			return cli.BadUsage(errors.New("--all shows all phases, and needs a single trace"))
		}
		return q.CheckPart(cmd)
	}
	q.RunE = func(_ *cobra.Command, args []string) error {
		a := &Efficiency{Schema: cli.Schema, Weak: weak}
		var called [][]string // functions, by trace
		for _, path := range args {
			r, err := efficiencyOf(q, path)
			if err != nil {
				return err
			}
			a.Traces = append(a.Traces, traceEfficiency{Trace: path, Region: q.Region, Run: r})
			called = append(called, functionsOf(q.Trace))
		}
		warnOfPrograms(q, args, called)
		runs := make([]*efficiency.Run, len(a.Traces))
		for i := range runs {
			runs[i] = a.Traces[i].Run
		}
		reference, scaling := efficiency.Compare(runs, weak)
		a.Reference = reference
		for i, s := range scaling {
			a.Traces[i].Scaling = s
		}
		return q.Answer(a, func() { a.print(q) })
	}
	return q.Command
}

// An Efficiency is the efficiency of runs.
type Efficiency struct {
	Schema    int               `json:"schema"`
	Reference int               `json:"reference"` // which trace the others are compared with
	Weak      bool              `json:"weak_scaling"`
	Traces    []traceEfficiency `json:"traces"`
}

type traceEfficiency struct {
	Trace  string        `json:"trace"`
	Region *query.Region `json:"region,omitempty"`
	*efficiency.Run
	Scaling *efficiency.Scaling `json:"scaling"`
}

// efficiencyOf returns the efficiency of the run of a trace.
func efficiencyOf(q *cli.Question, path string) (*efficiency.Run, error) {
	if err := q.Open(path); err != nil {
		return nil, err
	}
	defer q.Trace.Close()
	if err := q.CheckExact(path, q.Trace); err != nil {
		return nil, err
	}
	q.WarnOff()
	q.WarnArchive()
	model, err := q.Model()
	if err != nil {
		return nil, q.Fail(err)
	}
	bar := cli.NewCounter(q.Context(), q.ErrOrStderr(), "ideal run of "+path, q.TotalCalls(), "calls")
	r, err := efficiency.Open(q.Context(), model, efficiency.Options{Region: q.Region,
		Progress: cli.WarnOfHours(q, bar)})
	bar.Done()
	if damaged := cli.DamageOf(path, q.Trace); damaged != nil { // it is why
		return nil, damaged
	}
	if err != nil && strings.HasPrefix(err.Error(), "efficiency: ") {
		err = errors.New(strings.TrimPrefix(err.Error(), "efficiency: "))
	}
	if err != nil {
		return nil, q.Fail(cli.OfDeadlock(err))
	}
	return r, nil
}

// functionsOf returns the names of the functions of a trace, sorted.
func functionsOf(tr *trace.Trace) []string {
	var names []string
	for _, f := range tr.Functions() {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// warnOfPrograms warns if traces are hardly of one program: if they call other functions.
func warnOfPrograms(q *cli.Question, paths []string, called [][]string) {
	for i := 1; i < len(called); i++ {
		for _, of := range [][2]int{{0, i}, {i, 0}} {
			for _, name := range called[of[0]] {
				if _, found := slices.BinarySearch(called[of[1]], name); !found {
					cli.Warn(q.ErrOrStderr(),
						"%s calls %s, and %s does not: traces are compared as runs of one program",
						paths[of[0]], name, paths[of[1]])
					return
				}
			}
		}
	}
}

func (a *Efficiency) print(q *cli.Question) {
	if len(a.Traces) == 1 {
		r := a.Traces[0].Run
		who := text.Plural(r.Ranks, "rank")
		if a.threads() {
			who += ", " + text.Plural(r.Threads, "thread")
		}
		q.Printf("%s: %s, %s\n", text.Printable(a.Traces[0].Trace), who, answers.EfficiencyTimes(r))
		a.printRuns(q)
		printPhases(q, r)
		for _, note := range answers.EfficiencyNotes(r) {
			q.Printf("\n%s\n", note)
		}
		return
	}
	q.Printf("relative to %s; ", text.Printable(a.Traces[a.Reference].Trace))
	ranks := a.Traces[0].Ranks
	switch {
	case !slices.ContainsFunc(a.Traces, func(t traceEfficiency) bool { return t.Ranks != ranks }):
		q.Printf("no scaling: all runs have %s\n", text.Plural(ranks, "rank"))
	case a.Weak:
		q.Printf("weak scaling: a problem that grows with the ranks\n")
	default:
		q.Printf("strong scaling: one problem, on more ranks\n")
	}
	times := make(map[string]bool)
	for _, t := range a.Traces {
		times[answers.EfficiencyTimes(t.Run)] = true
	}
	if len(times) == 1 {
		q.Printf("%s\n", answers.EfficiencyTimes(a.Traces[0].Run))
	}
	q.Printf("\n")
	a.printRuns(q)
	for _, t := range a.Traces {
		notes := answers.EfficiencyNotes(t.Run)
		if len(times) > 1 {
			notes = append([]string{answers.EfficiencyTimes(t.Run)}, notes...)
		}
		for _, note := range notes {
			q.Printf("\n%s: %s\n", text.Printable(t.Trace), note)
		}
	}
}

// threads reports whether ranks of a trace have several threads that take part.
func (a *Efficiency) threads() bool {
	return slices.ContainsFunc(a.Traces, func(t traceEfficiency) bool { return t.Threads > t.Ranks })
}

// maxTitle is how long the name of a trace is as the title of a column.
const maxTitle = 16

// shortNames returns as few of the last elements of the paths of traces as tell these apart, without the
// ending .rpz.
func shortNames(traces []traceEfficiency) []string {
	names, rest := make([]string, len(traces)), make([]string, len(traces))
	for i, t := range traces {
		rest[i] = strings.TrimSuffix(filepath.ToSlash(filepath.Clean(t.Trace)), ".rpz")
	}
	for more := true; more; {
		more = false
		seen := make(map[string]bool)
		for i := range names {
			dir, last := path.Split(rest[i])
			names[i], rest[i] = path.Join(last, names[i]), strings.TrimSuffix(dir, "/")
			more = more || seen[names[i]] && rest[i] != ""
			seen[names[i]] = true
		}
	}
	return names
}

// printRuns prints a table with a column for each trace.
func (a *Efficiency) printRuns(q *cli.Question) {
	several := len(a.Traces) > 1
	titles := make([]string, len(a.Traces)) // none for one trace
	if several {
		for i, name := range shortNames(a.Traces) {
			titles[i] = text.Printable(text.Cut(name, maxTitle))
		}
	}
	t := text.NewTable(q.OutOrStdout(), text.All, append([]string{"<"}, titles...)...)
	row := func(name string, cell func(*traceEfficiency) string) {
		cells := []any{name}
		for i := range a.Traces {
			cells = append(cells, cell(&a.Traces[i]))
		}
		t.Row(cells...)
	}
	factor := func(name string, number int) {
		row(name, func(t *traceEfficiency) string { return answers.Factors(&t.Part)[number] })
	}
	scaling := func(name string, of func(*efficiency.Scaling) string) {
		row(name, func(t *traceEfficiency) string {
			if t.Scaling == nil {
				return "-"
			}
			return of(t.Scaling)
		})
	}
	if several {
		row("ranks", func(t *traceEfficiency) string { return text.Count(t.Ranks) })
	}
	of := "ranks"
	if a.threads() {
		if of = "threads"; several {
			row("threads", func(t *traceEfficiency) string { return text.Count(t.Threads) })
		}
	}
	row("time", func(t *traceEfficiency) string { return text.Within(t.Time, t.TimeError) })
	row("time on an ideal network", func(t *traceEfficiency) string { return text.Within(t.Ideal, t.IdealError) })
	row("computing, mean of "+of, func(t *traceEfficiency) string { return text.Within(t.Mean, t.MeanError) })
	most, indent := "computing, max", ""
	if !several && a.Traces[0].MaxKnown {
		most += fmt.Sprintf(", rank %d", a.Traces[0].MaxRank)
		if a.threads() {
			most += fmt.Sprintf(", thread %d", a.Traces[0].MaxThread)
		}
	}
	row(most, func(t *traceEfficiency) string { return text.Within(t.Max, t.MaxError) })
	if several {
		if !a.Weak {
			scaling("speedup", func(s *efficiency.Scaling) string { return answers.Speedup(s) })
		}
		scaling("global efficiency", func(s *efficiency.Scaling) string {
			return answers.ScalingFactor(s.Global, s.Errors, func(e *efficiency.Scaling) float64 { return e.Global })
		})
		indent = "  "
		scaling(indent+"computation scalability", func(s *efficiency.Scaling) string {
			return answers.ScalingFactor(s.ComputationScalability, s.Errors,
				func(e *efficiency.Scaling) float64 { return e.ComputationScalability })
		})
	}
	factor(indent+"parallel efficiency", 0)
	factor(indent+"  load balance", 1)
	factor(indent+"  communication efficiency", 2)
	factor(indent+"    serialization", 3)
	factor(indent+"    transfer", 4)
	t.Close()
}

// printPhases prints a table with a row for each phase.
func printPhases(q *cli.Question, r *efficiency.Run) {
	t := q.Table("<phase", "time", "?share", "parallel", "load balance", "?communication", "serialization",
		"transfer").Apart()
	minor := 0
	for i := range r.Phases {
		p := &r.Phases[i]
		if !q.All && p.Time < answers.MinorPhase*r.Time {
			minor++
			continue
		}
		cells := []any{answers.Phase(p, r.Ranks), text.Within(p.Time, p.TimeError), text.Percent(p.Time, r.Time)}
		for _, f := range answers.Factors(&p.Part) {
			cells = append(cells, f)
		}
		t.Row(cells...)
	}
	t.Close()
	if minor > 0 {
		q.Printf("\nand %s of less than %s of the time: --all shows them\n", text.Plural(minor, "phase"),
			answers.Factor(answers.MinorPhase))
	}
}
