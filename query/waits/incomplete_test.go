package waits_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query/waits"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// A script is the calls of a rank, one µs each, a µs after the other.
type script struct {
	calls []testtrace.Call
	now   int64
}

// call makes a call that takes some µs.
func (s *script) call(takes int64, name string, pairs ...any) {
	c := testtrace.MPICall(name, pairs...)
	c.Start, c.Duration = s.now, takes*1000
	s.now += (takes + 1) * 1000
	s.calls = append(s.calls, c)
}

// recorded returns the trace of the ranks below ranks that have a script.
func recorded(t tester, run merge.Run, o tracer.Options, scripts map[int]*script) *trace.Trace {
	t.Helper()
	var parts []merge.Part
	for rank := range run.Ranks {
		if scripts[rank] == nil {
			continue
		}
		r := must.Get(tracer.New(o))
		for _, c := range scripts[rank].calls {
			r.CallAt(r.Declare(c.Function), c.Start, c.Duration, c.Args...)
		}
		parts = append(parts, r.Finish(rank))
	}
	return testtrace.Write(t, run, parts)
}

// late returns scripts of two ranks, of which rank 1 waits 9 µs for a message of rank 0.
func late() map[int]*script {
	a, b := new(script), new(script)
	a.now = 10_000
	a.call(1, "MPI_Send", message("dest", 1, 1)...)
	b.now = 1000
	b.call(10, "MPI_Recv", message("source", 0, 1)...)
	return map[int]*script{0: a, 1: b}
}

// TestIncomplete checks that what is not known is counted, and makes nobody wait.
func TestIncomplete(t *testing.T) {
	for _, tt := range []struct {
		name                        string
		ranks                       int
		change                      func(s map[int]*script)
		wait                        float64 // µs
		unknown, outside, unmatched uint64
	}{
		{"Complete", 2, func(map[int]*script) {}, 9, 0, 0, 0},
		{"RanksAreMissing", 4, func(s map[int]*script) { // and nobody waits for them
			s[1].call(50, "MPI_Recv", message("source", 3, 1)...)
			s[1].call(50, "MPI_Barrier", "comm", world)
			s[0].call(1, "MPI_Send", message("dest", 3, 1)...)
			s[0].call(10, "MPI_Barrier", "comm", world)
		}, 9, 0, 4, 0},
		{"NeverSent", 2, func(s map[int]*script) { // which concerns no other channel
			s[1].call(30, "MPI_Recv", message("source", 0, 2)...)
			s[1].call(1, "MPI_Recv", message("source", 0, 1)...)
			s[0].now += 5000
			s[0].call(1, "MPI_Send", message("dest", 1, 1)...)
		}, 9, 0, 0, 1},
		{"SentLater", 2, func(s map[int]*script) { // what is received was not recorded
			s[1].call(1, "MPI_Recv", message("source", 0, 2)...)
			s[0].now += 100_000
			s[0].call(1, "MPI_Send", message("dest", 1, 2)...)
		}, 9, 0, 0, 0},
		{"NotAll", 2, func(s map[int]*script) {
			s[1].call(30, "MPI_Barrier", "comm", world)
			s[1].call(1, "MPI_Recv", message("source", 0, 3)...)
			s[0].call(1, "MPI_Send", message("dest", 1, 3)...)
		}, 9, 0, 0, 1},
		{"AnySource", 2, func(s map[int]*script) { // of which no status tells
			s[0].now += 50_000
			s[1].call(100, "MPI_Recv", "count", 1, "datatype", "MPI_BYTE", "source", "MPI_ANY_SOURCE", "tag",
				7, "comm", world)
			s[0].call(1, "MPI_Send", message("dest", 1, 7)...)
		}, 9, 1, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := late()
			tt.change(s)
			tr := recorded(t, merge.Run{Ranks: tt.ranks}, exact, s)
			run, err := waits.Open(t.Context(), must.Get(semantics.Open(t.Context(), tr)), waits.Options{})
			if err != nil || float64(run.Wait) != tt.wait*1000 || run.Unknown != tt.unknown ||
				run.Outside != tt.outside || run.Unmatched != tt.unmatched {
				t.Errorf("%+v, %v, not %+v", run, err, tt)
			}
		})
	}
}

