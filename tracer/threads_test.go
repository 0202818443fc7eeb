package tracer

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/timing"
)

// TestCloseOfManyThreads checks that what Close allocates grows with the threads, and not with their square.
func TestCloseOfManyThreads(t *testing.T) {
	fn := Func(cst.Function{Name: "get", Params: []cst.Param{{Name: "bytes", Type: cst.Type{Kind: cst.KindInt}}}})
	closing := func(threads int) uint64 {
		p, err := Open(Config{Path: filepath.Join(t.TempDir(), "part.rpz"), Anonymous: true,
			Options: Options{Histograms: new(timing.HistogramOptions)}})
		if err != nil {
			t.Fatal(err)
		}
		for i := range threads {
			thread := p.Thread()
			thread.End(fn, thread.Begin(), cst.Int(int64(i%3)))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	const threads, each = 4000, 64 << 10 // bytes, with 100 MiB for a compressor
	if got := closing(threads); got > threads*each {
		t.Errorf("Close of %d threads allocates %d bytes", threads, got)
	}
}
