package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/semantics"
)

// Limits of the section about communication.
const (
	maxPairRanks     = 20_000 // up to so many, pairs of ranks are counted, not bins
	maxCells         = 1 << 16
	mostBins         = 1024
	maxPairs         = 10
	maxCommunicators = 50
	maxSizes         = 20
)

// A communicationText is what is written about who communicates with whom.
type communicationText struct {
	About         string
	Matrix, Bytes bool
	Pairs         *table
	Communicators *table
}

const unknownFunctions = "The functions of this trace are not those of MPI or of SimGrid: which of them send messages is not known."

// addCommunication adds who communicates with whom, and the sizes of messages.
func (p *page) addCommunication(ctx context.Context, trace *reprise.Trace, _ Options) error {
	model, err := semantics.Open(ctx, trace)
	if err != nil {
		return err
	}
	p.model = model
	p.Communication = &communicationText{About: unknownFunctions}
	p.Sizes = &sizeText{About: unknownFunctions}
	if !model.Known() {
		return nil
	}
	bins := 0
	if trace.Ranks() > maxPairRanks {
		bins = mostBins
	}
	m, err := query.OpenMessages(ctx, model, bins, p.query())
	if err != nil {
		return err
	}
	p.describeTraffic(p.cells(m))
	p.addCommunicators(m.Communicators)
	p.addSizes(m.Sizes)
	return p.addMatching(ctx, model)
}

// cells sets the matrix, and returns the pairs of ranks, nil if only bins were counted,
// and all messages, and those of unknown ranks.
func (p *page) cells(m *query.Messages) (pairs []query.Pair, all, lost query.Flow) {
	var (
		list  []query.Pair // by bins
		ranks int
		bins  int
	)
	if t := m.Traffic; t != nil {
		pairs, list, ranks, bins, all, lost = t.Pairs, t.Pairs, t.Ranks, t.Ranks, t.Flow, t.Unplaced
	} else {
		x := m.Matrix
		list, ranks, bins, all, lost = cellsOf(x), x.Ranks, x.Bins, x.Flow, x.Unplaced
	}
	for of := bins; len(list) > maxCells; {
		if of > mostBins {
			of = mostBins
		} else {
			of /= 2
		}
		list, bins = coarser(list, bins, of), of
	}
	if len(list) == 0 {
		return pairs, all, lost
	}
	p.data.Matrix = &matrixData{Ranks: ranks, Bins: bins, Bytes: all.Bytes > 0, Cells: cellSteps(list)}
	return pairs, all, lost
}

// cellsOf returns the cells of a matrix in which there are messages.
func cellsOf(m *query.Matrix) []query.Pair {
	var list []query.Pair
	for source := range m.Bins {
		for destination := range m.Bins {
			if f := m.At(source, destination); f.Messages > 0 {
				list = append(list, query.Pair{Source: source, Destination: destination, Flow: f})
			}
		}
	}
	return list
}

// coarser sums up cells by fewer bins.
func coarser(list []query.Pair, bins, fewer int) []query.Pair {
	to := func(bin int) int { return int(uint64(bin) * uint64(fewer) / uint64(bins)) }
	sums := make(map[[2]int]query.Flow)
	for _, c := range list {
		key := [2]int{to(c.Source), to(c.Destination)}
		f := sums[key]
		f.Add(c.Flow)
		sums[key] = f
	}
	out := make([]query.Pair, 0, len(sums))
	for key, f := range sums {
		out = append(out, query.Pair{Source: key[0], Destination: key[1], Flow: f})
	}
	slices.SortFunc(out, func(a, b query.Pair) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Destination, b.Destination))
	})
	return out
}

// cellSteps returns cells as matrixData has them.
func cellSteps(list []query.Pair) []uint64 {
	out := make([]uint64, 0, 4*len(list))
	source, destination := 0, 0
	for i, c := range list {
		if c.Source != source || i == 0 {
			destination = 0
		}
		out = append(out, uint64(c.Source-source), uint64(c.Destination-destination), c.Bytes, c.Messages)
		source, destination = c.Source, c.Destination
	}
	return out
}

// describeTraffic writes about the messages.
func (p *page) describeTraffic(pairs []query.Pair, all, lost query.Flow) {
	t := p.Communication
	if all.Messages == 0 {
		t.About = "No call sends a message. Collective operations are not messages."
		p.Sizes.About = "No call sends a message."
		return
	}
	t.About = fmt.Sprintf("%s of %s. Collective operations are not messages, and not in the matrix.", text.Plural(all.Messages, "message"), flowSize(all))
	if all.Unknown > 0 {
		t.About += fmt.Sprintf(" The trace does not tell the size of %s of them.", text.Count(all.Unknown))
	}
	if lost.Messages > 0 {
		t.About += fmt.Sprintf(" Of %s it does not tell between which ranks of the run.", text.Plural(lost.Messages, "message"))
	}
	if p.data.Matrix == nil {
		return
	}
	t.Matrix, t.Bytes = true, p.data.Matrix.Bytes
	if n := p.data.Matrix.Bins; n < p.data.Matrix.Ranks {
		t.About += fmt.Sprintf(" The matrix has %s × %s bins of ranks.", text.Count(n), text.Count(n))
	}
	most := slices.Clone(pairs)
	slices.SortStableFunc(most, func(a, b query.Pair) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Messages, a.Messages))
	})
	t.Pairs = newTable("pair", len(most), "Source", "Destination", "Messages", "↓Bytes")
	t.Pairs.Narrow, t.Pairs.Caption = true, "All pairs"
	if len(most) > maxPairs {
		t.Pairs.Caption = fmt.Sprintf("The %d of %s pairs between which most goes", maxPairs, text.Count(len(most)))
	}
	for _, c := range most[:min(len(most), maxPairs)] {
		t.Pairs.row(order(c.Source), order(c.Destination), c.Messages, valued(c.Bytes, flowSize(c.Flow)))
	}
	t.Pairs = t.Pairs.shown()
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
	t := newTable("communicator", maxCommunicators, "Communicator", "Ranks", "↓Calls", "Messages", "Bytes", "Collective calls", "Bytes sent in them")
	for _, u := range uses {
		called, size, sent := name("not told by the trace"), flowSize(u.Flow), text.Bytes(u.Collectives.Sent)
		if u.Communicator != nil {
			called = name(printable(u.Communicator.Name))
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
		t.row(called, u.Ranks, u.Calls, u.Messages, valued(u.Bytes, size), u.Collectives.Calls, valued(u.Collectives.Sent, sent))
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
			p.Sizes.About = "The trace does not tell the sizes of the messages."
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
		t.row(valued(c.Bytes, text.Count(c.Bytes)+" B"), c.Messages,
			valued(c.Messages, text.Percent(float64(c.Messages), float64(known))), valued(c.All(), text.Bytes(c.All())))
	}
	p.Sizes.Table = t.shown()
}
