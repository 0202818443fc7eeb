package report

import (
	"maps"
	"math"
	"slices"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/sequitur"
)

// A piece is a call, or a part of one that contains others.
type piece struct {
	start, end int64
	symbol     int32 // of the grammar
	kind       kind
}

// A kind says which part of a call a piece is. The call has one first, one last, and
// any number of middle pieces, if it is not whole.
type kind uint8

const (
	whole kind = iota
	first
	last
	middle
)

// A row is the pieces of the calls of a rank that stand in a row, one after another.
type row struct {
	pieces    []piece
	grammar   *sequitur.Grammar // of the symbols of the pieces
	terminals []int             // by symbol; nil if symbols are terminals
	kinds     []kind            // by symbol; nil if all are whole
	thread    int               // −1: all
	moved     int64             // how far starts and ends were moved, in ns
}

// newRow returns a row of pieces whose symbols are terminals.
func newRow(pieces []piece, thread int, moved int64) row {
	type symbol struct {
		terminal int32
		kind     kind
	}
	numbers := make(map[symbol]int32)
	for _, p := range pieces {
		numbers[symbol{p.symbol, p.kind}] = 0
	}
	order := slices.SortedFunc(maps.Keys(numbers), func(a, b symbol) int {
		return int(a.terminal-b.terminal)*4 + int(a.kind) - int(b.kind)
	})
	r := row{pieces: pieces, thread: thread, moved: moved}
	for i, s := range order {
		numbers[s] = int32(i)
		r.terminals, r.kinds = append(r.terminals, int(s.terminal)), append(r.kinds, s.kind)
	}
	var b sequitur.Builder
	for i, p := range pieces {
		pieces[i].symbol = numbers[symbol{p.symbol, p.kind}]
		b.Append(sequitur.Symbol(pieces[i].symbol))
	}
	if !slices.ContainsFunc(r.kinds, func(k kind) bool { return k != whole }) {
		r.kinds = nil
	}
	r.grammar = b.Finish()
	return r
}

// arrange puts the calls of a rank, in the order in which they returned, into rows: one,
// or one for each thread if calls of several overlap. It may change the calls.
func arrange(r *reprise.Rank, calls []piece) []row {
	overlap, nested, end := false, false, int64(math.MinInt64)
	for i, c := range calls {
		overlap = overlap || c.start < end
		nested = nested || i > 0 && within(calls[i-1], c)
		end = max(end, c.end)
	}
	threads := map[int][]piece{}
	if overlap {
		for _, c := range calls {
			thread := r.Call(uint32(c.symbol)).Thread()
			threads[thread] = append(threads[thread], c)
		}
	}
	switch {
	case len(threads) > 1:
		var rows []row
		for _, thread := range slices.Sorted(maps.Keys(threads)) {
			pieces, moved := nest(threads[thread])
			rows = append(rows, newRow(pieces, thread, moved))
		}
		return rows
	case nested:
		pieces, moved := nest(calls)
		return []row{newRow(pieces, -1, moved)}
	}
	return []row{flat(r, calls)}
}

// within reports whether a call that returned before another began in it.
func within(inner, outer piece) bool {
	return inner.start >= outer.start && inner.end > outer.start
}

// flat returns a row of whole calls: if they overlap, each begins where the one before
// ends, unless that can end before.
func flat(r *reprise.Rank, calls []piece) row {
	all := row{pieces: calls, grammar: r.Grammar(), thread: -1}
	for i := range calls {
		c := &calls[i]
		start := c.start
		if i > 0 {
			before := &calls[i-1]
			if end := max(before.start, min(before.end, start)); end < before.end {
				all.moved = max(all.moved, before.end-end)
				before.end = end
			}
			start = max(start, before.end)
		}
		end := max(start, c.end)
		all.moved = max(all.moved, start-c.start, end-c.end)
		c.start, c.end = start, end
	}
	return all
}

// nest returns the pieces of the calls of a thread, in which one may be in another: of
// these, at each time, the innermost. A call that begins in another, but does not contain
// it, follows it: the other ends where it begins. It also returns how far starts and ends
// were moved.
func nest(calls []piece) (pieces []piece, moved int64) {
	var open []piece             // calls that contain the ones to come, which are those before
	from := int64(math.MaxInt64) // pieces from there on are known
	emit := func(start int64, p piece) {
		pieces = append(pieces, piece{start, from, p.symbol, p.kind})
		from = start
	}
	begin := func() { // the last of the open calls
		p := open[len(open)-1]
		if p.kind != whole {
			p.kind = first
		}
		emit(p.start, p)
		open = open[:len(open)-1]
	}
	for _, c := range slices.Backward(calls) {
		start, end := c.start, min(c.end, from)
		for len(open) > 0 && (open[len(open)-1].start >= end || open[len(open)-1].start > start) {
			end = min(end, open[len(open)-1].start)
			begin()
		}
		start = min(start, end)
		moved = max(moved, c.end-end, c.start-start)
		if len(open) > 0 {
			switch outer := &open[len(open)-1]; {
			case outer.kind == whole:
				outer.kind = last
				emit(end, *outer)
				outer.kind = middle
			case from > end:
				emit(end, *outer)
			}
		}
		from = end
		open = append(open, piece{start, end, c.symbol, whole})
	}
	for len(open) > 0 {
		begin()
	}
	slices.Reverse(pieces)
	return pieces, moved
}
