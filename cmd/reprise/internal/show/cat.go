package show

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/memory"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/simgrid"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// A catOptions is which calls cat writes, and how.
type catOptions struct {
	first, count    uint64 // positions
	format          string
	absolute, clock bool
	split           string
	force           bool     // to split into any number of files
	functions       []string // nil: all
	warned          bool     // that times are estimates
}

// MostFiles is how many files --split writes unless it is forced to.
const MostFiles = 10_000

func NewCat() *cobra.Command {
	var (
		q *cli.Question
		o catOptions
	)
	format := cli.NewChoice("", "ti", "text", "json")
	q = cli.NewQuestion("cat", func() error {
		o.format = format.Value
		return o.check(q)
	}, func(q *cli.Question) error { return cat(q, &o) }, cli.OptJSON, cli.OptRanks, cli.OptRegion)
	f := q.Flags()
	f.Uint64Var(&o.first, "first", 0, "first `position` to write")
	f.Uint64Var(&o.count, "count", math.MaxUint64,
		"write at most this `number` of calls; with --ranks, --from or --to, of each rank")
	f.Lookup("count").DefValue = "all"
	f.StringSliceVar(&o.functions, "function", nil, "only calls of these functions: their `names`, with commas")
	f.Lookup("function").DefValue = "all"
	cli.AddChoice(q.Command, format, "format", "format of the calls")
	f.BoolVar(&o.absolute, "absolute", false, "write ranks as numbers in text")
	f.BoolVar(&o.clock, "clock", false, "write times by the clock of the trace")
	f.StringVar(&o.split, "split", "", "write one file for each rank, and a list of them, to a `directory`")
	f.BoolVar(&o.force, "force", false, fmt.Sprintf("with --split, write more than %s files", text.Count(MostFiles)))
	f.Lookup("json").Usage = "the same as --format json"
	return q.Command
}

// check fills in the format, and returns what is wrong with o.
func (o *catOptions) check(q *cli.Question) error {
	if q.JSON {
		if o.format != "" && o.format != "json" {
			return fmt.Errorf("--json does not go with --format %s", o.format)
		}
		o.format = "json"
	}
	changed := q.Flags().Changed
	switch {
	case changed("function") && len(o.functions) == 0:
		return errors.New("--function needs the names of functions")
	case o.split == "" && o.force:
		return errors.New("--force goes with --split")
	case o.split == "":
		return o.unused()
	case changed("ranks"):
		return errors.New("--split writes all ranks: it does not go with --ranks")
	case slices.ContainsFunc([]string{"first", "count", "from", "to", "phase", "loop"}, changed):
		return errors.New(
			"--split writes all calls: it does not go with --first, --count, --from, --to, --phase and --loop")
	case o.format != "" && o.format != "ti":
		return errors.New("--split writes SimGrid's files: the only format is ti")
	case o.absolute || o.clock:
		return errors.New("--split writes SimGrid's files: it does not go with --absolute and --clock")
	}
	return nil
}

// unused returns the error of an option that changes nothing in the format.
func (o *catOptions) unused() error {
	switch {
	case o.absolute && (o.format == "ti" || o.format == "json"):
		return fmt.Errorf("--absolute does not go with --format %s, where ranks are numbers", o.format)
	case o.clock && o.format == "ti":
		return errors.New("--clock does not go with --format ti, which has no times")
	}
	return nil
}

func cat(q *cli.Question, o *catOptions) error {
	if err := o.known(q.Trace); err != nil {
		return err
	}
	if o.split != "" {
		return split(q, o)
	}
	if o.format == "" {
		o.format = "text"
		if isTI(q.Trace) {
			o.format = "ti"
		}
		if err := o.unused(); err != nil {
			return cli.BadUsage(err)
		}
	}
	write, flush, err := newLineWriter(o, q.Trace, q.OutOrStdout())
	if err != nil {
		return err
	}
	bar := o.progress(q, progressOfOutput(q.Command))
	defer bar.Done()
	done := uint64(0)
	err = o.copy(q, func(position uint64, c trace.Call) error {
		if err := exact(c); err != nil {
			return err
		}
		if err := write(position, c); err != nil {
			return err
		}
		done++
		return bar.Step(done)
	})
	if e := flush(); err == nil {
		err = e
	}
	return err
}

// exact returns an error if a call is not as it was recorded.
func exact(c trace.Call) error {
	if c.Exact() {
		return nil
	}
	return fmt.Errorf(
		"rank %d, position %d: the trace was made to fit a size, and this call of %s stands for one of a distribution; calls before it are exact",
		c.Rank, c.Position, text.Printable(c.Function.Name))
}

// progressOfOutput returns where the progress of writing to standard output is
// to be shown: nowhere unless that is a file, for others show it themselves.
func progressOfOutput(cmd *cobra.Command) io.Writer {
	if out, ok := cmd.OutOrStdout().(*cli.Output); ok {
		if f, ok := out.W.(*os.File); ok {
			if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
				return cmd.ErrOrStderr()
			}
		}
	}
	return io.Discard
}

