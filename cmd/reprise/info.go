package main

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

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/answers"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/groups"
	"github.com/reprise-trace/reprise/mpi/simgrid"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

func newInfo() *cobra.Command {
	var compare bool
	q := newQuestion("info", nil, func(q *question) error { return info(q, compare) }, optJSON, optAll)
	q.Flags().Lookup("all").Usage = fmt.Sprintf("show all shapes, not the first %d", maxShapes)
	q.Flags().BoolVar(&compare, "compare", false, "compare with the text compressed by gzip and zstd")
	return q.Command
}

// maxShapes is how many shapes are shown if nobody asks for all.
const maxShapes = 20

// An infoAnswer is what a trace holds. Numbers that a forged trace makes too large are
// the largest there are.
type infoAnswer struct {
	header
	Source     string          `json:"origin"`
	MadeBy     *merge.Origin   `json:"made_by"` // null if the trace does not say
	Worlds     []merge.World   `json:"worlds,omitempty"`
	Clocks     []merge.Clock   `json:"clocks,omitempty"`
	Bounded    *boundedInfo    `json:"bounded,omitempty"`
	Size       int             `json:"run_ranks"`
	Part       bool            `json:"part"`  // a part file, not a trace
	Active     int             `json:"ranks"` // with calls
	Silent     rankenc.Set     `json:"silent_rank_set"`
	Unreadable rankenc.Set     `json:"unreadable_rank_set"`
	Calls      uint64          `json:"calls"`
	ShapeCount int             `json:"number_of_shapes"`
	Shapes     []shapeInfo     `json:"shapes"`
	Programs   []query.Program `json:"programs"`
	Signatures int             `json:"number_of_signatures"`
	Symbols    uint64          `json:"grammar_symbols"` // of all shapes
	Functions  []functionCount `json:"functions"`
	Arguments  []form          `json:"arguments"`
	Columns    []form          `json:"columns"`
	Inline     int             `json:"column_bytes_in_signatures"`
	Sections   []sectionSize   `json:"sections"`
	Bytes      int64           `json:"trace_bytes"`
	Times      *timeInfo       `json:"times"` // null if there are none
	Text       *textSizes      `json:"text"`  // null if the trace is none of text, or damaged
	recorded
}

