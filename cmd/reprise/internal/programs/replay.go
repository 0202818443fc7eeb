package programs

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/launching"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/record"
	"github.com/reprise-trace/reprise/internal/atomicfile"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/interpose"
	"github.com/reprise-trace/reprise/mpi/proxy"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// A performance is what replay is asked for.
type performance struct {
	compute, gaps *cli.Choice
	scale         string
	output, mpicc string
	times         cli.TimesFlag
}

func NewReplay() *cobra.Command {
	p := &performance{compute: cli.NewChoice(string(proxy.Spin), string(proxy.Sleep), string(proxy.None)),
		gaps: newGaps()}
	q := &cli.Question{Command: cli.NewCommand("replay")}
	q.AddOptions([]cli.Option{cli.OptJSON, cli.OptAll})
	f := q.Flags()
	cli.AddChoice(q.Command, p.compute, "compute", "action in the gaps between calls")
	cli.AddChoice(q.Command, p.gaps, "gaps", aboutGaps)
	addScale(q.Command, &p.scale)
	f.StringVarP(&p.output, "output", "o", "", "write the trace of the replay to a `file`")
	p.times.AddTo(q.Command)
	f.StringVar(&p.mpicc, "mpicc", "", "the compiler `command` of the MPI")
	q.Args = func(cmd *cobra.Command, args []string) error { return p.check(cmd, args) }
	q.RunE = func(_ *cobra.Command, args []string) error {
		if err := q.Open(args[0]); err != nil {
			return err
		}
		defer q.Trace.Close()
		if err := q.CheckExact(q.Path, q.Trace); err != nil {
			return err
		}
		if err := p.replay(q, args[1:]); err != nil {
			return q.Fail(err)
		}
		return cli.DamageOf(q.Path, q.Trace)
	}
	return q.Command
}

const aboutGaps = "length of the gaps: the mean of the signature, drawn from its histogram, or every recorded gap"

func newGaps() *cli.Choice {
	return cli.NewChoice(string(proxy.Means), string(proxy.Drawn), string(proxy.Every))
}

// addScale adds the flag of a factor on the time between calls.
func addScale(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "scale", "1x", "multiply the gaps between calls by a `factor`")
}

// scaleOf returns a factor on the time between calls.
func scaleOf(written string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSuffix(written, "x"), 64)
	if err != nil || !(v > 0 && v <= 1e6) {
		return 0, fmt.Errorf("--scale is a factor above 0, such as 0.5x, not %q", written)
	}
	return v, nil
}

func (p *performance) check(cmd *cobra.Command, args []string) error {
	switch before := cmd.ArgsLenAtDash(); {
	case before != 1 || len(args) < 2:
		return cli.BadUsage(
			errors.New("replay takes a trace and, after --, the MPI launcher, such as: reprise replay run.rpz -- mpirun -n 4"))
	case p.output == "-":
		return cli.BadUsage(errors.New("standard output has the answer: -o takes a file"))
	}
	if _, err := scaleOf(p.scale); err != nil {
		return cli.BadUsage(err)
	}
	if _, err := p.times.Options(); err != nil {
		return cli.BadUsage(err)
	}
	return nil
}

// A Replay is what a replay took beside what the run took.
type Replay struct {
	Schema    int                  `json:"schema"`
	Command   string               `json:"command"`
	Output    string               `json:"output,omitempty"`
	Ranks     int                  `json:"ranks"`
	Recorded  *query.ComparedTimes `json:"recorded"` // null without times
	Replayed  *query.ComparedTimes `json:"replayed"`
	Functions []ReplayedFunction   `json:"functions"` // the longest first
	LeftOut   []LeftOut            `json:"left_out"`
}

// A ReplayedFunction is the calls of a function, of all ranks together.
type ReplayedFunction struct {
	Function      string             `json:"function"`
	Calls         uint64             `json:"calls"`
	ReplayedCalls uint64             `json:"replayed_calls"`
	Time          *query.Nanoseconds `json:"recorded_ns"`
	ReplayedTime  *query.Nanoseconds `json:"replayed_ns"`
}

