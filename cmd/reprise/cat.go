package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/ti"
)

func newCat() *cobra.Command {
	var o catOptions
	cmd := &cobra.Command{
		Use:   "cat TRACE.rpz",
		Short: "Write the calls of a trace",
		Long: `Write the calls of a trace, of all ranks in the order in which they were read,
or of one rank. A trace that was made from a SimGrid trace comes back byte for
byte.

The formats are
  ti    SimGrid's lines: the default for a trace that was made from them
  text  rank, position and call, with tabs between them: the default for others;
        if there are times of every call, start and duration in seconds stand
        before the call, or - and - where the call has none
  json  an object a line, with the names of the arguments, and start_ns and
        duration_ns in nanoseconds if the call has times; with the class of
        handles, and, as called, what the trace calls a number, or the segment
        of a pointer

Positions count from 0, in the rank if one is asked for, else in all calls.

In text, a call is written as people write it, such as
  MPI_Isend(buf=heap#3+0, count=9, dest=rank+1, comm=comm#0, request=isend#0)
with a result, if it has one, as = 3 after it. Its arguments are
  handles    their names, as MPI_DOUBLE, or class and number, as comm#0. Numbers
             are of one rank: comm#0 of two ranks may be different objects
  requests   the function that made them, and how many-th of the different calls
             of it did; .1 and so on if it has others that are not complete, as
             isend#0.1. A request made by no call that is there is request#7
  pointers   heap#3+16, byte 16 of allocation 3, which is the lowest number that
             is free when a call first uses it; static3+208144, of the static
             data of a library, the third loaded, and static+8, of the program;
             stack-8, 8 bytes before what a call first used of the stack, and
             stack3-8, of the stack of another thread; memory#0+8, of unknown
             memory, from what a call first used there; @1 after it on device 1
  ranks      rank+1, rank xor 1, or (rank+1) mod N where that is not rank+1, if
             all ranks that make the call have it in common; else the number.
             Rank is that of the caller in the communicator, window or file that
             the call names, or in the run, and N the number of ranks there;
             world+1 is the rank in the run and 1 where it names something else.
             The trace has whatever is smaller: a rank in a communicator may be
             an expression in one call and a number in the next. With --ranks
             absolute all are numbers
  statuses   {source=3, tag=7}, without what the call asked for, so that {} is
             one that says nothing new, and with error=15, a class, if not 0
and arrays [1 2 3]. Names that could be mistaken are quoted.

Calls of MPI have some arguments that are not of its interface:
  thread=1   first, in calls of other threads than the first that calls MPI
  x_out=5    the argument x after a call that changed it
  error=15   last, of a call that failed: the class. Its outputs are left out
  result=3   what a function returns that is no error code: written as = 3
  leader=0   rank in the old communicator of the first member of the new one
  newrank=2  rank of the caller in the new communicator
  members=[0 2]  ranks in the old communicator of the members of the new one

Starts count from where the clock of the trace does: from 1970, if reprise
recorded it. In JSON, since_begin_ns counts from the beginning of the first call
of the run, as the times of reprise at and of --from and --to elsewhere do. A
start_ns that counts from 1970 is beyond 2⁵³. Integers of that size are exact
here, but jq 1.6, and what else takes numbers for float64, rounds them by some
hundred nanoseconds. Take since_begin_ns, or --format text for every digit.

In a trace made from a SimGrid trace, a source of -333 is any source, or none,
and a tag of -444 is any tag. What was outside the format is a call too: opaque
is a line of which only the rank was understood, line is one without a rank,
such as a comment or a blank line.

Ranks that cannot be read, of a damaged or repaired trace, are named and left
out, and positions count the calls of the others; the exit status is then 1. If
the calls of the ranks alternate, only --rank and --split leave them out.`,
		Example: `  reprise cat run.rpz > trace.txt
  reprise cat run.rpz --rank 3 --from 1000 --count 20 --format text
  reprise cat run.rpz --json | jq .function
  reprise cat run.rpz --split traces`,
		Args: func(cmd *cobra.Command, args []string) error {
			o.all = !cmd.Flags().Changed("rank")
			if err := o.check(); err != nil {
				return err
			}
			return oneTrace(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return cat(cmd, args[0], o) },
	}
	f := cmd.Flags()
	f.IntVar(&o.rank, "rank", 0, "write the calls of this rank only")
	f.Uint64Var(&o.from, "from", 0, "begin at this position")
	f.Uint64Var(&o.count, "count", math.MaxUint64, "write at most so many calls")
	f.StringVar(&o.format, "format", "", "ti, text or json")
	f.StringVar(&o.ranks, "ranks", "relative", "in text, relative or absolute")
	f.BoolVar(&o.json, "json", false, "the same as --format json")
	f.StringVar(&o.split, "split", "", "write one file a rank, and their list, to a `directory`")
	f.Lookup("count").DefValue = "all"
	f.Lookup("rank").DefValue = "all"
	return cmd
}

type catOptions struct {
	rank        int
	all         bool // of the ranks, not rank
	from, count uint64
	format      string
	ranks       string
	json        bool
	split       string
}

// allCalls selects every call of every rank.
var allCalls = catOptions{all: true, count: math.MaxUint64}

// check fills in the format, and returns what is wrong with o.
func (o *catOptions) check() error {
	if o.json {
		if o.format != "" && o.format != "json" {
			return usageError{fmt.Errorf("--json does not go with --format %s", o.format)}
		}
		o.format = "json"
	}
	switch o.format {
	case "", "ti", "text", "json":
	default:
		return usageError{fmt.Errorf("there is no format %q: ti, text or json", o.format)}
	}
	switch {
	case o.ranks != "relative" && o.ranks != "absolute":
		return usageError{fmt.Errorf("ranks are not %q: relative or absolute", o.ranks)}
	case o.rank < 0:
		return usageError{fmt.Errorf("there is no rank %d", o.rank)}
	case o.split == "":
		return nil
	case !o.all:
		return usageError{errors.New("--split writes all ranks: it does not go with --rank")}
	case o.from != 0 || o.count != math.MaxUint64:
		return usageError{errors.New("--split writes all calls: it does not go with --from and --count")}
	case o.format != "" && o.format != "ti":
		return usageError{errors.New("--split writes SimGrid's files: the only format is ti")}
	}
	return nil
}

func cat(cmd *cobra.Command, path string, o catOptions) error {
	trace, err := openTrace(path)
	if err != nil {
		return err
	}
	defer trace.Close()
	if o.split != "" {
		return split(cmd, trace, path, o)
	}
	if o.format == "" {
		o.format = "text"
		if isTI(trace) {
			o.format = "ti"
		}
	}
	var size counter
	write, flush, err := newLineWriter(o, trace, io.MultiWriter(cmd.OutOrStdout(), &size))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	bar := newProgress(cmd.Context(), progressOfOutput(cmd), "cat", -1)
	err = copyCalls(cmd.Context(), trace, path, o, func(position uint64, c reprise.Call) error {
		if err := write(position, c); err != nil {
			return err
		}
		return bar.step(uint64(size))
	})
	if e := flush(); e != nil && (err == nil || errors.As(err, new(*lostRanks))) {
		err = e
	}
	bar.done()
	if _, ok := trace.Merged().ShapeOf(o.rank); err == nil && !o.all && !ok {
		fmt.Fprintf(cmd.ErrOrStderr(), "reprise: warning: rank %d has no calls\n", o.rank)
	}
	return warnLost(cmd.ErrOrStderr(), err)
}

// progressOfOutput returns where the progress of writing to standard output is
// to be shown: nowhere unless that is a file, for others show it themselves.
func progressOfOutput(cmd *cobra.Command) io.Writer {
	if out, ok := cmd.OutOrStdout().(*output); ok {
		if f, ok := out.w.(*os.File); ok {
			if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
				return cmd.ErrOrStderr()
			}
		}
	}
	return io.Discard
}

