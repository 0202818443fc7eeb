package merge

import (
	"testing"

	"github.com/reprise-trace/reprise/internal/forest"
	"github.com/reprise-trace/reprise/internal/test/tier"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/sequitur"
)

// TestWriteLimits checks that grammars that a few bytes stand for, and that a
// reader would refuse for it, are not written: in the shared piece, and in a
// piece of their own behind one that is long enough to fill the shared one.
func TestWriteLimits(t *testing.T) {
	tier.Long(t, "grammars of millions of symbols")
	ascending := func(symbols int) *sequitur.Grammar {
		var b sequitur.Builder
		for s := range symbols {
			b.Append(sequitur.Symbol(s))
		}
		return b.Finish()
	}
	long, large := ascending(100_000), ascending(int(layout.MostSymbols(0))+1)
	for _, tt := range []struct {
		name     string
		grammars []*sequitur.Grammar
		ok       bool
	}{
		{"Long", []*sequitur.Grammar{long, long}, true},
		{"Shared", []*sequitur.Grammar{large}, false},
		{"Own", []*sequitur.Grammar{long, large}, false},
	} {
		m := &model{forest: forest.New(tt.grammars)}
		if err := m.checkGrammars(m.appendGrammars()); (err == nil) != tt.ok {
			t.Errorf("%s: err = %v", tt.name, err)
		}
	}
}
