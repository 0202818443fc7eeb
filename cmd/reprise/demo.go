package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/ti"
)

// demoTrace is a run of the NAS benchmark LU, class W, on 16 processes.
//
//go:embed testdata/lu.W.16.ti.zst
var demoTrace []byte

func newDemo() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Compress, verify and explain a small real trace",
		Long: `Compress a real trace that is part of this program, verify that every call comes
back, and print the sizes and the loops of rank 0. No file is written.`,
		Example: "  reprise demo",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return demo(cmd) },
	}
}

func demo(cmd *cobra.Command) error {
	out := cmd.OutOrStdout()
	fmt.Fprintln(out, "The NAS benchmark LU, class W, on 16 processes, as SimGrid recorded it")

	var s summary
	in := ti.NewReader(bytes.NewReader(demoTrace), ti.Options{})
	defer in.Close()
	begin := time.Now()
	file, err := s.compress(cmd, in, -1)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "  read and compressed %s in %.2f s\n", text.Plural(s.Calls, "call"), time.Since(begin).Seconds())

	trace, err := reprise.OpenReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return err
	}
	again := ti.NewReader(bytes.NewReader(demoTrace), ti.Options{})
	defer again.Close()
	begin = time.Now()
	err = withProgress(cmd, "verify", func(bar *progress) error { return newComparison(trace, "demo").compare(again, bar) })
	if err != nil {
		return fmt.Errorf("the trace differs from what it was made from: %w", err)
	}
	fmt.Fprintf(out, "  verified every call of every rank in %.2f s\n\n", time.Since(begin).Seconds())

	text := textSizes{Plain: s.TextBytes}
	err = withProgress(cmd, "gzip and zstd", func(bar *progress) error { return text.compress(cmd.Context(), trace, "demo", bar) })
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	printSizes(table, &text, uint64(len(file)))
	table.Flush()

	rank, err := trace.Rank(0)
	if err != nil {
		return err
	}
	fmt.Fprint(out, "\nRank 0: ")
	return rankLoops(rank, trace.Printer(reprise.PrintOptions{})).write(out)
}

// withProgress does work of unknown length under a progress bar.
func withProgress(cmd *cobra.Command, what string, work func(*progress) error) error {
	bar := newProgress(cmd.Context(), cmd.ErrOrStderr(), what, -1)
	defer bar.done()
	return work(bar)
}
