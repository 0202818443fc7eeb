package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/ti"
)

// A catOptions is which calls cat writes, and how.
type catOptions struct {
	first, count    uint64 // positions
	format          string
	absolute, clock bool
	split           string
}

func newCat() *cobra.Command {
	var (
		q *question
		o catOptions
	)
	format := newChoice("", "ti", "text", "json")
	q = newQuestion("cat", func() error {
		o.format = format.value
		return o.check(q)
	}, func(q *question) error { return cat(q, &o) }, optJSON, optRanks, optWindow)
	f := q.Flags()
	f.Uint64Var(&o.first, "first", 0, "begin at this `position`")
	f.Uint64Var(&o.count, "count", math.MaxUint64, "at most this `number` of calls, with --ranks, --from or --to of each rank")
	f.Lookup("count").DefValue = "all"
	addChoice(q.Command, format, "format", "how calls are written")
	f.BoolVar(&o.absolute, "absolute", false, "in text, ranks as numbers")
	f.BoolVar(&o.clock, "clock", false, "times by the clock of the trace")
	f.StringVar(&o.split, "split", "", "write one file a rank, and their list, to a `directory`")
	f.Lookup("json").Usage = "the same as --format json"
	return q.Command
}

// check fills in the format, and returns what is wrong with o.
func (o *catOptions) check(q *question) error {
	if q.json {
		if o.format != "" && o.format != "json" {
			return fmt.Errorf("--json does not go with --format %s", o.format)
		}
		o.format = "json"
	}
	changed := q.Flags().Changed
	switch {
	case o.split == "":
		return o.unused()
	case changed("ranks"):
		return errors.New("--split writes all ranks: it does not go with --ranks")
	case changed("first") || changed("count") || changed("from") || changed("to"):
		return errors.New("--split writes all calls: it does not go with --first, --count, --from and --to")
	case o.format != "" && o.format != "ti":
		return errors.New("--split writes SimGrid's files: the only format is ti")
	case o.absolute || o.clock:
		return errors.New("--split writes SimGrid's files: it does not go with --absolute and --clock")
	}
	return nil
}

// unused returns the error of an option that changes nothing in the format.
func (o *catOptions) unused() error {
	switch {
	case o.absolute && (o.format == "ti" || o.format == "json"):
		return fmt.Errorf("--absolute does not go with --format %s, where ranks are numbers", o.format)
	case o.clock && o.format == "ti":
		return errors.New("--clock does not go with --format ti, which has no times")
	}
	return nil
}

func cat(q *question, o *catOptions) error {
	if o.split != "" {
		return split(q, o.split)
	}
	if o.format == "" {
		o.format = "text"
		if isTI(q.trace) {
			o.format = "ti"
		}
		if err := o.unused(); err != nil {
			return usageError{err}
		}
	}
	var size counter
	write, flush, err := newLineWriter(o, q.trace, io.MultiWriter(q.OutOrStdout(), &size))
	if err != nil {
		return err
	}
	bar := newProgress(q.Context(), progressOfOutput(q.Command), "cat", -1)
	defer bar.done()
	err = o.copy(q, func(position uint64, c reprise.Call) error {
		if err := write(position, c); err != nil {
			return err
		}
		return bar.step(uint64(size))
	})
	if e := flush(); err == nil {
		err = e
	}
	return err
}

// progressOfOutput returns where the progress of writing to standard output is
// to be shown: nowhere unless that is a file, for others show it themselves.
func progressOfOutput(cmd *cobra.Command) io.Writer {
	if out, ok := cmd.OutOrStdout().(*output); ok {
		if f, ok := out.w.(*os.File); ok {
			if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
				return cmd.ErrOrStderr()
			}
		}
	}
	return io.Discard
}

// A callWriter writes a call that stands at a position.
type callWriter func(position uint64, c reprise.Call) error

// copy gives the calls that o selects to write: of ranks that are chosen, or by time,
// rank by rank; else in the order in which they were read.
func (o *catOptions) copy(q *question, write callWriter) error {
	switch {
	case q.Flags().Changed("ranks") || q.window.set: // also if they are all
		return o.copyChosen(q, write)
	case q.trace.Run().Interleaving == nil:
		return o.copyRanks(q, write)
	}
	if n := q.trace.Run().Interleaving.Len(); o.first > n {
		return noCall(o.first, "the trace has", n)
	}
	return copyCalls(q.trace.Calls(o.first), o.first, o.count, write)
}