// newLineWriter returns a function that writes a call as a line of a format, and
// one to call at the end.
func newLineWriter(o catOptions, trace *reprise.Trace, w io.Writer) (write callWriter, flush func() error, err error) {
	switch o.format {
	case "ti":
		toTI, err := newConverter(trace)
		if err != nil {
			return nil, nil, err
		}
		out := ti.NewWriter(w)
		return func(_ uint64, c reprise.Call) error { return out.Write(toTI(c)) }, out.Flush, nil
	case "json":
		out := bufio.NewWriterSize(w, 64<<10)
		return newJSONWriter(out, trace), out.Flush, nil
	}
	out := bufio.NewWriterSize(w, 64<<10)
	timed, err := isTimed(trace)
	if err != nil {
		return nil, nil, err
	}
	printer := trace.Printer(reprise.PrintOptions{Absolute: o.ranks == "absolute"})
	var line []byte
	write = func(position uint64, c reprise.Call) error {
		line = append(strconv.AppendInt(line[:0], int64(c.Rank), 10), '\t')
		line = append(strconv.AppendUint(line, position, 10), '\t')
		if timed {
			line = appendTime(line, c)
		}
		line = append(printer.AppendCall(line, c), '\n')
		_, err := out.Write(line)
		return err
	}
	return write, out.Flush, nil
}
