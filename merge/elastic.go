package merge

import (
	"cmp"
	"context"
	"encoding/binary"
	"maps"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/pairmap"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// Streams are those of a trace.
type streams struct {
	arguments []layout.StreamArgument
	values    [][]int64 // that occur in each argument, the most frequent first
	list      []stream
	numbers   map[string]int64 // of streams by their values
}

// A stream is the successive values of an elastic argument.
type stream struct {
	argument int
	values   []int64
}

// Bounds of what is looked at for elastic arguments.
const (
	maxElastic    = 4  // arguments
	minSignatures = 16 // of one function in a shape that become fewer
)

// A candidate is an argument that may be elastic.
type candidate struct {
	layout.StreamArgument
	saved  int // signatures without it
	values int // different ones at least
}

// elasticCandidates returns arguments that may be elastic: those without which a
// function has less than half of its signatures in some shape. The ones that save
// most signatures come first.
func elasticCandidates(shapes []*shape, functions []cst.Function) []candidate {
	found := make(map[layout.StreamArgument]candidate)
	for _, s := range shapes {
		if !s.isIrregular() {
			continue
		}
		begins := s.begins()
		for f, terminals := range s.byFunction(len(functions)) {
			for k := range layout.ScalarKinds(functions[f]) {
				if len(terminals) < minSignatures || !s.isConstant(terminals, begins, k) {
					continue
				}
				most := (len(terminals) - 1) / 2
				rest := s.countWithout(terminals, begins, k, most)
				if rest > most {
					continue
				}
				e := layout.StreamArgument{Function: f, Slot: k}
				c := found[e]
				c.StreamArgument, c.saved = e, c.saved+len(terminals)-rest
				c.values = max(c.values, len(terminals)/rest) // as all terminals differ
				found[e] = c
			}
		}
	}
	candidates := slices.SortedFunc(maps.Values(found), func(x, y candidate) int {
		return cmp.Or(y.saved-x.saved, x.Function-y.Function, x.Slot-y.Slot)
	})
	return candidates[:min(len(candidates), maxElastic)]
}

// byFunction returns the terminals of each function.
func (s *shape) byFunction(functions int) [][]int {
	counts := make([]int, functions)
	for _, f := range s.forms {
		counts[f.function]++
	}
	terminals := make([][]int, functions)
	for t, f := range s.forms {
		if terminals[f.function] == nil {
			terminals[f.function] = make([]int, 0, counts[f.function])
		}
		terminals[f.function] = append(terminals[f.function], t)
	}
	return terminals
}

// countWithout returns how many of some terminals differ in more than slot k, or a
// number above most if it is.
func (s *shape) countWithout(terminals, begins []int, k, most int) int {
	r, without := newRemainders(s, begins), []int{k}
	for _, t := range terminals {
		if r.number(t, without); len(r.of) > most {
			break
		}
	}
	return len(r.of)
}

// isIrregular reports whether the grammar of s is large for its calls, as it is
// where values vary without a pattern, so that looking at the calls one by one
// takes no longer than looking at the grammar, but for a factor.
func (s *shape) isIrregular() bool {
	const callsPerSymbol = 64
	return s.grammar.Len() <= min(layout.MaxStreamCalls, callsPerSymbol*uint64(s.grammar.Symbols()))
}

// isConstant reports whether slot k of each terminal has the same value for all
// ranks of s.
func (s *shape) isConstant(terminals, begins []int, k int) bool {
	for _, t := range terminals {
		if _, ok := s.constant(begins[t] + k); !ok {
			return false
		}
	}
	return true
}

// stretch returns shapes in which the values of elastic arguments are streams,
// where they do not differ between the ranks of a shape.
func stretch(shapes []*shape, arguments []layout.StreamArgument) ([]*shape, *streams) {
	all := streams{arguments: arguments, numbers: make(map[string]int64)}
	stretched := make([]*shape, len(shapes))
	for i, s := range shapes {
		stretched[i] = all.stretch(s)
	}
	all.count()
	return stretched, &all
}

// stretch returns s with streams for elastic arguments.
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
	for t, f := range s.forms {
		number[t] = place.number(t, slots[f.function])
	}
	values := make(map[layout.StreamArgument][]int64)
	var b sequitur.Builder
	for _, r := range s.grammar.Runs() {
		b.AppendRun(number[r.Symbol], r.Count)
		f := s.forms[r.Symbol].function
		for _, k := range slots[f] {
			e := layout.StreamArgument{Function: f, Slot: k}
			v, _ := s.constant(begins[r.Symbol] + k)
			for range r.Count {
				values[e] = append(values[e], v)
			}
		}
	}
	stretched := s.withStreams(b.Finish(), place.of, slots, begins, x.add(values))
	stretched.times = s.times.Rename(number)
	return stretched
}

