package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/ti"
)

func newCompress() *cobra.Command {
	var (
		output       string
		size         int
		part, asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "compress IN... -o OUT.rpz",
		Short: "Compress a SimGrid time-independent trace",
		Long: `Compress a SimGrid time-independent trace: one file for all ranks, one file a
rank, the list file that names these, or the directories they are in, where they
are called …_rank-1.txt and so on; plain, .gz or .zst. Directories are not
searched in depth. Files with such names are read in the order of their numbers,
others as they are given; two of one name, as in the directories of two nodes,
are one rank twice, and an error. The input - is standard input, the output -
standard output.

Every byte comes back with "reprise cat": comments, blank lines and lines of
another form are kept as they are, and count as calls. The output appears when
it is complete: if the work fails or is interrupted, what was there stays.

How many ranks the run has, --ranks tells, or a list of the files of ranks,
which may be in a directory with some of them. Otherwise it has those up to the
last that has lines.

With --part the output is a part file of the ranks in the input, which may be
some of the ranks of a run: "reprise merge" makes a trace of part files. Other
commands read a part file like a trace.

Warnings say what may be wrong with the input; the output is written, and the
exit status is 0.
  lines outside the grammar  no action of the format, or one spelled otherwise,
                             such as with CR LF at the end; takes more space
  no init, no finalize       the lines of the rank are cut off
  no lines                   the rank is missing (not with --part)
  names rank                 a call names a rank that the run does not have:
                             ranks at the end may be missing (not with --part)
  init again                 the lines of the rank are there twice
  not read                   other files in a directory, and directories in it`,
		Example: `  reprise compress lu.W.64.ti.zst -o lu.rpz
  reprise compress trace.txt -o run.rpz     # a trace, or the list of its files
  reprise compress trace_files -o run.rpz   # the directory of these files
  reprise compress node1 node2 -o run.rpz   # those of several nodes
  xz -dc trace.txt.xz | reprise compress - -o run.rpz
  reprise compress --part --ranks 64 trace_rank-7.txt -o 7.part.rpz`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return usageError{errors.New("compress takes the files of a trace")}
			case output == "":
				return usageError{errors.New("compress needs -o OUT.rpz")}
			}
			return checkSize(cmd, size)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return compressFiles(cmd, args, output, size, part, asJSON)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "the `file` to write")
	addSize(cmd, &size)
	cmd.Flags().BoolVar(&part, "part", false, "write a part file, to be merged with others")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the summary as JSON")
	return cmd
}

func compressFiles(cmd *cobra.Command, paths []string, output string, size int, part, asJSON bool) error {
	in, err := ti.Open(paths, ti.Options{Ranks: size, Stdin: cmd.InOrStdin()})
	if err != nil {
		return err
	}
	defer in.Close()
	s := summary{Input: paths, Output: output, Part: part, Incomplete: []string{}, Restarts: []string{}, Ignored: []string{}}
	err = writeOutput(cmd, output, append(in.Files(), paths...), func(w io.Writer) error {
		file, err := s.compress(cmd, in, textSize(paths))
		if err != nil {
			return err
		}
		_, err = w.Write(file)
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

// compress returns the trace of the calls of in, which are total bytes of text or
// −1, and fills in what is known of them. If there are none, it fails.
func (s *summary) compress(cmd *cobra.Command, in *ti.Reader, total int64) ([]byte, error) {
	bar := newProgress(cmd.Context(), cmd.ErrOrStderr(), "compress", total)
	run, parts, err := ti.Record(in, func() error { return bar.at(in.Stats().Bytes) })
	bar.done()
	if err != nil {
		return nil, err
	}
	if in.Stats().Calls == 0 {
		return nil, fmt.Errorf("%s: there is no line to compress", s.inputs())
	}
	s.Ranks, s.Active = run.Ranks, len(parts)
	s.describe(in)
	a, err := accumulate(cmd, run, parts)
	if err != nil {
		return nil, err
	}
	if !s.Part {
		s.Beyond = highestPeer(a).beyond(run.Ranks)
	}
	file, err := encodeTrace(cmd, a, s.Part)
	s.TraceBytes = int64(len(file))
	return file, err
}

// describe fills in what is known of lines that were read.
func (s *summary) describe(in *ti.Reader) {
	stats := in.Stats()
	s.Calls, s.TextBytes = stats.Calls, stats.Bytes
	s.Foreign, s.Comments = stats.Foreign, stats.Comments
	if f, ok := in.FirstForeign(); ok {
		s.First = f.String()
	}
	for _, i := range in.Incomplete() {
		if missing := i.File == "" && i.Line == 0; !missing || !s.Part {
			s.Incomplete = append(s.Incomplete, i.String())
		}
	}
	s.known = in.Ranks() > 0
	s.Ignored = append(s.Ignored, in.Ignored()...)
	for _, r := range in.Restarts() {
		s.Restarts = append(s.Restarts, r.String())
	}
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
