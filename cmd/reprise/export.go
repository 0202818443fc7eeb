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

	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/chrome"
	"github.com/reprise-trace/reprise/export/csv"
	"github.com/reprise-trace/reprise/export/paraver"
	"github.com/reprise-trace/reprise/export/parquet"
	"github.com/reprise-trace/reprise/export/perfetto"
	"github.com/reprise-trace/reprise/export/pprof"
	"github.com/reprise-trace/reprise/export/simgrid"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// An exportFormat is what a trace can be exported to.
type exportFormat struct {
	name     string
	suffixes []string // of the names of files, the first being the usual one
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
	{name: "parquet", suffixes: []string{".parquet"}, table: true, write: exportParquet},
	{name: "csv", suffixes: []string{".csv"}, table: true, write: exportCSV},
	{name: "perfetto", suffixes: []string{".pftrace"}, write: exportPerfetto},
	{name: "chrome", suffixes: []string{".json"}, write: exportChrome},
	{name: "paraver", suffixes: []string{".prv"},
		beside: []beside{{".pcf", exportParaverConfig}, {".row", exportParaverRows}}, write: exportParaver},
	{name: "simgrid", suffixes: []string{".ti"}, write: exportSimGrid},
	{name: "pprof", suffixes: []string{".pb.gz", ".pprof"}, write: exportPprof},
}

// An exporting is the calls that are to be exported, and what is to be told of them.
type exporting struct {
	*question
	by      export.By
	columns []string

	progress func(calls uint64) // how many are done
	notes    []string           // to be printed when it is done
}

type exportOptions struct {
	output  string
	format  *choice
	by      *choice
	columns []string
}

func newExport() *cobra.Command {
	var names []string
	for _, f := range exportFormats {
		names = append(names, f.name)
	}
	var q *question
	o := exportOptions{format: newChoice(append([]string{""}, names...)...), by: newChoice("call", "signature", "message")}
	q = newQuestion("export", func() error { return o.check(q) }, func(q *question) error { return exportTrace(q, o) }, optRanks, optWindow)
	f := q.Flags()
	f.StringVarP(&o.output, "output", "o", "", "the `file` to write")
	addChoice(q.Command, o.format, "format", "format of the output")
	f.Lookup("format").DefValue = "by the name of OUT"
	addChoice(q.Command, o.by, "by", "meaning of a row")
	f.StringSliceVar(&o.columns, "columns", nil, "write only these columns of a table: `names`, with commas")
	f.Lookup("columns").DefValue = "all"
	return q.Command
}

// check fills in the format, and returns what is wrong with o.
func (o *exportOptions) check(q *question) error {
	if o.output == "" {
		return errors.New("export needs -o OUT")
	}
	if o.format.value == "" {
		name := strings.ToLower(filepath.Base(o.output))
		for _, f := range exportFormats {
			if slices.ContainsFunc(f.suffixes, func(s string) bool { return strings.HasSuffix(name, s) }) {
				o.format.value = f.name
			}
		}
		if o.format.value == "" {
			return fmt.Errorf("the name %s does not say the format: --format is %s", o.output, o.format.list())
		}
	}
	f := o.formatOf()
	for _, name := range []string{"by", "columns"} {
		if !f.table && q.Flags().Changed(name) {
			return fmt.Errorf("--%s does not go with --format %s, which is not a table", name, f.name)
		}
	}
	for _, b := range f.beside {
		if o.output != "-" && o.nameOf(b) == o.output {
			return fmt.Errorf("-o %s is the name of an additional output file: name the output as in %s", o.output, f.suffixes[0])
		}
	}
	return nil
}

// nameOf returns the name of a file beside the output.
func (o *exportOptions) nameOf(b beside) string {
	return strings.TrimSuffix(o.output, filepath.Ext(o.output)) + b.suffix
}

// formatOf returns the format.
func (o *exportOptions) formatOf() *exportFormat {
	return &exportFormats[slices.IndexFunc(exportFormats, func(f exportFormat) bool { return f.name == o.format.value })]
}

func exportTrace(q *question, o exportOptions) error {
	x := &exporting{question: q, columns: o.columns}
	unit := "call"
	switch o.by.value {
	case "signature":
		x.by, unit = export.Signatures, "signature"
	case "message":
		x.by, unit = export.Messages, "message"
	}
	if err := x.choose(); err != nil {
		return err
	}
	if x.by != export.Signatures && !slices.Contains([]string{"pprof", "simgrid"}, o.format.value) {
		q.warnUnordered()
	}
	var size counter
	bar := newCounter(q.Context(), q.ErrOrStderr(), "export", q.totalCalls(), "calls")
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
	err := writeOutputs(q.Command, files, []string{q.path})
	bar.done()
	if err != nil {
		return named(err)
	}
	out := summaryOf(q.Command, o.output)
	fmt.Fprintf(out, "%s: %s, %s\n", text.Printable(o.output), text.Plural(done, unit), text.Plural(int64(size), "byte"))
	for _, n := range x.notes {
		fmt.Fprintf(out, "  %s\n", n)
	}
	tellOpening(out, f.name, o.output)
	return nil
}