// TestLacksReceives has messages that nobody receives: few of many, and all.
func TestLacksReceives(t *testing.T) {
	for _, received := range []int{0, 200} {
		s := late()
		for range received {
			s[0].call(1, "MPI_Send", message("dest", 1, 1)...)
			s[1].call(1, "MPI_Recv", message("source", 0, 1)...)
		}
		for range 2 {
			s[0].call(1, "MPI_Send", message("dest", 1, 9)...)
		}
		tr := recorded(t, merge.Run{Ranks: 2}, exact, s)
		run, err := waits.Open(t.Context(), must.Get(semantics.Open(t.Context(), tr)), waits.Options{})
		if err != nil || run.Unreceived != 2 || run.LacksReceives != (received == 0) {
			t.Errorf("%d received: %+v, %v", received, run, err)
		}
	}
}

// TestClocksDiffer has a rank whose clock is 1 ms ahead of the other's: barriers end there before they begin here. One
// that does so alone, and operations that need not wait, show nothing.
func TestClocksDiffer(t *testing.T) {
	for _, tt := range []struct {
		function string
		root     []any
		early    int
		differ   bool
	}{{"MPI_Barrier", nil, 20, true}, {"MPI_Barrier", nil, 1, false},
		{"MPI_Bcast", []any{"count", 1, "datatype", "MPI_BYTE", "root", 0}, 20, false},
		{"MPI_Allgatherv", []any{"sendcount", 0, "sendtype", "MPI_BYTE", "recvtype", "MPI_BYTE"}, 20, false}} {
		a, b := new(script), new(script)
		for i := range 20 {
			a.call(10, tt.function, append([]any{"comm", world}, tt.root...)...)
			if b.now = a.now; i < tt.early {
				b.now += 1_000_000
			}
			b.now -= 11_000
			b.call(10, tt.function, append([]any{"comm", world}, tt.root...)...)
			a.now += 2_000_000
		}
		tr := recorded(t, merge.Run{Ranks: 2}, exact, map[int]*script{0: a, 1: b})
		run, err := waits.Open(t.Context(), must.Get(semantics.Open(t.Context(), tr)), waits.Options{})
		var differ *waits.ClocksError
		if errors.As(err, &differ) != tt.differ || (run == nil) != tt.differ ||
			tt.differ && differ.Apart != 990_000 {
			t.Errorf("%s, %d early: %+v, %v", tt.function, tt.early, run, err)
		}
	}
}

// TestStartup checks that a wait that begins before the run does not count.
func TestStartup(t *testing.T) {
	a, b := new(script), new(script)
	a.call(20, "MPI_Init")
	b.call(1, "MPI_Init")
	a.now, b.now = 30_000, 3000
	a.call(1, "MPI_Send", message("dest", 1, 1)...)
	b.call(40, "MPI_Recv", message("source", 0, 1)...)
	a.now, b.now = 60_000, 50_000
	a.call(1, "MPI_Send", message("dest", 1, 1)...)
	b.call(20, "MPI_Recv", message("source", 0, 1)...)
	tr := recorded(t, merge.Run{Ranks: 2}, exact, map[int]*script{0: a, 1: b})
	run, err := waits.Open(t.Context(), must.Get(semantics.Open(t.Context(), tr)), waits.Options{})
	if err != nil || run.Wait != 10_000 || run.Waits != 1 {
		t.Errorf("%+v, %v", run, err)
	}
}

