package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/semantics"
)

func newMessages() *cobra.Command {
	var o messageOptions
	cmd := &cobra.Command{
		Use:   "messages TRACE.rpz",
		Short: "Count the messages by pair of ranks, size or communicator",
		Long:  messagesHelp,
		Example: `  reprise messages run.rpz
  reprise messages run.rpz --by size
  reprise messages run.rpz --json | jq '.pairs[] | select(.to == 3)'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains([]string{"pair", "size", "communicator"}, o.by) {
				return usageError{fmt.Errorf("--by is pair, size or communicator, not %q", o.by)}
			}
			return oneTrace(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return messages(cmd, args[0], o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.by, "by", "pair", "pair, size or communicator")
	f.BoolVar(&o.json, "json", false, "print as JSON")
	f.BoolVar(&o.all, "all", false, fmt.Sprintf("show all rows, not the first %d, and each size", maxRows))
	addRanks(cmd, &o.ranks)
	return cmd
}

const messagesHelp = `Count the messages of a trace, and their bytes: those that calls send, and the
accesses to the memory of other ranks. Collective operations are not messages.

With --by
  pair          a row is what goes from a rank to another, the most bytes first:
                the default
  size          a row is the messages from a size to the next power of two; with
                --all, those of a size
  communicator  a row is a communicator, with the calls on it, and the bytes of
                its collective operations; if they are too many, those that are
                made from one are summed up as world/*: --all shows each, and
                --json has them all. Of very many, those that a loop makes alike
                are one, such as world/0…99: the first and the last

A message is counted where it is sent. What a rank puts into the memory of
another goes from it, what it gets comes to it. Ranks are those of the run,
whatever communicator a call names. With --ranks only what these ranks send, put
and get is counted.

What a trace does not tell is unknown, not a guess: the size of a datatype whose
creation it does not have, and ranks in a communicator of unknown members. What
was sent while recording was off is not counted, nor what a call sends that
failed, other than a receive with MPI_ERR_TRUNCATE, such as MPI_Sendrecv.

This is known of MPI programs and of SimGrid traces. The cost is that of the
compressed form, however many calls there are. The text has bytes with their
units, --json exact numbers.

` + tooLarge + `

Ranks that cannot be read, of a damaged or repaired trace, are named and left
out; the exit status is then 1.`

type messageOptions struct {
	by        string
	ranks     string
	json, all bool
}

// A messageInfo is what the command messages tells of a trace. One of the lists is
// there.
type messageInfo struct {
	Path string `json:"path"`
	flowInfo
	Lost          *flowInfo         `json:"of_unknown_ranks,omitempty"` // of these; by pair only
	Pairs         []pairInfo        `json:"pairs,omitzero"`
	Sizes         []sizeInfo        `json:"sizes,omitzero"`
	Communicators []communicatorRow `json:"communicators,omitzero"`

	classes []query.SizeClass
	median  uint64
}

type flowInfo struct {
	Messages uint64 `json:"messages"`
	Bytes    uint64 `json:"bytes"`
	Unknown  uint64 `json:"messages_of_unknown_size,omitzero"`
}

func newFlowInfo(f query.Flow) flowInfo { return flowInfo{f.Messages, f.Bytes, f.Unknown} }

// newLostFlow returns nil if there are no messages.
func newLostFlow(f query.Flow) *flowInfo {
	if f.Messages == 0 {
		return nil
	}
	lost := newFlowInfo(f)
	return &lost
}

// bytes returns the bytes as text, marked if not all are known.
func (f flowInfo) bytes() string {
	switch {
	case f.Unknown == 0:
		return text.Bytes(f.Bytes)
	case f.Unknown == f.Messages:
		return "unknown"
	}
	return text.AtLeast(text.Bytes(f.Bytes))
}

type pairInfo struct {
	From int `json:"from"`
	To   int `json:"to"`
	flowInfo
}

type sizeInfo struct {
	Size     uint64 `json:"size"`
	Messages uint64 `json:"messages"`
}

type communicatorRow struct {
	Name  *string `json:"name"`                   // null if the trace does not tell
	Count uint64  `json:"communicators,omitzero"` // that it stands for, if they are several
	Size  int     `json:"size"`
	Ranks int     `json:"ranks_with_calls"`
	Calls uint64  `json:"calls"`
	flowInfo
	Collectives collectiveInfo `json:"collectives"`
}

func (c communicatorRow) name() string {
	if c.Name == nil {
		return ""
	}
	return *c.Name
}

func (c communicatorRow) count() uint64 { return max(1, c.Count) }

func (c communicatorRow) named(name string, count uint64) communicatorRow {
	c.Name, c.Count = &name, count
	return c
}

// with returns the sum of c and d, with the larger number of ranks, and the size 0 if they
// have others.
func (c communicatorRow) with(d communicatorRow) communicatorRow {
	if c.Size != d.Size {
		c.Size = 0
	}
	c.Ranks = max(c.Ranks, d.Ranks)
	c.Calls = wire.AddSat(c.Calls, d.Calls)
	flow := query.Flow{Messages: c.Messages, Bytes: c.Bytes, Unknown: c.Unknown}
	flow.Add(query.Flow{Messages: d.Messages, Bytes: d.Bytes, Unknown: d.Unknown})
	c.flowInfo = newFlowInfo(flow)
	s, t := &c.Collectives, d.Collectives
	s.Calls, s.Unknown = wire.AddSat(s.Calls, t.Calls), wire.AddSat(s.Unknown, t.Unknown)
	s.Sent, s.Received = wire.AddSat(s.Sent, t.Sent), wire.AddSat(s.Received, t.Received)
	return c
}

type collectiveInfo struct {
	Calls    uint64 `json:"calls"`
	Sent     uint64 `json:"bytes_sent"`
	Received uint64 `json:"bytes_received"`
	Unknown  uint64 `json:"calls_of_unknown_size,omitzero"`
}

// errUnknownFunctions is the error of a query of messages in a trace of functions that
// are neither MPI nor SimGrid's.
var errUnknownFunctions = errors.New("its functions are not those of MPI or of SimGrid: which of them send messages is not known")

func messages(cmd *cobra.Command, path string, o messageOptions) error {
	trace, err := openTrace(path)
	if err != nil {
		return err
	}
	defer trace.Close()
	i := &messageInfo{Path: path}
	lost, err := ask(cmd, trace, path, o.ranks, "messages", func(q query.Options) error {
		model, err := openModel(cmd, trace, path)
		if err != nil {
			return err
		}
		return fileError(path, i.fill(cmd, model, o.by, q))
	})
	if err != nil {
		return err
	}
	if o.json {
		printJSON(cmd.OutOrStdout(), i)
	} else {
		i.print(cmd.OutOrStdout(), o)
	}
	return warnLost(cmd.ErrOrStderr(), lost.err())
}

// openModel returns what the calls of a trace mean, and warns of communicators that are not
// known.
func openModel(cmd *cobra.Command, trace *reprise.Trace, path string) (*semantics.Model, error) {
	model, err := semantics.Open(cmd.Context(), trace)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	case !model.Known() && len(trace.Functions()) > 0:
		return nil, fmt.Errorf("%s: %w", path, errUnknownFunctions)
	}
	if err := model.Unresolved(); err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		fmt.Fprintf(cmd.ErrOrStderr(), "reprise: warning: %s: communicators that are not known, nor who sends to whom on them: %s\n", path, first)
	}
	return model, nil
}

// fill fills in the list that is asked for.
func (i *messageInfo) fill(cmd *cobra.Command, model *semantics.Model, by string, q query.Options) error {
	switch by {
	case "pair":
		t, err := query.OpenTraffic(cmd.Context(), model, q)
		if err != nil {
			return err
		}
		i.flowInfo = newFlowInfo(t.Flow)
		i.Lost = newLostFlow(t.Unplaced)
		i.Pairs = make([]pairInfo, len(t.Pairs))
		for n, p := range t.Pairs {
			i.Pairs[n] = pairInfo{p.Source, p.Destination, newFlowInfo(p.Flow)}
		}
	case "size":
		s, err := query.OpenSizes(cmd.Context(), model, q)
		if err != nil {
			return err
		}
		i.flowInfo = newFlowInfo(s.Flow)
		i.classes, i.median = s.Classes(), s.Quantile(0.5)
		i.Sizes = make([]sizeInfo, len(s.List))
		for n, c := range s.List {
			i.Sizes[n] = sizeInfo{c.Bytes, c.Messages}
		}
	case "communicator":
		list, err := query.OpenCommunicators(cmd.Context(), model, q)
		if err != nil {
			return err
		}
		var all query.Flow
		i.Communicators = make([]communicatorRow, len(list))
		for n, u := range list {
			all.Add(u.Flow)
			i.Communicators[n] = newCommunicatorRow(u)
		}
		i.flowInfo = newFlowInfo(all)
	}
	return nil
}

func newCommunicatorRow(u query.CommunicatorUse) communicatorRow {
	c := u.Collectives
	row := communicatorRow{Ranks: u.Ranks, Calls: u.Calls, flowInfo: newFlowInfo(u.Flow),
		Collectives: collectiveInfo{c.Calls, c.Sent, c.Received, c.Unknown}}
	if u.Communicator != nil {
		row.Name, row.Size = &u.Communicator.Name, u.Communicator.Size()
	}
	return row
}

func (i *messageInfo) print(w io.Writer, o messageOptions) {
	fmt.Fprintf(w, "%s: %s", i.Path, text.Plural(i.Messages, "message"))
	if i.Messages > 0 {
		fmt.Fprintf(w, ", %s", i.bytes())
	}
	fmt.Fprintln(w)
	if i.Messages == 0 && o.by != "communicator" {
		fmt.Fprintln(w, "collective operations are not messages: --by communicator counts them")
	}
	if i.Unknown > 0 {
		fmt.Fprintf(w, "%s of unknown size\n", text.Plural(i.Unknown, "message"))
	}
	if l := i.Lost; l != nil {
		fmt.Fprintf(w, "%s, %s, of which the trace does not tell one of the ranks\n", text.Plural(l.Messages, "message"), l.bytes())
	}
	most := maxRows
	if o.all {
		most = math.MaxInt
	}
	out := newTable(w)
	rows := 0
	switch o.by {
	case "pair":
		rows = len(i.Pairs)
		i.printPairs(out, most)
	case "size":
		if i.Messages > i.Unknown && !text.Saturated(i.Messages) {
			fmt.Fprintf(w, "half of them are of %s at most\n", text.Plural(i.median, "byte"))
		}
		i.printSizes(out, o.all)
	case "communicator":
		list := sumSiblings(i.Communicators, most)
		slices.SortStableFunc(list, func(a, b communicatorRow) int { return cmp.Compare(b.Calls, a.Calls) })
		rows = len(list)
		printCommunicators(out, list[:min(rows, most)])
	}
	out.Flush()
	if rows > most {
		fmt.Fprintf(w, "\nand %s more: --all shows them\n", text.Count(rows-most))
	}
}

func (i *messageInfo) printPairs(out io.Writer, most int) {
	if len(i.Pairs) == 0 {
		return
	}
	list := slices.Clone(i.Pairs)
	slices.SortStableFunc(list, func(a, b pairInfo) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Messages, a.Messages))
	})
	fmt.Fprintf(out, "\nfrom\tto\tmessages\t\tbytes\t\ta message\t\n")
	for _, p := range list[:min(len(list), most)] {
		fmt.Fprintf(out, "%d\t%d\t%s\t%s\t%s\t%s\t%s\t\n", p.From, p.To, text.Count(p.Messages), text.Percent(p.Messages, i.Messages),
			p.bytes(), text.Percent(p.Bytes, i.Bytes), p.mean())
	}
}

// saturated reports whether f may be more than it says.
func (f flowInfo) saturated() bool {
	return text.Saturated(f.Messages) || text.Saturated(f.Bytes) || text.Saturated(f.Unknown)
}

// mean returns the bytes of a message on average as text, nothing if it is not known.
func (f flowInfo) mean() string {
	if f.Messages == f.Unknown || f.saturated() {
		return ""
	}
	return text.Bytes(f.Bytes / (f.Messages - f.Unknown))
}

func (i *messageInfo) printSizes(out io.Writer, each bool) {
	if len(i.Sizes) == 0 {
		return
	}
	if each {
		fmt.Fprintf(out, "\nbytes of each\tmessages\t\tbytes\t\t\n")
		for _, s := range i.Sizes {
			all := query.SizeCount{Bytes: s.Size, Messages: s.Messages}.All()
			fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t\n", text.Count(s.Size), text.Count(s.Messages), text.Percent(s.Messages, i.Messages), text.Bytes(all), text.Percent(all, i.Bytes))
		}
		return
	}
	fmt.Fprintf(out, "\nfrom bytes\tto\tmessages\t\tbytes\t\t\n")
	for _, c := range i.classes {
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\t\n", text.Count(c.From), text.Count(c.To), text.Count(c.Messages), text.Percent(c.Messages, i.Messages),
			text.Bytes(c.Bytes), text.Percent(c.Bytes, i.Bytes))
	}
}

func printCommunicators(out io.Writer, list []communicatorRow) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(out, "\ncalls\tranks\tsize\tmessages\tbytes\tcollectives\tsent\treceived\t  communicator\n")
	for _, c := range list {
		name, size := "unknown", ""
		if c.Name != nil {
			name = severalNamed(*c.Name, c.Count)
		}
		if c.Size > 0 {
			size = text.Count(c.Size)
		}
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t  %s\n", text.Count(c.Calls), text.Count(c.Ranks), size, text.Count(c.Messages), c.bytes(),
			text.Count(c.Collectives.Calls), c.Collectives.bytes(c.Collectives.Sent), c.Collectives.bytes(c.Collectives.Received), name)
	}
}

// bytes returns a sum of bytes as text, marked if not all are known.
func (c collectiveInfo) bytes(sum uint64) string {
	if c.Unknown > 0 {
		return text.AtLeast(text.Bytes(sum))
	}
	return text.Bytes(sum)
}
