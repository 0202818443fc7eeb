package extrapolate_test

import (
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/trace"
)

func cubeRoot(n int) int { return int(math.Cbrt(float64(n)) + 1e-9) }

type scale struct {
	name string
	of   func(n int) int
}

var scales = []scale{
	{"n", func(n int) int { return n }},
	{"n-1", func(n int) int { return n - 1 }},
	{"3n+2", func(n int) int { return 3*n + 2 }},
	{"n/2", func(n int) int { return n / 2 }},
	{"(n+1)/2", func(n int) int { return (n + 1) / 2 }},
	{"n/3", func(n int) int { return n / 3 }},
	{"n/4", func(n int) int { return n / 4 }},
	{"n/4+1", func(n int) int { return n/4 + 1 }},
	{"(n+3)/4", func(n int) int { return (n + 3) / 4 }},
	{"2n/3", func(n int) int { return 2 * n / 3 }},
	{"3n/4", func(n int) int { return 3 * n / 4 }},
	{"5n/2", func(n int) int { return 5 * n / 2 }},
	{"n*n", func(n int) int { return n * n }},
	{"n*n/2", func(n int) int { return n * n / 2 }},
	{"n*n/4", func(n int) int { return n * n / 4 }},
	{"n(n-1)/2", func(n int) int { return n * (n - 1) / 2 }},
	{"n^3", func(n int) int { return n * n * n }},
	{"log2", log2},
	{"log2+1", func(n int) int { return log2(n) + 1 }},
	{"ceil log2", func(n int) int { return bits.Len(uint(n - 1)) }},
	{"log2(n+1)", func(n int) int { return log2(n + 1) }},
	{"log2(n-1)", func(n int) int { return log2(n - 1) }},
	{"log2 log2", func(n int) int { return log2(log2(n) + 1) }},
	{"log3", func(n int) int {
		k := 0
		for ; n >= 3; n /= 3 {
			k++
		}
		return k
	}},
	{"log4", func(n int) int { return log2(n) / 2 }},
	{"n log2", func(n int) int { return n * log2(n) }},
	{"log2^2", func(n int) int { return log2(n) * log2(n) }},
	{"2^log2", func(n int) int { return 1 << log2(n) }},
	{"2^ceil log2", func(n int) int { return 1 << bits.Len(uint(n-1)) }},
	{"n-2^log2", func(n int) int { return n - 1<<log2(n) }},
	{"2^log2/2", func(n int) int { return 1 << log2(n) / 2 }},
	{"ones", func(n int) int { return bits.OnesCount(uint(n)) }},
	{"zeros", func(n int) int { return bits.TrailingZeros(uint(n)) }},
	{"sqrt", func(n int) int { return int(math.Sqrt(float64(n))) }},
	{"ceil sqrt", func(n int) int { return int(math.Ceil(math.Sqrt(float64(n)))) }},
	{"cbrt", cubeRoot},
	{"10 cbrt", func(n int) int { return 10 * cubeRoot(n) }},
	{"1000/n", func(n int) int { return 1000 / n }},
	{"1024/n", func(n int) int { return 1024 / n }},
	{"ceil 1000/n", func(n int) int { return (1000 + n - 1) / n }},
	{"1000/n+2", func(n int) int { return 1000/n + 2 }},
	{"30/n", func(n int) int { return 30 / n }},
	{"10000/n/n", func(n int) int { return 10000 / n / n }},
	{"1000/sqrt", func(n int) int { return 1000 / int(math.Sqrt(float64(n))) }},
	{"1000/cbrt", func(n int) int { return 1000 / cubeRoot(n) }},
	{"1000/log2", func(n int) int { return 1000 / (log2(n)) }},
	{"5+n%2", func(n int) int { return 5 + n%2 }},
	{"5+n%3", func(n int) int { return 5 + n%3 }},
	{"5+n%4", func(n int) int { return 5 + n%4 }},
	{"5+n%5", func(n int) int { return 5 + n%5 }},
	{"b0+b1+b2", func(n int) int { b := balanced(n); return b[0] + b[1] + b[2] }},
	{"b0*b1", func(n int) int { b := balanced(n); return b[0] * b[1] }},
	{"b0*b1+b1*b2+b0*b2", func(n int) int { b := balanced(n); return b[0]*b[1] + b[1]*b[2] + b[0]*b[2] }},
	{"b2", func(n int) int { return balanced(n)[2] }},
	{"60/b0*60/b1", func(n int) int { b := balanced(n); return 60 / b[0] * (60 / b[1]) }},
}

type place struct {
	name string
	of   func(r, n int) int
}

