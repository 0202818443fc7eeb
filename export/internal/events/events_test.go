package events_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/must"
	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/internal/events"
	"github.com/reprise-trace/reprise/export/internal/exporttest"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// all returns the calls of a rank that o chooses.
func all(t rapid.TB, tr *trace.Trace, rank int, o export.Options) []events.Event {
	t.Helper()
	choice, err := events.Open(context.Background(), tr, o)
	if err != nil {
		t.Fatal(err)
	}
	var list []events.Event
	for r, err := range choice.Ranks() {
		if err != nil {
			t.Fatal(err)
		}
		if r.Number != rank {
			continue
		}
		for e, err := range r.All() {
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, e)
		}
	}
	return list
}

var (
	work     = testtrace.Function("work", testtrace.Param("n", cst.KindInt))
	threaded = testtrace.Function("work", testtrace.Param("thread", cst.KindInt), testtrace.Param("n", cst.KindInt))
)

// TestNesting checks that the calls of a thread lie apart or in one another, whatever
// times they have, and that those that did so before are as they were.
func TestNesting(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		times := rapid.SliceOfN(rapid.Int64Range(0, 40), 2, 60).Draw(rt, "times")
		calls := []testtrace.Call{{Function: work, Args: []cst.Value{cst.Int(0)}}}
		for i := 0; i+1 < len(times); i += 2 {
			thread := int64(i % 3)
			calls = append(calls, testtrace.Call{Function: threaded,
				Args: []cst.Value{cst.Int(thread), cst.Int(int64(i))}, Start: times[i], Duration: times[i+1]})
		}
		tr := testtrace.Record(t, merge.Run{}, true, [][]testtrace.Call{calls})
		list := all(rt, tr, 0, export.Options{})
		if len(list) != len(calls) {
			rt.Fatalf("%d calls, want %d", len(list), len(calls))
		}
		for i, e := range list {
			if e.Position != uint64(i) || e.Start > e.End || e.Start < 0 || e.Start < calls[i].Start {
				rt.Fatalf("call %d of %v is %+v", i, calls[i], e)
			}
			sound := e.Start == calls[i].Start && e.End == calls[i].Start+calls[i].Duration
			for k, f := range list[:i] {
				if f.Thread != e.Thread {
					continue
				}
				if e.Start < f.End && (e.Start > f.Start || e.End < f.End) {
					rt.Fatalf("%+v and then %+v", f, e)
				}
				sound = sound || calls[i].Start < calls[k].Start+calls[k].Duration
			}
			if !sound {
				rt.Fatalf("call %d of %v is %+v for no reason", i, calls[i], e)
			}
		}
	})
}

// timesOf returns what tells when the events of a rank were, as the trace has it, since
// the run began.
func timesOf(t *testing.T, tr *trace.Trace, rank int) func(events.Event) (start, duration int64) {
	t.Helper()
	times, err := query.OpenTimes(tr)
	if err != nil {
		t.Fatal(err)
	}
	begin, err := times.Begin()
	if err != nil {
		t.Fatal(err)
	}
	read, err := tr.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	clock, err := times.Clock(read)
	if err != nil {
		t.Fatal(err)
	}
	if clock.Source() == query.None {
		return func(e events.Event) (start, duration int64) { return e.Start, e.End - e.Start }
	}
	var all [][2]int64
	for call, err := range clock.Calls(0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, [2]int64{call.Start - begin, call.Duration})
	}
	return func(e events.Event) (start, duration int64) { return all[e.Position][0], all[e.Position][1] }
}

// TestChoice compares what is chosen with what there is.
func TestChoice(t *testing.T) {
	for _, c := range exporttest.Cases(t) {
		if c.Options.Ranks != nil {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			whole := all(t, c.Trace, 0, export.Options{})
			told := timesOf(t, c.Trace, 0)
			end := whole[len(whole)-1].End
			rapid.Check(t, func(rt *rapid.T) {
				in := export.Interval{From: rapid.Int64Range(0, end).Draw(rt, "from")}
				in.To = rapid.Int64Range(in.From, end+10).Draw(rt, "to")
				want := slices.DeleteFunc(slices.Clone(whole), func(e events.Event) bool {
					start, duration := told(e)
					return !query.Overlaps(start, duration, in.From, in.To)
				})
				if got := all(rt, c.Trace, 0, export.Options{Between: &in}); !slices.Equal(got, want) {
					rt.Fatalf("%+v: %v, want %v", in, got, want)
				}
			})
		})
	}
}

