package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/tracer"
)

// TestMatchSwitched checks that the ranks are named that switch recording off and on.
func TestMatchSwitched(t *testing.T) {
	var a merge.Accumulator
	if err := a.Describe(merge.Run{Source: collect.Source, Ranks: 4}); err != nil {
		t.Fatal(err)
	}
	for rank := range 4 {
		var r tracer.Recorder
		control := r.Declare(cst.Function{Name: "MPI_Pcontrol",
			Params: []cst.Param{{Name: "level", Type: cst.Type{Kind: cst.KindInt}}}})
		if rank > 0 {
			r.Call(control, cst.Int(0))
			r.Call(control, cst.Int(1))
		}
		r.Call(r.Declare(cst.Function{Name: "MPI_Finalize"}))
		if err := a.Add(r.Finish(rank)); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := a.Write(&b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "switched.rpz")
	writeFile(t, path, b.String())
	const line = "\nrecording was switched off or on, so calls are missing: "
	for ranks, want := range map[string]string{"0-3": "ranks 1-3", "0,2": "rank 2"} {
		if got := must(t, "match", path, "--ranks", ranks); !strings.Contains(got, line+want+"\n") {
			t.Errorf("of %s: %s", ranks, got)
		}
		if got := must(t, "match", path, "--ranks", ranks, "--json"); !strings.Contains(got,
			`"switching_rank_set": "`+want[strings.Index(want, " ")+1:]+`"`) {
			t.Errorf("of %s: %s", ranks, got)
		}
	}
	if got := must(t, "match", path, "--ranks", "0"); strings.Contains(got, "recording was switched") {
		t.Error(got)
	}
}
