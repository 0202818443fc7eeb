package compress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/content"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

func NewRepair() *cobra.Command {
	var (
		output string
		asJSON bool
	)
	cmd := cli.NewCommand("repair")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if output == "" {
			return cli.BadUsage(errors.New("repair needs -o OUT.rpz"))
		}
		return cli.OneTrace(cmd, args)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r, err := repair(cmd, args[0], output)
		if err != nil {
			return err
		}
		out := cli.SummaryOf(cmd, output)
		if asJSON {
			return cli.PrintJSON(out, r)
		}
		r.print(out)
		return nil
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "the `file` to write")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

// repair writes what is intact of the trace at path to output.
func repair(cmd *cobra.Command, path, output string) (*RepairResult, error) {
	cli.Impatient.Store(true)
	if err := cli.CheckSeekable(path); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, cli.FileError(path, err)
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return nil, err
	}
	file, losses, err := format.Salvage(f, stat.Size(), cli.FileOptions(cmd.Context(), stat.Size()))
	if errors.Is(err, format.ErrFormat) {
		err = content.NoTrace(path) // nor is there anything of one
		if other := (content.Error{}); errors.As(err, &other) && other.Content == content.DamagedBeginning {
			err = errors.New("there is nothing in it that can be read")
		}
	}
	if errors.Is(err, format.ErrSmall) {
		err = format.ErrSmall
	}
	if err != nil {
		return nil, cli.FileError(path, err)
	}
	r := newRepairResult(path, output, losses)
	a, err := r.salvage(cmd, file)
	if err != nil {
		if cmd.Context().Err() == nil {
			r.printDamage(cmd.ErrOrStderr(), "reprise: damaged: ")
		}
		return nil, err
	}
	err = cli.WriteOutput(cmd, output, []string{path}, func(w io.Writer) error { return r.write(cmd, file, a, w) })
	if err != nil {
		return nil, err
	}
	return r, nil
}

// A RepairResult is what repair saved and what not.
type RepairResult struct {
	Schema   int         `json:"schema"`
	Trace    string      `json:"trace"`
	Output   string      `json:"output"`
	Lost     []Loss      `json:"damage"`
	Ranks    int         `json:"ranks"`       // with calls
	Readable int         `json:"saved_ranks"` // of them
	Missing  rankenc.Set `json:"unreadable_rank_set"`
	Order    savedState  `json:"order"` // of the calls of different ranks
	Names    savedState  `json:"names"` // of handles and other numbers
	Others   []string    `json:"others_lost,omitempty"`
	TimesSaved
}

// A savedState says whether something of a damaged file is in the repaired one.
type savedState string

const (
	Kept   savedState = "kept"
	Partly savedState = "in part"
	Lost   savedState = "lost"
)

// A Loss is a range of a file that was not saved.
type Loss struct {
	Offset  int64  `json:"offset"`
	Bytes   int64  `json:"bytes"`
	Section string `json:"section"` // empty if unknown
	Reason  string `json:"reason"`
}

func newRepairResult(input, output string, losses []format.Loss) *RepairResult {
	r := &RepairResult{Schema: cli.Schema, Trace: input, Output: output, Lost: []Loss{}, Order: Kept,
		Names: Kept, TimesSaved: TimesSaved{Summaries: Kept, RankTimes: Kept}}
	for _, l := range losses {
		r.Lost = append(r.Lost, Loss{l.Offset, l.Len, "", l.Err.Error()})
		if l.Known {
			r.Lost[len(r.Lost)-1].Section = layout.SectionName(l.Kind, l.Key)
			r.lose(l.Kind, l.Key)
			if l.Kind == layout.KindNames {
				r.Names = Lost
			}
			if what := AboutRun[l.Kind]; what != "" {
				r.Others = append(r.Others, what)
			}
		}
	}
	return r
}

// AboutRun has what sections say of a run that can be read without them.
var AboutRun = map[format.Kind]string{
	layout.KindOrigin: "who made the trace",
	layout.KindWorlds: "which ranks are of which MPI_COMM_WORLD",
	layout.KindClocks: "how the clocks of machines differ",
	layout.KindKept:   "data that the trace was made of",
}

