package sequitur_test

import (
	"math"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/sequitur"
)

// TestMisuse calls the package as it must not be called.
func TestMisuse(t *testing.T) {
	var b sequitur.Builder
	b.AppendRun(3, 5)
	g := b.Finish()
	misuse.Panic(t, "sequitur", map[string]func(){
		"concatenating nil":       func() { sequitur.Concat(g, nil) },
		"symbol after the end":    func() { g.At(5) },
		"body of a rule before":   func() { g.Body(-1) },
		"body of a rule after":    func() { g.Body(9) },
		"length of a rule before": func() { g.RuleLen(-1) },
		"length of a rule after":  func() { g.RuleLen(9) },
		"rewriting to large symbols": func() {
			g.Rewrite(func(sequitur.Symbol) sequitur.Symbol {
				return math.MaxUint32
			})
		},
		"appending a large symbol": func() { new(sequitur.Builder).Append(math.MaxUint32) },
		"appending a large run":    func() { new(sequitur.Builder).AppendRun(1, math.MaxUint64) },
		"appending a large loop": func() {
			new(sequitur.Builder).AppendLoop([]sequitur.Run{{Symbol: 1, Count: 2}}, math.MaxUint64)
		},
		"rewriting to nothing": func() { g.Rewrite(nil) },
		"text to nothing":      func() { g.WriteText(nil, nil) },
	})
	misuse.Harmless(t, map[string]func(){
		"after the end": func() {
			g.Walk(6).Next()
			for range g.From(6) {
			}
			for range g.OccurrencesBefore(6) {
			}
			for range g.Prefix(6) {
			}
			if g.Equal(nil) {
				t.Error("a grammar is equal to none")
			}
		},
		"empty grammars": func() {
			var empty sequitur.Builder
			e := empty.Finish()
			sequitur.Concat()
			sequitur.Concat(e, e)
			e.Equal(e)
			e.Walk(0).Next()
			for range e.From(0) {
			}
			sequitur.WalkSymbols(nil).Next()
			empty.AppendRun(1, 0)
			empty.AppendLoop(nil, 7)
			_ = e.String()
		},
		"the zero grammar": func() {
			var z sequitur.Grammar
			z.Len()
			z.FirstUse()
			z.Walk(0).Next()
			_ = z.String()
			z.AppendBinary(nil)
			z.Rewrite(func(s sequitur.Symbol) sequitur.Symbol { return s })
		},
		"parsing nothing": func() {
			sequitur.Parse(nil, sequitur.Options{})
			sequitur.FromRules(nil)
			sequitur.FromRules([][]sequitur.Term{nil})
		},
	})
}
