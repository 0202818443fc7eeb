package answer

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/answers"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/query/diagnosis"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

func NewDiff() *cobra.Command {
	q := &cli.Question{Command: cli.NewCommand("diff")}
	q.AddOptions([]cli.Option{cli.OptJSON, cli.OptAll, cli.OptRanks, cli.OptRegion})
	var ignored query.Ignored
	ignore := cli.AddIgnore(q.Command, &ignored.Functions, cli.Ignorable{Word: "addresses", On: &ignored.Addresses},
		cli.Ignorable{Word: "sites", On: &ignored.Sites}, cli.Ignorable{Word: "files", On: &ignored.Files},
		cli.Ignorable{Word: "argv", On: &ignored.Arguments}, cli.Ignorable{Word: "polls", On: &ignored.Polls},
		cli.Ignorable{Word: "completions", On: &ignored.Completions})
	q.Args = func(_ *cobra.Command, args []string) error {
		if len(args) != 2 {
			return cli.BadUsage(fmt.Errorf("diff takes two traces, not %s", text.Plural(len(args), "argument")))
		}
		return q.CheckPart(q.Command)
	}
	q.RunE = func(_ *cobra.Command, args []string) error { return diff(q, args[0], args[1], ignore.Words, ignored) }
	return q.Command
}

// A Diff is in what two traces differ.
type Diff struct {
	Schema  int       `json:"schema"`
	Traces  [2]string `json:"traces"` // a and b
	Ignored []string  `json:"ignored,omitempty"`
	Same    bool      `json:"equal"`
	*query.Diff

	// Regions are the parts of both that are compared, none for all of the runs.
	Regions    []*query.Region    `json:"regions,omitempty"`
	Unreadable rankenc.Set        `json:"unreadable_rank_set"` // ranks that are left out
	TimeA      *query.Nanoseconds `json:"a_time_ns,omitempty"` // in all calls of the run; only if both traces have it
	TimeB      *query.Nanoseconds `json:"b_time_ns,omitempty"`
	// Runs are why the two took as long as they did, if all ranks are compared and that is known of both.
	Runs []*diagnosis.Diagnosis `json:"diagnoses,omitzero"`

	// that differ, the largest difference first; the same
	Times []timeDifference `json:"time_differences,omitzero"`
}

// A timeDifference is how long the calls of a function take, of all ranks together.
type timeDifference struct {
	Function string            `json:"function"`
	A        query.Nanoseconds `json:"a_ns"`
	B        query.Nanoseconds `json:"b_ns"`
}

func diff(q *cli.Question, pathA, pathB string, words []string, ignored query.Ignored) error {
	a, err := cli.OpenReadable(q.Command, pathA)
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := cli.OpenReadable(q.Command, pathB)
	if err != nil {
		return err
	}
	defer b.Close()
	if err := cmp.Or(q.CheckExact(pathA, a), q.CheckExact(pathB, b)); err != nil {
		return err
	}
	q.Trace = a
	if b.Ranks() > a.Ranks() {
		q.Trace = b
	}
	q.Path = pathA + " or " + pathB
	if q.Ranks, err = cli.ChosenRanks(q.Command, q.RankText, q.Trace, q.Path); err != nil {
		return err
	}
	d := &Diff{Schema: cli.Schema, Traces: [2]string{pathA, pathB}, Ignored: words}
	regions, err := q.RegionsOf(d.Traces, [2]*trace.Trace{a, b})
	if err != nil {
		return err
	}
	if regions[0] != nil {
		d.Regions = regions[:]
	}
	d.Unreadable = cli.Unreadable(a).Union(cli.Unreadable(b))
	if q.Ranks == nil {
		for i, tr := range []*trace.Trace{a, b} {
			run, err := diagnosis.Open(q.Context(), tr, diagnosis.Options{Region: regions[i]})
			if err != nil && !errors.Is(err, query.ErrNoSeries) {
				return err
			}
			if run != nil {
				d.Runs = append(d.Runs, run)
			}
		}
		if len(d.Runs) < 2 {
			d.Runs = nil
		}
		all := rankenc.World(q.Trace.Ranks())
		q.Ranks = &all
	}
	*q.Ranks = q.Ranks.Difference(d.Unreadable)
	err = q.Query("diff", func(o query.Options) (err error) {
		d.Diff, err = query.OpenDiff(q.Context(), a, b, query.DiffOptions{Options: o, Ignore: ignored,
			Regions: regions})
		return err
	})
	if err != nil {
		return err
	}
	d.Same = d.Equal() && d.Unreadable.Len() == 0
	d.Functions, d.Calls = cli.Listed(d.Functions), cli.Listed(d.Calls)
	if err := d.profile(q, a, b); err != nil {
		return err
	}
	if err := q.Answer(d, func() { d.print(q) }); err != nil {
		return err
	}
	for i, err := range d.Uncounted {
		if err != nil {
			cli.Warn(q.ErrOrStderr(), "the messages of %s cannot be counted: %v", d.Traces[i], err)
		}
	}
	if err := cmp.Or(cli.DamageOf(pathA, a), cli.DamageOf(pathB, b)); err != nil || d.Same {
		return err
	}
	return cli.ExitStatus(cli.ExitFailure)
}