// newLineWriter returns a function that writes a call as a line of a format, and
// one to call at the end.
func newLineWriter(o *catOptions, tr *trace.Trace, w io.Writer) (write callWriter, flush func() error, err error) {
	if o.format == "ti" {
		toTI, err := newConverter(tr)
		if err != nil {
			return nil, nil, err
		}
		out := simgrid.NewWriter(w)
		return tiWriter(out, toTI), out.Close, nil
	}
	ranks, _, err := tr.SeriesRanks()
	if err != nil {
		return nil, nil, err
	}
	timed := ranks.Len() > 0 || cli.Damages(tr, layout.KindSeries)
	begin := int64(0)
	if ranks.Len() > 0 && !o.clock {
		times, err := query.OpenTimes(tr)
		if err != nil {
			return nil, nil, err
		}
		if begin, err = times.Begin(); err != nil {
			return nil, nil, err
		}
	}
	out := bufio.NewWriterSize(w, 64<<10)
	if o.format == "json" {
		return newJSONWriter(out, tr, begin), out.Flush, nil
	}
	printer := tr.Printer(trace.PrintOptions{Absolute: o.absolute})
	lines := newCallLines(func(dst []byte, c trace.Call) ([]byte, error) {
		return append(printer.AppendCall(dst, c), '\n'), nil
	})
	var line []byte
	write = func(position uint64, c trace.Call) error {
		line = append(strconv.AppendInt(line[:0], int64(c.Rank), 10), '\t')
		line = append(strconv.AppendUint(line, position, 10), '\t')
		if timed {
			line = appendTime(line, c, begin)
		}
		text, err := lines.of(c)
		if err != nil {
			return err
		}
		_, _ = out.Write(line)
		_, err = out.Write(text)
		return err
	}
	return write, out.Flush, nil
}

// tiWriter returns a function that writes calls as lines of SimGrid's traces.
func tiWriter(w *simgrid.Writer, toTI func(trace.Call) simgrid.Call) callWriter {
	lines := newCallLines(func(dst []byte, c trace.Call) ([]byte, error) { return simgrid.AppendCall(dst, toTI(c)) })
	return func(_ uint64, c trace.Call) error {
		line, err := lines.of(c)
		if err != nil {
			return err
		}
		return w.WriteLine(c.Rank, line)
	}
}

// appendTime appends the start since begin and the duration of a call, in seconds,
// each with a tab.
func appendTime(dst []byte, c trace.Call, begin int64) []byte {
	if !c.Timed {
		return append(dst, "-\t-\t"...)
	}
	dst = append(appendSeconds(dst, begin, c.Start), '\t')
	return append(appendSeconds(dst, 0, c.Duration), '\t')
}

// appendSeconds appends the nanoseconds from one time to another as seconds.
func appendSeconds(dst []byte, from, to int64) []byte {
	n := uint64(to) - uint64(from)
	if to < from {
		n = -n
		dst = append(dst, '-')
	}
	return fmt.Appendf(dst, "%d.%09d", n/1e9, n%1e9)
}

// newConverter returns a function that turns calls of a trace into those of
// package simgrid, or a notTextError if the trace has functions that SimGrid's traces
// have not.
func newConverter(tr *trace.Trace) (func(trace.Call) simgrid.Call, error) {
	for _, f := range tr.Functions() {
		if _, ok := simgrid.Lookup(f); !ok {
			return nil, cli.NotText(fmt.Errorf("a SimGrid trace cannot hold the function %s", text.Printable(f.Name)))
		}
	}
	numbers := make(map[*cst.Function]int)
	return func(c trace.Call) simgrid.Call {
		n, ok := numbers[c.Function]
		if !ok {
			n, _ = simgrid.Lookup(*c.Function)
			numbers[c.Function] = n
		}
		return simgrid.Call{Rank: c.Rank, Function: n, Args: c.Args}
	}, nil
}

// split writes one file a rank, and their list, into a directory, as writeDirectory does. The file of a rank
// that cannot be read is empty. If it fails, nothing stays.
func split(q *cli.Question, o *catOptions) error {
	if n := q.Trace.Ranks(); n > MostFiles && !o.force {
		return cli.BadUsage(
			fmt.Errorf("--split would write %s files, one for each rank; use --force for this", text.Count(n)))
	}
	toTI, err := newConverter(q.Trace)
	if err != nil {
		return err
	}
	return cli.WriteDirectory(q.Context(), o.split, func(dir string) error { return o.splitInto(q, dir, toTI) })
}

func (o *catOptions) splitInto(q *cli.Question, dir string, toTI func(trace.Call) simgrid.Call) error {
	const rankMemory = 160 // of a file's name and its text
	if err := memory.Check(q.Trace, "files, one a rank,", uint64(q.Trace.Ranks()), rankMemory); err != nil {
		return err
	}
	w, err := simgrid.CreateRanks(q.Context(), dir, strings.TrimSuffix(filepath.Base(q.Path), ".rpz"), q.Trace.Ranks())
	if err != nil {
		return cli.Named(err)
	}
	defer w.Abort()
	bar := o.progress(q, q.ErrOrStderr())
	defer bar.Done()
	done, write := uint64(0), tiWriter(w, toTI)
	err = o.copyRanks(q, func(position uint64, c trace.Call) error {
		if err := exact(c); err != nil {
			return err
		}
		if err := write(position, c); err != nil {
			return cli.Named(err)
		}
		done++
		return bar.Step(done)
	})
	if err != nil {
		return err
	}
	return cli.Named(w.Close())
}
