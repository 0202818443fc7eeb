package show

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/launching"
	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/chrome"
	"github.com/reprise-trace/reprise/export/csv"
	"github.com/reprise-trace/reprise/export/otf2"
	"github.com/reprise-trace/reprise/export/paraver"
	"github.com/reprise-trace/reprise/export/parquet"
	"github.com/reprise-trace/reprise/export/perfetto"
	"github.com/reprise-trace/reprise/export/pprof"
	"github.com/reprise-trace/reprise/export/simgrid"
	"github.com/reprise-trace/reprise/internal/text"
	archive "github.com/reprise-trace/reprise/mpi/otf2"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// An exportFormat is what a trace can be exported to.
type exportFormat struct {
	Name     string
	Suffixes []string // of the names of files, the first being the usual one
	table    bool     // whether it is a table, for which there are --by and --columns

	beside []beside // files

	// write writes the calls that are chosen, or writeDirectory does, if the output is a directory.
	write          func(x *exporting, w io.Writer) error
	writeDirectory func(x *exporting, directory string) error
}

// A beside is a file to be written beside the output, of its name with another suffix.
type beside struct {
	suffix string
	write  func(x *exporting, w io.Writer) error
}

// ExportFormats are all of them, in the order of the help.
var ExportFormats = []exportFormat{
	{Name: "parquet", Suffixes: []string{".parquet"}, table: true, write: exportParquet},
	{Name: "csv", Suffixes: []string{".csv"}, table: true, write: exportCSV},
	{Name: "perfetto", Suffixes: []string{".pftrace"}, write: exportPerfetto},
	{Name: "chrome", Suffixes: []string{".json"}, write: exportChrome},
	{Name: "paraver", Suffixes: []string{".prv"},
		beside: []beside{{".pcf", exportParaverConfig}, {".row", exportParaverRows}}, write: exportParaver},
	{Name: "otf2", Suffixes: []string{".otf2"}, writeDirectory: exportOTF2},
	{Name: "simgrid", Suffixes: []string{".ti"}, write: exportSimGrid},
	{Name: "pprof", Suffixes: []string{".pb.gz", ".pprof"}, write: exportPprof},
}

// An exporting is the calls that are to be exported, and what is to be told of them.
type exporting struct {
	*cli.Question
	by      export.By
	columns []string

	progress func(calls uint64) // how many are done
	size     int64              // of the output, in bytes
	notes    []string           // to be printed when it is done
}

type exportOptions struct {
	output  string
	format  *cli.Choice
	by      *cli.Choice
	columns []string
}

func NewExport() *cobra.Command {
	var names []string
	for _, f := range ExportFormats {
		names = append(names, f.Name)
	}
	var q *cli.Question
	o := exportOptions{format: cli.NewChoice(append([]string{""}, names...)...),
		by: cli.NewChoice("call", "signature", "message")}
	q = cli.NewQuestion("export", func() error { return o.check(q) }, func(q *cli.Question) error {
		return exportTrace(q, o)
	}, cli.OptRanks, cli.OptWindow)
	f := q.Flags()
	f.StringVarP(&o.output, "output", "o", "", "the `file` to write")
	cli.AddChoice(q.Command, o.format, "format", "format of the output")
	f.Lookup("format").DefValue = "by the name of OUT"
	cli.AddChoice(q.Command, o.by, "by", "meaning of a row")
	f.StringSliceVar(&o.columns, "columns", nil, "write only these columns of a table: `names`, with commas")
	f.Lookup("columns").DefValue = "all"
	return q.Command
}

