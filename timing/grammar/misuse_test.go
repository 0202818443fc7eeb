package grammar_test

import (
	"testing"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/timing/grammar"
)

// TestMisuse calls all of the package as it must not be called.
func TestMisuse(t *testing.T) {
	misuse.Walk{Package: "grammar", Functions: []any{grammar.New}}.Run(t)
}
