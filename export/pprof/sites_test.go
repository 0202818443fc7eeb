package pprof_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// TestSites looks for the lines of the program that calls were made in: they are the frames
// behind the function that is called, and there are no loops.
func TestSites(t *testing.T) {
	site := cst.HandleOf("site")
	var r tracer.Recorder
	put := r.Declare(cst.Function{Name: "put", Params: []cst.Param{{Name: "site", Type: site}}})
	for range 10 {
		r.Call(put, cst.Handle(7))
		r.Call(put, cst.Handle(8))
		r.Call(put, cst.Handle(9))
		r.Call(put, cst.Handle(10))
	}
	r.Call(put, cst.Handle(11))
	var a merge.Accumulator
	err := a.Describe(merge.Run{Ranks: 1, Names: []format.Name{
		{Kind: cst.KindHandle, Class: "site", Value: 7,
			Name: "solver.f90:212 exchange_ < solver.f90:40 solve_ < main.c:12 main #2"},
		{Kind: cst.KindHandle, Class: "site", Value: 8, Name: "exchange_+0x1f"},
		{Kind: cst.KindHandle, Class: "site", Value: 10, Name: "C:/a b/x.c:5 f"},
		{Kind: cst.KindHandle, Class: "site", Value: 11, Name: "solver.f90:220 exchange_ < solver.f90:40 solve_"},
	}})
	if err == nil {
		err = a.Add(r.Finish(0))
	}
	var file bytes.Buffer
	if err == nil {
		err = a.Write(&file)
	}
	if err != nil {
		t.Fatal(err)
	}
	tr, err := trace.OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()), trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	type line struct {
		function, file string
		number         int64
	}
	want := map[line]int64{
		{"exchange_", "solver.f90", 212}: 10, {"exchange_", "solver.f90", 220}: 1,
		{"exchange_+0x1f", "", 0}: 10, {"0x9", "", 0}: 10, {"f", "C:/a b/x.c", 5}: 10,
	}
	p := parse(t, write(t, tr, export.Options{}))
	functions := make(map[[2]string]bool)
	for _, f := range p.Function {
		if k := [2]string{f.Name, f.Filename}; functions[k] {
			t.Errorf("function %v is there twice", k)
		} else {
			functions[k] = true
		}
		if strings.HasPrefix(f.Name, "loop") {
			t.Errorf("a frame that is no place: %s", f.Name)
		}
	}
	for _, s := range p.Sample {
		if len(s.Location) < 2 || s.Location[0].Line[0].Function.Name != "put" {
			t.Fatalf("%v", s.Location)
		}
		at := s.Location[1].Line[0]
		k := line{at.Function.Name, at.Function.Filename, at.Line}
		if want[k] != s.Value[0] {
			t.Errorf("%d calls in %+v, want %v", s.Value[0], k, want)
		}
		if at.Line == 212 {
			if len(s.Location) != 4 || s.Location[2].Line[0].Line != 40 ||
				s.Location[3].Line[0].Function.Name != "main" {
				t.Errorf("%v", s.Location)
			}
		}
		delete(want, k)
	}
	if len(want) > 0 {
		t.Errorf("no samples of %v", want)
	}
}

// TestSitesOfGaps checks that the time before a call is in the place that makes it.
func TestSitesOfGaps(t *testing.T) {
	put := testtrace.Function("put", cst.Param{Name: "site", Type: cst.HandleOf("site")})
	run := merge.Run{Names: []format.Name{{Kind: cst.KindHandle, Class: "site", Value: 7,
		Name: "a.c:5 f < b.c:6 main"}}}
	tr := testtrace.Record(t, run, true, [][]testtrace.Call{{
		{Function: put, Args: []cst.Value{cst.Handle(7)}, Start: 100, Duration: 10},
		{Function: put, Args: []cst.Value{cst.Handle(7)}, Start: 200, Duration: 10},
	}})
	got := make(map[string]int64)
	for _, s := range parse(t, write(t, tr, export.Options{})).Sample {
		stack := ""
		for _, l := range s.Location {
			stack += " " + l.Line[0].Function.Name
		}
		got[stack] += s.Value[1]
	}
	if len(got) != 2 || got[" put f main"] != 20 || got[" (outside calls) f main"] != 90 {
		t.Errorf("stacks %v", got)
	}
}
