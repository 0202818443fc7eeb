package answer

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/answers"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
)

func NewMessages() *cobra.Command {
	by := cli.NewChoice("pair", "size", "communicator")
	q := cli.NewQuestion("messages", nil, func(q *cli.Question) error {
		return messages(q, by.Value)
	}, cli.OptJSON, cli.OptAll, cli.OptRanks, cli.OptRegion)
	cli.AddChoice(q.Command, by, "by", "meaning of a row")
	return q.Command
}

// A messagesAnswer is how many messages there are. The lists of one choice are there.
type messagesAnswer struct {
	cli.Header
	query.Volume
	Unplaced      query.Flow              `json:"of_unknown_ranks,omitzero"` // by pair only
	Uncounted     uint64                  `json:"collective_calls_of_unknown_ranks,omitzero"`
	Pairs         []query.Pair            `json:"pairs,omitzero"`
	Uniform       []query.UniformPairs    `json:"uniform_pairs,omitzero"`
	Sizes         []query.SizeCount       `json:"sizes,omitzero"`
	Communicators []query.CommunicatorUse `json:"communicators,omitzero"`

	classes []query.SizeClass
	median  uint64
}

func messages(q *cli.Question, by string) error {
	a := &messagesAnswer{Header: q.Header()}
	err := q.Query("messages", func(o query.Options) error {
		model, err := q.Model()
		if err != nil {
			return err
		}
		return a.fill(q, model, by, o)
	})
	if err != nil {
		return err
	}
	return q.Answer(a, func() { a.print(q, by) })
}

// fill fills in the list that is asked for.
func (a *messagesAnswer) fill(q *cli.Question, model *semantics.Model, by string, o query.Options) error {
	bins := 1 // pairs are not wanted
	if by == "pair" {
		bins = 0
	}
	m, err := query.OpenMessages(q.Context(), model, bins, o)
	if err != nil {
		return tooManyPairs(err)
	}
	if t := m.Traffic; t != nil {
		a.Volume, a.Unplaced, a.Uncounted = t.Volume, t.Unplaced, t.Uncounted
		a.Pairs, a.Uniform = cli.Listed(t.Pairs), cli.Listed(t.Uniform)
		return nil
	}
	a.Volume, a.Uncounted = m.Matrix.Volume, m.Matrix.Uncounted
	if by == "size" {
		a.Sizes, a.classes, a.median = cli.Listed(m.Sizes.List), m.Sizes.Classes(), m.Sizes.Quantile(0.5)
	} else {
		a.Communicators = cli.Listed(m.Communicators)
	}
	return nil
}

// tooManyPairs says what to do if an error is that there are too many pairs of ranks.
func tooManyPairs(err error) error {
	if errors.Is(err, query.ErrTooManyPairs) {
		return errors.New(
			"too many pairs of ranks have traffic: choose some with --ranks, draw all with \"reprise matrix\", or sum them up with \"reprise messages --by communicator\"")
	}
	return err
}

func (a *messagesAnswer) print(q *cli.Question, by string) {
	q.Printf("%s: %s", text.Printable(q.Path), text.Plural(a.Messages, "message"))
	if a.Messages > 0 {
		q.Printf(", %s", flowBytes(a.Flow))
	}
	q.Printf("\n")
	if a.Exchanged.Blocks > 0 {
		q.Printf("collective operations: %s, %s\n", text.Plural(a.Exchanged.Blocks, "block"), blockBytes(a.Exchanged))
	}
	if a.Unknown > 0 {
		q.Printf("%s of unknown size\n", text.Plural(a.Unknown, "message"))
	}
	if u := a.Unplaced; u.Messages > 0 {
		q.Printf("%s, %s, to or from an unknown rank\n", text.Plural(u.Messages, "message"), flowBytes(u))
	}
	if n := a.Exchanged.Unknown; n > 0 {
		q.Printf("%s of unknown size\n", text.Plural(n, "block"))
	}
	if a.Uncounted > 0 {
		q.Printf("%s with unknown ranks, not counted\n", text.Plural(a.Uncounted, "collective call"))
	}
	switch by {
	case "pair":
		a.printPairs(q)
	case "size":
		if a.Messages > a.Unknown && !text.Saturated(a.Messages) {
			q.Printf("median size: %s\n", text.Plural(a.median, "byte"))
		}
		a.printSizes(q)
	case "communicator":
		a.printCommunicators(q)
	}
}

// flowBytes returns the bytes of messages, marked if not all sizes are known.
func flowBytes(f query.Flow) string { return text.KnownBytes(f.Bytes, f.Unknown, f.Messages) }

// blockBytes is flowBytes for blocks.
func blockBytes(b query.Blocks) string { return text.KnownBytes(b.Bytes, b.Unknown, b.Blocks) }

// meanSize returns the mean size of messages, nothing if it is not known.
func meanSize(f query.Flow) string {
	if f.Messages == f.Unknown || saturatedFlow(f) {
		return ""
	}
	return text.Bytes(f.Bytes / (f.Messages - f.Unknown))
}

// saturatedFlow reports whether f may be more than it says.
func saturatedFlow(f query.Flow) bool {
	return text.Saturated(f.Messages) || text.Saturated(f.Bytes) || text.Saturated(f.Unknown)
}

