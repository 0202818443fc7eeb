package trace

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

const (
	// What is counted in memory for a terminal that stands for values of streams, and for a symbol of the
	// grammar of them.
	spreadTerminal = 96
	spreadSymbol   = 48

	// spreadPart is the part of the memory of a trace that the calls of a rank may take.
	spreadPart = 2

	// maxSpread is how many calls are looked at one by one.
	maxSpread = 1 << 28
)

// A spreader puts the values of what advances in the calls of a rank, or those of some slots. Where the
// iterations of a loop have the same values as those before, it looks at the runs of these only.
type spreader struct {
	rank    *Rank
	kept    []uint64 // slots of functions
	most    int      // terminals
	from    *flow    // calls with streams
	flow             // with values
	varied           // the same
	builder sequitur.Builder
	grammar *sequitur.Grammar // of from

	readers []*runReader // of all streams
	streams [][]int      // by terminal of from, those that each call takes a value of, slot by slot
	touched [][]int      // the same, by rule of the grammar

	known     map[spreadKey]sequitur.Symbol // terminals by their values, and states before the last
	terminals []sequitur.Symbol             // of calls of from without streams, unknown before the first
	alike     alikeTerminals                // those of from that may have equal calls
	loose     uint64                        // calls that were looked at
	err       error
}

// A spreadKey is a state, from which a value leads to another.
type spreadKey struct {
	state uint32
	value int64
}

// A spreadOf is a rank and what of its calls is told apart: slots of functions, and whether these are all.
type spreadOf struct {
	rank  int
	slots string
	all   bool
}

// maxSpreads is how many ranks there are places for at a time, whose values were put in.
const maxSpreads = 1 << 12

// spread is newSpread, unless the flow was made before and is still there.
func (r *Rank) spread(from *flow, x *runs, kept []uint64, all bool, most int) (*flow, error) {
	key := make([]byte, 0, 8*len(kept))
	for _, mask := range kept {
		key = binary.LittleEndian.AppendUint64(key, mask)
	}
	place := r.trace.spreads.of(spreadOf{r.number, string(key), all}, maxSpreads)
	if f := place.get(); f != nil && len(f.of) <= most {
		return f, nil
	}
	f, err := r.newSpread(from, x, kept, all, most)
	if err != nil {
		return nil, err
	}
	size := spreadTerminal*len(f.of) + spreadSymbol*f.calls.grammar().Symbols()
	return keep(r.trace.caches.grammars, place, f, size), nil
}

// newSpread returns the flow of a rank whose calls, from, have the streams x in which values advance, with those
// that functions have in the slots that are kept: all of them, or some.
// More terminals than a limit are an error.
func (r *Rank) newSpread(from *flow, x *runs, kept []uint64, all bool, most int) (*flow, error) {
	s := &spreader{rank: r, kept: kept, most: most, from: from, grammar: from.calls.grammar(),
		known: make(map[spreadKey]sequitur.Symbol)}
	s.findStreams(x)
	if all {
		s.alike = s.newAlikeTerminals()
	}
	if s.grammar.Rules() > 0 {
		s.rule(s.grammar.Rules() - 1)
	}
	if s.err != nil {
		return nil, s.err
	}
	values := s.varied
	calls := grammarCalls{s.builder.Finish()}
	return &flow{calls: calls, of: s.of, several: s.several, varied: &values, kept: kept}, nil
}

