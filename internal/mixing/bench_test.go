package mixing

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/reprise-trace/reprise/sequitur"
)

// BenchmarkBlock shows the cost of a block for each symbol of its sequences, which have no pattern, and for
// each value that these take.
func BenchmarkBlock(b *testing.B) {
	const symbols, members = 6000, 4
	random := rand.New(rand.NewPCG(5, 6))
	a := Plain(40)
	a.Values, a.Streams = [][]int64{numbers(200, 8)}, make([][]int, 40)
	for c := range 20 {
		a.Streams[c] = []int{0}
	}
	var list []Member
	for range members {
		sequence := make([]sequitur.Symbol, symbols)
		x := Member{Streams: [][]uint32{nil}}
		for i := range sequence {
			sequence[i] = random.Uint32N(20)
			if i%3 > 0 {
				sequence[i] += sequence[i-1] % 20
			}
			if sequence[i] < 20 {
				x.Streams[0] = append(x.Streams[0], random.Uint32N(10)*random.Uint32N(20))
			}
		}
		x.Grammar = build(sequence)
		list = append(list, x)
	}
	block, ok := one(Append(b.Context(), nil, list, a, math.MaxInt, nil))
	if !ok {
		b.Fatal("not written")
	}
	for _, bm := range []struct {
		name string
		run  func() bool
	}{
		{"write", func() bool {
			_, ok := Append(b.Context(), nil, list, a, math.MaxInt, nil)
			return ok
		}},
		{"measure", func() bool {
			_, ok := Try(b.Context(), list, a, Rival{}, nil)
			return ok
		}},
		{"read", func() bool {
			_, err := parseMixed(block, a)
			return err == nil
		}},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !bm.run() {
					b.Fatal("not done")
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*symbols*members), "ns/symbol")
			b.ReportMetric(float64(len(block))/(symbols*members), "B/symbol")
			b.ReportMetric(0, "ns/op")
		})
	}
}
