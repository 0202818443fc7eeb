package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/answers"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
)

func NewMatch() *cobra.Command {
	return cli.NewQuestion("match", nil, match, cli.OptJSON, cli.OptAll, cli.OptRanks, cli.OptRegion).Command
}

// A matchAnswer is what matches and what does not.
type matchAnswer struct {
	cli.Header
	*query.Match
	Skews []query.Skew `json:"skews,omitzero"`
	cli.Recorded

	partly bool   // not all ranks are looked at
	why    string // there are no skews
}

func match(q *cli.Question) error {
	a := &matchAnswer{Header: q.Header()}
	if err := q.Query("match", func(o query.Options) error { return a.fill(q, o) }); err != nil {
		return err
	}
	a.partly = q.LeavesOut() || cli.Unreadable(q.Trace).Len() > 0
	return q.Answer(a, func() { a.print(q) })
}

func (a *matchAnswer) fill(q *cli.Question, o query.Options) error {
	model, err := q.Model()
	if err != nil {
		return err
	}
	if a.Match, err = query.OpenMatch(q.Context(), model, o); err != nil {
		return err
	}
	if a.Recorded, err = q.Recorded(); err != nil {
		return err
	}
	o.Progress = nil
	shown := a.Unmatched
	if !q.JSON && !q.All {
		shown = shown[:min(len(shown), cli.MaxRows)]
	}
	if q.Region == nil {
		err = a.Firsts(q.Context(), shown, o)
	}
	if err != nil {
		return err
	}
	a.Unmatched, a.Instances = cli.Listed(a.Unmatched), cli.Listed(a.Instances)
	if q.Region != nil {
		return nil
	}
	return a.fillSkews(q, o)
}

func (a *matchAnswer) fillSkews(q *cli.Question, o query.Options) error {
	times, err := query.OpenTimes(q.Trace)
	if err != nil {
		return err
	}
	if a.Skews, err = a.Skew(q.Context(), times, o); err != nil {
		return err
	}
	switch {
	case len(a.Skews) > 0 || len(a.Instances) == 0:
	case cli.DamagesTimes(q.Trace):
		a.why = "no skew of collective operations: the times of the calls cannot be read"
	case len(q.Trace.Run().Clocks) > 0:
		a.why = "no skew of collective operations exceeds the error of the clocks of the machines"
	default:
		a.why = "no skew of collective operations: " + cli.ErrNoSeries.Error()
	}
	return nil
}

func (a *matchAnswer) print(q *cli.Question) {
	a.printSummary(q)
	a.printUnmatched(q)
	a.printCommunicators(q)
	a.printSkews(q)
}

func (a *matchAnswer) printSummary(q *cli.Question) {
	if a.Channels == 0 && len(a.Unmatched) == 0 {
		q.Printf("%s: no messages to match\n", text.Printable(q.Path))
	} else {
		q.Printf("%s: %s sent and received, on %s\n", text.Printable(q.Path),
			text.Plural(a.Messages, "message"), text.Plural(a.Channels, "channel"))
	}
	for _, line := range []struct {
		n           uint64
		thing, text string
	}{
		{a.Assumed, "message", "of these, %s by assumed matches: the sender or the tag of the receive is not recorded"},
		{a.Cancelled, "receive", "%s without a message, which the program tried to cancel"},
		{a.Match.Unknown, "end", "%s of messages to or from an unknown rank: not matched"},
		{a.Outside, "end", "%s of messages to or from ranks that made no calls, or are not looked at: not matched"},
	} {
		if line.n > 0 {
			q.Printf(line.text+"\n", text.Plural(line.n, line.thing))
		}
	}
	var sends, receives uint64
	for _, u := range a.Unmatched {
		if u.Direction == semantics.Send {
			sends += u.Count
		} else {
			receives += u.Count
		}
	}
	switch {
	case sends > 0 || receives > 0:
		q.Printf("%s not received, %s without a message\n", text.Plural(sends, "message"),
			text.Plural(receives, "receive"))
	case a.Messages > 0:
		q.Printf("all messages match\n")
	}
	a.Recorded.Print(q.OutOrStdout())
	if a.Switching.Len() > 0 {
		q.Printf("recording was switched off or on, so calls are missing: %s\n", text.Ranks(a.Switching))
	}
	if a.ThreadsUnordered {
		q.Printf("%s,\n  and whether members make the same collective operations\n", cli.UnorderedNote)
	}
	differ := slices.ContainsFunc(a.Instances, func(n query.Instances) bool {
		return len(n.Different)+n.Absent.Len() > 0
	})
	switch {
	case a.Unfinished.Len() == 0:
	case len(a.Unmatched) > 0 || differ:
		q.Printf("unmatched calls may belong to calls that these ranks did not reach, or that are not recorded\n")
	}
}