// check fills in the format, and returns what is wrong with o.
func (o *exportOptions) check(q *cli.Question) error {
	if o.output == "" {
		return errors.New("export needs -o OUT")
	}
	if o.format.Value == "" {
		name := strings.ToLower(filepath.Base(o.output))
		for _, f := range ExportFormats {
			if slices.ContainsFunc(f.Suffixes, func(s string) bool { return strings.HasSuffix(name, s) }) {
				o.format.Value = f.Name
			}
		}
		if o.format.Value == "" {
			return fmt.Errorf("the name %s does not say the format: --format is %s", o.output, o.format.List())
		}
	}
	f := o.formatOf()
	for _, name := range []string{"by", "columns"} {
		if !f.table && q.Flags().Changed(name) {
			return fmt.Errorf("--%s does not go with --format %s, which is not a table", name, f.Name)
		}
	}
	if f.writeDirectory != nil && o.output == "-" {
		return fmt.Errorf("-o -: %s is a directory, not a file", f.Name)
	}
	for _, b := range f.beside {
		if o.output != "-" && o.nameOf(b) == o.output {
			return fmt.Errorf("-o %s is the name of an additional output file: name the output as in %s",
				o.output, f.Suffixes[0])
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
	return &ExportFormats[slices.IndexFunc(ExportFormats, func(f exportFormat) bool {
		return f.Name == o.format.Value
	})]
}

func exportTrace(q *cli.Question, o exportOptions) error {
	x := &exporting{Question: q, columns: o.columns}
	unit := "call"
	switch o.by.Value {
	case "signature":
		x.by, unit = export.Signatures, "signature"
	case "message":
		x.by, unit = export.Messages, "message"
	}
	if err := x.choose(); err != nil {
		return err
	}
	if x.by != export.Signatures && !slices.Contains([]string{"pprof", "simgrid"}, o.format.Value) {
		q.WarnUnordered()
	}
	var size cli.Counter
	bar := cli.NewCounter(q.Context(), q.ErrOrStderr(), "export", q.TotalCalls(), "calls")
	var done uint64
	x.progress = func(calls uint64) {
		done = calls
		bar.Show(calls)
	}
	f := o.formatOf()
	if f.writeDirectory != nil {
		err := x.directory(f, &o)
		bar.Done()
		return x.summary(f, &o, done, unit, err)
	}
	files := []cli.OutputFile{{Path: o.output, Write: func(w io.Writer) error {
		return x.write(f.write, io.MultiWriter(w, &size))
	}}}
	if cli.IsFile(o.output) {
		for _, b := range f.beside {
			files = append(files, cli.OutputFile{Path: o.nameOf(b), Write: func(w io.Writer) error {
				return x.write(b.write, w)
			}})
		}
	}
	err := cli.WriteOutputs(q.Command, files, []string{q.Path})
	bar.Done()
	x.size = int64(size)
	return x.summary(f, &o, done, unit, err)
}

// summary tells what was written, unless that failed.
func (x *exporting) summary(f *exportFormat, o *exportOptions, done uint64, unit string, err error) error {
	if err != nil {
		return cli.Named(err)
	}
	out := cli.SummaryOf(x.Command, o.output)
	fmt.Fprintf(out, "%s: %s, %s\n", text.Printable(o.output), text.Plural(done, unit), text.Plural(x.size, "byte"))
	for _, n := range x.notes {
		fmt.Fprintf(out, "  %s\n", n)
	}
	opened := o.output
	if f.writeDirectory != nil {
		opened = filepath.Join(opened, "traces.otf2")
	}
	cli.TellOpening(out, f.Name, opened)
	return nil
}

// directory writes a directory, which must be empty if it is there.
func (x *exporting) directory(f *exportFormat, o *exportOptions) error {
	if files, err := os.ReadDir(o.output); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return cli.FileError(o.output, err)
	} else if len(files) > 0 {
		return cli.FileError(o.output, errors.New("the directory is not empty: remove it, or choose another name"))
	}
	return cli.WriteDirectory(x.Context(), o.output, func(directory string) error {
		if err := f.writeDirectory(x, directory); err != nil {
			if errors.Is(err, archive.ErrNoLibrary) {
				return err // which is not the trace's
			}
			return x.Fail(err)
		}
		return filepath.WalkDir(directory, func(_ string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() {
				var info fs.FileInfo
				if info, err = entry.Info(); err == nil {
					x.size += info.Size()
				}
			}
			return err
		})
	})
}

// write has an error of reading name the trace, and one of w what w does.
func (x *exporting) write(write func(x *exporting, w io.Writer) error, w io.Writer) error {
	out := &failing{w: w}
	err := write(x, out)
	if out.err != nil || err == nil {
		return out.err
	}
	return x.Fail(err)
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
	if !x.Part.Times {
		return nil
	}
	best, series, err := x.times()
	switch {
	case err != nil:
		return err
	case best == query.None:
		return cli.ErrNoTimes(x.Path, x.Trace)
	case query.HasThreads(x.Trace) && series < x.Trace.RankSet().Len():
		x.notes = append(x.notes, cli.ThreadsNote)
	}
	return nil
}

// times returns by what times are known at best, and of how many ranks there are those of every call.
func (x *exporting) times() (best query.Source, series int, err error) {
	times, err := query.OpenTimes(x.Trace)
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

func exportTable(x *exporting, w io.Writer,
	write func(context.Context, io.Writer, *trace.Trace, export.TableOptions) error) error {
	o, err := x.table()
	if err != nil {
		return err
	}
	err = write(x.Context(), w, x.Trace, o)
	if errors.As(err, new(*export.ColumnError)) {
		return cli.BadUsage(fmt.Errorf("--columns: %w", err))
	}
	return err
}

func exportPprof(x *exporting, w io.Writer) error {
	return pprof.Write(x.Context(), w, x.Trace, x.chosen())
}

func exportPerfetto(x *exporting, w io.Writer) error { return exportEvents(x, w, perfetto.Write) }
func exportChrome(x *exporting, w io.Writer) error   { return exportEvents(x, w, chrome.Write) }

func exportParaver(x *exporting, w io.Writer) error {
	o, err := x.events()
	if err != nil {
		return err
	}
	m, err := paraver.Write(x.Context(), w, x.Trace, o)
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

func exportParaverConfig(x *exporting, w io.Writer) error { return paraver.WriteConfig(w, x.Trace) }

func exportParaverRows(x *exporting, w io.Writer) error {
	return paraver.WriteRows(x.Context(), w, x.Trace, x.chosen())
}

func exportOTF2(x *exporting, directory string) error {
	building := launching.Building{Stderr: x.ErrOrStderr()}
	defer building.End()
	bridge := archive.Options{CacheDir: launching.CacheDirectory(),
		Building: func() { building.Say("the bridge to OTF2's library") }}
	if !x.LeavesOut() && !x.Part.Times {
		err := archive.IsWhole(x.Trace)
		if err == nil {
			records, err := archive.Export(x.Context(), x.Trace, directory, bridge)
			x.progress(uint64(x.TotalCalls()))
			x.notes = []string{fmt.Sprintf("all %s of the archive that the trace was made of",
				text.Plural(records, "record"))}
			return err
		}
		if !errors.Is(err, archive.ErrNotImported) && !errors.Is(err, archive.ErrNotExact) {
			return err
		}
	}
	o, err := x.events()
	if err != nil {
		return err
	}
	o.Progress = func(calls uint64) error {
		building.End() // which comes first
		x.progress(calls)
		return nil
	}
	said, err := otf2.Write(x.Context(), directory, x.Trace, otf2.Options{Options: o, Bridge: bridge})
	if said.Omitted > 0 {
		x.notes = append(x.notes, fmt.Sprintf("%s that calls send are left out, of %s: their receivers are not known, "+
			"or were not chosen", text.Plural(said.Omitted, "message"), text.Plural(said.Messages, "message")))
	}
	if said.Unsized > 0 {
		x.notes = append(x.notes, fmt.Sprintf("%s of unknown size are written with 0 bytes",
			text.Plural(said.Unsized, "operation")))
	}
	if said.Reversed > 0 {
		x.notes = append(x.notes, fmt.Sprintf("%s arrive before they are sent, by more than times are off: clocks differ, "+
			"or threads overlap", text.Plural(said.Reversed, "message")))
	}
	return err
}

func exportSimGrid(x *exporting, w io.Writer) error {
	o, err := x.events()
	if err != nil {
		return err
	}
	if isTI(x.Trace) {
		x.notes = nil
	} else if best, _, err := x.times(); err == nil && best == query.None {
		x.notes = []string{"the trace has no times: there is no computation between the calls"}
	}
	if x.LeavesOut() || x.Part.Times {
		x.notes = append(x.notes, "a replay may wait for partners that were left out")
	}
	return simgrid.Write(x.Context(), w, x.Trace, simgrid.Options{Options: o})
}

// exportEvents writes the calls as write has them.
func exportEvents(x *exporting, w io.Writer,
	write func(context.Context, io.Writer, *trace.Trace, export.Options) error) error {
	o, err := x.events()
	if err != nil {
		return err
	}
	return write(x.Context(), w, x.Trace, o)
}

// chosen returns what is chosen.
func (x *exporting) chosen() export.Options {
	o := export.Options{Ranks: x.Ranks, Progress: func(calls uint64) error { x.progress(calls); return nil }}
	if x.Part.Times {
		o.Between = &export.Interval{From: int64(x.Part.From), To: x.Part.Until()}
	}
	return o
}

// events returns what is chosen, and takes note of what the times are.
func (x *exporting) events() (export.Options, error) {
	o := x.chosen()
	best, _, err := x.times()
	if err != nil {
		return o, err
	}
	off, err := x.guarantee()
	switch {
	case err != nil:
		return o, err
	case best == query.None:
		x.notes = append(x.notes, "the trace has no times: each call takes one microsecond")
	case best != query.Series:
		x.notes = append(x.notes, "times are estimates from the means of each signature")
	case off > timing.Exact:
		x.notes = append(x.notes, fmt.Sprintf("durations are off by up to %.3g %%", 100*float64(off)))
	}
	return o, nil
}

// guarantee returns how far the times of every call may be off.
func (x *exporting) guarantee() (timing.Guarantee, error) {
	times, err := query.OpenTimes(x.Trace)
	if err != nil {
		return 0, err
	}
	return times.Guarantee()
}
