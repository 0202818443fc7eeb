package show

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/answers"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/simgrid"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

func NewInfo() *cobra.Command {
	var compare bool
	q := cli.NewQuestion("info", nil, func(q *cli.Question) error { return info(q, compare) }, cli.OptJSON, cli.OptAll)
	q.Flags().Lookup("all").Usage = fmt.Sprintf("show all shapes, not the first %d", MaxShapes)
	q.Flags().BoolVar(&compare, "compare", false, "compare with the text compressed by gzip and zstd")
	return q.Command
}

// MaxShapes is how many shapes are shown if nobody asks for all.
const MaxShapes = 20

// An Info is what a trace holds. Numbers that a forged trace makes too large are
// the largest there are.
type Info struct {
	cli.Header
	Source     string           `json:"origin"`
	MadeBy     *format.Origin   `json:"made_by"` // null if the trace does not say
	Worlds     []format.World   `json:"worlds,omitempty"`
	Clocks     []format.Clock   `json:"clocks,omitempty"`
	Bounded    *cli.BoundedInfo `json:"bounded,omitempty"`
	Size       int              `json:"run_ranks"`
	Part       bool             `json:"part"`  // a part file, not a trace
	Active     int              `json:"ranks"` // with calls
	Silent     rankenc.Set      `json:"silent_rank_set"`
	Unreadable rankenc.Set      `json:"unreadable_rank_set"`
	Calls      uint64           `json:"calls"`
	ShapeCount int              `json:"number_of_shapes"`
	Shapes     []shapeInfo      `json:"shapes"`
	Programs   []query.Program  `json:"programs"`
	Signatures int              `json:"number_of_signatures"`
	Symbols    uint64           `json:"grammar_symbols"` // of all shapes
	Functions  []FunctionCount  `json:"functions"`
	Arguments  []form           `json:"arguments"`
	Columns    []form           `json:"columns"`
	Inline     int              `json:"column_bytes_in_signatures"`
	Sections   []sectionSize    `json:"sections"`
	Bytes      int64            `json:"trace_bytes"`
	Times      *TimeInfo        `json:"times"` // null if there are none
	Text       *TextSizes       `json:"text"`  // null if the trace is none of text, or damaged
	Doubts     []string         `json:"warnings,omitempty"`
	cli.Recorded
}

type FunctionCount struct {
	Name  string `json:"function"`
	Calls uint64 `json:"calls"`
}

// A form is how some arguments or columns are written.
type form struct {
	Form    string `json:"form"`
	Count   int    `json:"count"`
	Content int64  `json:"content_bytes,omitempty"` // of columns
}

func formsOf(list []trace.FormCount) []form {
	forms := []form{}
	for _, f := range list {
		forms = append(forms, form{f.Name, f.Count, f.Bytes})
	}
	return forms
}

// A sectionSize is the sizes of all sections of a kind.
type sectionSize struct {
	Kind    string `json:"kind"`
	Count   int    `json:"count"`
	Shared  int    `json:"shared"` // of them, those whose content another section holds
	Content int64  `json:"content_bytes"`
	Stored  int64  `json:"stored_bytes"`
}

