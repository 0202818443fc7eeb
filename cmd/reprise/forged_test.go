package main

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/show"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/forged"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/simgrid"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/tracer"
)

// writeTrace writes a trace that compress would not.
func writeTrace(t *testing.T, path string, run merge.Run, parts ...merge.Part) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := merge.Write(f, run, parts); err != nil {
		t.Fatal(err)
	}
}

// TestHugeTrace asks for parts of a trace that nobody can expand.
func TestHugeTrace(t *testing.T) {
	t.Chdir(t.TempDir())
	var parts []merge.Part
	for rank := range 3 {
		var table cst.Table
		var calls sequitur.Builder
		table.Intern(table.Declare(cst.Function{Name: "init"}))
		calls.AppendRun(0, math.MaxInt64)
		parts = append(parts, merge.Part{Rank: rank, Table: &table, Grammar: calls.Finish()})
	}
	writeTrace(t, "huge.rpz", merge.Run{Ranks: math.MaxInt32, Source: simgrid.Source}, parts...)

	var got struct {
		Calls     uint64
		Functions []show.FunctionCount
		Text      show.TextSizes
	}
	if err := json.Unmarshal([]byte(must(t, "info", "--json", "huge.rpz")), &got); err != nil {
		t.Fatal(err)
	}
	if got.Calls != math.MaxUint64 || got.Functions[0].Calls != math.MaxUint64 || got.Text.Plain != math.MaxUint64 {
		t.Errorf("info counts %d calls, %d of one function, %d bytes", got.Calls, got.Functions[0].Calls,
			got.Text.Plain)
	}
	must(t, "info", "huge.rpz")
	for _, tt := range []struct{ args, want string }{
		{"cat huge.rpz --count 1", "0 init\n"},
		{"cat huge.rpz --first 9223372036854775806 --count 2", "0 init\n1 init\n"},
		{"cat huge.rpz --ranks 2 --first 9223372036854775806", "2 init\n"},
		{"grammar huge.rpz --ranks 2",
			"rank 2 of 2,147,483,647: 9,223,372,036,854,775,807 calls, 1 different, as 1 rule with 1 symbol\n\n" +
				"  9,223,372,036,854,775,807 × init()\n"},
		{"grammar huge.rpz --together",
			"program of shape 0, ranks 0-2: ≥ 18,446,744,073,709,551,615 calls\n\n  9,223,372,036,854,775,807 × init()\n"},
		{"grammar huge.rpz --ranks 2147483646",
			"rank 2147483646 of 2,147,483,647: 0 calls, 0 different, as 0 rules with 0 symbols\n\n"},
	} {
		if got := must(t, strings.Fields(tt.args)...); got != tt.want {
			t.Errorf("reprise %s: %q, want %q", tt.args, got, tt.want)
		}
	}
	r := invoke(t, "", "cat", "huge.rpz", "--ranks", "2147483646")
	if want := "reprise: warning: rank 2147483646 has no calls\n"; r.status != cli.ExitOK || r.stdout != "" ||
		r.stderr != want {
		t.Errorf("a rank without calls: %+v", r)
	}
}

// TestDeepGrammar prints loops that nest deeper than lines are wide.
func TestDeepGrammar(t *testing.T) {
	t.Chdir(t.TempDir())
	file, err := forged.DeepRules()
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, "deep.rpz", string(file))
	if r := invoke(t, "", "grammar", "deep.rpz", "--together"); r.status == cli.ExitOK ||
		!strings.Contains(r.stderr, show.ErrApart.Error()) {
		t.Errorf("--together: %+v", r)
	}
	lines := strings.Split(must(t, "grammar", "deep.rpz"), "\n")
	if len(lines) != 2+2*forged.Depth+1 {
		t.Errorf("%d lines", len(lines))
	}
	for _, line := range lines {
		if indent := len(line) - len(strings.TrimLeft(line, " ")); indent > 2*40 {
			t.Fatalf("a line is indented by %d", indent)
		}
	}
}

// TestOtherTrace reads a trace that no SimGrid trace is the source of, with
// values of every kind and names that a terminal should not see.
func TestOtherTrace(t *testing.T) {
	t.Chdir(t.TempDir())
	param := func(name string, k cst.Kind) cst.Param { return cst.Param{Name: name, Type: cst.Type{Kind: k}} }
	var r tracer.Recorder
	fn := r.Declare(cst.Function{Name: "f<\x1b", Params: []cst.Param{
		param("int", cst.KindInt), param("float", cst.KindFloat), param("nan", cst.KindFloat),
		param("string", cst.KindString),
		param("bytes", cst.KindBytes), param("pointer", cst.KindPointer), param("status", cst.KindStatus),
		{Name: "array", Type: cst.ArrayOf(cst.Type{Kind: cst.KindRank})},
	}})
	r.Call(fn, cst.Int(math.MinInt64), cst.Float(0.1), cst.Float(math.NaN()), cst.String("<&>"),
		cst.Bytes([]byte{0, 255}),
		cst.PointerTo(cst.Pointer{Segment: 3, Displacement: 16}), cst.StatusOf(cst.Status{Source: 1, Tag: 99}),
		cst.Array(cst.Rank(1), cst.Rank(2)))
	writeTrace(t, "other.rpz", merge.Run{Ranks: 1, Source: "tracer\x1b[2J"}, r.Finish(0))
	writeFile(t, "in.txt", "0 init\n")

	const want = `{"schema":1,"rank":0,"position":0,"function":"f<\u001b","args":[{"name":"int","value":-9223372036854775808},` +
		`{"name":"float","value":0.1},{"name":"nan","value":"NaN"},{"name":"string","value":"<&>"},{"name":"bytes","value":"AP8="},` +
		`{"name":"pointer","value":{"device":0,"displacement":16,"segment":3}},` +
		`{"name":"status","value":{"error":0,"source":1,"tag":99}},{"name":"array","value":[1,2]}]}` + "\n"
	if got := must(t, "cat", "--json", "other.rpz"); got != want {
		t.Errorf("as JSON %s, want %s", got, want)
	}
	if got := must(t, "cat", "other.rpz"); !strings.HasPrefix(got, "0\t0\t\"f<\\x1b\"(int=") {
		t.Errorf("the default format gives %q", got)
	}
	got := must(t, "info", "other.rpz")
	if strings.Contains(got, "\x1b") || strings.Contains(got, "gzip") ||
		!strings.Contains(got, `from "tracer\x1b[2J"`) {
		t.Errorf("info gives %q", got)
	}
	for _, tt := range []struct{ args, want string }{
		{"cat other.rpz --format ti",
			`other.rpz: a SimGrid trace cannot hold the function "f<\x1b"; reprise cat --format text, or json, writes its calls`},
		{"cat other.rpz --split dir",
			`other.rpz: a SimGrid trace cannot hold the function "f<\x1b"; reprise cat --format text, or json, writes its calls`},
	} {
		if r := invoke(t, "", strings.Fields(tt.args)...); r.status != cli.ExitFailure ||
			r.stderr != "reprise: "+tt.want+"\n" {
			t.Errorf("reprise %s: status %d, %q, want %q", tt.args, r.status, r.stderr, tt.want)
		}
	}
	if r := invoke(t, "", "verify", "other.rpz", "in.txt"); r.status != cli.ExitFailure ||
		!strings.Contains(r.stderr, "rank 0, position 0: ") {
		t.Errorf("verify: status %d, %q", r.status, r.stderr)
	}
}
