package columns

import (
	"fmt"
	"testing"

	"github.com/reprise-trace/reprise/rankenc"
)

// benchValues are columns over a whole group of n processes.
var benchValues = []struct {
	name  string
	value func(n int) func(r int) int64
}{
	{"constant", func(int) func(int) int64 { return func(int) int64 { return 0 } }},
	{"ring", func(n int) func(int) int64 { return func(r int) int64 { return int64((r + 1) % n) } }},
	{"row", func(int) func(int) int64 { return func(r int) int64 { return int64(r / 256) } }},
	{"nearly", func(n int) func(int) int64 { return func(r int) int64 { return int64(r ^ 4 + r/(n-1)*5) } }},
	{"none", func(n int) func(int) int64 {
		p := permutation(n)
		return func(r int) int64 { return p[r] }
	}},
}

// perValue reports the time per value of the loop that just ended, and the bytes
// per value of an encoding of so many bytes if there are any.
func perValue(b *testing.B, values, encoded int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*values), "ns/value")
	if encoded > 0 {
		b.ReportMetric(float64(encoded)/float64(values), "B/value")
	}
	b.ReportMetric(0, "ns/op")
}

func BenchmarkNewColumn(b *testing.B) {
	for _, n := range []int{1 << 16, 1 << 20} {
		for _, bv := range benchValues {
			d, values := sampleOf(n, all, bv.value(n))
			b.Run(fmt.Sprintf("values=%s/ranks=%d", bv.name, n), func(b *testing.B) {
				b.ReportAllocs()
				var c Column
				for b.Loop() {
					c = NewColumn(d, values, Options{Ranks: true})
				}
				perValue(b, len(values), len(marshal(c)))
			})
		}
	}
}

func BenchmarkColumnAt(b *testing.B) {
	d, values := sampleOf(1<<16, all, func(r int) int64 { return int64(r*r%29) + int64(r)*1e6 })
	bodies := map[string]body{
		"expression": exprBody{rankenc.Shift(1)},
		"runs":       newRuns(values, 1<<30),
		"packed":     newPacked(values, 1<<30),
		"dictionary": newDictionary(values, 1<<30),
		"deltas":     newDeltas(values, 1<<30),
	}
	for _, name := range []string{"expression", "runs", "packed", "dictionary", "deltas"} {
		c := newColumn(d, bodies[name])
		b.Run("encoding="+name, func(b *testing.B) {
			const reads = 1 << 12
			i := 0
			for b.Loop() {
				for range reads {
					i = (i + 7919) & (1<<16 - 1)
					c.At(i)
				}
			}
			perValue(b, reads, 0)
		})
	}
}
