package main

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/query"
)

// maxRows is how many rows of a table are shown if nobody asks for all.
const maxRows = 40

func newProfile() *cobra.Command {
	var o profileOptions
	cmd := &cobra.Command{
		Use:   "profile TRACE.rpz",
		Short: "Count the calls by function, call or rank, with their times",
		Long: `Count the calls of a trace: how often each function is called, by how many ranks
and, if the trace has statistics of times, how long its calls took: all
together, on average, the least and the most, and in which rank that was. The
rows of most time stand first or, without times, those of most calls.

With --by
  function   a row is a function: the default
  signature  a row is calls that are alike: send(rank+1) of all ranks is one
  rank       a row is ranks that make each call equally often

--from and --to choose the calls between two times since the first call of the
run began, as 1.5s, 20ms, or in seconds, and as much of their time as lies in
between; with them there are times by rank, too. They are those of every call,
if the trace has these and they can be read, or else estimates from the means of
calls like them. In JSON, from_ns and to_ns are as given, and begin_ns is when
the first call began by the clock of the trace, as start_ns of reprise cat.
` + estimatedThreads + `

Statistics are of the calls of all ranks. With --ranks and by rank, the times
are those of every call, if the trace has these; by rank, also how much time is
in calls and how much in none, which is computation: from the beginning of the
first call to the end of the last. If they are of more than 5,000,000 calls,
they are only read with --from or --to, as --from 0. By signature, equal calls
of a rank that would be in several rows are all in the first, with their times.

The cost is that of the compressed form, however many calls there are, except
for times of every call: about a second for 5,000,000. The text has times with
their units, --json nanoseconds. Times end after 292 years.

` + tooLarge + ` Statistics of 2⁶³−1
calls or more do not tell their time, which is null then.

Ranks of an MPI program that did not come to MPI_Finalize are named.

Ranks that cannot be read, of a damaged or repaired trace, are named and left
out; the exit status is then 1.`,
		Example: `  reprise profile run.rpz
  reprise profile run.rpz --by signature --ranks 0-3
  reprise profile run.rpz --from 1.5s --to 1.6s
  reprise profile run.rpz --json | jq '.functions[0]'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains([]string{"function", "signature", "rank"}, o.by) {
				return usageError{fmt.Errorf("--by is function, signature or rank, not %q", o.by)}
			}
			if err := o.window.check(cmd); err != nil {
				return err
			}
			return oneTrace(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return profileTrace(cmd, args[0], o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.by, "by", "function", "function, signature or rank")
	f.BoolVar(&o.json, "json", false, "print as JSON")
	f.BoolVar(&o.all, "all", false, fmt.Sprintf("show all rows, not the first %d", maxRows))
	addRanks(cmd, &o.ranks)
	addWindow(cmd, &o.window)
	return cmd
}

type profileOptions struct {
	by        string
	ranks     string
	window    window
	json, all bool
}

// A profileInfo is what the command profile tells of a trace. One of the lists is
// there, and that of RankTimes with the one by rank.
type profileInfo struct {
	Path       string        `json:"path"`
	Ranks      int           `json:"ranks_with_calls"`
	Calls      uint64        `json:"calls"`
	Timed      bool          `json:"timed"`
	Missing    string        `json:"no_times,omitempty"`       // why there are none
	Error      *float64      `json:"relative_error,omitempty"` // at most, if the times are those of every call
	Functions  []profileRow  `json:"functions,omitzero"`
	Signatures []profileRow  `json:"signatures,omitzero"`
	ByRank     []profileRank `json:"by_rank,omitzero"`
	RankTimes  []rankTime    `json:"times_by_rank,omitzero"`
	cutShort
}

type profileRow struct {
	Signature *int         `json:"signature,omitempty"` // its number
	Function  string       `json:"function"`
	Call      string       `json:"call,omitempty"` // of a signature
	Calls     uint64       `json:"calls"`
	Ranks     int          `json:"ranks"`
	Time      *profileTime `json:"time,omitempty"`
}

type profileTime struct {
	Total   nanoseconds `json:"total_ns"`
	Mean    nanoseconds `json:"mean_ns"`
	Min     int64       `json:"min_ns"`
	Max     int64       `json:"max_ns"`
	MinRank int         `json:"rank_of_min"`
	MaxRank int         `json:"rank_of_max"`
}

type profileRank struct {
	Ranks     string            `json:"ranks"` // as a list
	Number    int               `json:"number_of_ranks"`
	Calls     uint64            `json:"calls_each"`
	Functions map[string]uint64 `json:"functions_each"`
}

func profileTrace(cmd *cobra.Command, path string, o profileOptions) error {
	trace, err := openTrace(path)
	if err != nil {
		return err
	}
	defer trace.Close()
	if o.window.set {
		return profileWindow(cmd, trace, path, o)
	}
	var (
		p   *query.Profile
		cut cutShort
	)
	lost, err := ask(cmd, trace, path, o.ranks, "profile", func(q query.Options) (err error) {
		if p, err = query.OpenProfile(cmd.Context(), trace, q); err == nil {
			err = cut.findUnfinished(cmd.Context(), trace, q)
		}
		return err
	})
	if err != nil {
		return err
	}
	var bad unreadable
	if err := lost.err(); err != nil {
		bad = append(bad, err)
	}
	if err := p.LostTimes; err != nil {
		bad = append(bad, lostSummaries(path, err))
	}
	i := &profileInfo{Path: path, Ranks: p.Ranks, Calls: p.Calls, cutShort: cut}
	if o.by == "rank" || !p.Timed {
		lost, err := i.readTimes(cmd, trace, p, o)
		if err != nil {
			return err
		}
		bad = append(bad, lost...)
	}
	i.Timed = len(i.RankTimes) > 0 || p.Timed && o.by != "rank"
	i.fill(trace, p, o)
	if o.json {
		printJSON(cmd.OutOrStdout(), i)
	} else {
		i.print(cmd.OutOrStdout(), o)
	}
	return warnUnreadable(cmd.ErrOrStderr(), bad.err())
}

// noTimes says why there are no times in a profile, and what gives them.
func noTimes(trace *reprise.Trace) string {
	for _, s := range trace.Sections() {
		if s.Kind == merge.KindSummaries {
			return "no times: the trace has them of all ranks together"
		}
	}
	if trace.Run().Source == collect.Source {
		return "the trace has no statistics of times: reprise record --times statistics keeps them"
	}
	return "the trace has no statistics of times"
}

// ask runs a query of a trace about the ranks of an option, with a progress bar. It
// returns the ranks that cannot be read.
func ask(cmd *cobra.Command, trace *reprise.Trace, path, ranks, what string, run func(query.Options) error) (*lostRanks, error) {
	lost := &lostRanks{path: path}
	set, err := chosenRanks(cmd, ranks, trace, path)
	if err != nil {
		return lost, err
	}
	bar := newCounter(cmd.Context(), cmd.ErrOrStderr(), what, int64(min(set.Len(), trace.Merged().RankSet().Len())), "ranks")
	defer bar.done()
	q := query.Options{Unreadable: lost.add, Progress: func(n int) { bar.show(uint64(n)) }}
	if cmd.Flags().Changed("ranks") {
		q.Ranks = &set
	}
	return lost, run(q)
}

// fill fills in the list that is asked for.
func (i *profileInfo) fill(trace *reprise.Trace, p *query.Profile, o profileOptions) {
	switch o.by {
	case "function":
		i.Functions = []profileRow{}
		for _, f := range p.Functions {
			i.Functions = append(i.Functions, profileRow{Function: f.Name, Calls: f.Calls, Ranks: f.Ranks, Time: newProfileTime(f.Time)})
		}
		slices.SortStableFunc(i.Functions, byTime)
	case "rank":
		i.ByRank = []profileRank{}
		for _, s := range p.Shapes {
			r := profileRank{Ranks: s.Ranks.String(), Number: s.Ranks.Len(), Calls: s.Calls, Functions: make(map[string]uint64)}
			for _, f := range s.Functions {
				r.Functions[f.Name] = f.Calls
			}
			i.ByRank = append(i.ByRank, r)
		}
	case "signature":
		i.Signatures = []profileRow{}
		describe := signaturesOf(trace)
		for _, s := range p.Signatures {
			row := profileRow{Signature: &s.Signature, Function: s.Function, Calls: s.Calls, Ranks: s.Ranks, Time: newProfileTime(s.Time)}
			words, err := describe(nil, s.Signature)
			if err != nil {
				row.Call = text.Printable(s.Function) + "(cannot be read)"
			} else {
				row.Call = words.String()
			}
			i.Signatures = append(i.Signatures, row)
		}
		slices.SortStableFunc(i.Signatures, byTime)
	}
}

// byTime orders rows by their time or, if they have none, by their calls.
func byTime(a, b profileRow) int {
	switch {
	case a.Time != nil && b.Time != nil && a.Time.Total != b.Time.Total:
		if a.Time.Total > b.Time.Total {
			return -1
		}
		return 1
	case a.Calls != b.Calls:
		if a.Calls > b.Calls {
			return -1
		}
		return 1
	}
	return 0
}

// newProfileTime returns nil if there are no times.
func newProfileTime(d *query.Durations) *profileTime {
	if d == nil {
		return nil
	}
	return &profileTime{nanoseconds(d.Total), nanoseconds(d.Mean), d.Min, d.Max, d.MinRank, d.MaxRank}
}

func (i *profileInfo) print(w io.Writer, o profileOptions) {
	most := maxRows
	if o.all {
		most = math.MaxInt
	}
	fmt.Fprintf(w, "%s: %s, %s", i.Path, text.Plural(i.Ranks, "rank"), text.Plural(i.Calls, "call"))
	if i.Error != nil && o.by != "rank" {
		fmt.Fprintf(w, ", %s", sourceText(query.Series.String(), *i.Error))
	}
	fmt.Fprintln(w)
	i.printUnfinished(w)
	if i.Missing != "" {
		fmt.Fprintln(w, i.Missing)
	}
	if i.Calls == 0 {
		return
	}
	fmt.Fprintln(w)
	out := newTable(w)
	rows := 0
	switch o.by {
	case "function":
		rows = len(i.Functions)
		i.printRows(out, i.Functions[:min(rows, most)], "function")
	case "signature":
		rows = len(i.Signatures)
		i.printRows(out, i.Signatures[:min(rows, most)], "call")
	case "rank":
		rows = len(i.ByRank)
		fmt.Fprintf(out, "calls of each\tranks\tcalls\t\t  ranks\n")
		for _, r := range i.ByRank[:min(rows, most)] {
			all := wire.MulSat(r.Calls, uint64(r.Number))
			fmt.Fprintf(out, "%s\t%s\t%s\t%s\t  %s\n", text.Count(r.Calls), text.Count(r.Number), text.Count(all), text.Percent(all, i.Calls), text.CutList(r.Ranks, maxListText))
		}
	}
	out.Flush()
	if rows > most {
		fmt.Fprintf(w, "\nand %s more: --all shows them\n", text.Count(rows-most))
	}
	i.printRankTimes(w, most)
}

// printRows prints rows with what they are about behind the numbers.
func (i *profileInfo) printRows(out io.Writer, rows []profileRow, what string) {
	total := nanoseconds(0)
	for _, list := range [][]profileRow{i.Functions, i.Signatures} {
		for _, r := range list {
			if r.Time != nil {
				total += r.Time.Total
			}
		}
	}
	fmt.Fprint(out, "calls\t\tranks\t")
	if i.Timed {
		fmt.Fprint(out, "time\t\tmean\tleast\tin rank\tmost\tin rank\t")
	}
	fmt.Fprintf(out, "  %s\n", what)
	for _, r := range rows {
		fmt.Fprintf(out, "%s\t%s\t%s\t", text.Count(r.Calls), text.Percent(r.Calls, i.Calls), text.Count(r.Ranks))
		switch t := r.Time; {
		case t != nil:
			fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%d\t%s\t%d\t", t.Total, text.Percent(t.Total, total), t.Mean,
				text.Duration(t.Min), t.MinRank, text.Duration(t.Max), t.MaxRank)
		case i.Timed:
			fmt.Fprint(out, "-\t\t\t\t\t\t\t")
		}
		text := text.Printable(r.Function)
		if r.Call != "" {
			text = r.Call
		}
		fmt.Fprintf(out, "  %s\n", text)
	}
}
