package merge

import (
	"hash/maphash"
	"math/bits"
)

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
	}
	h := maphash.Comparable(f.seed, head{x.function, x.grouped, x.streams})
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