// write has an error of reading name the trace, and one of w what w does.
func (x *exporting) write(write func(x *exporting, w io.Writer) error, w io.Writer) error {
	out := &failing{w: w}
	err := write(x, out)
	if out.err != nil || err == nil {
		return out.err
	}
	return x.fail(err)
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

// choose sets the times that --from and --to choose.
func (x *exporting) choose() error {
	if !x.window.set {
		return nil
	}
	best, series, err := x.times()
	switch {
	case err != nil:
		return err
	case best == query.None:
		return errNoTimes(x.path, x.trace)
	case query.HasThreads(x.trace) && series < x.trace.RankSet().Len():
		x.notes = append(x.notes, threadsNote)
	}
	return nil
}

// times returns by what times are known at best, and of how many ranks there are those of every call.
func (x *exporting) times() (best query.Source, series int, err error) {
	times, err := query.OpenTimes(x.trace)
	if err != nil {
		return query.None, 0, err
	}
	best, ranks, err := times.Known()
	return best, ranks.Len(), err
}

// table returns what is chosen of a table, and takes note of what the times are.
func (x *exporting) table() (export.TableOptions, error) {
	o := export.TableOptions{Options: x.chosen(), By: x.by, Columns: x.columns}
	best, _, err := x.times()
	if err == nil && x.by != export.Signatures && (best == query.Statistics || best == query.Histograms) {
		x.notes = append(x.notes, "times are estimates from "+best.String()+": see the column time_source")
	}
	return o, err
}

func exportParquet(x *exporting, w io.Writer) error { return exportTable(x, w, parquet.Write) }
func exportCSV(x *exporting, w io.Writer) error     { return exportTable(x, w, csv.Write) }

func exportTable(x *exporting, w io.Writer, write func(context.Context, io.Writer, *trace.Trace, export.TableOptions) error) error {
	o, err := x.table()
	if err != nil {
		return err
	}
	err = write(x.Context(), w, x.trace, o)
	if errors.As(err, new(*export.ColumnError)) {
		return badUsage(fmt.Errorf("--columns: %w", err))
	}
	return err
}

func exportPprof(x *exporting, w io.Writer) error {
	return pprof.Write(x.Context(), w, x.trace, x.chosen())
}

func exportPerfetto(x *exporting, w io.Writer) error { return exportEvents(x, w, perfetto.Write) }
func exportChrome(x *exporting, w io.Writer) error   { return exportEvents(x, w, chrome.Write) }

func exportParaver(x *exporting, w io.Writer) error {
	o, err := x.events()
	if err != nil {
		return err
	}
	m, err := paraver.Write(x.Context(), w, x.trace, o)
	if m.Sent > 0 {
		note := fmt.Sprintf("%s are written", text.Plural(m.Written, "communication"))
		if m.Written == 1 {
			note = "1 communication is written"
		}
		if m.Written < m.Sent {
			note += fmt.Sprintf(", of %s that calls send: the others are left out", text.Plural(m.Sent, "message"))
		}
		x.notes = append(x.notes, note)
	}
	return err
}

func exportParaverConfig(x *exporting, w io.Writer) error { return paraver.WriteConfig(w, x.trace) }

func exportParaverRows(x *exporting, w io.Writer) error {
	return paraver.WriteRows(x.Context(), w, x.trace, x.chosen())
}

func exportSimGrid(x *exporting, w io.Writer) error {
	o, err := x.events()
	if err != nil {
		return err
	}
	if isTI(x.trace) {
		x.notes = nil
	} else if best, _, err := x.times(); err == nil && best == query.None {
		x.notes = []string{"the trace has no times: there is no computation between the calls"}
	}
	if x.leavesOut() || x.window.set {
		x.notes = append(x.notes, "a replay may wait for partners that were left out")
	}
	return simgrid.Write(x.Context(), w, x.trace, simgrid.Options{Options: o})
}

// exportEvents writes the calls as write has them.
func exportEvents(x *exporting, w io.Writer, write func(context.Context, io.Writer, *trace.Trace, export.Options) error) error {
	o, err := x.events()
	if err != nil {
		return err
	}
	return write(x.Context(), w, x.trace, o)
}

// chosen returns what is chosen.
func (x *exporting) chosen() export.Options {
	o := export.Options{Ranks: x.ranks, Progress: func(calls uint64) error { x.progress(calls); return nil }}
	if x.window.set {
		o.Between = &export.Interval{From: int64(x.window.from), To: int64(x.window.to)}
	}
	return o
}

// events returns what is chosen, and takes note of what the times are.
func (x *exporting) events() (export.Options, error) {
	o := x.chosen()
	best, _, err := x.times()
	switch {
	case err != nil:
		return o, err
	case best == query.None:
		x.notes = append(x.notes, "the trace has no times: each call takes one microsecond")
	case best != query.Series:
		x.notes = append(x.notes, "times are estimates from the means of each signature")
	}
	return o, nil
}