func info(q *cli.Question, compare bool) error {
	file, err := os.Stat(q.Path)
	if err != nil {
		return err
	}
	a := &Info{Header: q.Header(), Source: q.Trace.Run().Source, Size: q.Trace.Ranks(), Bytes: file.Size()}
	a.Clocks = q.Trace.Run().Clocks
	a.Worlds, a.Bounded = q.Trace.Run().Worlds, cli.DescribeBounded(q.Trace)
	if o := q.Trace.Run().Origin; !layout.NoOrigin(&o) {
		a.MadeBy = &o
	}
	made := q.Trace.Content().Recorded
	a.Active, a.Silent = made.Len(), rankenc.World(a.Size).Difference(made)
	if err := a.count(q); err != nil {
		return err
	}
	a.Unreadable = cli.Unreadable(q.Trace)
	a.Doubts = cli.WarnDoubts(q.Context(), q.ErrOrStderr(), q.Path, q.Trace)
	a.sections(q.Trace)
	if a.Times, err = describeTimes(q); err != nil {
		return err
	}
	if compare && a.Text == nil && len(q.Trace.Damage()) == 0 {
		return cli.BadUsage(
			errors.New("--compare is for traces made from a SimGrid trace: this one has no text to compare with"))
	}
	if compare && a.Text != nil {
		bar := cli.NewProgress(q.Context(), q.ErrOrStderr(), "gzip and zstd", int64(min(a.Text.Plain, 1<<62)))
		err := a.Text.Compress(q.Context(), q.Trace, bar)
		if bar.Done(); err != nil {
			return err
		}
	}
	return q.Answer(a, func() { a.print(q) })
}

// count fills in what the calls are, and how they are written.
func (a *Info) count(q *cli.Question) error {
	t := q.Trace
	bar := cli.NewCounter(q.Context(), q.ErrOrStderr(), "info", int64(a.Active), "ranks")
	defer bar.Done()
	c := newCallCounter(t, bar)
	if err := c.count(q.Context()); err != nil {
		return err
	}
	for _, s := range c.shapes {
		if s != nil {
			a.Calls = wire.AddSat(a.Calls, wire.MulSat(s.Grammar.Len(), uint64(s.Ranks.Len())))
			a.Symbols += uint64(s.Grammar.Symbols())
		}
	}
	var err error
	if a.Recorded, err = q.Recorded(); err != nil {
		return err
	}
	most := MaxShapes
	if q.All || q.JSON {
		most = t.Shapes()
	}
	a.ShapeCount, a.Shapes = t.Shapes(), describeShapes(q.Trace, c.shapes, most)
	if a.Programs, err = query.Programs(q.Context(), t); err != nil {
		return err
	}
	a.Signatures = t.Signatures()
	a.Functions = c.sorted()
	arguments, columns, inline := t.Forms()
	a.Arguments, a.Columns, a.Inline = formsOf(arguments), formsOf(columns), inline
	if c.toTI != nil && len(t.Damage()) == 0 && t.Content().Exact {
		a.Text = &TextSizes{Plain: c.text}
	}
	return nil
}

// sections sums up the sections by kind. What no section takes, the header and
// the index, is the container.
func (a *Info) sections(tr *trace.Trace) {
	kinds := make(map[format.Kind]*sectionSize)
	rest := a.Bytes
	for _, s := range tr.Sections() {
		size := kinds[s.Kind]
		if size == nil {
			size = &sectionSize{Kind: layout.KindName(s.Kind)}
			kinds[s.Kind] = size
		}
		size.Count++
		size.Content += s.Len
		size.Stored += s.Size
		if s.Source != s.Offset { // it shares a record
			size.Shared++
		}
		rest -= s.Size
		a.Part = a.Part || s.Kind == layout.KindPart
	}
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		a.Sections = append(a.Sections, *kinds[k])
	}
	a.Sections = append(a.Sections, sectionSize{Kind: "container", Count: 1, Content: rest, Stored: rest})
}

// printMadeBy prints who made the trace, as far as it says.
func (a *Info) printMadeBy(q *cli.Question) {
	o := a.MadeBy
	if o == nil {
		return
	}
	for _, of := range []struct {
		what string
		list []string
	}{{"command", o.Commands}, {"run", o.Runs}, {"job", o.Jobs}, {"hosts", o.Hosts}, {"versions", o.Versions},
		{"conditional on", o.Assumptions}, {"times in the archive", o.Times}} {
		if len(of.list) > 0 {
			q.Printf("%s: %s\n", of.what, text.CutList(text.Printable(strings.Join(of.list, ", ")), maxMadeBy))
		}
	}
	if o.ClockError > 0 {
		q.Printf("clock: times may be off that of the machine by %s\n", text.Duration(o.ClockError))
	}
	a.printMissing(q)
	a.printPolls(q)
	if o.World > 0 {
		q.Printf("MPI_COMM_WORLD: %s\n", text.Plural(o.World, "rank"))
	}
	if !o.Began.IsZero() {
		q.Printf("began: %s\n", o.Began.Format(time.RFC3339))
	}
}

