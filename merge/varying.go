package merge

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// Streams are those of a trace.
type streams struct {
	functions []cst.Function
	arguments []layout.StreamArgument
	values    [][]int64 // that occur in each argument, the most frequent first
	list      []stream
	numbers   map[string]int64 // of streams by their values

	// Those that stand in the blocks of grammars, of each shape that has some, are nil if they stand
	// in sections of their own. The values of arguments ascend then.
	inBlocks map[*shape]map[layout.StreamArgument][]int64
}

// A stream is the successive values of a varying argument.
type stream struct {
	argument int
	values   []int64
}

// isIrregular reports whether the grammar of s is large for its runs of equal calls, as it is where values vary
// without a pattern, so that looking at the runs one by one takes no longer than looking at the grammar, but for
// a factor. How long the runs are does not matter: a program that waits longer polls more often, and is no more
// regular.
func (s *shape) isIrregular() bool {
	return s.grammar.Len() <= layout.MaxStreamCalls && runsOf(s.grammar) <= s.mostVarying()
}

// mostVarying returns how many calls a function of s has at most if its arguments are varying, as each of these
// calls has a value, and how many runs s has at most.
func (s *shape) mostVarying() uint64 {
	const perSymbol = 64
	return perSymbol * uint64(s.grammar.Symbols())
}

// runsOf returns the number of runs of one symbol that g has, counting those in two of which one ends with a rule
// and the other goes on.
func runsOf(g *sequitur.Grammar) uint64 {
	runs := make([]uint64, g.Rules())
	for r := range runs {
		for t := range g.Body(r) {
			if t.Rule < 0 {
				runs[r] = wire.AddSat(runs[r], 1)
			} else {
				runs[r] = wire.AddSat(runs[r], wire.MulSat(t.Count, runs[t.Rule]))
			}
		}
	}
	if len(runs) == 0 {
		return 0
	}
	return runs[len(runs)-1]
}

// callsOf returns how many calls of each function s has.
func (s *shape) callsOf(functions int) []uint64 {
	calls := make([]uint64, functions)
	for t, n := range s.grammar.Occurrences() {
		f := s.forms[t].function
		calls[f] = wire.AddSat(calls[f], n)
	}
	return calls
}

// stretch returns shapes in which the values of varying arguments are streams,
// where they do not differ between the ranks of a shape: in the blocks of grammars, or in sections of
// their own.
func stretch(shapes []*shape, functions []cst.Function, arguments []layout.StreamArgument,
	inBlocks bool) ([]*shape, *streams) {
	all := streams{functions: functions, arguments: arguments, numbers: make(map[string]int64)}
	if inBlocks {
		all.inBlocks = make(map[*shape]map[layout.StreamArgument][]int64)
	}
	stretched := make([]*shape, len(shapes))
	for i, s := range shapes {
		stretched[i] = all.stretch(s)
	}
	all.count()
	return stretched, &all
}

// stretch returns s with streams for varying arguments.
func (x *streams) stretch(s *shape) *shape {
	var (
		begins = s.begins()
		slots  = x.slotsOf(s, begins)
		place  = newRemainders(s, begins)
		number = make([]uint32, len(s.forms)) // of the new terminal of each
	)
	if !s.isIrregular() || len(slots) == 0 {
		return s
	}
	var without []int
	for t, f := range s.forms {
		without = without[:0]
		for _, k := range slots[f.function] {
			without = append(without, layout.ScalarSlot(x.functions[f.function], f.lengths, k))
		}
		number[t] = place.number(t, without)
	}
	lists, of := x.varying(s, slots, begins)
	var b sequitur.Builder
	for _, r := range s.grammar.Runs() {
		b.AppendRun(number[r.Symbol], r.Count)
		for _, e := range of[r.Symbol] {
			for range r.Count {
				*e.list = append(*e.list, e.value)
			}
		}
	}
	values := make(map[layout.StreamArgument][]int64, len(lists))
	for e, list := range lists {
		values[e] = *list
	}
	stretched := x.withStreams(s, b.Finish(), place.of, slots, begins, x.add(values))
	stretched.times = s.times.Rename(number)
	if x.inBlocks != nil {
		x.inBlocks[stretched] = values
	}
	return stretched
}

