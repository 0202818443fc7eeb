package fact_test

import (
	"os"
	"testing"

	"github.com/reprise-trace/reprise/fact"
	"github.com/reprise-trace/reprise/internal/test/misuse"
)

// TestMisuse calls all of the package as it must not be called.
func TestMisuse(t *testing.T) {
	text, err := os.ReadFile("testdata/ring.ll")
	if err != nil {
		t.Fatal(err)
	}
	read := func() *fact.Module {
		module, err := fact.Read(text)
		if err != nil {
			t.Fatal(err)
		}
		return module
	}
	module := read()
	slice, err := fact.Cut(module, fact.Options{ExecuteAll: true})
	if err != nil {
		t.Fatal(err)
	}
	misuse.Walk{
		Package:   "fact",
		Functions: []any{fact.Assume, fact.Read, fact.Cut},
		Values:    []any{text, module, read(), read(), slice, &fact.Error{}, fact.Assumption{}},
	}.Run(t)
}
