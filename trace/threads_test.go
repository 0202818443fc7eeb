package trace_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// A hybridCall is a call of a thread with the thing that it uses.
type hybridCall struct {
	thread, thing   int
	start, duration int64
}

// hybridTrace returns the trace of a rank whose threads made calls in an order, each of which uses a thing.
func hybridTrace(t *rapid.T, calls []hybridCall, threads int) *trace.Trace {
	codec := must.Get(timing.NewLossless(timing.Zstd))
	o := tracer.Options{Series: must.Get(timing.NewSeriesCodec(codec, codec, timing.Gaps)), BlockLen: 7}
	recorders, last := make([]*tracer.Recorder, threads), make(map[int][2]uint64)
	for i := range recorders {
		recorders[i], _ = tracer.New(o)
		f := cst.Function{Name: "use", Params: []cst.Param{{Name: "thing", Type: cst.Type{Kind: cst.KindInt}}}}
		if i > 0 {
			f.Params = append([]cst.Param{{Name: trace.ThreadParam, Type: cst.Type{Kind: cst.KindInt}}}, f.Params...)
		}
		recorders[i].Declare(f)
	}
	var order merge.ThreadOrder
	for _, c := range calls {
		r := recorders[c.thread]
		if before, ok := last[c.thing]; ok && int(before[0]) != c.thread {
			order.After(c.thread, r.Len(), int(before[0]), before[1])
		}
		args := []cst.Value{cst.Int(int64(c.thing))}
		if c.thread > 0 {
			args = append([]cst.Value{cst.Int(int64(c.thread))}, args...)
		}
		r.CallAt(0, c.start, c.duration, args...)
		last[c.thing] = [2]uint64{uint64(c.thread), r.Len()}
	}
	var parts []merge.Part
	for _, r := range recorders {
		parts = append(parts, r.Finish(0))
	}
	part, err := merge.Join(0, &order, parts...)
	if err != nil {
		t.Fatal(err)
	}
	var a merge.Accumulator
	if err := a.Add(part); err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	if err := a.Write(&buf); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.OpenReader(bytes.NewReader(buf.Bytes()), int64(buf.Len()), trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// TestThreadTimes checks that calls of threads have their own times, read from any position, by Select and
// thread by thread, and that calls that use one thing stand in the order of time.
func TestThreadTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		threads := rapid.IntRange(1, 4).Draw(t, "threads")
		var calls []hybridCall
		own := make([][]hybridCall, threads)
		at := int64(1000)
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			c := hybridCall{rapid.IntRange(0, threads-1).Draw(t, "thread"),
				rapid.IntRange(0, 2).Draw(t, "thing"), at, rapid.Int64Range(0, 50).Draw(t, "duration")}
			at += c.duration + rapid.Int64Range(1, 50).Draw(t, "gap")
			calls, own[c.thread] = append(calls, c), append(own[c.thread], c)
		}
		r, err := hybridTrace(t, calls, threads).Rank(0)
		if err != nil {
			t.Fatal(err)
		}
		from := rapid.Uint64Range(0, r.Len()-1).Draw(t, "from")
		done, last, starts := make([]int, threads), make(map[int64]int64), make([]int64, 0, len(calls))
		for call, err := range r.Calls(0) {
			thing, _ := call.Arg("thing")
			thread := call.Thread()
			if err != nil || done[thread] >= len(own[thread]) {
				t.Fatalf("%s: %v", call, err)
			}
			want := own[thread][done[thread]]
			done[thread]++
			if call.Start != want.start || call.Duration != want.duration ||
				thing.Int() != int64(want.thing) || call.Start < last[thing.Int()] {
				t.Fatalf("call %d of thread %d is %s at %d for %d, want %+v after %d", call.Position, thread,
					call, call.Start, call.Duration, want, last[thing.Int()])
			}
			last[thing.Int()] = call.Start
			starts = append(starts, call.Start)
		}
		position := from
		for at, err := range r.Times(from) {
			if err != nil || at.Start != starts[position] {
				t.Fatalf("call %d starts at %d, %v, want %d", position, at.Start, err, starts[position])
			}
			position++
		}
		for call, err := range r.Select(from, func(c trace.Call) bool { v, _ := c.Arg("thing"); return v.Int() == 1 }) {
			if err != nil || call.Start != starts[call.Position] {
				t.Fatalf("call %d starts at %d, %v, want %d", call.Position, call.Start, err, starts[call.Position])
			}
		}
		n := from
		for at, err := range r.InSeries(from) {
			if err != nil || at.Start != starts[at.Position] || at.Terminal != r.Grammar().At(at.Position) {
				t.Fatalf("time %d is that of call %d at %d, %v", n, at.Position, at.Start, err)
			}
			n++
		}
		if position != r.Len() || n != r.Len() {
			t.Fatalf("%d calls and %d times of %d", position, n, r.Len())
		}
	})
}