func TestRanks(t *testing.T) {
	tr := testtrace.Record(t, merge.Run{}, false,
		[][]testtrace.Call{{{Function: work, Args: []cst.Value{cst.Int(0)}}}, nil,
			{{Function: work, Args: []cst.Value{cst.Int(1)}}}, nil})
	for _, c := range []struct{ ranks, want string }{{"", "[0 2]"}, {"0-1", "[0]"}, {"1-3", "[2]"}, {"3", "[]"}} {
		o := export.Options{}
		if c.ranks != "" {
			ranks, err := rankenc.SetOfText(c.ranks, 4)
			if err != nil {
				t.Fatal(err)
			}
			o.Ranks = &ranks
		}
		choice, err := events.Open(t.Context(), tr, o)
		if err != nil {
			t.Fatal(err)
		}
		var numbers []int
		for r, err := range choice.Ranks() {
			if err != nil {
				t.Fatal(err)
			}
			numbers = append(numbers, r.Number)
		}
		if got := fmt.Sprint(numbers); got != c.want {
			t.Errorf("ranks %q: %s, want %s", c.ranks, got, c.want)
		}
	}
}

func TestTimesBy(t *testing.T) {
	for want, tr := range map[query.Source]*trace.Trace{
		query.Series: testtrace.Stencil(t, "exact"), query.Statistics: testtrace.Stencil(t, "statistics"),
		query.None: testtrace.TI(t, exporttest.Lines),
	} {
		choice, err := events.Open(t.Context(), tr, export.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for r, err := range choice.Ranks() {
			if err != nil {
				t.Fatal(err)
			}
			if r.TimesBy() != want || r.TimesLabel() != events.Label(want, timing.Exact) {
				t.Errorf("times by %v, %q, want %v", r.TimesBy(), r.TimesLabel(), want)
			}
		}
	}
}

// TestTimesLabel looks at the label of times that are not exact.
func TestTimesLabel(t *testing.T) {
	codec, err := timing.NewEntropy(0.1)
	if err != nil {
		t.Fatal(err)
	}
	r, err := tracer.New(tracer.Options{Series: must.Get(timing.NewSeriesCodec(codec, codec, timing.Gaps))})
	if err != nil {
		t.Fatal(err)
	}
	r.Declare(cst.Function{Name: "f"})
	r.CallAt(0, 1000, 1000)
	tr := testtrace.Write(t, merge.Run{Ranks: 1, Source: "test"}, []merge.Part{r.Finish(0)})
	choice, err := events.Open(t.Context(), tr, export.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for r, err := range choice.Ranks() {
		if err != nil {
			t.Fatal(err)
		}
		if got := r.TimesLabel(); got != "of every call, durations and gaps at most 10 % off" {
			t.Errorf("rank %d: %q", r.Number, got)
		}
	}
}

// TestStarts checks that starts stay what they are where durations are not exact, and seem to reach beyond
// the next call of their thread.
func TestStarts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		codec, err := timing.NewExponential(0.5)
		if err != nil {
			t.Fatal(err)
		}
		series := must.Get(timing.NewSeriesCodec(codec, codec, timing.Gaps))
		series.Starts = 1
		recorder, err := tracer.New(tracer.Options{Series: series})
		if err != nil {
			t.Fatal(err)
		}
		type call struct{ thread, start, end int64 }
		var calls []call
		for thread := range rapid.Int64Range(1, 3).Draw(t, "threads") {
			at := rapid.Int64Range(0, 1000).Draw(t, "begin")
			for range rapid.IntRange(1, 50).Draw(t, "calls") {
				at += rapid.Int64Range(2, 100).Draw(t, "gap")
				end := at + rapid.Int64Range(2, 100_000).Draw(t, "duration")
				calls = append(calls, call{thread, at, end})
				at = end
			}
		}
		slices.SortFunc(calls, func(a, b call) int { return cmp.Compare(a.end, b.end) })
		fn := recorder.Declare(threaded)
		for i, c := range calls {
			recorder.CallAt(fn, c.start, c.end-c.start, cst.Int(c.thread), cst.Int(int64(i)))
		}
		tr := testtrace.Write(t, merge.Run{Ranks: 1, Source: "test"}, []merge.Part{recorder.Finish(0)})
		begin := slices.MinFunc(calls, func(a, b call) int { return cmp.Compare(a.start, b.start) }).start
		for i, e := range all(t, tr, 0, export.Options{}) {
			if off := e.Start - (calls[i].start - begin); off < -2 || off > 2 {
				t.Fatalf("call %d begins at %d, not at %d of %+v", i, e.Start, calls[i].start-begin, calls)
			}
		}
	})
}

