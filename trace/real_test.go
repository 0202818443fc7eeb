package trace

import (
	"bytes"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/simgrid"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/tracer"
)

// TestRealTraces checks every call of real runs, in the order of the source, and
// of the last rank.
func TestRealTraces(t *testing.T) {
	for _, pattern := range []string{"ti/*.16.ti.zst", "ti/mg.S.16.compute.ti.zst", "kinds/*.ti.txt"} {
		paths, _ := filepath.Glob("../../shared/traces/" + pattern)
		if len(paths) == 0 {
			t.Skip("no traces in ../shared/traces/" + pattern)
		}
		for _, path := range tier.Some(paths, 3) {
			t.Run(filepath.Base(path), func(t *testing.T) { testRealTrace(t, path) })
		}
	}
}

func testRealTrace(t *testing.T, path string) {
	file := recordTI(t, path)
	trace := openBytes(t, file)
	in := openTI(t, path)
	functions := simgrid.Functions()
	calls := readCalls(t, trace.Calls(0))
	var last []Call // of the last rank
	for n := 0; ; n++ {
		want, err := in.Read()
		got, err2 := calls.Read()
		if err == io.EOF && err2 == io.EOF {
			break
		}
		if err != nil || err2 != nil {
			t.Fatalf("call %d: %v, %v", n, err, err2)
		}
		if got.Rank != want.Rank || !got.Function.Equal(functions[want.Function]) ||
			!slices.EqualFunc(got.Args, want.Args, cst.Value.Equal) {
			t.Fatalf("call %d is %v of rank %d, want %s of rank %d", n, got, got.Rank,
				cst.AppendCall(nil, functions[want.Function], want.Args), want.Rank)
		}
		if got.Rank == trace.Ranks()-1 {
			last = append(last, got)
		}
	}
	r := readRank(t, trace, trace.Ranks()-1)
	if r.Len() != uint64(len(last)) {
		t.Fatalf("%d calls of the last rank, want %d", r.Len(), len(last))
	}
	for c, err := range r.Calls(0) {
		if err != nil {
			t.Fatal(err)
		}
		i := c.Position
		if c.Terminal != last[i].Terminal {
			t.Fatalf("call %d of the last rank is %v, want %v", i, c, last[i])
		}
	}
	t.Logf("%d bytes of text in %d bytes", in.Stats().Bytes, len(file))
}

func openTI(t *testing.T, path string) *simgrid.Reader {
	t.Helper()
	in, err := simgrid.Open([]string{path}, simgrid.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	return in
}

// recordTI returns the trace of the calls in a SimGrid trace.
func recordTI(t *testing.T, path string) []byte {
	t.Helper()
	var order sequitur.Builder
	ranks := make(map[int]*tracer.Recorder)
	for in := openTI(t, path); ; {
		c, err := in.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if ranks[c.Rank] == nil {
			ranks[c.Rank] = new(tracer.Recorder)
			for _, f := range simgrid.Functions() {
				ranks[c.Rank].Declare(f)
			}
		}
		ranks[c.Rank].Call(c.Function, c.Args...)
		order.Append(sequitur.Symbol(c.Rank))
	}
	run := merge.Run{Source: "ti", Interleaving: order.Finish()}
	var parts []merge.Part
	for _, rank := range slices.Sorted(maps.Keys(ranks)) {
		parts = append(parts, ranks[rank].Finish(rank))
		run.Ranks = rank + 1
	}
	var file bytes.Buffer
	if err := merge.Write(&file, run, parts); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}