// A LeftOut is calls that a proxy does not make.
type LeftOut struct {
	Function string `json:"function"`
	Reason   string `json:"reason"`
	Calls    uint64 `json:"calls"`
}

// leftOutOf returns the calls that a proxy does not make.
func leftOutOf(p *proxy.Program) []LeftOut {
	list := []LeftOut{}
	for _, l := range p.LeftOut {
		list = append(list, LeftOut(l))
	}
	return list
}

// printLeftOut says which calls a proxy does not make.
func printLeftOut(q *cli.Question, list []LeftOut) {
	for _, l := range list {
		q.Printf("left out: %s of %s, which %s\n", text.Plural(l.Calls, "call"), text.Printable(l.Function),
			text.Printable(l.Reason))
	}
}

// replay builds the proxy of a trace, runs it behind the arguments of a launcher, and compares.
func (p *performance) replay(q *cli.Question, args []string) error {
	if err := cli.NotAnInput(p.output, q.Path); err != nil {
		return err
	}
	q.WholeSet()
	scale, err := scaleOf(p.scale)
	if err != nil {
		return err
	}
	a := &Replay{Schema: cli.Schema, Output: p.output, Ranks: q.Trace.Ranks()}
	program, err := proxy.Generate(q.Context(), q.Trace,
		proxy.Options{Name: filepath.Base(q.Path), Compute: proxy.Compute(p.compute.String()),
			Gaps: proxy.Gaps(p.gaps.String()), Scale: scale})
	if err != nil {
		return err
	}
	a.LeftOut = leftOutOf(program)
	output := p.output
	if output == "" {
		var (
			directory string
			remove    func()
		)
		finish, err := cli.Unfinished.Begin(func() (func(), error) {
			var err error
			directory, remove, err = atomicfile.TemporaryDirectory("reprise-replay-")
			return remove, err
		})
		if err != nil {
			return err
		}
		defer finish()
		defer remove()
		output = filepath.Join(directory, "replayed.rpz")
	}
	if err := p.run(q, a, program, args, output); err != nil {
		return err
	}
	replayed, err := cli.OpenReadable(q.Command, output)
	if err != nil {
		return err
	}
	defer replayed.Close()
	if err := a.compare(q, replayed); err != nil {
		return err
	}
	return q.Answer(a, func() { a.print(q) })
}

// run builds a proxy and records it behind the arguments of a launcher.
func (p *performance) run(q *cli.Question, a *Replay, program *proxy.Program, args []string, output string) error {
	ctx := q.Context()
	if _, err := exec.LookPath(args[0]); err != nil {
		return launching.NotStarted(q.Command, args[0], err)
	}
	command, err := interpose.Inspect(ctx, args)
	if err != nil {
		return cli.Named(err)
	}
	mpicc, err := launching.CompilerOf(ctx, command, p.mpicc)
	if err != nil {
		return cli.Named(err)
	}
	b := launching.Building{Stderr: q.ErrOrStderr()}
	// A program of many tables takes a compiler that optimizes ten times as long, and makes no faster calls.
	built, err := interpose.BuildProgram(ctx, mpicc, launching.CacheDirectory(), "proxy", "-O0",
		[]byte(program.OneFile()), func() { b.Say("the proxy of " + text.Printable(q.Path)) })
	b.End()
	if err != nil {
		return cli.Named(err)
	}
	args = launching.WithoutProgram(args, command)
	a.Command = text.ShellLine(args)
	o := &record.Options{Times: p.times, Mpicc: p.mpicc, Quiet: true, OnTimeout: cli.NewChoice("continue"),
		Sites: cli.NewChoice("none"), Merge: cli.NewChoice("")}
	o.Output.Path = output
	err = record.Run(q.Command, append(args, built.Path), o)
	if status := new(cli.ExitStatus); errors.As(err, status) && *status == otherRanks {
		fmt.Fprintf(q.ErrOrStderr(),
			"reprise: the launcher must start the number of ranks of the trace, such as: reprise replay %s -- mpirun -n %d\n", cli.Quoted(q.Path), a.Ranks)
	}
	return cli.Named(err)
}

