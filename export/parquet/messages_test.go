package parquet_test

import (
	"io"
	"runtime"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/tier"

	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/parquet"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
)

// TestMessagesMemory checks that what is held does not grow with the number of messages, once
// there are all buffers, of two groups of rows.
func TestMessagesMemory(t *testing.T) {
	tier.Long(t, "4·10⁶ messages")
	p := programs.Stencil2D(2, 2, 500_000)
	trace := testtrace.Write(t, p.Run(), p.Parts())
	var second, last, n uint64
	groups := 0
	err := parquet.Write(t.Context(), io.Discard, trace,
		export.TableOptions{By: export.Messages, Options: export.Options{Progress: func(rows uint64) error {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			if groups++; groups == 2 {
				second = m.HeapAlloc
			}
			last, n = m.HeapAlloc, rows
			return nil
		}}})
	if err != nil {
		t.Fatal(err)
	}
	if n != 8*500_000 || groups < 8 || last > second+second/8 || last > 200<<20 {
		t.Errorf("%d bytes are held after %d messages, %d after the second of %d groups", last, n, second, groups)
	}
}

func BenchmarkMessages(b *testing.B) {
	p := programs.Stencil2D(4, 4, 5_000)
	trace := testtrace.Write(b, p.Run(), p.Parts())
	var n uint64
	o := export.TableOptions{By: export.Messages, Options: export.Options{Progress: func(rows uint64) error {
		n = rows
		return nil
	}}}
	for b.Loop() {
		if err := parquet.Write(b.Context(), io.Discard, trace, o); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/message")
}
