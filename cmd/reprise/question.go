package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/answers"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

// A question is what the commands that ask about a trace have in common: the
// options, the trace, and how the answer is printed.
type question struct {
	*cobra.Command
	path  string
	trace *trace.Trace

	json, all bool
	rankText  string       // of --ranks
	ranks     *rankenc.Set // the chosen ones; nil for all
	window    window
}

// An option is one that several commands have.
type option int

const (
	optJSON option = iota
	optAll
	optRanks
	optWindow
)

// newQuestion returns a command about one trace, with some of the common options.
// ask is called with the trace open, without what is damaged.
// check, unless it is nil, checks the other options.
func newQuestion(name string, check func() error, ask func(q *question) error, options ...option) *question {
	q := &question{Command: newCommand(name)}
	q.addOptions(options)
	q.Args = func(cmd *cobra.Command, args []string) error {
		if check != nil {
			if err := check(); err != nil {
				return badUsage(err)
			}
		}
		if err := q.window.check(cmd); err != nil {
			return err
		}
		return oneTrace(cmd, args)
	}
	q.RunE = func(_ *cobra.Command, args []string) error {
		if err := q.open(args[0]); err != nil {
			return err
		}
		defer q.trace.Close()
		if err := q.checkExact(q.path, q.trace); err != nil {
			return err
		}
		if q.Name() == "report" || q.Name() == "view" {
			q.warnUnordered()
		}
		if err := ask(q); err != nil {
			return q.fail(err)
		}
		return damageOf(q.path, q.trace)
	}
	return q
}

func (q *question) addOptions(options []option) {
	f := q.Flags()
	for _, o := range options {
		switch o {
		case optJSON:
			f.BoolVar(&q.json, "json", false, "print as JSON")
		case optAll:
			f.BoolVar(&q.all, "all", false, fmt.Sprintf("show all rows, not the first %d", maxRows))
		case optRanks:
			addRanks(q.Command, &q.rankText)
		case optWindow:
			addWindow(q.Command, &q.window)
		}
	}
}

// open opens the trace at path, and finds out which ranks are chosen.
func (q *question) open(path string) (err error) {
	q.path = path
	if q.trace, err = openReadable(q.Command, path); err != nil {
		return err
	}
	if q.ranks, err = chosenRanks(q.Command, q.rankText, q.trace, path); err != nil {
		q.trace.Close()
	}
	return err
}

// leavesOut reports whether ranks that made calls are not among the chosen ones.
func (q *question) leavesOut() bool {
	return q.ranks != nil && q.trace.RankSet().Difference(*q.ranks).Len() > 0
}

// fail returns the error of a question about the trace: with its name, unless it is
// one of the command line, or has it.
func (q *question) fail(err error) error {
	err = q.ofTimes(err)
	var usage usageError
	switch {
	case errors.As(err, &usage), errors.As(err, new(exitStatus)), errors.As(err, new(namedError)), q.Context().Err() != nil, strings.HasPrefix(err.Error(), q.path+": "):
		return err
	}
	return fileError(q.path, err)
}

// ofTimes returns the error of a question about times that the trace has not in the words of the command.
func (q *question) ofTimes(err error) error {
	var some *query.SomeRanksError
	switch {
	case errors.Is(err, query.ErrNoTimes):
		return errNoTimes(q.path, q.trace)
	case errors.Is(err, query.ErrNoSeries):
		return errNoSeries
	case errors.Is(err, query.ErrTogether):
		return fmt.Errorf("the trace has only statistics of all ranks%s: reprise record --times all keeps those of each rank", leftOutText(q.trace))
	case errors.Is(err, query.ErrUnasked):
		return badUsage(errors.New("statistics are of all ranks together: --ranks goes with --series"))
	case errors.As(err, &some):
		return fmt.Errorf("the trace has the times of every call of %s only: --ranks chooses ranks", text.Ranks(some.Ranks))
	}
	return err
}

// A namedError is an error that says which file it is about.
type namedError struct{ error }

func (e namedError) Unwrap() error { return e.error }

// named marks an error, unless it is nil, as one that says which file it is about.
func named(err error) error {
	if err == nil {
		return nil
	}
	return namedError{err}
}

// maxRows is how many rows of a table are shown if nobody asks for all.
const maxRows = 40

// most returns how many rows of a table are shown.
func (q *question) most() int {
	if q.all {
		return text.All
	}
	return maxRows
}

// table returns a table of the answer.
func (q *question) table(titles ...string) *text.Table {
	return text.NewTable(q.OutOrStdout(), q.most(), titles...)
}

// printf prints a line of the answer, or several.
func (q *question) printf(format string, args ...any) {
	fmt.Fprintf(q.OutOrStdout(), format, args...)
}