// slotsOf returns the slots of each function that become streams in its terminals.
func (x *streams) slotsOf(s *shape, begins []int) map[int][]int {
	slots := make(map[int][]int)
	for _, e := range x.arguments {
		var terminals []int
		for t, f := range s.forms {
			if f.function == e.Function {
				terminals = append(terminals, t)
			}
		}
		if len(terminals) > 0 && s.isConstant(terminals, begins, e.Slot) {
			slots[e.Function] = append(slots[e.Function], e.Slot)
		}
	}
	return slots
}

// withStreams returns a shape of the terminals of s with the streams of those
// numbers in their slots.
func (s *shape) withStreams(g *sequitur.Grammar, of []int, slots map[int][]int, begins []int, streams map[layout.StreamArgument]int64) *shape {
	stretched := &shape{grammar: g, ranks: slices.Clone(s.ranks), forms: make([]form, 0, len(of))}
	for _, t := range of {
		f := s.forms[t]
		stretched.copyColumns(s, begins[t], begins[t]+f.slots)
		for _, k := range slots[f.function] {
			f.streams |= 1 << k
			number := streams[layout.StreamArgument{Function: f.function, Slot: k}]
			if len(s.values) > 0 {
				stretched.values[len(stretched.values)-f.slots+k] = number
			} else {
				stretched.columns[len(stretched.columns)-f.slots+k][0].first = number
			}
		}
		stretched.forms = append(stretched.forms, f)
	}
	return stretched
}

// add returns the numbers of streams of values, which equal ones share.
func (x *streams) add(values map[layout.StreamArgument][]int64) map[layout.StreamArgument]int64 {
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
	for _, c := range counts {
		x.values = append(x.values, slices.SortedFunc(maps.Keys(c), func(v, w int64) int {
			return cmp.Or(c[w]-c[v], cmp.Compare(v, w))
		}))
	}
}

// valuesPerByte is how many different values of an elastic argument take a byte, once
// compressed, at the least: each takes a byte or more before that, none is a copy of
// another, and of a literal or a copy there is a bit.
const valuesPerByte = 16

// stretchSmaller returns what encode makes of shapes, factored, with streams for
// arguments as long as each makes the trace smaller: by an eighth at least, as the
// calls of a rank with streams have to be expanded when it is read.
func stretchSmaller(ctx context.Context, shapes []*shape, functions []cst.Function, encode func([]*shape, *streams) draft) draft {
	factored := func(shapes []*shape, x *streams) draft {
		return encode(factor(ctx, shapes, func(s []*shape) int {
			e := encode(s, x)
			return e.size()
		}), x)
	}
	var (
		candidates = elasticCandidates(shapes, functions) // while there is little in memory
		best       = factored(shapes, nil)
		taken      []layout.StreamArgument
	)
	for _, c := range candidates {
		least := best.size()
		most := least - least/8
		if c.values/valuesPerByte >= most || ctx.Err() != nil {
			continue
		}
		if terminalsOf(shapes) > maxHeld && taken == nil {
			best = draft{bytes: least} // it is made again should it be the best
		}
		stretched, x := stretch(shapes, append(slices.Clone(taken), c.StreamArgument))
		e := factored(stretched, x)
		if e.size() < most {
			best, taken = e, x.arguments
		}
	}
	if best.model == nil {
		return factored(shapes, nil)
	}
	return best
}