// maxMissing is how many ranks of which calls are missing are shown.
const maxMissing = 10

// printMissing prints which calls could not be recorded.
func (a *Info) printMissing(q *cli.Question) {
	list := a.MadeBy.Missing
	for _, m := range list[:min(len(list), maxMissing)] {
		records := "calls"
		if m.Records > 0 {
			records = fmt.Sprintf("%s records of calls and of memory", text.Count(m.Records))
		}
		from := m.Since.Format(time.RFC3339Nano)
		if began := a.MadeBy.Began; !began.IsZero() {
			from = fmt.Sprintf("%.3f s after it began", m.Since.Sub(began).Seconds())
		}
		q.Printf("missing: %s of rank %d, from %s\n", records, m.Rank, from)
	}
	if more := len(list) - maxMissing; more > 0 {
		q.Printf("missing: also calls of %s\n", text.Plural(more, "other rank"))
	}
}

// maxPolls is how many sites of polls that were left out are shown.
const maxPolls = 10

// printPolls prints how many polls were left out, where.
func (a *Info) printPolls(q *cli.Question) {
	list := a.MadeBy.Polls
	for _, p := range list[:min(len(list), maxPolls)] {
		site := ""
		if p.Site != "" {
			site = " at " + text.CutList(text.Printable(p.Site), maxMadeBy)
		}
		q.Printf("left out: %s of %s that found nothing%s\n", text.Plural(p.Calls, "call"),
			text.Printable(p.Function), site)
	}
	if more := len(list) - maxPolls; more > 0 {
		q.Printf("left out: also such calls at %s\n", text.Plural(more, "other site"))
	}
}

// printWorlds prints the worlds of a run that has several.
func (a *Info) printWorlds(q *cli.Question) {
	run := q.Trace.Run()
	for i, w := range a.Worlds {
		_, first, size := run.WorldOf(w.First)
		started := ""
		if w.Parent >= 0 {
			started = fmt.Sprintf(", started by MPI_Comm_spawn of rank %d, number %d", w.Parent, w.Spawn)
		}
		q.Printf("%s: %s%s\n", fmt.Sprint("world", i), text.Ranks(
			rankenc.World(first+size).Difference(rankenc.World(first))), started)
	}
}

// maxMadeBy is how many bytes of each list of who made a trace are shown.
const maxMadeBy = 400

// print begins with size, calls, times and program, and ends with the shapes.
func (a *Info) print(q *cli.Question) {
	a.printSummary(q)
	t := q.Section("<function", "calls", "")
	for _, f := range a.Functions {
		t.Row(text.Printable(f.Name), f.Calls, text.Percent(f.Calls, a.Calls))
	}
	t.Close()
	if a.Times != nil {
		a.Times.print(q)
	}
	t = q.Section("<sections", "number", "content", "stored", "")
	for _, s := range a.Sections {
		t.Row(s.Kind, s.Count, s.Content, s.Stored, text.Percent(s.Stored, a.Bytes))
		if s.Kind == layout.KindName(layout.KindSignatures) && a.Inline > 0 {
			t.Row("  of them columns", "", a.Inline, "", "")
		}
	}
	t.Close()
	q.Printf("\n")
	PrintSizes(q.OutOrStdout(), a.Text, uint64(a.Bytes))
	t = q.Section("<arguments", "number")
	for _, f := range a.Arguments {
		t.Row(f.Form, f.Count)
	}
	t.Close()
	t = q.Section("<columns", "number", "content")
	for _, f := range a.Columns {
		t.Row(f.Form, f.Count, f.Content)
	}
	t.Close()
	a.printShapes(q)
}

