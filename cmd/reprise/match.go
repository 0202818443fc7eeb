package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/semantics"
)

func newMatch() *cobra.Command {
	var o matchOptions
	cmd := &cobra.Command{
		Use:   "match TRACE.rpz",
		Short: "Match messages, and collective operations across ranks",
		Long:  matchHelp,
		Example: `  reprise match run.rpz
  reprise match run.rpz --json | jq '.unmatched[] | select(.what == "send")'`,
		Args: oneTrace,
		RunE: func(cmd *cobra.Command, args []string) error { return match(cmd, args[0], o) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print as JSON")
	f.BoolVar(&o.all, "all", false, fmt.Sprintf("show all rows, not the first %d of each table", maxRows))
	addRanks(cmd, &o.ranks)
	return cmd
}

const matchHelp = `Match what ranks send with what others receive, and the collective operations of
the members of each communicator with each other.

What is not matched is shown by channel, which is a source, a destination, a tag
and a communicator: how many messages nobody receives, or how many receives get
none, and the position of the first such call, at which cat --from begins. MPI
keeps the messages of a channel in order. A receive from any source is of the
channel that the status tells of the call that completed it, or the probe that
found the message. If neither does, it is matched with what is left, so that as
many are as can be, and said to be guessed. Where it could as well have got the
messages of other channels, it is only known of which channels those are that
nobody receives: they are all shown.

The members of a communicator call its collective operations in one order. Where
one calls another function than most do, with another root, or no more of them,
that is shown, too, and so are the members that call none.

If the trace has the times of every call, it is shown how far apart the members
begin: the skew, by function and root. Of many operations, it is that of some.
Of the largest one it is shown which member began last, with the position of its
call, and when: a time at which the command at shows where the others are. The
clocks of several machines may differ by more than that. Times that are kept
within an error are off by no more than that share of the longest gap between
calls. If there are too many rows, only the largest skews are shown by
communicator, and the others by function; communicators that are made from one
are summed up as world/*. --all shows each of them, and --json has them all. Of
a run that makes more than some millions of communicators, windows and files,
only what is on MPI_COMM_WORLD and MPI_COMM_SELF is matched, and the rest is told.

Of a run that was killed, what does not match may be for calls that are not in
the trace: a call is recorded when it returns. The ranks that did not come to
MPI_Finalize are named. So are those that switch recording off and on, whose
calls between are not in the trace either. A call that failed counts as nothing,
but for one with MPI_ERR_TRUNCATE, which received what there was room for, and
sent what it sends.

With --ranks only what is among these ranks is matched. The cost is that of the
compressed form, however many calls there are. Ranks are those of the run. A
SimGrid trace does not tell communicators: all are taken to be MPI_COMM_WORLD,
so that collective operations of others may seem not to match.

Ranks that cannot be read, of a damaged or repaired trace, are named and left
out; so are the times of ranks that cannot be read. The exit status is then 1.
It is 0 whether everything matches or not.`

type matchOptions struct {
	ranks     string
	json, all bool
}

// A matchInfo is what the command match tells of a trace.
type matchInfo struct {
	Path      string `json:"path"`
	Messages  uint64 `json:"messages"`
	Guessed   uint64 `json:"guessed,omitzero"` // of these
	Channels  int    `json:"channels"`
	Unknown   uint64 `json:"messages_of_unknown_ranks,omitzero"`
	Outside   uint64 `json:"messages_of_other_ranks,omitzero"`
	Cancelled uint64 `json:"receives_cancelled,omitzero"`

	Unmatched []unmatchedInfo `json:"unmatched"`

	Communicators      []matchedCommunicator `json:"communicators"`
	UnknownCollectives uint64                `json:"collectives_of_unknown_communicators,omitzero"`

	Skews []skewInfo `json:"skews,omitzero"`

	cutShort
	Switching string `json:"ranks_switching_recording,omitzero"` // as a list

	switching  rankenc.Set
	partly     bool // not all ranks are looked at
	lostTimes  lostRanks
	unresolved error
	why        string // there are no skews
}

type unmatchedInfo struct {
	What         string        `json:"what"` // send or receive
	Count        uint64        `json:"count"`
	From         *int          `json:"from"` // as in channelInfo
	To           int           `json:"to"`
	Tag          *int64        `json:"tag"`
	Communicator string        `json:"communicator"`
	Rank         *int          `json:"rank"`           // null if there are several channels
	First        *uint64       `json:"first"`          // position; likewise
	Among        []channelInfo `json:"among,omitzero"` // the channels, if there are several
}

type channelInfo struct {
	From *int   `json:"from"` // null is any source, or one of several
	Tag  *int64 `json:"tag"`  // null is any tag, one of several, or one that the trace does not have
}

// text returns the source and the tag.
func (c channelInfo) text() (from, tag string) {
	from, tag = "any", "any"
	if c.From != nil {
		from = strconv.Itoa(*c.From)
	}
	if c.Tag != nil {
		tag = strconv.FormatInt(*c.Tag, 10)
	}
	return from, tag
}

type matchedCommunicator struct {
	Name      string             `json:"name"`
	Count     uint64             `json:"communicators,omitzero"` // that it stands for, if they are several
	Members   int                `json:"members"`
	Absent    int                `json:"other_members,omitzero"` // that made no calls, or are not looked at
	Others    string             `json:"other_ranks,omitzero"`   // these, as a list
	Instances uint64             `json:"instances"`
	Different []disagreementInfo `json:"different,omitzero"`

	others []rankenc.Set // of each that is summed up
}

func (c matchedCommunicator) name() string { return c.Name }

func (c matchedCommunicator) count() uint64 { return max(1, c.Count) }

func (c matchedCommunicator) named(name string, count uint64) matchedCommunicator {
	c.Name, c.Count = name, count
	return c
}

// with returns the sum of c and d, with −1 Members if these are not as many.
func (c matchedCommunicator) with(d matchedCommunicator) matchedCommunicator {
	if c.Members != d.Members {
		c.Members = -1
	}
	c.Absent += d.Absent
	c.others = append(c.others, d.others...)
	c.Instances = wire.AddSat(c.Instances, d.Instances)
	c.Different = append(slices.Clip(c.Different), d.Different...)
	return c
}

type disagreementInfo struct {
	Rank     int      `json:"rank"`
	Calls    uint64   `json:"calls"`
	Instance uint64   `json:"instance"`
	Here     callInfo `json:"here"`
	Other    int      `json:"reference"`
	There    callInfo `json:"there"`
}

type callInfo struct {
	Position uint64 `json:"position"`
	Function string `json:"function,omitzero"` // none if there is no such call
	Root     *int   `json:"root,omitzero"`
}

func newCallInfo(c query.CollectiveCall) callInfo {
	i := callInfo{Position: c.Position, Function: c.Function}
	if c.Root >= 0 {
		i.Root = &c.Root
	}
	return i
}

func (c callInfo) text(rank int) string {
	switch {
	case c.Function == "":
		return fmt.Sprintf("rank %d calls no more", rank)
	case c.Root != nil:
		return fmt.Sprintf("rank %d calls %s with root %d at %s", rank, text.Printable(c.Function), *c.Root, text.Count(c.Position))
	}
	return fmt.Sprintf("rank %d calls %s at %s", rank, text.Printable(c.Function), text.Count(c.Position))
}

type skewInfo struct {
	Communicator string  `json:"communicator"`
	Function     string  `json:"function"`
	Root         *int    `json:"root,omitzero"`
	Instances    uint64  `json:"instances"`
	Sampled      int     `json:"sampled"`
	Mean         float64 `json:"mean_ns"`
	Median       float64 `json:"median_ns"`
	Max          int64   `json:"max_ns"`
	MaxInstance  uint64  `json:"max_instance"`
	MaxLast      int     `json:"max_last"` // the rank that is last there
	MaxPosition  uint64  `json:"max_last_position"`
	MaxStart     int64   `json:"max_last_start_ns"` // since the first call
	Last         int     `json:"last"`
	LastShare    float64 `json:"last_share"`              // of all skews
	Error        float64 `json:"relative_error"`          // at most, of the time from a call to the next
	StartError   *int64  `json:"start_error_ns,omitzero"` // at most, of each start; none if it is not known
}

func match(cmd *cobra.Command, path string, o matchOptions) error {
	trace, err := openTrace(path)
	if err != nil {
		return err
	}
	defer trace.Close()
	i := &matchInfo{Path: path, lostTimes: lostRanks{path: path, what: "the times of "}}
	lost, err := ask(cmd, trace, path, o.ranks, "match", func(q query.Options) error { return i.fill(cmd, trace, q, o) })
	if err != nil {
		return err
	}
	i.partly = cmd.Flags().Changed("ranks") || len(lost.list) > 0
	if o.json {
		err = printJSON(cmd.OutOrStdout(), i)
	} else {
		i.print(cmd.OutOrStdout(), o)
	}
	if err == nil && i.unresolved != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "reprise: warning: %s: communicators that are not known: %v\n", path, i.unresolved)
	}
	if err != nil {
		return err
	}
	warned := warnLost(cmd.ErrOrStderr(), i.lostTimes.err())
	return cmp.Or(warnLost(cmd.ErrOrStderr(), lost.err()), warned)
}