// findStreams finds which streams terminals and rules take values of, and opens these.
func (s *spreader) findStreams(x *runs) {
	s.readers = make([]*runReader, len(x.before))
	bySignature := make([][]int, len(s.rank.shape.signatures))
	for i, takes := range x.takes {
		for _, k := range takes {
			if s.kept[s.rank.shape.functionOf(i)]>>k.slot&1 == 0 {
				continue
			}
			bySignature[i] = append(bySignature[i], k.stream)
			if s.readers[k.stream] == nil {
				s.readers[k.stream] = x.reader(k.stream, 0)
			}
		}
	}
	n := len(s.rank.shape.signatures)
	if s.from.of != nil {
		n = len(s.from.of)
	}
	s.streams, s.terminals = make([][]int, n), make([]sequitur.Symbol, n)
	for t := range s.streams {
		s.streams[t], s.terminals[t] = bySignature[s.from.signatureOf(uint32(t))], unknown
	}
	s.touched = make([][]int, s.grammar.Rules())
	for r := range s.touched {
		for t := range s.grammar.Body(r) {
			of := s.touchedBy(t)
			s.touched[r] = append(s.touched[r], of...)
		}
		slices.Sort(s.touched[r])
		s.touched[r] = slices.Compact(s.touched[r])
	}
}

// touchedBy returns the streams that a symbol takes values of.
func (s *spreader) touchedBy(t sequitur.Term) []int {
	if t.Rule >= 0 {
		return s.touched[t.Rule]
	}
	return s.streams[t.Symbol]
}

// rule adds what a rule generates, and reports whether all of it was predicted.
func (s *spreader) rule(r int) bool {
	predicted := true
	for t := range s.grammar.Body(r) {
		predicted = s.term(t) && predicted
	}
	return predicted
}

// term adds what a symbol of a rule generates, and reports whether all of it was predicted.
func (s *spreader) term(t sequitur.Term) bool {
	if s.err != nil {
		return false
	}
	once := func() bool { return s.call(t.Symbol) }
	if t.Rule >= 0 {
		once = func() bool { return s.rule(t.Rule) }
	}
	switch touched := s.touchedBy(t); {
	case len(touched) > 0 && t.Count == 1:
		return once()
	case len(touched) > 0:
		return s.loop(t.Count, touched, once)
	case t.Rule < 0:
		return s.builder.AppendRun(s.terminal(t.Symbol), t.Count)
	default:
		return s.builder.Repeat(t.Count, s.grammar.RuleLen(t.Rule), func() (predicted, more bool) {
			return once(), s.err == nil
		})
	}
}

// loop adds n iterations of a loop, which takes values of streams. Where all of these begin a run, it looks
// whether the iterations since an earlier such place have the values of those that follow: it is 1, 2, 4, …
// such places back, as in [sequitur.Builder.Repeat].
func (s *spreader) loop(n uint64, touched []int, once func() bool) bool {
	var (
		mark         = s.places(touched)
		done         uint64 // iterations
		since        uint64 // the mark
		tries, until = 0, 1
		predicted    = true
	)
	for done < n && s.err == nil {
		predicted = once() && predicted
		done++
		since++
		if done == n || !s.atRuns(touched) {
			continue
		}
		if again := s.again(touched, mark, (n-done)/since); again > 0 {
			predicted = s.repeat(touched, mark, since, again, once) && predicted
			done += again * since
		} else if tries++; tries < until {
			continue
		}
		mark, since, tries = s.places(touched), 0, 0
		until *= 2
	}
	return predicted
}

// places returns where streams are.
func (s *spreader) places(touched []int) []runPlace {
	list := make([]runPlace, len(touched))
	for i, k := range touched {
		list[i] = s.readers[k].at
	}
	return list
}

// atRuns reports whether streams are all where a run begins.
func (s *spreader) atRuns(touched []int) bool {
	for _, k := range touched {
		if !s.readers[k].begins() {
			return false
		}
	}
	return true
}

// again returns how often, up to n times, streams go on as they did from places on until here. It looks at a few
// values of all streams, and then at ever more, so that it takes long only where all go on for long.
func (s *spreader) again(touched []int, from []runPlace, n uint64) uint64 {
	for some, more := uint64(1), true; more && n > 0; some = wire.MulSat(some, 8) {
		more = false
		for i, k := range touched {
			r := s.readers[k]
			period := r.at.values - from[i].values
			if period == 0 {
				continue
			}
			values := min(some, n*period)
			if same := r.same(from[i], values); same < values {
				n = same / period
			}
			more = more || some < n*period
		}
	}
	return n
}