// maxHeld is how many terminals shapes have that are held in memory encoded, at the
// most, while they are encoded with streams.
const maxHeld = 1 << 16

// Remainders numbers the terminals of a shape by what they are without some of their
// slots.
type remainders struct {
	shape   *shape
	begins  []int       // of the columns of each terminal
	of      []int       // the first terminal of each number
	numbers pairmap.Map // of hashes, and how many of the same hash come before
}

func newRemainders(s *shape, begins []int) *remainders { return &remainders{shape: s, begins: begins} }

// number returns the number of a terminal without slots, which ascend. Those that are
// left out are the same for all terminals of a function.
func (r *remainders) number(t int, without []int) uint32 {
	h := r.hash(t, without)
	for tries := uint32(0); ; tries++ {
		n, ok := r.numbers.Get(h, tries)
		if !ok {
			n = uint32(len(r.of))
			r.numbers.Put(h, tries, n)
			r.of = append(r.of, t)
			return n
		}
		if r.equal(r.of[n], t, without) {
			return n
		}
	}
}

// hash returns a hash of what a terminal is without slots.
func (r *remainders) hash(t int, without []int) uint64 {
	f := &r.shape.forms[t]
	h := mix(mix(0, uint64(f.function)), uint64(f.place))
	for _, n := range f.lengths {
		h = mix(h, uint64(n))
	}
	for k := range r.slots(f) {
		if slices.Contains(without, k) {
			continue
		}
		if len(r.shape.values) > 0 {
			h = mix(h, uint64(r.shape.values[r.begins[t]+k]))
			continue
		}
		for _, x := range r.shape.columns[r.begins[t]+k] {
			h = mix(mix(mix(h, uint64(x.position)), uint64(x.first)), uint64(x.step))
		}
	}
	return h
}

// slots returns how many slots of a terminal count.
func (r *remainders) slots(f *form) int {
	if f.grouped && r.shape.ungrouped {
		return f.slots - groupSlots
	}
	return f.slots
}

// seeds differ from one process to the next, so that nobody can prepare arguments
// that collide. No output depends on them.
var seeds = [2]uint64{rand.Uint64(), rand.Uint64()}

// mix returns a hash of what has the hash h, and v.
func mix(h, v uint64) uint64 {
	high, low := bits.Mul64(h^seeds[0], v^seeds[1])
	return high ^ low
}

// equal reports whether two terminals are equal without slots.
func (r *remainders) equal(t, u int, without []int) bool {
	s := r.shape
	f, g := &s.forms[t], &s.forms[u]
	if f.function != g.function || f.place != g.place || f.slots != g.slots || !slices.Equal(f.lengths, g.lengths) {
		return false
	}
	for k := range r.slots(f) {
		if slices.Contains(without, k) {
			continue
		}
		i, j := r.begins[t]+k, r.begins[u]+k
		if len(s.values) > 0 && s.values[i] != s.values[j] || len(s.values) == 0 && !slices.Equal(s.columns[i], s.columns[j]) {
			return false
		}
	}
	return true
}

// append appends what the section of the signatures has of streams, and returns
// the contents of the sections of streams, too.
func (x *streams) append(dst []byte, functions []cst.Function) ([]byte, [][]byte) {
	numbers := make([]map[int64]uint64, len(x.arguments))
	dst = wire.AppendUvarint(dst, uint64(len(x.arguments)))
	for i, e := range x.arguments {
		numbers[i] = make(map[int64]uint64)
		dst = wire.AppendUvarint(dst, uint64(e.Function))
		dst = wire.AppendUvarint(dst, uint64(e.Slot))
		dst = wire.AppendUvarint(dst, uint64(len(x.values[i])))
		kind := layout.ScalarKinds(functions[e.Function])[e.Slot]
		for n, v := range x.values[i] {
			numbers[i][v] = uint64(n)
			dst = layout.AppendValue(dst, v, kind)
		}
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
