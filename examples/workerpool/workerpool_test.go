package main

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/reprise-trace/reprise/tracer"
)

// TestWorkerPool runs the pool by a clock that goes on when all goroutines sleep or wait: times are exact.
func TestWorkerPool(t *testing.T) {
	const want = `48 messages on 8 channels, 0 of them only sent or only received
receive(from=0, channel=1): 20 of 24 wait, 62.0 ms in all, 100 % of that for rank 0
receive(from=2, channel=0): 1 of 6 wait, 3.0 ms in all, 100 % of that for rank 2
receive(from=3, channel=0): 1 of 6 wait, 3.0 ms in all, 100 % of that for rank 3
receive(from=4, channel=0): 1 of 6 wait, 3.0 ms in all, 100 % of that for rank 4
receive(from=1, channel=0): 1 of 6 wait, 1.0 ms in all, 100 % of that for rank 1

as it was: 70ms
  rank 0 computes 60ms, waits 10ms
  rank 1 computes 50ms, waits 11ms
  rank 2 computes 50ms, waits 14ms
  rank 3 computes 50ms, waits 17ms
  rank 4 computes 50ms, waits 20ms
workers twice as fast: 65ms
  rank 0 computes 60ms, waits 5ms
  rank 1 computes 25ms, waits 35ms
  rank 2 computes 25ms, waits 35ms
  rank 3 computes 25ms, waits 37ms
  rank 4 computes 25ms, waits 40ms
dispatcher twice as fast: 56ms
  rank 0 computes 30ms, waits 26ms
  rank 1 computes 50ms, waits 1.5ms
  rank 2 computes 50ms, waits 3ms
  rank 3 computes 50ms, waits 4.5ms
  rank 4 computes 50ms, waits 6ms
`
	dir := t.TempDir()
	path := filepath.Join(dir, "pool.rpz")
	var recorded []*tracer.Process
	synctest.Test(t, func(*testing.T) { recorded = run(dir) })
	save(path, dir, recorded)
	var out strings.Builder
	show(&out, path)
	if out.String() != want {
		t.Errorf("printed\n%swant\n%s", &out, want)
	}
}