// profile fills in the numbers of calls and, if both traces have statistics, the times
// of functions.
func (d *Diff) profile(q *cli.Question, a, b *trace.Trace) error {
	var times [2]map[string]query.Nanoseconds
	var sums [2]query.Nanoseconds
	for k, tr := range []*trace.Trace{a, b} {
		calls, of, err := d.timesOf(q, k, tr)
		if err != nil {
			return err
		}
		*[]*uint64{&d.A.Calls, &d.B.Calls}[k], times[k] = calls, of
		for name, time := range of {
			if !query.OutsideRun(name) {
				sums[k] += time
			}
		}
	}
	if times[0] == nil || times[1] == nil {
		return nil
	}
	d.TimeA, d.TimeB = &sums[0], &sums[1]
	names := maps.Clone(times[0])
	maps.Copy(names, times[1])
	for name := range names {
		if t := (timeDifference{name, times[0][name], times[1][name]}); t.A != t.B {
			d.Times = append(d.Times, t)
		}
	}
	slices.SortFunc(d.Times, func(s, t timeDifference) int {
		return cmp.Or(query.CompareOutside(s.Function, t.Function), cmp.Compare(t.distance(), s.distance()),
			cmp.Compare(s.Function, t.Function))
	})
	return nil
}

// timesOf returns how many calls that are compared one of the traces has, and how long those of each function take;
// nil if that is not known.
func (d *Diff) timesOf(q *cli.Question, side int, t *trace.Trace) (uint64, map[string]query.Nanoseconds, error) {
	times := make(map[string]query.Nanoseconds)
	o := query.Options{Ranks: q.Ranks}
	if d.Regions == nil {
		p, err := query.OpenProfile(q.Context(), t, o)
		if err != nil {
			return 0, nil, err
		}
		if !p.Timed {
			return p.Calls, nil, nil
		}
		for _, f := range p.Functions {
			times[f.Name] = cli.Total(f.Time)
		}
		return p.Calls, times, nil
	}
	of, err := query.OpenTimes(t)
	if err != nil {
		return 0, nil, err
	}
	o.Region = d.Regions[side]
	a, err := of.Activity(q.Context(), int64(q.Part.From), q.Part.Until(), o)
	if err != nil {
		return 0, nil, err
	}
	if a.Source == query.None {
		return a.Calls, nil, nil
	}
	for _, f := range a.Functions {
		times[f.Name] = f.Time
	}
	return a.Calls, times, nil
}

// distance returns how far apart the times are, the largest number if one is not known.
func (t timeDifference) distance() float64 { return math.Abs(min(float64(t.A-t.B), math.MaxFloat64)) }

