package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/ti"
	"github.com/reprise-trace/reprise/tracer"
)

// sourceTI is the source of traces made from SimGrid's.
const sourceTI = "SimGrid TI"

func newCompress() *cobra.Command {
	var (
		output string
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "compress IN... -o OUT.rpz",
		Short: "Compress a SimGrid time-independent trace",
		Long: `Compress a SimGrid time-independent trace: one file for all ranks, one file a
rank, the list file that names them, or the directory they are in; plain, .gz or
.zst. The input - is standard input, the output - standard output.

Every byte comes back with "reprise cat". The output appears when it is complete.`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return usageError{errors.New("compress takes the files of a trace")}
			case output == "":
				return usageError{errors.New("compress needs -o OUT.rpz")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return compressFiles(cmd, args, output, asJSON)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the summary as JSON")
	return cmd
}

// A summary is what compress reports.
type summary struct {
	Input      []string `json:"input"`
	Output     string   `json:"output"`
	Ranks      int      `json:"ranks"`
	Calls      uint64   `json:"calls"`
	TextBytes  uint64   `json:"text_bytes"`
	TraceBytes int64    `json:"trace_bytes"`
	Foreign    uint64   `json:"foreign_lines"`
	Comments   uint64   `json:"comment_lines"`
	Incomplete []string `json:"incomplete,omitempty"`
}

func compressFiles(cmd *cobra.Command, paths []string, output string, asJSON bool) error {
	in, err := ti.Open(paths, ti.Options{Stdin: cmd.InOrStdin()})
	if err != nil {
		return err
	}
	defer in.Close()
	var size counter
	err = writeOutput(cmd, output, func(w io.Writer) error {
		bar := newProgress(cmd.Context(), cmd.ErrOrStderr(), "compress", textSize(paths))
		defer bar.done()
		return compress(in, io.MultiWriter(w, &size), bar)
	})
	if err != nil {
		return err
	}
	stats := in.Stats()
	s := summary{
		Input: paths, Output: output, Calls: stats.Calls, Ranks: stats.Ranks, TextBytes: stats.Bytes,
		TraceBytes: int64(size), Foreign: stats.Foreign, Comments: stats.Comments,
	}
	for _, i := range in.Incomplete() {
		s.Incomplete = append(s.Incomplete, i.String())
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
}

func (s summary) print(stdout, stderr io.Writer) {
	fmt.Fprintf(stdout, "%s: %d ranks, %s calls, %s bytes of text -> %s: %s bytes, %s\n", strings.Join(s.Input, " "), s.Ranks,
		comma(s.Calls), comma(s.TextBytes), s.Output, humanize.Comma(s.TraceBytes), ratio(s.TextBytes, uint64(s.TraceBytes)))
	if s.Foreign > 0 {
		fmt.Fprintf(stderr, "reprise: warning: %s lines outside the grammar of the format, kept as they are\n", comma(s.Foreign))
	}
	const most = 5
	for i, text := range s.Incomplete {
		if i == most {
			fmt.Fprintf(stderr, "reprise: warning: %d more places where calls are missing\n", len(s.Incomplete)-most)
			break
		}
		fmt.Fprintf(stderr, "reprise: warning: %s\n", text)
	}
}

// compress writes the calls of in as a trace. What it holds grows with the
// structure found, not with the number of calls.
func compress(in *ti.Reader, w io.Writer, bar *progress) error {
	var (
		functions = ti.Functions()
		ranks     = make(map[int]*tiRank)
		order     sequitur.Builder // the rank of each line
		sorted    = true           // the ranks so far stand one after another
		last      *tiRank
	)
	for {
		c, err := in.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if last == nil || c.Rank != last.rank {
			sorted = sorted && (last == nil || c.Rank > last.rank)
			if last = ranks[c.Rank]; last == nil {
				last = &tiRank{rank: c.Rank, numbers: make([]int, len(functions))}
				ranks[c.Rank] = last
			}
		}
		last.call(functions, c)
		order.Append(sequitur.Symbol(c.Rank))
		if err := bar.step(in.Stats().Bytes); err != nil {
			return err
		}
	}
	run := merge.Run{Source: sourceTI}
	if !sorted {
		run.Interleaving = order.Finish()
	}
	var parts []merge.Part
	for _, rank := range slices.Sorted(maps.Keys(ranks)) {
		parts = append(parts, ranks[rank].Finish(rank))
		run.Ranks = rank + 1
	}
	return merge.Write(w, run, parts)
}

// A tiRank records the calls of one rank of a SimGrid trace.
type tiRank struct {
	tracer.Recorder
	rank    int
	numbers []int // by index of ti.Functions, the number in the Recorder plus one, or 0
}

func (r *tiRank) call(functions []cst.Function, c ti.Call) {
	if r.numbers[c.Function] == 0 {
		r.numbers[c.Function] = r.Declare(functions[c.Function]) + 1
	}
	r.Call(r.numbers[c.Function]-1, c.Args...)
}

// textSize returns the number of bytes in files, or −1 if that is not the
// number of bytes of text.
func textSize(paths []string) int64 {
	var n int64
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil || !info.Mode().IsRegular() || strings.HasSuffix(p, ".gz") || strings.HasSuffix(p, ".zst") {
			return -1
		}
		n += info.Size()
	}
	return n
}

// writeOutput creates the file at path with what write writes, or leaves
// everything as it was if that fails. The path - is standard output.
func writeOutput(cmd *cobra.Command, path string, write func(io.Writer) error) error {
	if path == "-" {
		return write(cmd.OutOrStdout())
	}
	f, err := renameio.NewPendingFile(path, renameio.WithPermissions(0o666))
	if err != nil {
		return err
	}
	defer f.Cleanup()
	if err := write(f); err != nil {
		return err
	}
	return f.CloseAtomicallyReplace()
}

// A counter counts the bytes written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

func comma(n uint64) string { return humanize.Comma(int64(n)) }

// ratio returns how many times smaller than text a size is.
func ratio(text, size uint64) string {
	if size == 0 {
		return "-"
	}
	r := float64(text) / float64(size)
	if r < 100 {
		return fmt.Sprintf("%.1f:1", r)
	}
	return humanize.Comma(int64(r)) + ":1"
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