// schema is the version of the names in JSON, which docs/json.md lists.
const schema = 1

// A header is what every answer begins with in JSON.
type header struct {
	Schema int    `json:"schema"`
	Trace  string `json:"trace"`
}

func (q *question) header() header { return header{schema, q.path} }

// answer prints an answer as JSON or, as print does, as text.
func (q *question) answer(v any, print func()) error {
	if q.json {
		return printJSON(q.OutOrStdout(), v)
	}
	q.folded(print)
	return nil
}

// folded calls print, whose lines are broken at the width of the output. Errors stick to the
// output.
func (q *question) folded(print func()) {
	out := q.OutOrStdout()
	f := text.NewFolder(out)
	q.SetOut(f)
	defer q.SetOut(out)
	print()
	f.Close()
}

// query runs a query about the chosen ranks, with a progress bar.
func (q *question) query(label string, run func(query.Options) error) error {
	ranks := q.trace.RankSet().Len()
	if q.ranks != nil {
		ranks = min(ranks, q.ranks.Len())
	}
	bar := newCounter(q.Context(), q.ErrOrStderr(), label, int64(ranks), "ranks")
	defer bar.done()
	return run(query.Options{Ranks: q.ranks, Progress: func(n int) { bar.show(uint64(n)) }})
}

// totalCalls returns how many calls the chosen ranks made, −1 if that is not known, or only
// those of some time are looked at.
func (q *question) totalCalls() int64 {
	total := uint64(0)
	for number := range q.trace.Shapes() {
		ranks := q.trace.ShapeRanks(number)
		if q.ranks != nil {
			ranks = ranks.Intersection(*q.ranks)
		}
		if ranks.Len() == 0 {
			continue
		}
		s, err := q.trace.Shape(number)
		if err != nil {
			return -1
		}
		total = wire.AddSat(total, wire.MulSat(s.Grammar.Len(), uint64(ranks.Len())))
	}
	if q.window.set || total > math.MaxInt64 {
		return -1
	}
	return int64(total)
}

// addRanks adds the option that chooses ranks of a trace.
func addRanks(cmd *cobra.Command, ranks *string) {
	cmd.Flags().Var((*setFlag)(ranks), "ranks", "only ranks of this `set`, such as 0-3,8 or 0-62:2")
	cmd.Flags().Lookup("ranks").DefValue = "all"
}

// A setFlag is a set of ranks as it is given. What it is depends on the trace.
type setFlag string

func (f *setFlag) String() string { return string(*f) }

func (f *setFlag) Type() string { return "set" }

func (f *setFlag) Set(text string) error {
	*f = setFlag(text)
	return nil
}

// wholeSet has all ranks chosen as if by all, if those that are chosen are all: answers
// from statistics, which are of all ranks together, then go with them.
func (q *question) wholeSet() {
	if q.ranks != nil && q.trace.RankSet().Difference(*q.ranks).Len() == 0 {
		q.ranks = nil
	}
}

// errNoSeries is the error of a question about the times of every call, of a trace that does
// not have them.
var errNoSeries = errors.New("the trace does not have the times of every call: reprise record --times all keeps them")

// addSeries adds the option to read the times of every call.
func addSeries(q *question, series *bool) {
	q.Flags().BoolVar(series, "series", false, "read the times of every call, however many there are")
}

// chosenRanks returns the ranks of the option, which must be some of those of the
// trace at path: nil for all of them.
func chosenRanks(cmd *cobra.Command, list string, tr *trace.Trace, path string) (*rankenc.Set, error) {
	if f := cmd.Flags().Lookup("ranks"); f == nil || !f.Changed || list == "all" {
		return nil, nil
	}
	set, err := rankenc.SetOfText(list, rankenc.MaxRank+1)
	if err != nil {
		return nil, badUsage(errors.New("--ranks: " + strings.TrimPrefix(err.Error(), "rankenc: ranks ")))
	}
	for first, last := range set.Ranges() {
		if last >= tr.Ranks() { // which depends on the trace: the command line is as it should be
			return nil, noRank(path, max(first, tr.Ranks()), tr.Ranks())
		}
	}
	readable := set.Difference(unreadable(tr))
	if readable.Len() == 0 && set.Len() > 0 {
		return nil, damageOf(path, tr)
	}
	return &readable, nil
}

// noRank returns the error of a rank that is not one of those of the trace at path.
func noRank(path string, rank, ranks int) error {
	if ranks == 0 {
		return fmt.Errorf("%s: no rank %d: the trace has no ranks", path, rank)
	}
	return fmt.Errorf("%s: no rank %d: the trace has ranks 0 to %d", path, rank, ranks-1)
}

