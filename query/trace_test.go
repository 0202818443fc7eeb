package query

import (
	"bytes"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/programs"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/ti"
	"github.com/reprise-trace/reprise/tracer"
)

// openParts returns the trace of parts.
func openParts(t testing.TB, run merge.Run, parts []merge.Part) *reprise.Trace {
	t.Helper()
	var file bytes.Buffer
	if err := merge.Write(&file, run, parts); err != nil {
		t.Fatal(err)
	}
	trace, err := reprise.OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

func openProgram(t testing.TB, p programs.Program) *reprise.Trace {
	t.Helper()
	return openParts(t, p.Run(), p.Parts())
}

// realTraces returns the paths of SimGrid traces of real runs, and skips the test
// where there are none.
func realTraces(t testing.TB, patterns ...string) []string {
	t.Helper()
	var all []string
	for _, pattern := range patterns {
		paths, _ := filepath.Glob("../../shared/traces/" + pattern)
		all = append(all, paths...)
	}
	if len(all) == 0 {
		t.Skip("no traces in ../shared/traces from the project's root")
	}
	return all
}

// openTI returns the trace of a SimGrid trace.
func openTI(t testing.TB, path string) *reprise.Trace {
	t.Helper()
	ranks := make(map[int]*tracer.Recorder)
	for c := range tiCalls(t, path) {
		if ranks[c.Rank] == nil {
			ranks[c.Rank] = new(tracer.Recorder)
			for _, f := range ti.Functions() {
				ranks[c.Rank].Declare(f)
			}
		}
		ranks[c.Rank].Call(c.Function, c.Args...)
	}
	run := merge.Run{Source: ti.Source}
	var parts []merge.Part
	for _, rank := range slices.Sorted(maps.Keys(ranks)) {
		parts = append(parts, ranks[rank].Finish(rank))
		run.Ranks = rank + 1
	}
	return openParts(t, run, parts)
}

// tiCalls returns an iterator over the calls in a SimGrid trace.
func tiCalls(t testing.TB, path string) func(yield func(ti.Call) bool) {
	return func(yield func(ti.Call) bool) {
		in, err := ti.Open([]string{path}, ti.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		for {
			c, err := in.Read()
			if err == io.EOF {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !yield(c) {
				return
			}
		}
	}
}

// readRank reads a rank of a trace.
func readRank(t testing.TB, trace *reprise.Trace, rank int) *reprise.Rank {
	t.Helper()
	r, err := trace.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