var placed = []place{
	{"rank/2", func(r, n int) int { return r / 2 }},
	{"(rank-1)/2", func(r, n int) int { return (r - 1) / 2 }},
	{"(rank+1)/2", func(r, n int) int { return (r + 1) / 2 }},
	{"(rank-1)/3", func(r, n int) int { return (r - 1) / 3 }},
	{"rank/4", func(r, n int) int { return r / 4 }},
	{"log2(rank+1)", func(r, n int) int { return log2(r + 1) }},
	{"ceil log2(rank+1)", func(r, n int) int { return bits.Len(uint(r)) }},
	{"rank%3", func(r, n int) int { return r % 3 }},
	{"rank%4", func(r, n int) int { return r % 4 }},
	{"rank*rank", func(r, n int) int { return r * r }},
	{"rank(rank-1)/2", func(r, n int) int { return r * (r - 1) / 2 }},
	{"rank*100/n", func(r, n int) int { return r * 100 / n }},
	{"(rank+1)*100/n-rank*100/n", func(r, n int) int { return (r+1)*100/n - r*100/n }},
	{"(n-rank)/2", func(r, n int) int { return (n - r) / 2 }},
	{"(rank+n/3)%n", func(r, n int) int { return (r + n/3) % n }},
	{"2*rank%n", func(r, n int) int { return 2 * r % n }},
	{"3*rank%n", func(r, n int) int { return 3 * r % n }},
	{"rank%(n/2)", func(r, n int) int { return r % (n / 2) }},
	{"min(rank,3)", func(r, n int) int { return min(r, 3) }},
	{"max(0,rank-3)", func(r, n int) int { return max(0, r-3) }},
	{"min(rank,n-rank)", func(r, n int) int { return min(r, n-r) }},
	{"max(rank,n/2)", func(r, n int) int { return max(r, n/2) }},
	{"rank<n/2", func(r, n int) int {
		if r < n/2 {
			return 1
		}
		return 0
	}},
	{"rank<n/3", func(r, n int) int {
		if r < n/3 {
			return 1
		}
		return 0
	}},
	{"rank<2^log2", func(r, n int) int {
		if r < 1<<log2(n) {
			return 1
		}
		return 0
	}},
	{"ones", func(r, n int) int { return bits.OnesCount(uint(r)) }},
	{"block 1000", func(r, n int) int { return block(1000, n, r) }},
	{"rank*n", func(r, n int) int { return r * n }},
	{"rank*n/2", func(r, n int) int { return r * n / 2 }},
	{"n*n/2+rank", func(r, n int) int { return n*n/2 + r }},
	{"n/3+rank", func(r, n int) int { return n/3 + r }},
	{"subtree", func(r, n int) int {
		if r == 0 {
			return n
		}
		return min(r&-r, n-r)
	}},
}

// TestRivals checks that what a program has of the number of ranks, or of the rank, is made on another number
// or refused, on few numbers of ranks, too. Not among these are programs that do something else from a number
// of ranks on that no trace has, as max(n, 8).
func TestRivals(t *testing.T) {
	if raceDetector {
		t.Skip("long with the race detector, and in one goroutine")
	}
	var made, refused atomic.Int64
	t.Run("of", func(t *testing.T) {
		for _, numbers := range [][]int{{2, 3, 4, 8, 12}, {2, 4, 5, 3}, {4, 16, 64, 36}, {4, 9, 16, 25, 36},
			{2, 3, 4, 5, 6, 7, 8, 16}} {
			t.Run(fmt.Sprint(numbers), func(t *testing.T) {
				t.Parallel()
				one := func(name string, program func(p *process)) {
					var traces []*trace.Trace
					last := len(numbers) - 1
					for _, n := range numbers[:last] {
						traces = append(traces, run(t, n, program))
					}
					got, r, err := extrapolated(t, traces, numbers[last])
					if err != nil {
						refused.Add(1)
						return
					}
					made.Add(1)
					if d := difference(t, got, run(t, numbers[last], program)); d != "" {
						t.Error(name, d, r.Fits)
					}
				}
				for _, s := range tier.Some(scales, 6) {
					one(s.name, func(p *process) { p.allreduce(s.of(p.n)) })
				}
				for _, s := range tier.Some(placed, 6) {
					one(s.name, func(p *process) { p.allreduce(s.of(p.rank, p.n)) })
				}
			})
		}
	})
	if t.Logf("%d made, %d refused", made.Load(), refused.Load()); made.Load() < int64(tier.Number(10, 50)) {
		t.Error("few are made")
	}
}