// A choice is an option that has one of some values, the first unless another is
// given.
type choice struct {
	values []string
	value  string
}

// The empty value is not told to users.
func newChoice(values ...string) *choice {
	c := &choice{values, values[0]}
	if c.value == "" {
		c.values = values[1:]
	}
	return c
}

// addChoice adds the option to a command, with what its values are for.
func addChoice(cmd *cobra.Command, c *choice, name, usage string) {
	cmd.Flags().Var(c, name, usage+": "+c.list())
	if err := cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(c.values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the option is there
	}
}

func (c *choice) String() string { return c.value }

func (c *choice) Type() string { return "name" }

func (c *choice) Set(value string) error {
	if !slices.Contains(c.values, value) {
		return errors.New("must be " + c.list())
	}
	c.value = value
	return nil
}

// list returns the values, as in a, b or c.
func (c *choice) list() string {
	last := len(c.values) - 1
	return strings.Join(c.values[:last], ", ") + " or " + c.values[last]
}

// A timeFlag is a time since the first call of a run: a duration, such as 1.5s or
// 20ms, or a number of seconds.
type timeFlag time.Duration

func (f *timeFlag) String() string { return time.Duration(*f).String() }

func (f *timeFlag) Type() string { return "time" }

// errBefore is the error of a time at which no rank was anywhere.
var errBefore = errors.New("is before the first call")

func (f *timeFlag) Set(text string) error {
	d, err := time.ParseDuration(text)
	if s, e := strconv.ParseFloat(text, 64); err != nil && e == nil {
		if d = time.Duration(math.Round(s * 1e9)); math.Abs(s) < float64(math.MaxInt64)/1e9 {
			err = nil
		}
	}
	switch {
	case err != nil:
		return errors.New("is not a time, such as 1.5s, 20ms or 0.02")
	case d < 0:
		return errBefore
	}
	*f = timeFlag(d)
	return nil
}

// A window is the part of a run that the options --from and --to choose.
type window struct {
	from, to timeFlag
	set      bool // whether one is given
}

// addWindow adds the options that choose a part of a run.
func addWindow(cmd *cobra.Command, w *window) {
	w.to = math.MaxInt64
	cmd.Flags().Var(&w.from, "from", "start of the part, a `time` of the run")
	cmd.Flags().Var(&w.to, "to", "end of the part, a `time` of the run")
	cmd.Flags().Lookup("from").DefValue = "the beginning"
	cmd.Flags().Lookup("to").DefValue = "the end"
}

// check returns the error of a window that ends before it begins.
func (w *window) check(cmd *cobra.Command) error {
	if cmd.Flags().Lookup("from") == nil {
		return nil
	}
	w.set = cmd.Flags().Changed("from") || cmd.Flags().Changed("to")
	if w.to < w.from {
		return badUsage(fmt.Errorf("--to %v is before --from %v", w.to.String(), w.from.String()))
	}
	return nil
}

// times returns the times of w by the clock of the trace.
func (w *window) times(tr *trace.Trace) (from, to int64, err error) {
	t, err := query.OpenTimes(tr)
	if err != nil {
		return 0, 0, err
	}
	begin, err := t.Begin()
	if err != nil {
		return 0, 0, err
	}
	return addTime(begin, w.from), addTime(begin, w.to), nil
}

func addTime(begin int64, t timeFlag) int64 {
	if t == math.MaxInt64 || begin > 0 && int64(t) > math.MaxInt64-begin {
		return math.MaxInt64
	}
	return begin + int64(t)
}

// damages reports whether sections of some kinds are damaged.
func damages(tr *trace.Trace, kinds ...format.Kind) bool {
	return slices.ContainsFunc(tr.Damage(), func(d trace.Damage) bool { return slices.Contains(kinds, d.Err.Kind) })
}

// damagesTimes reports whether times of calls are damaged.
func damagesTimes(tr *trace.Trace) bool {
	return damages(tr, layout.KindSeries, layout.KindSummaries, layout.KindRankTimes)
}

// errNoTimes returns the error of a question about times that the trace has not, or that
// are damaged.
func errNoTimes(path string, tr *trace.Trace) error {
	if damagesTimes(tr) {
		return damageOf(path, tr)
	}
	if tr.Run().Source == collect.Source {
		return errors.New("the trace has no times: reprise record --times statistics, or all, keeps them")
	}
	return errors.New("the trace has no times: reprise predict -o writes one with those of a machine")
}

// threadsNote says what estimates do with threads.
const threadsNote = "estimates put the calls of all threads of a rank one after another: calls that overlap may be missed"

