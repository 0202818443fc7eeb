package compress

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

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/simgrid"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// A WriteOptions is how compress and merge write a trace.
type WriteOptions struct {
	Output     string
	Size       int // of the run, in ranks; 0 if it is not given
	Part, JSON bool
	Bounded    cli.ByteFlag // the most that the trace may take; 0 if it is not bounded
}

// maxSize is the largest number of ranks of a run that --size can say.
const maxSize = 1 << 24

// AddBounded adds the flag for the most bytes that a trace may take.
func AddBounded(f *pflag.FlagSet, size *cli.ByteFlag) {
	f.Var(size, "bounded", "make the trace fit a `size`, such as 16kB, by leaving details out")
	f.Lookup("bounded").DefValue = "exact, of any size"
}

// NewWriter returns a command that writes a trace of some inputs.
func NewWriter(name, inputs string,
	write func(cmd *cobra.Command, args []string, o *WriteOptions) error) *cobra.Command {
	cmd := cli.NewCommand(name)
	var o WriteOptions
	f := cmd.Flags()
	f.StringVarP(&o.Output, "output", "o", "", "the `file` to write")
	f.IntVar(&o.Size, "size", 0, "`number` of ranks of the run")
	f.Lookup("size").DefValue = "up to the last with calls"
	f.BoolVar(&o.Part, "part", false, "write a part file, for reprise merge")
	AddBounded(f, &o.Bounded)
	f.BoolVar(&o.JSON, "json", false, "print the summary as JSON")
	cmd.Args = func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return cli.BadUsage(fmt.Errorf("%s takes %s", name, inputs))
		case o.Output == "":
			return cli.BadUsage(fmt.Errorf("%s needs -o OUT.rpz", name))
		case f.Changed("bounded") && o.Part:
			return cli.BadUsage(
				errors.New("--bounded does not go with --part: a trace is made to fit when its parts are merged"))
		case f.Changed("size") && (o.Size < 1 || o.Size > maxSize):
			return cli.BadUsage(fmt.Errorf("--size is from 1 to %s, not %d", text.Count(maxSize), o.Size))
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return write(cmd, args, &o) }
	return cmd
}

func NewCompress() *cobra.Command {
	var (
		outside bool
		times   cli.TimesFlag
	)
	cmd := NewWriter("compress", "the files of a trace",
		func(cmd *cobra.Command, paths []string, o *WriteOptions) error {
			if isArchive(paths) {
				return compressArchive(cmd, paths[0], o, &times)
			}
			if f := cmd.Flags(); f.Changed("times") || f.Changed("error") {
				return cli.BadUsage(
					errors.New("--times and --error are for archives of OTF2: SimGrid's text has no times"))
			}
			return compressFiles(cmd, paths, o, outside)
		})
	times.AddTo(cmd)
	addOutside(cmd.Flags(), &outside)
	return cmd
}

// addOutside adds the flag that lets lists name any file.
func addOutside(f *pflag.FlagSet, outside *bool) {
	f.BoolVar(outside, "outside", false, "read also pipes and files outside the directory of a list")
}

func compressFiles(cmd *cobra.Command, paths []string, o *WriteOptions, outside bool) error {
	cli.Impatient.Store(true)
	if err := cli.CheckInputs(paths); err != nil {
		return err
	}
	in, err := simgrid.Open(paths, simgrid.Options{Ranks: o.Size, Bounded: int64(o.Bounded),
		Memory: cli.MemoryOf(cmd.Context()), Outside: outside, Stdin: cmd.InOrStdin()})
	if err != nil {
		return err
	}
	defer in.Close()
	s := Summary{Schema: cli.Schema, bound: int64(o.Bounded), Input: paths, Output: o.Output, Part: o.Part,
		Incomplete: []string{}, Restarts: []string{}, Ignored: []string{}}
	err = cli.WriteOutput(cmd, o.Output, append(in.Files(), paths...), func(w io.Writer) error {
		cmd.SetContext(cli.Together(cmd.Context(), false))
		file, err := s.Compress(cmd, in, textSize(paths))
		if err != nil {
			return err
		}
		_, err = w.Write(file)
		return err
	})
	if err != nil {
		return err
	}
	out := cli.SummaryOf(cmd, o.Output)
	if o.JSON {
		return cli.PrintJSON(out, s)
	}
	s.print(out, cmd.ErrOrStderr())
	return nil
}

