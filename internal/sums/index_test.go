package sums

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/sequitur"
)

// TestSharedIndex makes sums of one grammar in several goroutines, which share an index that goes with them.
func TestSharedIndex(t *testing.T) {
	var b sequitur.Builder
	b.AppendRun(1, 5)
	b.Append(2)
	g := b.Finish()
	var all [8]*Measure
	var wait sync.WaitGroup
	for i := range all {
		wait.Go(func() { all[i] = Of(g).Measure(func(s sequitur.Symbol) uint64 { return uint64(s) }) })
	}
	wait.Wait()
	for _, m := range all {
		if m.index != all[0].index {
			t.Fatal("sums of one grammar have an index each")
		}
	}
	runtime.KeepAlive(&all)
	all = [8]*Measure{}
	entries := func() int {
		indexes.mu.Lock()
		defer indexes.mu.Unlock()
		return len(indexes.of)
	}
	for range 100 {
		if entries() == 0 {
			break
		}
		runtime.GC()
		time.Sleep(time.Millisecond) // for cleanups
	}
	if n := entries(); n > 0 {
		t.Errorf("%d indexes are held, of sums that are not", n)
	}
	if m := Of(g).Measure(func(sequitur.Symbol) uint64 { return 1 }); m.Total().Weight != 6 {
		t.Errorf("a sum of %d", m.Total().Weight)
	}
}