// ends returns the source and the tag of a channel.
func ends(c query.Channel) (from, tag string) {
	from, tag = "any", "any"
	if c.Source >= 0 {
		from = strconv.Itoa(c.Source)
	}
	if c.Tag >= 0 {
		tag = strconv.FormatInt(c.Tag, 10)
	}
	return from, tag
}

func (a *matchAnswer) printUnmatched(q *cli.Question) {
	if len(a.Unmatched) == 0 {
		return
	}
	q.Printf("\n")
	t := q.Table("unmatched", "", "from", "to", "tag", "first: rank", "position", "<communicator")
	for _, u := range a.Unmatched {
		from, tag := ends(u.Channel)
		rank, first := "", ""
		if len(u.Among) > 0 {
			from, tag = "?", "?"
		}
		if u.First != nil {
			rank, first = strconv.Itoa(u.Rank), text.Count(*u.First)
		}
		t.Row(u.Count, u.Direction.String(), from, text.ID(u.Destination), tag, rank, first,
			text.Printable(u.Communicator.Name))
	}
	t.Close()
	most := q.Most()
	for i, u := range a.Unmatched {
		if len(u.Among) > 0 && (most == text.All || i < most) {
			printAmong(q, u)
		}
	}
}

// printAmong prints the candidates of messages that may be of several channels.
func printAmong(q *cli.Question, u query.Unmatched) {
	q.Printf("\n%s to rank %d on %s, on some of %s: the sources or tags of\nsome receives are not recorded\n",
		text.Plural(u.Count, u.Direction.String()), u.Destination, text.Printable(u.Communicator.Name),
		text.Plural(len(u.Among), "candidate channel"))
	shown := u.Among
	if most := q.Most(); most != text.All {
		shown = shown[:min(len(shown), most)]
	}
	var list []string
	for _, c := range shown {
		from, tag := ends(c)
		list = append(list, fmt.Sprintf("from %s tag %s", from, tag))
	}
	var b strings.Builder
	writeList(&b, list)
	q.Printf("%s", b.String())
	text.More(q.OutOrStdout(), len(u.Among), q.Most())
}

// writeList writes a list that is separated by commas in lines of up to 78 columns.
func writeList(b *strings.Builder, list []string) {
	column := 0
	for i, item := range list {
		switch {
		case i == 0:
			b.WriteString("  ")
			column = 2
		case column+len(item) > 74:
			b.WriteString(",\n  ")
			column = 2
		default:
			b.WriteString(", ")
			column += 2
		}
		b.WriteString(item)
		column += len(item)
	}
	b.WriteString("\n")
}

// A family is a row of the table of communicators: one, or those of one parent.
type family struct {
	name       string
	operations uint64
	members    string // nothing if they are not as many on all
	absent     rankenc.Set
	absents    int
	different  int
}

func (a *matchAnswer) printCommunicators(q *cli.Question) {
	if a.UnknownCollectives > 0 {
		q.Printf("\n%s of collective operations on unknown communicators\n", text.Plural(a.UnknownCollectives, "call"))
	}
	if len(a.Instances) == 0 {
		return
	}
	operations, communicators := uint64(0), make(map[*semantics.Communicator]bool)
	all := make([]relative, len(a.Instances))
	for i, n := range a.Instances {
		all[i] = relativeOf(n.Communicator)
		operations += n.Count
		communicators[n.Communicator.Whole()] = true
	}
	families, differ, absent := a.families(q, all)
	q.Printf("\n%s on %s", text.Plural(operations, "collective operation"),
		text.Plural(len(communicators), "communicator"))
	if !differ && !absent {
		q.Printf(": all members make the same calls")
		if a.Unfinished.Len() > 0 {
			q.Printf(", as far as they returned")
		}
	}
	q.Printf("\n\n")
	columns := []string{"<communicator", "operations", "members"}
	if absent {
		columns = append(columns, "absent")
	}
	if differ {
		columns = append(columns, "different")
	}
	t := q.Table(columns...)
	for _, f := range families {
		cells := []any{f.name, f.operations, f.members}
		if absent {
			cells = append(cells, f.absents)
		}
		if differ {
			cells = append(cells, f.different)
		}
		t.Row(cells...)
	}
	t.Close()
	a.printAbsent(q, families)
	a.printDifferent(q)
}