// otherRanks is the status of a proxy that is run by another number of processes, and that of its launcher.
const otherRanks cli.ExitStatus = 2

// compare fills in the times.
func (a *Replay) compare(q *cli.Question, replayed *trace.Trace) (err error) {
	if a.Recorded, err = query.ComparedTimesOf(q.Context(), q.Trace); err != nil {
		return err
	}
	if a.Replayed, err = query.ComparedTimesOf(q.Context(), replayed); err != nil {
		return err
	}
	functions := make(map[string]*ReplayedFunction)
	for k, tr := range []*trace.Trace{q.Trace, replayed} {
		profile, err := query.OpenProfile(q.Context(), tr, query.Options{})
		if err != nil {
			return err
		}
		for _, f := range profile.Functions {
			of := functions[f.Name]
			if of == nil {
				of = &ReplayedFunction{Function: f.Name}
				functions[f.Name] = of
			}
			calls, time := &of.Calls, &of.Time
			if k == 1 {
				calls, time = &of.ReplayedCalls, &of.ReplayedTime
			}
			*calls = f.Calls
			if profile.Timed {
				t := cli.Total(f.Time)
				*time = &t
			}
		}
	}
	a.Functions = []ReplayedFunction{}
	for _, f := range functions {
		a.Functions = append(a.Functions, *f)
	}
	longest := func(f ReplayedFunction) query.Nanoseconds {
		t := query.Nanoseconds(0)
		for _, of := range []*query.Nanoseconds{f.Time, f.ReplayedTime} {
			if of != nil {
				t = max(t, *of)
			}
		}
		return t
	}
	slices.SortFunc(a.Functions, func(f, g ReplayedFunction) int {
		return cmp.Or(cmp.Compare(longest(g), longest(f)), cmp.Compare(f.Function, g.Function))
	})
	return nil
}

func (a *Replay) print(q *cli.Question) {
	q.Printf("%s of %s, replayed with %s\n", text.Printable(q.Path), text.Plural(a.Ranks, "rank"),
		text.Printable(a.Command))
	t := q.Table("<part", "recorded", "replayed", "", "calls")
	row := func(recorded, replayed *query.Nanoseconds, calls, in string) {
		change := ""
		if recorded != nil && replayed != nil {
			change = cli.SignedPercent(*replayed, *recorded)
		}
		t.Row(in, timeOr(recorded), timeOr(replayed), change, calls)
	}
	run, outside := make([]*query.Nanoseconds, 2), make([]*query.Nanoseconds, 2)
	for i, times := range []*query.ComparedTimes{a.Recorded, a.Replayed} {
		if times != nil {
			run[i], outside[i] = &times.Run, &times.Outside
		}
	}
	row(run[0], run[1], "", "the run, from MPI_Init to MPI_Finalize")
	row(outside[0], outside[1], "", "all ranks, outside MPI")
	for _, f := range a.Functions {
		calls := text.Count(f.Calls)
		if f.ReplayedCalls != f.Calls {
			calls += " → " + text.Count(f.ReplayedCalls)
		}
		row(f.Time, f.ReplayedTime, calls, f.Function)
	}
	t.Close()
	printLeftOut(q, a.LeftOut)
	if a.Output != "" {
		q.Printf("\nthe trace of the replay is in %s\n", text.Printable(a.Output))
	}
}

// timeOr returns a time as a table has it, or a dash.
func timeOr(t *query.Nanoseconds) string {
	if t == nil || math.IsNaN(float64(*t)) {
		return "–"
	}
	return text.Duration(*t)
}
