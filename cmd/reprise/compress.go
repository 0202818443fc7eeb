package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/simgrid"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// A writeOptions is how compress and merge write a trace.
type writeOptions struct {
	output     string
	size       int // of the run, in ranks; 0 if it is not given
	part, json bool
	bounded    byteFlag // the most that the trace may take; 0 if it is not bounded
}

// maxSize is the largest number of ranks of a run that --size can say.
const maxSize = 1 << 24

// addBounded adds the flag for the most bytes that a trace may take.
func addBounded(f *pflag.FlagSet, size *byteFlag) {
	f.Var(size, "bounded", "make the trace fit a `size`, such as 16kB, by leaving details out")
	f.Lookup("bounded").DefValue = "exact, of any size"
}

// newWriter returns a command that writes a trace of some inputs.
func newWriter(name, inputs string, write func(cmd *cobra.Command, args []string, o *writeOptions) error) *cobra.Command {
	cmd := newCommand(name)
	var o writeOptions
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", "", "the `file` to write")
	f.IntVar(&o.size, "size", 0, "`number` of ranks of the run")
	f.Lookup("size").DefValue = "up to the last with calls"
	f.BoolVar(&o.part, "part", false, "write a part file, for reprise merge")
	addBounded(f, &o.bounded)
	f.BoolVar(&o.json, "json", false, "print the summary as JSON")
	cmd.Args = func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return badUsage(fmt.Errorf("%s takes %s", name, inputs))
		case o.output == "":
			return badUsage(fmt.Errorf("%s needs -o OUT.rpz", name))
		case f.Changed("bounded") && o.part:
			return badUsage(errors.New("--bounded does not go with --part: a trace is made to fit when its parts are merged"))
		case f.Changed("size") && (o.size < 1 || o.size > maxSize):
			return badUsage(fmt.Errorf("--size is from 1 to %s, not %d", text.Count(maxSize), o.size))
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return write(cmd, args, &o) }
	return cmd
}

func newCompress() *cobra.Command {
	var outside bool
	cmd := newWriter("compress", "the files of a trace", func(cmd *cobra.Command, paths []string, o *writeOptions) error {
		return compressFiles(cmd, paths, o, outside)
	})
	addOutside(cmd.Flags(), &outside)
	return cmd
}

// addOutside adds the flag that lets lists name any file.
func addOutside(f *pflag.FlagSet, outside *bool) {
	f.BoolVar(outside, "outside", false, "read also pipes and files outside the directory of a list")
}

