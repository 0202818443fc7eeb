package main

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

	"github.com/reprise-trace/reprise/internal/atomicfile"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/interpose"
	"github.com/reprise-trace/reprise/mpi/proxy"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// A performance is what replay is asked for.
type performance struct {
	compute, gaps *choice
	scale         string
	output, mpicc string
	times         timesFlag
}

func newReplay() *cobra.Command {
	p := &performance{compute: newChoice(string(proxy.Spin), string(proxy.Sleep), string(proxy.None)), gaps: newGaps()}
	q := &question{Command: newCommand("replay")}
	q.addOptions([]option{optJSON, optAll})
	f := q.Flags()
	addChoice(q.Command, p.compute, "compute", "action in the gaps between calls")
	addChoice(q.Command, p.gaps, "gaps", aboutGaps)
	addScale(q.Command, &p.scale)
	f.StringVarP(&p.output, "output", "o", "", "write the trace of the replay to a `file`")
	p.times.addTo(q.Command)
	f.StringVar(&p.mpicc, "mpicc", "", "the compiler `command` of the MPI")
	q.Args = func(cmd *cobra.Command, args []string) error { return p.check(cmd, args) }
	q.RunE = func(_ *cobra.Command, args []string) error {
		if err := q.open(args[0]); err != nil {
			return err
		}
		defer q.trace.Close()
		if err := q.checkExact(q.path, q.trace); err != nil {
			return err
		}
		if err := p.replay(q, args[1:]); err != nil {
			return q.fail(err)
		}
		return damageOf(q.path, q.trace)
	}
	return q.Command
}

const aboutGaps = "length of the gaps: the mean of the signature, drawn from its histogram, or every recorded gap"

func newGaps() *choice {
	return newChoice(string(proxy.Means), string(proxy.Drawn), string(proxy.Every))
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
		return badUsage(errors.New("replay takes a trace and, after --, the MPI launcher, such as: reprise replay run.rpz -- mpirun -n 4"))
	case p.output == "-":
		return badUsage(errors.New("standard output has the answer: -o takes a file"))
	}
	if _, err := scaleOf(p.scale); err != nil {
		return badUsage(err)
	}
	if _, err := p.times.options(); err != nil {
		return badUsage(err)
	}
	return nil
}

// A replayAnswer is what a replay took beside what the run took.
type replayAnswer struct {
	Schema    int                `json:"schema"`
	Command   string             `json:"command"`
	Output    string             `json:"output,omitempty"`
	Ranks     int                `json:"ranks"`
	Recorded  *query.RunTimes    `json:"recorded"` // null without times
	Replayed  *query.RunTimes    `json:"replayed"`
	Functions []replayedFunction `json:"functions"` // the longest first
	LeftOut   []leftOut          `json:"left_out"`
}

// A replayedFunction is the calls of a function, of all ranks together.
type replayedFunction struct {
	Function      string             `json:"function"`
	Calls         uint64             `json:"calls"`
	ReplayedCalls uint64             `json:"replayed_calls"`
	Time          *query.Nanoseconds `json:"recorded_ns"`
	ReplayedTime  *query.Nanoseconds `json:"replayed_ns"`
}

// A leftOut is calls that a proxy does not make.
type leftOut struct {
	Function string `json:"function"`
	Reason   string `json:"reason"`
	Calls    uint64 `json:"calls"`
}

// leftOutOf returns the calls that a proxy does not make.
func leftOutOf(p *proxy.Program) []leftOut {
	list := []leftOut{}
	for _, l := range p.LeftOut {
		list = append(list, leftOut(l))
	}
	return list
}

// printLeftOut says which calls a proxy does not make.
func printLeftOut(q *question, list []leftOut) {
	for _, l := range list {
		q.printf("left out: %s of %s, which %s\n", text.Plural(l.Calls, "call"), text.Printable(l.Function), text.Printable(l.Reason))
	}
}