// more returns how much longer calls take in B, with its sign, nothing if it is not known.
func (t timeDifference) more() string {
	switch {
	case math.IsInf(float64(t.A), 0) || math.IsInf(float64(t.B), 0):
		return ""
	case t.A > t.B:
		return "-" + text.Duration(t.A-t.B)
	}
	return "+" + text.Duration(t.B-t.A)
}

// rows returns a table of differences, behind an empty line if there are any.
func (d *Diff) rows(q *cli.Question, n int, titles ...string) *text.Table {
	if n > 0 {
		q.Printf("\n")
	}
	most := cli.MaxDifferences
	if q.All {
		most = text.All
	}
	return text.NewTable(q.OutOrStdout(), most, titles...)
}

// but returns what did not count.
func (d *Diff) but() string {
	if len(d.Ignored) == 0 {
		return ""
	}
	return " but for " + strings.Join(d.Ignored, ", ")
}

func (d *Diff) print(q *cli.Question) {
	for i, g := range d.Regions {
		if g.Kind != query.TimesRegion {
			q.Printf("%c  %s: %s of %s\n", "AB"[i], text.Printable(g.String()), text.Plural(g.Calls, "call"),
				text.Ranks(g.Ranks))
		}
	}
	if d.Same {
		q.Printf("equal%s: %s of %s\n", d.but(), text.Plural(d.A.Calls, "call"), text.Plural(d.Compared, "rank"))
		if d.TimeA != nil {
			q.Printf("time in calls: %s in A, %s in B\n", text.Duration(*d.TimeA), text.Duration(*d.TimeB))
		}
		if d.Reordered {
			q.Printf("the order of the calls of different ranks differs\n")
		}
		d.printRuns(q)
		d.printTimes(q)
		return
	}
	for i, side := range []query.DiffSide{d.A, d.B} {
		q.Printf("%c  %s: %s, %s", "AB"[i], text.Printable(d.Traces[i]), text.Plural(side.Ranks, "rank"),
			text.Plural(side.Calls, "call"))
		if time := []*query.Nanoseconds{d.TimeA, d.TimeB}[i]; time != nil {
			q.Printf(", %s in calls", text.Duration(*time))
		}
		q.Printf("\n")
		if side.Only.Len() > 0 {
			q.Printf("   calls only here: %s\n", text.Ranks(side.Only))
		}
	}
	if n := d.Different.Len(); n > 0 {
		q.Printf("\n%s of %s differ: %s\n", text.Count(n), text.Plural(d.Compared, "rank"),
			d.Different.Abbreviated(cli.MaxListText))
	} else if d.Compared > 0 {
		q.Printf("\nthe calls of %s are equal%s\n", text.Plural(d.Compared, "rank"), d.but())
	}
	printFirst(q, d.First, "first difference")
	printFirst(q, d.FirstOther, "first difference other than in MPI_Init and MPI_Finalize")
	if len(d.Functions)+len(d.Calls) == 0 && d.Different.Len() > 0 {
		q.Printf("\neach rank makes each call equally often, in another order\n")
	}
	d.printFunctions(q)
	d.printCalls(q)
	d.printMessages(q)
	d.printRuns(q)
	d.printTimes(q)
}

// printRuns prints what the runs took and how efficient they were.
func (d *Diff) printRuns(q *cli.Question) {
	if d.Runs == nil {
		return
	}
	rows := answers.Comparison(d.Runs[0], d.Runs[1])
	q.Printf("\n")
	what := "<of the run"
	if d.Regions != nil {
		what = "<of the part"
	}
	t := text.NewTable(q.OutOrStdout(), text.All, what, "A", "B", "difference")
	for _, r := range rows {
		t.Row(r.Name, r.A, r.B, r.Change)
	}
	t.Close()
}

