package merge

import (
	"encoding/binary"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/progression"
	"github.com/reprise-trace/reprise/sequitur"
)

// withoutStreams returns timedByFunction, with a signature for each of the values of what advances, or a itself
// if nothing does. It takes time in proportion to the calls.
func (a *Accumulator) withoutStreams() *Accumulator {
	functions, any := a.functions.Functions(), false
	for _, s := range a.shapes {
		any = any || s.hasStreams(functions)
	}
	if !any {
		return a
	}
	b := a.timedByFunction()
	b.shapes = nil
	for _, r := range a.lone() {
		s := r.shape.plain(functions)
		key := b.keyOf(s)
		if t := b.shapes[key]; t != nil {
			s = t.merge(s)
		}
		b.put(key, s)
	}
	return b
}

// plain returns the shape of a rank that is alone, of which it has the values, with a signature for each of the
// values of what advances.
func (s *shape) plain(functions []cst.Function) *shape {
	if !s.hasStreams(functions) {
		return s
	}
	x := plainer{shape: s, functions: functions, begins: s.begins(), known: make(map[string]sequitur.Symbol),
		made: &shape{ranks: s.ranks}}
	x.openStreams()
	left := x.index.Calls
	for _, r := range s.grammar.Runs() {
		if left == 0 {
			break
		}
		left -= r.Count
		x.add(r)
	}
	x.made.grammar = x.b.Finish()
	return x.made
}

// A plainer is the state of plain.
type plainer struct {
	shape     *shape
	functions []cst.Function
	begins    []int
	index     *layout.StreamIndex
	streams   []plainStream
	order     layout.StreamOrder
	b         sequitur.Builder
	known     map[string]sequitur.Symbol // terminals by their signatures
	key       []byte
	slots     []int64
	made      *shape
}

// A plainStream reads the values of a stream.
type plainStream struct {
	runs   *sequitur.Walker
	left   sequitur.Run
	run    progression.Run
	at     uint64 // values of run that were read
	before int64  // the first value of the run before, or what the stream begins with
}

// openStreams opens all streams, which checkStreams has looked at.
func (x *plainer) openStreams() {
	s := x.shape
	x.order = make(layout.StreamOrder)
	for t := range s.forms { // in the order of their first use
		f := &s.forms[t]
		for k, slot := range f.streamSlots(x.functions) {
			x.order.Index(layout.StreamKey{Function: f.function, Slot: k, Number: s.values[x.begins[t]+slot]})
		}
	}
	x.index, _ = layout.IndexStreams(s.grammar, func(t sequitur.Symbol) layout.StreamRole {
		return s.role(t, x.functions)
	})
	x.streams = make([]plainStream, len(x.index.Begins))
	for i, begin := range x.index.Begins {
		t := s.grammar.At(begin - 1)
		before, _ := layout.StreamOf(&x.functions[s.forms[t].function], s.values[x.begins[t]:x.begins[t+1]])
		x.streams[i] = plainStream{runs: s.grammar.Walk(begin), before: before}
	}
}

// next returns the next value of a stream.
func (x *plainer) next(n int) int64 {
	r := &x.streams[n]
	if r.at == r.run.Length {
		r.before += r.run.Jump
		if r.left.Count == 0 {
			r.left = r.runs.Next()
		}
		r.left.Count--
		t := r.left.Symbol
		r.run, _ = layout.RunOf(&x.functions[x.shape.forms[t].function], x.shape.values[x.begins[t]:x.begins[t+1]])
		r.at = 0
	}
	r.at++
	return r.run.At(r.before, r.at-1)
}

// add adds the calls of a run.
func (x *plainer) add(r sequitur.Run) {
	f := &x.shape.forms[r.Symbol]
	for n := r.Count; n > 0; {
		x.slots = append(x.slots[:0], x.shape.values[x.begins[r.Symbol]:x.begins[r.Symbol+1]]...)
		for k, slot := range f.streamSlots(x.functions) {
			key := layout.StreamKey{Function: f.function, Slot: k, Number: x.slots[slot]}
			x.slots[slot] = x.next(x.order.Index(key))
		}
		some := uint64(1)
		if f.streams == 0 {
			some = n
		}
		x.b.AppendRun(x.terminal(f), some)
		n -= some
	}
}

// terminal returns that of a call of a form with the slots in hand.
func (x *plainer) terminal(f *form) sequitur.Symbol {
	x.key = binary.AppendUvarint(x.key[:0], uint64(f.function))
	for _, n := range f.lengths {
		x.key = binary.AppendUvarint(x.key, uint64(n))
	}
	for _, v := range x.slots {
		x.key = binary.AppendVarint(x.key, v)
	}
	t, ok := x.known[string(x.key)]
	if !ok {
		t = sequitur.Symbol(len(x.made.forms))
		x.known[string(x.key)] = t
		own := *f
		own.streams = 0
		x.made.forms = append(x.made.forms, own)
		x.made.values = append(x.made.values, x.slots...)
	}
	return t
}
