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
	index, err := layout.IndexStreams(s.grammar, func(t sequitur.Symbol) layout.StreamRole { return s.role(t, functions) })
	if err != nil {
		return err
	}
	values, err := s.takenOfStreams(len(index.Begins), functions)
	if err != nil {
		return err
	}
	runs, err := s.runs(functions)
	if err != nil {
		return err
	}
	lengths := make([]uint64, len(s.forms))
	s.ranks.each(func(position, rank int) {
		for i := range runs {
			r, ok := runs[i].at(position, rank)
			if !ok && err == nil {
				err = errors.New("a run that is none")
			}
			lengths[runs[i].terminal] = r.Length
		}
		if err == nil {
			err = index.Check(values, func(t sequitur.Symbol) uint64 { return lengths[t] })
		}
		if err != nil {
			err = fmt.Errorf("rank %d: %w", rank, err)
		}
	})
	return err
}

// takenOfStreams returns how many values calls of a rank take of each of n streams.
func (s *shape) takenOfStreams(n int, functions []cst.Function) ([]uint64, error) {
	begins, values := s.begins(), make([]uint64, n)
	for t, count := range s.grammar.Occurrences() {
		f := &s.forms[t]
		for _, k := range f.streamSlots(functions) {
			v, ok := s.constant(begins[t] + k)
			if !ok || v < 0 || v >= int64(n) {
				return nil, fmt.Errorf("no stream, or several, of an argument of %s", functions[f.function].Name)
			}
			values[v] = wire.AddSat(values[v], count)
		}
	}
	return values, nil
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
		if s.role(sequitur.Symbol(t), functions) != layout.StreamRun {
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

// withStreamsApart returns threads in which no two streams have one number.
func withStreamsApart(threads []Part) []Part {
	apart, first := slices.Clone(threads), int64(0)
	for i := range apart {
		p := &apart[i]
		if p.Streams == nil {
			continue
		}
		if first > 0 {
			p.renumberStreams(first)
		}
		first += p.streams()
	}
	return apart
}

// streams returns the number of streams of p.
func (p *Part) streams() int64 {
	n := uint64(0)
	for t, count := range p.Streams.Runs.Occurrences() {
		fn, _ := p.Table.AppendSignature(nil, t)
		if layout.StreamRoleOf(&p.Table.Functions()[fn]) == layout.StreamBegin {
			n += count
		}
	}
	return int64(n)
}

// renumberStreams has the streams of p begin at a number. Where that is not possible, as a signature without
// streams has it among its arguments, a few streams without runs come first.
func (p *Part) renumberStreams(first int64) {
	for empty := int64(0); ; empty++ {
		table, numbers, ok := p.withStreamsFrom(first + empty)
		if !ok {
			continue
		}
		rename := func(t sequitur.Symbol) sequitur.Symbol { return numbers[t] }
		s := &Streams{Slots: make(map[uint32]uint64), Runs: p.Streams.Runs.Rewrite(rename)}
		for t, mask := range p.Streams.Slots {
			s.Slots[numbers[t]] = mask
		}
		if empty > 0 {
			var b sequitur.Builder
			b.AppendRun(table.Intern(table.Declare(layout.StreamBegins)), uint64(empty))
			s.Runs = sequitur.Concat(b.Finish(), s.Runs)
		}
		p.Table, p.Grammar, p.Streams = table, p.Grammar.Rewrite(rename), s
		return
	}
}

// withStreamsFrom returns the table of p with other numbers of streams, and the terminals there, unless two of
// them become one.
func (p *Part) withStreamsFrom(first int64) (table *cst.Table, numbers []uint32, ok bool) {
	table, numbers = new(cst.Table), make([]uint32, p.Table.Len())
	for _, f := range p.Table.Functions() {
		table.Declare(f)
	}
	for t := range numbers {
		fn, args := p.Table.Signature(uint32(t))
		if mask := p.slots(uint32(t)); mask != 0 {
			layout.AddToSlots(args, mask, first)
		}
		n := table.Len()
		numbers[t] = table.InternRun(fn, p.Table.Count(uint32(t)), args...)
		if int(numbers[t]) != n {
			return nil, nil, false
		}
	}
	return table, numbers, true
}

// joinStreams returns the streams of threads, whose terminals have these numbers.
func joinStreams(threads []Part, numbers [][]uint32) *Streams {
	var (
		s    = Streams{Slots: make(map[uint32]uint64)}
		runs []*sequitur.Grammar
	)
	for i, p := range threads {
		if p.Streams == nil {
			continue
		}
		for t, mask := range p.Streams.Slots {
			s.Slots[numbers[i][t]] = mask
		}
		runs = append(runs, p.Streams.Runs.Rewrite(func(t sequitur.Symbol) sequitur.Symbol { return numbers[i][t] }))
	}
	if len(runs) == 0 {
		return nil
	}
	s.Runs = sequitur.Concat(runs...)
	return &s
}