// repeat adds some iterations n times again, which have the values from places on until here.
func (s *spreader) repeat(touched []int, from []runPlace, iterations, n uint64, once func() bool) bool {
	to := s.places(touched)
	length := uint64(0)
	round := func() (predicted, more bool) {
		s.seek(touched, from)
		predicted = true
		begin := s.builder.Len()
		for range iterations {
			predicted = once() && predicted
		}
		length = s.builder.Len() - begin
		return predicted, s.err == nil
	}
	predicted, _ := round()
	predicted = s.builder.Repeat(n-1, length, round) && predicted
	s.seek(touched, to)
	for i, k := range touched {
		s.readers[k].skip(n * (to[i].values - from[i].values))
	}
	return predicted
}

// seek has streams go on from places.
func (s *spreader) seek(touched []int, to []runPlace) {
	for i, k := range touched {
		s.readers[k].seek(to[i])
	}
}

// terminal returns the terminal of calls of one of from that take no values.
func (s *spreader) terminal(t sequitur.Symbol) sequitur.Symbol {
	if s.terminals[t] == unknown {
		s.terminals[t] = s.newTerminal(t, nil)
	}
	return s.terminals[t]
}

// call adds a call that takes values of streams.
func (s *spreader) call(t sequitur.Symbol) bool {
	if s.loose++; s.loose > maxSpread {
		const what = "trace: %w: more than %d calls of a rank have values that advance in no pattern"
		s.fail(fmt.Errorf(what, format.ErrLimit, maxSpread))
		return false
	}
	var few [4]int64
	values, key := few[:0], spreadKey{state: t, value: -1}
	for i, k := range s.streams[t] {
		v := s.readers[k].take()
		values = append(values, v)
		if i > 0 {
			state, ok := s.known[key]
			if !ok {
				state = sequitur.Symbol(len(s.known)) + uint32(len(s.terminals))
				s.known[key] = state
			}
			key.state = state
		}
		key.value = v
	}
	x, ok := s.known[key]
	if !ok {
		x = s.newTerminal(t, values)
		s.known[key] = x
	}
	return s.builder.AppendRun(x, 1)
}

// fail ends with an error.
func (s *spreader) fail(err error) {
	if s.err == nil {
		s.err = layout.Damaged(layout.KindGrammars, 0, err)
	}
}

// newTerminal returns a terminal for calls of one of from, with values, slot by slot.
func (s *spreader) newTerminal(t sequitur.Symbol, values []int64) sequitur.Symbol {
	if x, ok := s.alike.find(t, values, sequitur.Symbol(len(s.of))); ok {
		s.setSeveral(x)
		return x
	}
	if len(s.of) == s.most {
		s.fail(fmt.Errorf("trace: %w: a rank has more than %d different calls", format.ErrLimit, s.most))
		return 0
	}
	x := sequitur.Symbol(len(s.of))
	s.of = append(s.of, uint32(s.from.signatureOf(t)))
	s.begin = append(s.begin, uint32(len(s.values)))
	s.values = s.rank.appendVaried(s.values, s.from, t, s.kept, values)
	if s.from.several[t] {
		s.setSeveral(x)
	}
	if len(s.of)%1024 == 0 {
		s.checkMemory()
	}
	return x
}

// setSeveral says that a terminal stands for signatures with different expressions.
func (s *spreader) setSeveral(x sequitur.Symbol) {
	if s.several == nil {
		s.several = make(map[uint32]bool)
	}
	s.several[x] = true
}

// AlikeTerminals are terminals of calls with streams that may have equal calls: as where an argument was seen
// to advance after some calls, which have its values for themselves.
type alikeTerminals struct {
	groups  map[sequitur.Symbol]alikeGroup
	found   map[string]sequitur.Symbol // terminals of calls with values, by group and these
	scratch []byte
}

