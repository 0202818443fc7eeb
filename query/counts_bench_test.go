package query

import (
	"context"
	"fmt"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/programs"
)

// BenchmarkCounts asks about 10⁹ calls of 1,024 ranks, and about 10⁶ calls of as many:
// the cost is that of the ranks.
func BenchmarkCounts(b *testing.B) {
	for _, size := range []struct {
		name   string
		rounds uint64
	}{{"calls=1e6", 100}, {"calls=1e9", 100_000}} {
		trace := openProgram(b, programs.Stencil2D(32, 32, size.rounds))
		model := openModel(b, trace)
		for _, query := range []struct {
			name string
			ask  func(ctx context.Context) error
		}{
			{"profile", func(ctx context.Context) error { _, err := OpenProfile(ctx, trace, Options{}); return err }},
			{"messages", func(ctx context.Context) error {
				_, err := OpenMessages(ctx, model, 0, Options{})
				return err
			}},
			{"matrix", func(ctx context.Context) error {
				_, err := OpenMessages(ctx, model, 256, Options{})
				return err
			}},
			{"diff", func(ctx context.Context) error {
				_, err := OpenDiff(ctx, trace, trace, DiffOptions{})
				return err
			}},
		} {
			b.Run(query.name+"/"+size.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := query.ask(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkExchanged asks about collective operations of many ranks, of which each pair
// exchanges data: of equal amounts, and of a different amount for each pair.
func BenchmarkExchanged(b *testing.B) {
	for _, p := range []programs.Program{
		programs.Stencil2D(32, 32, 100_000), programs.Stencil2D(128, 128, 100_000),
		programs.RandomAlltoallv(1024, 3, 1),
	} {
		model := openModel(b, openProgram(b, p))
		for _, bins := range []int{0, 512} {
			b.Run(fmt.Sprintf("program=%s/bins=%d", p.Name, bins), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := OpenMessages(b.Context(), model, bins, Options{}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
