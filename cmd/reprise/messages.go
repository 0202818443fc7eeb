package main

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/semantics"
)

func newMessages() *cobra.Command {
	by := newChoice("pair", "size", "communicator")
	q := newQuestion("messages", nil, func(q *question) error { return messages(q, by.value) }, optJSON, optAll, optRanks)
	addChoice(q.Command, by, "by", "what a row is")
	return q.Command
}

// A messagesAnswer is how many messages there are. One of the lists is there.
type messagesAnswer struct {
	header
	query.Flow
	Unplaced      query.Flow              `json:"of_unknown_ranks,omitzero"` // by pair only
	Pairs         []query.Pair            `json:"pairs,omitzero"`
	Sizes         []query.SizeCount       `json:"sizes,omitzero"`
	Communicators []query.CommunicatorUse `json:"communicators,omitzero"`

	classes []query.SizeClass
	median  uint64
}

func messages(q *question, by string) error {
	a := &messagesAnswer{header: q.header()}
	err := q.query("messages", func(o query.Options) error {
		model, err := q.model()
		if err != nil {
			return err
		}
		return a.fill(q, model, by, o)
	})
	if err != nil {
		return err
	}
	return q.answer(a, func() { a.print(q, by) })
}

// model returns what the calls of the trace mean, and warns of communicators that
// are not known.
func (q *question) model() (*semantics.Model, error) {
	model, err := semantics.Open(q.Context(), q.trace)
	switch {
	case err != nil:
		return nil, err
	case !model.Known() && len(q.trace.Functions()) > 0:
		return nil, errors.New("its functions are not those of MPI or of SimGrid: their messages are not known")
	}
	if err := model.Unresolved(); err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		warn(q.ErrOrStderr(), "%s: unknown communicators: %s; messages and operations on them are left out", q.path, first)
	}
	return model, nil
}

// fill fills in the list that is asked for.
func (a *messagesAnswer) fill(q *question, model *semantics.Model, by string, o query.Options) error {
	m, err := query.OpenMessages(q.Context(), model, 0, o)
	if err != nil {
		return err
	}
	switch by {
	case "pair":
		t := m.Traffic
		a.Flow, a.Unplaced, a.Pairs = t.Flow, t.Unplaced, listed(t.Pairs)
	case "size":
		s := m.Sizes
		a.Flow, a.Sizes, a.classes, a.median = s.Flow, listed(s.List), s.Classes(), s.Quantile(0.5)
	case "communicator":
		for _, u := range m.Communicators {
			a.Flow.Add(u.Flow)
		}
		a.Communicators = listed(m.Communicators)
	}
	return nil
}

// listed returns a list that JSON writes as one if it is empty.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func (a *messagesAnswer) print(q *question, by string) {
	q.printf("%s: %s", q.path, text.Plural(a.Messages, "message"))
	if a.Messages > 0 {
		q.printf(", %s", flowBytes(a.Flow))
	}
	q.printf("\n")
	if a.Messages == 0 && by != "communicator" {
		q.printf("collective operations are no messages: --by communicator counts them\n")
	}
	if a.Unknown > 0 {
		q.printf("%s of unknown size\n", text.Plural(a.Unknown, "message"))
	}
	if u := a.Unplaced; u.Messages > 0 {
		q.printf("%s, %s, to or from an unknown rank\n", text.Plural(u.Messages, "message"), flowBytes(u))
	}
	switch by {
	case "pair":
		a.printPairs(q)
	case "size":
		if a.Messages > a.Unknown && !text.Saturated(a.Messages) {
			q.printf("median size: %s\n", text.Plural(a.median, "byte"))
		}
		a.printSizes(q)
	case "communicator":
		a.printCommunicators(q)
	}
}

// flowBytes returns the bytes of messages, marked if not all sizes are known.
func flowBytes(f query.Flow) string { return text.KnownBytes(f.Bytes, f.Unknown, f.Messages) }

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

