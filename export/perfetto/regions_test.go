package perfetto_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/chrome"
	"github.com/reprise-trace/reprise/export/internal/exporttest"
	"github.com/reprise-trace/reprise/internal/test/foreign"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/trace"
)

// marked returns a trace of a rank with regions that overlap, one that never began, and one that never ends, and
// where its regions are, in nanoseconds.
func marked(t *testing.T) (tr *trace.Trace, want []string) {
	mark := func(level int64, name string, start int64) testtrace.Call {
		return testtrace.Call{Function: testtrace.Function("MPI_Pcontrol", testtrace.Param("level", cst.KindInt),
			testtrace.Param("name", cst.KindString)), Args: []cst.Value{cst.Int(level), cst.String(name)},
			Start: start, Duration: 1}
	}
	work := func(start int64) testtrace.Call {
		return testtrace.Call{Function: testtrace.Function("work"), Start: start, Duration: 5}
	}
	return testtrace.Record(t, merge.Run{}, true, [][]testtrace.Call{{
		mark(1, "a", 0), work(10), mark(1, "b", 20), work(30), mark(0, "a", 40), work(50), mark(0, "b", 60),
		mark(0, "never begun", 70), mark(1, "never ended", 80), work(90),
	}}), []string{"a 1-40", "b 21-40", "b 40-60", "never ended 81-95"}
}

// TestRegionEvents reads the regions in Trace Event JSON as a reader that keeps a stack for each thread does.
func TestRegionEvents(t *testing.T) {
	tr, want := marked(t)
	var b bytes.Buffer
	if err := chrome.Write(t.Context(), &b, tr, export.Options{}); err != nil {
		t.Fatal(err)
	}
	var file struct {
		TraceEvents []struct {
			Phase string `json:"ph"`
			Name  string
			TID   int
			TS    float64
		}
	}
	if err := json.Unmarshal(b.Bytes(), &file); err != nil {
		t.Fatal(err)
	}
	type open struct {
		name  string
		start int
	}
	var stack []open
	var got []string
	for _, e := range file.TraceEvents {
		at := int(math.Round(1000 * e.TS))
		switch e.Phase {
		case "B":
			stack = append(stack, open{e.Name, at})
		case "E":
			top := stack[len(stack)-1]
			if stack = stack[:len(stack)-1]; top.name != e.Name || e.TID != 1<<30+1 {
				t.Errorf("%s ends in %s of thread %d", e.Name, top.name, e.TID)
			}
			got = append(got, fmt.Sprintf("%s %d-%d", e.Name, top.start, at))
		}
	}
	if slices.Sort(got); !slices.Equal(got, want) || len(stack) > 0 {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestRegions has the trace processor find the regions.
func TestRegions(t *testing.T) {
	p := foreign.FindTraceProcessor(t)
	tr, want := marked(t)
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			path := file(t, exporttest.Case{Name: "regions", Trace: tr}, f)
			rows := p.Query(t, path, foreign.Faults, fmt.Sprintf(
				"SELECT slice.name, ts, ts + dur FROM slice JOIN (%s) AS place ON place.id = slice.track_id WHERE thread = 'regions of thread 0'", f.tracks))
			if len(rows[0]) > 0 {
				t.Errorf("the trace processor finds faults: %q", rows[0])
			}
			var got []string
			for _, r := range rows[1] {
				got = append(got, text(r[0])+" "+text(r[1])+"-"+text(r[2]))
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}
