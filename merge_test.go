package reprise

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/tracer"
)

// TestMergeAgain merges a directory into a file in it, however the two are written, twice:
// the trace of before is not one of the parts.
func TestMergeAgain(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("parts", 0o777); err != nil {
		t.Fatal(err)
	}
	for rank, name := range []string{"parts/0.rpz", "parts/1.rpz"} {
		var (
			r tracer.Recorder
			a merge.Accumulator
			b bytes.Buffer
		)
		r.Call(r.Declare(cst.Function{Name: "step"}))
		if err := a.Add(r.Finish(rank)); err != nil {
			t.Fatal(err)
		}
		if err := a.WritePart(&b); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	absolute, err := filepath.Abs("parts")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ out, parts string }{
		{"parts/run.rpz", "parts"},
		{"./parts/../parts/run.rpz", "parts/"},
		{filepath.Join(absolute, "run.rpz"), "parts"},
		{"parts/run.rpz", absolute},
	} {
		for range 2 {
			if err := Merge(tt.out, tt.parts); err != nil {
				t.Errorf("%s of %s: %v", tt.out, tt.parts, err)
			}
		}
	}
	t.Chdir("parts")
	if err := Merge("run.rpz", "."); err != nil {
		t.Error(err)
	}
	trace, err := Open("run.rpz")
	if err != nil {
		t.Fatal(err)
	}
	defer trace.Close()
	if n := trace.RankSet().Len(); n != 2 {
		t.Errorf("%d ranks", n)
	}
}