func (a *messagesAnswer) printPairs(q *question) {
	list := slices.Clone(a.Pairs)
	slices.SortStableFunc(list, func(a, b query.Pair) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Messages, a.Messages))
	})
	if len(list) > 0 {
		q.printf("\n")
	}
	t := q.table("from", "to", "messages", "", "bytes", "", "mean size")
	for _, p := range list {
		t.Row(text.ID(p.Source), text.ID(p.Destination), p.Messages, text.Percent(p.Messages, a.Messages),
			flowBytes(p.Flow), text.Percent(p.Bytes, a.Bytes), meanSize(p.Flow))
	}
	t.Close()
}

// printSizes prints classes of sizes or, with --all, each size.
func (a *messagesAnswer) printSizes(q *question) {
	if len(a.Sizes) == 0 {
		return
	}
	q.printf("\n")
	if !q.all {
		t := text.NewTable(q.OutOrStdout(), text.All, "min size", "max size", "messages", "", "bytes", "")
		for _, c := range a.classes {
			t.Row(c.From, c.To, c.Messages, text.Percent(c.Messages, a.Messages), text.Bytes(c.Bytes), text.Percent(c.Bytes, a.Bytes))
		}
		t.Close()
		return
	}
	t := q.table("size", "messages", "", "bytes", "")
	for _, s := range a.Sizes {
		t.Row(s.Bytes, s.Messages, text.Percent(s.Messages, a.Messages), text.Bytes(s.All()), text.Percent(s.All(), a.Bytes))
	}
	t.Close()
}

