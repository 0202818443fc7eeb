package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/answers"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/mpi/otf2"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// A Question is what the commands that ask about a trace have in common: the
// options, the trace, and how the answer is printed.
type Question struct {
	*cobra.Command
	Path  string
	Trace *trace.Trace

	Reference string // the path of a trace to compare with, empty if there is none

	JSON, All bool
	RankText  string       // of --ranks
	Ranks     *rankenc.Set // the chosen ones; nil for all
	Part      Part
	Region    *query.Region // that Part chooses of the Trace; nil for all of the run
}

// An Option is one that several commands have.
type Option int

const (
	OptJSON Option = iota
	OptAll
	OptRanks
	OptWindow
	OptReference // not a flag: a trace may come before, to compare with
	OptRegion
)

// NewQuestion returns a command about one trace, with some of the common options.
// ask is called with the trace open, without what is damaged.
// check, unless it is nil, checks the other options.
func NewQuestion(name string, check func() error, ask func(q *Question) error, options ...Option) *Question {
	q := &Question{Command: NewCommand(name)}
	q.AddOptions(options)
	compares := slices.Contains(options, OptReference)
	q.Args = func(cmd *cobra.Command, args []string) error {
		if check != nil {
			if err := check(); err != nil {
				return BadUsage(err)
			}
		}
		if err := q.CheckPart(cmd); err != nil {
			return err
		}
		if len(args) == 2 && compares {
			return nil
		}
		if compares && len(args) != 1 {
			return BadUsage(fmt.Errorf("%s takes a trace, or two that it compares, not %d arguments",
				cmd.Name(), len(args)))
		}
		return OneTrace(cmd, args)
	}
	q.RunE = func(_ *cobra.Command, args []string) error {
		path := args[0]
		if len(args) == 2 && compares {
			q.Reference, path = args[0], args[1]
		}
		if err := q.Open(path); err != nil {
			return err
		}
		defer q.Trace.Close()
		if err := q.CheckExact(q.Path, q.Trace); err != nil {
			return err
		}
		if q.Name() == "report" || q.Name() == "view" {
			q.WarnUnordered()
		}
		switch q.Name() {
		case "profile", "waits", "report", "view":
			q.WarnOff()
		}
		switch q.Name() {
		case "waits", "why", "report", "view":
			q.WarnArchive()
		}
		if err := ask(q); err != nil {
			return q.Fail(err)
		}
		return DamageOf(q.Path, q.Trace)
	}
	return q
}

func (q *Question) AddOptions(options []Option) {
	f := q.Flags()
	for _, o := range options {
		switch o {
		case OptJSON:
			f.BoolVar(&q.JSON, "json", false, "print as JSON")
		case OptAll:
			f.BoolVar(&q.All, "all", false, fmt.Sprintf("show all rows, not the first %d", MaxRows))
		case OptRanks:
			AddRanks(q.Command, &q.RankText)
		case OptWindow:
			q.Part.addTimes(q.Command)
		case OptRegion:
			q.Part.add(q.Command)
		}
	}
}

// Open opens the trace at path, and finds out which ranks are chosen.
func (q *Question) Open(path string) (err error) {
	q.Path = path
	if q.Trace, err = OpenReadable(q.Command, path); err != nil {
		return err
	}
	if q.Ranks, err = ChosenRanks(q.Command, q.RankText, q.Trace, path); err == nil {
		q.Region, err = q.Part.of(q)
	}
	if err != nil {
		q.Trace.Close()
	}
	return err
}

// LeavesOut reports whether ranks that made calls are not among the chosen ones.
func (q *Question) LeavesOut() bool {
	return q.Ranks != nil && q.Trace.RankSet().Difference(*q.Ranks).Len() > 0
}

// Fail returns the error of a question about the trace: with its name, unless it is
// one of the command line, or has it.
func (q *Question) Fail(err error) error {
	err = q.ofTimes(err)
	var usage usageError
	switch {
	case errors.As(err, &usage), errors.As(err, new(ExitStatus)), errors.As(err, new(namedError)),
		q.Context().Err() != nil, strings.HasPrefix(err.Error(), q.Path+": "):
		return err
	}
	return FileError(q.Path, err)
}

// ofTimes returns the error of a question about times that the trace has not in the words of the command.
func (q *Question) ofTimes(err error) error {
	var some *query.SomeRanksError
	switch {
	case errors.Is(err, query.ErrNoTimes):
		return ErrNoTimes(q.Path, q.Trace)
	case errors.Is(err, query.ErrNoSeries):
		return ErrNoSeries
	case errors.Is(err, query.ErrTogether):
		return fmt.Errorf(
			"the trace has only statistics of all ranks%s: reprise record --times all keeps those of each rank", LeftOutText(q.Trace))
	case errors.Is(err, query.ErrUnasked):
		return BadUsage(errors.New("statistics are of all ranks together: --ranks goes with --series"))
	case errors.As(err, &some):
		return fmt.Errorf("the trace has the times of every call of %s only: --ranks chooses ranks",
			text.Ranks(some.Ranks))
	}
	return err
}