// copyCalls copies at most so many calls.
func copyCalls(calls *reprise.CallReader, first, count uint64, write callWriter) error {
	for i := range count {
		c, err := calls.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if err := write(first+i, c); err != nil {
			return err
		}
	}
	return nil
}

// copyChosen copies calls of the chosen ranks, with their positions in the ranks.
func (o *catOptions) copyChosen(q *question, write callWriter) error {
	from, to := int64(0), int64(0)
	times, err := query.OpenTimes(q.trace)
	if err == nil && q.window.set {
		from, to, err = q.window.times(q.trace)
	}
	if err != nil {
		return err
	}
	ranks := q.trace.RankSet()
	if q.ranks != nil {
		ranks = *q.ranks
	}
	longest := uint64(0)
	for _, number := range ranks.All() {
		if err := q.Context().Err(); err != nil {
			return err
		}
		rank, err := q.trace.Rank(number)
		if err != nil {
			return err
		}
		first, end := o.first, rank.Len()
		longest = max(longest, end)
		if end == 0 && first == 0 && ranks.Len() == 1 {
			warn(q.ErrOrStderr(), "rank %d has no calls", number)
		}
		if q.window.set {
			if first, end, err = o.between(times, rank, from, to); err != nil {
				return err
			}
		}
		left := o.count
		for c, err := range rank.CallsFrom(min(first, end)) {
			if err != nil {
				return err
			}
			if left == 0 || c.Position >= end {
				break
			}
			if q.window.set && !query.Overlaps(c.Start, c.Duration, from, to) {
				continue
			}
			if err := write(c.Position, c); err != nil {
				return err
			}
			left--
		}
	}
	switch {
	case o.first <= longest:
		return nil
	case ranks.Len() == 0:
		return noCall(o.first, "the trace has", 0)
	case ranks.Len() == 1:
		return noCall(o.first, text.Ranks(ranks)+" has", longest)
	default:
		return noCall(o.first, text.Ranks(ranks)+" have at most", longest)
	}
}

// between returns the positions of the calls between two times, from o.first on.
func (o *catOptions) between(times *query.Times, rank *reprise.Rank, from, to int64) (first, end uint64, err error) {
	clock, err := times.Clock(rank)
	if err != nil {
		return 0, 0, err
	}
	if clock.Source() != query.Series && rank.Len() > 0 {
		return 0, 0, errors.New("the trace does not have the times of every call: --first and --count choose calls by position")
	}
	first, end, err = clock.Positions(from, to)
	return max(first, o.first), end, err
}

// copyRanks copies calls of all ranks, rank by rank.
func (o *catOptions) copyRanks(q *question, write callWriter) error {
	skip, left, position := o.first, o.count, o.first
	for number := range q.trace.Active() {
		if skip == 0 && left == 0 {
			break
		}
		if err := q.Context().Err(); err != nil {
			return err
		}
		rank, err := q.trace.Rank(number)
		if err != nil {
			return err
		}
		first := min(skip, rank.Len())
		skip -= first
		for c, err := range rank.CallsFrom(first) {
			if err != nil {
				return err
			}
			if left == 0 {
				break
			}
			if err := write(position, c); err != nil {
				return err
			}
			position++
			left--
		}
	}
	if skip > 0 {
		return noCall(o.first, "the trace has", o.first-skip)
	}
	return nil
}

// noCall returns the error of a position beyond the end of what has so many calls.
func noCall(position uint64, has string, calls uint64) error {
	return fmt.Errorf("no call at position %d: %s %s", position, has, text.Plural(calls, "call"))
}

