package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
)

func newDiff() *cobra.Command {
	var o diffOptions
	cmd := &cobra.Command{
		Use:   "diff A.rpz B.rpz",
		Short: "Compare two traces up to their times",
		Long: `Compare the calls of two traces, rank by rank and in their order, whenever they
were made and however long they took. Two runs of the same program are equal
unless they do something else.

Of traces that differ, it names the ranks of which one has no calls, those whose
calls differ, the first difference by rank and number of the call, from 0, and
what differs in number: calls by function, and messages by pair of ranks and by
size, all together, and the calls that a rank makes another number of times. If
the first difference is in MPI_Init, MPI_Init_thread or MPI_Finalize, as where
programs are called with other arguments, it shows the first of others, too. If
both traces have statistics of times, it shows in which functions they differ.

Calls are equal if function and arguments are. A number that has a name in both
traces, such as that of a datatype of MPI, is compared by the name.

The order of the calls of different ranks may differ between runs that do the
same. If the traces have it, and it differs, that is said, but they are equal.

The traces are compared in their compressed form. Ranks that cannot be read, of
a damaged or repaired trace, are named and left out, and so are messages that
cannot be counted.

Exit status:
  0  the traces are equal
  1  they differ, or something cannot be read`,
		Example: `  reprise diff before.rpz after.rpz
  reprise diff before.rpz after.rpz --ranks 0-3 --json | jq .first`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usageError{fmt.Errorf("diff takes two traces, not %s", text.Plural(len(args), "argument"))}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return diff(cmd, args[0], args[1], o) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print the result as JSON")
	f.BoolVar(&o.all, "all", false, fmt.Sprintf("show all that differs, not the first %d of a kind", maxDifferences))
	addRanks(cmd, &o.ranks)
	return cmd
}

// maxDifferences is how many differences of a kind are shown if nobody asks for all.
const maxDifferences = 10

type diffOptions struct {
	ranks     string
	json, all bool
}

// A diffInfo is what the command diff tells. Names of fields are those of the options.
type diffInfo struct {
	A          diffTrace    `json:"a"`
	B          diffTrace    `json:"b"`
	Equal      bool         `json:"equal"`
	Compared   int          `json:"ranks_compared"`
	Different  string       `json:"ranks_that_differ"` // as a list
	Unreadable string       `json:"unreadable_ranks"`  // as a list
	Reordered  bool         `json:"other_order_of_ranks"`
	First      *firstInfo   `json:"first"`       // null if no rank differs
	FirstOther *firstInfo   `json:"first_other"` // than in the calls that begin and end MPI, if first is one of these and there is another
	Functions  []diffCount  `json:"functions"`
	Calls      []diffCount  `json:"calls"`
	Messages   *messageDiff `json:"messages"`       // null if there is no difference, or messages are not known or cannot be counted
	Times      []timeDiff   `json:"times,omitzero"` // that differ, the largest difference first; only if both traces have statistics

	different, onlyA, onlyB rankenc.Set
}

type diffTrace struct {
	Path  string `json:"path"`
	Ranks int    `json:"ranks"`
	Calls uint64 `json:"calls"` // of the ranks that are compared
	Only  string `json:"ranks_only_here"`

	Time *nanoseconds `json:"time_ns,omitempty"` // in all calls; only if both traces have it
}

type firstInfo struct {
	Rank     int    `json:"rank"`
	Position uint64 `json:"call"`
	A        string `json:"a"` // empty if the rank has no more calls
	B        string `json:"b"`
}

type diffCount struct {
	Name  string `json:"name"`
	A     uint64 `json:"a"`
	B     uint64 `json:"b"`
	Ranks string `json:"ranks"` // that call it another number of times, as a list

	ranks int // how many
}

// A timeDiff is how long the calls of a function take, of all ranks together.
type timeDiff struct {
	Function string      `json:"function"`
	A        nanoseconds `json:"a_ns"`
	B        nanoseconds `json:"b_ns"`
}

type messageDiff struct {
	A     flowInfo   `json:"a"`
	B     flowInfo   `json:"b"`
	LostA *flowInfo  `json:"a_of_unknown_ranks,omitempty"` // of a, not in the pairs
	LostB *flowInfo  `json:"b_of_unknown_ranks,omitempty"`
	Pairs []pairDiff `json:"pairs"`
	Sizes []sizeDiff `json:"sizes"`
}

type pairDiff struct {
	From int      `json:"from"`
	To   int      `json:"to"`
	A    flowInfo `json:"a"`
	B    flowInfo `json:"b"`
}

type sizeDiff struct {
	Size uint64 `json:"size"`
	A    uint64 `json:"a"`
	B    uint64 `json:"b"`
}

func diff(cmd *cobra.Command, pathA, pathB string, o diffOptions) error {
	a, err := openTrace(pathA)
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := openTrace(pathB)
	if err != nil {
		return err
	}
	defer b.Close()
	larger := a
	if b.Ranks() > a.Ranks() {
		larger = b
	}
	var d *query.Diff
	lost, err := ask(cmd, larger, pathA+" or "+pathB, o.ranks, "diff", func(q query.Options) (err error) {
		d, err = query.OpenDiff(cmd.Context(), a, b, q)
		return err
	})
	if err != nil {
		return err
	}
	i := newDiffInfo(d)
	i.A.Path, i.B.Path = pathA, pathB
	if err := i.countCalls(cmd, a, b, o.ranks); err != nil {
		return err
	}
	if o.json {
		printJSON(cmd.OutOrStdout(), i)
	} else {
		i.print(cmd.OutOrStdout(), o.all)
	}
	bad := lostOfDiff(d, lost, pathA, pathB)
	if bad == nil && !i.Equal {
		return exitStatus(exitFailure)
	}
	return warnUnreadable(cmd.ErrOrStderr(), bad.err())
}

// lostOfDiff returns what could not be compared.
func lostOfDiff(d *query.Diff, lost *lostRanks, pathA, pathB string) unreadable {
	var bad unreadable
	if err := lost.err(); err != nil {
		bad = append(bad, err)
	}
	for i, path := range []string{pathA, pathB} {
		if err := d.LostMessages[i]; err != nil {
			bad = append(bad, fmt.Errorf("%s: the messages cannot be counted: %w", path, err))
		}
	}
	return bad
}

// countCalls fills in the numbers of calls.
func (i *diffInfo) countCalls(cmd *cobra.Command, a, b *reprise.Trace, ranks string) error {
	q := query.Options{Unreadable: func(int, error) {}}
	if cmd.Flags().Changed("ranks") {
		set, _ := rankenc.SetOfText(ranks, max(a.Ranks(), b.Ranks())) // which has been checked
		q.Ranks = &set
	}
	var profiles [2]*query.Profile
	for k, trace := range []*reprise.Trace{a, b} {
		var err error
		if profiles[k], err = query.OpenProfile(cmd.Context(), trace, q); err != nil {
			return err
		}
	}
	i.A.Calls, i.B.Calls = profiles[0].Calls, profiles[1].Calls
	if profiles[0].Timed && profiles[1].Timed {
		i.fillTimes(profiles[0], profiles[1])
	}
	return nil
}

// fillTimes fills in how long calls took.
func (i *diffInfo) fillTimes(a, b *query.Profile) {
	var times [2]map[string]nanoseconds
	for k, side := range []struct {
		profile *query.Profile
		total   **nanoseconds
	}{{a, &i.A.Time}, {b, &i.B.Time}} {
		sum := nanoseconds(0)
		times[k] = make(map[string]nanoseconds)
		for _, f := range side.profile.Functions {
			if f.Time != nil {
				times[k][f.Name] = nanoseconds(f.Time.Total)
				sum += times[k][f.Name]
			}
		}
		*side.total = &sum
	}
	names := maps.Clone(times[0])
	maps.Copy(names, times[1])
	for name := range names {
		if d := (timeDiff{name, times[0][name], times[1][name]}); d.A != d.B {
			i.Times = append(i.Times, d)
		}
	}
	slices.SortFunc(i.Times, func(c, d timeDiff) int {
		return cmp.Or(cmp.Compare(d.distance(), c.distance()), cmp.Compare(c.Function, d.Function))
	})
}

// distance returns how far apart the times are, the largest number if one is not known.
func (d timeDiff) distance() float64 { return math.Abs(min(float64(d.A-d.B), math.MaxFloat64)) }

// more returns how much longer calls take in B, with its sign, nothing if it is not known.
func (d timeDiff) more() string {
	switch {
	case !d.A.known() || !d.B.known():
		return ""
	case d.A > d.B:
		return "-" + text.Duration(d.A-d.B)
	}
	return "+" + text.Duration(d.B-d.A)
}

func (i *diffInfo) printTimes(w io.Writer, most int) {
	table(w, most, len(i.Times), "time in A\tin B\tdifference\t  function", func(out io.Writer, n int) {
		d := i.Times[n]
		fmt.Fprintf(out, "%v\t%v\t%s\t  %s\n", d.A, d.B, d.more(), text.Printable(d.Function))
	})
}

func newDiffInfo(d *query.Diff) *diffInfo {
	i := &diffInfo{
		A: diffTrace{Ranks: d.A.Ranks, Only: d.A.Only.String()}, B: diffTrace{Ranks: d.B.Ranks, Only: d.B.Only.String()},
		Equal: d.Equal(), Compared: d.Compared, Different: d.Different.String(), Unreadable: d.Unreadable.String(), Reordered: d.Reordered,
		Functions: []diffCount{}, Calls: []diffCount{},
		different: d.Different, onlyA: d.A.Only, onlyB: d.B.Only,
	}
	if f := d.First; f != nil {
		i.First = &firstInfo{f.Rank, f.Position, f.A, f.B}
	}
	if f := d.FirstOther; f != nil {
		i.FirstOther = &firstInfo{f.Rank, f.Position, f.A, f.B}
	}
	for _, c := range d.Functions {
		i.Functions = append(i.Functions, newDiffCount(c))
	}
	for _, c := range d.Calls {
		i.Calls = append(i.Calls, newDiffCount(c))
	}
	if m := d.Messages; m != nil {
		i.Messages = &messageDiff{newFlowInfo(m.A), newFlowInfo(m.B), newLostFlow(m.UnplacedA), newLostFlow(m.UnplacedB), []pairDiff{}, []sizeDiff{}}
		for _, p := range m.Pairs {
			i.Messages.Pairs = append(i.Messages.Pairs, pairDiff{p.Source, p.Destination, newFlowInfo(p.A), newFlowInfo(p.B)})
		}
		for _, s := range m.Sizes {
			i.Messages.Sizes = append(i.Messages.Sizes, sizeDiff{s.Bytes, s.A, s.B})
		}
	}
	return i
}

func newDiffCount(c query.CountDifference) diffCount {
	return diffCount{Name: c.Name, A: c.A, B: c.B, Ranks: c.Ranks.String(), ranks: c.Ranks.Len()}
}

func (i *diffInfo) print(w io.Writer, all bool) {
	most := maxDifferences
	if all {
		most = math.MaxInt
	}
	if i.Equal {
		fmt.Fprintf(w, "equal: %s of %s\n", text.Plural(i.A.Calls, "call"), text.Plural(i.Compared, "rank"))
		if i.A.Time != nil {
			fmt.Fprintf(w, "they take %v in A, %v in B\n", i.A.Time, i.B.Time)
		}
		if i.Reordered {
			fmt.Fprintln(w, "the order of the calls of different ranks differs")
		}
		i.printTimes(w, most)
		return
	}
	for _, t := range []struct {
		name string
		of   diffTrace
		only rankenc.Set
	}{{"A", i.A, i.onlyA}, {"B", i.B, i.onlyB}} {
		fmt.Fprintf(w, "%s  %s: %s, %s", t.name, t.of.Path, text.Plural(t.of.Ranks, "rank"), text.Plural(t.of.Calls, "call"))
		if t.of.Time != nil {
			fmt.Fprintf(w, ", %v in calls", t.of.Time)
		}
		fmt.Fprintln(w)
		if t.only.Len() > 0 {
			fmt.Fprintf(w, "   only here are calls of %s\n", text.Ranks(t.only))
		}
	}
	if n := i.different.Len(); n > 0 {
		fmt.Fprintf(w, "\n%s of %s differ: %s\n", text.Count(n), text.Plural(i.Compared, "rank"), text.CutList(i.different.String(), maxListText))
	} else if i.Compared > 0 {
		fmt.Fprintf(w, "\nthe calls of %s are the same\n", text.Plural(i.Compared, "rank"))
	}
	if f := i.First; f != nil {
		f.print(w, "differs from call %s on")
	}
	if f := i.FirstOther; f != nil {
		f.print(w, "differs otherwise from call %s on")
	}
	i.printCounts(w, most)
	if i.Messages != nil {
		i.Messages.print(w, most)
	}
	i.printTimes(w, most)
}

func (f *firstInfo) print(w io.Writer, differs string) {
	fmt.Fprintf(w, "rank %d "+differs+"\n", f.Rank, text.Count(f.Position))
	fmt.Fprintf(w, "  A  %s\n  B  %s\n", callOrEnd(f.A), callOrEnd(f.B))
}

func callOrEnd(text string) string {
	if text == "" {
		return "no more calls"
	}
	return text
}

func (i *diffInfo) printCounts(w io.Writer, most int) {
	if len(i.Functions)+len(i.Calls) == 0 && i.different.Len() > 0 {
		fmt.Fprintln(w, "\neach rank makes each call equally often, in another order")
	}
	for _, list := range []struct {
		what string
		rows []diffCount
	}{{"function", i.Functions}, {"call", i.Calls}} {
		printCountRows(w, most, list.what, list.rows)
	}
}

// maxRanksText is the length of the longest list of ranks in a row of a table: of others it is
// shown how many they are.
const maxRanksText = 30

func printCountRows(w io.Writer, most int, what string, rows []diffCount) {
	table(w, most, len(rows), "calls in A\tcalls in B\tdifference\tranks\t  "+what, func(out io.Writer, n int) {
		c := rows[n]
		ranks := c.Ranks
		if len(ranks) > maxRanksText {
			ranks = text.Count(c.ranks) + " ranks"
		}
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t  %s\n", text.Count(c.A), text.Count(c.B), more(c.A, c.B, text.Count), ranks, text.Printable(c.Name))
	})
}

func (m *messageDiff) print(w io.Writer, most int) {
	if len(m.Pairs)+len(m.Sizes) == 0 && !m.A.saturated() && !m.B.saturated() {
		fmt.Fprintf(w, "\nthe messages are the same: %s, %s\n", text.Plural(m.A.Messages, "message"), m.A.bytes())
		return
	}
	fmt.Fprintf(w, "\nmessages: %s, %s in A, %s, %s in B\n", text.Count(m.A.Messages), m.A.bytes(), text.Count(m.B.Messages), m.B.bytes())
	for _, lost := range []struct {
		of   string
		flow *flowInfo
	}{{"A", m.LostA}, {"B", m.LostB}} {
		if f := lost.flow; f != nil {
			fmt.Fprintf(w, "%s, %s in %s, of which the trace does not tell one of the ranks: they are in no pair\n", text.Plural(f.Messages, "message"), f.bytes(), lost.of)
		}
	}
	table(w, most, len(m.Pairs), "from\tto\tmessages in A\tin B\tdifference\tbytes in A\tin B\tdifference\t", func(out io.Writer, n int) {
		p := m.Pairs[n]
		fmt.Fprintf(out, "%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t\n", p.From, p.To, text.Count(p.A.Messages), text.Count(p.B.Messages),
			more(p.A.Messages, p.B.Messages, text.Count), p.A.bytes(), p.B.bytes(), more(p.A.Bytes, p.B.Bytes, text.Bytes))
	})
	table(w, most, len(m.Sizes), "bytes of each\tmessages in A\tin B\tdifference\t", func(out io.Writer, n int) {
		s := m.Sizes[n]
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t\n", text.Count(s.Size), text.Count(s.A), text.Count(s.B), more(s.A, s.B, text.Count))
	})
}

// table prints a table of so many rows, at most the first of them, nothing if there are
// none.
func table(w io.Writer, most, rows int, head string, row func(out io.Writer, n int)) {
	if rows == 0 {
		return
	}
	fmt.Fprintln(w)
	out := newTable(w)
	fmt.Fprintln(out, head)
	for n := range min(rows, most) {
		row(out, n)
	}
	out.Flush()
	if rows > most {
		fmt.Fprintf(w, "and %s more: --all shows them\n", text.Count(rows-most))
	}
}

// more returns how much b is more than a, with its sign, nothing if one is saturated.
func more(a, b uint64, write func(uint64) string) string {
	switch {
	case text.Saturated(a) || text.Saturated(b):
		return ""
	case a == b:
		return "0"
	case a > b:
		return "-" + write(a-b)
	}
	return "+" + write(b-a)
}
