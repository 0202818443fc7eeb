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
rank, the list file that names these, or the directory they are in, where they
are called …_rank-1.txt and so on; plain, .gz or .zst. A list or a directory is
given alone. The input - is standard input, the output - standard output.

Every byte comes back with "reprise cat": comments, blank lines and lines of
another form are kept as they are, and count as calls. The output appears when it
is complete: if the work fails or is interrupted, what was there stays.

Warnings say what may be wrong with the input; the output is written, and the
exit status is 0.
  lines outside the grammar  no action of the format, or one spelled otherwise,
                             such as with CR LF at the end; takes more space
  no init, no finalize       the lines of the rank are cut off
  no lines                   the rank is missing
  init again                 the lines of the rank are there twice`,
		Example: `  reprise compress lu.W.64.ti.zst -o lu.rpz
  reprise compress trace.txt -o run.rpz     # a trace, or the list of its files
  reprise compress trace_files -o run.rpz   # the directory of these files
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

func compressFiles(cmd *cobra.Command, paths []string, output string, asJSON bool) error {
	in, err := ti.Open(paths, ti.Options{Stdin: cmd.InOrStdin()})
	if err != nil {
		return err
	}
	defer in.Close()
	s := summary{Input: paths, Output: output, Incomplete: []string{}, Restarts: []string{}}
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
// them. If there are none, it fails.
func (s *summary) compress(in *ti.Reader, w io.Writer, bar *progress) error {
	run, parts, err := ti.Record(in, func() error { return bar.at(in.Stats().Bytes) })
	if err != nil {
		return err
	}
	stats := in.Stats()
	if stats.Calls == 0 {
		return fmt.Errorf("%s: there is no line to compress", s.inputs())
	}
	s.Ranks, s.Active, s.Calls, s.TextBytes = run.Ranks, len(parts), stats.Calls, stats.Bytes
	s.Foreign, s.Comments = stats.Foreign, stats.Comments
	if f, ok := in.FirstForeign(); ok {
		s.First = f.String()
	}
	for _, i := range in.Incomplete() {
		s.Incomplete = append(s.Incomplete, i.String())
	}
	for _, r := range in.Restarts() {
		s.Restarts = append(s.Restarts, r.String())
	}
	return merge.Write(w, run, parts)
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
