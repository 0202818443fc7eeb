package merging

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/compress"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/answers"
	"github.com/reprise-trace/reprise/internal/content"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

func NewMerge() *cobra.Command {
	var tree TreeOptions
	cmd := compress.NewWriter("merge", "part files",
		func(cmd *cobra.Command, args []string, o *compress.WriteOptions) error {
			files, launcher := behindDash(cmd, args)
			s := Summary{Schema: cli.Schema, Input: files, Output: o.Output, Part: o.Part, size: o.Size,
				Bound: int64(o.Bounded)}
			s.effort = tree.effort
			switch {
			case tree.effort < 1 || tree.effort > merge.MaxEffort:
				return cli.BadUsage(fmt.Errorf("--effort %d: it is from 1 to %d", tree.effort, merge.MaxEffort))
			case tree.Remove && o.Bounded > 0 && !tree.member:
				return cli.BadUsage(
					errors.New("--remove does not go with --bounded: the parts have what the trace leaves out"))
			case tree.member:
				return mergeAsMember(cmd, &s, &tree)
			case len(launcher) > 0:
				if err := tree.check(&s); err != nil {
					return err
				}
				if err := WithMPI(cmd, launcher, &s, &tree); err != nil {
					return err
				}
			default:
				if err := tree.collectLeft(cmd, s.Input); err != nil {
					return err
				}
				if err := mergeFiles(cmd, &s); err != nil {
					return withLeft(err, s.Input)
				}
				s.Raw = leftOf(s.Input)
				if tree.Remove {
					if err := s.removeParts(); err != nil {
						return err
					}
				}
			}
			out := cli.SummaryOf(cmd, o.Output)
			if o.JSON {
				return cli.PrintJSON(out, s)
			}
			s.print(out, cmd.ErrOrStderr())
			if len(launcher) > 0 && !tree.Remove {
				fmt.Fprintf(out,
					"the parts are still in %s of the nodes: --remove removes them once the trace is written\n",
					cli.Quoted(s.Input[0]))
			}
			return nil
		})
	tree.addTo(cmd.Flags())
	return cmd
}

// behindDash returns the arguments, and those behind -- if there are any in front of it.
func behindDash(cmd *cobra.Command, args []string) (front, behind []string) {
	if n := cmd.ArgsLenAtDash(); n > 0 {
		return args[:n], args[n:]
	}
	return args, nil
}

// A Summary is what merge reports.
type Summary struct {
	Schema  int              `json:"schema"`
	Input   []string         `json:"input"`
	Output  string           `json:"output"`
	Part    bool             `json:"part"`  // a part file, not a trace
	Parts   int              `json:"parts"` // files that were merged
	Ranks   int              `json:"run_ranks"`
	Active  int              `json:"ranks"` // with calls
	Missing rankenc.Set      `json:"missing_rank_set"`
	Calls   uint64           `json:"calls"`
	Shapes  int              `json:"number_of_shapes"`
	Bytes   int64            `json:"trace_bytes"`
	Beyond  *compress.Beyond `json:"beyond"` // null if calls name only ranks of the run

	Raw []string `json:"raw_records,omitempty"` // sentences about killed recorders

	Clocks []format.Clock `json:"clocks,omitempty"` // of machines, if there are several and times of every call

	paths  []string      // of the files that were merged here
	size   int           // of the run, in ranks; 0 if it was not given
	bar    *cli.Progress // of processes that merge, nil if there are none
	effort int           // of writing, 0 for the least
	Bound  int64         `json:"-"` // of the bytes of the trace; 0 if there is none
}

// mergeFiles merges the parts that s names, and fills in the rest of s.
func mergeFiles(cmd *cobra.Command, s *Summary) error {
	cli.Impatient.Store(true)
	if err := RefuseInside(s.Output, s.Input); err != nil {
		return err
	}
	paths, wrong := PartFiles(s.Input)
	s.Parts, s.paths = len(paths), paths
	if len(wrong) > 0 {
		more := checkParts(cmd.Context(), paths, s.size, func(int) {})
		var list Problems
		if more != nil && !errors.As(more, &list) {
			list = Problems{more}
		}
		return append(wrong, list...).err()
	}
	cmd.SetContext(cli.Together(cmd.Context(), false))
	return cli.WriteOutput(cmd, s.Output, paths, func(w io.Writer) error {
		a, err := mergeAll(cmd, paths, s.size)
		if err != nil {
			return err
		}
		file, err := s.encode(cmd, a)
		if err != nil {
			return err
		}
		_, err = w.Write(file)
		return err
	})
}

// removeParts removes the files that were merged, and directories that have nothing else.
func (s *Summary) removeParts() error {
	for _, path := range s.paths {
		if err := os.Remove(path); err != nil {
			return cli.FileError(path, err)
		}
	}
	for _, path := range s.Input {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			_ = os.Remove(path) // unless something else is in it
		}
	}
	return nil
}

