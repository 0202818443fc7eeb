package merge

import (
	"errors"
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/progression"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// sequence returns the calls of p and, after the last, the streams of what advances in them.
func (p *Part) sequence() *sequitur.Grammar {
	if p.Streams == nil || p.Streams.Runs == nil || p.Streams.Runs.Len() == 0 {
		return p.Grammar
	}
	return sequitur.Concat(p.Grammar, p.Streams.Runs)
}

// slots returns which slots of a terminal have the numbers of streams.
func (p *Part) slots(terminal uint32) uint64 {
	if p.Streams == nil {
		return 0
	}
	return p.Streams.Slots[terminal]
}

// role returns what a terminal is among streams.
func (s *shape) role(t sequitur.Symbol, functions []cst.Function) layout.StreamRole {
	return layout.StreamRoleOf(&functions[s.forms[t].function])
}

// hasStreams reports whether arguments advance, or there are streams.
func (s *shape) hasStreams(functions []cst.Function) bool {
	for t := range s.forms {
		if s.forms[t].streams != 0 || s.role(sequitur.Symbol(t), functions) != layout.NoStream {
			return true
		}
	}
	return false
}

// calls returns the number of calls of each rank: of the sequence without the streams after it.
func (s *shape) calls(functions []cst.Function) uint64 {
	n := s.grammar.Len()
	if !s.hasStreams(functions) {
		return n
	}
	for t, count := range s.grammar.Occurrences() {
		if s.role(t, functions) != layout.NoStream {
			n -= count
		}
	}
	return n
}

// checkStreams is that of a shape for the signatures in scratch, of a rank with a grammar.
func (a *Accumulator) checkStreams(rank int, g *sequitur.Grammar) error {
	s := shape{grammar: g, forms: a.scratch.forms, ranks: spans{{first: int32(rank), last: int32(rank)}}}
	if !s.hasStreams(a.functions.Functions()) {
		return nil
	}
	s.setValues(a.scratch.slots)
	return s.checkStreams(a.functions.Functions())
}

// checkStreams returns an error if streams do not stand after the last call, or have not as many values for
// each rank as its calls take. It takes time in proportion to the ranks.
func (s *shape) checkStreams(functions []cst.Function) error {
	if !s.hasStreams(functions) {
		return nil
	}
	index, err := layout.IndexStreams(s.grammar, func(t sequitur.Symbol) layout.StreamRole {
		return s.role(t, functions)
	})
	if err != nil {
		return err
	}
	runs, err := s.runs(functions)
	if err != nil {
		return err
	}
	uses := s.streamUses(functions)
	lengths, taken := make([]uint64, len(s.forms)), make([]uint64, len(index.Begins))
	s.ranks.each(func(position, rank int) {
		for i := range runs {
			r, ok := runs[i].at(position, rank)
			if !ok && err == nil {
				err = errors.New("a run that is none")
			}
			lengths[runs[i].terminal] = r.Length
		}
		if err == nil && !uses.taken(taken, position, rank) {
			err = errors.New("no stream of an argument")
		}
		if err == nil {
			err = index.Check(taken, func(t sequitur.Symbol) uint64 { return lengths[t] })
		}
		if err != nil {
			err = fmt.Errorf("rank %d: %w", rank, err)
		}
	})
	return err
}

// StreamUses are the arguments that take values of streams, in the order of their first use.
type streamUses struct {
	of    []streamUse
	order layout.StreamOrder // scratch
}

// A streamUse is an argument of a terminal that takes a value of a stream in each call.
type streamUse struct {
	function, slot int
	calls          uint64
	numbers        values // of the streams of ranks
}

// streamUses returns those of s.
func (s *shape) streamUses(functions []cst.Function) *streamUses {
	begins, counts := s.begins(), make([]uint64, len(s.forms))
	for t, count := range s.grammar.Occurrences() {
		counts[t] = count
	}
	x := streamUses{order: make(layout.StreamOrder)}
	for t := range s.forms { // in the order of their first use
		f := &s.forms[t]
		for k, slot := range f.streamSlots(functions) {
			var reader columnReader
			numbers := reader.column(s, begins[t]+slot).values()
			x.of = append(x.of, streamUse{function: f.function, slot: k, calls: counts[t], numbers: numbers})
		}
	}
	return &x
}

// taken sets n to the numbers of values that calls of a rank take of its streams, and reports whether there are
// as many streams. Ranks must ascend.
func (x *streamUses) taken(n []uint64, position, rank int) bool {
	clear(n)
	clear(x.order)
	for i := range x.of {
		u := &x.of[i]
		k := x.order.Index(layout.StreamKey{Function: u.function, Slot: u.slot, Number: u.numbers.at(position, rank)})
		if k >= len(n) {
			return false
		}
		n[k] = wire.AddSat(n[k], u.calls)
	}
	return true
}

// A runTerminal is a terminal that stands for a run.
type runTerminal struct {
	terminal int
	function *cst.Function
	slots    []values
	scratch  []int64
}

// runs returns the terminals of s that stand for runs.
func (s *shape) runs(functions []cst.Function) ([]runTerminal, error) {
	var list []runTerminal
	begins := s.begins()
	for t, f := range s.forms {
		role := s.role(sequitur.Symbol(t), functions)
		if role == layout.StreamBegin && !functions[f.function].Equal(layout.StreamFunction()) {
			return nil, errors.New("a stream that begins otherwise")
		}
		if role != layout.StreamRun {
			continue
		}
		if f.slots > layout.MaxRunSlots {
			return nil, fmt.Errorf("a run with %d numbers", f.slots)
		}
		r := runTerminal{terminal: t, function: &functions[f.function]}
		var reader columnReader
		columns := reader.columns(s, begins[t], begins[t]+f.slots)
		for k := range columns {
			r.slots = append(r.slots, columns[k].values())
		}
		list = append(list, r)
	}
	return list, nil
}

// at returns the run of a rank.
func (r *runTerminal) at(position, rank int) (progression.Run, bool) {
	r.scratch = r.scratch[:0]
	for k := range r.slots {
		r.scratch = append(r.scratch, r.slots[k].at(position, rank))
	}
	return layout.RunOf(r.function, r.scratch)
}

// withStreamsApart returns threads, the tables of which become one such that no two of their streams do, nor a
// signature with streams and one without, and that table with the terminals of each.
func withStreamsApart(threads []Part) ([]Part, *cst.Table, [][]uint32) {
	const apart = 1 << 20 // the numbers of streams of threads differ by it if they have to
	for try := int64(0); ; try++ {
		renumbered, tables, ok := slices.Clone(threads), make([]*cst.Table, len(threads)), true
		for i := range renumbered {
			if try > 0 && renumbered[i].Streams != nil {
				ok = renumbered[i].renumberStreams(apart*int64(i)+try) && ok
			}
			tables[i] = renumbered[i].Table
		}
		if !ok {
			continue
		}
		table, numbers := mergeTables(tables)
		if streamsApart(renumbered, table, numbers) {
			return renumbered, table, numbers
		}
	}
}

// streamsApart reports whether signatures of threads that are one in a table have streams in the same slots, and
// streams that are one there are of one thread.
func streamsApart(threads []Part, table *cst.Table, numbers [][]uint32) bool {
	masks, of := make(map[uint32]uint64), make(map[layout.StreamKey]int)
	for i, p := range threads {
		if p.Streams == nil {
			continue
		}
		for t, mask := range p.Streams.Slots {
			masks[numbers[i][t]] = mask
			fn, args := table.Signature(numbers[i][t])
			for slot, n := range layout.NumbersIn(args, mask) {
				k := layout.StreamKey{Function: fn, Slot: slot, Number: n}
				if other, ok := of[k]; ok && other != i {
					return false
				}
				of[k] = i
			}
		}
	}
	for i, p := range threads {
		for t := range p.Table.Len() {
			if masks[numbers[i][t]] != p.slots(uint32(t)) {
				return false
			}
		}
	}
	return true
}

// renumberStreams adds to the numbers of the streams of p, unless two signatures become one.
func (p *Part) renumberStreams(more int64) bool {
	table, numbers := new(cst.Table), make([]uint32, p.Table.Len())
	for _, f := range p.Table.Functions() {
		table.Declare(f)
	}
	for t := range numbers {
		fn, args := p.Table.Signature(uint32(t))
		layout.AddToSlots(args, p.slots(uint32(t)), more)
		n := table.Len()
		if numbers[t] = table.InternRun(fn, p.Table.Count(uint32(t)), args...); int(numbers[t]) != n {
			return false
		}
	}
	p.Table = table // terminals stay as they are
	return true
}

// joinStreams returns the streams of threads, whose terminals have these numbers in a table, in the order in
// which a grammar of all calls first takes values of them.
func joinStreams(threads []Part, table *cst.Table, numbers [][]uint32, g *sequitur.Grammar) *Streams {
	var (
		s     = Streams{Slots: make(map[uint32]uint64)}
		order = make(layout.StreamOrder)
		list  []threadStream
	)
	for i, p := range threads {
		if p.Streams != nil {
			list = append(list, streamsOf(p, numbers[i], table, s.Slots)...)
		}
	}
	if len(list) == 0 {
		return nil
	}
	for _, t := range g.FirstUse() {
		if mask := s.Slots[t]; mask != 0 {
			fn, args := table.Signature(t)
			for slot, n := range layout.NumbersIn(args, mask) {
				order.Index(layout.StreamKey{Function: fn, Slot: slot, Number: n})
			}
		}
	}
	slices.SortFunc(list, func(x, y threadStream) int { return order.Index(x.key) - order.Index(y.key) })
	var b sequitur.Builder
	for _, x := range list {
		for _, r := range x.runs {
			b.AppendRun(r.Symbol, r.Count)
		}
	}
	s.Runs = b.Finish()
	return &s
}

// A threadStream is a stream of a thread.
type threadStream struct {
	key  layout.StreamKey
	runs []sequitur.Run // with its beginning, over terminals of all threads
}

// streamsOf returns the streams of a thread, and adds to slots which slots of its terminals have some.
func streamsOf(p Part, numbers []uint32, table *cst.Table, slots map[uint32]uint64) []threadStream {
	var list []threadStream
	order := make(layout.StreamOrder)
	for _, t := range p.Grammar.FirstUse() {
		mask := p.slots(t)
		if mask == 0 {
			continue
		}
		slots[numbers[t]] = mask
		fn, args := table.Signature(numbers[t])
		for slot, n := range layout.NumbersIn(args, mask) {
			k := layout.StreamKey{Function: fn, Slot: slot, Number: n}
			if order.Index(k) == len(list) {
				list = append(list, threadStream{key: k})
			}
		}
	}
	at := -1
	for _, r := range p.Streams.Runs.Runs() {
		t := numbers[r.Symbol]
		fn, _ := table.AppendSignature(nil, t)
		begins := layout.StreamRoleOf(&table.Functions()[fn]) == layout.StreamBegin
		for n := r.Count; n > 0; n-- {
			if begins {
				at++
			}
			if at < 0 || at >= len(list) {
				break // which Add refuses
			}
			some := uint64(1)
			if !begins {
				some, n = n, 1
			}
			list[at].runs = append(list[at].runs, sequitur.Run{Symbol: t, Count: some})
		}
	}
	return list
}
