package testtrace

import (
	"testing"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/tracer"
	"pgregory.net/rapid"
)

// A Call is a call to record.
type Call struct {
	Function        cst.Function
	Args            []cst.Value
	Start, Duration int64
}

var exact = timing.NewSeriesCodec(timing.NewLossless(timing.Zstd), timing.NewLossless(timing.Zstd), timing.Gaps)

// Record returns a trace of calls by rank, with their times if timed says so.
func Record(t testing.TB, run merge.Run, timed bool, ranks [][]Call) *reprise.Trace {
	t.Helper()
	run.Ranks = len(ranks)
	var parts []merge.Part
	for rank, calls := range ranks {
		r := &tracer.Recorder{}
		if timed {
			var err error
			if r, err = tracer.New(tracer.Options{Series: exact}); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range calls {
			if timed {
				r.CallAt(r.Declare(c.Function), c.Start, c.Duration, c.Args...)
			} else {
				r.Call(r.Declare(c.Function), c.Args...)
			}
		}
		parts = append(parts, r.Finish(rank))
	}
	return Write(t, run, parts)
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
func SameStart(t testing.TB) *reprise.Trace {
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

// Timed returns a trace of ranks that send to the next and wait, rounds times, with an
// irregular clock that begins at 10¹² ns and later on each rank.
func Timed(t rapid.TB, ranks, rounds int, times Times) *reprise.Trace {
	t.Helper()
	var o tracer.Options
	lossless := timing.NewLossless(timing.LZ4)
	switch times {
	case Series:
		o = tracer.Options{Series: timing.NewSeriesCodec(lossless, lossless, timing.Gaps)}
	case Histograms:
		o.Histograms = &timing.HistogramOptions{}
	case Paths:
		o.Histograms = &timing.HistogramOptions{PathSensitive: true}
	}
	send := cst.Function{Name: "send", Params: []cst.Param{{Name: "dest", Type: cst.Type{Kind: cst.KindRank}}, {Name: "count", Type: cst.Type{Kind: cst.KindInt}}}}
	var parts []merge.Part
	for rank := range ranks {
		r, err := tracer.New(o)
		if err != nil {
			t.Fatal(err)
		}
		call, wait := r.Declare(send), r.Declare(cst.Function{Name: "wait"})
		now := int64(1e12) + int64(rank)*1000
		for i := range int64(rounds) {
			r.CallAt(call, now, 100+i*i%17, cst.Rank(int64(rank+1)%int64(ranks)), cst.Int(8*(i%3)))
			now += 200
			r.CallAt(wait, now, 1000+i%7*int64(rank+1))
			now += 3000 + i%5
		}
		parts = append(parts, r.Finish(rank))
	}
	return Write(t, merge.Run{Ranks: ranks, Source: "test"}, parts)
}