// Compress returns the trace of the calls of in, which are total bytes of text or
// −1, and fills in what is known of them. If there are none, it fails.
func (s *Summary) Compress(cmd *cobra.Command, in *simgrid.Reader, total int64) ([]byte, error) {
	bar := cli.NewProgress(cmd.Context(), cmd.ErrOrStderr(), "compress", total)
	ranks, err := simgrid.ReadRanks(in, func() error { return bar.At(in.Stats().Bytes) })
	bar.Done()
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
		s.Beyond = HighestPeer(a).Beyond(s.Ranks)
	}
	file, err := EncodeTrace(cmd, a, s.Part, s.bound)
	s.TraceBytes = int64(len(file))
	return file, err
}

// describe fills in what is known of lines that were read.
func (s *Summary) describe(in *simgrid.Reader) {
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

// A Summary is what compress reports.
type Summary struct {
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
	Beyond     *Beyond  `json:"beyond"`   // null if calls name only ranks of the run

	known bool  // the number of ranks, without the lines
	bound int64 // of the bytes of the trace; 0 if there is none
}

// inputs returns the names of the inputs, or their number if that is long.
func (s *Summary) inputs() string {
	const most = 3
	switch {
	case len(s.Input) > most:
		return text.Plural(len(s.Input), "file")
	case len(s.Input) == 1 && s.Input[0] == "-":
		return "standard input"
	}
	return strings.Join(s.Input, " ")
}

func (s *Summary) print(stdout, stderr io.Writer) {
	ranks := cli.RankCount(s.Ranks, s.Active)
	if s.Part {
		ranks = text.Plural(s.Active, "rank")
	}
	fmt.Fprintf(stdout, "%s: %s, %s, %s of text -> %s: %s, %s\n", text.Printable(s.inputs()), ranks,
		text.Plural(s.Calls, "call"), text.Plural(s.TextBytes, "byte"), text.Printable(s.Output),
		text.Plural(s.TraceBytes, "byte"),
		text.Ratio(s.TextBytes, uint64(s.TraceBytes)))
	if s.Foreign > 0 {
		cli.Warn(stderr, "%s outside the grammar of the format, kept as they are; the first is %s",
			text.Plural(s.Foreign, "line"), s.First)
	}
	warnPlaces(stderr, s.Incomplete, "where calls are missing")
	warnPlaces(stderr, s.Restarts, "where a rank begins again")
	s.Beyond.Warn(stderr, s.known)
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
		cli.Warn(stderr, "not read, because their names are not …_rank-1.txt and so on: %s", cli.FirstOf(files))
	}
	if len(directories) > 0 {
		cli.Warn(stderr, "not read, because subdirectories are not searched: %s", cli.FirstOf(directories))
	}
}

// warnPlaces writes a warning for each place, up to a few.
func warnPlaces(stderr io.Writer, places []string, what string) {
	const most = 5
	for i, line := range places {
		if i == most {
			cli.Warn(stderr, "%s more %s", text.Plural(len(places)-most, "place"), what)
			break
		}
		cli.Warn(stderr, "%s", line)
	}
}

