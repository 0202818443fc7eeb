package report

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/internal/answers"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
)

// maxMatchRows is how many rows each table of the section about matching has.
const maxMatchRows = 20

// A matchText is what is written about what does not match, and how far apart ranks begin
// what they do together.
type matchText struct {
	About                       string
	Unmatched, Different, Skews *table // nil if there are no rows
	SkewNote                    string
}

// addMatching adds what does not match.
func (p *page) addMatching(ctx context.Context, model *semantics.Model) error {
	m, err := query.OpenMatch(ctx, model, p.query())
	if err != nil {
		return err
	}
	if err := p.addEnd(ctx, model.Trace(), m); err != nil {
		return err
	}
	if m.Messages == 0 && len(m.Unmatched) == 0 && len(m.Instances) == 0 {
		return nil
	}
	t := new(matchText)
	if err := t.addUnmatched(ctx, m); err != nil {
		return err
	}
	t.addDifferent(m)
	if err := t.addSkews(ctx, p, m, len(model.Trace().Run().Clocks)); err != nil {
		return err
	}
	t.About = t.about(m)
	if p.unfinished.Len() > 0 && (t.Unmatched != nil || t.Different != nil || silentText(m) != "") {
		t.About += " Unmatched calls may belong to calls that ranks did not reach, or that are not recorded: some ranks lack MPI_Finalize."
	}
	p.Matching = t
	return nil
}

// about says how much matches.
func (t *matchText) about(m *query.Match) string {
	var parts []string
	say := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	var sends, receives uint64
	for _, u := range m.Unmatched {
		if u.Direction == semantics.Send {
			sends += u.Count
		} else {
			receives += u.Count
		}
	}
	switch {
	case sends > 0 || receives > 0:
		say("%s sent and received; %s without a receive, and %s without a message.",
			text.Plural(m.Messages, "message"), text.Plural(sends, "message"), text.Plural(receives, "receive"))
	case m.Messages > 0:
		say("%s: all messages that are sent are received.", text.Plural(m.Messages, "message"))
	}
	if m.Assumed > 0 {
		say("%s with an assumed match: the trace does not record which receive got them.", text.Count(m.Assumed))
	}
	if m.Cancelled > 0 {
		say("%s without a message, which the program tried to cancel.", text.Plural(m.Cancelled, "receive"))
	}
	if m.Unknown > 0 {
		say("%s of messages with an unknown other rank.", text.Plural(m.Unknown, "end"))
	}
	if len(m.Instances) > 0 {
		operations := uint64(0)
		for _, n := range m.Instances {
			operations += n.Count
		}
		on := text.Plural(operations, "collective operation") + " on " + text.Plural(len(m.Instances), "communicator")
		silent := silentText(m)
		switch {
		case t.Different != nil:
			say("%s: some members make other calls.", on)
		case silent == "":
			say("%s: all members make the same calls.", on)
		default:
			say("%s.", on)
		}
		if silent != "" {
			say("There are none of %s.", silent)
		}
	}
	return strings.Join(parts, " ") + " The command reprise match shows the positions of calls."
}

// silentText names members of which there are no collective calls on their communicators:
// of the first few of these.
func silentText(m *query.Match) string {
	const most, mostText = 3, 200
	var parts []string
	for _, n := range m.Instances {
		if n.Absent.Len() > 0 {
			ranks := n.Absent.String()
			if len(ranks) > mostText {
				ranks = text.Count(n.Absent.Len()) + " others"
			}
			parts = append(parts, fmt.Sprintf("ranks %s of %s", ranks, printable(n.Communicator.Name)))
		}
	}
	if more := len(parts) - most; more > 0 {
		parts = append(parts[:most], fmt.Sprintf("and some of %s", text.Plural(more, "more communicator")))
	}
	return strings.Join(parts, "; ")
}

