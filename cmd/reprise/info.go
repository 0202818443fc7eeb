package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/ti"
)

func newInfo() *cobra.Command {
	var asJSON, quick bool
	cmd := &cobra.Command{
		Use:   "info TRACE.rpz",
		Short: "Show what is in a trace and what takes the space",
		Long: `Show what is in a trace: the run, its ranks and calls, the calls of each function,
and the sections of the file. For a trace made from a SimGrid trace also how much
smaller it is than the text, and than the text compressed as gzip and zstd, both
at the best level of the library in this program, not by the programs of these
names; it takes a while for a large trace.

Ranks that cannot be read, of a damaged or repaired trace, are named and left
out; the exit status is then 1.`,
		Example: `  reprise info lu.rpz
  reprise info lu.rpz --quick --json | jq .calls`,
		Args: oneTrace,
		RunE: func(cmd *cobra.Command, args []string) error {
			i, err := describe(cmd, args[0], !quick)
			switch {
			case i == nil:
			case asJSON:
				printJSON(cmd.OutOrStdout(), i)
			default:
				i.print(cmd.OutOrStdout())
			}
			return warnLost(cmd.ErrOrStderr(), err)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	cmd.Flags().BoolVar(&quick, "quick", false, "do not compare with gzip and zstd")
	return cmd
}

// An info is what the command info tells of a trace. Numbers that a forged trace
// makes too large are the largest there are.
type info struct {
	Path       string          `json:"path"`
	Source     string          `json:"source"`
	Ranks      int             `json:"ranks"`
	Active     int             `json:"ranks_with_calls"`
	Unreadable []int           `json:"unreadable_ranks"`
	Calls      uint64          `json:"calls"`
	Signatures uint64          `json:"signatures"` // of all ranks
	Symbols    uint64          `json:"grammar_symbols"`
	Functions  []functionCount `json:"functions"`
	Sections   []sectionSize   `json:"sections"`
	Bytes      int64           `json:"bytes"`
	Text       *textSizes      `json:"text"` // null if the trace is none of text or not whole
}

type functionCount struct {
	Name  string `json:"name"`
	Calls uint64 `json:"calls"`
}

// A sectionSize is the sizes of all sections of a kind.
type sectionSize struct {
	Kind    string `json:"kind"`
	Count   int    `json:"count"`
	Shared  int    `json:"shared"` // of them, those whose content another section holds
	Content int64  `json:"content_bytes"`
	Stored  int64  `json:"stored_bytes"`
}

// describe returns what is known of the trace at path, nil if that is nothing,
// and the error, which is a *lostRanks if ranks cannot be read.
func describe(cmd *cobra.Command, path string, compare bool) (*info, error) {
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
	lost, err := i.count(cmd.Context(), trace)
	if err != nil {
		return nil, err
	}
	i.Unreadable = lost.ranks()
	i.sections(trace)
	err = lost.err()
	if err != nil || i.Text == nil || !compare {
		return i, err
	}
	bar := newProgress(cmd.Context(), cmd.ErrOrStderr(), "gzip and zstd", int64(min(i.Text.Plain, 1<<62)))
	defer bar.done()
	if err := i.Text.compress(cmd.Context(), trace, path, bar); err != nil {
		return nil, err
	}
	return i, nil
}

// count counts calls and the bytes of their lines from the grammars, without
// expanding them. It returns the ranks that cannot be read, or an error if the
// work was cancelled.
func (i *info) count(ctx context.Context, trace *reprise.Trace) (*lostRanks, error) {
	c := functionCounter{calls: make(map[string]uint64)}
	if toTI, err := newConverter(trace); err == nil && i.Source == ti.Source {
		c.toTI = toTI
	}
	lost := &lostRanks{path: i.Path}
	for n := range trace.Active() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		i.Active++
		rank, err := trace.Rank(n)
		if err != nil {
			lost.add(n, err)
			continue
		}
		c.add(rank)
		i.Calls = wire.AddSat(i.Calls, rank.Len())
		i.Signatures += uint64(rank.Table().Len())
		i.Symbols += uint64(rank.Grammar().Symbols())
	}
	i.Functions = c.sorted()
	if c.toTI != nil && len(lost.list) == 0 {
		i.Text = &textSizes{Plain: c.text}
	}
	return lost, nil
}

// A functionCounter counts the calls of each function.
type functionCounter struct {
	calls map[string]uint64
	toTI  func(reprise.Call) ti.Call // nil: no text
	text  uint64                     // bytes of the calls as text
	line  []byte
}

// add counts the calls of a rank. If one is not a line, there is no text.
func (f *functionCounter) add(rank *reprise.Rank) {
	for s, count := range rank.Grammar().Occurrences() {
		c := rank.Call(uint32(s))
		f.calls[c.Function.Name] = wire.AddSat(f.calls[c.Function.Name], count)
		if f.toTI == nil {
			continue
		}
		var err error
		if f.line, err = ti.AppendCall(f.line[:0], f.toTI(c)); err != nil {
			f.toTI = nil
			continue
		}
		f.text = wire.AddSat(f.text, wire.MulSat(count, uint64(len(f.line))))
	}
}

// sorted returns the counts, the greatest first.
func (f *functionCounter) sorted() []functionCount {
	list := make([]functionCount, 0, len(f.calls))
	for name, n := range f.calls {
		list = append(list, functionCount{name, n})
	}
	slices.SortFunc(list, func(a, b functionCount) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name))
	})
	return list
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
	}
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		i.Sections = append(i.Sections, *kinds[k])
	}
	i.Sections = append(i.Sections, sectionSize{Kind: "container", Count: 1, Content: rest, Stored: rest})
}

func (i *info) print(w io.Writer) {
	fmt.Fprintf(w, "%s: %s, %s, from %s\n", i.Path, rankCount(i.Ranks, i.Active), plural(i.Calls, "call"), printable(i.Source))
	if len(i.Unreadable) > 0 {
		fmt.Fprintf(w, "cannot be read, not counted: %s\n", rankRanges(i.Unreadable))
	}
	fmt.Fprintf(w, "%s and %s, all ranks together\n", plural(i.Signatures, "signature"), plural(i.Symbols, "grammar symbol"))
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	if len(i.Functions) > 0 {
		fmt.Fprintf(out, "\nfunction\tcalls\t\t\n")
	}
	for _, f := range i.Functions {
		fmt.Fprintf(out, "%s\t%s\t%.1f %%\t\n", printable(f.Name), comma(f.Calls), 100*float64(f.Calls)/float64(i.Calls))
	}
	fmt.Fprintf(out, "\nsections\tnumber\tshared\tcontent\tstored\t\n")
	for _, s := range i.Sections {
		fmt.Fprintf(out, "%s\t%d\t%d\t%s\t%s\t\n", s.Kind, s.Count, s.Shared, comma(uint64(s.Content)), comma(uint64(s.Stored)))
	}
	fmt.Fprintln(out)
	printSizes(out, i.Text, uint64(i.Bytes))
	out.Flush()
}