func (a *messagesAnswer) printPairs(q *cli.Question) {
	rows, all := answers.PairRows(a.Pairs, a.Uniform, q.Most())
	if len(rows) > 0 {
		q.Printf("\n")
	}
	titles := []string{"from", "to", "messages", "", "bytes", "", "?mean size"}
	if a.Exchanged.Blocks > 0 {
		titles = append(titles, "blocks", "exchanged")
	}
	t := q.Table(titles...)
	for i := range rows {
		r := &rows[i]
		cells := []any{r.From(), r.To(), r.Messages, text.Percent(r.Messages, a.Messages), flowBytes(r.Flow),
			text.Percent(r.Bytes, a.Bytes), meanSize(r.Flow)}
		if r.Messages == 0 {
			cells = []any{r.From(), r.To(), "", "", "", "", ""}
		}
		if b := r.Exchanged; b.Blocks > 0 {
			cells = append(cells, b.Blocks, blockBytes(b))
		} else if a.Exchanged.Blocks > 0 {
			cells = append(cells, "", "")
		}
		t.Row(cells...)
	}
	t.Close()
	text.More(q.OutOrStdout(), all, q.Most())
}

// printSizes prints classes of sizes or, with --all, each size.
func (a *messagesAnswer) printSizes(q *cli.Question) {
	if len(a.Sizes) == 0 {
		return
	}
	q.Printf("\n")
	if !q.All {
		t := text.NewTable(q.OutOrStdout(), text.All, "min size", "max size", "messages", "", "bytes", "")
		for _, c := range a.classes {
			t.Row(c.From, c.To, c.Messages, text.Percent(c.Messages, a.Messages), text.Bytes(c.Bytes),
				text.Percent(c.Bytes, a.Bytes))
		}
		t.Close()
		return
	}
	t := q.Table("size", "messages", "", "bytes", "")
	for _, s := range a.Sizes {
		t.Row(s.Bytes, s.Messages, text.Percent(s.Messages, a.Messages), text.Bytes(s.All()),
			text.Percent(s.All(), a.Bytes))
	}
	t.Close()
}

func (a *messagesAnswer) printCommunicators(q *cli.Question) {
	if len(a.Communicators) == 0 {
		return
	}
	q.Printf("\n")
	all := make([]relative, len(a.Communicators))
	for i, u := range a.Communicators {
		all[i] = relativeOf(u.Communicator)
	}
	type row struct {
		query.CommunicatorUse
		name string
	}
	var rows []row
	for _, group := range siblings(all, q.Most()) {
		r := row{a.Communicators[group[0]], familyName(all, group)}
		for _, i := range group[1:] {
			r.CommunicatorUse = sumUses(r.CommunicatorUse, a.Communicators[i])
		}
		rows = append(rows, r)
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.Calls, a.Calls) })
	t := q.Table("<communicator", "calls", "?ranks", "size", "messages", "bytes", "collectives", "?sent",
		"?received", "exchanged")
	for _, r := range rows {
		size := ""
		if r.Size > 0 {
			size = text.Count(r.Size)
		}
		c := r.Collectives
		t.Row(r.name, r.Calls, r.Ranks, size, r.Messages, flowBytes(r.Flow), c.Calls,
			text.KnownBytes(c.Sent, c.Unknown, math.MaxUint64),
			text.KnownBytes(c.Received, c.Unknown, math.MaxUint64), blockBytes(r.Exchanged))
	}
	t.Close()
}

// sumUses returns the sum of two rows, with the larger number of ranks, and the size
// 0 if they have others.
func sumUses(c, d query.CommunicatorUse) query.CommunicatorUse {
	if c.Size != d.Size {
		c.Size = 0
	}
	c.Ranks = max(c.Ranks, d.Ranks)
	c.Calls = wire.AddSat(c.Calls, d.Calls)
	c.Volume.Add(d.Volume)
	c.Collectives.Add(d.Collectives)
	return c
}

// A relative is the name of a communicator in a table, nothing if it is not known.
type relative string

func relativeOf(c *semantics.Communicator) relative {
	if c == nil {
		return ""
	}
	return relative(c.Name)
}

// parent returns the name of the parent of a communicator, nothing if it has none.
func (r relative) parent() string { return string(r[:max(0, strings.LastIndexByte(string(r), '/'))]) }

// siblings returns the communicators that a table shows in one row each, as indices:
// each alone if they are no more than most, otherwise those with one parent together.
func siblings(all []relative, most int) [][]int {
	children := make(map[string]int)
	for _, r := range all {
		children[r.parent()]++
	}
	var rows [][]int
	at := make(map[string]int)
	for i, r := range all {
		parent := r.parent()
		row, ok := at[parent]
		switch {
		case most == text.All || len(all) <= most || parent == "" || children[parent] < 2:
			rows = append(rows, []int{i})
		case ok:
			rows[row] = append(rows[row], i)
		default:
			at[parent] = len(rows)
			rows = append(rows, []int{i})
		}
	}
	return rows
}

// familyName returns the name of a row for some of all communicators.
func familyName(all []relative, row []int) string {
	first := all[row[0]]
	switch {
	case first == "":
		return "unknown"
	case len(row) > 1:
		return fmt.Sprintf("%s, %s of them", text.Printable(first.parent()+"/*"), text.Count(len(row)))
	}
	return text.Printable(string(first))
}
