//go:build nightly

package trace

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/tracer"
)

// TestLargeProcesses records what is too large for readers by default, by way of a Process, and reads it.
func TestLargeProcesses(t *testing.T) {
	text := tracer.Func1[string]("text", "text")
	list := tracer.Func1[[]int64]("list", "numbers")
	for name, record := range map[string]struct {
		calls uint64
		make  func(*tracer.Thread)
	}{
		"one text of 17 MiB": {1, func(t *tracer.Thread) { text.End(t, t.Begin(), strings.Repeat("x", 17<<20)) }},
		"20 texts of 1 MiB": {20, func(t *tracer.Thread) {
			for i := range 20 {
				text.End(t, t.Begin(), fmt.Sprint(i)+strings.Repeat("x", 1<<20))
			}
		}},
		"an array of more values than there may be": {0, func(t *tracer.Thread) {
			list.End(t, t.Begin(), make([]int64, cst.MaxValues))
		}},
		"20 sparse arrays": {20, func(t *tracer.Thread) {
			for i := range 20 {
				numbers := make([]int64, 1<<20)
				numbers[i] = 1
				list.End(t, t.Begin(), numbers)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "part.rpz")
			process, err := tracer.Open(tracer.Config{Path: path, Anonymous: true})
			if err != nil {
				t.Fatal(err)
			}
			record.make(process.Thread())
			err = process.Close()
			large := new(format.MemoryError)
			switch errors.As(err, &large); {
			case err == nil:
				t.Fatal("no error")
			case record.calls == 0 && large.Need == 0:
				return
			}
			trace, err := Open(path, Options{Memory: int64(large.Need)})
			if err != nil {
				t.Fatal(err)
			}
			defer trace.Close()
			rank, err := trace.Rank(0)
			if err != nil || rank.Len() != record.calls {
				t.Errorf("%v, %v", rank, err)
			}
		})
	}
}