// families returns the rows of the table of communicators, and whether members differ
// or are absent in any.
func (a *matchAnswer) families(q *cli.Question, all []relative) (list []family, differ, absent bool) {
	for _, group := range siblings(all, q.Most()) {
		f := family{name: familyName(all, group)}
		for k, i := range group {
			n := a.Instances[i]
			members := text.Count(n.Members.Len())
			if k == 0 {
				f.members = members
			} else if f.members != members {
				f.members = ""
			}
			f.operations = wire.AddSat(f.operations, n.Count)
			f.absent = f.absent.Union(n.Absent)
			f.absents += n.Absent.Len()
			f.different += len(n.Different)
		}
		differ, absent = differ || f.different > 0, absent || f.absents > 0
		list = append(list, f)
	}
	slices.SortStableFunc(list, func(a, b family) int { return cmp.Compare(b.operations, a.operations) })
	return list, differ, absent
}

// printAbsent names the members of communicators that made no calls.
func (a *matchAnswer) printAbsent(q *cli.Question, list []family) {
	list = slices.DeleteFunc(list, func(f family) bool { return f.absents == 0 })
	if len(list) == 0 {
		return
	}
	what := "absent members, which make no such calls:"
	if a.partly {
		what = "absent members, which make no such calls or are not looked at:"
	}
	q.Printf("\n%s\n", what)
	for i, f := range list {
		if most := q.Most(); most == text.All || i < most {
			q.Printf("  %s of %s\n", text.Ranks(f.absent), f.name)
		}
	}
	text.More(q.OutOrStdout(), len(list), q.Most())
}

// printDifferent says where members do not agree.
func (a *matchAnswer) printDifferent(q *cli.Question) {
	rows := 0
	for _, n := range a.Instances {
		for _, d := range n.Different {
			if rows++; q.Most() != text.All && rows > q.Most() {
				continue
			}
			q.Printf("\n%s, operation %s: %s,\n  but %s\n", text.Printable(n.Communicator.Name), text.Count(d.Instance),
				collectiveText(d.Rank, d.Here), collectiveText(n.Reference, d.There))
		}
	}
	text.More(q.OutOrStdout(), rows, q.Most())
}

// collectiveText says what a rank calls.
func collectiveText(rank int, c query.CollectiveCall) string {
	switch {
	case c.Function == "":
		return fmt.Sprintf("rank %d makes no more calls", rank)
	case c.Root >= 0:
		return fmt.Sprintf("rank %d calls %s with root %d at position %s", rank, text.Printable(c.Function),
			c.Root, text.Count(c.Position))
	}
	return fmt.Sprintf("rank %d calls %s at position %s", rank, text.Printable(c.Function), text.Count(c.Position))
}

// mostSkews is how many skews are shown by communicator if there are too many for a table.
const mostSkews = 10

func (a *matchAnswer) printSkews(q *cli.Question) {
	if a.why != "" {
		q.Printf("\n%s\n", a.why)
	}
	if len(a.Skews) == 0 {
		return
	}
	q.Printf("\nskew: time from the first member that begins an operation to the straggler,\n%s\n\n",
		skewError(a.Skews, a.TimesInArchive))
	if note := answers.SkewsNote(a.Skews); note != "" {
		q.Printf("%s\n\n", note)
	}
	each := len(a.Skews)
	if most := q.Most(); most != text.All && each > most {
		each = mostSkews
	}
	t := q.Table("<function", "mean", "?median", "max", "?in operation", "straggler", "?position", "?at", "?operations",
		"&sample", "most often", "")
	for _, s := range a.Skews[:each] {
		name := text.Printable(s.Function)
		if s.Root >= 0 {
			name += fmt.Sprintf(" with root %d", s.Root)
		}
		straggler, mostly, share := stragglersOf(&s)
		t.Row(name+" on "+text.Printable(s.Communicator.Name), text.Duration(s.Mean), text.Duration(s.Median),
			text.Duration(s.Max), s.MaxInstance, straggler, s.MaxPosition, time.Duration(s.MaxStart), s.Instances,
			s.Sampled, mostly, share)
	}
	others := sumSkews(a.Skews[each:])
	for _, s := range others {
		t.Row(fmt.Sprintf("%s on %s", text.Printable(s.function),
			text.Plural(len(s.communicators), "other communicator")), text.Duration(s.sum/s.operations), "",
			text.Duration(s.max), "", "", "", "", s.instances, s.sampled, "", "")
	}
	t.Close()
	if len(others) > 0 {
		q.Printf("\nthe largest by communicator, the others by function: --all shows each\n")
	}
}

