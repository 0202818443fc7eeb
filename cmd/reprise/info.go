package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
)

func newInfo() *cobra.Command {
	var asJSON, compare, all bool
	cmd := &cobra.Command{
		Use:   "info TRACE.rpz",
		Short: "Show what is in a trace and what takes the space",
		Long: `Show what is in a trace: the run, its ranks and calls, the calls of each
function, and what takes the space.

Ranks of the same control flow are one shape. A list of ranks such as 1-6,
8-62:2 is 1 to 6, and every second one from 8 to 62; (1-6)+8×7 is 1 to 6, and
the same six times more, each 8 further on. Shapes are compared with the one of
most ranks: by calls that have no counterpart there, as send(rank-8), which is
every send to the rank that is 8 below, and by calls that are made another
number of times.

An argument has one value for all ranks, or an expression of the rank, or else a
value for each rank in a stored column.

For a trace made from a SimGrid trace, also how much smaller it is than the text
and, with --compare, than the text compressed as gzip and zstd, both at the best
level of the library in this program, not by the programs of these names. All
else is read from the compressed form; to compare takes time for every call.

If the trace has times, also how long the calls of each function took, and the
gaps before them, which are the times since the end of the rank's call before:
all together, on average, the standard deviation, the least and the most, and in
which rank that was; how many histograms there are, one for each call or for
each pair of a call and the one before it; and which ranks have the times of
every call, with which codec and how exact, and the bits that takes. The text
has milliseconds and microseconds, as the heads say, --json nanoseconds.

` + tooLarge + ` Statistics of 2⁶³−1
calls or more do not tell their time, which is null then.

Ranks that cannot be read, or whose times cannot be, of a damaged or repaired
trace, are named and left out; the exit status is then 1.`,
		Example: `  reprise info lu.rpz
  reprise info lu.rpz --compare
  reprise info lu.rpz --json | jq .calls`,
		Args: oneTrace,
		RunE: func(cmd *cobra.Command, args []string) error {
			most := maxShapes
			if all || asJSON {
				most = math.MaxInt
			}
			i, err := describe(cmd, args[0], most, compare)
			switch {
			case i == nil:
			case asJSON:
				printJSON(cmd.OutOrStdout(), i)
			default:
				i.print(cmd.OutOrStdout())
			}
			return warnUnreadable(cmd.ErrOrStderr(), err)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	cmd.Flags().BoolVar(&all, "all", false, fmt.Sprintf("show all shapes, not the first %d", maxShapes))
	cmd.Flags().BoolVar(&compare, "compare", false, "compare with the text as gzip and zstd")
	return cmd
}

// maxShapes is how many shapes are shown if nobody asks for all.
const maxShapes = 20

// An info is what the command info tells of a trace. Numbers that a forged trace
// makes too large are the largest there are.
type info struct {
	Path       string          `json:"path"`
	Source     string          `json:"source"`
	Ranks      int             `json:"ranks"`
	Part       bool            `json:"part"` // a part file, not a trace
	Active     int             `json:"ranks_with_calls"`
	Silent     string          `json:"ranks_without_calls"`    // as a list
	Unreadable string          `json:"unreadable_ranks"`       // as a list
	Unfinished string          `json:"ranks_without_finalize"` // as a list, of MPI programs
	Calls      uint64          `json:"calls"`
	ShapeCount int             `json:"number_of_shapes"`
	Shapes     []shapeInfo     `json:"shapes"`
	Signatures int             `json:"signatures"`
	Symbols    uint64          `json:"grammar_symbols"` // of the grammars of all shapes
	Functions  []functionCount `json:"functions"`
	Arguments  []form          `json:"arguments"`
	Columns    []form          `json:"columns"`
	Inline     int             `json:"column_bytes_in_signatures"`
	Sections   []sectionSize   `json:"sections"`
	Bytes      int64           `json:"bytes"`
	Times      *timeInfo       `json:"times"` // null if there are none
	Text       *textSizes      `json:"text"`  // null if the trace is none of text or not whole

	silent rankenc.Set // ranks without calls
	cut    cutShort
}

type functionCount struct {
	Name  string `json:"name"`
	Calls uint64 `json:"calls"`
}

// A form is how some arguments or columns are written.
type form struct {
	Form    string `json:"form"`
	Count   int    `json:"count"`
	Content int64  `json:"content_bytes,omitempty"` // of columns
}

func formsOf(list []merge.Form) []form {
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

// describe returns what is known of the trace at path, of at most so many shapes,
// nil if that is nothing, and the error, which is an unreadable if ranks, or times,
// cannot be read.
func describe(cmd *cobra.Command, path string, shapes int, compare bool) (*info, error) {
	trace, err := openTrace(path)
	if err != nil {
		return nil, err
	}
	defer trace.Close()
	file, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	i := &info{Path: path, Source: trace.Run().Source, Ranks: trace.Ranks(), Bytes: file.Size()}
	ranks := trace.Merged().RankSet()
	i.Active, i.silent = ranks.Len(), rankenc.World(i.Ranks).Difference(ranks)
	i.Silent = i.silent.String()
	lost, err := i.count(cmd, trace, shapes)
	if err != nil {
		return nil, err
	}
	i.Unreadable = lost.text()
	i.sections(trace)
	if i.Times, err = describeTimes(cmd.Context(), trace, path, rankenc.SetOf(lost.ranks()...)); err != nil {
		return nil, err
	}
	if err := i.unreadable(lost).err(); err != nil || i.Text == nil || !compare {
		return i, err
	}
	bar := newProgress(cmd.Context(), cmd.ErrOrStderr(), "gzip and zstd", int64(min(i.Text.Plain, 1<<62)))
	defer bar.done()
	if err := i.Text.compress(cmd.Context(), trace, path, bar); err != nil {
		return nil, err
	}
	return i, nil
}

// unreadable returns what cannot be read.
func (i *info) unreadable(lost *lostRanks) unreadable {
	var list unreadable
	if err := lost.err(); err != nil {
		list = append(list, err)
	}
	if i.Times != nil {
		list = append(list, i.Times.errs...)
	}
	return list
}

// count fills in what the calls are, and how they are written. It returns the
// ranks that cannot be read, or an error if the work was cancelled.
func (i *info) count(cmd *cobra.Command, trace *reprise.Trace, shapes int) (*lostRanks, error) {
	t := trace.Merged()
	bar := newCounter(cmd.Context(), cmd.ErrOrStderr(), "info", int64(i.Active), "ranks")
	defer bar.done()
	c := newCallCounter(trace, i.Path, bar)
	if err := c.count(cmd.Context()); err != nil {
		return nil, err
	}
	for number, s := range c.shapes {
		if s != nil {
			i.Calls = wire.AddSat(i.Calls, wire.MulSat(s.Grammar.Len(), uint64(c.readable[number])))
			i.Symbols += uint64(s.Grammar.Symbols())
		}
	}
	var cut cutShort
	if err := cut.findUnfinished(cmd.Context(), trace, query.Options{}); err != nil {
		return nil, err
	}
	i.Unfinished, i.cut = cut.Unfinished, cut
	i.ShapeCount, i.Shapes = t.Shapes(), describeShapes(trace, c.shapes, shapes)
	i.Signatures = t.Signatures()
	i.Functions = c.sorted()
	i.Arguments, i.Columns, i.Inline = formsOf(t.ArgumentForms()), formsOf(t.ColumnForms()), t.InlineColumns()
	if c.toTI != nil && len(c.lost.list) == 0 {
		i.Text = &textSizes{Plain: c.text}
	}
	return c.lost, nil
}

// sections sums up the sections by kind. What no section takes, the header and
// the index, is the container.
func (i *info) sections(trace *reprise.Trace) {
	kinds := make(map[format.Kind]*sectionSize)
	rest := i.Bytes
	for _, s := range trace.Sections() {
		size := kinds[s.Kind]
		if size == nil {
			size = &sectionSize{Kind: merge.KindName(s.Kind)}
			kinds[s.Kind] = size
		}
		size.Count++
		size.Content += s.Len
		size.Stored += s.Size
		if s.Shared() {
			size.Shared++
		}
		rest -= s.Size
		i.Part = i.Part || s.Kind == merge.KindPart
	}
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		i.Sections = append(i.Sections, *kinds[k])
	}
	i.Sections = append(i.Sections, sectionSize{Kind: "container", Count: 1, Content: rest, Stored: rest})
}

func (i *info) print(w io.Writer) {
	what := ""
	if i.Part {
		what = "part file, "
	}
	fmt.Fprintf(w, "%s: %s%s, %s, from %s\n", i.Path, what, rankCount(i.Ranks, i.Active), text.Plural(i.Calls, "call"), text.Printable(i.Source))
	if i.silent.Len() > 0 {
		fmt.Fprintf(w, "without calls: %s\n", text.Ranks(i.silent))
	}
	i.cut.printUnfinished(w)
	if i.Unreadable != "" {
		fmt.Fprintf(w, "cannot be read, not counted: ranks %s\n", text.CutList(i.Unreadable, maxListText))
	}
	fmt.Fprintf(w, "%s of control flow, %s, %s\n", text.Plural(i.ShapeCount, "shape"), text.Plural(i.Signatures, "signature"),
		text.Plural(i.Symbols, "grammar symbol"))
	if len(i.Shapes) > 0 {
		fmt.Fprintln(w)
	}
	for _, s := range i.Shapes {
		s.print(w)
	}
	if n := i.ShapeCount - len(i.Shapes); n > 0 && i.Unreadable == "" {
		fmt.Fprintf(w, "and %s: --all shows them\n", text.Plural(n, "more shape"))
	}
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	i.printTables(out)
	fmt.Fprintln(out)
	printSizes(out, i.Text, uint64(i.Bytes))
	out.Flush()
}

func (i *info) printTables(out io.Writer) {
	if len(i.Functions) > 0 {
		fmt.Fprintf(out, "\nfunction\tcalls\t\t\n")
	}
	for _, f := range i.Functions {
		fmt.Fprintf(out, "%s\t%s\t%s\t\n", text.Printable(f.Name), text.Count(f.Calls), text.Percent(f.Calls, i.Calls))
	}
	if len(i.Arguments) > 0 {
		fmt.Fprintf(out, "\narguments\tnumber\t\n")
	}
	for _, f := range i.Arguments {
		fmt.Fprintf(out, "%s\t%s\t\n", f.Form, text.Count(f.Count))
	}
	if len(i.Columns) > 0 {
		fmt.Fprintf(out, "\ncolumns\tnumber\tcontent\t\n")
	}
	for _, f := range i.Columns {
		fmt.Fprintf(out, "%s\t%s\t%s\t\n", f.Form, text.Count(f.Count), text.Count(f.Content))
	}
	if i.Times != nil {
		i.Times.print(out)
	}
	fmt.Fprintf(out, "\nsections\tnumber\tcontent\tstored\t\t\n")
	for _, s := range i.Sections {
		fmt.Fprintf(out, "%s\t%d\t%s\t%s\t%s\t\n", s.Kind, s.Count, text.Count(s.Content), text.Count(s.Stored),
			text.Percent(uint64(s.Stored), uint64(i.Bytes)))
		if s.Kind == merge.KindName(merge.KindSignatures) && i.Inline > 0 {
			fmt.Fprintf(out, "of them columns\t\t%s\t\t\t\n", text.Count(i.Inline))
		}
	}
}
