package show

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// A callWriter writes a call that stands at a position.
type callWriter func(position uint64, c trace.Call) error

// copy gives the calls that o selects to write: of ranks that are chosen, or by time,
// rank by rank; else in the order in which they were read.
func (o *catOptions) copy(q *cli.Question, write callWriter) error {
	switch {
	case q.Flags().Changed("ranks") || q.Region != nil: // also if they are all
		return o.copyChosen(q, write)
	case q.Trace.Run().Interleaving == nil:
		return o.copyRanks(q, write)
	}
	if n := q.Trace.Run().Interleaving.Len(); o.first > n {
		return noCall(o.first, "the trace has", n)
	}
	return o.copyCalls(q.Trace.Calls(o.first), write)
}

// copyCalls copies calls in the order in which they were read, all of which it goes through:
// an order of ranks does not say which calls have a function.
func (o *catOptions) copyCalls(calls iter.Seq2[trace.Call, error], write callWriter) error {
	position, left := o.first, o.count
	if left == 0 {
		return nil
	}
	for c, err := range calls {
		if err != nil {
			return err
		}
		if o.keeps(c) {
			if err := write(position, c); err != nil {
				return err
			}
			if left--; left == 0 {
				return nil
			}
		}
		position++
	}
	return nil
}

// known returns the error of functions that the trace does not have.
func (o *catOptions) known(tr *trace.Trace) error {
	var names []string
	for _, f := range tr.Functions() {
		names = append(names, f.Name)
	}
	for _, name := range o.functions {
		if !slices.Contains(names, name) {
			slices.Sort(names)
			list := text.CutList(text.Printable(strings.Join(slices.Compact(names), ", ")), cli.MaxListText)
			return fmt.Errorf("no call of %s: the trace has calls of %s", text.Printable(name), cmp.Or(list, "nothing"))
		}
	}
	return nil
}

// keeps reports whether a call is of a function that is chosen.
func (o *catOptions) keeps(c trace.Call) bool {
	return o.functions == nil || slices.Contains(o.functions, c.Function.Name)
}

// calls returns the calls of a rank from a position on that are of the functions that are
// chosen: the others are skipped as [trace.Rank.Select] does.
func (o *catOptions) calls(rank *trace.Rank, position uint64) iter.Seq2[trace.Call, error] {
	if o.functions == nil {
		return rank.Calls(position)
	}
	return rank.Select(position, o.keeps)
}

// progress returns a progress over the calls that are written.
func (o *catOptions) progress(q *cli.Question, stderr io.Writer) *cli.Progress {
	total := int64(-1)
	if o.functions == nil {
		if total = q.TotalCalls(); total > 0 && q.Ranks == nil {
			total = max(0, total-int64(min(o.first, math.MaxInt64)))
		}
		total = int64(min(uint64(total), o.count))
	}
	return cli.NewCounter(q.Context(), stderr, "cat", total, "calls")
}

// copyChosen copies calls of the chosen ranks, with their positions in the ranks.
func (o *catOptions) copyChosen(q *cli.Question, write callWriter) error {
	ranks := q.Trace.RankSet()
	if q.Ranks != nil {
		ranks = *q.Ranks
	}
	longest := uint64(0)
	for _, number := range ranks.All() {
		if err := q.Context().Err(); err != nil {
			return err
		}
		rank, err := q.Trace.Folded(number, nil)
		if err != nil {
			return err
		}
		longest = max(longest, rank.Len())
		if rank.Len() == 0 && o.first == 0 && ranks.Len() == 1 {
			cli.Warn(q.ErrOrStderr(), "rank %d has no calls", number)
		}
		spans := []trace.Span{{First: 0, End: rank.Len()}}
		if q.Region != nil {
			spans = q.Region.Spans(number)
			if err := o.warn(q, rank); err != nil {
				return err
			}
		}
		if err := o.copySpans(q, rank, spans, write); err != nil {
			return err
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

// copySpans copies calls of a rank in spans, from o.first on.
func (o *catOptions) copySpans(q *cli.Question, rank *trace.Rank, spans []trace.Span, write callWriter) error {
	from, to := q.Region.Between()
	left := o.count
	for _, s := range spans {
		if s.End <= o.first {
			continue
		}
		for c, err := range o.calls(rank, max(s.First, o.first)) {
			if err != nil {
				return err
			}
			if left == 0 || c.Position >= s.End {
				break
			}
			if q.Region != nil && c.Timed && !query.Overlaps(c.Start, c.Duration, from, to) {
				continue
			}
			if err := write(c.Position, c); err != nil {
				return err
			}
			left--
		}
	}
	return nil
}

// warn warns once if times that choose calls are estimates.
func (o *catOptions) warn(q *cli.Question, rank *trace.Rank) error {
	if q.Region.Kind != query.TimesRegion || rank.Len() == 0 || o.warned {
		return nil
	}
	times, err := query.OpenTimes(q.Trace)
	if err != nil {
		return err
	}
	clock, err := times.Clock(rank)
	if err != nil || clock.Source() == query.Series {
		return err
	}
	o.warned = true
	cli.Warn(q.ErrOrStderr(), "%s does not have the times of every call: --from and --to choose by times that are %s",
		q.Path, q.SourceText(clock.Source(), 0))
	return nil
}

// copyRanks copies calls of all ranks, rank by rank.
func (o *catOptions) copyRanks(q *cli.Question, write callWriter) error {
	skip, left, before := o.first, o.count, uint64(0)
	for _, number := range q.Trace.RankSet().All() {
		if skip == 0 && left == 0 {
			break
		}
		if err := q.Context().Err(); err != nil {
			return err
		}
		rank, err := q.Trace.Folded(number, nil)
		if err != nil {
			return err
		}
		first := min(skip, rank.Len())
		skip -= first
		for c, err := range o.calls(rank, first) {
			if err != nil {
				return err
			}
			if left == 0 {
				break
			}
			if err := write(before+c.Position, c); err != nil {
				return err
			}
			left--
		}
		before += rank.Len()
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
