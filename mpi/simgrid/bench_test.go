package simgrid

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// benchTraces are the traces of the benchmarks: real ones, which may be missing,
// and generated ones with a fixed seed.
var benchTraces = []struct {
	name string
	text func(b *testing.B) []byte
}{
	{"LU", func(b *testing.B) []byte { // 64 ranks, one after the other
		path := filepath.Join(traces, "ti", "lu.W.64.ti.zst")
		if _, err := os.Stat(path); err != nil {
			b.Skip("no trace: ", err)
		}
		return decompressed(b, path)
	}},
	{"Loop", func(*testing.B) []byte { return generated(64, 4000, false) }},
	{"Interleaved", func(*testing.B) []byte { return generated(64, 4000, true) }},
	{"Noise", func(*testing.B) []byte { // no line occurs twice
		r := rand.New(rand.NewPCG(1, 2))
		var text []byte
		for i := range 200_000 {
			text = fmt.Appendf(text, "%d compute %.6g\n", i%64, 1e6*r.ExpFloat64())
		}
		return text
	}},
}

// generated returns the text of a loop of 4 calls in every rank, with the lines of
// the ranks one after the other or in turn.
func generated(ranks, iterations int, interleaved bool) []byte {
	var text []byte
	lines := func(rank, i int) {
		peer := (rank + 1) % ranks
		text = fmt.Appendf(text, "%d isend %d %d 1200 0\n", rank, peer, i%4)
		text = fmt.Appendf(text, "%d recv %d %d 1200 0\n", rank, (rank+ranks-1)%ranks, i%4)
		text = fmt.Appendf(text, "%d wait %d %d %d\n", rank, rank, peer, i%4)
		text = fmt.Appendf(text, "%d allreduce 1 0 0 \n", rank)
	}
	if interleaved {
		for i := range iterations {
			for rank := range ranks {
				lines(rank, i)
			}
		}
		return text
	}
	for rank := range ranks {
		for i := range iterations {
			lines(rank, i)
		}
	}
	return text
}

// perEvent reports the time per line of the loop that just ended.
func perEvent(b *testing.B, events int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*events), "ns/event")
	b.ReportMetric(0, "ns/op")
}

func BenchmarkRead(b *testing.B) {
	for _, bt := range benchTraces {
		b.Run("trace="+bt.name, func(b *testing.B) {
			text := bt.text(b)
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			n := 0
			for b.Loop() {
				r := NewReader(bytes.NewReader(text), Options{})
				for n = 0; ; n++ {
					if _, err := r.Read(); err == io.EOF {
						break
					} else if err != nil {
						b.Fatal(err)
					}
				}
			}
			perEvent(b, n)
		})
	}
}

// BenchmarkRecord is for -cpu 1,2 too: ranks are recorded while the next lines are read.
func BenchmarkRecord(b *testing.B) {
	for _, bt := range benchTraces {
		b.Run("trace="+bt.name, func(b *testing.B) {
			text := bt.text(b)
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			n := 0
			for b.Loop() {
				r := NewReader(bytes.NewReader(text), Options{})
				if _, err := ReadRanks(r, nil); err != nil {
					b.Fatal(err)
				}
				n = int(r.Stats().Calls)
			}
			perEvent(b, n)
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	for _, bt := range benchTraces {
		b.Run("trace="+bt.name, func(b *testing.B) {
			text := bt.text(b)
			calls := readAll(b, NewReader(bytes.NewReader(text), Options{}))
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				w := NewWriter(io.Discard)
				for _, c := range calls {
					if err := w.Write(c); err != nil {
						b.Fatal(err)
					}
				}
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
			}
			perEvent(b, len(calls))
		})
	}
}
