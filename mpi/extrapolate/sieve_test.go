package extrapolate

import (
	"testing"

	"pgregory.net/rapid"

	_ "github.com/reprise-trace/reprise/internal/test/tier"
)

// TestSieve checks that a sieve drops nothing that holds: multiples, sums and lines, and planes, also of numbers whose
// products overflow.
func TestSieve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Int64Range(-4, 4), rapid.Int64())
		draw := func(label string) (c column) {
			for i := range c {
				c[i] = number.Draw(t, label)
			}
			return c
		}
		a, b, k := number.Draw(t, "a"), number.Draw(t, "b"), number.Draw(t, "k")
		c, d, p := draw("c"), draw("d"), draw("p")
		of := func(value func(i int) int64) *sieve {
			s := &sieve{points: make([]*point, rapid.IntRange(1, sieved).Draw(t, "points"))}
			for i := range s.points {
				s.values[i] = value(i)
			}
			return s
		}
		multiple := c.times(&p)
		for i := range p { // values are a·c, a multiple of c·p / p
			p[i] |= 1
			multiple[i] = c[i] * p[i]
		}
		if s := of(func(i int) int64 { return a * c[i] }); !s.multiple(&multiple, &p) || !s.multiple(&c, &ones) {
			t.Fatal("a multiple is dropped")
		}
		if s := of(func(i int) int64 { return c[i] + k }); !s.shifted(&c) || !s.line(&c) {
			t.Fatal("a sum is dropped")
		}
		if s := of(func(i int) int64 { return a*c[i] + k }); !s.line(&c) {
			t.Fatal("a line is dropped")
		}
		if s := of(func(i int) int64 { return a*c[i] + b*d[i] + k }); !s.plane(&c, &d) {
			t.Fatal("a plane is dropped")
		}
	})
}

// TestSieveDrops checks that a sieve drops what does not hold.
func TestSieveDrops(t *testing.T) {
	s := &sieve{points: make([]*point, 5), values: column{1, 4, 9, 16, 25}}
	c := column{1, 2, 3, 4, 5}
	cubes := column{1, 8, 27, 64, 125}
	if s.multiple(&c, &ones) || s.shifted(&c) || s.line(&c) || s.plane(&c, &cubes) || s.same(&c) {
		t.Error("squares are held to be multiples, sums, lines or planes")
	}
}