// TestArgumentNames checks that no two arguments of a call have one name, nor one that of
// its position, however many parameters of a name there are.
func TestArgumentNames(t *testing.T) {
	odd := []string{"thread", "position_", "position", "n", "n", "n_", "n", "\n", `"\n"`, "", `""`,
		"position", "N", "thread"}
	want := []string{"position_", "position_2", "n", "n_", "n__", "n_2", `"\n"`, `"\n"_`, `""`, `""_`,
		"position_3", "N", "thread"}
	many := slices.Repeat([]string{"n"}, 20_000)
	for i, names := range [][]string{odd, many} {
		var f cst.Function
		var args []cst.Value
		for k, name := range names {
			f.Params, args = append(f.Params, testtrace.Param(name, cst.KindInt)), append(args, cst.Int(int64(k)))
		}
		choice, err := events.Open(t.Context(), testtrace.Record(t, merge.Run{}, false,
			[][]testtrace.Call{{{Function: f, Args: args}}}), export.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for r := range choice.Ranks() {
			for _, a := range r.Args(0) {
				got = append(got, a.Name)
			}
		}
		if i == 0 && !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		different := make(map[string]bool)
		for _, name := range got {
			different[name] = true
		}
		if len(different) < len(got) || len(got) < len(names)-1 {
			t.Errorf("%d names for %d arguments", len(different), len(got))
		}
	}
}

// TestCut checks that long texts are cut off between characters.
func TestCut(t *testing.T) {
	f := testtrace.Function("f", testtrace.Param("text", cst.KindString))
	for _, before := range []string{"", "a"} {
		call := testtrace.Call{Function: f, Args: []cst.Value{cst.String(before + strings.Repeat("é", 600))}}
		choice, err := events.Open(t.Context(), testtrace.Record(t, merge.Run{}, false,
			[][]testtrace.Call{{call}}), export.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for r, err := range choice.Ranks() {
			if err != nil {
				t.Fatal(err)
			}
			want := before + strings.Repeat("é", 500-len(before)) + "…"
			if args := r.Args(0); len(args) != 1 || args[0].Text != want {
				t.Errorf("%+v, want %s", args, want)
			}
		}
	}
}

func TestReadable(t *testing.T) {
	for _, name := range testtrace.OddNames {
		got := events.Readable(name)
		if got != name && !strings.HasPrefix(got, `"`) || !utf8.ValidString(got) ||
			strings.ContainsAny(got, "\x00\n\r") {
			t.Errorf("%q is %s", name, got)
		}
	}
}

// TestProgress checks that those calls are counted that are taken.
func TestProgress(t *testing.T) {
	tr := testtrace.SameStart(t)
	for _, between := range []*export.Interval{nil, {From: 2000, To: 4000}, {}} {
		calls, want := uint64(0), uint64(0)
		o := export.Options{Between: between, Progress: func(n uint64) error { calls = n; return nil }}
		choice, err := events.Open(t.Context(), tr, o)
		if err != nil {
			t.Fatal(err)
		}
		for r, err := range choice.Ranks() {
			if err != nil {
				t.Fatal(err)
			}
			for thread := range r.Threads() {
				for e, err := range r.Of(thread) {
					if err != nil {
						t.Fatal(err)
					}
					if e.Thread != thread {
						t.Fatalf("%+v is not of thread %d", e, thread)
					}
					want++
				}
			}
		}
		told := calls
		if all := len(all(t, tr, 0, o)) + len(all(t, tr, 1, o)); told != want || want != uint64(all) {
			t.Errorf("%+v: %d calls, want %d, or %d", between, told, want, all)
		}
	}
}

// TestBegin checks that times count from the call that began first, of those of a thread
// that returned after others.
func TestBegin(t *testing.T) {
	args := func(thread, n int64) []cst.Value { return []cst.Value{cst.Int(thread), cst.Int(n)} }
	tr := testtrace.Record(t, merge.Run{}, true, [][]testtrace.Call{{
		{Function: threaded, Args: args(0, 1), Start: 700, Duration: 10},
		{Function: threaded, Args: args(1, 2), Start: 600, Duration: 500},
	}})
	starts := make(map[int32]int64)
	for _, e := range all(t, tr, 0, export.Options{}) {
		starts[e.Thread] = e.Start
	}
	if starts[0] != 100 || starts[1] != 0 {
		t.Errorf("calls of threads begin at %v, want 100 and 0", starts)
	}
}
