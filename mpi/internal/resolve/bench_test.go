package resolve

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/reprise-trace/reprise/mpi/spec"
)

// perEvent reports the time per event of the loop that just ended.
func perEvent(b *testing.B, events int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*events), "ns/event")
	b.ReportMetric(0, "ns/op")
}

// recordedRun returns a resolver of a run that splits all processes into rows,
// duplicates these twice, frees one and does that again, for each round.
func recordedRun(ranks, rounds int) *Resolver {
	r := new(Resolver)
	all := make([]int, ranks)
	for i := range all {
		all[i] = i
	}
	r.Declare(world, "world", all)
	for rank := range ranks {
		position := uint64(0)
		for range rounds {
			r.Create(rank, position, Creation{Kind: spec.Split, Parent: world, Color: int64(rank >> 5),
				Key: -int64(rank), Result: Local{"comm", 0}})
			r.Create(rank, position+1, Creation{Kind: spec.Duplicate, Parent: Local{"comm", 0},
				Result: Local{"comm", 1}})
			r.Create(rank, position+2, Creation{Kind: spec.Duplicate, Parent: Local{"comm", 0},
				Result: Local{"win", 0}})
			r.Free(rank, position+3, Local{"comm", 0})
			position += 4
		}
	}
	return r
}

// BenchmarkResolver resolves groups of rows of 32 processes.
func BenchmarkResolver(b *testing.B) {
	for _, ranks := range []int{256, 16384} {
		for _, rounds := range []int{2, 32} {
			b.Run(fmt.Sprintf("ranks=%d/creations=%d", ranks, 3*rounds), func(b *testing.B) {
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				var g *Groups
				for b.Loop() {
					var err error
					if g, err = recordedRun(ranks, rounds).Resolve(); err != nil {
						b.Fatal(err)
					}
				}
				runtime.GC()
				runtime.ReadMemStats(&after)
				perEvent(b, ranks*rounds*3)
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(ranks*rounds*3), "B/creation")
				if m, ok := g.At(33, Local{"comm", 1}, 5); !ok || m.Rank != 30 {
					b.Fatal(m)
				}
			})
		}
	}
}

// BenchmarkGroupsAt looks up groups by position, among 1,000 that had a name.
func BenchmarkGroupsAt(b *testing.B) {
	g, err := recordedRun(32, 1000).Resolve()
	if err != nil {
		b.Fatal(err)
	}
	i := 0
	for b.Loop() {
		for range 1000 {
			i = (i + 7919) % 4000
			if _, ok := g.At(i&31, Local{"win", 0}, uint64(i)); !ok && i > 2 {
				b.Fatal(i)
			}
		}
	}
	perEvent(b, 1000)
}
