package testtrace

import (
	"math"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/trace"
)

// OddNames are names that no format likes.
var OddNames = []string{
	"", `quote " and \`, "line\nfeed\r\x00\x1b", "\xff invalid \xc3", "\u2028 \u202e", "</script>", "a:b:c",
	"ünï", "position",
	strings.Repeat("long", 800),
}

// Hostile returns a trace of names and values that no format likes, with times if timed
// says so: of several threads, nested, and overlapping.
func Hostile(t TB, timed bool) *trace.Trace {
	t.Helper()
	var calls []Call
	for i, name := range OddNames {
		f := Function(name,
			Param("thread", cst.KindInt), Param(name, cst.KindString), Param("text", cst.KindString),
			Param("n", cst.KindInt), Param("x", cst.KindFloat),
			cst.Param{Name: "list", Type: cst.ArrayOf(cst.Type{Kind: cst.KindInt})},
			cst.Param{Name: "h", Type: cst.HandleOf(name)},
			Param("position_", cst.KindInt), Param("n", cst.KindInt))
		list := make([]cst.Value, 5000)
		for k := range list {
			list[k] = cst.Int(int64(k))
		}
		at := int64(i) * 1000
		args := func(thread int) []cst.Value {
			return []cst.Value{cst.Int(int64(thread)), cst.String(name), cst.String("a\x00b" + name),
				cst.Int(-1 << 62), cst.Float(0.1), cst.Array(list...), cst.Handle(7), cst.Int(1), cst.Int(2)}
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
	return Record(t,
		merge.Run{Source: OddNames[2],
			Names: []format.Name{{Kind: cst.KindHandle, Class: OddNames[3], Value: 7, Name: OddNames[2]}}}, timed,
		[][]Call{calls, calls[:8]})
}

// HostileTable returns a trace of names and values that a table may not be prepared for:
// what needs quotation marks, is no text, differs only by case, or is of several kinds
// under one name. It has the times of every call.
func HostileTable(t TB) *trace.Trace {
	t.Helper()
	integer, float, text := cst.Type{Kind: cst.KindInt}, cst.Type{Kind: cst.KindFloat}, cst.Type{Kind: cst.KindString}
	param := func(name string, typ cst.Type) cst.Param { return cst.Param{Name: name, Type: typ} }
	functions := []cst.Function{
		{Name: "a,\"b\"\r\n;'c'", Params: []cst.Param{param("", integer), param("x y", text),
			param("X_Y", text), param("x y", text)}},
		{Name: "\xff\x00\x1b[31m", Params: []cst.Param{param("Count", integer), param("count", float),
			param("rank", integer)}},
		{Name: "", Params: []cst.Param{param("mixed", integer), param("f", float),
			param("list", cst.ArrayOf(cst.ArrayOf(integer)))}},
		{Name: "=1+1", Params: []cst.Param{param("thread", integer), param("mixed", text),
			param("list", cst.ArrayOf(cst.ArrayOf(integer)))}},
		{Name: "größer", Params: []cst.Param{
			param("request", cst.HandleOf("request")), param("status", cst.Type{Kind: cst.KindStatus}),
			param("address", cst.Type{Kind: cst.KindPointer}),
			param("raw", cst.Type{Kind: cst.KindBytes}), param("floats", cst.ArrayOf(float)),
			param("n", cst.HandleOf("constant")), param("size", cst.HandleOf("constant")),
		}},
		{Name: "size", Params: []cst.Param{param("size", integer), param("tag", cst.Type{Kind: cst.KindTag}),
			param("thread", integer)}},
	}
	texts := []string{"", " ", "plain", "\"quoted\"", "a,b", "line\nbreak", "\xc3", "NULL", "\\N", "ünï",
		"\u2028", "tab\t", "'", "trailing "}
	ranks := make([][]Call, 3)
	for rank := range ranks {
		now := int64(-5)
		call := func(fn int, args ...cst.Value) {
			ranks[rank] = append(ranks[rank], Call{functions[fn], args, now, int64(fn)})
			now += 10
		}
		for i, s := range texts {
			other := texts[(i+rank)%len(texts)]
			call(0, cst.Int(math.MinInt64+int64(i)), cst.String(s), cst.String(other), cst.String(s+other))
			call(3, cst.Int(int64(i%2)), cst.String(s),
				cst.Array(cst.Array(cst.Int(int64(i)), cst.Int(-1)), cst.Array()))
			call(4, cst.Handle(int64(i)), cst.StatusOf(cst.Status{Source: 1, Tag: int64(i)}),
				cst.PointerTo(cst.Pointer{Segment: 3, Displacement: int64(rank), Device: 1}),
				cst.Bytes([]byte(s)), cst.Array(cst.Float(0.1), cst.Float(math.Inf(1)),
					cst.Float(float64(i))), cst.Handle(-2), cst.Handle(-2))
		}
		for i, f := range []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1),
			math.MaxFloat64, 5e-324, 0.1} {
			call(1, cst.Int(int64(i)), cst.Float(f), cst.Int(-1))
			call(2, cst.Int(math.MaxInt64), cst.Float(f), cst.Array())
			call(5, cst.Int(int64(rank)), cst.Tag(-1), cst.Int(3))
		}
	}
	return Record(t, merge.Run{Ranks: 5, Source: "test", Names: []format.Name{
		{Kind: cst.KindTag, Value: -1, Name: "ANY, \"tag\""},
		{Kind: cst.KindHandle, Class: "constant", Value: -2, Name: "NONE"},
	}}, true, ranks)
}

// HostileColumn returns the column of a parameter in the trace of [HostileTable], which is
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