// A Beyond is a call that names a rank which the run does not have.
type Beyond struct {
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

func HighestPeer(a *merge.Accumulator) peer {
	p, ok := a.HighestPeer()
	return peer{p, ok}
}

// Beyond returns what is wrong with p in a run of so many ranks, or nil.
func (p peer) Beyond(ranks int) *Beyond {
	if !p.ok || p.Rank < int64(ranks) {
		return nil
	}
	return &Beyond{p.Rank, p.Caller, p.Function, ranks}
}

// Warn writes a warning, unless b is nil. Given says that the number of ranks was
// given.
func (b *Beyond) Warn(stderr io.Writer, given bool) {
	if b == nil {
		return
	}
	cure := "; --size says how many there are"
	if given {
		cure = ""
	}
	cli.Warn(stderr, "rank %d names rank %d in a call of %s, which is not one of the %s%s",
		b.Caller, b.Rank, text.Printable(b.Function), text.Plural(b.ranks, "rank"), cure)
}

// DescribeRun adds the description of a run that comes from a file to a, each of
// its sources for itself.
func DescribeRun(a *merge.Accumulator, run merge.Run) error {
	for source := range strings.SplitSeq(run.Source, cli.SourceSeparator) {
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
	bar := cli.NewCounter(cmd.Context(), cmd.ErrOrStderr(), "merge", int64(all), "ranks")
	defer bar.Done()
	a, err := merge.Tree(cmd.Context(), leaves, func(_ context.Context, i int) (*merge.Accumulator, error) {
		var a merge.Accumulator
		for k := i * ranksPerLeaf; k < min(all, (i+1)*ranksPerLeaf); k++ {
			if err := a.Add(ranks.Part(k)); err != nil {
				return nil, err
			}
		}
		return &a, nil
	}, merge.TreeOptions{Progress: func(done int) { bar.Show(uint64(min(done*ranksPerLeaf, all))) }})
	if err != nil {
		return nil, err
	}
	return a, a.Describe(ranks.Run)
}

// Encode returns what write writes, or an error as soon as the work is cancelled:
// it does not wait until write has noticed that.
func Encode(cmd *cobra.Command, write func(io.Writer) error) ([]byte, error) {
	return encode(cmd, new(merge.Accumulator), write)
}

// encode is Encode, of what a has.
func encode(cmd *cobra.Command, a *merge.Accumulator, write func(io.Writer) error) ([]byte, error) {
	bar := cli.NewCounter(cmd.Context(), cmd.ErrOrStderr(), "write", -1, "")
	defer bar.Done()
	a.OnProgress(bar.Say)
	var file bytes.Buffer
	done := make(chan error, 1)
	go func() { done <- write(&file) }()
	select {
	case <-cmd.Context().Done():
		return nil, cmd.Context().Err()
	case err := <-done:
		if large := new(format.MemoryError); errors.As(err, &large) {
			cli.Warn(cmd.ErrOrStderr(),
				"reading this takes more memory than the default: %v; commands that read it need --memory %dMiB", large, large.Need>>20+1)
			err = nil
		}
		return file.Bytes(), err
	}
}

// EncodeTrace returns the trace, or the part file, of what a has: a trace of so many bytes at most,
// unless that is 0.
func EncodeTrace(cmd *cobra.Command, a *merge.Accumulator, part bool, bound int64) ([]byte, error) {
	if a.LeavesOutRankTimes(part) {
		cli.Warn(cmd.ErrOrStderr(),
			"the trace leaves out the times of each rank, which would be too many: its statistics are of all ranks together")
	}
	if part {
		return encode(cmd, a, a.WritePart)
	}
	if bound == 0 {
		return encode(cmd, a, func(w io.Writer) error { return a.WriteContext(cmd.Context(), w) })
	}
	file, err := encode(cmd, a, func(w io.Writer) error { return a.WriteBounded(cmd.Context(), w, bound, spec.Keep) })
	if large := new(merge.BoundError); errors.As(err, &large) {
		err = unboundedError{large}
	}
	return file, err
}

// An unboundedError is a [merge.BoundError] in the words of the command.
type unboundedError struct{ *merge.BoundError }

func (e unboundedError) Error() string {
	return fmt.Sprintf(
		"calls by function and rank, and messages and bytes by pair of ranks, take %s: --bounded must be at least this", text.Plural(e.Least, "byte"))
}

func (e unboundedError) Unwrap() error { return e.BoundError }