// TestProgramBegin checks that what is before MPI_Init is not on the critical path, also where the program begins
// with a call of its own, as in archives of OTF2.
func TestProgramBegin(t *testing.T) {
	paths := make(map[bool]string)
	for _, begins := range []bool{false, true} {
		scripts := make(map[int]*script)
		for rank := range 2 {
			s := &script{now: int64(7_000 * (1 + rank))}
			if begins {
				s.calls = append(s.calls, testtrace.Call{Function: cst.Function{Name: "ProgramBegin"}, Start: s.now})
			}
			s.now = 90_000
			s.call(20, "MPI_Init")
			s.now += int64(30_000 * (1 + rank))
			s.call(int64(90-30*rank), "MPI_Barrier", "comm", world)
			s.call(1, "MPI_Finalize")
			scripts[rank] = s
		}
		tr := recorded(t, merge.Run{Ranks: 2}, exact, scripts)
		run, err := waits.Open(t.Context(), must.Get(semantics.Open(t.Context(), tr)), waits.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range run.Path.Steps {
			paths[begins] += fmt.Sprintf("%v to %s: %.1f of %.1f\n", s.InCall, s.To.Function, s.Time, s.Mean)
		}
	}
	if paths[false] == "" || paths[true] != paths[false] {
		t.Errorf("%s\nand where the program begins with a call\n%s", paths[false], paths[true])
	}
}

// TestUnsought checks that waits that are not looked for are named, and that they are not told.
func TestUnsought(t *testing.T) {
	s := late()
	for rank := range 2 {
		s[rank].call(5, "MPI_Win_lock", "lock_type", 1, "rank", 1, "assert", 0, "win", 1)
		s[rank].call(1, "MPI_Win_unlock", "rank", 1, "win", 1)
		s[rank].call(1, "MPI_Neighbor_alltoall", "sendcount", 1, "sendtype", "MPI_BYTE", "recvcount", 1, "recvtype",
			"MPI_BYTE", "comm", world)
		s[rank].call(1, "MPI_File_open", "comm", world, "fh", 1)
		s[rank].call(1, "MPI_File_read_all", "fh", 1, "count", 1, "datatype", "MPI_BYTE")
	}
	for want, scripts := range map[string]map[int]*script{
		"[]": late(), "[ranks that compute while others access their windows files]": s} {
		tr := recorded(t, merge.Run{Ranks: 2}, exact, scripts)
		run, err := waits.Open(t.Context(), must.Get(semantics.Open(t.Context(), tr)), waits.Options{})
		unknown := uint64(0)
		if want != "[]" {
			unknown = 2 // MPI_Neighbor_alltoall of both ranks, on a communicator without a topology
		}
		if err != nil || fmt.Sprint(run.Unsought) != want || run.Unknown != unknown {
			t.Errorf("%+v, %v, not %s", run, err, want)
		}
	}
}

// TestNeighbors has rank 2 of a row come late to operations of neighbours: those beside it wait, with data of it
// alone, and the one at the other end does not.
func TestNeighbors(t *testing.T) {
	for _, function := range []string{"MPI_Neighbor_allgather", "MPI_Neighbor_alltoall"} {
		scripts := make(map[int]*script)
		for rank := range 4 {
			s := new(script)
			scripts[rank] = s
			s.call(1, "MPI_Cart_create", "comm_old", world, "ndims", 1, "dims", []any{4}, "periods", []any{0},
				"reorder", 0, "comm_cart", 2)
			takes := int64(51)
			switch rank {
			case 0:
				takes = 1
			case 2:
				s.now, takes = s.now+50_000, 1
			}
			s.call(takes, function, "sendcount", 1, "sendtype", "MPI_BYTE", "recvcount", 1, "recvtype",
				"MPI_BYTE", "comm", 2)
		}
		tr := recorded(t, merge.Run{Ranks: 4}, exact, scripts)
		run, err := waits.Open(t.Context(), must.Get(semantics.Open(t.Context(), tr)), waits.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := make(map[int]float64)
		for _, v := range run.Victims {
			if v.Kind != "late neighbor" || v.For != 2 || v.Function != function {
				t.Errorf("%s: %+v", function, v)
			}
			got[v.Rank] = float64(v.Wait)
		}
		if len(got) != 2 || got[1] != 50_000 || got[3] != 50_000 || run.Unknown != 0 || len(run.Causes) != 1 ||
			run.Causes[0].Rank != 2 || run.Causes[0].InCall || float64(run.Causes[0].Cost) != 100_000 {
			t.Errorf("%s: waits %v, causes %+v, %d unknown", function, got, run.Causes, run.Unknown)
		}
	}
}

// TestUnknown checks that there is an error where no wait can be known.
func TestUnknown(t *testing.T) {
	for want, tr := range map[string]*trace.Trace{
		"the times of every call": recorded(t, merge.Run{Ranks: 2}, tracer.Options{}, late()),
		"in which order":          recorded(t, merge.Run{Ranks: 2, ThreadsUnordered: true}, exact, late()),
		"switched recording": recorded(t, merge.Run{Ranks: 2}, exact, func() map[int]*script {
			s := late()
			s[0].call(1, "MPI_Pcontrol", "level", 0)
			s[1].call(1, "MPI_Recv", message("source", 0, 1)...)
			return s
		}()),
		"what the calls do": testtrace.Timed(t, 2, 3, testtrace.Series),
	} {
		run, err := waits.Open(t.Context(), must.Get(semantics.Open(t.Context(), tr)), waits.Options{})
		if err == nil || run != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v, %v, not %q", run, err, want)
		}
	}
	few := recorded(t, merge.Run{Ranks: 2, ThreadsUnordered: true}, exact, late())
	if _, err := waits.Open(t.Context(), must.Get(semantics.Open(t.Context(), few)), waits.Options{}); !errors.Is(err,
		replay.ErrThreadsUnordered) {
		t.Error(err)
	}
}

// bounded keeps the times of every call within 10 %, and starts within 10 µs.
var bounded = tracer.Options{Series: func() *timing.SeriesCodec {
	c := must.Get(timing.NewSeriesCodec(must.Get(timing.NewEntropy(0.1)), must.Get(timing.NewEntropy(0.1)),
		timing.Gaps))
	c.Starts = 10_000
	return c
}()}

// TestBounded checks that waits of times that are not exact are what they were, within the error that is told, and that
// what is not told is short.
func TestBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSimulator(3)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			from := rapid.IntRange(0, 2).Draw(t, "from")
			time := func() int64 { return int64(rapid.IntRange(0, 200).Draw(t, "time")) * 1000 }
			s.send(from, (from+1)%3, 0, [2]int64{time(), time()}, false)
		}
		tr := s.trace(t, bounded)
		run, err := waits.Open(t.Context(), must.Get(semantics.Open(t.Context(), tr)), waits.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want, calls := 0.0, 0.0
		for v, of := range s.victims {
			if v.kind == "late sender" {
				want, calls = want+float64(of.wait), calls+float64(of.calls)
			}
		}
		got, off := 0.0, 0.0
		for _, v := range run.Victims {
			if v.Kind == "late sender" || v.Kind == "wrong order" {
				got, off, calls = got+float64(v.Wait), off+float64(v.Error), calls-float64(v.Calls)
			}
		}
		const short = 2 * 20_000 // a wait that is not told is at most so long
		if math.Abs(got-want) > off+max(0, calls)*short || off > 20_001*float64(run.Waits) {
			t.Fatalf("%v ± %v, without %v calls, not %v", got, off, calls, want)
		}
	})
}

