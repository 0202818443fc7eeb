package rankenc

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// benchValues are columns over a whole group of n processes, a square number
// and a power of two.
var benchValues = []struct {
	name  string
	value func(n int) func(r int) int64
}{
	{"constant", func(int) func(int) int64 { return func(int) int64 { return 0 } }},
	{"shift", func(int) func(int) int64 { return func(r int) int64 { return int64(r + 1) } }},
	{"ring", func(n int) func(int) int64 { return func(r int) int64 { return int64((r + 1) % n) } }},
	{"line", func(n int) func(int) int64 { return neighbour(n, false, nil, 1) }},
	{"linear", func(int) func(int) int64 { return func(r int) int64 { return int64(3*r + 5) } }},
	{"xor", func(int) func(int) int64 { return func(r int) int64 { return int64(r ^ 4) } }},
	{"digits", func(n int) func(int) int64 {
		k := int(squareRoot(int64(n)))
		return func(r int) int64 { return int64(r%k*k + r/k) }
	}},
	{"digits3", func(int) func(int) int64 { return func(r int) int64 { return int64(r / 16 % 16) } }},
	{"torus", func(n int) func(int) int64 { return neighbour(n, true, []int{int(squareRoot(int64(n)))}, 1, -1) }},
	{"grid", func(n int) func(int) int64 { return neighbour(n, false, []int{int(squareRoot(int64(n)))}, 1, 0) }},
	{"torus3", func(n int) func(int) int64 { return neighbour(n, true, []int{16, 16}, 1, -1, 1) }},
	{"grid3", func(n int) func(int) int64 { return neighbour(n, false, []int{16, 16}, 1, 1, 1) }},
	{"nearmiss", func(n int) func(int) int64 { // a grid but for the last rank
		f := neighbour(n, false, []int{16, 16}, 1, 1, 1)
		return func(r int) int64 { return f(r) + int64(r/(n-1))*5 }
	}},
	{"nearmisstorus", func(n int) func(int) int64 {
		f := neighbour(n, true, []int{16, 16}, 1, -1, 1)
		return func(r int) int64 { return f(r) + int64(r/(n-1)) }
	}},
	{"none", func(n int) func(int) int64 {
		p := rand.New(rand.NewPCG(1, 2)).Perm(n)
		return func(r int) int64 { return int64(p[r]) }
	}},
}

var benchSizes = []int{1 << 16, 1 << 20}

// perValue reports the time per value of the loop that just ended.
func perValue(b *testing.B, values int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*values), "ns/value")
	b.ReportMetric(0, "ns/op")
}

func forValues(b *testing.B, f func(b *testing.B, d domain, values []int64)) {
	for _, n := range benchSizes {
		for _, bv := range benchValues {
			d, values := sampleOf(n, all, bv.value(n))
			b.Run(fmt.Sprintf("family=%s/ranks=%d", bv.name, n), func(b *testing.B) { f(b, d, values) })
		}
	}
}

func BenchmarkFit(b *testing.B) {
	forValues(b, func(b *testing.B, d domain, values []int64) {
		b.ReportAllocs()
		for b.Loop() {
			d.fit(values, Options{Ranks: true})
		}
		perValue(b, len(values))
	})
}

func BenchmarkSet(b *testing.B) {
	sets := []struct {
		name  string
		ranks []int
	}{
		{"world", where(1<<20, all)},
		{"interior", interior(1<<20, 1<<10)},
		{"irregular", random(1<<20, 0.5)},
	}
	other := SetOf(sets[1].ranks...)
	for _, tt := range sets {
		s := SetOf(tt.ranks...)
		const reads = 1 << 12
		run := func(name string, count int, f func(k int)) {
			b.Run(fmt.Sprintf("%s/set=%s", name, tt.name), func(b *testing.B) {
				b.ReportAllocs()
				k := 0
				for b.Loop() {
					k = (k + 7919) % len(tt.ranks)
					f(k)
				}
				perValue(b, count)
			})
		}
		step := func(k, i int) int { return (k + i*7919) % len(tt.ranks) }
		run("Build", len(tt.ranks), func(int) {
			var b SetBuilder
			for _, r := range tt.ranks {
				b.Add(r)
			}
			b.Finish()
		})
		run("At", reads, func(k int) {
			for i := range reads {
				s.At(step(k, i))
			}
		})
		run("Index", reads, func(k int) {
			for i := range reads {
				s.Index(tt.ranks[step(k, i)])
			}
		})
		run("All", len(tt.ranks), func(int) {
			for range s.All() {
			}
		})
		run("Union", len(tt.ranks), func(int) { s.Union(other) })
	}
}

// BenchmarkSetLimit combines sets of 2²² runs, the most that the shapes of a trace have.
func BenchmarkSetLimit(b *testing.B) {
	const runs = 1 << 22
	every := func(first, stride int) Set {
		return newSet([]item{{start: uint32(first), length: 1, depth: 1, dims: [maxDepth]dim{{uint32(stride), runs}}}})
	}
	b.Run("shapes", func(b *testing.B) {
		s, t := newSet([]item{{start: 0, length: 1, depth: 1, dims: [maxDepth]dim{{4, runs / 2}}}}),
			newSet([]item{{start: 1, length: 1, depth: 1, dims: [maxDepth]dim{{6, runs / 2}}}})
		for b.Loop() {
			s.Union(t)
		}
	})
	s := every(0, 2)
	for _, other := range []struct {
		name string
		set  Set
	}{{"regular", every(1, 3)}, {"irregular", SetOf(random(2*runs, 0.5)...)}} {
		for _, operation := range []struct {
			name string
			of   func(s, t Set) Set
		}{{"union", func(s, t Set) Set {
			return s.Union(t)
		}}, {"intersection", Set.Intersection}, {"difference", Set.Difference}} {
			b.Run(operation.name+"/with="+other.name, func(b *testing.B) {
				for b.Loop() {
					operation.of(s, other.set)
				}
			})
			b.Run(operation.name+"/of="+other.name, func(b *testing.B) {
				for b.Loop() {
					operation.of(other.set, s)
				}
			})
		}
	}
}
