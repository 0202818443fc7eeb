package parquet_test

import (
	"io"
	"runtime"
	"testing"

	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/parquet"
	"github.com/reprise-trace/reprise/internal/programs"
	"github.com/reprise-trace/reprise/internal/testtrace"
)

// TestMessagesMemory checks that what is held does not grow with the number of messages.
func TestMessagesMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("short: 2·10⁶ messages")
	}
	p := programs.Stencil2D(2, 2, 250_000)
	trace := testtrace.Write(t, p.Run(), p.Parts())
	var first, last, n uint64
	err := parquet.Write(t.Context(), io.Discard, trace, export.TableOptions{By: export.Messages, Options: export.Options{Progress: func(rows uint64) error {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		if first == 0 {
			first = m.HeapAlloc
		}
		last, n = m.HeapAlloc, rows
		return nil
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if n != 8*250_000 || last > first+first/4+8<<20 || last > 200<<20 {
		t.Errorf("%d bytes are held after %d messages, %d after the first group", last, n, first)
	}
}

func BenchmarkMessages(b *testing.B) {
	p := programs.Stencil2D(4, 4, 5_000)
	trace := testtrace.Write(b, p.Run(), p.Parts())
	var n uint64
	o := export.TableOptions{By: export.Messages, Options: export.Options{Progress: func(rows uint64) error { n = rows; return nil }}}
	for b.Loop() {
		if err := parquet.Write(b.Context(), io.Discard, trace, o); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/message")
}
