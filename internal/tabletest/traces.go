package tabletest

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/tracetest"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/ti"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/tracer"
)

// Write returns a trace of parts.
func Write(t rapid.TB, run merge.Run, parts []merge.Part) *reprise.Trace {
	t.Helper()
	return tracetest.Write(t, run, parts)
}

// TI returns the trace of a real run, of a file such as ti/lu.W.64.ti.zst beside the
// project. The test is skipped if there is none.
func TI(t testing.TB, name string) *reprise.Trace {
	t.Helper()
	_, here, _, _ := runtime.Caller(0)
	path := filepath.Join(filepath.Dir(here), "..", "..", "..", "shared", "traces", name)
	if _, err := os.Stat(path); err != nil {
		t.Skip("there is no ", path)
	}
	in, err := ti.Open([]string{path}, ti.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	run, parts, err := ti.Record(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	return Write(t, run, parts)
}

// Hostile returns a trace of names and values that a table may not be prepared for:
// what needs quotation marks, is no text, differs only by case, or is of several kinds
// under one name. It has the times of every call.
func Hostile(t rapid.TB) *reprise.Trace {
	t.Helper()
	integer, float, text := cst.Type{Kind: cst.KindInt}, cst.Type{Kind: cst.KindFloat}, cst.Type{Kind: cst.KindString}
	param := func(name string, typ cst.Type) cst.Param { return cst.Param{Name: name, Type: typ} }
	functions := []cst.Function{
		{Name: "a,\"b\"\r\n;'c'", Params: []cst.Param{param("", integer), param("x y", text), param("X_Y", text), param("x y", text)}},
		{Name: "\xff\x00\x1b[31m", Params: []cst.Param{param("Count", integer), param("count", float), param("rank", integer)}},
		{Name: "", Params: []cst.Param{param("mixed", integer), param("f", float), param("list", cst.ArrayOf(cst.ArrayOf(integer)))}},
		{Name: "=1+1", Params: []cst.Param{param("thread", integer), param("mixed", text), param("list", cst.ArrayOf(cst.ArrayOf(integer)))}},
		{Name: "größer", Params: []cst.Param{
			param("request", cst.HandleOf("request")), param("status", cst.Type{Kind: cst.KindStatus}), param("address", cst.Type{Kind: cst.KindPointer}),
			param("raw", cst.Type{Kind: cst.KindBytes}), param("floats", cst.ArrayOf(float)), param("n", cst.HandleOf("constant")), param("size", cst.HandleOf("constant")),
		}},
		{Name: "size", Params: []cst.Param{param("size", integer), param("tag", cst.Type{Kind: cst.KindTag}), param("thread", integer)}},
	}
	texts := []string{"", " ", "plain", "\"quoted\"", "a,b", "line\nbreak", "\xc3", "NULL", "\\N", "ünï", "\u2028", "tab\t", "'", "trailing "}
	lossless := timing.NewLossless(timing.LZ4)
	var parts []merge.Part
	for rank := range 3 {
		r, err := tracer.New(tracer.Options{Series: timing.NewSeriesCodec(lossless, lossless, timing.Gaps)})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range functions {
			r.Declare(f)
		}
		now := int64(-5)
		call := func(fn int, args ...cst.Value) {
			r.CallAt(fn, now, int64(fn), args...)
			now += 10
		}
		for i, s := range texts {
			other := texts[(i+rank)%len(texts)]
			call(0, cst.Int(math.MinInt64+int64(i)), cst.String(s), cst.String(other), cst.String(s+other))
			call(3, cst.Int(int64(i%2)), cst.String(s), cst.Array(cst.Array(cst.Int(int64(i)), cst.Int(-1)), cst.Array()))
			call(4, cst.Handle(int64(i)), cst.StatusOf(cst.Status{Source: 1, Tag: int64(i)}), cst.PointerTo(cst.Pointer{Segment: 3, Displacement: int64(rank), Device: 1}),
				cst.Bytes([]byte(s)), cst.Array(cst.Float(0.1), cst.Float(math.Inf(1)), cst.Float(float64(i))), cst.Handle(-2), cst.Handle(-2))
		}
		for i, f := range []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, 5e-324, 0.1} {
			call(1, cst.Int(int64(i)), cst.Float(f), cst.Int(-1))
			call(2, cst.Int(math.MaxInt64), cst.Float(f), cst.Array())
			call(5, cst.Int(int64(rank)), cst.Tag(-1), cst.Int(3))
		}
		parts = append(parts, r.Finish(rank))
	}
	return Write(t, merge.Run{Ranks: 5, Source: "test", Names: []merge.Name{
		{Kind: cst.KindTag, Value: -1, Name: "ANY, \"tag\""}, {Kind: cst.KindHandle, Class: "constant", Value: -2, Name: "NONE"},
	}}, parts)
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

// HostileColumn returns the column of a parameter in the trace of [Hostile], which is
// none where the argument is no number.
func HostileColumn(f *cst.Function, i int) string {
	p := f.Params[i]
	switch {
	case p.Name == "x y" && i == 1:
		return "arg_x_y"
	case p.Name == "X_Y":
		return "arg_X_Y_2"
	case p.Name == "x y":
		return "arg_x_y_3"
	case p.Name == "count":
		return "arg_count_2"
	case p.Name == "thread" && i == 0, p.Name == "size" && p.Type.Kind == cst.KindHandle:
		return ""
	}
	return "arg_" + p.Name
}
