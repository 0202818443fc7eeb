package extrapolate

// lines tries parts that are rounded and a number, and lines of monomials.
func (f *fitter) lines() {
	for _, x := range f.features {
		f.divided(x, true)
	}
	f.line(f.simple())
	for i := range f.features {
		for j := range f.features {
			x, y, c, d := &f.features[i], &f.features[j], &f.columns[i], &f.columns[j]
			if p := c.times(d); i <= j && f.sieve.line(&p) {
				f.line([]monomial{product(x, y)})
			}
			if q, ok := c.over(d, len(f.sieve.points)); i != j && ok && f.sieve.line(&q) {
				f.line([]monomial{quotient(x, y)})
			}
		}
	}
}

// logLine is how much longer a line of logarithms is.
const logLine = 4

// line tries a·m + b of monomials m, where a may be a half, a third or a quarter.
func (f *fitter) line(list []monomial) {
	for _, m := range list {
		v, ok := m.whole(f.points[0])
		if !ok {
			continue
		}
		for i, p := range f.points {
			w, ok := m.whole(p)
			if !ok {
				break
			}
			if w == v {
				if f.values[i] != f.values[0] {
					break
				}
				continue
			}
			a, by := f.values[i]-f.values[0], w-v
			if g := int64(gcd(int(abs(a)), int(abs(by)))); by < 0 {
				a, by = -a/g, -by/g
			} else {
				a, by = a/g, by/g
			}
			part, ok := mul(a, v)
			whole, ok2 := div(part, by)
			if !ok || !ok2 || by > maxUsual {
				break
			}
			b, t := f.values[0]-whole, m.terms
			if t.binary && t.uses == 0 { // of three logarithms, too many lines
				t = t.longer(logLine)
			}
			f.try(expr{text: plus(times(a, by, m.text), b), terms: t.longer(2 + length(a-1) + length(by-1) + length(b)),
				coefficients: 2, at: func(p *point) (int64, bool) {
					v, ok := m.whole(p)
					x, ok2 := mul(a, v)
					q, ok3 := div(x, by)
					return q + b, ok && ok2 && ok3
				}, basis: func(p *point) [2]int64 {
					v, _ := m.whole(p)
					return [2]int64{v, 0}
				}})
			break
		}
	}
}

// affine tries c·m and a number, for quotients m that need not be whole.
func (f *fitter) affine(m monomial) {
	n, d, ok := m.of(f.points[0])
	if !ok || d == 0 {
		return
	}
	for i, p := range f.points {
		n2, d2, ok := m.of(p)
		over, ok2 := mul(n2, d)
		from, ok3 := mul(n, d2)
		if !ok || !ok2 || !ok3 || d2 == 0 {
			return
		}
		if over == from {
			continue
		}
		parts, ok := mul(f.values[i]-f.values[0], d)
		parts, ok2 = mul(parts, d2)
		c, ok3 := div(parts, over-from)
		whole, ok4 := mul(c, n)
		first, ok5 := div(whole, d)
		if !ok || !ok2 || !ok3 || !ok4 || !ok5 || c == 0 {
			return
		}
		b := f.values[0] - first
		f.try(expr{text: plus(times(c, 1, m.text), b), terms: m.terms.longer(2 + length(c-1) + length(b)),
			coefficients: 2, at: func(p *point) (int64, bool) {
				n, d, ok := m.of(p)
				v, ok2 := mul(c, n)
				v, ok3 := div(v, d)
				return v + b, ok && ok2 && ok3
			}, basis: func(p *point) [2]int64 {
				n, d, _ := m.of(p)
				return [2]int64{n, d}
			}})
		return
	}
}

// planes tries a·x + b·y + c of features x and y.
func (f *fitter) planes() {
	list := f.simple()
	var columns []column
	for i := range list {
		whole := true
		columns = append(columns, f.column(func(p *point) int64 {
			v, ok := list[i].whole(p)
			whole = whole && ok
			return v
		}))
		if !whole {
			list[i].of = nil
		}
	}
	for i, x := range list {
		for j := i + 1; j < len(list); j++ {
			if x.of != nil && list[j].of != nil && f.sieve.plane(&columns[i], &columns[j]) {
				f.plane(x, list[j])
			}
		}
	}
}

// plane solves for the coefficients by three points that are in no line.
func (f *fitter) plane(x, y monomial) {
	type row struct{ x, y, v int64 }
	var rows []row
	for i, p := range f.points {
		a, ok := x.whole(p)
		b, ok2 := y.whole(p)
		if !ok || !ok2 || max(abs(a), abs(b), abs(f.values[i])) > 1<<29 {
			return
		}
		r := row{a, b, f.values[i]}
		switch len(rows) {
		case 0:
		case 1:
			if r.x == rows[0].x && r.y == rows[0].y {
				continue
			}
		case 2:
			dx, dy := rows[1].x-rows[0].x, rows[1].y-rows[0].y
			if dx*(r.y-rows[0].y) == dy*(r.x-rows[0].x) {
				continue
			}
		}
		if rows = append(rows, r); len(rows) == 3 {
			break
		}
	}
	if len(rows) < 3 {
		return
	}
	dx1, dy1, dv1 := rows[1].x-rows[0].x, rows[1].y-rows[0].y, rows[1].v-rows[0].v
	dx2, dy2, dv2 := rows[2].x-rows[0].x, rows[2].y-rows[0].y, rows[2].v-rows[0].v
	det := dx1*dy2 - dx2*dy1
	a, ok := div(dv1*dy2-dv2*dy1, det)
	b, ok2 := div(dx1*dv2-dx2*dv1, det)
	if !ok || !ok2 || a == 0 || b == 0 {
		return
	}
	c := rows[0].v - a*rows[0].x - b*rows[0].y
	second := times(b, 1, y.text)
	if b > 0 {
		second = "+" + second
	}
	f.try(expr{text: plus(times(a, 1, x.text)+second, c),
		terms: x.terms.and(y.terms).longer(length(a-1) + length(b-1) + length(c)), coefficients: 3,
		at: func(p *point) (int64, bool) {
			v, ok := x.whole(p)
			w, ok2 := y.whole(p)
			s, ok3 := mul(a, v)
			t, ok4 := mul(b, w)
			return s + t + c, ok && ok2 && ok3 && ok4
		}, basis: func(p *point) [2]int64 {
			v, _ := x.whole(p)
			w, _ := y.whole(p)
			return [2]int64{v, w}
		}})
}
