package collect_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/mpi/internal/spool"
	"github.com/reprise-trace/reprise/mpi/interpose"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/trace"
)

func TestMain(m *testing.M) { os.Exit(mpitest.Main(m)) }

// elsewhere are programs whose recordings other tests compare with what they say themselves: that of
// numbers in cmd/reprise.
var elsewhere = []string{"slow.c", "numbers.c"}

// TestPrograms checks of each program with an MPI, with each in a nightly run, that it computes with a
// recorder what it computes without; that the trace has the calls that an independent counter counts, and is
// equal to the raw records, argument by argument; and that a second run makes the same bytes if it does the
// same, of each third program or of all in a nightly run.
func TestPrograms(t *testing.T) {
	var changed sync.Map
	mpitest.ForEach(t, func(t *testing.T, m *mpitest.MPI) {
		for i, p := range mpitest.Programs() {
			if !m.Turn(p.Name()) || !tier.Nightly && slices.Contains(elsewhere, p.Source) {
				continue
			}
			t.Run(p.Name(), func(t *testing.T) {
				m.Parallel(t)
				// Names of files are among the arguments.
				if i := slices.Index(p.Arguments, "DIRECTORY"); i >= 0 {
					p.Arguments = slices.Clone(p.Arguments)
					p.Arguments[i] = t.TempDir()
				}
				plain := m.RunProgram(t, p, mpitest.Options{})
				for rank, text := range plain.Ranks {
					if !p.Dies && !strings.HasSuffix(text, "end\n") {
						t.Errorf("rank %d printed %q", rank, text)
					}
				}
				first := record(t, m, p)
				compareOutputs(t, p, first.output, plain)
				compareCounts(t, p, first)
				if n, err := collect.Compare(context.Background(), first.spool,
					callsOf(t, first.trace)); err != nil || n != first.summary.Calls {
					t.Errorf("%d of %d calls are as recorded: %v", n, first.summary.Calls, err)
				}
				checkAllocations(t, first)
				checkPolls(t, first)
				if slices.Contains([]string{"threads.c", "waits.c", "many.c"}, p.Source) {
					checkOwnRequests(t, first.trace)
				}
				if p.Source == "unasked.c" {
					checkSenders(t, first.trace)
				}
				if !p.Dies && p.Source != "switch.c" { // which does not record all messages
					checkMatch(t, first)
				}
				if p.Dies != (len(first.summary.Unfinished) > 0) {
					t.Errorf("without MPI_Finalize: %v", first.summary.Unfinished)
				}
				if m == mpitest.Installed(t)[0] && !p.Dies && first.summary.Calls < 3000 {
					checkCompare(t, first, &changed)
				}
				if p.Varies || i%tier.Number(3, 1) > 0 {
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

func compareOutputs(t *testing.T, p mpitest.Program, got, want *mpitest.Output) {
	t.Helper()
	// If several ranks die, any of them may be the one that the launcher tells of.
	if got.Status != want.Status && !p.Dies {
		t.Errorf("exit status %d, without the recorder %d\n%s", got.Status, want.Status, got.Rest)
	}
	for rank := range want.Ranks {
		if got.Ranks[rank] != want.Ranks[rank] {
			t.Errorf("rank %d printed\n%s\nand without the recorder\n%s", rank, got.Ranks[rank], want.Ranks[rank])
		}
	}
}

// compareCounts compares the calls in a trace with those that were counted. A counter
// counts calls as they begin: of those that a rank has died in, the trace has the outermost.
func compareCounts(t *testing.T, p mpitest.Program, r *recording) {
	t.Helper()
	recorded := countsOf(t, r.trace)
	if len(recorded) != len(r.output.Ranks) {
		t.Errorf("%d ranks are in the trace, want %d", len(recorded), len(r.output.Ranks))
	}
	for rank, functions := range recorded {
		for name, want := range p.Calls {
			if functions[name] != want {
				t.Errorf("rank %d: %d calls of %s are in the trace, want %d", rank, functions[name], name, want)
			}
		}
	}
	if p.Dies {
		addUnfinished(t, recorded, r.spool)
	}
	for _, line := range recorded.Differences(r.counts) {
		t.Error("calls in the trace and counted:", line)
	}
}

// addUnfinished adds the calls in a spool that have not returned and are inside others.
func addUnfinished(t *testing.T, counts mpitest.Counts, directory string) {
	t.Helper()
	threads, err := spool.List(directory)
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		reader := thread.Open()
		for err == nil {
			_, err = reader.Next()
		}
		if !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		err = nil
		for r := range reader.Decoder().Unfinished() {
			if r.Depth > 0 {
				counts.Add(reader.Decoder().Header().Rank, spec.Functions()[r.Function].Name, 1)
			}
		}
	}
}

type recording struct {
	spool   string
	output  *mpitest.Output
	counts  mpitest.Counts
	summary collect.Summary
	file    []byte
	trace   *trace.Trace
}

// record records a run of a program.
func record(t *testing.T, m *mpitest.MPI, p mpitest.Program) *recording {
	t.Helper()
	return recordSites(t, m, p, "caller")
}

// recordSites records a run of a program with sites of some kind.
func recordSites(t *testing.T, m *mpitest.MPI, p mpitest.Program, sites string) *recording {
	t.Helper()
	library, err := interpose.Build(t.Context(), m.CC, mpitest.Cache(), nil)
	if err != nil {
		t.Fatal(err)
	}
	spool, counts := t.TempDir(), t.TempDir()
	output := m.RunProgram(t, p, mpitest.Options{
		Preload: []string{m.Counter(t), library.Path},
		Env:     []string{"REPRISE_SPOOL=" + spool, "REPRISE_SITES=" + sites, mpitest.CountIn(counts)},
	})
	r := collectRun(t, spool, counts)
	r.output = output
	return r
}

// checkAllocations collects the records again, with what became of memory, and compares that.
func checkAllocations(t *testing.T, r *recording) {
	t.Helper()
	c, err := collect.New(r.spool, collect.Options{Untimed: true, Keep: true, Allocations: true})
	if err != nil {
		t.Fatal(err)
	}
	a, s, err := c.Finish(t.Context())
	if err != nil || s.Problems != nil {
		t.Fatal(err, s.Problems)
	}
	_, tr := written(t, a)
	if n, err := collect.CompareAllocations(t.Context(), r.spool, callsOf(t, tr)); err != nil ||
		n != s.Calls || n < r.summary.Calls {
		t.Errorf("with allocations, %d of %d calls are as recorded: %v", n, s.Calls, err)
	}
}

// collectRun makes a trace of a spool, and reads what was counted.
func collectRun(t *testing.T, spool, counts string) *recording {
	t.Helper()
	var err error
	r := &recording{spool: spool}
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
	r.summary = s
	r.file, r.trace = written(t, a)
	return r
}

// written returns the bytes of a trace and the trace in them.
func written(t *testing.T, a *merge.Accumulator) ([]byte, *trace.Trace) {
	t.Helper()
	var file bytes.Buffer
	if err := a.Write(&file); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()), trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return file.Bytes(), tr
}

// countsOf returns the numbers of calls in a trace.
func countsOf(t *testing.T, tr *trace.Trace) mpitest.Counts {
	counts := make(mpitest.Counts)
	for rank := range tr.Ranks() {
		for f := range callsOf(t, tr)(rank) {
			counts.Add(rank, f.Name, 1)
		}
	}
	return counts
}

func callsOf(t *testing.T, tr *trace.Trace) func(rank int) collect.Calls {
	return func(rank int) collect.Calls {
		r, err := tr.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		return func(yield func(*cst.Function, []cst.Value) bool) {
			for c := range r.Calls(0) {
				if !yield(c.Function, c.Args) {
					return
				}
			}
		}
	}
}

// checkOwnRequests checks of a program, each of whose threads waits for what it has
// begun, that the trace says so.
func checkOwnRequests(t *testing.T, tr *trace.Trace) {
	t.Helper()
	for rank := range tr.Ranks() {
		makers := make(map[int64]int64) // threads, by request
		others := 0
		for f, args := range callsOf(t, tr)(rank) {
			thread := int64(0)
			for i, p := range f.Params {
				switch {
				case p.Name == "thread":
					thread = args[i].Int()
				case p.Name == "request" && p.Direction == cst.Out:
					makers[args[i].Int()] = thread
				case p.Name == "request" && makers[args[i].Int()] != thread:
					others++
				case p.Name == "array_of_requests":
					for k := range args[i].Len() {
						if makers[args[i].Index(k).Int()] != thread {
							others++
						}
					}
				}
			}
		}
		if others > 0 {
			t.Errorf("rank %d: %d times, a call is given a request that another thread made", rank, others)
		}
	}
}

// checkSenders checks that a trace has the sender and the tag of each message that the
// program received with a wildcard, though it asked for no status.
func checkSenders(t *testing.T, tr *trace.Trace) {
	t.Helper()
	model, err := semantics.Open(context.Background(), tr)
	if err != nil {
		t.Fatal(err)
	}
	rank, err := model.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	n, ordered := 0, 0
	for call, err := range rank.Calls(0) {
		if err != nil {
			t.Fatal(err)
		}
		o := rank.At(call.Position, call.Terminal)
		if o == nil {
			continue
		}
		for _, m := range o.Messages {
			switch {
			case m.Direction != semantics.Receive:
			case m.Tag >= 1000:
				if m.Tag != int64(1000+ordered%3) || m.Peer != 1+ordered/3 {
					t.Errorf("%v: of rank %d with tag %d", call, m.Peer, m.Tag)
				}
				ordered++
			default:
				if n++; m.Peer != 1+int(m.Tag)%(tr.Ranks()-1) {
					t.Errorf("%v: of rank %d with tag %d", call, m.Peer, m.Tag)
				}
			}
		}
	}
	if n != 5*109 || ordered != 3*(tr.Ranks()-1) {
		t.Errorf("%d and %d messages", n, ordered)
	}
}

// firstDifference tells of the first calls of each rank that differ.
func firstDifference(t *testing.T, a, b *trace.Trace) {
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