func (a *messagesAnswer) printCommunicators(q *question) {
	if len(a.Communicators) == 0 {
		return
	}
	q.printf("\n")
	all := make([]relative, len(a.Communicators))
	for i, u := range a.Communicators {
		all[i] = relativeOf(u.Communicator)
	}
	type row struct {
		query.CommunicatorUse
		name string
	}
	var rows []row
	for _, group := range siblings(all, q.most()) {
		r := row{a.Communicators[group[0]], familyName(all, group)}
		for _, i := range group[1:] {
			r.CommunicatorUse = sumUses(r.CommunicatorUse, a.Communicators[i])
		}
		rows = append(rows, r)
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.Calls, a.Calls) })
	t := q.table("calls", "?ranks", "size", "messages", "bytes", "collectives", "sent", "received", "<communicator")
	for _, r := range rows {
		size := ""
		if r.Size > 0 {
			size = text.Count(r.Size)
		}
		c := r.Collectives
		t.Row(r.Calls, r.Ranks, size, r.Messages, flowBytes(r.Flow), c.Calls, text.KnownBytes(c.Sent, c.Unknown, math.MaxUint64),
			text.KnownBytes(c.Received, c.Unknown, math.MaxUint64), r.name)
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
	c.Flow.Add(d.Flow)
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

// A picture has this number of rows at most, if nobody asks for more.
const (
	fewBins = 512
	maxBins = 2048
)

type matrixOptions struct {
	output    string
	format    *choice
	of, scale *choice
	bins      int
}

func newMatrix() *cobra.Command {
	o := matrixOptions{format: newChoice("", "svg", "png", "csv"), of: newChoice("bytes", "messages"), scale: newChoice("log", "linear")}
	var q *question
	q = newQuestion("matrix", func() error { return o.check(q) }, func(q *question) error { return matrix(q, o) }, optRanks)
	f := q.Flags()
	f.StringVarP(&o.output, "output", "o", "", "the `file` to write, or - for standard output")
	addChoice(q.Command, o.format, "format", "what to write")
	f.Lookup("format").DefValue = "by the name of the file"
	addChoice(q.Command, o.of, "of", "what to draw")
	addChoice(q.Command, o.scale, "scale", "scale of the colours")
	f.IntVar(&o.bins, "bins", fewBins, "the largest `number` of rows and columns of a picture")
	return q.Command
}

// check returns what is wrong with the options, and fills in the format.
func (o *matrixOptions) check(q *question) error {
	switch {
	case o.output == "":
		return errors.New("matrix needs -o FILE")
	case o.bins < 1 || o.bins > maxBins:
		return fmt.Errorf("--bins is from 1 to %d, not %d", maxBins, o.bins)
	}
	if o.format.value == "" {
		if err := o.format.Set(strings.ToLower(strings.TrimPrefix(filepath.Ext(o.output), "."))); err != nil || o.format.value == "" {
			return fmt.Errorf("%s is not named .svg, .png or .csv: choose one with --format", o.output)
		}
	}
	for _, name := range []string{"of", "scale", "bins"} {
		if o.format.value == "csv" && q.Flags().Changed(name) {
			return fmt.Errorf("--%s does not go with --format csv, which is not a picture", name)
		}
	}
	return nil
}

func matrix(q *question, o matrixOptions) error {
	var write func(io.Writer) error
	err := q.query("matrix", func(options query.Options) error {
		model, err := q.model()
		if err != nil {
			return err
		}
		bins := o.bins
		if o.format.value == "csv" {
			bins = 0
		}
		m, err := query.OpenMessages(q.Context(), model, bins, options)
		if err != nil {
			return err
		}
		if m.Traffic != nil {
			write = func(w io.Writer) error { return writePairs(w, m.Traffic) }
			return nil
		}
		h, err := newHeatMap(q.path, m.Matrix, o)
		write = func(w io.Writer) error { return h.write(w, o.format.value) }
		return err
	})
	if err != nil {
		return err
	}
	return tellWritten(q.Command, o.format.value, o.output, "messages between ranks", named(writeOutput(q.Command, o.output, []string{q.path}, write)))
}

// writePairs writes a line for each pair of ranks.
func writePairs(w io.Writer, t *query.Traffic) error {
	out := csv.NewWriter(w)
	out.Write([]string{"from", "to", "messages", "bytes", "messages_of_unknown_size"})
	number := func(n uint64) string { return strconv.FormatUint(n, 10) }
	for _, p := range t.Pairs {
		out.Write([]string{strconv.Itoa(p.Source), strconv.Itoa(p.Destination), number(p.Messages), number(p.Bytes), number(p.Unknown)})
	}
	out.Flush()
	return out.Error()
}

// newHeatMap returns the picture of a matrix.
func newHeatMap(path string, m *query.Matrix, o matrixOptions) (*heatMap, error) {
	of := o.of.value
	h := &heatMap{ranks: m.Ranks, bins: m.Bins, linear: o.scale.value == "linear", scale: of + " from one rank to another"}
	h.title = fmt.Sprintf("%s: %s, %s", filepath.Base(path), text.Plural(m.Messages, "message"), flowBytes(m.Flow))
	if m.Bins < m.Ranks {
		h.scale = fmt.Sprintf("%s from %s to as many others", of, ranksOfBin(m))
	}
	switch {
	case m.Messages == 0:
		return nil, errors.New("no rank sends a message: there is nothing to draw")
	case of == "messages":
		h.value, h.text = func(from, to int) uint64 { return m.At(from, to).Messages }, text.Count[uint64]
	case m.Bytes == 0:
		return nil, errors.New("the messages have no bytes, or their sizes are unknown: --of messages draws their number")
	default:
		h.value, h.text = func(from, to int) uint64 { return m.At(from, to).Bytes }, text.Bytes[uint64]
	}
	h.markSaturated()
	return h, nil
}

// markSaturated says what the darkest colour means if it stands for all that is more.
func (h *heatMap) markSaturated() {
	for from := range h.bins {
		for to := range h.bins {
			if text.Saturated(h.value(from, to)) {
				h.scale += ", the darkest: " + h.text(math.MaxUint64)
				return
			}
		}
	}
}

// ranksOfBin returns how many ranks are in a bin of a matrix.
func ranksOfBin(m *query.Matrix) string {
	least := m.Ranks / m.Bins
	if m.Ranks%m.Bins > 0 {
		return fmt.Sprintf("%s or %s ranks", text.Count(least), text.Count(least+1))
	}
	return text.Plural(least, "rank")
}