// encode returns the file of all parts, and fills in the rest of s.
func (s *Summary) encode(cmd *cobra.Command, a *merge.Accumulator) ([]byte, error) {
	a.Align(nil) // what traces say is by the messages of each alone
	ranks, peer := a.RankSet(), compress.HighestPeer(a)
	s.Calls = a.Calls()
	a.SetEffort(max(s.effort, 1))
	file, err := EncodeAligned(cmd, a, s.Part, s.Bound)
	if err != nil {
		return nil, err
	}
	if err := s.describe(file, ranks); err != nil {
		return nil, err
	}
	if !s.Part {
		s.Beyond = peer.Beyond(s.Ranks)
	}
	return file, nil
}

// mergeAll checks part files and merges them to a run of size ranks, or of as many
// as they say if size is 0.
func mergeAll(cmd *cobra.Command, paths []string, size int) (*merge.Accumulator, error) {
	check := cli.NewCounter(cmd.Context(), cmd.ErrOrStderr(), "check", int64(len(paths)), "parts")
	err := checkParts(cmd.Context(), paths, size, func(done int) { check.Show(uint64(done)) })
	check.Done()
	if err != nil {
		return nil, err
	}
	bar := cli.NewCounter(cmd.Context(), cmd.ErrOrStderr(), "merge", int64(len(paths)), "parts")
	defer bar.Done()
	a, err := merge.Tree(cmd.Context(), len(paths), func(ctx context.Context, i int) (*merge.Accumulator, error) {
		return readLeaf(ctx, paths[i])
	}, merge.TreeOptions{Progress: func(done int) { bar.Show(uint64(done)) }})
	if errors.As(err, new(leafError)) && cmd.Context().Err() == nil {
		return nil, unreadableParts(cmd.Context(), paths)
	} else if err != nil {
		return nil, err
	}
	return a, a.Describe(merge.Run{Ranks: size})
}

// unreadableParts returns the errors of all parts that cannot be read to their end, of which a merge has met
// one.
func unreadableParts(ctx context.Context, paths []string) error {
	var wrong leafProblems
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, err := readLeaf(ctx, path)
		wrong.add(err)
	}
	return Problems(wrong.list).err()
}

// EncodeAligned is encodeTrace of a trace that has the clocks of its machines aligned, by the calls in it.
func EncodeAligned(cmd *cobra.Command, a *merge.Accumulator, part bool, bound int64) ([]byte, error) {
	file, err := compress.EncodeTrace(cmd, a, part, bound)
	if err != nil || part || len(a.Clocks()) < 2 {
		return file, err
	}
	aligned, clocks, err := query.AlignTrace(cmd.Context(), file)
	if err != nil || bound == 0 || int64(len(aligned)) <= bound {
		return aligned, err
	}
	a.Align(clocks) // which make it too large
	return compress.EncodeTrace(cmd, a, part, bound)
}

// describe fills in facts about the file that was made, which has calls of
// these ranks.
func (s *Summary) describe(file []byte, ranks rankenc.Set) error {
	tr, err := cli.Reopen(file)
	if err != nil {
		return fmt.Errorf("%s: %w", s.Output, err)
	}
	s.Ranks, s.Active, s.Shapes, s.Bytes = tr.Ranks(), ranks.Len(), tr.Shapes(), int64(len(file))
	if !s.Part {
		s.Clocks = tr.Run().Clocks
		s.Missing = rankenc.World(s.Ranks).Difference(ranks)
	}
	return nil
}

func (s *Summary) print(stdout, stderr io.Writer) {
	ranks := cli.RankCount(s.Ranks, s.Active)
	if s.Part {
		ranks = text.Plural(s.Active, "rank")
	}
	fmt.Fprintf(stdout, "%s: %s, %s -> %s: %s, %s\n", text.Plural(s.Parts, "part"), ranks,
		text.Plural(s.Calls, "call"), text.Printable(s.Output),
		text.Plural(s.Shapes, "shape"), text.Plural(s.Bytes, "byte"))
	if len(s.Clocks) > 0 {
		fmt.Fprintf(stdout, "clocks: %s\n", answers.Clocks(s.Clocks))
	}
	for _, c := range s.Clocks {
		if c.Contradicted {
			cli.Warn(stderr,
				"the clock of the machine of rank %d is not as synchronised as its readings say: messages contradict them, and they are ignored", c.Ranks.At(0))
		}
	}
	if s.Missing.Len() > 0 {
		cli.Warn(stderr, "in no part: %s", text.Ranks(s.Missing))
	}
	for _, raw := range s.Raw {
		cli.Warn(stderr, "%s", raw)
	}
	s.Beyond.Warn(stderr, s.size > 0)
}

