package tracer

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/trace"
)

// TestLargeArguments records arguments that readers refuse by default, and more values than a call may have.
func TestLargeArguments(t *testing.T) {
	before := wire.LeastMemory
	wire.LeastMemory = 1 << 20
	defer func() { wire.LeastMemory = before }()
	path := filepath.Join(t.TempDir(), "part.rpz")
	process, err := Open(Config{Path: path, Anonymous: true})
	if err != nil {
		t.Fatal(err)
	}
	text, lists := Func1[string]("text", "text"), Func(cst.Function{Name: "lists", Params: []cst.Param{
		{Name: "lists", Type: cst.ArrayOf(cst.ArrayOf(cst.Type{Kind: cst.KindInt}))},
	}})
	thread := process.Thread()
	text.End(thread, thread.Begin(), strings.Repeat("x", 1<<20))
	some := make([]cst.Value, 1<<8)
	for i := range some {
		some[i] = cst.Numbers(cst.KindInt, make([]int64, 1<<16))
	}
	thread.End(lists, thread.Begin(), cst.Array(some...))
	err = process.Close()
	large := new(format.MemoryError)
	if !errors.As(err, &large) || !strings.Contains(err.Error(), path) ||
		!strings.Contains(err.Error(), "1 calls or declarations left out") {
		t.Fatalf("Close: %v", err)
	}
	if _, err := trace.Open(path, trace.Options{}); !errors.As(err, new(*format.MemoryError)) {
		t.Errorf("Open: %v", err)
	}
	tr, err := trace.Open(path, trace.Options{Memory: int64(large.Need)})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	if rank, err := tr.Rank(0); err != nil || rank.Len() != 1 {
		t.Errorf("%v, %v", rank, err)
	}
}
