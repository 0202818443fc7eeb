package main

import (
	"bytes"
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/merge"
)

// sourceSeparator stands between the sources of a run that was merged.
const sourceSeparator = ", "

// describeRun adds the description of a run that comes from a file to a, each of
// its sources for itself.
func describeRun(a *merge.Accumulator, run merge.Run) error {
	for source := range strings.SplitSeq(run.Source, sourceSeparator) {
		if err := a.Describe(merge.Run{Source: source}); err != nil {
			return err
		}
	}
	run.Source = ""
	return a.Describe(run)
}

// ranksPerLeaf is how many ranks are added to an accumulator before it is merged
// with others.
const ranksPerLeaf = 256

// accumulate merges parts, which ascend, on all cores.
func accumulate(cmd *cobra.Command, run merge.Run, parts []merge.Part) (*merge.Accumulator, error) {
	leaves := (len(parts) + ranksPerLeaf - 1) / ranksPerLeaf
	bar := newCounter(cmd.Context(), cmd.ErrOrStderr(), "merge", int64(len(parts)), "ranks")
	defer bar.done()
	a, err := merge.Tree(cmd.Context(), leaves, func(_ context.Context, i int) (*merge.Accumulator, error) {
		var a merge.Accumulator
		for _, p := range parts[i*ranksPerLeaf : min(len(parts), (i+1)*ranksPerLeaf)] {
			if err := a.Add(p); err != nil {
				return nil, err
			}
		}
		return &a, nil
	}, merge.TreeOptions{Progress: func(done int) { bar.show(uint64(min(done*ranksPerLeaf, len(parts)))) }})
	if err != nil {
		return nil, err
	}
	return a, a.Describe(run)
}

// encode returns what write writes, or an error as soon as the work is cancelled:
// it does not wait until write has noticed that.
func encode(cmd *cobra.Command, write func(io.Writer) error) ([]byte, error) {
	bar := newCounter(cmd.Context(), cmd.ErrOrStderr(), "write", -1, "")
	defer bar.done()
	var file bytes.Buffer
	done := make(chan error, 1)
	go func() { done <- write(&file) }()
	select {
	case <-cmd.Context().Done():
		return nil, cmd.Context().Err()
	case err := <-done:
		return file.Bytes(), err
	}
}

// encodeTrace returns the trace, or the part file, of what a has.
func encodeTrace(cmd *cobra.Command, a *merge.Accumulator, part bool) ([]byte, error) {
	if part {
		return encode(cmd, a.WritePart)
	}
	return encode(cmd, func(w io.Writer) error { return a.WriteContext(cmd.Context(), w) })
}