// A varyingValue is one that a call of a terminal adds to the values of an argument.
type varyingValue struct {
	list  *[]int64
	value int64
}

// varying returns the lists of the values of varying arguments, which are empty and have room for all, and
// what calls of each terminal of s add to them.
func (x *streams) varying(s *shape, slots map[int][]int,
	begins []int) (lists map[layout.StreamArgument]*[]int64, of [][]varyingValue) {
	lists = make(map[layout.StreamArgument]*[]int64)
	of = make([][]varyingValue, len(s.forms))
	for t, f := range s.forms {
		for _, k := range slots[f.function] {
			e := layout.StreamArgument{Function: f.function, Slot: k}
			if lists[e] == nil {
				lists[e] = new([]int64)
			}
			v, _ := s.scalar(t, k, begins, x.functions)
			of[t] = append(of[t], varyingValue{lists[e], v})
		}
	}
	sizes := make(map[*[]int64]uint64, len(lists))
	for t, n := range s.grammar.Occurrences() {
		for _, e := range of[t] {
			sizes[e.list] += n
		}
	}
	for list, n := range sizes {
		*list = make([]int64, 0, n)
	}
	return lists, of
}

// slotsOf returns the slots of each function that become streams in its terminals.
func (x *streams) slotsOf(s *shape, begins []int) map[int][]int {
	slots := make(map[int][]int)
	calls, most := s.callsOf(len(x.functions)), s.mostVarying()
	for _, e := range x.arguments {
		if calls[e.Function] > most {
			continue
		}
		some, constant := false, true
		for t, f := range s.forms {
			if f.function == e.Function && constant {
				some = true
				_, constant = s.scalar(t, e.Slot, begins, x.functions)
			}
		}
		if some && constant {
			slots[e.Function] = append(slots[e.Function], e.Slot)
		}
	}
	for _, list := range slots {
		slices.Sort(list) // as the remainders of terminals need them
	}
	return slots
}

// withStreams returns a shape of the terminals of s with the streams of those
// numbers in their slots.
func (x *streams) withStreams(s *shape, g *sequitur.Grammar, of []int, slots map[int][]int, begins []int,
	streams map[layout.StreamArgument]int64) *shape {
	stretched := &shape{grammar: g, ranks: slices.Clone(s.ranks), forms: make([]form, 0, len(of))}
	var (
		ranges  = make([]slotRange, 0, len(of))
		numbers []slotValue
		before  = 0 // slots
	)
	for _, t := range of {
		f := s.forms[t]
		ranges = append(ranges, slotRange{begins[t], begins[t] + f.slots})
		for _, k := range slots[f.function] {
			f.streams |= 1 << k
			number := streams[layout.StreamArgument{Function: f.function, Slot: k}]
			numbers = append(numbers, slotValue{before +
				layout.ScalarSlot(x.functions[f.function], f.lengths, k), number})
		}
		before += f.slots
		stretched.forms = append(stretched.forms, f)
	}
	stretched.copySlots(s, ranges, numbers)
	return stretched
}

// add returns the numbers of streams of values, which equal ones share; those in blocks have none.
func (x *streams) add(values map[layout.StreamArgument][]int64) map[layout.StreamArgument]int64 {
	if x.inBlocks != nil {
		return nil
	}
	numbers := make(map[layout.StreamArgument]int64)
	for i, e := range x.arguments {
		v, ok := values[e]
		if !ok {
			continue
		}
		key := binary.AppendUvarint(nil, uint64(i))
		for _, v := range v {
			key = binary.AppendVarint(key, v)
		}
		n, ok := x.numbers[string(key)]
		if !ok {
			n = int64(len(x.list))
			x.numbers[string(key)] = n
			x.list = append(x.list, stream{i, v})
		}
		numbers[e] = n
	}
	return numbers
}

