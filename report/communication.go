package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/internal/answers"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

// Limits of the section about communication.
const (
	maxCells         = 1 << 16
	maxUniformRanges = 1 << 12 // of ranks, in uniform pairs
	mostBins         = 1024
	fewBins          = 256 // all of whose cells are not too many
	maxPairs         = 10
	maxCommunicators = 50
	maxSizes         = 20
)

// A communicationText is what is written about who communicates with whom.
type communicationText struct {
	About         string
	Matrix, Bytes bool
	Kinds         bool   // there are messages and collective operations in the matrix
	Number        string // what is counted there
	Pairs         *table
	Communicators *table
}

const unknownFunctions = "The functions of this trace are neither those of MPI nor those of SimGrid: their messages are unknown."

// addCommunication adds who communicates with whom, and the sizes of messages.
func (p *page) addCommunication(ctx context.Context, tr *trace.Trace, _ Options) error {
	model, err := semantics.Open(ctx, tr)
	if err != nil {
		return err
	}
	p.model = model
	p.Communication = &communicationText{About: unknownFunctions}
	p.Sizes = &sizeText{About: unknownFunctions}
	if !model.Known() {
		return nil
	}
	m, err := query.OpenMessages(ctx, model, 0, p.query())
	if errors.Is(err, query.ErrTooManyPairs) {
		m, err = query.OpenMessages(ctx, model, fewBins, p.query())
	}
	if err != nil {
		return err
	}
	if err := p.addMatrix(m); err != nil {
		return err
	}
	p.describeTraffic(m)
	p.addCommunicators(m.Communicators)
	p.addSizes(m.Sizes)
	return p.addMatching(ctx, model)
}

// addMatrix sets the matrix, if there is something in it.
func (p *page) addMatrix(m *query.Messages) error {
	var (
		list []query.Pair // by bins
		all  query.Volume
		d    = new(matrixData)
		err  error
	)
	if x := m.Matrix; x != nil {
		list, all, d.Ranks, d.Bins = cellsOf(x), x.Volume, x.Ranks, x.Bins
	} else {
		t := *m.Traffic
		all, d.Ranks = t.Volume, t.Ranks
		if uniform, ok := uniformOf(t.Uniform); ok {
			d.Uniform, t.Uniform = uniform, nil // the page adds them to the cells
		}
		if list, d.Bins, err = binned(&t); err != nil {
			return err
		}
	}
	if len(list) == 0 && len(d.Uniform) == 0 {
		return nil
	}
	d.Bytes, d.Messages, d.Exchanged = all.Bytes > 0 ||
		all.Exchanged.Bytes > 0, all.Messages > 0, all.Exchanged.Blocks > 0
	d.Cells = cellSteps(list, d.Exchanged)
	p.data.Matrix = d
	return nil
}

// binned returns the cells of a traffic by so many bins that there are not too many: by ranks, if
// that is possible.
func binned(t *query.Traffic) (list []query.Pair, bins int, err error) {
	if len(t.Uniform) == 0 && len(t.Pairs) <= maxCells {
		return t.Pairs, t.Ranks, nil
	}
	for bins = mostBins; ; bins /= 2 {
		m, err := t.Matrix(bins)
		if err != nil {
			return nil, 0, err
		}
		if list = cellsOf(m); len(list) <= maxCells {
			return list, m.Bins, nil
		}
	}
}

// uniformOf returns uniform pairs as the page has them; false if they are too irregular for
// that.
func uniformOf(list []query.UniformPairs) (out []uniformData, ok bool) {
	ranges := 0
	of := func(set rankenc.Set) (list []int) {
		for first, last := range set.Ranges() {
			if ranges++; ranges > maxUniformRanges {
				break
			}
			list = append(list, first, last)
		}
		return list
	}
	for i := range list {
		u := &list[i]
		if u.Higher && !u.Ascending() {
			return nil, false
		}
		out = append(out, uniformData{of(u.From), of(u.To), u.Higher, u.Bytes, u.Blocks.Blocks})
		if ranges > maxUniformRanges {
			return nil, false
		}
	}
	return out, true
}

