package tracer

import (
	"bytes"
	"context"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/mpi/spec"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

var (
	sendBytes = cst.Function{Name: "send", Params: []cst.Param{
		{Name: "dest", Type: cst.Type{Kind: cst.KindRank}}, {Name: "bytes", Type: cst.Type{Kind: cst.KindInt}}}}
	late = cst.Function{Name: "late"}
)

// A traffic is what calls of a rank send to another.
type traffic struct{ calls, bytes uint64 }

// trafficOf returns it by destination, and with −1 the number of other calls.
func trafficOf(p merge.Part) map[int64]traffic {
	all := make(map[int64]traffic)
	for terminal, n := range p.Grammar.Occurrences() {
		to, bytes := int64(-1), int64(0)
		if _, args := p.Table.Signature(terminal); len(args) == 2 {
			to, bytes = args[0].Int(), args[1].Int()
		}
		all[to] = traffic{all[to].calls + n, all[to].bytes + n*uint64(bytes)}
	}
	return all
}

// random records calls that do not repeat, the durations of which are their destinations; some later ones are
// of a function that is declared then. It returns the traffic.
func random(calls int, record func(i int, f cst.Function, duration int64, args ...cst.Value)) map[int64]traffic {
	r := rand.New(rand.NewPCG(1, 2))
	all := make(map[int64]traffic)
	for i := range calls {
		to, bytes := r.Int64N(16), r.Int64N(1<<20)
		if i > calls/2 && i%1000 == 0 {
			to, bytes = -1, 0
			record(i, late, to)
		} else {
			record(i, sendBytes, to, cst.Rank(to), cst.Int(bytes))
		}
		all[to] = traffic{all[to].calls + 1, all[to].bytes + uint64(bytes)}
	}
	return all
}

// boundedTrace returns the trace of a part in so many bytes at most.
func boundedTrace(t *testing.T, part merge.Part, size int64) *trace.Trace {
	t.Helper()
	var a merge.Accumulator
	if err := a.Add(part); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := a.WriteBounded(context.Background(), &file, size, spec.Keep); err != nil || int64(file.Len()) > size {
		t.Fatalf("%d bytes, %v", file.Len(), err)
	}
	tr, err := trace.OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()), trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// TestBoundedMemory records a run that never repeats: what is held stays within its limit, and
// the trace has the messages and bytes of each pair of ranks, and the times of all calls together.
func TestBoundedMemory(t *testing.T) {
	tier.Long(t, "many calls")
	const calls, size = 200_000, 2000
	for _, o := range []Options{{Bounded: size, Keep: spec.Keep},
		{Bounded: size, Keep: spec.Keep, Series: exactSeries(), Histograms: &timing.HistogramOptions{}}} {
		r, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		spent := 0.0
		want := random(calls, func(i int, f cst.Function, duration int64, args ...cst.Value) {
			r.CallAt(r.Declare(f), int64(100*i), duration, args...)
			spent += float64(duration)
			if i%20_000 == 0 {
				if p := r.Snapshot(5); p.Held() > leastHeld+32*callsPerFit ||
					p.Grammar.Len() != uint64(i+1) || r.Len() != uint64(i+1) {
					t.Fatalf("%d symbols and bytes of %d calls are held after %d", p.Held(), p.Grammar.Len(), i+1)
				}
			}
		})
		part := r.Finish(5)
		if err := r.Err(); err != nil {
			t.Fatal(err)
		}
		if got := trafficOf(part); !maps.Equal(got, want) {
			t.Errorf("%v, not %v", got, want)
		}
		var durations, gaps timing.Statistics
		for i := range part.Times.Durations.Statistics {
			durations.Merge(&part.Times.Durations.Statistics[i])
			gaps.Merge(&part.Times.Gaps.Statistics[i])
		}
		if durations.Count != calls || gaps.Count != calls-1 || durations.Sum() != spent ||
			durations.MinRank != 5 || part.Times.End == 0 {
			t.Errorf("%d durations, of %v in all, not of %v, and %d gaps, first on rank %d", durations.Count,
				durations.Sum(), spent, gaps.Count, durations.MinRank)
		}
		if b := part.Bounded; b == nil || !b.ByFunction || b.Untimed != (o.Series != nil) ||
			part.Times.Series != nil || len(b.Stretches) != 1 || len(b.Stretches[5]) == 0 {
			t.Errorf("bounded: %+v", b)
		}
		tr := boundedTrace(t, part, size)
		again, err := tr.Part(5)
		if err != nil {
			t.Fatal(err)
		}
		if got := trafficOf(again); !maps.Equal(got, want) || tr.Content().Exact {
			t.Errorf("the trace: %v, not %v", got, want)
		}
	}
}

// TestBoundedFits records runs that fit: nothing gives way.
func TestBoundedFits(t *testing.T) {
	for _, calls := range []int{1000, 50_000} {
		var parts []merge.Part
		for _, o := range []Options{{Series: exactSeries()},
			{Series: exactSeries(), Bounded: 4 << 20, Keep: spec.Keep}} {
			r, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			random(calls, func(i int, f cst.Function, duration int64, args ...cst.Value) {
				r.CallAt(r.Declare(f), int64(100*i), duration, args...)
			})
			parts = append(parts, r.Finish(0))
		}
		if parts[1].Bounded != nil || !parts[0].Grammar.Equal(parts[1].Grammar) ||
			!bytes.Equal(encoded(parts[0].Table), encoded(parts[1].Table)) {
			t.Errorf("%d calls: %+v", calls, parts[1].Bounded)
		}
	}
}

// TestBoundedSeries records a loop for so long that the times of its calls do not fit: they alone are left
// out.
func TestBoundedSeries(t *testing.T) {
	r, err := New(Options{Series: exactSeries(), Bounded: 1000, Keep: spec.Keep})
	if err != nil {
		t.Fatal(err)
	}
	fn, times := r.Declare(late), rand.New(rand.NewPCG(1, 2))
	for i := range 100_000 {
		r.CallAt(fn, int64(1000*i), times.Int64N(1000))
	}
	part := r.Finish(0)
	if b := part.Bounded; b == nil || !b.Untimed || b.ByFunction || part.Times.Series != nil ||
		len(part.Times.Durations.Statistics) != 1 {
		t.Errorf("bounded: %+v", b)
	}
	if tr := boundedTrace(t, part, 1000); !tr.Content().Exact {
		t.Error("not all calls are exact")
	}
}

// TestBoundedProcess records what several threads of a process do.
func TestBoundedProcess(t *testing.T) {
	tier.Long(t, "many calls")
	const calls, size = 60_000, 4000
	path := filepath.Join(t.TempDir(), "part.rpz")
	p, err := Open(Config{Path: path, Rank: 1, Ranks: 2,
		Options: Options{Bounded: size, Keep: spec.Keep, Series: exactSeries()}})
	if err != nil {
		t.Fatal(err)
	}
	functions := map[string]*Function{"send": Func(sendBytes), "late": Func(late)}
	want := uint64(0)
	for range 3 {
		thread := p.Thread()
		for _, x := range random(calls, func(i int, f cst.Function, duration int64, args ...cst.Value) {
			thread.Call(functions[f.Name], int64(100*i), duration, args...)
		}) {
			want += x.bytes
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.Open(path, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	part, err := tr.Part(1)
	if err != nil {
		t.Fatal(err)
	}
	got := uint64(0)
	for terminal, n := range part.Grammar.Occurrences() {
		if _, args := part.Table.Signature(terminal); len(args) > 1 {
			got += n * uint64(args[len(args)-1].Int())
		}
	}
	if part.Grammar.Len() != 3*calls || got != want || part.Bounded == nil {
		t.Errorf("%d calls with %d bytes, not %d with %d", part.Grammar.Len(), got, 3*calls, want)
	}
}

// encoded returns a table as it is encoded.
func encoded(t *cst.Table) []byte {
	enc, _ := t.AppendBinary(nil)
	return enc
}
