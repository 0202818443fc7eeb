package collect

import (
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/tracer"
)

// TestNamesOfWhatAdvances has a tag and a number that have names where others advance.
func TestNamesOfWhatAdvances(t *testing.T) {
	var r tracer.Recorder
	fn := r.Declare(
		cst.Function{Name: "MPI_Recv", Params: []cst.Param{{Name: "count", Type: cst.Type{Kind: cst.KindInt}},
			{Name: "tag", Type: cst.Type{Kind: cst.KindTag}}}})
	const undefined = -32766
	r.Call(fn, cst.Int(undefined), cst.Tag(spec.ID("MPI_ANY_TAG")))
	for i := range int64(100) {
		r.Call(fn, cst.Int(i), cst.Tag(2*i))
	}
	part := r.Finish(0)
	if part.Streams == nil {
		t.Fatal("nothing advances")
	}
	called := make(naming)
	called.add(&process{numerals: []format.Name{{Kind: cst.KindInt, Value: undefined, Name: "MPI_UNDEFINED"}}}, &part)
	got := make(map[string]bool)
	for _, name := range called.list() {
		got[name.Name] = true
	}
	if !got["MPI_UNDEFINED"] || !got["MPI_ANY_TAG"] {
		t.Errorf("names %v", got)
	}
}