// cellsOf returns the cells of a matrix in which there is something, or one more than maxCells
// of them.
func cellsOf(m *query.Matrix) []query.Pair {
	var list []query.Pair
	for source := range m.Bins {
		for destination := range m.Bins {
			if v := m.At(source, destination); v.Messages > 0 || v.Exchanged.Blocks > 0 {
				if list = append(list, query.Pair{Source: source, Destination: destination, Volume: v}); len(
					list) > maxCells {
					return list
				}
			}
		}
	}
	return list
}

// cellSteps returns cells as matrixData has them.
func cellSteps(list []query.Pair, exchanged bool) []uint64 {
	out := make([]uint64, 0, 6*len(list))
	source, destination := 0, 0
	for i, c := range list {
		if c.Source != source || i == 0 {
			destination = 0
		}
		out = append(out, uint64(c.Source-source), uint64(c.Destination-destination), c.Bytes, c.Messages)
		if exchanged {
			out = append(out, c.Exchanged.Bytes, c.Exchanged.Blocks)
		}
		source, destination = c.Source, c.Destination
	}
	return out
}

// describeTraffic writes about what goes between ranks.
func (p *page) describeTraffic(m *query.Messages) {
	var (
		all       query.Volume
		unplaced  query.Flow
		uncounted uint64
		rows      []answers.PairRow
		pairs     int
	)
	if t := m.Traffic; t != nil {
		all, unplaced, uncounted = t.Volume, t.Unplaced, t.Uncounted
		rows, pairs = answers.PairRows(t.Pairs, t.Uniform, maxPairs)
	} else {
		all, unplaced, uncounted = m.Matrix.Volume, m.Matrix.Unplaced, m.Matrix.Uncounted
	}
	t := p.Communication
	t.About = "No call sends a message."
	if all.Messages > 0 {
		t.About = fmt.Sprintf("%s of %s.", text.Plural(all.Messages, "message"), flowSize(all.Flow))
	} else {
		p.Sizes.About = t.About
	}
	if all.Unknown > 0 {
		t.About += fmt.Sprintf(" The size of %s of them is unknown.", text.Count(all.Unknown))
	}
	if unplaced.Messages > 0 {
		t.About += fmt.Sprintf(" The ranks of %s are unknown.", text.Plural(unplaced.Messages, "message"))
	}
	if b := all.Exchanged; b.Blocks > 0 {
		t.About += fmt.Sprintf(
			" In collective operations, %s of %s: a block is the data that one rank gives another in one operation, however MPI sends it.",
			text.Plural(b.Blocks, "block"), blockSize(b))
	} else if uncounted == 0 {
		t.About += " Collective operations exchange no data."
	}
	if uncounted > 0 {
		t.About += fmt.Sprintf(" The partners of %s are unknown.", text.Plural(uncounted, "collective call"))
	}
	x := p.data.Matrix
	if x == nil {
		return
	}
	t.Matrix, t.Bytes, t.Kinds = true, x.Bytes, x.Messages && x.Exchanged
	switch {
	case t.Kinds:
		t.Number = "Number"
	case x.Exchanged:
		t.Number = "Blocks"
	default:
		t.Number = "Messages"
	}
	if x.Bins < x.Ranks {
		t.About += fmt.Sprintf(" The matrix has %s × %s bins of ranks.", text.Count(x.Bins), text.Count(x.Bins))
	}
	t.Pairs = p.pairTable(rows, pairs, x.Exchanged)
}

// pairTable returns the table of the pairs between which most goes.
func (p *page) pairTable(rows []answers.PairRow, all int, exchanged bool) *table {
	titles := []string{"Source", "Destination", "Messages", "↓Bytes"}
	if exchanged {
		titles = []string{"Source", "Destination", "Messages", "Bytes", "Blocks", "Exchanged", "↓All bytes"}
	}
	t := newTable("pair", maxPairs, titles...)
	t.Narrow, t.Caption = true, "All pairs"
	if all > maxPairs {
		t.Caption = fmt.Sprintf("The %d of %s pairs, or sets of pairs, with most traffic", maxPairs, text.Count(all))
	}
	for i := range rows {
		r := &rows[i]
		from := cell{Text: r.From(), Value: r.Source}
		from.Find = p.firstOf(r.Source, func(o *semantics.Operation) bool {
			if r.Messages == 0 {
				return o.IsCollective()
			}
			return slices.ContainsFunc(o.Messages, func(m semantics.Message) bool {
				return m.Peer == r.Destination && m.Direction == semantics.Send
			})
		})
		cells := []any{from, valued(r.Destination, r.To()), r.Messages, valued(r.Bytes, flowSize(r.Flow))}
		if exchanged {
			cells = append(cells, r.Exchanged.Blocks, valued(r.Exchanged.Bytes, blockSize(r.Exchanged)),
				valued(r.AllBytes(), text.Bytes(r.AllBytes())))
		}
		t.row(cells...)
	}
	return t.shown()
}

