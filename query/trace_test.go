package query

import (
	"context"
	"io"
	"maps"
	"path/filepath"
	"slices"

	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/simgrid"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// A tester is a test, or a property under test.
type tester interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
	Errorf(string, ...any)
	Skip(...any)
	Context() context.Context
}

// openParts returns the trace of parts.
func openParts(t tester, run merge.Run, parts []merge.Part) *trace.Trace {
	t.Helper()
	return testtrace.Write(t, run, parts)
}

func openProgram(t tester, p programs.Program) *trace.Trace {
	t.Helper()
	return openParts(t, p.Run(), p.Parts())
}

// realTraces returns the paths of SimGrid traces of real runs, and skips the test
// where there are none.
func realTraces(t tester, patterns ...string) []string {
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
func openTI(t tester, path string) *trace.Trace {
	t.Helper()
	ranks := make(map[int]*tracer.Recorder)
	for c := range tiCalls(t, path) {
		if ranks[c.Rank] == nil {
			ranks[c.Rank] = new(tracer.Recorder)
			for _, f := range simgrid.Functions() {
				ranks[c.Rank].Declare(f)
			}
		}
		ranks[c.Rank].Call(c.Function, c.Args...)
	}
	run := merge.Run{Source: simgrid.Source}
	var parts []merge.Part
	for _, rank := range slices.Sorted(maps.Keys(ranks)) {
		parts = append(parts, ranks[rank].Finish(rank))
		run.Ranks = rank + 1
	}
	return openParts(t, run, parts)
}

// openText returns the trace of a SimGrid trace that is a text.
func openText(t tester, text string) *trace.Trace {
	t.Helper()
	return testtrace.TI(t, text)
}

// tiCalls returns an iterator over the calls in a SimGrid trace.
func tiCalls(t tester, path string) func(yield func(simgrid.Call) bool) {
	return func(yield func(simgrid.Call) bool) {
		in, err := simgrid.Open([]string{path}, simgrid.Options{})
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
func readRank(t tester, tr *trace.Trace, rank int) *trace.Rank {
	t.Helper()
	r, err := tr.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
