package merge

import (
	"context"
	"hash/maphash"
	"math/bits"
	"slices"
)

// factor unites shapes whose sequences differ in nothing but values, where that makes the trace smaller, as
// encodedSize says, or an estimate once weighs reports that no work is left for that, or its opposite if it was wrong
// about what was encoded last: it tells terminals apart in all of them if they are apart in one, so that a signature
// may stand for several terminals of a rank. The shapes stand in ascending order of their first ranks, before and
// after. Fewer are united if ctx is done.
func factor(ctx context.Context, shapes []*shape, weighs func() bool, encodedSize func([]*shape) int) []*shape {
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
	least := -1  // the size of shapes, once it is needed
	weighed := 0 // terminals that were encoded to know sizes
	wrong := false
	for _, k := range order {
		group := groups[k]
		if len(group) == 1 || ctx.Err() != nil {
			continue
		}
		united, ok := unite(group)
		if !ok {
			continue
		}
		with := replaceShapes(shapes, group, united)
		smaller, many := united.size() < sizeApart(group), terminalsOf(group) > maxWeighed
		if many || weighed > maxWeighedInAll || !weighs() {
			if smaller != (wrong && !many) {
				shapes = with
			}
			continue
		}
		if least < 0 {
			least = encodedSize(shapes)
		}
		weighed += terminalsOf(shapes)
		n := encodedSize(with)
		if wrong = smaller != (n < least); n < least {
			shapes, least = with, n
		}
	}
	return shapes
}

// terminalsOf returns the number of terminals of all shapes.
func terminalsOf(shapes []*shape) int {
	n := 0
	for _, s := range shapes {
		n += len(s.forms)
	}
	return n
}

// replaceShapes returns shapes with another one in place of a group of them.
func replaceShapes(shapes, group []*shape, by *shape) []*shape {
	gone := make(map[*shape]bool)
	for _, s := range group {
		gone[s] = true
	}
	replaced := append(slices.DeleteFunc(slices.Clone(shapes), func(s *shape) bool { return gone[s] }), by)
	sortShapes(replaced)
	return replaced
}

func sortShapes(shapes []*shape) {
	slices.SortFunc(shapes, func(s, t *shape) int { return int(s.ranks[0].first) - int(t.ranks[0].first) })
}

// sizeApart returns about as many bytes as the shapes take in a file.
func sizeApart(shapes []*shape) int {
	n := 0
	for _, s := range shapes {
		n += s.size()
	}
	return n
}

// size returns about as many bytes as the shape takes in a file.
func (s *shape) size() int {
	enc, _ := s.grammar.AppendBinary(nil)
	n := len(enc)
	for _, v := range s.values {
		n += numberSize(v)
	}
	if len(s.values) == 0 {
		s.eachColumn(func(c *column) { n += c.size() })
	}
	return n
}

// size returns about as many bytes as the column takes in a file.
func (c *column) size() int {
	if c.single() {
		return numberSize(c.last.first)
	}
	n, first := 0, int64(0)
	for r := range c.runs(0) {
		n += numberSize(r.first - first)
		first = r.first
	}
	return n
}

// numberSize returns about as many bytes as a number takes.
func numberSize(v int64) int { return 1 + bits.Len64(uint64(v<<1^v>>63))/8 }

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
	type head struct {
		function int
		grouped  bool
		streams  uint64
		place    int64
	}
	h := maphash.Comparable(f.seed, head{x.function, x.grouped, x.streams, x.place})
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
