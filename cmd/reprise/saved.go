package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/sequitur"
)

// A repairResult is what repair saved and what not.
type repairResult struct {
	Input    string     `json:"input"`
	Output   string     `json:"output"`
	Lost     []loss     `json:"lost"`
	Ranks    int        `json:"ranks_with_calls"`
	Readable int        `json:"saved_ranks"` // of them
	Missing  string     `json:"lost_ranks"`  // as a list
	Order    savedState `json:"order"`       // of the calls of different ranks
	Names    savedState `json:"names"`       // of handles and other numbers
	timesSaved

	lost *lostRanks
}

// A savedState says whether something of a damaged file is in the repaired one.
type savedState string

const (
	kept   savedState = "kept"
	partly savedState = "in part"
	lost   savedState = "lost"
)

// A loss is a range of a file that was not saved.
type loss struct {
	Offset  int64  `json:"offset"`
	Bytes   int64  `json:"bytes"`
	Section string `json:"section"` // empty if unknown
	Reason  string `json:"reason"`
}

func newRepairResult(input, output string, losses []format.Loss) *repairResult {
	r := &repairResult{Input: input, Output: output, Lost: []loss{}, Order: kept, Names: kept, timesSaved: timesSaved{Summaries: kept}, lost: &lostRanks{path: input}}
	for _, l := range losses {
		r.Lost = append(r.Lost, loss{l.Offset, l.Len, "", l.Err.Error()})
		if l.Known {
			r.Lost[len(r.Lost)-1].Section = sectionName(l.Kind, l.Key)
			r.lose(l.Kind, l.Key)
			if l.Kind == merge.KindNames {
				r.Names = lost
			}
		}
	}
	return r
}

func sectionName(kind format.Kind, key uint64) string {
	switch kind {
	case merge.KindColumns, merge.KindGrammars, merge.KindStreams, merge.KindShape, merge.KindSeries:
		return fmt.Sprintf("%s, number %d", merge.KindName(kind), key)
	}
	return merge.KindName(kind)
}

// salvage returns what can be read of a file, and counts it. It returns an error if
// that is nothing, or if the work was cancelled.
func (r *repairResult) salvage(cmd *cobra.Command, file *format.Reader) (*merge.Accumulator, error) {
	if merge.IsPart(file) {
		return r.salvagePart(cmd.Context(), file)
	}
	trace, err := merge.Open(file)
	if err != nil {
		return nil, fmt.Errorf("%s: no call can be saved: %w", r.Input, err)
	}
	a := new(merge.Accumulator)
	if err := r.salvageRanks(cmd, trace, a); err != nil {
		return nil, err
	}
	if err := a.AddTimes(trace, r.note); err != nil {
		return nil, fileError(r.Input, err)
	}
	durations, gaps, err := trace.Summaries()
	r.finish(file, a.RankSet(), err == nil && !(durations.IsZero() && gaps.IsZero()))
	if trace.LostInterleaving() {
		r.Order = lost
	}
	return a, r.describe(cmd.Context(), trace.Run(), a)
}

// salvagePart is salvage of a part file, which has lost nothing but times.
func (r *repairResult) salvagePart(ctx context.Context, file *format.Reader) (*merge.Accumulator, error) {
	a, err := merge.SalvagePart(file, r.note)
	if err != nil {
		return nil, fmt.Errorf("%s: no call can be saved: %w", r.Input, err)
	}
	r.Ranks = a.RankSet().Len()
	r.Readable = r.Ranks
	left := -r.unread
	for _, s := range file.All() {
		if s.Kind == merge.KindSummaries {
			left++
		}
	}
	r.finish(file, a.RankSet(), left > 0)
	return a, r.describeLoss(a)
}

// salvageRanks adds the calls of the ranks that can be read to a.
func (r *repairResult) salvageRanks(cmd *cobra.Command, trace *merge.Trace, a *merge.Accumulator) error {
	ctx := cmd.Context()
	ranks := newRankReader(trace)
	bar := newCounter(ctx, cmd.ErrOrStderr(), "repair", int64(trace.RankSet().Len()), "ranks")
	defer bar.done()
	for rank, ok := trace.Active(0); ok; rank, ok = trace.Active(rank + 1) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		bar.show(uint64(r.Ranks))
		r.Ranks++
		err := ranks.attempt(rank, func() error {
			p, err := trace.Part(rank)
			if err == nil {
				err = a.Add(p)
			}
			return err
		})
		if err != nil {
			r.lost.add(rank, err)
		} else {
			r.Readable++
		}
	}
	if r.Readable == 0 && r.Ranks > 0 {
		return fmt.Errorf("%s: no call can be saved: %w", r.Input, r.lost.list[0].cause)
	}
	r.Missing = r.lost.text()
	return nil
}

