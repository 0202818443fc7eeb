package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/csv"
	"github.com/reprise-trace/reprise/export/parquet"
	"github.com/reprise-trace/reprise/export/pprof"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
)

// An exportFormat is what a trace can be exported to.
type exportFormat struct {
	name     string
	suffixes []string // of the names of files, the first being the usual one
	about    string   // for the help: what it is, and what reads it
	table    bool     // whether it is a table, for which there are --by and --columns

	beside []beside // files

	// write writes the calls that are chosen.
	write func(x *exporting, w io.Writer) error
}

// A beside is a file to be written beside the output, of its name with another suffix.
type beside struct {
	suffix string
	write  func(x *exporting, w io.Writer) error
}

// exportFormats are all of them, in the order of the help.
var exportFormats = []exportFormat{
	{name: "parquet", suffixes: []string{".parquet"}, about: "a table for DuckDB, pandas, Polars, Spark", table: true, write: exportParquet},
	{name: "csv", suffixes: []string{".csv"}, about: "the same table as text", table: true, write: exportCSV},
	{name: "perfetto", suffixes: []string{".pftrace"}, about: "a timeline for ui.perfetto.dev, and SQL", write: exportPerfetto},
	{name: "chrome", suffixes: []string{".json"}, about: "a timeline for Perfetto, about:tracing, Speedscope", write: exportChrome},
	{name: "paraver", suffixes: []string{".prv"}, about: "a timeline for Paraver, with .pcf and .row beside it",
		beside: []beside{{".pcf", exportParaverConfig}, {".row", exportParaverRows}}, write: exportParaver},
	{name: "simgrid", suffixes: []string{".ti"}, about: "actions that SimGrid replays", write: exportSimGrid},
	{name: "pprof", suffixes: []string{".pb.gz", ".pprof"}, about: "calls and time by function, for go tool pprof", write: exportPprof},
}

// An exporting is the calls that are to be exported, and what is to be told of them.
type exporting struct {
	ctx   context.Context
	trace *reprise.Trace
	path  string
	ranks rankenc.Set // of those chosen; all if that is nil
	all   bool        // whether all ranks are chosen

	window  *window // of times, since the first call
	by      export.By
	columns []string

	progress func(calls uint64) // how many are done

	lost, lostTimes *lostRanks

	notes []string // to be printed when it is done
}

// lose takes note of a rank that cannot be read, or whose times cannot.
func (x *exporting) lose(rank int, times bool, err error) error {
	if times {
		x.lostTimes.add(rank, err)
	} else {
		x.lost.add(rank, err)
	}
	return nil
}

type exportOptions struct {
	format, output, ranks, by string
	columns                   []string
	window                    window
}