// A recorded is the ranks of a recorded run that have no call of MPI_Finalize: their
// processes died, or recording was off; and those that were in a call when it ended.
type recorded struct {
	Unfinished rankenc.Set `json:"unfinished_rank_set"`
	InCall     rankenc.Set `json:"in_call_rank_set"`
	Unrecorded rankenc.Set `json:"unrecorded_rank_set,omitzero"` // of which there is no record

	inFinalize rankenc.Set // those in MPI_Finalize
}

// recorded finds the ranks among the chosen ones.
func (q *question) recorded() (r recorded, err error) {
	r.Unrecorded = q.trace.Content().Unrecorded
	if q.trace.Run().Source == collect.Source {
		o := query.Options{Ranks: q.ranks}
		if r.Unfinished, err = query.RanksWithout(q.Context(), q.trace, "MPI_Finalize", o); err == nil {
			r.InCall, err = query.RanksInCalls(q.Context(), q.trace, "", o)
		}
		if err == nil && r.InCall.Len() > 0 {
			r.inFinalize, err = query.RanksInCalls(q.Context(), q.trace, "MPI_Finalize", o)
		}
	}
	return r, err
}

// print names the ranks, if there are any.
func (r recorded) print(w io.Writer) {
	if r.Unrecorded.Len() > 0 {
		fmt.Fprintf(w, "missing: %s\n", answers.Unrecorded(r.Unrecorded))
	}
	if r.Unfinished.Len() > 0 {
		fmt.Fprintf(w, "without MPI_Finalize, not reached or not recorded: %s\n", text.Ranks(r.Unfinished))
	}
	switch {
	case r.InCall.Len() == 0:
	case r.InCall.Equal(r.inFinalize):
		fmt.Fprintf(w, "in MPI_Finalize, as where the trace is made in it: %s\n", text.Ranks(r.InCall))
	default:
		fmt.Fprintf(w, "in calls that did not return, see reprise hang: %s\n", text.Ranks(r.InCall))
	}
}

// calls returns a function that writes a signature of the trace as a call. Requests are called
// what they are called in the first rank that makes the call.
func (q *question) calls() func(signature int) string {
	p := q.trace.Printer(trace.PrintOptions{})
	first := sync.OnceValue(func() []*trace.Rank { return firstRanks(q.trace) })
	return func(n int) string {
		s, r := q.trace.Signature(n), (*trace.Rank)(nil)
		if slices.ContainsFunc(s.Function.Params, isRequest) {
			r = first()[n]
		}
		call, err := p.Signature(r, s)
		if err != nil {
			return text.Printable(s.Function.Name) + "(unreadable)"
		}
		return call
	}
}

// isRequest reports whether a parameter is a request, or several.
func isRequest(p cst.Param) bool {
	t := &p.Type
	for t.Kind == cst.KindArray {
		t = t.Elem
	}
	return t.Kind == cst.KindHandle && t.Class == "request"
}

// firstRanks returns, for each signature, a rank of the first shape that makes the call; nil
// if it cannot be read.
func firstRanks(tr *trace.Trace) []*trace.Rank {
	ranks := make([]*trace.Rank, tr.Signatures())
	for number := range tr.Shapes() {
		s, err := tr.Shape(number)
		if err != nil || s.Ranks.Len() == 0 {
			continue
		}
		rank := sync.OnceValue(func() *trace.Rank {
			r, _ := tr.Rank(s.Ranks.At(0))
			return r
		})
		for n := range s.Grammar.Occurrences() {
			if ranks[n] == nil {
				ranks[n] = rank()
			}
		}
	}
	return ranks
}

// warnUnordered warns where an answer shows which receive got which message, and which calls are one
// collective operation, among other things.
func (q *question) warnUnordered() {
	if q.trace.Run().ThreadsUnordered {
		warn(q.ErrOrStderr(), "%s: %s: messages and operations may be joined to others", q.path, unorderedNote)
	}
}

// unorderedNote is for traces whose threads have no order.
const unorderedNote = "the order of calls of different threads of a rank is unknown, and so is who sent or received first"

// section returns a table of all rows behind an empty line, if it has any.
func (q *question) section(titles ...string) *text.Table {
	return text.NewTable(q.OutOrStdout(), text.All, titles...).Apart()
}

// model returns what the calls of the trace mean, and warns of communicators that
// are not known.
func (q *question) model() (*semantics.Model, error) {
	model, err := semantics.Open(q.Context(), q.trace)
	switch {
	case err != nil:
		return nil, err
	case !model.Known() && len(q.trace.Functions()) > 0:
		return nil, errors.New("its functions are not those of MPI or of SimGrid: their messages are not known")
	}
	if err := model.Unresolved(); err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		warn(q.ErrOrStderr(), "%s: unknown communicators: %s; messages and operations on them are left out", q.path, first)
	}
	return model, nil
}
