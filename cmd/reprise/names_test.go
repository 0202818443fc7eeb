package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/compress"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/show"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/tracer"
)

// writeNamed writes named.rpz and named.part.rpz: two ranks that send to each other
// what has names, and some that has none.
func writeNamed(t *testing.T) {
	t.Helper()
	send := cst.Function{Name: "MPI_Send", Params: []cst.Param{
		{Name: "buf", Type: cst.Type{Kind: cst.KindPointer}},
		{Name: "datatypes", Type: cst.ArrayOf(cst.HandleOf("datatype"))},
		{Name: "dest", Type: cst.Type{Kind: cst.KindRank}},
		{Name: "comm", Type: cst.HandleOf("comm")},
	}}
	var a merge.Accumulator
	for rank := range 2 {
		var r tracer.Recorder
		r.Call(r.Declare(send), cst.PointerTo(cst.Pointer{Segment: -16, Displacement: 8}),
			cst.Array(cst.Handle(-20), cst.Handle(1)), cst.Rank(int64(rank)^1), cst.Handle(-3))
		if err := a.Add(r.Finish(rank)); err != nil {
			t.Fatal(err)
		}
	}
	err := a.Describe(merge.Run{Source: "test", Names: []format.Name{
		{Kind: cst.KindHandle, Class: "comm", Value: -3, Name: "MPI_COMM_WORLD"},
		{Kind: cst.KindHandle, Class: "datatype", Value: -20, Name: "MPI_DOUBLE"},
		{Kind: cst.KindPointer, Value: -16, Name: "stack"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var trace, part bytes.Buffer
	if err := a.Write(&trace); err != nil {
		t.Fatal(err)
	}
	if err := a.WritePart(&part); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "named.rpz", trace.String())
	writeFile(t, "named.part.rpz", part.String())
}

func TestCatNames(t *testing.T) {
	t.Chdir(t.TempDir())
	writeNamed(t)
	const (
		text     = "1\t0\tMPI_Send(buf=stack+8, datatypes=[MPI_DOUBLE datatype#1], dest=(rank+1) mod N, comm=MPI_COMM_WORLD)\n"
		object   = `{"schema":1,"rank":1,"position":0,"function":"MPI_Send","args":[`
		pointer  = `{"name":"buf","value":{"device":0,"displacement":8,"segment":-16},"called":"stack"},`
		list     = `{"name":"datatypes","value":[-20,1],"class":"datatype","called":["MPI_DOUBLE",null]},`
		rankComm = `{"name":"dest","value":0},{"name":"comm","value":-3,"class":"comm","called":"MPI_COMM_WORLD"}]}` + "\n"
	)
	for _, file := range []string{"named.rpz", "named.part.rpz"} {
		for _, tt := range []struct{ flags, want string }{
			{"", text},
			{"--absolute", strings.Replace(text, "(rank+1) mod N", "0", 1)},
			{"--json", object + pointer + list + rankComm},
		} {
			args := append([]string{"cat", file, "--ranks", "1"}, strings.Fields(tt.flags)...)
			if got := must(t, args...); got != tt.want {
				t.Errorf("%q\n%s, want\n%s", args, got, tt.want)
			}
		}
	}
	must(t, "merge", "named.part.rpz", "-o", "merged.rpz")
	must(t, "merge", "named.rpz", "-o", "again.rpz")
	must(t, "repair", "named.rpz", "-o", "repaired.rpz")
	for _, name := range []string{"merged.rpz", "again.rpz", "repaired.rpz"} {
		if readFile(t, name) != readFile(t, "named.rpz") {
			t.Errorf("%s differs from named.rpz", name)
		}
	}
}

// TestLostNames checks that a trace that has lost its names keeps the rest, and says
// so.
func TestLostNames(t *testing.T) {
	t.Chdir(t.TempDir())
	writeNamed(t)
	for _, file := range []string{"named.rpz", "named.part.rpz"} {
		writeFile(t, "damaged.rpz", flip(t, readFile(t, file), layout.KindNames, 0))
		out := must(t, "repair", "damaged.rpz", "-o", "saved.rpz")
		if !strings.Contains(out, "of the section names at offset") ||
			!strings.Contains(out, "unreadable: the names of handles and other numbers") {
			t.Errorf("%s", out)
		}
		var r compress.RepairResult
		if err := json.Unmarshal([]byte(must(t, "repair", "--json", "damaged.rpz", "-o", "saved.rpz")),
			&r); err != nil || r.Names != compress.Lost || r.Readable != 2 {
			t.Errorf("%v, %+v", err, r)
		}
		if source, _ := timeInfoOf(t, "saved.rpz",
			cli.ExitOK); source != "repaired without the names of numbers, test" {
			t.Errorf("source %q", source)
		}
		const want = "MPI_Send(buf=segment#-16+8, datatypes=[datatype#-20 datatype#1], dest=rank+1, comm=comm#-3)\n"
		if got := must(t, "cat", "saved.rpz", "--ranks", "0"); got != "0\t0\t"+want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestRequestNames checks that a signature of all ranks calls requests what cat does.
func TestRequestNames(t *testing.T) {
	t.Chdir(t.TempDir())
	request := cst.Param{Name: "request", Type: cst.HandleOf("request")}
	wait := cst.Function{Name: "MPI_Wait", Params: []cst.Param{request}}
	request.Direction = cst.Out
	isend := cst.Function{Name: "MPI_Isend", Params: []cst.Param{request}}
	var a merge.Accumulator
	for rank := range 2 {
		var r tracer.Recorder
		for i := range int64(2) {
			id := cst.Handle(8 * (3 + i)) // the first of pool 3 and of pool 4
			r.CallAt(r.Declare(isend), 100*i, 10, id)
			r.CallAt(r.Declare(wait), 100*i+20, 10, id)
		}
		if err := a.Add(r.Finish(rank)); err != nil {
			t.Fatal(err)
		}
	}
	var file bytes.Buffer
	if err := a.Write(&file); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "requests.rpz", file.String())
	if got := must(t, "cat", "requests.rpz", "--ranks", "0"); !strings.Contains(got, "MPI_Wait(request=isend#1)\n") {
		t.Error(got)
	}
	for _, args := range [][]string{{"waits", "requests.rpz"}, {"profile", "requests.rpz", "--by", "signature"}} {
		if got := must(t, args...); strings.Count(got, "MPI_Wait(request=isend#0) ") != 1 ||
			strings.Count(got, "MPI_Wait(request=isend#1) ") != 1 {
			t.Errorf("%q\n%s", args, got)
		}
	}
}

// TestVariants checks that calls and times of functions of one name, with different
// parameters, are summed up together.
func TestVariants(t *testing.T) {
	t.Chdir(t.TempDir())
	var r tracer.Recorder
	for i := range int64(4) {
		f := cst.Function{Name: "MPI_Test",
			Params: []cst.Param{{Name: "flag", Type: cst.Type{Kind: cst.KindInt}, Direction: cst.Out}}}
		var args []cst.Value
		if i%2 == 1 {
			f.Params, args = append(f.Params, cst.Param{Name: "status", Type: cst.Type{Kind: cst.KindStatus},
				Direction: cst.Out}), append(args, cst.StatusOf(cst.Status{}))
		}
		r.CallAt(r.Declare(f), 1000*i, 100*(i+1), append([]cst.Value{cst.Int(i % 2)}, args...)...)
	}
	var file bytes.Buffer
	if err := merge.Write(&file, merge.Run{Ranks: 1}, []merge.Part{r.Finish(0)}); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "variants.rpz", file.String())
	var i show.Info
	if err := json.Unmarshal([]byte(must(t, "info", "--json", "variants.rpz")), &i); err != nil {
		t.Fatal(err)
	}
	if len(i.Functions) != 1 || i.Functions[0] != (show.FunctionCount{Name: "MPI_Test", Calls: 4}) {
		t.Errorf("calls: %+v", i.Functions)
	}
	if got := must(t, "info", "variants.rpz"); !strings.HasPrefix(got, "variants.rpz: 1 rank, 4 calls\n") {
		t.Errorf("without a source:\n%s", got)
	}
	if r := invoke(t, "", "info", "variants.rpz", "--compare"); r.status != cli.ExitUsage ||
		!strings.HasPrefix(r.stderr, "reprise: --compare is for traces made from a SimGrid trace") {
		t.Errorf("--compare: %+v", r)
	}
	if i.Times == nil || len(i.Times.Functions) != 1 || i.Times.Functions[0].Calls != 4 ||
		i.Times.Functions[0].Sum != "1000" {
		t.Errorf("times: %+v", i.Times)
	}
}
