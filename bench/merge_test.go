package bench

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	rankcolumns "github.com/reprise-trace/reprise/internal/columns"
	"github.com/reprise-trace/reprise/internal/test/programs"
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
			b.Run(fmt.Sprintf("program=Stencil3D/iterations=%d/ranks=%d", iterations,
				sides[0]*sides[1]*sides[2]), func(b *testing.B) {
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
	both := func(name string, run merge.Run, parts []merge.Part) {
		displaced := make([]merge.Part, len(parts))
		for i, p := range parts {
			displaced[i] = relative(p, run.Ranks)
		}
		b.Run(name+"/ranks=chosen", func(b *testing.B) { benchParts(b, run, parts) })
		b.Run(name+"/ranks=relative", func(b *testing.B) { benchParts(b, run, displaced) })
	}
	for _, p := range programs.All(64) {
		both("program="+p.Name, p.Run(), p.Parts())
	}
	for _, t := range shippedTraces(b) {
		run, parts, err := t.record()
		if err != nil {
			b.Fatal(err)
		}
		both("trace="+t.name, run, parts)
	}
}

// relative returns p as a tracer records it that writes ranks relative to the
// caller when a call is made, as Pilgrim does: all of them, the sources in
// statuses too. Different values stay different, so the grammar is the same.
func relative(p merge.Part, ranks int) merge.Part {
	table := new(cst.Table)
	for _, f := range p.Table.Functions() {
		table.Declare(f)
	}
	var displaced []cst.Value
	terminal := uint32(0)
	for fn, args := range p.Table.All() {
		displaced = displaced[:0]
		for _, v := range args {
			displaced = append(displaced, displace(v, p.Rank, ranks))
		}
		if got := table.InternRun(fn, p.Table.Count(terminal), displaced...); got != terminal {
			panic(fmt.Sprintf("bench: terminals %d and %d become one", got, terminal))
		}
		terminal++
	}
	return merge.Part{Rank: p.Rank, Table: table, Grammar: p.Grammar}
}

// displace returns v with the ranks in it relative to the caller.
func displace(v cst.Value, rank, ranks int) cst.Value {
	from := func(r int64) int64 { return rankcolumns.Relative(r, int64(rank), int64(ranks)) }
	switch v.Kind() {
	case cst.KindRank:
		return cst.Rank(from(v.Int()))
	case cst.KindStatus:
		s := v.Status()
		s.Source = from(s.Source)
		return cst.StatusOf(s)
	case cst.KindArray:
		list := make([]cst.Value, v.Len())
		for i := range list {
			list[i] = displace(v.Index(i), rank, ranks) // as deep as a declared type
		}
		return cst.Array(list...)
	}
	return v
}

// different returns the number of different parts, as signatures and grammars.
func different(parts []merge.Part) int {
	seen := make(map[[sha256.Size]byte]bool)
	var buf []byte
	for _, p := range parts {
		buf, _ = p.Table.AppendBinary(buf[:0])
		buf, _ = p.Grammar.AppendBinary(buf)
		seen[sha256.Sum256(buf)] = true
	}
	return len(seen)
}

// benchParts merges parts and reports the size of the file besides the time.
func benchParts(b *testing.B, run merge.Run, parts []merge.Part) {
	var file bytes.Buffer
	b.ReportAllocs()
	for b.Loop() {
		file.Reset()
		if err := merge.Write(&file, run, parts); err != nil {
			b.Fatal(err)
		}
	}
	trace, err := open(file.Bytes())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(parts)), "ns/part")
	b.ReportMetric(float64(file.Len()), "B/file")
	b.ReportMetric(float64(trace.Shapes()), "shapes")
	b.ReportMetric(float64(different(parts)), "different-parts")
	b.ReportMetric(0, "ns/op")
}

// tracesDir is where the shared traces are.
var tracesDir = filepath.Join("..", "..", "shared", "traces", "ti")

// sharedTraces returns the shared traces, and skips the test if there are none.
func sharedTraces(t testing.TB) []traceText {
	traces, err := readTraces(tracesDir)
	if err != nil {
		t.Skip("no traces: ", err)
	}
	return traces
}

// shippedTraces returns the traces in testdata.
func shippedTraces(b *testing.B) []traceText {
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
