package query

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/trace"
)

// writeProgram writes the trace of a program to a file, and returns its path.
func writeProgram(b testing.TB, p programs.Program) string {
	b.Helper()
	var a merge.Accumulator
	if err := a.Describe(p.Run()); err != nil {
		b.Fatal(err)
	}
	for rank := range p.Ranks {
		if err := a.Add(p.Part(rank)); err != nil {
			b.Fatal(err)
		}
	}
	path := filepath.Join(b.TempDir(), "trace.rpz")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	if err := a.Write(f); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkTimes asks a trace of 10⁹ calls of 1,024 ranks, from opening it on.
func BenchmarkTimes(b *testing.B) {
	path := writeProgram(b, programs.Stencil2D(32, 32, 100_500).Timed())
	ctx := context.Background()
	for _, q := range []struct {
		name string
		ask  func(*Times) error
	}{
		{"At", func(t *Times) error {
			_, err := t.At(ctx, 1e9, Options{})
			return err
		}},
		{"Activity", func(t *Times) error {
			_, err := t.Activity(ctx, 1e9, 2e9, Options{})
			return err
		}},
		{"Imbalance", func(t *Times) error {
			_, err := t.Imbalance()
			return err
		}},
		{"Loops", func(t *Times) error {
			_, err := t.ShapeLoops(0)
			return err
		}},
	} {
		b.Run("query="+q.name, func(b *testing.B) {
			b.ReportAllocs()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			calls := uint64(0)
			for b.Loop() {
				tr, err := trace.Open(path, trace.Options{})
				if err != nil {
					b.Fatal(err)
				}
				t, err := OpenTimes(tr)
				if err == nil {
					err = q.ask(t)
				}
				if err != nil {
					b.Fatal(err)
				}
				calls = 0
				for number := range tr.Shapes() {
					s, _ := tr.Shape(number)
					calls += s.Grammar.Len() * uint64(s.Ranks.Len())
				}
				tr.Close()
			}
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(calls), "calls")
			b.ReportMetric(float64(after.Sys)/1e6, "MB")
		})
	}
}

// BenchmarkFind searches a clock of a rank in time: with 1,000 times as many calls the
// search takes as many steps.
func BenchmarkFind(b *testing.B) {
	for _, iterations := range []uint64{1e3, 1e6, 1e9, 1e12} {
		b.Run(fmt.Sprintf("iterations=%.0e", float64(iterations)), func(b *testing.B) {
			tr, err := trace.Open(writeProgram(b, programs.Stencil2D(3, 3, iterations).Timed()), trace.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer tr.Close()
			c := openClock(b, tr, 4)
			_, end, err := c.Span()
			if err != nil {
				b.Fatal(err)
			}
			at := int64(0)
			for b.Loop() {
				if _, err := c.At(at % end); err != nil {
					b.Fatal(err)
				}
				at += end/7 + 1
			}
		})
	}
}

// BenchmarkCalls reads the calls of a rank by an estimated clock.
func BenchmarkCalls(b *testing.B) {
	tr, err := trace.Open(writeProgram(b, programs.Stencil2D(3, 3, 100_000).Timed()), trace.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer tr.Close()
	c := openClock(b, tr, 4)
	for b.Loop() {
		for range c.Calls(0) {
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(uint64(b.N)*c.rank.Len()), "ns/call")
	b.ReportMetric(0, "ns/op")
}
