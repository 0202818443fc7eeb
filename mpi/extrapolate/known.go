package extrapolate

import "fmt"

// Partners in exchanges that programs write by hand: sorts of odd and even neighbours, sums by recursive doubling on
// numbers of ranks that are no powers of two, and binomial trees from another rank than 0.

// alternating tries the neighbour on one side in iterations of one parity, and on the other in the others.
func (f *fitter) alternating(x feature) {
	for odd, text := range []string{"rank+1 if rank+%s is even, else rank-1",
		"rank-1 if rank+%s is even, else rank+1"} {
		f.try(expr{text: fmt.Sprintf(text, x.name), terms: x.terms.longer(3).digits(),
			at: func(p *point) (int64, bool) {
				return p.rank + 1 - 2*mod(p.rank+x.of(p)+int64(odd), 2), true
			}})
	}
	known := len(f.found)
	for _, sign := range []int64{1, -1} { // the steps in which the first or the last rank has a neighbour
		f.shifted(fmt.Sprintf("2*%s%+d*(rank mod 2)", x.name, sign), x.terms.longer(4).digits(),
			func(p *point) (int64, bool) { return 2*x.of(p) + sign*(p.rank%2), true })
	}
	for i := range f.found[known:] {
		f.found[known+i].edge = true
	}
}

// A pairing is of the ranks that are more than a power of two: of the first, one of each two sends its data to the
// other, which stands for both in a hypercube.
type pairing struct {
	odd  int64 // what the rank that stands for both is by 2
	text string
}

var pairings = []pairing{{1, "odd"}, {0, "even"}}

// place returns the number of a rank in the hypercube, and whether it is in it.
func (g pairing) place(p *point) (number int64, inside bool) {
	rest := p.ranks - power(log2(p.ranks))
	if p.rank < 2*rest {
		return p.rank / 2, p.rank%2 == g.odd
	}
	return p.rank - rest, true
}

// partner returns the rank whose number in the hypercube differs in a mask.
func (g pairing) partner(p *point, mask int64) (int64, bool) {
	number, inside := g.place(p)
	rest := p.ranks - power(log2(p.ranks))
	if number ^= mask; number < rest {
		number = 2*number + g.odd
	} else {
		number += rest
	}
	return number, inside
}

// doubling tries partners in recursive doubling.
func (f *fitter) doubling(x feature) {
	for i, g := range pairings {
		f.try(expr{text: fmt.Sprintf("partner of rank by %s in a hypercube of %s ranks", x.name, g.text),
			terms: x.terms.longer(5 + i).digits(), at: func(p *point) (int64, bool) { return g.partner(p, x.of(p)) }})
	}
}

// paired tries which ranks make an exchange before a hypercube, and how many steps ranks make in it.
func (f *fitter) paired() {
	for i, g := range pairings {
		t := terms{bits: 4 + i, binary: true}
		truth := func(text string, is func(inside, first bool) bool) {
			f.try(expr{text: "[" + text + "]", terms: t, at: func(p *point) (int64, bool) {
				if _, inside := g.place(p); is(inside, p.rank < 2*(p.ranks-power(log2(p.ranks)))) {
					return 1, true
				}
				return 0, true
			}})
		}
		truth("rank is not in a hypercube of "+g.text+" ranks", func(inside, _ bool) bool { return !inside })
		truth("rank stands for two in a hypercube of "+g.text+" ranks", func(inside, first bool) bool {
			return inside && first
		})
		f.try(expr{text: "log2(N) if rank is in a hypercube of " + g.text + " ranks", terms: t,
			at: func(p *point) (int64, bool) {
				if _, inside := g.place(p); !inside {
					return 0, true
				}
				return log2(p.ranks), true
			}})
	}
}

// roots are those of binomial trees that are tried, the last rank as -1.
var roots = []int64{1, 2, -1}

// from returns a point seen from a root as rank 0.
func from(p *point, root int64) *point {
	return &point{ranks: p.ranks, rank: mod(p.rank-root, p.ranks)}
}

// rooted tries what a binomial tree has that begins at another rank: where there is no iteration, the parent and
// how many levels there are below.
func (f *fitter) rooted() {
	for i, c := range roots {
		seen := fmt.Sprintf("(rank%+d)", -c)
		t := terms{bits: 5 + i, binary: true}
		f.try(expr{text: "levels below " + seen, terms: t, at: func(p *point) (int64, bool) {
			return levels(from(p, c)), true
		}})
		f.try(expr{text: "rank-lowest bit of " + seen + ", mod N", terms: t, at: func(p *point) (int64, bool) {
			v := from(p, c).rank
			return mod(p.rank-v&-v, p.ranks), true
		}})
		f.try(expr{text: fmt.Sprintf("[rank ≠ %d mod N]", c), terms: terms{bits: 2 + i},
			at: func(p *point) (int64, bool) { return min(1, from(p, c).rank), true }})
	}
}

// branches tries the children of a binomial tree that begins at another rank.
func (f *fitter) branches(x feature) {
	for i, c := range roots {
		f.try(expr{text: fmt.Sprintf("(rank+2^(levels below (rank%+d)-1-%s)) mod N", -c, x.name),
			terms: x.terms.longer(5 + i).digits(), at: func(p *point) (int64, bool) {
				return mod(p.rank+power(levels(from(p, c))-1-x.of(p)), p.ranks), true
			}})
	}
}

// triangles tries multiples of what a triangle has of so many rows, and what is added.
func (f *fitter) triangles() {
	for i := range f.features {
		x := &f.features[i]
		if x.binary || x.derived || x.odd {
			continue
		}
		for more := int64(-1); more <= 1; more += 2 {
			of := func(p *point) int64 { return x.of(p) * (x.of(p) + more) / 2 }
			c := f.column(of)
			if !f.sieve.line(&c) && !f.sieve.plane(&c, &f.columns[i]) {
				continue
			}
			m := monomial{fmt.Sprintf("%s*(%s%+d)/2", x.name, x.name, more), func(p *point) (int64, int64, bool) {
				return of(p), 1, true
			}, x.terms.longer(2)}
			f.scaled(m)
			f.line([]monomial{m})
			f.plane(m, x.monomial())
		}
	}
}
