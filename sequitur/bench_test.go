package sequitur

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/streams"
)

// perEvent reports the time per event of the loop that just ended and the size
// of the encoding it produced, both per event, so that streams of different
// lengths compare.
func perEvent(b *testing.B, events, encoded int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*events), "ns/event")
	b.ReportMetric(float64(encoded)/float64(events), "B/event")
	b.ReportMetric(0, "ns/op")
}

// benchAppend appends inputs, each to a Builder that begins empty, and reports
// the allocations, all of which are growth, per event.
func benchAppend(b *testing.B, inputs ...[]Symbol) {
	var (
		events, encoded int
		before, after   runtime.MemStats
	)
	for _, in := range inputs {
		enc, _ := build(in).MarshalBinary()
		encoded += len(enc)
		events += len(in)
	}
	runtime.GC()
	runtime.ReadMemStats(&before)
	for b.Loop() {
		for _, in := range inputs {
			var bld Builder
			for _, s := range in {
				bld.Append(s)
			}
		}
	}
	runtime.ReadMemStats(&after)
	perEvent(b, events, encoded)
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(b.N*events), "allocs/event")
}

func BenchmarkAppend(b *testing.B) {
	for _, st := range streams.All {
		b.Run("stream="+st.Name, func(b *testing.B) { benchAppend(b, st.Gen(1_000_000)) })
	}
}

func BenchmarkAppendTrace(b *testing.B) {
	for _, tr := range readTraces(b) {
		b.Run("trace="+tr.name, func(b *testing.B) { benchAppend(b, tr.ranks...) })
	}
}

// BenchmarkAppendLength shows the cost per event over the length of the input.
func BenchmarkAppendLength(b *testing.B) {
	for _, st := range streams.All {
		for _, n := range []int{1e4, 1e5, 1e6, 1e7} {
			b.Run(fmt.Sprintf("stream=%s/events=%d", st.Name, n), func(b *testing.B) { benchAppend(b, st.Gen(n)) })
		}
	}
}

// BenchmarkAppendBody shows the cost per event over the length of the body of a
// loop: steady, and with one symbol of each round another.
func BenchmarkAppendBody(b *testing.B) {
	for _, body := range []int{3, 10, 100, 1_000, 10_000, 100_000} {
		n := max(1_000_000, 20*body)
		run := func(miss string, in []uint32) {
			b.Run(fmt.Sprintf("miss=%s/body=%d", miss, body), func(b *testing.B) { benchAppend(b, in) })
		}
		run("Never", streams.Loop(n, body))
		run("Start", streams.NearMiss(n, body, 0))
		run("Middle", streams.NearMiss(n, body, body/2))
		run("End", streams.NearMiss(n, body, body-1))
	}
}

func BenchmarkSnapshot(b *testing.B) {
	for _, st := range streams.All {
		b.Run("stream="+st.Name, func(b *testing.B) {
			var bld Builder
			for _, s := range st.Gen(100_000) {
				bld.Append(s)
			}
			var g *Grammar
			for b.Loop() {
				g = bld.Snapshot()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*g.Symbols()), "ns/symbol")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func BenchmarkParse(b *testing.B) {
	for _, st := range streams.All {
		in := st.Gen(100_000)
		enc, _ := build(in).AppendBinary(nil)
		b.Run("stream="+st.Name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(enc))) // MB/s of encoded input
			for b.Loop() {
				if _, err := Parse(enc, Options{}); err != nil {
					b.Fatal(err)
				}
			}
			perEvent(b, len(in), len(enc))
		})
	}
}

// BenchmarkCoded shows what writing and reading the coded form costs for each symbol of a grammar.
func BenchmarkCoded(b *testing.B) {
	for _, st := range streams.All {
		g := build(st.Gen(100_000))
		enc := g.coded()
		report := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*g.Symbols()), "ns/symbol")
			b.ReportMetric(float64(len(enc))/float64(g.Symbols()), "B/symbol")
			b.ReportMetric(0, "ns/op")
		}
		b.Run("write/stream="+st.Name, func(b *testing.B) {
			for b.Loop() {
				g.coded()
			}
			report(b)
		})
		b.Run("read/stream="+st.Name, func(b *testing.B) {
			for b.Loop() {
				var h Grammar
				if err := h.UnmarshalBinary(enc); err != nil && len(enc) > 20 {
					b.Fatal(err)
				}
			}
			report(b)
		})
	}
}

func BenchmarkAll(b *testing.B) {
	for _, st := range streams.All {
		g := build(st.Gen(1_000_000))
		b.Run("stream="+st.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for range g.All() {
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/(float64(b.N)*float64(g.Len())), "ns/event")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func BenchmarkAppendSymbols(b *testing.B) {
	for _, st := range streams.All {
		g := build(st.Gen(1_000_000))
		b.Run("stream="+st.Name, func(b *testing.B) {
			b.ReportAllocs()
			var dst []Symbol
			for b.Loop() {
				dst = g.AppendSymbols(dst[:0])
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/(float64(b.N)*float64(g.Len())), "ns/event")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func BenchmarkAt(b *testing.B) {
	for _, st := range streams.All {
		g := build(st.Gen(1_000_000))
		b.Run("stream="+st.Name, func(b *testing.B) {
			i := uint64(0)
			for b.Loop() {
				i = (i + 611_953) % g.Len()
				g.At(i)
			}
		})
	}
}

// BenchmarkAppendLoop shows that the cost of a loop does not depend on how often
// it runs, alone and as a part of another.
func BenchmarkAppendLoop(b *testing.B) {
	body := []Run{{1, 1}, {2, 3}, {1, 1}, {3, 1}}
	for _, n := range []uint64{1e2, 1e6, 1e15} {
		b.Run(fmt.Sprintf("loop=Alone/rounds=%d", n), func(b *testing.B) {
			for b.Loop() {
				var bld Builder
				bld.AppendLoop(body, n)
			}
		})
		b.Run(fmt.Sprintf("loop=Inner/rounds=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			var bld Builder
			for b.Loop() {
				if bld.Len() > maxLen/2 {
					bld.Finish()
				}
				bld.AppendLoop(body, n)
				bld.Append(4)
			}
		})
	}
}