// count sets the values of each argument.
func (x *streams) count() {
	counts := make([]map[int64]int, len(x.arguments))
	for i := range counts {
		counts[i] = make(map[int64]int)
	}
	for _, s := range x.list {
		for _, v := range s.values {
			counts[s.argument][v]++
		}
	}
	for _, of := range x.inBlocks {
		for i, e := range x.arguments {
			for _, v := range of[e] {
				counts[i][v]++
			}
		}
	}
	for _, c := range counts {
		if x.inBlocks != nil {
			x.values = append(x.values, slices.Sorted(maps.Keys(c)))
			continue
		}
		x.values = append(x.values, slices.SortedFunc(maps.Keys(c), func(v, w int64) int {
			return cmp.Or(c[w]-c[v], cmp.Compare(v, w))
		}))
	}
}

// inBlocksLen returns how many values the streams in blocks have.
func (x *streams) inBlocksLen() int {
	n := 0
	for _, of := range x.inBlocks {
		for _, values := range of {
			n += len(values)
		}
	}
	return n
}

// ofMember returns the streams of the grammar of a shape in a block.
func (x *streams) ofMember(s *shape) [][]uint32 {
	streams := make([][]uint32, len(x.arguments))
	for i, e := range x.arguments {
		for _, v := range x.inBlocks[s][e] {
			n, _ := slices.BinarySearch(x.values[i], v)
			streams[i] = append(streams[i], uint32(n))
		}
	}
	return streams
}

// append appends what the section of the signatures has of streams, and returns
// the contents of the sections of streams, too.
func (x *streams) append(dst []byte) ([]byte, [][]byte) {
	if x == nil { // slots have the numbers of streams of what advances
		return append(dst, 0, 0), nil
	}
	numbers := make([]map[int64]uint64, len(x.arguments))
	head := uint64(len(x.arguments)) << 1
	if x.inBlocks != nil {
		head |= 1
	}
	dst = wire.AppendUvarint(dst, head)
	for i, e := range x.arguments {
		numbers[i] = make(map[int64]uint64)
		dst = wire.AppendUvarint(dst, uint64(e.Function))
		dst = wire.AppendUvarint(dst, uint64(e.Slot))
		dst = wire.AppendUvarint(dst, uint64(len(x.values[i])))
		kind := layout.ScalarKinds(x.functions[e.Function])[e.Slot]
		if x.inBlocks != nil {
			dst = layout.AppendAscending(dst, x.values[i], kind)
			continue
		}
		for n, v := range x.values[i] {
			numbers[i][v] = uint64(n)
			dst = layout.AppendValue(dst, v, kind)
		}
	}
	if x.inBlocks != nil {
		return dst, nil
	}
	dst = wire.AppendUvarint(dst, uint64(len(x.list)))
	items := make([][]byte, len(x.list))
	for i, s := range x.list {
		items[i] = s.append(nil, numbers[s.argument])
		dst = wire.AppendUvarint(dst, uint64(s.argument))
		dst = wire.AppendUvarint(dst, uint64(len(items[i])))
	}
	return dst, layout.Pack(items)
}

// append appends the encoding of s, of values that have numbers.
func (s stream) append(dst []byte, numbers map[int64]uint64) []byte {
	var (
		b   sequitur.Builder
		ids []byte
	)
	for _, v := range s.values {
		b.Append(sequitur.Symbol(numbers[v]))
		ids = wire.AppendUvarint(ids, numbers[v])
	}
	if enc, _ := b.Finish().AppendBinary(nil); 2*len(enc) < len(ids) {
		return append(append(dst, layout.StreamGrammar), enc...)
	}
	return append(append(dst, layout.StreamNumbers), ids...)
}