// fill asks for everything.
func (i *matchInfo) fill(cmd *cobra.Command, trace *reprise.Trace, q query.Options, o matchOptions) error {
	model, err := semantics.Open(cmd.Context(), trace)
	switch {
	case err != nil:
		return err
	case !model.Known() && len(trace.Functions()) > 0:
		return fmt.Errorf("%s: %w", i.Path, errUnknownFunctions)
	}
	m, err := query.OpenMatch(cmd.Context(), model, q)
	if err != nil {
		return err
	}
	i.Messages, i.Guessed, i.Channels, i.Unknown, i.Outside, i.Cancelled = m.Messages, m.Assumed, m.Channels, m.Unknown, m.Outside, m.Cancelled
	i.UnknownCollectives, i.unresolved = m.UnknownCollectives, model.Unresolved()
	i.switching, i.Switching = m.Switching, m.Switching.String()
	if err := i.findUnfinished(cmd.Context(), trace, q); err != nil {
		return err
	}
	if err := i.fillUnmatched(cmd.Context(), m, q, o); err != nil {
		return err
	}
	i.Communicators = make([]matchedCommunicator, len(m.Instances))
	for k, n := range m.Instances {
		i.Communicators[k] = newMatchedCommunicator(n)
	}
	return i.fillSkews(cmd, trace, m, q)
}

