package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/ti"
)

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

Every byte comes back with "reprise cat". The output appears when it is complete:
if the work fails or is interrupted, what was there stays.`,
		Example: `  reprise compress lu.W.64.ti.zst -o lu.rpz
  reprise compress trace.txt -o run.rpz
  xz -dc trace.txt.xz | reprise compress - -o run.rpz`,
		Args: func(_ *cobra.Command, args []string) error {
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
	cmd.Flags().StringVarP(&output, "output", "o", "", "the `file` to write")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the summary as JSON")
	return cmd
}

// A summary is what compress reports.
type summary struct {
	Input      []string `json:"input"`
	Output     string   `json:"output"`
	Ranks      int      `json:"ranks"`
	Active     int      `json:"ranks_with_calls"`
	Calls      uint64   `json:"calls"`
	TextBytes  uint64   `json:"text_bytes"`
	TraceBytes int64    `json:"trace_bytes"`
	Foreign    uint64   `json:"foreign_lines"`
	Comments   uint64   `json:"comment_lines"`
	Incomplete []string `json:"incomplete"`
}

func compressFiles(cmd *cobra.Command, paths []string, output string, asJSON bool) error {
	in, err := ti.Open(paths, ti.Options{Stdin: cmd.InOrStdin()})
	if err != nil {
		return err
	}
	defer in.Close()
	s := summary{Input: paths, Output: output, Incomplete: []string{}}
	err = writeOutput(cmd, output, paths, func(w io.Writer) error {
		bar := newProgress(cmd.Context(), cmd.ErrOrStderr(), "compress", textSize(paths))
		defer bar.done()
		var size counter
		err := s.compress(in, io.MultiWriter(w, &size), bar)
		s.TraceBytes = int64(size)
		return err
	})
	if err != nil {
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
}

// compress writes the calls of in as a trace, and fills in what is known of
// them.
func (s *summary) compress(in *ti.Reader, w io.Writer, bar *progress) error {
	run, parts, err := ti.Record(in, func() error { return bar.at(in.Stats().Bytes) })
	if err != nil {
		return err
	}
	stats := in.Stats()
	s.Ranks, s.Active, s.Calls, s.TextBytes = run.Ranks, len(parts), stats.Calls, stats.Bytes
	s.Foreign, s.Comments = stats.Foreign, stats.Comments
	for _, i := range in.Incomplete() {
		s.Incomplete = append(s.Incomplete, i.String())
	}
	return merge.Write(w, run, parts)
}

func (s *summary) print(stdout, stderr io.Writer) {
	fmt.Fprintf(stdout, "%s: %s, %s, %s of text -> %s: %s, %s\n", strings.Join(s.Input, " "), rankCount(s.Ranks, s.Active),
		plural(s.Calls, "call"), plural(s.TextBytes, "byte"), s.Output, plural(uint64(s.TraceBytes), "byte"),
		ratio(s.TextBytes, uint64(s.TraceBytes)))
	if s.Calls == 0 {
		fmt.Fprintln(stderr, "reprise: warning: the input is empty")
	}
	if s.Foreign > 0 {
		fmt.Fprintf(stderr, "reprise: warning: %s outside the grammar of the format, kept as they are\n", plural(s.Foreign, "line"))
	}
	const most = 5
	for i, text := range s.Incomplete {
		if i == most {
			fmt.Fprintf(stderr, "reprise: warning: %s more where calls are missing\n", plural(uint64(len(s.Incomplete)-most), "place"))
			break
		}
		fmt.Fprintf(stderr, "reprise: warning: %s\n", text)
	}
}

// rankCount returns how many ranks there are, and how many of them with calls.
func rankCount(ranks, active int) string {
	text := plural(uint64(ranks), "rank")
	if active < ranks {
		text += fmt.Sprintf(" (%s with calls)", comma(uint64(active)))
	}
	return text
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