// replay builds the proxy of a trace, runs it behind the arguments of a launcher, and compares.
func (p *performance) replay(q *question, args []string) error {
	if err := notAnInput(p.output, q.path); err != nil {
		return err
	}
	q.wholeSet()
	scale, err := scaleOf(p.scale)
	if err != nil {
		return err
	}
	a := &replayAnswer{Schema: schema, Output: p.output, Ranks: q.trace.Ranks()}
	program, err := proxy.Generate(q.Context(), q.trace, proxy.Options{Name: filepath.Base(q.path), Compute: proxy.Compute(p.compute.String()), Gaps: proxy.Gaps(p.gaps.String()), Scale: scale})
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
		finish, err := unfinished.begin(func() (func(), error) {
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
	replayed, err := openReadable(q.Command, output)
	if err != nil {
		return err
	}
	defer replayed.Close()
	if err := a.compare(q, replayed); err != nil {
		return err
	}
	return q.answer(a, func() { a.print(q) })
}

// run builds a proxy and records it behind the arguments of a launcher.
func (p *performance) run(q *question, a *replayAnswer, program *proxy.Program, args []string, output string) error {
	ctx := q.Context()
	if _, err := exec.LookPath(args[0]); err != nil {
		return notStarted(q.Command, args[0], err)
	}
	command, err := interpose.Inspect(ctx, args)
	if err != nil {
		return named(err)
	}
	mpicc, err := compilerOf(ctx, command, p.mpicc)
	if err != nil {
		return named(err)
	}
	b := building{stderr: q.ErrOrStderr()}
	// A program of many tables takes a compiler that optimizes ten times as long, and makes no faster calls.
	built, err := interpose.BuildProgram(ctx, mpicc, cacheDirectory(), "proxy", "-O0", []byte(program.OneFile()), func() { b.say("the proxy of " + text.Printable(q.path)) })
	b.end()
	if err != nil {
		return named(err)
	}
	args = withoutProgram(args, command)
	a.Command = text.ShellLine(args)
	o := &recordOptions{times: p.times, mpicc: p.mpicc, quiet: true, onTimeout: newChoice("continue"), sites: newChoice("none"), merge: newChoice("")}
	o.output.path = output
	err = record(q.Command, append(args, built.Path), o)
	if status := new(exitStatus); errors.As(err, status) && *status == otherRanks {
		fmt.Fprintf(q.ErrOrStderr(), "reprise: the launcher must start the number of ranks of the trace, such as: reprise replay %s -- mpirun -n %d\n", quoted(q.path), a.Ranks)
	}
	return named(err)
}

// otherRanks is the status of a proxy that is run by another number of processes, and that of its launcher.
const otherRanks exitStatus = 2

// compare fills in the times.
func (a *replayAnswer) compare(q *question, replayed *trace.Trace) (err error) {
	if a.Recorded, err = query.RunTimesOf(q.Context(), q.trace); err != nil {
		return err
	}
	if a.Replayed, err = query.RunTimesOf(q.Context(), replayed); err != nil {
		return err
	}
	functions := make(map[string]*replayedFunction)
	for k, tr := range []*trace.Trace{q.trace, replayed} {
		profile, err := query.OpenProfile(q.Context(), tr, query.Options{})
		if err != nil {
			return err
		}
		for _, f := range profile.Functions {
			of := functions[f.Name]
			if of == nil {
				of = &replayedFunction{Function: f.Name}
				functions[f.Name] = of
			}
			calls, time := &of.Calls, &of.Time
			if k == 1 {
				calls, time = &of.ReplayedCalls, &of.ReplayedTime
			}
			*calls = f.Calls
			if profile.Timed {
				t := total(f.Time)
				*time = &t
			}
		}
	}
	a.Functions = []replayedFunction{}
	for _, f := range functions {
		a.Functions = append(a.Functions, *f)
	}
	longest := func(f replayedFunction) query.Nanoseconds {
		t := query.Nanoseconds(0)
		for _, of := range []*query.Nanoseconds{f.Time, f.ReplayedTime} {
			if of != nil {
				t = max(t, *of)
			}
		}
		return t
	}
	slices.SortFunc(a.Functions, func(f, g replayedFunction) int {
		return cmp.Or(cmp.Compare(longest(g), longest(f)), cmp.Compare(f.Function, g.Function))
	})
	return nil
}

func (a *replayAnswer) print(q *question) {
	q.printf("%s of %s, replayed with %s\n", text.Printable(q.path), text.Plural(a.Ranks, "rank"), text.Printable(a.Command))
	t := q.table("recorded", "replayed", "", "calls", "<part")
	row := func(recorded, replayed *query.Nanoseconds, calls, in string) {
		change := ""
		if recorded != nil && replayed != nil {
			change = signedPercent(*replayed, *recorded)
		}
		t.Row(timeOr(recorded), timeOr(replayed), change, calls, in)
	}
	run, outside := make([]*query.Nanoseconds, 2), make([]*query.Nanoseconds, 2)
	for i, times := range []*query.RunTimes{a.Recorded, a.Replayed} {
		if times != nil {
			run[i], outside[i] = &times.Run, &times.Outside
		}
	}
	row(run[0], run[1], "", "the run")
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
		q.printf("\nthe trace of the replay is in %s\n", text.Printable(a.Output))
	}
}

// timeOr returns a time as a table has it, or a dash.
func timeOr(t *query.Nanoseconds) string {
	if t == nil || math.IsNaN(float64(*t)) {
		return "–"
	}
	return text.Duration(*t)
}
