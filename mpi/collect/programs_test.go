package collect_test

import (
	"bytes"
	"context"
	"iter"
	"os"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/mpitest"
	"github.com/reprise-trace/reprise/mpi"
	"github.com/reprise-trace/reprise/mpi/collect"
)

func TestMain(m *testing.M) { os.Exit(mpitest.Main(m)) }

// TestPrograms checks, of each program with each MPI, that the trace has the calls
// that an independent counter counts, that it is equal to the raw records, argument
// by argument, and that a second run makes the same bytes if it does the same.
func TestPrograms(t *testing.T) {
	mpitest.ForEach(t, func(t *testing.T, m *mpitest.MPI) {
		for _, p := range mpitest.Programs() {
			t.Run(p.Name(), func(t *testing.T) {
				// Names of files are among the arguments.
				if i := slices.Index(p.Arguments, "DIRECTORY"); i >= 0 {
					p.Arguments = slices.Clone(p.Arguments)
					p.Arguments[i] = t.TempDir()
				}
				first := record(t, m, p)
				if lines := first.counts.Differences(countsOf(t, first.trace)); len(lines) > 0 && !p.Dies {
					t.Errorf("counted, and in the trace: %q", lines)
				}
				if n, err := collect.Compare(context.Background(), first.spool, callsOf(t, first.trace)); err != nil || n != first.summary.Calls {
					t.Errorf("%d of %d calls are as recorded: %v", n, first.summary.Calls, err)
				}
				if p.Dies != (len(first.summary.Unfinished) > 0) {
					t.Errorf("without MPI_Finalize: %v", first.summary.Unfinished)
				}
				if p.Varies {
					return
				}
				if second := record(t, m, p); !bytes.Equal(first.file, second.file) {
					t.Errorf("a second run makes %d bytes, not the same %d", len(second.file), len(first.file))
					firstDifference(t, first.trace, second.trace)
				}
			})
		}
	})
}

type recording struct {
	spool   string
	counts  mpitest.Counts
	summary collect.Summary
	file    []byte
	trace   *reprise.Trace
}

// record records a run of a program.
func record(t *testing.T, m *mpitest.MPI, p mpitest.Program) *recording {
	t.Helper()
	library, err := mpi.BuildInterposer(t.Context(), m.CC, mpitest.Cache())
	if err != nil {
		t.Fatal(err)
	}
	r := &recording{spool: t.TempDir()}
	counts := t.TempDir()
	m.RunProgram(t, p, mpitest.Options{
		Preload: []string{m.Counter(t), library.Path},
		Env:     []string{"REPRISE_SPOOL=" + r.spool, mpitest.CountIn(counts)},
	})
	if r.counts, err = mpitest.ReadCounts(counts); err != nil {
		t.Fatal(err)
	}
	c, err := collect.New(r.spool, collect.Options{Untimed: true, Keep: true})
	if err != nil {
		t.Fatal(err)
	}
	a, s, err := c.Finish(t.Context())
	if err != nil || s.Problems != nil {
		t.Fatal(err, s.Problems)
	}
	var file bytes.Buffer
	if err := a.Write(&file); err != nil {
		t.Fatal(err)
	}
	r.summary, r.file = s, file.Bytes()
	if r.trace, err = reprise.OpenReader(bytes.NewReader(r.file), int64(len(r.file))); err != nil {
		t.Fatal(err)
	}
	return r
}

// countsOf returns the numbers of calls in a trace.
func countsOf(t *testing.T, trace *reprise.Trace) mpitest.Counts {
	counts := make(mpitest.Counts)
	for rank := range trace.Ranks() {
		for f := range callsOf(t, trace)(rank) {
			counts.Add(rank, f.Name, 1)
		}
	}
	return counts
}

func callsOf(t *testing.T, trace *reprise.Trace) func(rank int) collect.Calls {
	return func(rank int) collect.Calls {
		r, err := trace.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		return func(yield func(*cst.Function, []cst.Value) bool) {
			for _, c := range r.Calls() {
				if !yield(c.Function, c.Args) {
					return
				}
			}
		}
	}
}

// firstDifference tells of the first calls of each rank that differ.
func firstDifference(t *testing.T, a, b *reprise.Trace) {
	for rank := range a.Ranks() {
		next, stop := iter.Pull2(callsOf(t, b)(rank))
		defer stop()
		for f, args := range callsOf(t, a)(rank) {
			g, other, ok := next()
			x, y := string(cst.AppendCall(nil, *f, args)), "nothing"
			if ok {
				y = string(cst.AppendCall(nil, *g, other))
			}
			if x != y {
				t.Errorf("rank %d: %s, then %s", rank, x, y)
				break
			}
		}
	}
}