// fillUnmatched fills in what is not matched, with positions as far as they are shown.
func (i *matchInfo) fillUnmatched(ctx context.Context, m *query.Match, q query.Options, o matchOptions) error {
	shown := len(m.Unmatched)
	if !o.json && !o.all {
		shown = min(shown, maxRows)
	}
	q.Progress = nil
	if err := m.Firsts(ctx, m.Unmatched[:shown], q); err != nil {
		return err
	}
	i.Unmatched = make([]unmatchedInfo, len(m.Unmatched))
	for k, u := range m.Unmatched {
		info := unmatchedInfo{What: u.Direction.String(), Count: u.Count, To: u.Destination, Communicator: u.Communicator.Name}
		if u.First != nil {
			info.First, info.Rank = u.First, &m.Unmatched[k].Rank
		}
		if len(u.Among) == 0 {
			c := newChannelInfo(u.Channel)
			info.From, info.Tag = c.From, c.Tag
		}
		for _, c := range u.Among {
			info.Among = append(info.Among, newChannelInfo(c))
		}
		i.Unmatched[k] = info
	}
	return nil
}

func newChannelInfo(c query.Channel) channelInfo {
	var i channelInfo
	if c.Source >= 0 {
		i.From = &c.Source
	}
	if c.Tag >= 0 {
		i.Tag = &c.Tag
	}
	return i
}

func newMatchedCommunicator(n query.Instances) matchedCommunicator {
	c := matchedCommunicator{
		Name: n.Communicator.Name, Members: n.Members.Len(), Absent: n.Absent.Len(), Others: n.Absent.String(),
		Instances: n.Count, others: []rankenc.Set{n.Absent},
	}
	for _, d := range n.Different {
		c.Different = append(c.Different, disagreementInfo{d.Rank, d.Count, d.Instance, newCallInfo(d.Here), n.Reference, newCallInfo(d.There)})
	}
	return c
}

func (i *matchInfo) fillSkews(cmd *cobra.Command, trace *reprise.Trace, m *query.Match, q query.Options) error {
	times, err := query.OpenTimes(trace)
	if err != nil {
		return err
	}
	q.Progress, q.Unreadable = nil, i.lostTimes.add
	list, err := m.Skew(cmd.Context(), times, q)
	if err != nil {
		return err
	}
	for _, s := range list {
		info := skewInfo{
			Communicator: s.Communicator.Name, Function: s.Function, Instances: s.Instances, Sampled: s.Sampled,
			Mean: s.Mean, Median: s.Median, Max: s.Max, MaxInstance: s.MaxInstance, MaxLast: s.MaxStraggler, MaxPosition: s.MaxPosition, MaxStart: s.MaxStart,
			Last: s.Straggler, LastShare: s.StragglerShare, Error: float64(s.Guarantee),
		}
		if s.Root >= 0 {
			info.Root = &s.Root
		}
		info.StartError = s.StartError
		i.Skews = append(i.Skews, info)
	}
	switch {
	case len(list) > 0 || len(m.Instances) == 0:
	case len(i.lostTimes.list) > 0:
		i.why = "no skew of collective operations: the times of the calls are lost"
	default:
		i.why = "no skew of collective operations: the trace does not have the times of every call"
	}
	return nil
}

