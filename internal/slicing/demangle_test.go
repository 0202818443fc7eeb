package slicing

import (
	"os/exec"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/e2e"
)

func TestDemangle(t *testing.T) {
	e2e.Programs(t)
	if _, err := exec.LookPath("llvm-cxxfilt-16"); err != nil {
		t.Skip(err)
	}
	texts := []string{"main", "_ZN6Domain1xEi", "writes what it reads in _ZL5depth", "_Znot"}
	var list []*string
	for k := range texts {
		list = append(list, &texts[k])
	}
	Demangle(list)
	want := []string{"main", "Domain::x(int)", "writes what it reads in depth", "_Znot"}
	if !slices.Equal(texts, want) {
		t.Errorf("%q, want %q", texts, want)
	}
}