// A namedError is an error that says which file it is about.
type namedError struct{ error }

func (e namedError) Unwrap() error { return e.error }

// Named marks an error, unless it is nil, as one that says which file it is about.
func Named(err error) error {
	if err == nil {
		return nil
	}
	return namedError{err}
}

// MaxRows is how many rows of a table are shown if nobody asks for all.
const MaxRows = 40

// Most returns how many rows of a table are shown.
func (q *Question) Most() int {
	if q.All {
		return text.All
	}
	return MaxRows
}

// Table returns a table of the answer.
func (q *Question) Table(titles ...string) *text.Table {
	return text.NewTable(q.OutOrStdout(), q.Most(), titles...)
}

// Printf prints a line of the answer, or several.
func (q *Question) Printf(format string, args ...any) {
	fmt.Fprintf(q.OutOrStdout(), format, args...)
}

// Schema is the version of the names in JSON, which docs/json.md lists.
const Schema = 1

// A Header is what every answer begins with in JSON.
type Header struct {
	Schema int           `json:"schema"`
	Trace  string        `json:"trace"`
	Region *query.Region `json:"region,omitempty"` // that the answer is about; nil for all of the run

	// TimesInArchive is that of a [format.Origin].
	TimesInArchive []string `json:"times_in_archive,omitempty"`
}

func (q *Question) Header() Header {
	return Header{Schema, q.Path, q.Region, q.Trace.Run().Origin.Times}
}

// Answer prints an answer as JSON or, as print does, as text.
func (q *Question) Answer(v any, print func()) error {
	if q.JSON {
		return PrintJSON(q.OutOrStdout(), v)
	}
	q.Folded(func() {
		if q.Region != nil && q.Region.Kind != query.TimesRegion {
			q.Printf("%s: %s of %s\n", text.Printable(q.Region.String()), text.Plural(q.Region.Calls, "call"),
				text.Ranks(q.Region.Ranks))
		}
		print()
	})
	return nil
}

// Folded calls print, whose lines are broken at the width of the output. Errors stick to the
// output.
func (q *Question) Folded(print func()) {
	out := q.OutOrStdout()
	f := text.NewFolder(out)
	q.SetOut(f)
	defer q.SetOut(out)
	print()
	f.Close()
}

// Query runs a query about the chosen ranks, with a progress bar.
func (q *Question) Query(label string, run func(query.Options) error) error {
	ranks := q.Trace.RankSet().Len()
	if q.Ranks != nil {
		ranks = min(ranks, q.Ranks.Len())
	}
	bar := NewCounter(q.Context(), q.ErrOrStderr(), label, int64(ranks), "ranks")
	defer bar.Done()
	return run(query.Options{Ranks: q.Ranks, Region: q.Region, Progress: func(n int) { bar.Show(uint64(n)) }})
}

// TotalCalls returns how many calls the chosen ranks made, −1 if that is not known, or only
// those of some time are looked at.
func (q *Question) TotalCalls() int64 {
	total := uint64(0)
	for number := range q.Trace.Shapes() {
		ranks := q.Trace.ShapeRanks(number)
		if q.Ranks != nil {
			ranks = ranks.Intersection(*q.Ranks)
		}
		if ranks.Len() == 0 {
			continue
		}
		s, err := q.Trace.Shape(number)
		if err != nil {
			return -1
		}
		total = wire.AddSat(total, wire.MulSat(s.Grammar.Len(), uint64(ranks.Len())))
	}
	if q.Region != nil || total > math.MaxInt64 {
		return -1
	}
	return int64(total)
}

// WholeSet has all ranks chosen as if by all, if those that are chosen are all: answers
// from statistics, which are of all ranks together, then go with them.
func (q *Question) WholeSet() {
	if q.Ranks != nil && q.Trace.RankSet().Difference(*q.Ranks).Len() == 0 {
		q.Ranks = nil
	}
}

// ErrNoSeries is the error of a question about the times of every call, of a trace that does
// not have them.
var ErrNoSeries = errors.New("the trace does not have the times of every call: reprise record --times all keeps them")

// NoCalls returns the error of a trace at path without calls.
func NoCalls(path string) error { return fmt.Errorf("%s: no rank made a call", path) }

// ErrBefore is the error of a time at which no rank was anywhere.
var ErrBefore = errors.New("is before the first call")

// Damages reports whether sections of some kinds are damaged.
func Damages(tr *trace.Trace, kinds ...format.Kind) bool {
	return slices.ContainsFunc(tr.Damage(), func(d trace.Damage) bool { return slices.Contains(kinds, d.Err.Kind) })
}

// DamagesTimes reports whether times of calls are damaged.
func DamagesTimes(tr *trace.Trace) bool {
	return Damages(tr, layout.KindSeries, layout.KindSummaries, layout.KindRankTimes)
}

