package merge

import (
	"cmp"
	"context"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/sequitur"
)

// An elastic argument is one that varies from call to call with no pattern that
// a grammar finds, such as an amount of computation. Its slot in a signature has
// the number of a stream in place of a value: the values that a rank's calls of
// the function have there, one after the other. So calls that differ in nothing
// else are one terminal.
type elastic struct{ function, slot int }

// Streams are those of a trace.
type streams struct {
	arguments []elastic
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
	maxElastic      = 4       // arguments
	maxElasticSlot  = 64      // slots of a signature
	minSignatures   = 16      // of one function in a shape that become fewer
	maxElasticCalls = 1 << 26 // of a shape: they are expanded to be read
)

// elasticCandidates returns arguments that may be elastic: those without which a
// function has less than half of its signatures in some shape. The ones that save
// most signatures come first.
func elasticCandidates(shapes []*shape, functions []cst.Function) []elastic {
	saved := make(map[elastic]int)
	for _, s := range shapes {
		if !s.isIrregular() {
			continue
		}
		byFunction := make(map[int][]int)
		for t, f := range s.forms {
			byFunction[f.function] = append(byFunction[f.function], t)
		}
		begins := s.begins()
		for f, terminals := range byFunction {
			for k := range scalarKinds(functions[f]) {
				if len(terminals) < minSignatures || !s.isConstant(terminals, begins, k) {
					continue
				}
				rest := make(map[string]bool)
				for _, t := range terminals {
					rest[s.without(t, begins, []int{k})] = true
				}
				if 2*len(rest) < len(terminals) {
					saved[elastic{f, k}] += len(terminals) - len(rest)
				}
			}
		}
	}
	candidates := slices.SortedFunc(maps.Keys(saved), func(x, y elastic) int {
		return cmp.Or(saved[y]-saved[x], x.function-y.function, x.slot-y.slot)
	})
	return candidates[:min(len(candidates), maxElastic)]
}

// scalarKinds returns the meaning of the slots of f that may be elastic: those
// before its first array.
func scalarKinds(f cst.Function) []slot {
	var kinds []slot
	for _, p := range f.Params {
		if p.Type.Kind == cst.KindArray {
			break
		}
		kinds = layout(kinds, p.Type, nil)
	}
	return kinds[:min(len(kinds), maxElasticSlot)]
}

// isIrregular reports whether the grammar of s is large for its calls, as it is
// where values vary without a pattern, so that looking at the calls one by one
// takes no longer than looking at the grammar, but for a factor.
func (s *shape) isIrregular() bool {
	const callsPerSymbol = 64
	return s.grammar.Len() <= min(maxElasticCalls, callsPerSymbol*uint64(s.grammar.Symbols()))
}

// isConstant reports whether slot k of each terminal has the same value for all
// ranks of s.
func (s *shape) isConstant(terminals, begins []int, k int) bool {
	for _, t := range terminals {
		if c := s.columns[begins[t]+k]; len(c) > 1 || c[0].step != 0 {
			return false
		}
	}
	return true
}

// without returns a key for what terminal t is without the values in slots.
func (s *shape) without(t int, begins, slots []int) string {
	f := s.forms[t]
	key := binary.AppendUvarint(nil, uint64(f.function))
	for _, n := range f.lengths {
		key = binary.AppendUvarint(key, uint64(n))
	}
	for k := range f.slots {
		if !slices.Contains(slots, k) {
			key = s.columns[begins[t]+k].append(key, s.ranks.len())
		}
	}
	return string(key)
}

// stretch returns shapes in which the values of elastic arguments are streams,
// where they do not differ between the ranks of a shape.
func stretch(shapes []*shape, arguments []elastic) ([]*shape, *streams) {
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
		place  = make(map[string]uint32)
		number = make([]uint32, len(s.forms)) // of the new terminal of each
		of     []int                          // a terminal of s for each new one
	)
	if !s.isIrregular() || !slices.ContainsFunc(slots, func(k []int) bool { return k != nil }) {
		return s
	}
	for t := range s.forms {
		key := s.without(t, begins, slots[t])
		n, ok := place[key]
		if !ok {
			n = uint32(len(of))
			place[key] = n
			of = append(of, t)
		}
		number[t] = n
	}
	values := make(map[elastic][]int64)
	var b sequitur.Builder
	for _, r := range s.grammar.Runs() {
		b.AppendRun(sequitur.Symbol(number[r.Symbol]), r.Count)
		for _, k := range slots[r.Symbol] {
			e := elastic{s.forms[r.Symbol].function, k}
			v := s.columns[begins[r.Symbol]+k][0].first
			for range r.Count {
				values[e] = append(values[e], v)
			}
		}
	}
	stretched := s.withStreams(b.Finish(), of, slots, begins, x.add(values))
	stretched.times = s.times.rename(number)
	return stretched
}

// slotsOf returns the slots of each terminal that become streams.
func (x *streams) slotsOf(s *shape, begins []int) [][]int {
	slots := make([][]int, len(s.forms))
	for _, e := range x.arguments {
		var terminals []int
		for t, f := range s.forms {
			if f.function == e.function {
				terminals = append(terminals, t)
			}
		}
		if s.isConstant(terminals, begins, e.slot) {
			for _, t := range terminals {
				slots[t] = append(slots[t], e.slot)
			}
		}
	}
	return slots
}

// withStreams returns a shape of the terminals of s with the streams of those
// numbers in their slots.
func (s *shape) withStreams(g *sequitur.Grammar, of []int, slots [][]int, begins []int, streams map[elastic]int64) *shape {
	stretched := &shape{grammar: g, ranks: slices.Clone(s.ranks)}
	for _, t := range of {
		f := s.forms[t]
		for k := range f.slots {
			c := slices.Clone(s.columns[begins[t]+k])
			if slices.Contains(slots[t], k) {
				f.streams |= 1 << k
				c[0].first = streams[elastic{f.function, k}]
			}
			stretched.columns = append(stretched.columns, c)
		}
		stretched.forms = append(stretched.forms, f)
	}
	return stretched
}

// add returns the numbers of streams of values, which equal ones share.
func (x *streams) add(values map[elastic][]int64) map[elastic]int64 {
	numbers := make(map[elastic]int64)
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

// The first byte of a stream says how it is encoded.
const (
	streamNumbers byte = iota // uvarint numbers of values
	streamGrammar             // a grammar over these
)

// stretchSmaller returns shapes, factored, with streams for arguments as long as
// each makes the trace smaller, as encodedSize says: by an eighth at least, as
// the calls of a rank with streams have to be expanded when it is read.
func stretchSmaller(ctx context.Context, shapes []*shape, functions []cst.Function, encodedSize func([]*shape, *streams) int) ([]*shape, *streams) {
	var (
		best   = factor(ctx, shapes, func(s []*shape) int { return encodedSize(s, nil) })
		least  = -1
		chosen *streams
		taken  []elastic
	)
	for _, e := range elasticCandidates(shapes, functions) {
		if ctx.Err() != nil {
			break
		}
		if least < 0 {
			least = encodedSize(best, nil)
		}
		stretched, x := stretch(shapes, append(slices.Clone(taken), e))
		stretched = factor(ctx, stretched, func(s []*shape) int { return encodedSize(s, x) })
		if n := encodedSize(stretched, x); n < least-least/8 {
			best, least, chosen, taken = stretched, n, x, x.arguments
		}
	}
	return best, chosen
}
