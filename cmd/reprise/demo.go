package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"time"

	"github.com/spf13/cobra"

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
	cmd := newCommand("demo")
	cmd.Args = noArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return demo(cmd) }
	return cmd
}

func demo(cmd *cobra.Command) error {
	out := cmd.OutOrStdout()
	fmt.Fprintln(out, "The NAS benchmark LU, class W, on 16 processes, as SimGrid recorded it")

	var s summary
	in := simgrid.NewReader(bytes.NewReader(demoTrace), simgrid.Options{})
	defer in.Close()
	begin := time.Now()
	file, err := s.compress(cmd, in, -1)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "  read and compressed %s in %.2f s\n", text.Plural(s.Calls, "call"), time.Since(begin).Seconds())

	trace, err := reopen(file)
	if err != nil {
		return err
	}
	again := simgrid.NewReader(bytes.NewReader(demoTrace), simgrid.Options{})
	defer again.Close()
	begin = time.Now()
	err = withProgress(cmd, "verify", func(bar *progress) error { return newComparison(trace).compare(again, bar) })
	if err != nil {
		return fmt.Errorf("the trace differs from what it was made from: %w", err)
	}
	fmt.Fprintf(out, "  verified every call of every rank in %.2f s\n\n", time.Since(begin).Seconds())

	sizes := textSizes{Plain: s.TextBytes}
	err = withProgress(cmd, "gzip and zstd", func(bar *progress) error { return sizes.compress(cmd.Context(), trace, bar) })
	if err != nil {
		return err
	}
	printSizes(out, &sizes, uint64(len(file)))
	rank, err := trace.Rank(0)
	if err != nil {
		return err
	}
	times, err := query.OpenTimes(trace)
	if err != nil {
		return err
	}
	fmt.Fprint(out, "\nRank 0: ")
	q := &question{Command: cmd, trace: trace}
	l := &loops{LoopTree: answers.LoopTree{Loops: times.RankLoops(rank), Call: callsOfRank(trace, rank)}, different: rank.Terminals()}
	q.folded(func() { l.print(q) })
	return nil
}

// withProgress does work of unknown length under a progress bar.
func withProgress(cmd *cobra.Command, what string, work func(*progress) error) error {
	bar := newProgress(cmd.Context(), cmd.ErrOrStderr(), what, -1)
	defer bar.done()
	return work(bar)
}