// printSummary prints the size, the calls and the times of the run, and which program that was.
func (a *Info) printSummary(q *cli.Question) {
	what, from := "", ""
	if a.Part {
		what = "part file, "
	}
	if a.Source != "" {
		from = ", from " + text.Printable(a.Source)
	}
	q.Printf("%s: %s%s, %s%s\n", text.Printable(q.Path), what, cli.RankCount(a.Size, a.Active),
		text.Plural(a.Calls, "call"), from)
	q.Printf("size: %s\n", text.Bytes(a.Bytes))
	a.Times.printRun(q)
	a.printMadeBy(q)
	a.printWorlds(q)
	if silent := a.Silent.Difference(a.Unrecorded); silent.Len() > 0 {
		q.Printf("without calls: %s\n", text.Ranks(silent))
	}
	if len(a.Clocks) > 0 {
		q.Printf("clocks: %s\n", answers.Clocks(a.Clocks))
	}
	a.Bounded.Print(q.OutOrStdout())
	a.Recorded.Print(q.OutOrStdout())
	if a.Unreadable.Len() > 0 {
		q.Printf("unreadable, not counted: %s\n", text.Ranks(a.Unreadable))
	}
}

// printShapes prints the shapes.
func (a *Info) printShapes(q *cli.Question) {
	q.Printf("\n%s, %s, %s\n", text.Shapes(a.ShapeCount, len(a.Programs)),
		text.Plural(a.Signatures, "signature"), text.Plural(a.Symbols, "grammar symbol"))
	if len(a.Shapes) > 0 {
		q.Printf("\n")
	}
	for _, s := range a.Shapes {
		s.Print(q.OutOrStdout())
	}
	if n := a.ShapeCount - len(a.Shapes); n > 0 && a.Unreadable.Len() == 0 {
		q.Printf("and %s: --all shows them\n", text.Plural(n, "more shape"))
	}
}

// isTI reports whether a trace was made from a SimGrid trace, or merged from
// several, and holds nothing else.
func isTI(tr *trace.Trace) bool {
	if !slices.Contains(strings.Split(tr.Run().Source, cli.SourceSeparator), simgrid.Source) {
		return false
	}
	_, err := newConverter(tr)
	return err == nil
}

// A callCounter counts the calls of a trace from its grammars, without expanding
// them.
type callCounter struct {
	trace *trace.Trace
	bar   *cli.Progress

	shapes    []*trace.Shape // those that have ranks, nil for the others
	done      int            // ranks that were looked at
	functions []uint64       // calls of each function

	toTI func(trace.Call) simgrid.Call // nil: no text
	text uint64                        // bytes of the calls as text
	line []byte
}

func newCallCounter(tr *trace.Trace, bar *cli.Progress) *callCounter {
	c := &callCounter{
		trace: tr, bar: bar, shapes: make([]*trace.Shape, tr.Shapes()), functions: make([]uint64, len(tr.Functions())),
	}
	if isTI(tr) {
		c.toTI, _ = newConverter(tr)
	}
	return c
}

// count counts all calls.
func (c *callCounter) count(ctx context.Context) error {
	for number := range c.shapes {
		ranks := c.trace.ShapeRanks(number)
		if ranks.Len() == 0 {
			continue
		}
		s, err := c.trace.Shape(number)
		if err != nil {
			return err
		}
		c.shapes[number] = s
		for _, rank := range ranks.All() {
			if err := cmp.Or(ctx.Err(), c.rank(rank)); err != nil {
				return err
			}
			if c.toTI == nil {
				break // the first rank of a shape stands for the others
			}
		}
		for signature, count := range s.Grammar.Occurrences() {
			f := &c.functions[c.trace.FunctionOf(int(signature))]
			*f = wire.AddSat(*f, wire.MulSat(count, uint64(ranks.Len())))
		}
	}
	return nil
}