// An alikeGroup is that of a terminal, with its values where others of the group have streams.
type alikeGroup struct {
	number int
	slots  []int   // of the group that advance in some terminal
	values []int64 // in these
	masked uint64  // those that advance in this one
}

// newAlikeTerminals finds the terminals of the calls with streams that may have equal calls.
func (s *spreader) newAlikeTerminals() alikeTerminals {
	r := s.rank
	masks := make(map[int]uint64) // what advances in calls of functions
	var scratch layout.Template
	of := func(t int) (*layout.Template, uint64) {
		x := r.shape.signature(s.from.signatureOf(uint32(t)), &scratch)
		return x, r.trace.advancing(x)
	}
	for t := range s.streams {
		if len(s.streams[t]) > 0 {
			x, mask := of(t)
			masks[x.Function] |= mask
		}
	}
	a := alikeTerminals{groups: make(map[sequitur.Symbol]alikeGroup), found: make(map[string]sequitur.Symbol)}
	numbers, counts := make(map[string]int), make(map[int]int)
	var e evaluation
	for t := range s.streams {
		x, own := of(t)
		mask := masks[x.Function]
		if mask == 0 || t >= r.shape.own && s.from.of == nil {
			continue
		}
		g := alikeGroup{masked: own}
		key := r.keyWithout(&e, s.from, uint32(t), mask, &g)
		n, ok := numbers[key]
		if !ok {
			n = len(numbers)
			numbers[key] = n
		}
		g.number = n
		counts[n]++
		a.groups[sequitur.Symbol(t)] = g
	}
	for t, g := range a.groups {
		if counts[g.number] == 1 {
			delete(a.groups, t)
		}
	}
	return a
}

// keyWithout returns what tells calls of a terminal from others without slots, which it adds to g with their
// values.
func (r *Rank) keyWithout(e *evaluation, from *flow, terminal uint32, mask uint64, g *alikeGroup) string {
	args := r.argumentsOf(nil, e, from, terminal, func(slots []int64) {
		for k := range slots {
			if k < layout.MaxStreamSlot && mask>>k&1 == 1 {
				g.slots, g.values = append(g.slots, k), append(g.values, slots[k])
				slots[k] = 0
			}
		}
	})
	n := r.functionOf(from, terminal)
	return fmt.Sprintf("%d %d %s", n, len(g.slots), cst.AppendCall(nil, r.trace.Functions()[n], args))
}

// find returns the terminal of calls of one of those with streams, with values, if there is one. Else it is the
// next.
func (a *alikeTerminals) find(t sequitur.Symbol, values []int64, next sequitur.Symbol) (sequitur.Symbol, bool) {
	g, ok := a.groups[t]
	if !ok {
		return 0, false
	}
	a.scratch = binary.AppendUvarint(a.scratch[:0], uint64(g.number))
	for i, k := range g.slots {
		v := g.values[i]
		if g.masked>>k&1 == 1 {
			v, values = values[0], values[1:]
		}
		a.scratch = binary.AppendVarint(a.scratch, v)
	}
	if x, ok := a.found[string(a.scratch)]; ok {
		return x, true
	}
	a.found[string(a.scratch)] = next
	return 0, false
}

// checkMemory fails if the calls take too much memory. The error says what is enough for all of them.
func (s *spreader) checkMemory() {
	most := s.rank.trace.Memory() / spreadPart
	if wire.MulSat(uint64(len(s.of)), spreadTerminal)+wire.MulSat(uint64(s.builder.Symbols()), spreadSymbol) <= most {
		return
	}
	all := s.from.calls.Len()
	const each = spreadPart * (spreadTerminal + spreadSymbol)
	err := layout.CheckMemory("calls of a rank, whose arguments advance", all, each, s.rank.trace.Memory())
	if err == nil {
		err = layout.CheckMemory("calls of a rank, whose arguments advance", all, each, most) // more symbols than calls
	}
	s.fail(cmp.Or(err, error(format.ErrLimit)))
}