// onThread has the calls of a script be those of a thread.
func onThread(s *script, thread int64) []testtrace.Call {
	for i := range s.calls {
		c := &s.calls[i]
		c.Function.Params = slices.Concat([]cst.Param{testtrace.Param(trace.ThreadParam, cst.KindInt)}, c.Function.Params)
		c.Args = slices.Concat([]cst.Value{cst.Int(thread)}, c.Args)
	}
	return s.calls
}

// TestThreads checks that waits are known of threads in an unknown order if these share nothing.
func TestThreads(t *testing.T) {
	for _, shares := range []bool{false, true} {
		s, other := late(), new(script)
		other.now = 2000
		if other.call(1, "MPI_Comm_rank", "comm", world, "rank", 0); shares {
			other.call(1, "MPI_Send", message("dest", 1, 1)...)
			s[1].call(1, "MPI_Recv", message("source", 0, 1)...)
		}
		s[0].calls = append(onThread(s[0], 0), onThread(other, 1)...)
		onThread(s[1], 0)
		tr := recorded(t, merge.Run{Ranks: 2, ThreadsUnordered: true}, exact, s)
		run, err := waits.Open(t.Context(), must.Get(semantics.Open(t.Context(), tr)), waits.Options{})
		if shares != errors.Is(err, replay.ErrThreadsUnordered) || !shares && (err != nil || run.Wait != 9000) {
			t.Errorf("threads share a channel %v: %+v, %v", shares, run, err)
		}
	}
}
