package cli

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// TestLimitHeap checks that there is a limit, until more than most of it is in use, and that the heap grows by a part
// then.
func TestLimitHeap(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "")
	t.Setenv("GOGC", "")
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	GrowHeapBy(50)
	defer GrowHeapBy(0)
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	const limit = 1 << 30
	LimitHeap(limit)
	for range 3 {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
	}
	if n := debug.SetMemoryLimit(-1); n != limit {
		t.Fatalf("the limit is %d", n)
	}
	debug.SetMemoryLimit(before)
	LimitHeap(1 << 20)
	held := make([]byte, 1<<20)
	for deadline := time.Now().Add(10 * time.Second); debug.SetMemoryLimit(-1) != math.MaxInt64; {
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
		if time.Now().After(deadline) {
			t.Fatal("the limit stays")
		}
	}
	runtime.KeepAlive(held)
	if percent := debug.SetGCPercent(100); percent != 50 {
		t.Errorf("the heap grows by %d %%", percent)
	}
}
