package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
)

func newMerge() *cobra.Command {
	var (
		output       string
		size         int
		part, asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "merge PART... -o OUT.rpz",
		Short: "Merge part files, or traces, into one trace",
		Long: `Merge part files into a trace. A PART is a file that "reprise compress --part"
wrote, a trace, or a directory, which stands for all *.rpz files in it, but not
in directories there; the output cannot be one of these. Every rank may be in
one of the parts only. The order does not matter: the trace is the same, byte
for byte, as if all ranks had been compressed at once. Only where the lines of
ranks alternated across parts, they stand part by part. Of a trace among them
all calls and times are kept, but not what the ranks were like before they were
merged: the new trace can be some bytes larger or smaller.

Ranks that are in no part have no calls, which a warning says. How many ranks
the run has, --ranks tells, or one of the parts; otherwise it has those up to
the last of which there are calls, and a warning says if calls name a rank
beyond. With --part the output is a part file again, to be merged with others.

All parts are looked at first, and everything that is wrong with their ranks and
checksums is listed. They are read when it is their turn, and merged in pairs on
all cores: memory grows with the structure found, not with the number of parts.`,
		Example: `  reprise merge 0.part.rpz 1.part.rpz -o run.rpz
  reprise merge parts -o run.rpz            # the directory of these files
  reprise merge --ranks 64 a.part.rpz b.part.rpz -o run.rpz
  reprise merge --part parts -o node7.part.rpz`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return usageError{errors.New("merge takes part files")}
			case output == "":
				return usageError{errors.New("merge needs -o OUT.rpz")}
			}
			return checkSize(cmd, size)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			s := mergeSummary{Input: args, Output: output, Part: part, size: size}
			if err := mergeFiles(cmd, &s); err != nil {
				return err
			}
			report := cmd.OutOrStdout()
			if output == "-" {
				report = cmd.ErrOrStderr()
			}
			if asJSON {
				return printJSON(report, s)
			}
			s.print(report, cmd.ErrOrStderr())
			return nil
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "the `file` to write")
	addSize(cmd, &size)
	cmd.Flags().BoolVar(&part, "part", false, "write a part file, to be merged with others")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the summary as JSON")
	return cmd
}

// A mergeSummary is what merge reports.
type mergeSummary struct {
	Input   []string `json:"input"`
	Output  string   `json:"output"`
	Part    bool     `json:"part"`  // a part file, not a trace
	Parts   int      `json:"parts"` // files that were merged
	Ranks   int      `json:"ranks"`
	Active  int      `json:"ranks_with_calls"`
	Missing string   `json:"missing_ranks"` // as a list
	Calls   uint64   `json:"calls"`
	Shapes  int      `json:"shapes"`
	Bytes   int64    `json:"trace_bytes"`
	Beyond  *beyond  `json:"beyond"` // null if calls name only ranks of the run

	size    int // of the run, in ranks; 0 if it was not given
	missing rankenc.Set
}

// mergeFiles merges the parts that s names, and fills in the rest of s.
func mergeFiles(cmd *cobra.Command, s *mergeSummary) error {
	if err := refuseInside(s.Output, s.Input); err != nil {
		return err
	}
	paths, err := partFiles(s.Input)
	if err != nil {
		return err
	}
	s.Parts = len(paths)
	return writeOutput(cmd, s.Output, paths, func(w io.Writer) error {
		a, err := mergeAll(cmd, paths, s.size)
		if err != nil {
			return err
		}
		ranks, peer := a.RankSet(), highestPeer(a)
		file, err := encodeTrace(cmd, a, s.Part)
		if err != nil {
			return err
		}
		if err := s.describe(file, ranks); err != nil {
			return err
		}
		if !s.Part {
			s.Beyond = peer.beyond(s.Ranks)
		}
		_, err = w.Write(file)
		return err
	})
}

// mergeAll checks part files and merges them to a run of size ranks, or of as many
// as they say if size is 0.
func mergeAll(cmd *cobra.Command, paths []string, size int) (*merge.Accumulator, error) {
	check := newCounter(cmd.Context(), cmd.ErrOrStderr(), "check", int64(len(paths)), "parts")
	err := checkParts(cmd.Context(), paths, size, func(done int) { check.show(uint64(done)) })
	check.done()
	if err != nil {
		return nil, err
	}
	bar := newCounter(cmd.Context(), cmd.ErrOrStderr(), "merge", int64(len(paths)), "parts")
	defer bar.done()
	a, err := merge.Tree(cmd.Context(), len(paths), func(ctx context.Context, i int) (*merge.Accumulator, error) {
		return readLeaf(ctx, paths[i])
	}, merge.TreeOptions{Progress: func(done int) { bar.show(uint64(done)) }})
	if err != nil {
		return nil, err
	}
	return a, a.Describe(merge.Run{Ranks: size})
}

// describe fills in what is known of the file that was made, which has calls of
// these ranks.
func (s *mergeSummary) describe(file []byte, ranks rankenc.Set) error {
	trace, err := reprise.OpenReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return fmt.Errorf("%s: %w", s.Output, err)
	}
	t := trace.Merged()
	s.Ranks, s.Active, s.Shapes, s.Bytes = trace.Ranks(), ranks.Len(), t.Shapes(), int64(len(file))
	for i := range t.Shapes() {
		shape, err := t.Shape(i)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Output, err)
		}
		s.Calls = wire.AddSat(s.Calls, wire.MulSat(uint64(shape.Ranks.Len()), shape.Grammar.Len()))
	}
	if !s.Part {
		s.missing = rankenc.World(s.Ranks).Difference(ranks)
		s.Missing = s.missing.String()
	}
	return nil
}

func (s *mergeSummary) print(stdout, stderr io.Writer) {
	ranks := rankCount(s.Ranks, s.Active)
	if s.Part {
		ranks = text.Plural(s.Active, "rank")
	}
	fmt.Fprintf(stdout, "%s: %s, %s -> %s: %s, %s\n", text.Plural(s.Parts, "part"), ranks, text.Plural(s.Calls, "call"), s.Output,
		text.Plural(s.Shapes, "shape"), text.Plural(s.Bytes, "byte"))
	if s.missing.Len() > 0 {
		fmt.Fprintf(stderr, "reprise: warning: in no part: %s\n", text.Ranks(s.missing))
	}
	s.Beyond.warn(stderr, s.size > 0)
}
