package extrapolate

import "fmt"

func (f *fitter) constants() {
	v := f.values[0]
	f.try(expr{text: fmt.Sprint(v), constant: true, terms: terms{bits: length(v)}, at: func(*point) (int64, bool) {
		return v, true
	}})
}

// scaled tries a/b times a monomial, of one coefficient.
func (f *fitter) scaled(m monomial) {
	for i, p := range f.points {
		n, d, ok := m.of(p)
		if !ok || d == 0 {
			return
		}
		if n == 0 {
			if f.values[i] != 0 {
				return
			}
			continue
		}
		a, ok := mul(f.values[i], d)
		if !ok {
			return
		}
		b := n
		if b < 0 {
			a, b = -a, -b
		}
		g := int64(gcd(int(abs(a)), int(b)))
		if a, b = a/g, b/g; b > 16 {
			return
		}
		f.try(expr{text: times(a, b, m.text), terms: m.terms.longer(length(a-1) + length(b-1)),
			at: func(p *point) (int64, bool) {
				n, d, ok := m.of(p)
				x, ok2 := mul(a, n)
				y, ok3 := mul(b, d)
				if !ok || !ok2 || !ok3 {
					return 0, false
				}
				return div(x, y)
			}})
		return
	}
}

// shifted tries an expression plus a number.
func (f *fitter) shifted(text string, t terms, of func(p *point) (int64, bool)) {
	v, ok := of(f.points[0])
	if !ok {
		return
	}
	a := f.values[0] - v
	f.try(expr{text: plus(text, a), terms: t.longer(length(a)), at: func(p *point) (int64, bool) {
		v, ok := of(p)
		return v + a, ok
	}})
}

// terms tries expressions of one feature.
func (f *fitter) terms() {
	for i := range f.features {
		x, c := &f.features[i], &f.columns[i]
		if f.sieve.shifted(c) {
			f.near(x)
		}
		if f.multiple(c, &ones) {
			f.scaled(x.monomial())
		}
		if f.multiple(&ones, c) {
			f.scaled(x.inverse())
		}
		f.divided(*x, false)
	}
	for by := int64(2); by <= maxPart; by++ {
		if f.grid.hides(by) {
			continue
		}
		f.try(expr{text: fmt.Sprintf("rank mod %d", by), terms: terms{bits: length(by-1) + f.rounding()},
			at: func(p *point) (int64, bool) { return p.rank % by, true }})
	}
	if a := f.values[0] ^ f.points[0].rank; a > 0 {
		f.try(expr{text: fmt.Sprintf("rank xor %d", a), terms: terms{bits: 2 + length(a), binary: true},
			at: func(p *point) (int64, bool) { return p.rank ^ a, true }})
	}
}

// rounding returns how long it is that a number is rounded: ranks are hardly parts of others.
func (f *fitter) rounding() int {
	if f.role == roleRank {
		return 3
	}
	return 2
}

// maxUsual is by how much numbers are divided usually.
const maxUsual = 4

// divided tries quotients that are rounded, down and up, with a number added or without.
func (f *fitter) divided(x feature, shifted bool) {
	for by := int64(2); by <= 8; by++ {
		for i, lead := range []int64{0, by - 1} {
			of := func(p *point) (int64, bool) { return (x.of(p) + lead) / by, x.of(p) >= 0 }
			if c := f.column(func(p *point) int64 { return (x.of(p) + lead) / by }); !f.sieve.shifted(&c) ||
				!shifted && !f.same(&c) {
				continue
			}
			t := x.terms.longer(length(by-1) + f.rounding())
			if by > maxUsual {
				t = t.longer(2)
			}
			name := fmt.Sprintf("%s/%d rounded %s", x.name, by, [...]string{"down", "up"}[i])
			if shifted {
				f.shifted(name, t, of)
			} else {
				f.try(expr{text: name, terms: t, at: of})
			}
		}
	}
}

// exact tries features as they are.
func (f *fitter) exact() {
	for i := range f.features {
		x := &f.features[i]
		if !f.same(&f.columns[i]) {
			continue
		}
		f.try(expr{text: x.name, terms: x.terms, at: func(p *point) (int64, bool) { return x.of(p), true }})
	}
}

// shares tries multiples and parts of features and, with pairs, of products and quotients of two.
func (f *fitter) shares(pairs bool) {
	list := f.simple()
	if pairs {
		list = f.monomials()
	}
	for _, m := range list {
		f.scaled(m)
	}
}

// simple returns products and quotients of one feature.
func (f *fitter) simple() (list []monomial) {
	for i := range f.features {
		list = append(list, f.features[i].monomial(), f.features[i].inverse())
	}
	return list
}