// ErrNoTimes returns the error of a question about times that the trace has not, or that
// are damaged.
func ErrNoTimes(path string, tr *trace.Trace) error {
	if DamagesTimes(tr) {
		return DamageOf(path, tr)
	}
	if tr.Run().Source == collect.Source {
		return errors.New("the trace has no times: reprise record --times statistics, or all, keeps them")
	}
	return errors.New("the trace has no times: reprise predict -o writes one with those of a machine")
}

// ThreadsNote says what estimates do with threads.
const ThreadsNote = "estimates put the calls of all threads of a rank one after another: calls that overlap may be missed"

// A Recorded is the ranks of a recorded run that have no call of MPI_Finalize: their
// processes died, or recording was off; and those that were in a call when it ended.
type Recorded struct {
	Unfinished rankenc.Set `json:"unfinished_rank_set"`
	InCall     rankenc.Set `json:"in_call_rank_set"`
	Unrecorded rankenc.Set `json:"unrecorded_rank_set,omitzero"` // ranks without a record

	inFinalize rankenc.Set // those in MPI_Finalize
}

// Recorded finds the ranks among the chosen ones.
func (q *Question) Recorded() (r Recorded, err error) {
	r.Unrecorded = q.Trace.Content().Unrecorded
	if q.Trace.Run().Source == collect.Source {
		o := query.Options{Ranks: q.Ranks}
		if r.Unfinished, err = query.RanksWithout(q.Context(), q.Trace, "MPI_Finalize", o); err == nil {
			r.InCall, err = query.RanksInCalls(q.Context(), q.Trace, "", o)
		}
		if err == nil && r.InCall.Len() > 0 {
			r.inFinalize, err = query.RanksInCalls(q.Context(), q.Trace, "MPI_Finalize", o)
		}
	}
	return r, err
}

// Print names the ranks, if there are any.
func (r Recorded) Print(w io.Writer) {
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

// Calls returns a function that writes a signature of the trace as a call. Requests are called
// what they are called in the first rank that makes the call.
func (q *Question) Calls() func(signature int) string {
	p := q.Trace.Printer(trace.PrintOptions{})
	first := sync.OnceValue(func() []*trace.Rank { return firstRanks(q.Trace) })
	return func(n int) string {
		s, r := q.Trace.Signature(n), (*trace.Rank)(nil)
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
			r, _ := tr.Folded(s.Ranks.At(0), nil)
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

// WarnUnordered warns where an answer shows which receive got which message, and which calls are one
// collective operation, among other things.
func (q *Question) WarnUnordered() {
	if q.Trace.Run().ThreadsUnordered {
		Warn(q.ErrOrStderr(), "%s: %s: messages and operations may be joined to others", q.Path, UnorderedNote)
	}
}

// SourceText says where times are from, and how exact they are.
func (q *Question) SourceText(source query.Source, g timing.Guarantee) string {
	if source != query.Series {
		return "estimated from " + source.String()
	}
	return answers.TimesOfCalls(g, q.Trace.Run().Origin.Times)
}

// WarnDoubts warns of what a trace of an archive lacks for questions about waits, and returns it.
func WarnDoubts(ctx context.Context, w io.Writer, path string, t *trace.Trace) []string {
	if t.Run().Source != otf2.Source {
		return nil
	}
	doubts, _ := answers.Doubts(ctx, t) // what fails there fails in other questions, which say why
	for _, d := range doubts {
		Warn(w, "%s: %s", path, d)
	}
	return doubts
}

// WarnArchive warns where an answer depends on times that an archive does not have as they were recorded.
func (q *Question) WarnArchive() {
	if of := q.Trace.Run().Origin.Times; len(of) > 0 {
		Warn(q.ErrOrStderr(), "%s: times in the archive: %s", q.Path, strings.Join(of, "; "))
	}
}

// WarnOff warns where an answer has times between calls, of which some are missing because recording was off.
func (q *Question) WarnOff() {
	if off := q.Trace.Run().Origin.Off.Intersection(q.Trace.RankSet()); off.Len() > 0 {
		Warn(q.ErrOrStderr(), "%s: recording was off for a part of the run, on %s: that time counts as computing",
			q.Path, text.Ranks(off))
	}
}

// UnorderedNote is for traces whose threads have no order.
const UnorderedNote = "the order of calls of different threads of a rank is unknown, and so is who sent or received first"

// Section returns a table of all rows behind an empty line, if it has any.
func (q *Question) Section(titles ...string) *text.Table {
	return text.NewTable(q.OutOrStdout(), text.All, titles...).Apart()
}

// Model returns what the calls of the trace mean, and warns of communicators that
// are not known.
func (q *Question) Model() (*semantics.Model, error) {
	model, err := semantics.Open(q.Context(), q.Trace)
	switch {
	case err != nil:
		return nil, err
	case !model.Known() && len(q.Trace.Functions()) > 0:
		return nil, errors.New("its functions are not those of MPI or of SimGrid: their messages are not known")
	}
	if err := model.Unresolved(); err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		Warn(q.ErrOrStderr(), "%s: unknown communicators: %s; messages and operations on them are left out",
			q.Path, first)
	}
	return model, nil
}