// salvage returns what can be read of a file, and counts it. It returns an error if
// that is nothing, or if the work was cancelled.
func (r *RepairResult) salvage(cmd *cobra.Command, file *format.Reader) (*merge.Accumulator, error) {
	if merge.IsPart(file) {
		return r.salvagePart(file)
	}
	tr, err := trace.OpenContainer(file, trace.Options{LeaveOutDamage: true})
	if err != nil {
		return nil, fmt.Errorf("%s: no call can be saved: %w", r.Trace, err)
	}
	r.Ranks, r.Readable, r.Missing = tr.Content().Recorded.Len(), tr.RankSet().Len(), cli.Unreadable(tr)
	if r.Readable == 0 && r.Ranks > 0 {
		return nil, fmt.Errorf("%s: no call can be saved: %w", r.Trace, tr.Damage()[0].Err)
	}
	a := new(merge.Accumulator)
	if err := r.addRanks(cmd, tr, a); err != nil {
		return nil, cli.FileError(r.Trace, err)
	}
	rest, err := tr.AddTimes(a)
	if err != nil {
		return nil, cli.FileError(r.Trace, err)
	}
	if rest > 0 {
		r.Summaries = Partly
	}
	for _, d := range tr.Damage() {
		switch {
		case d.Err.Kind == layout.KindSeries && d.Err.Key == 0:
			r.All = true
		case d.Err.Kind == layout.KindSeries:
			r.Untimed = r.Untimed.Union(d.Ranks.Intersection(tr.RankSet()))
		}
	}
	if tr.Content().LostOrder {
		r.Order = Lost
	}
	run := tr.Run()
	run.Kept, _ = tr.AllKept() // what is lost is among the losses
	if err := DescribeRun(a, run); err != nil {
		return nil, err
	}
	return a, r.describeLoss(a)
}

// salvagePart is salvage of a part file, which has lost nothing but times.
func (r *RepairResult) salvagePart(file *format.Reader) (a *merge.Accumulator, err error) {
	if a, r.Untimed, err = merge.SalvagePart(file); err != nil {
		return nil, fmt.Errorf("%s: no call can be saved: %w", r.Trace, err)
	}
	r.Ranks = a.RankSet().Len()
	r.Readable = r.Ranks
	if layout.NewSections(file).OrphanSeries() {
		r.All, r.Untimed = true, rankenc.Set{} // nothing tells which of them had times
	}
	for _, s := range file.All() {
		if s.Kind == layout.KindSummaries && r.Summaries == Lost {
			r.Summaries = Partly
		}
	}
	return a, r.describeLoss(a)
}

