package query

import (
	"testing"

	"github.com/reprise-trace/reprise/internal/programs"
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
}