func compressFiles(cmd *cobra.Command, paths []string, o *writeOptions, outside bool) error {
	impatient.Store(true)
	if err := checkInputs(paths); err != nil {
		return err
	}
	in, err := simgrid.Open(paths, simgrid.Options{Ranks: o.size, Bounded: int64(o.bounded), Memory: memoryOf(cmd.Context()), Outside: outside, Stdin: cmd.InOrStdin()})
	if err != nil {
		return err
	}
	defer in.Close()
	s := summary{Schema: schema, bound: int64(o.bounded), Input: paths, Output: o.output, Part: o.part, Incomplete: []string{}, Restarts: []string{}, Ignored: []string{}}
	err = writeOutput(cmd, o.output, append(in.Files(), paths...), func(w io.Writer) error {
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
	out := summaryOf(cmd, o.output)
	if o.json {
		return printJSON(out, s)
	}
	s.print(out, cmd.ErrOrStderr())
	return nil
}

// compress returns the trace of the calls of in, which are total bytes of text or
// −1, and fills in what is known of them. If there are none, it fails.
func (s *summary) compress(cmd *cobra.Command, in *simgrid.Reader, total int64) ([]byte, error) {
	bar := newProgress(cmd.Context(), cmd.ErrOrStderr(), "compress", total)
	ranks, err := simgrid.ReadRanks(in, func() error { return bar.at(in.Stats().Bytes) })
	bar.done()
	if err != nil {
		return nil, err
	}
	if in.Stats().Calls == 0 {
		return nil, fmt.Errorf("%s: there is no line to compress", s.inputs())
	}
	s.Ranks, s.Active = ranks.Run.Ranks, ranks.Len()
	s.describe(in)
	a, err := accumulate(cmd, ranks)
	if err != nil {
		return nil, err
	}
	if !s.Part {
		s.Beyond = highestPeer(a).beyond(s.Ranks)
	}
	file, err := encodeTrace(cmd, a, s.Part, s.bound)
	s.TraceBytes = int64(len(file))
	return file, err
}

// describe fills in what is known of lines that were read.
func (s *summary) describe(in *simgrid.Reader) {
	stats := in.Stats()
	s.Calls, s.TextBytes = stats.Calls, stats.Bytes
	s.Foreign, s.Comments = stats.Foreign, stats.Comments
	r := in.Report(!s.Part)
	s.First = r.Foreign
	s.Incomplete = append(s.Incomplete, r.Incomplete...)
	s.Restarts = append(s.Restarts, r.Restarts...)
	s.Ignored = append(s.Ignored, r.Ignored...)
	s.known = in.Ranks() > 0
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

// A summary is what compress reports.
type summary struct {
	Schema     int      `json:"schema"`
	Input      []string `json:"input"`
	Output     string   `json:"output"`
	Part       bool     `json:"part"` // a part file, not a trace
	Ranks      int      `json:"run_ranks"`
	Active     int      `json:"ranks"` // with calls
	Calls      uint64   `json:"calls"`
	TextBytes  uint64   `json:"text_bytes"`
	TraceBytes int64    `json:"trace_bytes"`
	Foreign    uint64   `json:"foreign_lines"`
	First      string   `json:"first_foreign_line"` // its place and text; empty if there is none
	Comments   uint64   `json:"comment_lines"`
	Incomplete []string `json:"incomplete"`
	Restarts   []string `json:"restarts"`
	Ignored    []string `json:"not_read"` // of directories
	Beyond     *beyond  `json:"beyond"`   // null if calls name only ranks of the run

	known bool  // the number of ranks, without the lines
	bound int64 // of the bytes of the trace; 0 if there is none
}

// inputs returns the names of the inputs, or their number if that is long.
func (s *summary) inputs() string {
	const most = 3
	switch {
	case len(s.Input) > most:
		return text.Plural(len(s.Input), "file")
	case len(s.Input) == 1 && s.Input[0] == "-":
		return "standard input"
	}
	return strings.Join(s.Input, " ")
}

func (s *summary) print(stdout, stderr io.Writer) {
	ranks := rankCount(s.Ranks, s.Active)
	if s.Part {
		ranks = text.Plural(s.Active, "rank")
	}
	fmt.Fprintf(stdout, "%s: %s, %s, %s of text -> %s: %s, %s\n", text.Printable(s.inputs()), ranks,
		text.Plural(s.Calls, "call"), text.Plural(s.TextBytes, "byte"), text.Printable(s.Output), text.Plural(s.TraceBytes, "byte"),
		text.Ratio(s.TextBytes, uint64(s.TraceBytes)))
	if s.Foreign > 0 {
		warn(stderr, "%s outside the grammar of the format, kept as they are; the first is %s",
			text.Plural(s.Foreign, "line"), s.First)
	}
	warnPlaces(stderr, s.Incomplete, "where calls are missing")
	warnPlaces(stderr, s.Restarts, "where a rank begins again")
	s.Beyond.warn(stderr, s.known)
	warnIgnored(stderr, s.Ignored)
}

// warnIgnored warns of what is in directories and was not read: other files, and
// other directories, whose paths end in a separator.
func warnIgnored(stderr io.Writer, paths []string) {
	var files, directories []string
	for _, p := range paths {
		if strings.HasSuffix(p, string(filepath.Separator)) {
			directories = append(directories, p)
		} else {
			files = append(files, p)
		}
	}
	if len(files) > 0 {
		warn(stderr, "not read, because their names are not …_rank-1.txt and so on: %s", firstOf(files))
	}
	if len(directories) > 0 {
		warn(stderr, "not read, because subdirectories are not searched: %s", firstOf(directories))
	}
}

// warnPlaces writes a warning for each place, up to a few.
func warnPlaces(stderr io.Writer, places []string, what string) {
	const most = 5
	for i, line := range places {
		if i == most {
			warn(stderr, "%s more %s", text.Plural(len(places)-most, "place"), what)
			break
		}
		warn(stderr, "%s", line)
	}
}

// A beyond is a call that names a rank which the run does not have.
type beyond struct {
	Rank     int64  `json:"rank"`
	Caller   int    `json:"caller"`
	Function string `json:"function"`

	ranks int // of the run
}

// A peer is the highest rank that calls name, if they name any.
type peer struct {
	merge.Peer
	ok bool
}

func highestPeer(a *merge.Accumulator) peer {
	p, ok := a.HighestPeer()
	return peer{p, ok}
}

// beyond returns what is wrong with p in a run of so many ranks, or nil.
func (p peer) beyond(ranks int) *beyond {
	if !p.ok || p.Rank < int64(ranks) {
		return nil
	}
	return &beyond{p.Rank, p.Caller, p.Function, ranks}
}

// warn writes a warning, unless b is nil. Given says that the number of ranks was
// given.
func (b *beyond) warn(stderr io.Writer, given bool) {
	if b == nil {
		return
	}
	cure := "; --size says how many there are"
	if given {
		cure = ""
	}
	warn(stderr, "rank %d names rank %d in a call of %s, which is not one of the %s%s",
		b.Caller, b.Rank, text.Printable(b.Function), text.Plural(b.ranks, "rank"), cure)
}

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

// accumulate merges the parts of ranks on all cores.
func accumulate(cmd *cobra.Command, ranks *simgrid.Recording) (*merge.Accumulator, error) {
	all := ranks.Len()
	leaves := (all + ranksPerLeaf - 1) / ranksPerLeaf
	bar := newCounter(cmd.Context(), cmd.ErrOrStderr(), "merge", int64(all), "ranks")
	defer bar.done()
	a, err := merge.Tree(cmd.Context(), leaves, func(_ context.Context, i int) (*merge.Accumulator, error) {
		var a merge.Accumulator
		for k := i * ranksPerLeaf; k < min(all, (i+1)*ranksPerLeaf); k++ {
			if err := a.Add(ranks.Part(k)); err != nil {
				return nil, err
			}
		}
		return &a, nil
	}, merge.TreeOptions{Progress: func(done int) { bar.show(uint64(min(done*ranksPerLeaf, all))) }})
	if err != nil {
		return nil, err
	}
	return a, a.Describe(ranks.Run)
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
		if large := new(format.MemoryError); errors.As(err, &large) {
			warn(cmd.ErrOrStderr(), "reading this takes more memory than the default: %v; commands that read it need --memory %dMiB", large, large.Need>>20+1)
			err = nil
		}
		return file.Bytes(), err
	}
}

// encodeTrace returns the trace, or the part file, of what a has: a trace of so many bytes at most,
// unless that is 0.
func encodeTrace(cmd *cobra.Command, a *merge.Accumulator, part bool, bound int64) ([]byte, error) {
	if a.LeavesOutRankTimes(part) {
		warn(cmd.ErrOrStderr(), "the trace leaves out the times of each rank, which would be too many: its statistics are of all ranks together")
	}
	if part {
		return encode(cmd, a.WritePart)
	}
	if bound == 0 {
		return encode(cmd, func(w io.Writer) error { return a.WriteContext(cmd.Context(), w) })
	}
	file, err := encode(cmd, func(w io.Writer) error { return a.WriteBounded(cmd.Context(), w, bound, spec.Keep) })
	if large := new(merge.BoundError); errors.As(err, &large) {
		err = unboundedError{large}
	}
	return file, err
}

// An unboundedError is a [merge.BoundError] in the words of the command.
type unboundedError struct{ *merge.BoundError }

func (e unboundedError) Error() string {
	return fmt.Sprintf("calls by function and rank, and messages and bytes by pair of ranks, take %s: --bounded must be at least this", text.Plural(e.Least, "byte"))
}

func (e unboundedError) Unwrap() error { return e.BoundError }