// addUnmatched adds messages that are sent and not received, and the other way round.
func (t *matchText) addUnmatched(ctx context.Context, m *query.Match) error {
	if err := m.Firsts(ctx, m.Unmatched[:min(len(m.Unmatched), maxMatchRows)], query.Options{}); err != nil {
		return err
	}
	rows := newTable("channel", maxMatchRows, "What", "Messages", "From", "To", "Tag", "Communicator")
	rows.Caption = "Unmatched messages"
	for _, u := range m.Unmatched {
		what, from, tag := "sent, not received", "any", "any"
		if u.Direction == semantics.Receive {
			what = "receive without a message"
		}
		if u.Source >= 0 {
			from = strconv.Itoa(u.Source)
		}
		if u.Tag >= 0 {
			tag = strconv.FormatInt(u.Tag, 10)
		}
		if n := len(u.Among); n > 0 {
			what += fmt.Sprintf(", on one of %s", text.Plural(n, "channel"))
		}
		call := cell{Text: what, Name: true}
		if u.First != nil {
			call.Find = fmt.Sprintf("call=%d,%d", u.Rank, *u.First)
		}
		rows.row(call, u.Count, from, strconv.Itoa(u.Destination), tag, printable(u.Communicator.Name))
	}
	t.Unmatched = rows.shown()
	return nil
}

// addDifferent adds the collective operations that members do not agree on.
func (t *matchText) addDifferent(m *query.Match) {
	rows := newTable("rank", maxMatchRows, "Communicator", "Operation", "Rank", "It calls", "Where most have")
	rows.Caption = "Collective operations with different calls of members"
	for _, n := range m.Instances {
		for _, d := range n.Different {
			here := cell{Text: collectiveText(d.Rank, d.Here), Name: true}
			if d.Here.Function != "" {
				here.Find = fmt.Sprintf("call=%d,%d", d.Rank, d.Here.Position)
			}
			rows.row(printable(n.Communicator.Name), d.Instance, order(d.Rank), here,
				name(collectiveText(n.Reference, d.There)))
		}
	}
	t.Different = rows.shown()
}

// collectiveText says what a rank calls.
func collectiveText(rank int, c query.CollectiveCall) string {
	switch {
	case c.Function == "":
		return fmt.Sprintf("rank %d calls no more", rank)
	case c.Root >= 0:
		return fmt.Sprintf("rank %d calls %s with root %d", rank, printable(c.Function), c.Root)
	}
	return fmt.Sprintf("rank %d calls %s", rank, printable(c.Function))
}

// addSkews adds how far apart members begin collective operations of a run on machines with so many clocks.
func (t *matchText) addSkews(ctx context.Context, p *page, m *query.Match, clocks int) error {
	list, err := m.Skew(ctx, p.times, p.query())
	if err != nil {
		return err
	}
	rows := newTable("operation", maxMatchRows, "Operation", "Operations", "Sample", "Mean", "Median", "Max",
		"Straggler", "Most frequent straggler")
	for _, s := range list {
		call := printable(s.Function)
		if s.Root >= 0 {
			call += fmt.Sprintf(" with root %d", s.Root)
		}
		if s.Communicator != nil {
			call += " on " + printable(s.Communicator.Name)
		}
		rows.row(name(call), s.Instances, s.Sampled, nanos(tenth(float64(s.Mean))), nanos(s.Median), nanos(s.Max),
			cell{Text: fmt.Sprintf("%d, call %s", s.MaxStraggler, text.Count(s.MaxPosition)),
				Find: fmt.Sprintf("call=%d,%d", s.MaxStraggler, s.MaxPosition)},
			valued(s.Straggler, fmt.Sprintf("%d, %s", s.Straggler, text.Percent(s.StragglerShare, 1))))
	}
	t.Skews = rows.shown()
	t.SkewNote = "From the first member that begins an operation to the last, by the clocks of the recording."
	if clocks > 0 {
		t.SkewNote += " Differences within the error of the clocks of machines count as 0."
	}
	if note := answers.SkewsNote(list); note != "" {
		t.SkewNote += " T" + note[1:] + "."
	}
	if p.guarantee > 0 {
		t.SkewNote += " The error of starts is that of the timeline."
	}
	return nil
}
