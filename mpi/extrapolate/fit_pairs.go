package extrapolate

import "fmt"

// products tries those of two features.
func (f *fitter) products() {
	for i := range f.features {
		for j := i; j < len(f.features); j++ {
			if p := f.columns[i].times(&f.columns[j]); f.multiple(&p, &ones) {
				f.scaled(product(&f.features[i], &f.features[j]))
			}
		}
	}
}

// pairs tries other expressions of two features, and those of the kinds that programs have.
func (f *fitter) pairs() {
	for i := range f.features {
		for j := range f.features {
			f.pair(i, j)
		}
	}
	f.blocks()
	if f.ranks {
		f.transposed()
		f.skewed()
	}
	f.rooted()
	f.paired()
	for _, x := range f.features {
		if x.uses == 0 {
			continue
		}
		f.ring("+"+x.name, x.terms, x.of)
		f.ring("-"+x.name, x.terms, func(p *point) int64 { return -x.of(p) })
		f.exchanged(x)
		f.alternating(x)
		f.doubling(x)
		f.packed(x)
		f.branches(x)
		f.cyclic(x)
		f.try(expr{text: "rank+2^(levels below rank-1-" + x.name + ")", terms: x.terms.longer(3).digits(),
			at: func(p *point) (int64, bool) { return p.rank + power(levels(p)-1-x.of(p)), true }})
		f.try(expr{text: x.name + " but rank", terms: x.terms.longer(2), at: func(p *point) (int64, bool) {
			v := x.of(p)
			if v >= p.rank {
				v++
			}
			return v, true
		}})
		f.undivided(x)
		f.along(x)
	}
}

// undivided tries the numbers that the number of ranks does not divide, in order: of what is dealt to all ranks in
// turn, the first leaves these to others.
func (f *fitter) undivided(x feature) {
	if x.derived || x.binary {
		return
	}
	f.shifted("number "+x.name+" that N does not divide", x.terms.longer(4), func(p *point) (int64, bool) {
		i := x.of(p)
		if p.ranks < 2 {
			return 0, false
		}
		return i + 1 + i/(p.ranks-1), true
	})
}

// pair tries expressions of two features, by their numbers.
func (f *fitter) pair(i, j int) {
	x, y, c, d := &f.features[i], &f.features[j], &f.columns[i], &f.columns[j]
	if p := c.times(d); i <= j && f.multiple(&ones, &p) {
		f.scaled(monomial{"1/" + x.name + "/" + y.name, func(p *point) (int64, int64, bool) {
			v, ok := mul(x.of(p), y.of(p))
			return 1, v, ok
		}, x.terms.and(y.terms)})
	}
	if i == j {
		return
	}
	if sum := c.plus(d); i < j && f.sieve.shifted(&sum) {
		f.shifted(x.name+"+"+y.name, x.together(y), func(p *point) (int64, bool) {
			return x.of(p) + y.of(p), true
		})
	}
	rest := c.less(d)
	if f.sieve.shifted(&rest) {
		f.shifted(x.name+"-"+y.name, x.terms.and(y.terms), func(p *point) (int64, bool) {
			return x.of(p) - y.of(p), true
		})
	}
	if f.multiple(c, d) {
		f.scaled(quotient(x, y))
	}
	for k := range rest {
		rest[k] = abs(rest[k])
	}
	if i < j && f.sieve.shifted(&rest) {
		f.shifted("|"+x.name+"-"+y.name+"|", x.terms.and(y.terms).longer(1), func(p *point) (int64, bool) {
			return abs(x.of(p) - y.of(p)), true
		})
	}
}

// packed tries multiples of how many numbers below the number of ranks have a bit: what Bruck's exchange of all with
// all sends in each step.
func (f *fitter) packed(x feature) {
	if x.derived || x.binary {
		return
	}
	known := len(f.found)
	f.scaled(monomial{"numbers below N with bit " + x.name, func(p *point) (int64, int64, bool) {
		return withBit(p.ranks, x.of(p)), 1, true
	}, x.terms.longer(4).digits()})
	for i := range f.found[known:] {
		f.found[known+i].edge = true // of one bit alone, it is something else
	}
}

// withBit returns how many numbers from 0 to below n have a bit.
func withBit(n, bit int64) int64 {
	half := power(bit)
	if half == 0 || half > n {
		return 0
	}
	return n/(2*half)*half + max(0, n%(2*half)-half)
}

// cyclic tries what a rank has if things are dealt to ranks in turn, or to all but one.
func (f *fitter) cyclic(x feature) {
	for _, less := range []int64{0, 1} {
		dealt := f.column(func(p *point) int64 { return x.of(p) * (p.ranks - less) })
		for i := range f.features {
			z := &f.features[i]
			if sum := dealt.plus(&f.columns[i]); z.uses != 0 || z.odd || !f.sieve.shifted(&sum) {
				continue
			}
			f.shifted(fmt.Sprintf("%s*%s+%s", x.name, [...]string{"N", "(N-1)"}[less], z.name),
				x.terms.and(z.terms).longer(1+int(less)),
				func(p *point) (int64, bool) { return x.of(p)*(p.ranks-less) + z.of(p), true })
		}
	}
}

// triples tries a product or quotient of three features.
func (f *fitter) triples() {
	for i := range f.features {
		for j := range f.features {
			for k := j; k < len(f.features); k++ {
				yz := f.columns[j].times(&f.columns[k])
				x, y, z := &f.features[i], &f.features[j], &f.features[k]
				if f.multiple(&f.columns[i], &yz) {
					f.scaled(monomial{x.name + "/" + y.name + "/" + z.name, func(p *point) (int64, int64, bool) {
						v, ok := mul(y.of(p), z.of(p))
						return x.of(p), v, ok
					}, x.terms.and(y.terms).and(z.terms)})
				}
				if f.multiple(&yz, &f.columns[i]) {
					f.scaled(monomial{y.name + "*" + z.name + "/" + x.name, func(p *point) (int64, int64, bool) {
						v, ok := mul(y.of(p), z.of(p))
						return v, x.of(p), ok
					}, x.terms.and(y.terms).and(z.terms)})
				}
			}
		}
	}
}

// monomials returns products and quotients of one feature and of two that values may be a multiple of.
func (f *fitter) monomials() []monomial {
	list := f.simple()
	for i := range f.features {
		for j := range f.features {
			x, y, c, d := &f.features[i], &f.features[j], &f.columns[i], &f.columns[j]
			if p := c.times(d); i <= j && f.multiple(&p, &ones) {
				list = append(list, product(x, y))
			}
			if i != j && f.multiple(c, d) {
				list = append(list, quotient(x, y))
			}
		}
	}
	return list
}
