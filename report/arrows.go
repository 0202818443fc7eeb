package report

import (
	"cmp"
	"context"
	"encoding/binary"
	"runtime"
	"slices"

	"github.com/reprise-trace/reprise/internal/parallel"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// An arrow is a message between two ranks: by whom and in which call it is sent and
// received, and the call that completes the receipt.
type arrow struct {
	from, to             int // rows of timelineData.Ranks
	sent, received, done uint64
}

// maxArrows is how many ends of messages are looked at for arrows.
const maxArrows = 4 << 20

// arrowsOf returns the messages between ranks that are shown, by sender and call; nil if
// they are too many, or what calls mean is not known.
func (m *timelineMaker) arrowsOf(ctx context.Context, model *semantics.Model) ([]arrow, error) {
	calls := uint64(0)
	for _, t := range m.shown {
		calls += t.Len()
	}
	if model == nil || !model.Known() || calls > maxArrows {
		return nil, nil
	}
	numbering, err := query.OpenNumbering(ctx, model, query.Options{})
	if err != nil {
		return nil, err
	}
	var tracks []rankTrack
	for _, t := range m.shown {
		if m.data.Ranks[t.number].Calls != nil {
			tracks = append(tracks, t)
		}
	}
	open := make(map[uint64]*arrow) // by the number of the message
	for some := range slices.Chunk(tracks, runtime.GOMAXPROCS(0)) {
		ends := make([][]messageEnd, len(some))
		err := parallel.Each(ctx, 0, len(some), func(i int) (err error) {
			ends[i], err = endsOf(ctx, numbering, some[i].Rank)
			return err
		})
		if err != nil {
			return nil, err
		}
		for i, t := range some {
			addEnds(open, t.number, ends[i])
		}
	}
	var arrows []arrow
	for _, a := range open {
		if a.from >= 0 && a.to >= 0 {
			arrows = append(arrows, *a)
		}
	}
	slices.SortFunc(arrows, func(a, b arrow) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.sent, b.sent), cmp.Compare(a.to, b.to),
			cmp.Compare(a.received, b.received))
	})
	return arrows, nil
}

// A messageEnd is the call that sends a message, or receives it, and that which completes the receipt.
type messageEnd struct {
	number         uint64 // of the message
	sends          bool
	position, done uint64
}

// endsOf returns the ends of messages at a rank.
func endsOf(ctx context.Context, numbering *query.Numbering, r *trace.Rank) ([]messageEnd, error) {
	numbers, err := numbering.Of(ctx, r, r.Number())
	if err != nil {
		return nil, err
	}
	var ends []messageEnd
	received := make(map[int64]int) // of ends, by the request
	for position, terminal := range positions(r) {
		if position%4096 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		o, list := numbers.At(position, terminal)
		for i, number := range list {
			if number == 0 {
				continue
			}
			sends := o.Messages[i].Direction == semantics.Send
			if request, later := o.Request(i); later && !sends {
				received[request] = len(ends)
			}
			ends = append(ends, messageEnd{number, sends, position, position})
		}
		if o == nil {
			continue
		}
		for _, request := range o.Completes {
			if i, ok := received[request]; ok {
				ends[i].done = position
				delete(received, request)
			}
		}
	}
	return ends, nil
}

// addEnds adds the ends of messages at a rank to arrows.
func addEnds(open map[uint64]*arrow, row int, ends []messageEnd) {
	for _, end := range ends {
		a := open[end.number]
		if a == nil {
			a = &arrow{from: -1, to: -1}
			open[end.number] = a
		}
		if end.sends {
			a.from, a.sent = row, end.position
		} else {
			a.to, a.received, a.done = row, end.position, end.done
		}
	}
}

// positions returns an iterator over the calls of a rank.
func positions(r *trace.Rank) func(yield func(uint64, uint32) bool) {
	return func(yield func(uint64, uint32) bool) {
		walk, position := r.Walk(0), uint64(0)
		for run := walk.Next(); run.Count > 0; run = walk.Next() {
			for range run.Count {
				if !yield(position, run.Symbol) {
					return
				}
				position++
			}
		}
	}
}

// packArrows returns arrows as arrows.js reads them: deflated varints. First how many there
// are, then columns: rows of senders, positions of sending calls, rows of receivers,
// positions of receiving calls, each as the difference to the one before, the latter of the
// same pair of rows; and how many calls later the receipt is complete.
func packArrows(arrows []arrow) []byte {
	var columns [5][]byte
	var last arrow
	before := make(map[[2]int]uint64)
	add := func(column int, v int64) { columns[column] = binary.AppendVarint(columns[column], v) }
	for _, a := range arrows {
		if a.from != last.from {
			last.sent = 0
		}
		pair := [2]int{a.from, a.to}
		add(0, int64(a.from-last.from))
		add(1, int64(a.sent-last.sent))
		add(2, int64(a.to-last.to))
		add(3, int64(a.received-before[pair]))
		add(4, int64(a.done-a.received))
		last, before[pair] = a, a.received
	}
	return deflated(append([][]byte{binary.AppendUvarint(nil, uint64(len(arrows)))}, columns[:]...)...)
}
