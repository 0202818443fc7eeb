package query

import (
	"testing"

	"github.com/reprise-trace/reprise/internal/test/programs"
)

// BenchmarkMatch matches all messages and collective operations of a stencil of 1,024 ranks
// with 10⁹ calls, and of one message after the other.
func BenchmarkMatch(b *testing.B) {
	trace := openProgram(b, programs.Stencil2D(32, 32, 100_000))
	model := openModel(b, trace)
	b.Run("Open", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if m, err := OpenMatch(b.Context(), model, Options{}); err != nil || len(m.Unmatched) > 0 {
				b.Fatal(m, err)
			}
		}
	})
	m := openMatch(b, trace)
	b.Run("Partner", func(b *testing.B) {
		position := uint64(0)
		for b.Loop() {
			position = (position + 12347) % 900_000
			if _, err := m.Partner(33, position); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Numbers", func(b *testing.B) {
		numbering, err := OpenNumbering(b.Context(), model, Options{})
		if err != nil {
			b.Fatal(err)
		}
		r, err := trace.Rank(33)
		if err != nil {
			b.Fatal(err)
		}
		numbers, err := numbering.Of(b.Context(), r, 33)
		if err != nil {
			b.Fatal(err)
		}
		position := uint64(0)
		walk := r.Walk(0)
		run := walk.Next()
		for b.Loop() {
			if run.Count == 0 {
				if run = walk.Next(); run.Count == 0 {
					position, walk = 0, r.Walk(0)
					run = walk.Next()
				}
			}
			numbers.At(position, run.Symbol)
			position++
			run.Count--
		}
	})
}
