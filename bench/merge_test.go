package bench

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/reprise-trace/reprise/internal/programs"
	"github.com/reprise-trace/reprise/merge"
)

// benchFold merges the parts of a program, made on the fly, and reports the size
// of the file besides the time and memory.
func benchFold(b *testing.B, p programs.Program) {
	var f folded
	b.ReportAllocs()
	most := peak(func() {
		for b.Loop() {
			var err error
			if f, err = fold(p); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*p.Ranks), "ns/part")
	b.ReportMetric(float64(f.size), "B/file")
	b.ReportMetric(float64(f.shapes), "shapes")
	b.ReportMetric(float64(most)/(1<<20), "peak-MiB")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkMerge shows the cost per part over the number of ranks, and the size
// of the file over the number of ranks and iterations.
func BenchmarkMerge(b *testing.B) {
	for _, iterations := range []uint64{10, 1e3, 1e6, 1e9} {
		for _, side := range []int{3, 10, 32, 128, 256, 512, 1024} {
			b.Run(fmt.Sprintf("program=Stencil2D/iterations=%d/ranks=%d", iterations, side*side), func(b *testing.B) {
				benchFold(b, programs.Stencil2D(side, side, iterations))
			})
		}
		for _, sides := range [][3]int{{3, 3, 3}, {10, 10, 10}, {32, 32, 32}, {128, 128, 64}} {
			b.Run(fmt.Sprintf("program=Stencil3D/iterations=%d/ranks=%d", iterations, sides[0]*sides[1]*sides[2]), func(b *testing.B) {
				benchFold(b, programs.Stencil3D(sides[0], sides[1], sides[2], iterations))
			})
		}
	}
}

func BenchmarkGather(b *testing.B) {
	for _, tree := range trees {
		for _, ranks := range gatherRanks {
			b.Run(fmt.Sprintf("tree=%v/ranks=%d", tree, ranks), func(b *testing.B) {
				benchFold(b, programs.Gather(tree, ranks, 1000))
			})
		}
	}
}

// BenchmarkIrregular merges programs of which the files grow, and reports what
// they cannot be smaller than.
func BenchmarkIrregular(b *testing.B) {
	for _, p := range irregular() {
		b.Run("program="+p.Name, func(b *testing.B) {
			benchFold(b, p)
			b.ReportMetric(p.Entropy/8, "random-B/file")
		})
	}
}

// BenchmarkRelative compares the forms of ranks that the merge chooses with ranks
// relative to the caller.
func BenchmarkRelative(b *testing.B) {
	for _, p := range programs.All(64) {
		parts := p.Parts()
		b.Run(fmt.Sprintf("program=%s/ranks=chosen", p.Name), func(b *testing.B) { benchParts(b, p.Run(), parts) })
		b.Run(fmt.Sprintf("program=%s/ranks=relative", p.Name), func(b *testing.B) {
			benchParts(b, p.Run(), relativeParts(parts, p.Ranks))
		})
	}
}

// benchParts merges parts and reports the size of the file besides the time.
func benchParts(b *testing.B, run merge.Run, parts []merge.Part) {
	var f folded
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if f, err = foldParts(run, parts); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(parts)), "ns/part")
	b.ReportMetric(float64(f.size), "B/file")
	b.ReportMetric(float64(f.shapes), "shapes")
	b.ReportMetric(0, "ns/op")
}

// tracesDir is where the shared traces are.
var tracesDir = filepath.Join("..", "..", "shared", "traces", "ti")

// sharedTraces returns the shared traces, and skips the test if there are none.
func sharedTraces(t testing.TB) []trace {
	traces, err := readTraces(tracesDir)
	if err != nil {
		t.Skip("no traces: ", err)
	}
	return traces
}

// shippedTraces returns the traces in testdata.
func shippedTraces(b *testing.B) []trace {
	traces, err := readTraces(filepath.Join("testdata", "ti"))
	if err != nil {
		b.Fatal(err)
	}
	return traces
}

// perCall reports the time per call of the loop that just ended.
func perCall(b *testing.B, calls uint64) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(uint64(b.N)*calls), "ns/event")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkMergeTrace merges the parts of real traces into a file.
func BenchmarkMergeTrace(b *testing.B) {
	for _, t := range shippedTraces(b) {
		b.Run("trace="+t.name, func(b *testing.B) {
			run, parts, err := t.record()
			if err != nil {
				b.Fatal(err)
			}
			benchParts(b, run, parts)
		})
	}
}

// BenchmarkCompress makes files of the text of real traces.
func BenchmarkCompress(b *testing.B) {
	for _, t := range shippedTraces(b) {
		b.Run("trace="+t.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(t.text)))
			var file []byte
			for b.Loop() {
				var err error
				if file, err = t.compress(); err != nil {
					b.Fatal(err)
				}
			}
			calls, err := expand(file)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/trace")
			perCall(b, calls)
		})
	}
}

// BenchmarkExpand goes through the calls of real traces, on one core: with their
// arguments, and as numbers of signatures alone.
func BenchmarkExpand(b *testing.B) {
	for _, t := range shippedTraces(b) {
		file, err := t.compress()
		if err != nil {
			b.Fatal(err)
		}
		for _, way := range []struct {
			name   string
			expand func([]byte) (uint64, error)
		}{{"calls", expand}, {"structure", expandStructure}} {
			b.Run("trace="+t.name+"/to="+way.name, func(b *testing.B) {
				var calls uint64
				b.ReportAllocs()
				for b.Loop() {
					if calls, err = way.expand(file); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(uint64(b.N)*calls)/b.Elapsed().Seconds()/1e6, "million-calls/s")
				perCall(b, calls)
			})
		}
	}
}
