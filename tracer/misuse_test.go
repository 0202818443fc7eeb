package tracer_test

import (
	"path/filepath"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/tracer"
)

// TestMisuse calls all of the package as it must not be called: nothing panics in the program that is
// recorded.
func TestMisuse(t *testing.T) {
	process, err := tracer.Open(tracer.Config{Path: filepath.Join(t.TempDir(), "part.rpz")})
	if err != nil {
		t.Fatal(err)
	}
	f := cst.Function{Name: "f", Params: []cst.Param{{Name: "a", Type: cst.Type{Kind: cst.KindInt}}}}
	var r tracer.Recorder
	r.Declare(f)
	one, two := tracer.Func1[int]("f1", "a"), tracer.Func2[string, []int]("f2", "a", "b")
	three := tracer.Func3[int, []byte, bool]("f3", "a", "b", "c")
	four := tracer.Func4[int, int, int, int]("f4", "a", "b", "c", "d")
	five := tracer.Func5[int, int, int, int, int]("f5", "a", "b", "c", "d", "e")
	thread := process.Thread()
	misuse.Walk{
		Package: "tracer",
		Never:   true,
		Functions: []any{
			tracer.Func, tracer.Open, tracer.New, tracer.Func1[int], tracer.Func2[int, string],
			tracer.Func3[int, []byte, bool], tracer.Func4[int, int, int, int], tracer.Func5[int, int, int, int, int],
		},
		Values: []any{
			f, &r, tracer.Func(f), process, thread, thread.Begin(), &one, &two, &three, &four, &five, cst.Int(1),
			cst.String("x"), new(tracer.Recorder), new(tracer.Function),
			new(tracer.Function1[int]),
		},
	}.Run(t)
}