// newLineWriter returns a function that writes a call as a line of a format, and
// one to call at the end.
func newLineWriter(o *catOptions, trace *reprise.Trace, w io.Writer) (write callWriter, flush func() error, err error) {
	if o.format == "ti" {
		toTI, err := newConverter(trace)
		if err != nil {
			return nil, nil, err
		}
		out := ti.NewWriter(w)
		return func(_ uint64, c reprise.Call) error { return out.Write(toTI(c)) }, out.Close, nil
	}
	ranks, _, err := trace.SeriesRanks()
	if err != nil {
		return nil, nil, err
	}
	timed := ranks.Len() > 0 || damages(trace, layout.KindSeries)
	begin := int64(0)
	if ranks.Len() > 0 && !o.clock {
		times, err := query.OpenTimes(trace)
		if err != nil {
			return nil, nil, err
		}
		if begin, err = times.Begin(); err != nil {
			return nil, nil, err
		}
	}
	out := bufio.NewWriterSize(w, 64<<10)
	if o.format == "json" {
		return newJSONWriter(out, trace, begin), out.Flush, nil
	}
	printer := trace.Printer(reprise.PrintOptions{Absolute: o.absolute})
	var line []byte
	write = func(position uint64, c reprise.Call) error {
		line = append(strconv.AppendInt(line[:0], int64(c.Rank), 10), '\t')
		line = append(strconv.AppendUint(line, position, 10), '\t')
		if timed {
			line = appendTime(line, c, begin)
		}
		line = append(printer.AppendCall(line, c), '\n')
		_, err := out.Write(line)
		return err
	}
	return write, out.Flush, nil
}

// appendTime appends the start since begin and the duration of a call, in seconds,
// each with a tab.
func appendTime(dst []byte, c reprise.Call, begin int64) []byte {
	if !c.Timed {
		return append(dst, "-\t-\t"...)
	}
	dst = append(appendSeconds(dst, begin, c.Start), '\t')
	return append(appendSeconds(dst, 0, c.Duration), '\t')
}

// appendSeconds appends the nanoseconds from one time to another as seconds.
func appendSeconds(dst []byte, from, to int64) []byte {
	n := uint64(to) - uint64(from)
	if to < from {
		n = -n
		dst = append(dst, '-')
	}
	return fmt.Appendf(dst, "%d.%09d", n/1e9, n%1e9)
}

// A notTextError is the error of a trace that is not one of SimGrid's.
type notTextError struct{ error }

func (e notTextError) Unwrap() error { return e.error }

// newConverter returns a function that turns calls of a trace into those of
// package ti, or a notTextError if the trace has functions that SimGrid's traces
// have not.
func newConverter(trace *reprise.Trace) (func(reprise.Call) ti.Call, error) {
	for _, f := range trace.Functions() {
		if _, ok := ti.Lookup(f); !ok {
			return nil, notTextError{fmt.Errorf("a SimGrid trace cannot hold the function %s", text.Printable(f.Name))}
		}
	}
	numbers := make(map[*cst.Function]int)
	return func(c reprise.Call) ti.Call {
		n, ok := numbers[c.Function]
		if !ok {
			n, _ = ti.Lookup(*c.Function)
			numbers[c.Function] = n
		}
		return ti.Call{Rank: c.Rank, Function: n, Args: c.Args}
	}, nil
}

// split writes one file a rank, and their list, into a directory, which it makes
// if it is not there. The file of a rank that cannot be read is empty. If it fails,
// nothing stays.
func split(q *question, dir string) error {
	toTI, err := newConverter(q.trace)
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	finish, err := unfinished.begin(func() (undo func(), err error) {
		return func() { <-ended }, nil // which is soon, as writing notices that it was cancelled
	})
	if err != nil {
		return err
	}
	defer finish()
	defer close(ended)
	made := os.Mkdir(dir, 0o777) == nil // if there is no directory, creating files says why
	if err := splitInto(q, dir, toTI); err != nil {
		if made {
			os.Remove(dir) // which it cannot be unless it is empty
		}
		return err
	}
	return nil
}

func splitInto(q *question, dir string, toTI func(reprise.Call) ti.Call) error {
	w, err := ti.CreateRanks(dir, strings.TrimSuffix(filepath.Base(q.path), ".rpz"), q.trace.Ranks())
	if err != nil {
		return named(err)
	}
	defer w.Abort()
	bar := newProgress(q.Context(), q.ErrOrStderr(), "cat", -1)
	defer bar.done()
	all := catOptions{count: math.MaxUint64}
	err = all.copyRanks(q, func(_ uint64, c reprise.Call) error {
		if err := w.Write(toTI(c)); err != nil {
			return named(err)
		}
		return bar.step(0)
	})
	if err != nil {
		return err
	}
	return named(w.Close())
}