func (i *matchInfo) print(w io.Writer, o matchOptions) {
	most := maxRows
	if o.all {
		most = math.MaxInt
	}
	i.printSummary(w)
	i.printUnmatched(w, most)
	i.printCommunicators(w, most)
	i.printSkews(w, most)
}

func (i *matchInfo) printSummary(w io.Writer) {
	if i.Channels == 0 && len(i.Unmatched) == 0 {
		fmt.Fprintf(w, "%s: no messages to match\n", i.Path)
	} else {
		fmt.Fprintf(w, "%s: %s sent and received, on %s\n", i.Path, text.Plural(i.Messages, "message"), text.Plural(i.Channels, "channel"))
	}
	for _, line := range []struct {
		n           uint64
		thing, text string
	}{
		{i.Guessed, "message", "of these, %s by receives of which the trace does not tell the sender or the tag"},
		{i.Cancelled, "receive", "%s without a message, which the program tried to cancel"},
		{i.Unknown, "end", "%s of messages of which the trace does not tell the other rank: not matched"},
		{i.Outside, "end", "%s of messages to or from ranks that made no calls, or are not looked at: not matched"},
	} {
		if line.n > 0 {
			fmt.Fprintf(w, line.text+"\n", text.Plural(line.n, line.thing))
		}
	}
	var sends, receives uint64
	for _, u := range i.Unmatched {
		if u.What == "send" {
			sends += u.Count
		} else {
			receives += u.Count
		}
	}
	switch {
	case sends > 0 || receives > 0:
		fmt.Fprintf(w, "%s that nobody receives, %s without a message\n", text.Plural(sends, "message"), text.Plural(receives, "receive"))
	case i.Messages > 0:
		fmt.Fprintln(w, "no others are sent or received")
	}
	i.printUnfinished(w)
	if i.switching.Len() > 0 {
		fmt.Fprintf(w, "switching recording off or on, with calls between that are not in the trace: %s\n", text.Ranks(i.switching))
	}
	i.printCut(w)
}

// printCut says that what does not match may be for calls that are not in the trace.
func (i *matchInfo) printCut(w io.Writer) {
	differ := slices.ContainsFunc(i.Communicators, func(c matchedCommunicator) bool { return len(c.Different)+c.Absent > 0 })
	switch {
	case i.unfinished.Len() == 0:
	case len(i.Unmatched) > 0 || differ:
		fmt.Fprintln(w, "what does not match may be for calls of theirs that are not in the trace, such as\nthe one that each was in at the end: a call is recorded when it returns")
	default:
		fmt.Fprintln(w, "the call that each of them was in at the end is not in the trace: a call is\nrecorded when it returns")
	}
}

func (i *matchInfo) printUnmatched(w io.Writer, most int) {
	if len(i.Unmatched) == 0 {
		return
	}
	out := newTable(w)
	fmt.Fprintf(out, "\nunmatched\t\tfrom\tto\ttag\tfirst: rank\tposition\t  communicator\n")
	shown := i.Unmatched[:min(len(i.Unmatched), most)]
	for _, u := range shown {
		from, tag := channelInfo{u.From, u.Tag}.text()
		rank, first := "", ""
		if len(u.Among) > 0 {
			from, tag = "?", "?"
		}
		if u.First != nil {
			rank, first = strconv.Itoa(*u.Rank), text.Count(*u.First)
		}
		fmt.Fprintf(out, "%s\t%s\t%s\t%d\t%s\t%s\t%s\t  %s\n", text.Count(u.Count), u.What, from, u.To, tag, rank, first, text.Printable(u.Communicator))
	}
	out.Flush()
	i.more(w, len(i.Unmatched), most)
	for _, u := range shown {
		u.printAmong(w, most)
	}
}

