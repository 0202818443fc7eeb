package extrapolate

// Nearly all that is tried fails at one of the first points. So the features have their values at some points in
// columns, and what cannot be is dropped before it has a text or a function.

// sieved is at how many points a column has values.
const sieved = 6

// A column is a number at some points.
type column [sieved]int64

func (c *column) times(d *column) (e column) {
	for i := range c {
		e[i] = c[i] * d[i]
	}
	return e
}

func (c *column) plus(d *column) (e column) {
	for i := range c {
		e[i] = c[i] + d[i]
	}
	return e
}

func (c *column) less(d *column) (e column) {
	for i := range c {
		e[i] = c[i] - d[i]
	}
	return e
}

// over returns a quotient of numbers at so many points, and whether it is a whole number at all of them.
func (c *column) over(d *column, points int) (q column, ok bool) {
	for i := range points {
		if d[i] == 0 || c[i]%d[i] != 0 {
			return q, false
		}
		q[i] = c[i] / d[i]
	}
	return q, true
}

// ones is the column of what is 1 everywhere.
var ones = column{1, 1, 1, 1, 1, 1}

// A sieve tells what may have the values that are looked for. It calculates modulo 2⁶⁴: what is equal is equal there,
// so that it drops nothing that holds.
type sieve struct {
	points  []*point // the first that have a rank, or any number
	values  column
	columns []column // of features
}

// sift makes the sieve of features, with which expressions are tried from now on.
func (f *fitter) sift(features []feature) {
	f.features = features
	s := &f.sieve
	if s.points == nil {
		for i, p := range f.points {
			if f.none != 0 && f.values[i] == f.none {
				continue
			}
			s.values[len(s.points)] = f.values[i]
			if s.points = append(s.points, p); len(s.points) == sieved {
				break
			}
		}
	}
	s.columns = s.columns[:0]
	for i := range features {
		s.columns = append(s.columns, s.column(features[i].of))
	}
}

func (s *sieve) column(of func(p *point) int64) (c column) {
	for i, p := range s.points {
		c[i] = of(p)
	}
	return c
}

// same reports whether values may be c.
func (s *sieve) same(c *column) bool {
	for i := range s.points {
		if s.values[i] != c[i] {
			return false
		}
	}
	return true
}

// multiple reports whether values may be a multiple of n/d.
func (s *sieve) multiple(n, d *column) bool {
	for i := 1; i < len(s.points); i++ {
		if s.values[i]*d[i]*n[0] != s.values[0]*d[0]*n[i] {
			return false
		}
	}
	return true
}

// shifted reports whether values may be c and a number.
func (s *sieve) shifted(c *column) bool {
	for i := 1; i < len(s.points); i++ {
		if s.values[i]-c[i] != s.values[0]-c[0] {
			return false
		}
	}
	return true
}

// line reports whether values may be a multiple of c and a number.
func (s *sieve) line(c *column) bool {
	first := 1 // that differs
	for first < len(s.points) && c[first] == c[0] {
		if s.values[first] != s.values[0] {
			return false
		}
		first++
	}
	for i := first + 1; i < len(s.points); i++ {
		if (s.values[i]-s.values[0])*(c[first]-c[0]) != (s.values[first]-s.values[0])*(c[i]-c[0]) {
			return false
		}
	}
	return true
}

// plane reports whether values may be multiples of c and d, and a number.
func (s *sieve) plane(c, d *column) bool {
	for i := 3; i < len(s.points); i++ {
		j, k := i-2, i-1
		c1, d1, v1 := c[j]-c[0], d[j]-d[0], s.values[j]-s.values[0]
		c2, d2, v2 := c[k]-c[0], d[k]-d[0], s.values[k]-s.values[0]
		c3, d3, v3 := c[i]-c[0], d[i]-d[0], s.values[i]-s.values[0]
		if c1*(d2*v3-d3*v2)-d1*(c2*v3-c3*v2)+v1*(c2*d3-c3*d2) != 0 {
			return false
		}
	}
	return true
}