// PartFiles returns paths with the *.rpz files of a directory in its place, in the order of the numbers in
// their names, each once, and what is wrong with directories and with what is named twice.
func PartFiles(paths []string) (files []string, wrong Problems) {
	for _, p := range paths {
		if info, err := os.Stat(p); err != nil || !info.IsDir() {
			files = append(files, p)
			continue
		}
		names, err := partsIn(p)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		// Ranks that ascend are merged fastest.
		slices.SortFunc(names, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
		for _, name := range names {
			files = append(files, filepath.Join(p, name))
		}
	}
	files, again := onlyOnce(files)
	return files, append(wrong, again...)
}

// partsIn returns the names of the parts in a directory, with those of directories that are in the place of a
// part.
func partsIn(directory string) (names []string, err error) {
	if collect.IsSpool(directory) {
		return nil, cli.Named(cli.ContentIn(directory, content.OfDirectory(directory)))
	}
	entries, err := os.ReadDir(directory)
	if err != nil {
		return nil, cli.FileError(directory, err)
	}
	for _, e := range entries {
		if name := e.Name(); isPartName(name) && (!e.IsDir() || ofRecord.MatchString(name)) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: this is a directory with no files named ….rpz", directory)
	}
	return names, nil
}

// onlyOnce returns files without those that are named again, such as by themselves and by the directory they
// are in, and an error for each of these.
func onlyOnce(files []string) (once []string, again Problems) {
	seen := make(map[string]string)
	for _, file := range files {
		path, err := filepath.Abs(file)
		if err != nil {
			return nil, Problems{err}
		}
		if other, twice := seen[path]; twice {
			again = append(again,
				fmt.Errorf("%s: is given twice, the first time as %s: by itself, or in its directory", file, other))
			continue
		}
		seen[path] = file
		once = append(once, file)
	}
	return once, again
}

// RefuseInside returns an error if the output is to be a *.rpz file in one of the
// directories among the inputs. The next merge of that directory would take it for
// one of the parts; and if it is there already, it may be a part that is not to be
// replaced, or a merge of before that is not to be read, and nothing tells which.
func RefuseInside(output string, inputs []string) error {
	if name := filepath.Base(output); output == "-" || !isPartName(name) {
		return nil
	}
	dir, err := os.Stat(filepath.Dir(output))
	if err != nil {
		return nil // left to who creates it
	}
	for _, in := range inputs {
		if info, err := os.Stat(in); err == nil && os.SameFile(info, dir) {
			return cli.BadUsage(
				fmt.Errorf("%s is in %s, of which all *.rpz files are merged: the output needs another directory", output, in))
		}
	}
	return nil
}

// PartName returns the name of a part file in a directory. First is the lowest rank of its processes.
func PartName(directory string, first int) string {
	return filepath.Join(directory, fmt.Sprintf("rank%07d.part.rpz", first))
}

// isPartName reports whether a file of that name in a directory is a part.
func isPartName(name string) bool {
	return strings.HasSuffix(name, ".rpz") && !strings.HasPrefix(name, ".")
}

// A leafError is the error of one part. It names the file.
type leafError struct {
	path string
	error
}

func (e leafError) Unwrap() error { return e.error }

// cause returns what is wrong without the name of the file.
func (e leafError) cause() string { return strings.TrimPrefix(e.Error(), e.path+": ") }

// readLeaf reads the part file, or the trace, at path. Its errors are leafErrors.
func readLeaf(ctx context.Context, path string) (*merge.Accumulator, error) {
	var a *merge.Accumulator
	err := openPart(ctx, path, func(file *format.Reader) (err error) {
		if merge.IsPart(file) {
			a, err = merge.ReadPart(file)
			return err
		}
		a, err = readTrace(ctx, file)
		return err
	})
	return a, err
}

// openPart opens a container and calls read. Its errors are leafErrors.
func openPart(ctx context.Context, path string, read func(*format.Reader) error) error {
	if err := cli.CheckSeekable(path); err != nil {
		return leafError{path, err}
	}
	f, err := os.Open(path)
	if err != nil {
		return leafError{path, cli.FileError(path, err)}
	}
	defer f.Close()
	err = func() error {
		info, err := f.Stat()
		if err != nil {
			return err
		}
		file, err := format.NewReader(f, info.Size(), cli.FileOptions(ctx, info.Size()))
		if err != nil {
			return err
		}
		return read(file)
	}()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, format.ErrFormat):
		err = content.NoTrace(path)
	}
	return leafError{path, cli.FileError(path, err)}
}

// openWhole opens a trace that has not lost the order of its calls.
func openWhole(file *format.Reader) (*trace.Trace, error) {
	tr, err := trace.OpenContainer(file, trace.Options{})
	if err == nil && tr.Content().LostOrder {
		return nil, errors.New("the order of the calls of different ranks is damaged; reprise repair may save the rest")
	}
	return tr, err
}

// readTrace reads all ranks of a trace. One that is lost, or whose place among the
// others is, is an error.
func readTrace(ctx context.Context, file *format.Reader) (*merge.Accumulator, error) {
	tr, err := openWhole(file)
	if err != nil {
		return nil, err
	}
	a := new(merge.Accumulator)
	if err := compress.DescribeRun(a, tr.Run()); err != nil {
		return nil, err
	}
	return a, tr.AddTo(ctx, a)
}