// stragglersOf returns which member is the straggler of the largest skew, and which mostly, in what share:
// dashes if starts are so far off that any may be.
func stragglersOf(s *query.Skew) (straggler, mostly, share any) {
	if s.StartError != nil && s.Max <= *s.StartError {
		return "–", "–", "–"
	}
	return text.ID(s.MaxStraggler), text.ID(s.Straggler), text.Percent(s.StragglerShare, 1)
}

// A startError is how far starts of calls may be off.
type startError struct {
	weakest timing.Guarantee
	off     int64
	known   bool // off is

	inArchive []string // what times are in the archive that the trace was made of
}

// add adds how far some may be off, nil if it is not known.
func (e *startError) add(g timing.Guarantee, off *int64) {
	e.weakest = max(e.weakest, g)
	if e.known = e.known && off != nil; e.known {
		e.off = max(e.off, *off)
	}
}

// line says it in a line below how far durations may be off.
func (e *startError) line() string {
	if e.off == 0 || !e.known {
		return ""
	}
	return fmt.Sprintf("starts are at most %s off\n", text.Duration(e.off))
}

// text says it of things that are differences of starts.
func (e *startError) text(things string) string {
	switch {
	case e.weakest == timing.Exact && e.known && e.off == 0:
		return answers.TimesOfCalls(e.weakest, e.inArchive)
	case e.known:
		return fmt.Sprintf("from the times of every call. Starts are at most %s off: smaller %s mean nothing",
			text.Duration(e.off), things)
	}
	if e.weakest == timing.Exact { // so that it is by the clocks
		return "from the times of every call, exact on each machine. Not all clocks are aligned:\n" + things +
			" between machines are left out"
	}
	return fmt.Sprintf(
		"from the times of every call. Starts are at most %.4g %% of the longest gap near\nthem off: smaller %s mean nothing", 100*float64(e.weakest), things)
}

// skewError says how exact skews are.
func skewError(skews []query.Skew, inArchive []string) string {
	off, sample := startError{known: true, inArchive: inArchive}, false
	for _, s := range skews {
		off.add(s.Guarantee, s.StartError)
		sample = sample || uint64(s.Sampled) < s.Instances
	}
	words := off.text("skews")
	if sample {
		words += "\nA sample of the operations is looked at: there may be larger skews"
	}
	return words
}

// A functionSkew is the skews of a function on several communicators.
type functionSkew struct {
	function        string
	sum, operations float64 // of the skews of all operations, as if they were as those looked at; and how many
	max             int64
	instances       uint64
	sampled         int
	communicators   map[*semantics.Communicator]bool
}

// sumSkews sums up skews by function, the largest first.
func sumSkews(list []query.Skew) []*functionSkew {
	byName := make(map[string]*functionSkew)
	var sums []*functionSkew
	for _, s := range list {
		sum := byName[s.Function]
		if sum == nil {
			sum = &functionSkew{function: s.Function, communicators: make(map[*semantics.Communicator]bool)}
			byName[s.Function] = sum
			sums = append(sums, sum)
		}
		sum.sum += float64(s.Mean) * float64(s.Instances)
		sum.operations += float64(s.Instances)
		sum.max = max(sum.max, s.Max)
		sum.instances = wire.AddSat(sum.instances, s.Instances)
		sum.sampled += s.Sampled
		sum.communicators[s.Communicator] = true
	}
	slices.SortStableFunc(sums, func(a, b *functionSkew) int { return cmp.Compare(b.sum, a.sum) })
	return sums
}
