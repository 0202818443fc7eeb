package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/merge"
)

// A repairResult is what repair saved and what not.
type repairResult struct {
	Input    string     `json:"input"`
	Output   string     `json:"output"`
	Sections int        `json:"sections"` // saved
	Lost     []loss     `json:"lost"`
	Ranks    int        `json:"ranks_with_calls"`
	Readable int        `json:"readable_ranks"` // of them
	Order    savedState `json:"order"`          // of the calls of different ranks
}

// A savedState says whether something of a damaged file is in the repaired one.
type savedState string

const (
	kept    savedState = "kept"
	lost    savedState = "lost"
	unknown savedState = "unknown" // there may have been none
)

// A loss is a range of a file that was not saved.
type loss struct {
	Offset  int64  `json:"offset"`
	Bytes   int64  `json:"bytes"`
	Section string `json:"section"` // empty if unknown
	Reason  string `json:"reason"`
}

func newRepairResult(input, output string, losses []format.Loss) *repairResult {
	r := &repairResult{Input: input, Output: output, Lost: []loss{}}
	for _, l := range losses {
		r.Lost = append(r.Lost, loss{l.Offset, l.Len, "", l.Err.Error()})
		if l.Known {
			r.Lost[len(r.Lost)-1].Section = sectionName(l.Kind, l.Key)
		}
	}
	return r
}

func sectionName(kind format.Kind, key uint64) string {
	if kind == merge.KindSignatures || kind == merge.KindGrammar {
		return fmt.Sprintf("%s of rank %d", merge.KindName(kind), key)
	}
	return merge.KindName(kind)
}

// savedOrder tells whether the order of the calls of different ranks is that of
// the damaged file, of which whole is nil if it cannot be opened. A file without
// an interleaving has the calls rank by rank; that it never had one is sure only
// if its index says so or nothing but its header is damaged.
func savedOrder(saved, whole *format.Reader, losses []format.Loss) savedState {
	if _, ok := saved.Lookup(merge.KindInterleaving, 0); ok {
		return kept
	}
	if whole != nil {
		if _, ok := whole.Lookup(merge.KindInterleaving, 0); ok {
			return lost
		}
		return kept
	}
	state := kept
	for _, l := range losses {
		if l.Known && l.Kind == merge.KindInterleaving {
			return lost
		}
		if l.Offset > 0 {
			state = unknown
		}
	}
	return state
}

// check counts the ranks of a file that can be read. It returns an error if none
// can, or if the work was cancelled.
func (r *repairResult) check(ctx context.Context, file *format.Reader) error {
	trace, err := merge.Open(file)
	if err != nil {
		return fmt.Errorf("%s: no call can be saved: %w", r.Input, err)
	}
	for rank, ok := trace.Active(0); ok; rank, ok = trace.Active(rank + 1) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.Ranks++
		_, rankErr := trace.Part(rank)
		if rankErr == nil {
			r.Readable++
		} else if err == nil {
			err = rankErr
		}
	}
	if err != nil && r.Readable == 0 {
		return fmt.Errorf("%s: no call can be saved: %w", r.Input, err)
	}
	return nil
}

// copy writes every section of a file to a new one. A section that is intact but
// cannot be decoded is lost.
func (r *repairResult) copy(cmd *cobra.Command, file *format.Reader, w io.Writer) error {
	out := format.NewWriter(w, format.Options{})
	for _, s := range file.All() {
		if err := cmd.Context().Err(); err != nil {
			return err
		}
		content, err := file.Content(s)
		var damage *format.ParseError
		switch {
		case errors.As(err, &damage):
			r.Lost = append(r.Lost, loss{s.Offset, s.Size, sectionName(s.Kind, s.Key), err.Error()})
			continue
		case err != nil:
			return fileError(r.Input, err)
		}
		if err := out.Add(s.Kind, s.Key, content); err != nil {
			return err
		}
		r.Sections++
	}
	return out.Close()
}

func (r *repairResult) print(w io.Writer) {
	for _, l := range r.Lost {
		what := "what follows"
		if l.Bytes > 0 {
			what = plural(uint64(l.Bytes), "byte")
		}
		if l.Section != "" {
			what += " of the " + l.Section
		}
		fmt.Fprintf(w, "lost: %s at offset %d: %s\n", what, l.Offset, l.Reason)
	}
	switch {
	case r.Order == lost:
		fmt.Fprintln(w, "lost: the order of the calls of different ranks: they stand rank by rank")
	case r.Order == unknown:
		fmt.Fprintln(w, "perhaps lost: the order of the calls of different ranks, unless it was rank by rank")
	case len(r.Lost) == 0:
		fmt.Fprintln(w, "nothing was damaged")
	}
	fmt.Fprintf(w, "%s: %s saved; %d of %s can be read\n", r.Output, plural(uint64(r.Sections), "section"), r.Readable,
		plural(uint64(r.Ranks), "rank"))
}
