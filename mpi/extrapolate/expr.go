package extrapolate

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// An expr is an expression in what points have.
type expr struct {
	text string
	at   func(p *point) (int64, bool) // false if there is no such number
	terms

	constant bool
	edge     bool // the first or the last have something else
	// An expression with coefficients is confirmed by points that differ in what these are of.
	coefficients int
	basis        func(p *point) [2]int64
}

// terms are what an expression is made of.
type terms struct {
	uses   uint // loops and arrays that it depends on: bit d for the loop at depth d, bit maxDepth for an index
	bits   int  // how long it is, about: likely ones are short
	binary bool // it depends on the binary digits of a number
	extent bool // it is an extent of a grid, and nothing else
	side   bool // it depends on an extent of a grid
}

func (t terms) and(u terms) terms {
	return terms{uses: t.uses | u.uses, bits: t.bits + u.bits + 1, binary: t.binary || u.binary, side: t.side || u.side}
}

func (t terms) longer(bits int) terms {
	return terms{t.uses, t.bits + bits, t.binary, t.extent && bits == 0, t.side}
}

// digits returns the terms of what depends on binary digits.
func (t terms) digits() terms { return terms{uses: t.uses, bits: t.bits, binary: true} }

// length returns that of a number that is added to an expression, or less one is a factor of it.
func length(a int64) int {
	if abs(a) <= 1 {
		return int(abs(a))
	}
	return 1 + bits.Len64(uint64(abs(a)))
}

// A role says what a number is in a call.
type role int

const (
	roleCount   role = iota // it may grow with the number of ranks: counts, trips, lengths
	roleGroup               // the size of a group
	roleGrid                // an extent of the grid
	roleRank                // a rank
	roleLabel               // a tag, a handle, a part of an address
	roleRequest             // a request, which calls to one peer may share
	roleSite                // where in the program a call is made: no expression
)

func (r role) is(list ...role) bool { return slices.Contains(list, r) }

// holds reports whether an expression has the values at all points.
func (e *expr) holds(points []*point, values []int64) bool {
	for i, p := range points {
		if v, ok := e.at(p); !ok || v != values[i] {
			return false
		}
	}
	return true
}

// plus writes a number that is added to an expression.
func plus(text string, a int64) string {
	if a == 0 {
		return text
	}
	return fmt.Sprintf("%s%+d", text, a)
}

func times(p, q int64, text string) string {
	if p != 1 || q != 1 && strings.HasPrefix(text, "1/") {
		text = strings.TrimPrefix(fmt.Sprintf("%d*%s", p, text), "1*")
		text = strings.Replace(text, "*1/", "/", 1)
	}
	if q != 1 {
		text += fmt.Sprintf("/%d", q)
	}
	return text
}

// A monomial is a product or a quotient: numerator / denominator.
type monomial struct {
	text string
	of   func(p *point) (numerator, denominator int64, ok bool)
	terms
}

func (x feature) monomial() monomial {
	t := x.terms
	if x.binary && x.uses == 0 && !strings.Contains(x.name, "2^") { // hardly a multiple of a logarithm
		t = t.longer(3)
	}
	return monomial{x.name, func(p *point) (int64, int64, bool) { return x.of(p), 1, true }, t}
}

func (x feature) inverse() monomial {
	t := x.terms
	if x.binary { // hardly anything is divided by a logarithm
		t = t.longer(3)
	}
	return monomial{"1/" + x.name, func(p *point) (int64, int64, bool) { return 1, x.of(p), true }, t}
}

// whole returns the value of a monomial that is an integer.
func (m *monomial) whole(p *point) (int64, bool) {
	n, d, ok := m.of(p)
	if !ok {
		return 0, false
	}
	return div(n, d)
}

// product returns x·y.
func product(x, y *feature) monomial {
	return monomial{x.name + "*" + y.name, func(p *point) (int64, int64, bool) {
		v, ok := mul(x.of(p), y.of(p))
		return v, 1, ok
	}, x.terms.and(y.terms)}
}

// quotient returns x/y.
func quotient(x, y *feature) monomial {
	return monomial{x.name + "/" + y.name, func(p *point) (int64, int64, bool) {
		return x.of(p), y.of(p), true
	}, x.terms.and(y.terms)}
}

// together returns the terms of a sum: of two extents of one grid, the grid counts once.
func (x *feature) together(y *feature) terms {
	t := x.terms.and(y.terms)
	if x.foreign && x.grid == y.grid {
		t.bits -= min(x.bits, y.bits)
	}
	return t
}

func abs(a int64) int64 { return max(a, -a) }

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func isRank(p *point, v int64) bool { return v >= 0 && v < p.ranks }