func newExport() *cobra.Command {
	var o exportOptions
	cmd := &cobra.Command{
		Use:   "export TRACE.rpz -o OUT",
		Short: "Write the calls of a trace for other programs",
		Long: `Write the calls of a trace in a format that other programs read. If --format is
not given, the name of the file says which:
` + formatList() + `
Of parquet and csv, a row is a call or, with --by signature, the equal calls of
a rank. The columns are
  rank, position     which call it is: positions count from 0 in each rank
  start_ns, duration_ns, time_source
                     if the trace has times: by its clock, from 1970 if reprise
                     recorded them, unlike --from and --to, and whether they are
                     those of the call itself, series, or estimated from the
                     means of calls like it, from histograms or statistics
  function, call     the name, and the call with its arguments as cat has it,
                     with ranks relative to the caller, as rank+1
  signature, thread  equal for calls alike on all ranks; which thread it was
  class, send_to, send_tag, send_bytes, recv_from, recv_tag, recv_bytes,
  communicator, root what MPI and SimGrid calls mean: ranks are of the run;
                     of a call with several messages, as MPI_Startall, bytes
                     are added up, and what differs in them is missing
  arg_count, …       each argument, by the name of the parameter: numbers where
                     all of that name are numbers, else text
With --by signature there are calls, how many are equal, instead of positions
and times, and the sum, mean, least and most of their durations: of the rank,
total_ns and so on, if the trace has the times of every call, and of all ranks,
all_mean_ns and so on, if it has statistics. Values that a call does not have
are missing. --columns chooses columns, and their order.

Of perfetto and chrome, a rank is a process, and a call a slice with its
arguments and its position. A trace without times has calls of one microsecond.
If it has those of every call, messages are arrows, which Perfetto draws from
the call that begins first to the other.

Of paraver, messages are communications, which the output counts. Of these,
perfetto and chrome, a message is left out if one of its ends is unknown or not
chosen, or if the trace does not tell which receive gets it, as where a program
tried to cancel receives; Paraver also leaves out those under way for too long.

Of pprof, the stack of a call is the loops around it, for a trace has no others.
Ranks and calls are labels, for -tagroot rank and -tagleaf call, and the time
between calls is that of a function (outside calls).

Of simgrid, the calls of a trace that was made from one of SimGrid come back,
and those of MPI become actions, with what a rank computes between them: 1e9
flops a second. A call that no action stands for, such as a collective operation
of some processes only, is refused and named. With --ranks, --from or --to,
messages and collective operations may lack partners that were left out: a
replay waits for them. To replay run.ti on 4 hosts, with its name in a list:
` + replay + `

--from and --to choose the calls between two times since the first call of the
run began, as 1.5s, 20ms, or in seconds. They are found by search, estimated
times too. The times of perfetto, chrome and paraver count from that, too.
` + estimatedThreads + `

Calls are read one after the other, and memory does not grow with their number.
The output appears when it is complete: if the work fails or is interrupted,
what was there stays. The output - is standard output. Ranks that cannot be
read, of a damaged or repaired trace, are named and left out, and times that
cannot be; the exit status is then 1.`,
		Example: `  reprise export run.rpz -o run.parquet
  reprise export run.rpz -o run.csv --by signature
  reprise export run.rpz -o run.pftrace --from 1.5s --to 2s
  reprise export run.rpz -o sends.csv --ranks 0-3 --columns rank,call,send_to
  go tool pprof -http : run.pb.gz       # of reprise export run.rpz -o run.pb.gz
  duckdb -c "select function, sum(duration_ns) from 'run.parquet' group by 1"`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			return oneTrace(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return exportTrace(cmd, args[0], o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "", "which `format`")
	f.Lookup("format").DefValue = "by the name of OUT"
	f.StringVarP(&o.output, "output", "o", "", "the `file` to write")
	f.StringVar(&o.by, "by", "call", "a row is a `call` or a signature")
	f.StringSliceVar(&o.columns, "columns", nil, "in a table, only these columns")
	f.Lookup("columns").DefValue = "all"
	addRanks(cmd, &o.ranks)
	addWindow(cmd, &o.window)
	return cmd
}

// replay is how SimGrid replays a run of 4 ranks.
const replay = `  echo '<?xml version="1.0"?>
  <!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
  <platform version="4.1"> <cluster id="cluster" prefix="host" suffix=""
  radical="0-3" speed="1Gf" bw="1GBps" lat="1us"/> </platform>' > platform.xml
  printf 'host%d\n' 0 1 2 3 > hosts
  echo run.ti > list
  smpirun -np 4 -platform platform.xml -hostfile hosts -replay list`

// formatNames returns the names of the formats, as in a, b or c.
func formatNames() string {
	names := make([]string, len(exportFormats))
	for i, f := range exportFormats {
		names[i] = f.name
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// formatList returns a line for each format.
func formatList() string {
	var b strings.Builder
	for _, f := range exportFormats {
		fmt.Fprintf(&b, "  %-9s %-14s %s\n", f.name, strings.Join(f.suffixes, " "), f.about)
	}
	return b.String()
}

// check fills in the format, and returns what is wrong with o.
func (o *exportOptions) check(cmd *cobra.Command) error {
	if o.output == "" {
		return usageError{errors.New("export needs -o OUT")}
	}
	if o.format == "" {
		name := strings.ToLower(filepath.Base(o.output))
		for _, f := range exportFormats {
			if slices.ContainsFunc(f.suffixes, func(s string) bool { return strings.HasSuffix(name, s) }) {
				o.format = f.name
			}
		}
		if o.format == "" {
			return usageError{fmt.Errorf("the name %s does not say which format: --format is %s", o.output, formatNames())}
		}
	}
	f := o.formatOf()
	switch {
	case f == nil:
		return usageError{fmt.Errorf("there is no format %q: %s", o.format, formatNames())}
	case o.by != "call" && o.by != "signature":
		return usageError{fmt.Errorf("--by is call or signature, not %q", o.by)}
	}
	for _, name := range []string{"by", "columns"} {
		if !f.table && cmd.Flags().Changed(name) {
			return usageError{fmt.Errorf("--%s does not go with --format %s, which is no table", name, f.name)}
		}
	}
	for _, b := range f.beside {
		if o.output != "-" && o.nameOf(b) == o.output {
			return usageError{fmt.Errorf("-o %s is what a file beside the output is called: name it as in %s", o.output, f.suffixes[0])}
		}
	}
	return o.window.check(cmd)
}

// nameOf returns the name of a file beside the output.
func (o *exportOptions) nameOf(b beside) string {
	return strings.TrimSuffix(o.output, filepath.Ext(o.output)) + b.suffix
}

// formatOf returns the format, or nil if there is no such one.
func (o *exportOptions) formatOf() *exportFormat {
	i := slices.IndexFunc(exportFormats, func(f exportFormat) bool { return f.name == o.format })
	if i < 0 {
		return nil
	}
	return &exportFormats[i]
}

func exportTrace(cmd *cobra.Command, path string, o exportOptions) error {
	trace, err := openTrace(path)
	if err != nil {
		return err
	}
	defer trace.Close()
	x := &exporting{
		ctx: cmd.Context(), trace: trace, path: path, columns: o.columns, window: &o.window,
		lost: &lostRanks{path: path}, lostTimes: &lostRanks{path: path, what: "the times of "},
	}
	if o.by == "signature" {
		x.by = export.Signatures
	}
	if x.ranks, err = chosenRanks(cmd, o.ranks, trace, path); err != nil {
		return err
	}
	x.all = !cmd.Flags().Changed("ranks")
	if err := x.choose(&o.window); err != nil {
		return err
	}
	var size counter
	bar := newCounter(cmd.Context(), cmd.ErrOrStderr(), "export", -1, "calls")
	var done uint64
	x.progress = func(calls uint64) {
		done = calls
		bar.show(calls)
	}
	f := o.formatOf()
	files := []outputFile{{o.output, func(w io.Writer) error { return x.write(f.write, io.MultiWriter(w, &size)) }}}
	if isFile(o.output) {
		for _, b := range f.beside {
			files = append(files, outputFile{o.nameOf(b), func(w io.Writer) error { return x.write(b.write, w) }})
		}
	}
	err = writeOutputs(cmd, files, []string{path})
	bar.done()
	if err != nil {
		return err
	}
	report := cmd.OutOrStdout()
	if o.output == "-" {
		report = cmd.ErrOrStderr()
	}
	unit := "call"
	if x.by == export.Signatures {
		unit = "signature"
	}
	fmt.Fprintf(report, "%s: %s, %s\n", o.output, text.Plural(done, unit), text.Plural(size, "byte"))
	for _, n := range x.notes {
		fmt.Fprintf(report, "  %s\n", n)
	}
	return warnUnreadable(cmd.ErrOrStderr(), x.err())
}

// write has an error of reading name the trace, and one of w what w does.
func (x *exporting) write(write func(x *exporting, w io.Writer) error, w io.Writer) error {
	out := &failing{w: w}
	err := write(x, out)
	var usage usageError
	switch {
	case out.err != nil:
		return out.err
	case err == nil || x.ctx.Err() != nil || errors.As(err, &usage):
		return err
	}
	return fileError(x.path, err)
}

// A failing writes to w, and keeps its first error.
type failing struct {
	w   io.Writer
	err error
}

func (f *failing) Write(p []byte) (int, error) {
	n, err := f.w.Write(p)
	if f.err == nil {
		f.err = err
	}
	return n, err
}

// choose sets the times that w chooses.
func (x *exporting) choose(w *window) error {
	if !w.set {
		return nil
	}
	timed, err := isTimedAtAll(x.trace)
	if err != nil {
		return fileError(x.path, err)
	}
	if !timed {
		return errNoTimes(x.trace, x.path)
	}
	series, _, lost := x.trace.Merged().SeriesRanks()
	if hasThreads(x.trace) && (lost != nil || series.Len() < x.trace.Merged().RankSet().Len()) {
		x.notes = append(x.notes, threadsNote)
	}
	return nil
}

// isTimedAtAll reports whether a trace has times of any kind.
func isTimedAtAll(trace *reprise.Trace) (bool, error) {
	durations, gaps, err := trace.Merged().Summaries()
	if err != nil || !durations.IsZero() || !gaps.IsZero() {
		return err == nil, err
	}
	ranks, _, err := trace.Merged().SeriesRanks()
	return ranks.Len() > 0, err
}

// err returns an error if anything was lost.
func (x *exporting) err() error {
	var u unreadable
	for _, l := range []*lostRanks{x.lost, x.lostTimes} {
		if err := l.err(); err != nil {
			u = append(u, err)
		}
	}
	return u.err()
}

// table returns what is chosen of a table, and takes note of what the times are.
func (x *exporting) table() (export.TableOptions, error) {
	o := export.TableOptions{Options: x.chosen(), By: x.by, Columns: x.columns}
	series, _, err := x.trace.Merged().SeriesRanks()
	if err != nil || series.Len() > 0 || x.by == export.Signatures {
		return o, err
	}
	durations, gaps, err := x.trace.Merged().Summaries()
	switch {
	case err != nil:
		return o, err
	case durations.Histograms != nil || gaps.Histograms != nil:
		x.estimated(query.Histograms)
	case !durations.IsZero() || !gaps.IsZero():
		x.estimated(query.Statistics)
	}
	return o, nil
}

func (x *exporting) estimated(from query.Source) {
	x.notes = append(x.notes, "times are estimates from "+from.String()+", of which time_source tells")
}

func exportParquet(x *exporting, w io.Writer) error { return exportTable(x, w, parquet.Write) }
func exportCSV(x *exporting, w io.Writer) error     { return exportTable(x, w, csv.Write) }

func exportTable(x *exporting, w io.Writer, write func(context.Context, io.Writer, *reprise.Trace, export.TableOptions) error) error {
	o, err := x.table()
	if err != nil {
		return err
	}
	err = write(x.ctx, w, x.trace, o)
	var unknown *export.ColumnError
	if errors.As(err, &unknown) {
		return usageError{fmt.Errorf("--columns: %w", err)}
	}
	return err
}

func exportPprof(x *exporting, w io.Writer) error {
	return pprof.Write(x.ctx, w, x.trace, x.chosen())
}