// rank counts the text of a rank.
func (c *callCounter) rank(rank int) error {
	c.done++
	c.bar.Show(uint64(c.done))
	if c.toTI == nil {
		_, err := c.trace.Folded(rank, nil)
		return err
	}
	r, err := c.trace.Rank(rank)
	if err != nil {
		return err
	}
	for s, count := range r.Occurrences() {
		if c.toTI == nil {
			break
		}
		if c.line, err = simgrid.AppendCall(c.line[:0], c.toTI(r.Call(s))); err != nil {
			c.toTI = nil // a call that is not a line: there is no text
			break
		}
		c.text = wire.AddSat(c.text, wire.MulSat(count, uint64(len(c.line))))
	}
	return nil
}

// sorted returns the calls of each function by name, the greatest first.
func (c *callCounter) sorted() []FunctionCount {
	calls := make(map[string]uint64)
	for i, f := range c.trace.Functions() {
		if c.functions[i] > 0 {
			calls[f.Name] = wire.AddSat(calls[f.Name], c.functions[i])
		}
	}
	list := make([]FunctionCount, 0, len(calls))
	for name, n := range calls {
		list = append(list, FunctionCount{name, n})
	}
	slices.SortFunc(list, func(a, b FunctionCount) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// A TextSizes is the size of a trace as text, and of the text compressed.
type TextSizes struct {
	Plain uint64 `json:"plain_bytes"`
	Gzip  uint64 `json:"gzip_bytes,omitempty"`
	Zstd  uint64 `json:"zstd_bytes,omitempty"`
}

// Compress writes the trace as text through gzip and zstd and counts what comes
// out. Each runs in a goroutine of its own.
func (t *TextSizes) Compress(ctx context.Context, tr *trace.Trace, bar *cli.Progress) error {
	var gz, zs, plain cli.Counter
	gzipped, err := gzip.NewWriterLevel(&gz, gzip.BestCompression)
	if err != nil {
		return err
	}
	zstded, err := zstd.NewWriter(&zs, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		return err
	}
	zstdIn, stop := inBackground(zstded)
	out := bufio.NewWriterSize(io.MultiWriter(gzipped, zstdIn, &plain), 64<<10)
	write, flush, err := newLineWriter(&catOptions{format: "ti"}, tr, out)
	if err != nil {
		return err
	}
	all := catOptions{count: math.MaxUint64}
	err = all.copyCalls(tr.Calls(0), func(position uint64, c trace.Call) error {
		if err := cmp.Or(ctx.Err(), write(position, c)); err != nil {
			return err
		}
		return bar.Step(uint64(plain))
	})
	for _, end := range []func() error{flush, out.Flush, gzipped.Close, stop, zstded.Close} {
		if e := end(); err == nil {
			err = e
		}
	}
	t.Gzip, t.Zstd = uint64(gz), uint64(zs)
	return err
}

// inBackground returns a writer to w that does not wait for it, and a function
// that does.
func inBackground(w io.Writer) (io.Writer, func() error) {
	r, in := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := io.Copy(w, r)
		r.CloseWithError(err)
		done <- err
	}()
	return in, func() error {
		in.Close()
		return <-done
	}
}

// PrintSizes prints the size of a trace beside those of its text, if that is known.
func PrintSizes(w io.Writer, t *TextSizes, bytes uint64) {
	table := text.NewTable(w, text.All, "<size", "bytes", "")
	plain := uint64(0)
	if t != nil {
		plain = t.Plain
		table.Row("text", t.Plain, "")
		if t.Gzip > 0 {
			table.Row("gzip -9 (this library)", t.Gzip, text.Ratio(t.Plain, t.Gzip))
			table.Row("zstd best (this library)", t.Zstd, text.Ratio(t.Plain, t.Zstd))
		}
	}
	ratio := text.Ratio(plain, bytes)
	if t == nil {
		ratio = ""
	}
	table.Row("this trace", bytes, ratio)
	table.Close()
}
