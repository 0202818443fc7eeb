package testtrace

import (
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// A Call is a call to record.
type Call struct {
	Function        cst.Function
	Args            []cst.Value
	Start, Duration int64
}

// exact keeps the time of every call.
var exact = tracer.Options{Series: must.Get(timing.NewSeriesCodec(must.Get(timing.NewLossless(timing.Zstd)),
	must.Get(timing.NewLossless(timing.Zstd)), timing.Gaps))}

// Record returns a trace of calls by rank, with the time of each if timed says so. A run has
// as many ranks, unless it says more.
func Record(t TB, run merge.Run, timed bool, ranks [][]Call) *trace.Trace {
	t.Helper()
	return Open(t, RecordFile(t, run, timed, ranks))
}

// RecordFile returns the file of a trace that [Record] returns.
func RecordFile(t TB, run merge.Run, timed bool, ranks [][]Call) []byte {
	t.Helper()
	run.Ranks = max(run.Ranks, len(ranks))
	if timed {
		return File(t, run, partsOf(t, &exact, ranks))
	}
	return File(t, run, partsOf(t, nil, ranks))
}

// RecordTimes returns a trace of calls by rank with times.
func RecordTimes(t TB, times Times, ranks [][]Call) *trace.Trace {
	t.Helper()
	o := times.options()
	return record(t, merge.Run{}, &o, ranks)
}

// record is Record with what is to be kept of times, nil for nothing.
func record(t TB, run merge.Run, times *tracer.Options, ranks [][]Call) *trace.Trace {
	t.Helper()
	run.Ranks = max(run.Ranks, len(ranks))
	return Write(t, run, partsOf(t, times, ranks))
}

// partsOf returns the parts of calls by rank.
func partsOf(t TB, times *tracer.Options, ranks [][]Call) (parts []merge.Part) {
	t.Helper()
	for rank, calls := range ranks {
		r := &tracer.Recorder{}
		if times != nil {
			var err error
			if r, err = tracer.New(*times); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range calls {
			if times != nil {
				r.CallAt(r.Declare(c.Function), c.Start, c.Duration, c.Args...)
			} else {
				r.Call(r.Declare(c.Function), c.Args...)
			}
		}
		parts = append(parts, r.Finish(rank))
	}
	return parts
}

// Function returns a function: its parameters are name and kind in turn, a class for a
// handle.
func Function(name string, params ...cst.Param) cst.Function {
	return cst.Function{Name: name, Params: params}
}

// Param returns a parameter of a kind.
func Param(name string, kind cst.Kind) cst.Param {
	return cst.Param{Name: name, Type: cst.Type{Kind: kind}}
}

// SameStart returns a trace of calls in one another that begin at the same time, and some
// of which end so or take no time: of two threads.
func SameStart(t TB) *trace.Trace {
	t.Helper()
	var calls []Call
	call := func(name string, thread, start, duration int64) {
		f := Function(name, Param("thread", cst.KindInt), Param("n", cst.KindInt))
		calls = append(calls, Call{f, []cst.Value{cst.Int(thread), cst.Int(start)}, start, duration})
	}
	call("first", 0, 0, 500)
	for at := int64(1000); at < 10_000; at += 1000 {
		call("none", 0, at, 0)
		call("inner", 0, at, 300)
		call("other", 1, at, 700)
		call("next", 0, at+300, 200)
		call("middle", 0, at, 500)
		call("last", 0, at+900, 100)
		call("around", 1, at, 900)
		call("outer", 0, at, 1000)
	}
	for i := range int64(40) {
		call("many", 0, 20_000+10*i, 10)
	}
	call("all", 0, 20_000, 1000)
	return Record(t, merge.Run{}, true, [][]Call{calls, calls[:5]})
}

// Times says what a trace of [Timed] has of times.
type Times string

// What traces have of times.
const (
	Series     Times = "series"
	Statistics Times = "statistics"
	Histograms Times = "histograms"
	Paths      Times = "paths" // histograms by the call before
)

// options returns what a recorder keeps so.
func (x Times) options() (o tracer.Options) {
	switch x {
	case Series:
		o = exact
	case Histograms:
		o.Histograms = &timing.HistogramOptions{}
	case Paths:
		o.Histograms = &timing.HistogramOptions{PathSensitive: true}
	}
	return o
}

// newRecorder returns a recorder of calls with times, or without if they are empty.
func newRecorder(t TB, times Times) *tracer.Recorder {
	t.Helper()
	if times == "" {
		return new(tracer.Recorder)
	}
	r, err := tracer.New(times.options())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Timed returns a trace of ranks that send to the next and wait, rounds times, with an
// irregular clock that begins at 10¹² ns and later on each rank.
func Timed(t TB, ranks, rounds int, times Times) *trace.Trace {
	t.Helper()
	o := times.options()
	send, wait := Function("send", Param("dest", cst.KindRank), Param("count", cst.KindInt)), Function("wait")
	all := make([][]Call, ranks)
	for rank := range all {
		now := int64(1e12) + int64(rank)*1000
		for i := range int64(rounds) {
			all[rank] = append(all[rank],
				Call{send, []cst.Value{cst.Rank(int64(rank+1) % int64(ranks)), cst.Int(8 * (i % 3))}, now,
					100 + i*i%17},
				Call{wait, nil, now + 200, 1000 + i%7*int64(rank+1)})
			now += 3200 + i%5
		}
	}
	return record(t, merge.Run{Source: "test"}, &o, all)
}
