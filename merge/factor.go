package merge

import (
	"hash/maphash"
	"math/bits"
	"slices"

	"github.com/reprise-trace/reprise/sequitur"
)

// factor unites shapes whose sequences differ in nothing but values, where that
// makes them smaller: it tells terminals apart in all of them if they are apart
// in one, so that a signature may stand for several terminals of a rank. The
// shapes stand in ascending order of their first ranks, before and after.
func factor(shapes []*shape) []*shape {
	var (
		groups = make(map[skeleton][]*shape)
		order  []skeleton
		forms  formNumbers
	)
	for _, s := range shapes {
		k := forms.skeleton(s)
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], s)
	}
	var factored []*shape
	for _, k := range order {
		factored = append(factored, uniteSmaller(groups[k])...)
	}
	sortShapes(factored)
	return factored
}

func sortShapes(shapes []*shape) {
	slices.SortFunc(shapes, func(s, t *shape) int { return int(s.ranks[0].first) - int(t.ranks[0].first) })
}

// uniteSmaller returns the shapes of one skeleton united, if they can be and it
// makes them smaller, or as they are.
func uniteSmaller(shapes []*shape) []*shape {
	if len(shapes) == 1 {
		return shapes
	}
	united, ok := unite(shapes)
	if !ok {
		return shapes
	}
	apart := 0
	for _, s := range shapes {
		apart += s.size()
	}
	if united.size() >= apart {
		return shapes
	}
	return []*shape{united}
}

// size returns about as many bytes as the shape takes in a file.
func (s *shape) size() int {
	enc, _ := s.grammar.AppendBinary(nil)
	n := len(enc)
	for _, c := range s.columns {
		n += c.size()
	}
	return n
}

// size returns about as many bytes as the column takes in a file.
func (c column) size() int {
	n := 0
	var last int64
	for _, r := range c {
		n += 1 + bits.Len64(uint64((r.first-last)<<1^(r.first-last)>>63))/8
		last = r.first
	}
	return n
}

// unite returns one shape of the ranks of all shapes, which is possible if their
// sequences are of one length and have signatures of equal forms at equal
// positions. It may change the shapes in a way that does not matter to others.
func unite(shapes []*shape) (*shape, bool) {
	joint := joint{grammar: shapes[0].grammar, terminals: make([][]uint32, 1)}
	for t := range shapes[0].forms {
		joint.terminals[0] = append(joint.terminals[0], uint32(t))
	}
	for _, s := range shapes[1:] {
		if !joint.add(shapes[0], s) {
			return nil, false
		}
	}
	views := make([]*shape, len(shapes))
	for i, s := range shapes {
		views[i] = s.view(joint.grammar, joint.terminals[i])
	}
	for len(views) > 1 {
		var merged []*shape
		for i := 0; i+1 < len(views); i += 2 {
			merged = append(merged, views[i].merge(views[i+1]))
		}
		if len(views)%2 == 1 {
			merged = append(merged, views[len(views)-1])
		}
		views = merged
	}
	return views[0], true
}

// A joint grammar is that of the tuples of terminals that several shapes have
// at the same positions. Equal tuples are one terminal; these are numbered in
// the order of their first use.
type joint struct {
	grammar   *sequitur.Grammar
	terminals [][]uint32 // for each shape, its terminals by the joint terminal
}

// maxSteps bounds the runs that are looked at to join two grammars.
const maxSteps = 1 << 26

// add adds a shape to those joined, of which first is one, and reports whether
// its signatures have the same forms in the same order.
func (j *joint) add(first, s *shape) bool {
	type pair struct{ joint, own sequitur.Symbol }
	var (
		numbers = make(map[pair]sequitur.Symbol)
		pairs   []pair
		b       sequitur.Builder
		v, w    = j.grammar.Walk(0), s.grammar.Walk(0)
		x, y    = v.Next(), w.Next()
	)
	for steps := 0; x.Count > 0 && y.Count > 0; steps++ {
		p := pair{x.Symbol, y.Symbol}
		n, ok := numbers[p]
		if !ok {
			if !first.forms[j.terminals[0][p.joint]].equal(s.forms[p.own]) {
				return false
			}
			n = sequitur.Symbol(len(pairs))
			numbers[p] = n
			pairs = append(pairs, p)
		}
		if steps == maxSteps {
			return false
		}
		k := min(x.Count, y.Count)
		b.AppendRun(n, k)
		if x.Count -= k; x.Count == 0 {
			x = v.Next()
		}
		if y.Count -= k; y.Count == 0 {
			y = w.Next()
		}
	}
	if x.Count > 0 || y.Count > 0 {
		return false
	}
	j.grammar = b.Finish()
	for i, old := range j.terminals {
		j.terminals[i] = make([]uint32, len(pairs))
		for n, p := range pairs {
			j.terminals[i][n] = old[p.joint]
		}
	}
	own := make([]uint32, len(pairs))
	for n, p := range pairs {
		own[n] = uint32(p.own)
	}
	j.terminals = append(j.terminals, own)
	return true
}

// equal reports whether f and g are the same form.
func (f form) equal(g form) bool {
	return f.function == g.function && f.streams == g.streams && slices.Equal(f.lengths, g.lengths)
}

// A skeleton is a hash of the forms of a sequence of signatures, without their
// values. Equal sequences have equal skeletons. Different ones have not, but for
// bad luck: the hash is seeded at random.
type skeleton struct {
	length uint64
	hash   uint64
}

// formNumbers hashes forms.
type formNumbers struct {
	seed maphash.Seed
	base uint64 // of the polynomial that hashes a sequence
}

// prime is that of the field in which sequences are hashed.
const prime = 1<<61 - 1

func mulMod(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	_, r := bits.Div64(hi, lo, prime)
	return r
}

func (f *formNumbers) hash(x form) uint64 {
	if f.base == 0 {
		f.seed = maphash.MakeSeed()
		f.base = maphash.Comparable(f.seed, -1) % prime
	}
	h := maphash.Comparable(f.seed, [2]uint64{uint64(x.function), x.streams})
	for _, n := range x.lengths {
		h = maphash.Comparable(f.seed, [2]uint64{h, uint64(n)})
	}
	return h % prime
}

// skeleton returns the skeleton of s. A sequence x₁ … xₙ hashes to
// Σ xᵢ·baseⁿ⁻ⁱ, which takes the size of the grammar to compute, not its length.
func (f *formNumbers) skeleton(s *shape) skeleton {
	terminals := make([]uint64, len(s.forms))
	for t, x := range s.forms {
		terminals[t] = f.hash(x)
	}
	type sum struct{ hash, power uint64 } // power is base to the length
	join := func(a, b sum) sum { return sum{(mulMod(a.hash, b.power) + b.hash) % prime, mulMod(a.power, b.power)} }
	rules := make([]sum, s.grammar.Rules())
	for r := range rules {
		rules[r].power = 1
		for t := range s.grammar.Body(r) {
			var x sum
			if t.Rule >= 0 {
				x = rules[t.Rule]
			} else {
				x = sum{terminals[t.Symbol], f.base}
			}
			for n := t.Count; n > 0; n >>= 1 {
				if n&1 == 1 {
					rules[r] = join(rules[r], x)
				}
				x = join(x, x)
			}
		}
	}
	return skeleton{s.grammar.Len(), rules[len(rules)-1].hash}
}