// addRanks adds the calls of the ranks of a trace to a.
func (r *RepairResult) addRanks(cmd *cobra.Command, tr *trace.Trace, a *merge.Accumulator) error {
	bar := cli.NewCounter(cmd.Context(), cmd.ErrOrStderr(), "repair", int64(r.Readable), "ranks")
	defer bar.Done()
	done := uint64(0)
	for _, rank := range tr.RankSet().All() {
		if err := bar.At(done); err != nil {
			return err
		}
		done++
		p, err := tr.Part(rank)
		if err == nil {
			err = a.Add(p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// describeLoss adds to the source of a what is lost.
func (r *RepairResult) describeLoss(a *merge.Accumulator) error {
	var what []string
	if r.Missing.Len() > 0 {
		what = append(what, text.Ranks(r.Missing))
	}
	if r.Order == Lost {
		what = append(what, "the order")
	}
	if r.Names == Lost {
		what = append(what, "the names of numbers")
	}
	what = append(what, r.Others...)
	if what = append(what, r.TimesSaved.missing()...); len(what) == 0 {
		return nil
	}
	note := "repaired without " + strings.Join(what, " and ")
	return a.Describe(merge.Run{Source: strings.ReplaceAll(note, cli.SourceSeparator, " ")})
}

// copySections writes every section of a file to w.
func (r *RepairResult) copySections(ctx context.Context, file *format.Reader, w io.Writer) error {
	encoding := format.Primed
	if _, ok := file.Lookup(layout.KindPart, 0); ok { // part files have records
		encoding = format.Zstd
	}
	out := format.NewWriter(w, format.Options{Encoding: encoding})
	for _, s := range file.All() {
		if err := ctx.Err(); err != nil {
			return err
		}
		content, err := file.Content(s)
		var damage *format.ParseError
		switch {
		case errors.As(err, &damage): // of a kind that is in no trace
			r.Lost = append(r.Lost, Loss{s.Offset, s.Size, layout.SectionName(s.Kind, s.Key), err.Error()})
			continue
		case err != nil:
			return cli.FileError(r.Trace, err)
		}
		if err := out.Add(s.Kind, s.Key, content); err != nil {
			return err
		}
	}
	return out.Close()
}

// whole reports whether no rank, nor the order, names or times, are lost.
func (r *RepairResult) whole() bool {
	return r.Missing.Len() == 0 && r.Order == Kept && r.Names == Kept && len(r.Others) == 0 && r.TimesSaved.whole()
}

// write writes what was saved: the sections as they are if they hold all calls in
// their order, and their times, or a new file of what a has.
func (r *RepairResult) write(cmd *cobra.Command, file *format.Reader, a *merge.Accumulator, w io.Writer) error {
	if r.whole() {
		return r.copySections(cmd.Context(), file, w)
	}
	saved, err := EncodeTrace(cmd, a, merge.IsPart(file), 0)
	if err != nil {
		return err
	}
	_, err = w.Write(saved)
	return err
}

// printDamage writes a line for each range of the file that was not saved.
func (r *RepairResult) printDamage(w io.Writer, prefix string) {
	for _, l := range r.Lost {
		what := "what follows"
		if l.Bytes > 0 {
			what = text.Plural(l.Bytes, "byte")
		}
		if l.Section != "" {
			what += " of the section " + l.Section
		}
		fmt.Fprintf(w, "%s%s at offset %d: %s\n", prefix, what, l.Offset, l.Reason)
	}
}

func (r *RepairResult) print(w io.Writer) {
	r.printDamage(w, "damaged: ")
	if r.Missing.Len() > 0 {
		fmt.Fprintf(w, "unreadable: %s\n", text.Ranks(r.Missing))
	}
	for _, what := range r.TimesSaved.missing() {
		fmt.Fprintf(w, "unreadable: %s\n", what)
	}
	for _, what := range r.Others {
		fmt.Fprintf(w, "unreadable: %s\n", what)
	}
	if r.Names == Lost {
		fmt.Fprintln(w, "unreadable: the names of handles and other numbers: they stand as numbers")
	}
	switch {
	case r.Order == Lost:
		fmt.Fprintln(w, "unreadable: the order of the calls of different ranks: they stand rank by rank")
	case len(r.Lost) == 0 && r.whole():
		fmt.Fprintln(w, "nothing was damaged")
	}
	fmt.Fprintf(w, "%s: %s of %s saved\n", text.Printable(r.Output), text.Count(r.Readable),
		text.Plural(r.Ranks, "rank"))
}

// A TimesSaved is which times of calls repair saved.
type TimesSaved struct {
	Untimed rankenc.Set `json:"untimed_rank_set"` // ranks of which the times of every call are lost
	// of every rank that had them, and nothing tells which these are
	All       bool       `json:"all_times_lost,omitzero"`
	Summaries savedState `json:"time_summaries"` // statistics and histograms, if there were any
	RankTimes savedState `json:"rank_times"`     // those of each rank, the same

	damaged bool // a section of times is lost
}

// lose takes note of a section that is lost.
func (t *TimesSaved) lose(kind format.Kind, key uint64) {
	switch kind {
	case layout.KindSummaries:
		t.Summaries = Lost
	case layout.KindRankTimes:
		t.RankTimes = Lost
	case layout.KindSeries:
		t.damaged, t.All = true, t.All || key == 0
	}
}

// whole reports whether nothing is lost.
func (t *TimesSaved) whole() bool {
	return !t.damaged && !t.All && t.Untimed.Len() == 0 && t.Summaries == Kept && t.RankTimes == Kept
}

// missing returns what is lost, in words.
func (t *TimesSaved) missing() []string {
	var what []string
	switch {
	case t.All:
		what = append(what, "the times of every call")
	case t.Untimed.Len() > 0:
		what = append(what, "the times of "+text.Ranks(t.Untimed))
	}
	switch t.Summaries {
	case Lost:
		what = append(what, "the statistics and histograms of times")
	case Partly:
		what = append(what, "some statistics and histograms of times")
	}
	if t.RankTimes == Lost {
		what = append(what, "the times of each rank")
	}
	return what
}
