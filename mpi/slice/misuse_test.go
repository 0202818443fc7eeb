package slice_test

import (
	"os"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/mpi/slice"
)

// TestMisuse calls all of the package as it must not be called.
func TestMisuse(t *testing.T) {
	text, err := os.ReadFile("testdata/ring.ll")
	if err != nil {
		t.Fatal(err)
	}
	read := func() *slice.Module {
		module, err := slice.Read(text)
		if err != nil {
			t.Fatal(err)
		}
		return module
	}
	module := read()
	list, err := slice.Cut(module, slice.Options{ExecuteAll: true})
	if err != nil {
		t.Fatal(err)
	}
	exceptions, err := slice.ReadExceptions([]byte("define void @f() personality ptr @p {\nentry:\n  ret void\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	misuse.Walk{
		Package:   "slice",
		Functions: []any{slice.Assume, slice.Read, slice.Cut, slice.ReadExceptions, slice.ReadErrors},
		Values: []any{text, module, read(), read(), read(), list, exceptions,
			slice.ReadErrors(text, exceptions), &slice.Error{}, slice.Assumption{}},
	}.Run(t)
}
