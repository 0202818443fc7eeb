package rows

import (
	"context"
	"iter"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// Limits of a [Group].
const (
	MaxRows  = 1 << 20
	maxBytes = 32 << 20 // of the encoded signatures of all rows, whatever these have in common, and of ranks
)

// What a rank in a group is taken to hold, in bytes, until all rows of the group are
// written.
const (
	heldByRank      = 4 << 10
	heldBySignature = 1 << 10
)

// A Group is some rows of a [Table]. It belongs to who received it, up to
// [Group.Release].
type Group struct {
	Segments []Segment // of the rows, in order

	table             *Table
	numbers           []uint32 // of the codes of rows
	starts, durations []int64  // nil if the table has no times; since the run began
	timed             []bool   // the same
	positions         []uint64 // nil if all calls from the first of a segment on have rows
	numbered          numbered
	messages          messageRows
	bytes             int
}

// A Segment is rows of one rank.
type Segment struct {
	Rank       int
	Begin, End int // of its rows in the group

	// Codes is how many codes there are: those of rows are less.
	Codes int

	first uint64 // position of row Begin
	codes []code
}

// Len returns the number of rows.
func (g *Group) Len() int { return len(g.numbers) }

// Codes returns the codes of the rows. They must not be changed.
func (g *Group) Codes() []uint32 { return g.numbers }

// Release gives the memory of g to a group that is to come.
func (g *Group) Release() {
	select {
	case g.table.free <- g:
	default:
	}
}

// newGroup returns a group without rows.
func (t *Table) newGroup() *Group {
	var g *Group
	select {
	case g = <-t.free:
	default:
		g = &Group{table: t}
	}
	clear(g.Segments) // which hold ranks
	g.Segments, g.numbers, g.bytes = g.Segments[:0], g.numbers[:0], 0
	g.starts, g.durations, g.timed, g.positions = g.starts[:0], g.durations[:0], g.timed[:0], g.positions[:0]
	g.numbered.reset()
	g.messages.reset()
	return g
}

// A source is what rows of a rank come from.
type source struct {
	rank  int
	read  *trace.Rank
	clock *query.Clock    // nil if there are no times
	means *semantics.Rank // nil if the functions are not known
	ops   *operations     // nil if they are not numbered

	codes  []code
	number []uint32 // by terminal, of its first code, and 1 more; 0 for none
	others map[meaning]uint32

	messages map[messageKey]uint32 // codes, if rows are messages
}

// A meaning is a terminal whose calls mean something else than others of it.
type meaning struct {
	terminal  uint32
	operation *semantics.Operation
}

// code returns the number of the code of a call.
func (s *source) code(position uint64, terminal uint32) uint32 {
	var operation *semantics.Operation
	switch {
	case s.ops != nil:
		operation = s.ops.at(position, terminal)
	case s.means != nil:
		operation = s.means.At(position, terminal)
	}
	known := s.number[terminal]
	if known > 0 && s.codes[known-1].operation == operation {
		return known - 1
	}
	return s.newCode(terminal, operation, known > 0)
}

// newCode is code for a call that is not of the first code of its terminal.
func (s *source) newCode(terminal uint32, operation *semantics.Operation, known bool) uint32 {
	m := meaning{terminal, operation}
	if n, ok := s.others[m]; ok {
		return n
	}
	n := uint32(len(s.codes))
	s.codes = append(s.codes, code{source: s, terminal: terminal, operation: operation})
	if !known {
		s.number[terminal] = n + 1
		return n
	}
	if s.others == nil {
		s.others = make(map[meaning]uint32)
	}
	s.others[m] = n
	return n
}

// A filler puts rows into groups.
type filler struct {
	*Table
	senders senders
	ctx     context.Context
	yield   func(*Group, error) bool
	group   *Group
	ended   bool // no more rows are wanted
}

// give yields the group. It returns false if no more are wanted.
func (f *filler) give() bool {
	f.ended = !f.yield(f.group, nil)
	return !f.ended
}

// Groups returns an iterator over the rows. If there is an error, nothing comes after
// it. Groups are no larger than [MaxRows] rows, and end earlier where the signatures of
// the calls are large or the ranks are many, so that memory is bounded, but for that of a
// rank that is read.
func (t *Table) Groups(ctx context.Context) iter.Seq2[*Group, error] {
	return func(yield func(*Group, error) bool) {
		f := &filler{Table: t, ctx: ctx, yield: yield, group: t.newGroup()}
		defer f.senders.close()
		for rank := range t.choice.Numbers() {
			err := f.rank(rank)
			if f.ended {
				return
			}
			if err == nil {
				err = context.Cause(ctx)
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
		if f.group.Len() > 0 {
			f.give()
		}
	}
}

// rank puts the rows of a rank into groups.
func (f *filler) rank(rank int) error {
	s, err := f.open(rank)
	if err != nil {
		return err
	}
	if f.choice.Times != nil {
		if s.clock, err = f.choice.Times.Clock(s.read); err != nil {
			return err
		}
	}
	first, end := uint64(0), s.read.Len()
	if f.between && s.clock != nil && s.clock.Source() != query.None {
		if first, end, err = s.clock.Positions(f.from, f.to); err != nil {
			return err
		}
	}
	if f.group.full() {
		if !f.give() {
			return nil
		}
		f.group = f.newGroup()
	}
	switch {
	case f.options.By == export.Messages:
		return f.messages(s, first, end)
	case first == end:
	case f.options.By == export.Signatures:
		return f.sums(s, first, end)
	case s.clock == nil:
		f.calls(s, first, end)
	default:
		return f.timedCalls(s, first, end)
	}
	return nil
}

// open reads a rank.
func (f *filler) open(rank int) (*source, error) {
	read, err := f.trace.Rank(rank)
	if err != nil {
		return nil, err
	}
	s := &source{rank: rank, read: read, number: make([]uint32, read.Terminals())}
	if f.model.Known() {
		if s.means, err = f.model.Of(read, rank); err != nil {
			return nil, err
		}
	}
	if f.numbering != nil {
		numbers, err := f.numbering.Of(f.ctx, read, rank)
		if err != nil {
			return nil, err
		}
		s.ops = &operations{numbers: numbers, active: make(map[int64]active)}
	}
	return s, nil
}

// begin adds a segment of rows of a source from a position on.
func (f *filler) begin(s *source, first uint64) {
	at := f.group.Len()
	f.group.Segments = append(f.group.Segments, Segment{Rank: s.rank, Begin: at, End: at, first: first})
	if len(f.group.Segments) > 1 {
		f.group.bytes += heldByRank + heldBySignature*s.read.Terminals()
	}
}

// end ends the last segment.
func (f *filler) end(s *source) {
	last := &f.group.Segments[len(f.group.Segments)-1]
	if last.End, last.codes, last.Codes = f.group.Len(), s.codes, len(s.codes); last.End == last.Begin {
		f.group.Segments = f.group.Segments[:len(f.group.Segments)-1]
	}
}

// next ends a group, and begins another with rows of a source from a position on. It
// returns false if no more are wanted.
func (f *filler) next(s *source, first uint64) bool {
	f.end(s)
	if f.ctx.Err() != nil || !f.give() {
		return false
	}
	f.group = f.newGroup()
	f.begin(s, first)
	return true
}

// full reports whether a group has as many rows as it may.
func (g *Group) full() bool { return len(g.numbers) >= MaxRows || g.bytes >= maxBytes }

// add adds a row.
func (g *Group) add(s *source, number uint32) {
	g.numbers = append(g.numbers, number)
	if s.ops != nil && g.table.options.By == export.Calls {
		g.numbered.add(s.ops)
		g.bytes += s.ops.held()
	}
	for _, v := range s.read.Call(s.codes[number].terminal).Args {
		g.bytes += heldByValue(v)
	}
}

// heldByValue returns about how many bytes a value takes in a row.
func heldByValue(v cst.Value) int {
	switch v.Kind() {
	case cst.KindString, cst.KindBytes:
		return len(v.Text())
	case cst.KindArray:
		n := 1
		for i := range v.Len() {
			n += heldByValue(v.Index(i))
		}
		return n
	}
	return 2
}

// addTime adds the time of a row.
func (g *Group) addTime(c trace.Call) {
	g.timed, g.starts, g.durations = append(g.timed, c.Timed), append(g.starts, g.table.since(c.Start)),
		append(g.durations, c.Duration)
}

// calls adds calls first ≤ position < end of a source, without times.
func (f *filler) calls(s *source, first, end uint64) {
	f.begin(s, first)
	walk := s.read.Walk(first)
	for at := first; at < end; {
		run := walk.Next()
		for range min(run.Count, end-at) {
			f.group.add(s, s.code(at, run.Symbol))
			if f.choice.Times != nil {
				f.group.addTime(trace.Call{Start: f.runBegin})
			}
			f.addPosition(at)
			if at++; f.group.full() && at < end && !f.next(s, at) {
				return
			}
		}
	}
	f.end(s)
}

// addPosition adds the position of a row, if rows may not be those of calls one after
// the other.
func (f *filler) addPosition(position uint64) {
	if f.between {
		f.group.positions = append(f.group.positions, position)
	}
}

// wanted reports whether a call is between the times of the options, of calls of which
// some are that stand before it, and after it. In an estimate all are.
func (f *filler) wanted(s *source, call *trace.Call) bool {
	return !f.between || s.clock == nil || s.clock.Source() != query.Series || !call.Timed ||
		query.Overlaps(call.Start, call.Duration, f.from, f.to)
}

// timedCalls is calls with times.
func (f *filler) timedCalls(s *source, first, end uint64) error {
	f.begin(s, first)
	for call, err := range s.clock.Calls(first) {
		if err != nil {
			return err
		}
		at := call.Position
		if at == end || at%cancelled == 0 && f.ctx.Err() != nil {
			break
		}
		number := s.code(at, call.Terminal)
		if !f.wanted(s, &call) {
			continue
		}
		g := f.group
		g.add(s, number)
		g.addTime(call)
		f.addPosition(at)
		if g.full() && at+1 < end && !f.next(s, at+1) {
			return nil
		}
	}
	f.end(s)
	return nil
}