// describe adds to a what is known of the run, and what of it is lost.
func (r *repairResult) describe(ctx context.Context, run merge.Run, a *merge.Accumulator) error {
	if g := run.Interleaving; g != nil && len(r.lost.list) > 0 {
		var err error
		if run.Interleaving, err = without(ctx, g, r.lost.list); err != nil {
			return err
		}
		if run.Interleaving == nil {
			r.Order = lost
		}
	}
	if err := describeRun(a, run); err != nil {
		return err
	}
	return r.describeLoss(a)
}

// describeLoss adds to the source of a what is lost.
func (r *repairResult) describeLoss(a *merge.Accumulator) error {
	var what []string
	if len(r.lost.list) > 0 {
		what = append(what, rankText(r.lost.ranks()))
	}
	if r.Order == lost {
		what = append(what, "the order")
	}
	if r.Names == lost {
		what = append(what, "the names of numbers")
	}
	if what = append(what, r.timesSaved.missing()...); len(what) == 0 {
		return nil
	}
	note := "repaired without " + strings.Join(what, " and ")
	return a.Describe(merge.Run{Source: strings.ReplaceAll(note, sourceSeparator, " ")})
}

// maxOrder is the longest order of calls that is expanded to leave ranks out.
const maxOrder = math.MaxUint32

// without returns an order of calls without those of the ranks in a list, or nil
// if it is too long.
func without(ctx context.Context, order *sequitur.Grammar, list []lostRank) (*sequitur.Grammar, error) {
	if order.Len() > maxOrder {
		return nil, nil
	}
	gone := make(map[sequitur.Symbol]bool, len(list))
	for _, l := range list {
		gone[sequitur.Symbol(l.rank)] = true
	}
	var b sequitur.Builder
	runs := 0
	for _, run := range order.Runs() {
		if runs++; runs%callsPerStep == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !gone[run.Symbol] {
			b.AppendRun(run.Symbol, run.Count)
		}
	}
	return b.Finish(), nil
}

// copySections writes every section of a file to w.
func (r *repairResult) copySections(ctx context.Context, file *format.Reader, w io.Writer) error {
	out := format.NewWriter(w, format.Options{})
	for _, s := range file.All() {
		if err := ctx.Err(); err != nil {
			return err
		}
		content, err := file.Content(s)
		var damage *format.ParseError
		switch {
		case errors.As(err, &damage): // of a kind that is in no trace
			r.Lost = append(r.Lost, loss{s.Offset, s.Size, sectionName(s.Kind, s.Key), err.Error()})
			continue
		case err != nil:
			return fileError(r.Input, err)
		}
		if err := out.Add(s.Kind, s.Key, content); err != nil {
			return err
		}
	}
	return out.Close()
}

// write writes what was saved: the sections as they are if they hold all calls in
// their order, and their times, or a new file of what a has.
func (r *repairResult) write(cmd *cobra.Command, file *format.Reader, a *merge.Accumulator, w io.Writer) error {
	if len(r.lost.list) == 0 && r.Order == kept && r.Names == kept && r.timesSaved.whole() {
		return r.copySections(cmd.Context(), file, w)
	}
	saved, err := encodeTrace(cmd, a, merge.IsPart(file))
	if err != nil {
		return err
	}
	_, err = w.Write(saved)
	return err
}

// printDamage writes a line for each range of the file that was not saved.
func (r *repairResult) printDamage(w io.Writer, prefix string) {
	for _, l := range r.Lost {
		what := "what follows"
		if l.Bytes > 0 {
			what = text.Plural(l.Bytes, "byte")
		}
		if l.Section != "" {
			what += " of the section " + l.Section
		}
		fmt.Fprintf(w, "%s%s at offset %d: %s\n", prefix, what, l.Offset, l.Reason)
	}
}

func (r *repairResult) print(w io.Writer) {
	r.printDamage(w, "damaged: ")
	if len(r.lost.list) > 0 {
		fmt.Fprintf(w, "lost: %s\n", rankText(r.lost.ranks()))
	}
	for _, what := range r.timesSaved.missing() {
		fmt.Fprintf(w, "lost: %s\n", what)
	}
	if r.Names == lost {
		fmt.Fprintln(w, "lost: the names of handles and other numbers: they stand as numbers")
	}
	switch {
	case r.Order == lost:
		fmt.Fprintln(w, "lost: the order of the calls of different ranks: they stand rank by rank")
	case len(r.Lost) == 0:
		fmt.Fprintln(w, "nothing was damaged")
	}
	fmt.Fprintf(w, "%s: %s of %s saved\n", r.Output, text.Count(r.Readable), text.Plural(r.Ranks, "rank"))
}
