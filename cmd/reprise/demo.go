package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/compress"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/show"
	"github.com/reprise-trace/reprise/internal/answers"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/simgrid"
	"github.com/reprise-trace/reprise/query"
)

// demoTrace is a run of the NAS benchmark LU, class W, on 16 processes.
//
//go:embed testdata/lu.W.16.ti.zst
var demoTrace []byte

func newDemo() *cobra.Command {
	cmd := cli.NewCommand("demo")
	cmd.Args = cli.NoArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return demo(cmd) }
	return cmd
}

func demo(cmd *cobra.Command) error {
	out := cmd.OutOrStdout()
	fmt.Fprintln(out, "The NAS benchmark LU, class W, on 16 processes, as SimGrid recorded it")

	var s compress.Summary
	in := simgrid.NewReader(bytes.NewReader(demoTrace), simgrid.Options{})
	defer in.Close()
	begin := time.Now()
	file, err := s.Compress(cmd, in, -1)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "  read and compressed %s in %.2f s\n", text.Plural(s.Calls, "call"), time.Since(begin).Seconds())

	trace, err := cli.Reopen(file)
	if err != nil {
		return err
	}
	again := simgrid.NewReader(bytes.NewReader(demoTrace), simgrid.Options{})
	defer again.Close()
	begin = time.Now()
	err = withProgress(cmd, "verify", func(bar *cli.Progress) error {
		return compress.NewComparison(trace).Compare(again, bar)
	})
	if err != nil {
		return fmt.Errorf("the trace differs from what it was made from: %w", err)
	}
	fmt.Fprintf(out, "  verified every call of every rank in %.2f s\n\n", time.Since(begin).Seconds())

	sizes := show.TextSizes{Plain: s.TextBytes}
	err = withProgress(cmd, "gzip and zstd", func(bar *cli.Progress) error {
		return sizes.Compress(cmd.Context(), trace, bar)
	})
	if err != nil {
		return err
	}
	show.PrintSizes(out, &sizes, uint64(len(file)))
	rank, err := trace.Rank(0)
	if err != nil {
		return err
	}
	times, err := query.OpenTimes(trace)
	if err != nil {
		return err
	}
	fmt.Fprint(out, "\nRank 0: ")
	q := &cli.Question{Command: cmd, Trace: trace}
	l := &show.Loops{LoopTree: answers.LoopTree{Loops: times.RankLoops(rank),
		Call: show.CallsOfRank(trace, rank)}, Different: rank.Terminals()}
	q.Folded(func() { l.Print(q) })
	return nil
}

// withProgress does work of unknown length under a progress bar.
func withProgress(cmd *cobra.Command, what string, work func(*cli.Progress) error) error {
	bar := cli.NewProgress(cmd.Context(), cmd.ErrOrStderr(), what, -1)
	defer bar.Done()
	return work(bar)
}