// printAmong says of which channels messages are that may be of several.
func (u *unmatchedInfo) printAmong(w io.Writer, most int) {
	if len(u.Among) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s to rank %d on %s, of some of these %s: the trace\ndoes not tell what receives got from any source or with any tag\n",
		text.Plural(u.Count, u.What), u.To, text.Printable(u.Communicator), text.Plural(len(u.Among), "channel"))
	line := ""
	for k, c := range u.Among[:min(len(u.Among), most)] {
		from, tag := c.text()
		next := fmt.Sprintf("from %s tag %s", from, tag)
		switch {
		case k == 0:
			line = "  " + next
		case len(line)+len(next) < 76:
			line += ", " + next
		default:
			fmt.Fprintf(w, "%s,\n", line)
			line = "  " + next
		}
	}
	if n := len(u.Among) - most; n > 0 {
		line += fmt.Sprintf(" and %s more: --all shows them", text.Count(n))
	}
	fmt.Fprintln(w, line)
}

func (i *matchInfo) more(w io.Writer, rows, most int) {
	if rows > most {
		fmt.Fprintf(w, "\nand %s more: --all shows them\n", text.Count(rows-most))
	}
}

func (i *matchInfo) printCommunicators(w io.Writer, most int) {
	if i.UnknownCollectives > 0 {
		fmt.Fprintf(w, "\n%s of collective operations on communicators that the trace does not tell\n", text.Plural(i.UnknownCollectives, "call"))
	}
	if len(i.Communicators) == 0 {
		return
	}
	var sum, communicators uint64
	differ, absent := 0, 0
	for _, c := range i.Communicators {
		sum += c.Instances
		communicators = wire.AddSat(communicators, c.count())
		differ += len(c.Different)
		absent += c.Absent
	}
	fmt.Fprintf(w, "\n%s on %s", text.Plural(sum, "collective operation"), text.Plural(communicators, "communicator"))
	if differ == 0 && absent == 0 {
		fmt.Fprint(w, ": all members make the same calls")
		if i.unfinished.Len() > 0 {
			fmt.Fprint(w, ", as far as they have returned")
		}
	}
	fmt.Fprintln(w)
	out := newTable(w)
	fmt.Fprintf(out, "\noperations\tmembers\t")
	if absent > 0 {
		fmt.Fprintf(out, "others\t")
	}
	if differ > 0 {
		fmt.Fprintf(out, "that differ\t")
	}
	fmt.Fprintf(out, "  communicator\n")
	list := sumSiblings(i.Communicators, most)
	slices.SortStableFunc(list, func(a, b matchedCommunicator) int { return cmp.Compare(b.Instances, a.Instances) })
	for _, c := range list[:min(len(list), most)] {
		members := text.Count(c.Members)
		if c.Members < 0 {
			members = ""
		}
		fmt.Fprintf(out, "%s\t%s\t", text.Count(c.Instances), members)
		if absent > 0 {
			fmt.Fprintf(out, "%s\t", text.Count(c.Absent))
		}
		if differ > 0 {
			fmt.Fprintf(out, "%s\t", text.Count(len(c.Different)))
		}
		fmt.Fprintf(out, "  %s\n", severalNamed(c.Name, c.Count))
	}
	out.Flush()
	i.more(w, len(list), most)
	i.printOthers(w, list, most)
	i.printDifferent(w, most)
}

// printOthers says which members of communicators made no calls.
func (i *matchInfo) printOthers(w io.Writer, list []matchedCommunicator, most int) {
	list = slices.DeleteFunc(slices.Clone(list), func(c matchedCommunicator) bool { return c.Absent == 0 })
	if len(list) == 0 {
		return
	}
	line := "other members, which make no such calls:"
	if i.partly {
		line = "other members, which make no such calls or are not looked at:"
	}
	fmt.Fprintf(w, "\n%s\n", line)
	for _, c := range list[:min(len(list), most)] {
		fmt.Fprintf(w, "  %s of %s\n", text.Ranks(rankenc.UnionOf(c.others...)), text.Printable(c.Name))
	}
	i.more(w, len(list), most)
}

// printDifferent says where members do not agree.
func (i *matchInfo) printDifferent(w io.Writer, most int) {
	rows := 0
	for _, c := range i.Communicators {
		for _, d := range c.Different {
			if rows++; rows > most {
				continue
			}
			fmt.Fprintf(w, "\n%s, operation %s: %s,\n  but %s\n", text.Printable(c.Name), text.Count(d.Instance), d.Here.text(d.Rank), d.There.text(d.Other))
		}
	}
	i.more(w, rows, most)
}
