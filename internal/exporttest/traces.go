package exporttest

import (
	"embed"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/tracetest"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/tracer"
)

// Runs of 4 processes under Open MPI: examples/stencil with 100 steps, with the time of
// every call to the nanosecond, and with statistics of times; and messages.c in testdata,
// with the times of every call, and, as halves, with an argument. Of 3 processes, likewise:
// startall.c and wildcard.c.
//
//go:embed testdata/*.rpz
var recorded embed.FS

// Stencil returns the run of a recorded MPI program: with times of the kind exact or
// statistics.
func Stencil(t testing.TB, times string) *reprise.Trace {
	t.Helper()
	return Recorded(t, "stencil."+times)
}

// Recorded returns a run in testdata.
func Recorded(t testing.TB, name string) *reprise.Trace {
	t.Helper()
	file, err := recorded.ReadFile("testdata/" + name + ".rpz")
	if err != nil {
		t.Fatal(err)
	}
	return tracetest.Open(t, file)
}

// TI returns the trace of the lines of SimGrid.
func TI(t testing.TB, lines string) *reprise.Trace {
	t.Helper()
	return tracetest.TI(t, lines)
}

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
	return tracetest.Write(t, run, parts)
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

// OddNames are names that no format likes.
var OddNames = []string{
	"", `quote " and \`, "line\nfeed\r\x00\x1b", "\xff invalid \xc3", "\u2028 \u202e", "</script>", "a:b:c", "ünï", "position",
	strings.Repeat("long", 800),
}

// Hostile returns a trace of names and values that no format likes, with times if timed
// says so: of several threads, nested, and overlapping.
func Hostile(t testing.TB, timed bool) *reprise.Trace {
	t.Helper()
	var calls []Call
	for i, name := range OddNames {
		f := Function(name,
			Param("thread", cst.KindInt), Param(name, cst.KindString), Param("text", cst.KindString), Param("n", cst.KindInt), Param("x", cst.KindFloat),
			cst.Param{Name: "list", Type: cst.ArrayOf(cst.Type{Kind: cst.KindInt})}, cst.Param{Name: "h", Type: cst.HandleOf(name)},
			Param("position_", cst.KindInt), Param("n", cst.KindInt))
		list := make([]cst.Value, 5000)
		for k := range list {
			list[k] = cst.Int(int64(k))
		}
		at := int64(i) * 1000
		args := func(thread int) []cst.Value {
			return []cst.Value{cst.Int(int64(thread)), cst.String(name), cst.String("a\x00b" + name), cst.Int(-1 << 62), cst.Float(0.1), cst.Array(list...), cst.Handle(7), cst.Int(1), cst.Int(2)}
		}
		calls = append(calls,
			Call{f, args(0), at + 10, 30},
			Call{f, args(0), at + 100, 100},
			Call{f, args(2), at + 50, 700},
			Call{f, args(0), at + 50, 200},  // around the one before it
			Call{f, args(0), at + 240, 100}, // begins before the one before it ends
			Call{f, args(0), at + 340, 0},   // takes no time
			Call{f, args(-3), at + 341, 10})
	}
	return Record(t, merge.Run{Source: OddNames[2], Names: []merge.Name{{Kind: cst.KindHandle, Class: OddNames[3], Value: 7, Name: OddNames[2]}}}, timed,
		[][]Call{calls, calls[:8]})
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