// blockSize is flowSize for blocks.
func blockSize(b query.Blocks) string {
	return flowSize(query.Flow{Messages: b.Blocks, Bytes: b.Bytes, Unknown: b.Unknown})
}

// flowSize writes the bytes of messages, of some of which the size may be unknown.
func flowSize(f query.Flow) string {
	switch {
	case f.Unknown == 0:
		return text.Bytes(f.Bytes)
	case f.Unknown == f.Messages:
		return "unknown size"
	}
	return "at least " + text.Bytes(f.Bytes)
}

// addCommunicators adds what is done on each communicator.
func (p *page) addCommunicators(uses []query.CommunicatorUse) {
	t := newTable("communicator", maxCommunicators, "Communicator", "Ranks", "↓Calls", "Messages", "Bytes",
		"Collective calls", "Bytes sent in them", "Exchanged")
	for _, u := range uses {
		called, size, sent := cell{Text: "not told by the trace", Name: true}, flowSize(u.Flow),
			text.Bytes(u.Collectives.Sent)
		if u.Communicator != nil {
			called.Text = printable(u.Communicator.Name)
		}
		if u.Communicator != nil && len(t.Rows) < maxCommunicators {
			called.Find = p.first(func(o *semantics.Operation) bool { return o.Communicator.Whole() == u.Communicator })
		}
		switch {
		case u.Collectives.Calls == 0:
			sent = "–"
		case u.Collectives.Unknown > 0:
			sent = "at least " + sent
		}
		if u.Messages == 0 {
			size = "–"
		}
		t.row(called, u.Ranks, u.Calls, u.Messages, valued(u.Bytes, size), u.Collectives.Calls,
			valued(u.Collectives.Sent, sent), valued(u.Exchanged.Bytes, blockSize(u.Exchanged)))
	}
	p.Communication.Communicators = t.shown()
}

// A sizeText is what is written about the sizes of messages.
type sizeText struct {
	About string
	Table *table
}

// addSizes adds the sizes of messages.
func (p *page) addSizes(s *query.Sizes) {
	if len(s.List) == 0 {
		if s.Messages > 0 {
			p.Sizes.About = "The sizes of the messages are unknown."
		}
		return
	}
	known := s.Messages - s.Unknown
	p.Sizes.About = fmt.Sprintf("%s of known size, of %s; half of them have at most %s.", text.Plural(known, "message"),
		text.Plural(len(s.List), "size"), text.Bytes(s.Quantile(0.5)))
	next := s.List
	for _, c := range s.Classes() {
		sizes := 0
		for sizes < len(next) && next[sizes].Bytes <= c.To {
			sizes++
		}
		d := sizeData{c.From, c.To, c.Messages, c.Bytes}
		if sizes == 1 {
			d.Low, d.High = next[0].Bytes, next[0].Bytes
		}
		next = next[sizes:]
		p.data.Sizes = append(p.data.Sizes, d)
	}
	most := slices.Clone(s.List)
	slices.SortStableFunc(most, func(a, b query.SizeCount) int { return cmp.Compare(b.Messages, a.Messages) })
	t := newTable("size", maxSizes, "Size", "↓Messages", "of messages", "Bytes")
	t.Narrow, t.Caption = true, "The most frequent sizes"
	for _, c := range most {
		size := cell{Text: text.Count(c.Bytes) + " B", Value: c.Bytes}
		if len(t.Rows) < maxSizes {
			size.Find = p.first(func(o *semantics.Operation) bool {
				return slices.ContainsFunc(o.Messages, func(m semantics.Message) bool {
					return m.Direction != semantics.Receive && m.Bytes == int64(c.Bytes)
				})
			})
		}
		t.row(size, c.Messages,
			valued(c.Messages, text.Percent(float64(c.Messages), float64(known))), valued(c.All(), text.Bytes(c.All())))
	}
	p.Sizes.Table = t.shown()
}
