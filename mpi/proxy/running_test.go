//go:build linux

package proxy_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/internal/test/mpitest/recorded"
	"github.com/reprise-trace/reprise/mpi/proxy"
	"github.com/reprise-trace/reprise/trace"
)

// perCall is a number that is read from a table with one for each call.
var perCall = regexp.MustCompile(`\[next_`)

// TestRunning checks the proxy of loops whose arguments advance: it computes these from the indices of its
// loops, and makes the same calls, at addresses that are as far apart.
func TestRunning(t *testing.T) {
	source, err := filepath.Abs("testdata/running.c")
	if err != nil {
		t.Fatal(err)
	}
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		m.Parallel(t)
		program := filepath.Join(t.TempDir(), "running")
		if out, err := exec.Command(m.CC, "-o", program, source).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		record := func(program string) *trace.Trace {
			return recorded.Trace(t, m, func(o mpitest.Options) {
				o.Ranks, o.Limit = 4, limit
				if output := m.Run(t, o, program); output.Status != 0 {
					t.Fatalf("status %d: %s", output.Status, output.Rest)
				}
			})
		}
		run := record(program)
		checkSanitized(t, m, run)
		built, p := build(t, m, run)
		again := record(built)
		for rank := range run.Ranks() {
			compareCalls(t, rank, callTexts(t, run, rank), callTexts(t, again, rank), nil)
			compareCalls(t, rank, distances(t, run, rank), distances(t, again, rank), nil)
		}
		checkShort(t, p)
	})
}

// checkShort checks that a program has no numbers of calls.
func checkShort(t *testing.T, p *proxy.Program) {
	t.Helper()
	if main := p.Files[0].Text; p.Tables > 0 || p.Lines > 250 || perCall.MatchString(main) {
		t.Errorf("%d lines, and %d of tables:\n%s", p.Lines, p.Tables, main)
	}
}

// distances returns how far the addresses of calls of a rank are from the first one of the same argument in the
// same memory.
func distances(t *testing.T, tr *trace.Trace, rank int) []string {
	t.Helper()
	r, err := tr.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	first := make(map[string]int64)
	var list []string
	for call, err := range r.Calls(0) {
		if err != nil {
			t.Fatal(err)
		}
		text := call.Function.Name
		for i, p := range call.Function.Params {
			if p.Type.Kind != cst.KindPointer || p.Name == "argc" {
				continue
			}
			at := call.Args[i].Pointer().Displacement
			key := fmt.Sprint(call.Function.Name, p.Name, call.Args[i].Pointer().Segment)
			if _, ok := first[key]; !ok {
				first[key] = at
			}
			text += fmt.Sprintf(" %s+%d", p.Name, at-first[key])
		}
		list = append(list, text)
	}
	return list
}