// printFirst prints where calls differ, if they do.
func printFirst(q *cli.Question, f *query.Difference, what string) {
	if f == nil {
		return
	}
	q.Printf("%s: rank %d, position %s", what, f.Rank, text.Count(f.Position))
	if f.PositionB != f.Position {
		q.Printf(" of A, %s of B", text.Count(f.PositionB))
	}
	q.Printf("\n")
	for i, call := range []string{f.A, f.B} {
		q.Printf("  %c  %s\n", "AB"[i], cmp.Or(call, "no more calls"))
	}
}

// maxRanksText is the length of the longest list of ranks in a row of a table: of others
// it is shown how many they are.
const maxRanksText = 30

// printFunctions prints functions that are called another number of times.
func (d *Diff) printFunctions(q *cli.Question) {
	t := d.rows(q, len(d.Functions), "calls in A", "calls in B", "difference", "", "ranks", "<function").Wrapped()
	for _, c := range d.Functions {
		t.Row(c.A, c.B, more(c.A, c.B, text.Count[uint64]), text.Change(c.A, c.B), ranksText(c.Ranks),
			text.Printable(c.Name))
	}
	t.Close()
}

// ranksText lists ranks, or says how many they are.
func ranksText(set rankenc.Set) string {
	if s := set.String(); len(s) <= maxRanksText {
		return s
	}
	return text.Plural(set.Len(), "rank")
}

// printCalls prints signatures that have another number of calls.
func (d *Diff) printCalls(q *cli.Question) {
	// what differs may be anywhere
	t := d.rows(q, len(d.Calls), "calls in A", "calls in B", "difference", "ranks", "<signature").Wrapped()
	for _, c := range d.Calls {
		t.Row(c.A, c.B, more(c.A, c.B, text.Count[uint64]), ranksText(c.Ranks), text.Printable(c.Name))
	}
	t.Close()
}

func (d *Diff) printMessages(q *cli.Question) {
	m := d.Messages
	if m == nil {
		return
	}
	if len(m.Pairs)+len(m.Sizes) == 0 && !saturatedFlow(m.A) && !saturatedFlow(m.B) {
		q.Printf("\nequal messages: %s, %s\n", text.Plural(m.A.Messages, "message"), flowBytes(m.A))
		return
	}
	q.Printf("\nmessages: %s, %s in A, %s, %s in B", text.Count(m.A.Messages), flowBytes(m.A),
		text.Count(m.B.Messages), flowBytes(m.B))
	if change := text.Change(m.A.Bytes, m.B.Bytes); m.A.Bytes != m.B.Bytes && change != "" {
		q.Printf("; bytes %s", change)
	}
	q.Printf("\n")
	for i, f := range []query.Flow{m.UnplacedA, m.UnplacedB} {
		if f.Messages > 0 {
			q.Printf("%s, %s in %c, to or from an unknown rank: they are in no pair\n",
				text.Plural(f.Messages, "message"), flowBytes(f), "AB"[i])
		}
	}
	t := d.rows(q, len(m.Pairs), "from", "to", "messages in A", "in B", "difference", "bytes in A", "in B",
		"difference")
	for _, p := range m.Pairs {
		t.Row(text.ID(p.Source), text.ID(p.Destination), p.A.Messages, p.B.Messages,
			more(p.A.Messages, p.B.Messages, text.Count[uint64]),
			flowBytes(p.A), flowBytes(p.B), more(p.A.Bytes, p.B.Bytes, text.Bytes[uint64]))
	}
	t.Close()
	t = d.rows(q, len(m.Sizes), "size", "messages in A", "in B", "difference")
	for _, s := range m.Sizes {
		t.Row(s.Bytes, s.A, s.B, more(s.A, s.B, text.Count[uint64]))
	}
	t.Close()
}

func (d *Diff) printTimes(q *cli.Question) {
	t := d.rows(q, len(d.Times), "time in A", "time in B", "difference", "", "<function")
	for _, f := range d.Times {
		t.Row(text.Duration(f.A), text.Duration(f.B), f.more(), text.Change(f.A, f.B), text.Printable(f.Function))
	}
	t.Close()
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