type functionCount struct {
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

func info(q *question, compare bool) error {
	file, err := os.Stat(q.path)
	if err != nil {
		return err
	}
	a := &infoAnswer{header: q.header(), Source: q.trace.Run().Source, Size: q.trace.Ranks(), Bytes: file.Size()}
	a.Clocks = q.trace.Run().Clocks
	a.Worlds, a.Bounded = q.trace.Run().Worlds, describeBounded(q.trace)
	if o := q.trace.Run().Origin; !o.IsZero() {
		a.MadeBy = &o
	}
	made := q.trace.Content().Recorded
	a.Active, a.Silent = made.Len(), rankenc.World(a.Size).Difference(made)
	if err := a.count(q); err != nil {
		return err
	}
	a.Unreadable = unreadable(q.trace)
	a.sections(q.trace)
	if a.Times, err = describeTimes(q); err != nil {
		return err
	}
	if compare && a.Text == nil && len(q.trace.Damage()) == 0 {
		return badUsage(errors.New("--compare is for traces made from a SimGrid trace: this one has no text to compare with"))
	}
	if compare && a.Text != nil {
		bar := newProgress(q.Context(), q.ErrOrStderr(), "gzip and zstd", int64(min(a.Text.Plain, 1<<62)))
		err := a.Text.compress(q.Context(), q.trace, bar)
		if bar.done(); err != nil {
			return err
		}
	}
	return q.answer(a, func() { a.print(q) })
}

// count fills in what the calls are, and how they are written.
func (a *infoAnswer) count(q *question) error {
	t := q.trace
	bar := newCounter(q.Context(), q.ErrOrStderr(), "info", int64(a.Active), "ranks")
	defer bar.done()
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
	if a.recorded, err = q.recorded(); err != nil {
		return err
	}
	most := maxShapes
	if q.all || q.json {
		most = t.Shapes()
	}
	a.ShapeCount, a.Shapes = t.Shapes(), describeShapes(q.trace, c.shapes, most)
	if a.Programs, err = query.Programs(q.Context(), t); err != nil {
		return err
	}
	a.Signatures = t.Signatures()
	a.Functions = c.sorted()
	forms := t.Forms()
	a.Arguments, a.Columns, a.Inline = formsOf(forms.Arguments), formsOf(forms.Columns), forms.Inline
	if c.toTI != nil && len(t.Damage()) == 0 && t.Content().Exact {
		a.Text = &textSizes{Plain: c.text}
	}
	return nil
}

// sections sums up the sections by kind. What no section takes, the header and
// the index, is the container.
func (a *infoAnswer) sections(tr *trace.Trace) {
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
		if s.Shared() {
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
func (a *infoAnswer) printMadeBy(q *question) {
	o := a.MadeBy
	if o == nil {
		return
	}
	for _, of := range []struct {
		what string
		list []string
	}{{"run", o.Runs}, {"job", o.Jobs}, {"command", o.Commands}, {"hosts", o.Hosts}, {"versions", o.Versions}, {"conditional on", o.Assumptions}} {
		if len(of.list) > 0 {
			q.printf("%s: %s\n", of.what, text.CutList(text.Printable(strings.Join(of.list, ", ")), maxMadeBy))
		}
	}
	a.printMissing(q)
	if o.World > 0 {
		q.printf("MPI_COMM_WORLD: %s\n", text.Plural(o.World, "rank"))
	}
	if !o.Began.IsZero() {
		q.printf("began: %s\n", o.Began.Format(time.RFC3339))
	}
}

// maxMissing is how many ranks of which calls are missing are shown.
const maxMissing = 10

// printMissing prints which calls could not be recorded.
func (a *infoAnswer) printMissing(q *question) {
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
		q.printf("missing: %s of rank %d, from %s\n", records, m.Rank, from)
	}
	if more := len(list) - maxMissing; more > 0 {
		q.printf("missing: also calls of %s\n", text.Plural(more, "other rank"))
	}
}

// printWorlds prints the worlds of a run that has several.
func (a *infoAnswer) printWorlds(q *question) {
	run := q.trace.Run()
	for i, w := range a.Worlds {
		_, first, size := run.WorldOf(w.First)
		started := ""
		if w.Parent >= 0 {
			started = fmt.Sprintf(", started by MPI_Comm_spawn of rank %d, number %d", w.Parent, w.Spawn)
		}
		q.printf("%s: %s%s\n", groups.WorldName(run, i), text.Ranks(rankenc.World(first+size).Difference(rankenc.World(first))), started)
	}
}

// maxMadeBy is how many bytes of each list of who made a trace are shown.
const maxMadeBy = 400

func (a *infoAnswer) print(q *question) {
	out := q.OutOrStdout()
	what := ""
	if a.Part {
		what = "part file, "
	}
	from := ""
	if a.Source != "" {
		from = ", from " + text.Printable(a.Source)
	}
	q.printf("%s: %s%s, %s%s\n", text.Printable(q.path), what, rankCount(a.Size, a.Active), text.Plural(a.Calls, "call"), from)
	if silent := a.Silent.Difference(a.Unrecorded); silent.Len() > 0 {
		q.printf("without calls: %s\n", text.Ranks(silent))
	}
	a.printMadeBy(q)
	a.printWorlds(q)
	if len(a.Clocks) > 0 {
		q.printf("clocks: %s\n", answers.Clocks(a.Clocks))
	}
	a.Bounded.print(out)
	a.recorded.print(out)
	if a.Unreadable.Len() > 0 {
		q.printf("unreadable, not counted: %s\n", text.Ranks(a.Unreadable))
	}
	q.printf("%s, %s, %s\n", text.Shapes(a.ShapeCount, len(a.Programs)), text.Plural(a.Signatures, "signature"), text.Plural(a.Symbols, "grammar symbol"))
	if len(a.Shapes) > 0 {
		q.printf("\n")
	}
	for _, s := range a.Shapes {
		s.print(out)
	}
	if n := a.ShapeCount - len(a.Shapes); n > 0 && a.Unreadable.Len() == 0 {
		q.printf("and %s: --all shows them\n", text.Plural(n, "more shape"))
	}
	t := q.section("function", "calls", "")
	for _, f := range a.Functions {
		t.Row(text.Long(text.Printable(f.Name)), f.Calls, text.Percent(f.Calls, a.Calls))
	}
	t.Close()
	t = q.section("arguments", "number")
	for _, f := range a.Arguments {
		t.Row(f.Form, f.Count)
	}
	t.Close()
	t = q.section("columns", "number", "content")
	for _, f := range a.Columns {
		t.Row(f.Form, f.Count, f.Content)
	}
	t.Close()
	if a.Times != nil {
		a.Times.print(q)
	}
	t = q.section("sections", "number", "content", "stored", "")
	for _, s := range a.Sections {
		t.Row(s.Kind, s.Count, s.Content, s.Stored, text.Percent(s.Stored, a.Bytes))
		if s.Kind == layout.KindName(layout.KindSignatures) && a.Inline > 0 {
			t.Row("of them columns", "", a.Inline, "", "")
		}
	}
	t.Close()
	q.printf("\n")
	printSizes(out, a.Text, uint64(a.Bytes))
}

// isTI reports whether a trace was made from a SimGrid trace, or merged from
// several, and holds nothing else.
func isTI(tr *trace.Trace) bool {
	if !slices.Contains(strings.Split(tr.Run().Source, sourceSeparator), simgrid.Source) {
		return false
	}
	_, err := newConverter(tr)
	return err == nil
}

// A callCounter counts the calls of a trace from its grammars, without expanding
// them.
type callCounter struct {
	trace *trace.Trace
	bar   *progress

	shapes    []*trace.Shape // those that have ranks, nil for the others
	done      int            // ranks that were looked at
	functions []uint64       // calls of each function

	toTI func(trace.Call) simgrid.Call // nil: no text
	text uint64                        // bytes of the calls as text
	line []byte
}

func newCallCounter(tr *trace.Trace, bar *progress) *callCounter {
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
	c.bar.show(uint64(c.done))
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
func (c *callCounter) sorted() []functionCount {
	calls := make(map[string]uint64)
	for i, f := range c.trace.Functions() {
		if c.functions[i] > 0 {
			calls[f.Name] = wire.AddSat(calls[f.Name], c.functions[i])
		}
	}
	list := make([]functionCount, 0, len(calls))
	for name, n := range calls {
		list = append(list, functionCount{name, n})
	}
	slices.SortFunc(list, func(a, b functionCount) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// A textSizes is the size of a trace as text, and of the text compressed.
type textSizes struct {
	Plain uint64 `json:"plain_bytes"`
	Gzip  uint64 `json:"gzip_bytes,omitempty"`
	Zstd  uint64 `json:"zstd_bytes,omitempty"`
}

// compress writes the trace as text through gzip and zstd and counts what comes
// out. Each runs in a goroutine of its own.
func (t *textSizes) compress(ctx context.Context, tr *trace.Trace, bar *progress) error {
	var gz, zs, plain counter
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
		return bar.step(uint64(plain))
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

// printSizes prints the size of a trace beside those of its text, if that is known.
func printSizes(w io.Writer, t *textSizes, bytes uint64) {
	table := text.NewTable(w, text.All, "size", "bytes", "")
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
