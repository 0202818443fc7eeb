package sequitur_test

import (
	"math"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// TestMisuse calls the package as it must not be called.
func TestMisuse(t *testing.T) {
	var b sequitur.Builder
	b.AppendRun(3, 5)
	g := b.Finish()
	forest := sequitur.NewForest([]*sequitur.Grammar{g})
	shared, err := sequitur.ParseShared(forest.AppendShared(nil), sequitur.Options{})
	if err != nil {
		t.Fatal(err)
	}
	measure := g.Measure(func(sequitur.Symbol) uint64 { return 1 })
	misuse.Panic(t, "sequitur", map[string]func(){
		"forest of nil":                 func() { sequitur.NewForest([]*sequitur.Grammar{nil}) },
		"forest of a grammar and nil":   func() { sequitur.NewForest([]*sequitur.Grammar{g, nil}) },
		"member before":                 func() { forest.Grammar(-1) },
		"member after":                  func() { forest.Grammar(1) },
		"encoding a member before":      func() { forest.AppendMember(nil, -1) },
		"encoding a member after":       func() { forest.AppendMember(nil, 1) },
		"parsing a member before":       func() { shared.ParseMember(nil, -1) },
		"concatenating nil":             func() { sequitur.Concat(g, nil) },
		"prefix of nil":                 func() { g.CommonPrefix(nil, func(s sequitur.Symbol) sequitur.Symbol { return s }) },
		"symbol after the end":          func() { g.At(5) },
		"body of a rule before":         func() { g.Body(-1) },
		"body of a rule after":          func() { g.Body(9) },
		"length of a rule before":       func() { g.RuleLen(-1) },
		"length of a rule after":        func() { g.RuleLen(9) },
		"rewriting to large symbols":    func() { g.Rewrite(func(sequitur.Symbol) sequitur.Symbol { return math.MaxUint32 }) },
		"rewriting a forest":            func() { forest.Rewrite(func(sequitur.Symbol) sequitur.Symbol { return math.MaxUint32 }) },
		"appending a large symbol":      func() { new(sequitur.Builder).Append(math.MaxUint32) },
		"appending a large run":         func() { new(sequitur.Builder).AppendRun(1, math.MaxUint64) },
		"appending a large loop":        func() { new(sequitur.Builder).AppendLoop([]sequitur.Run{{Symbol: 1, Count: 2}}, math.MaxUint64) },
		"rewriting to nothing":          func() { g.Rewrite(nil) },
		"rewriting a forest to nothing": func() { forest.Rewrite(nil) },
		"measuring nothing":             func() { g.Measure(nil) },
		"summing up nothing":            func() { sequitur.NewSum[int](g, nil, nil) },
		"summing up at no places":       func() { sequitur.NewSumAt[int](nil, nil, nil) },
		"text to nothing":               func() { g.WriteText(nil, nil) },
		"graph to nothing":              func() { g.WriteDOT(nil, nil) },
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
			measure.Before(6)
			measure.Find(6)
			for range measure.From(6) {
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
			e.CommonPrefix(g, func(s sequitur.Symbol) sequitur.Symbol { return s })
			for range e.From(0) {
			}
			sequitur.NewForest(nil).AppendShared(nil)
			sequitur.NewForest(nil).FirstUse()
			sequitur.WalkSymbols(nil).Next()
			empty.AppendRun(1, 0)
			empty.AppendLoop(nil, 7)
			_ = e.String()
		},
		"the zero grammar": func() {
			var z sequitur.Grammar
			z.Len()
			z.Hash()
			z.FirstUse()
			z.Walk(0).Next()
			_ = z.String()
			z.AppendBinary(nil)
			z.Rewrite(func(s sequitur.Symbol) sequitur.Symbol { return s })
			sequitur.NewForest([]*sequitur.Grammar{&z}).AppendShared(nil)
		},
		"parsing nothing": func() {
			sequitur.Parse(nil, sequitur.Options{})
			sequitur.ParseShared(nil, sequitur.Options{})
			shared.ParseMember(nil, 9)
			d := wire.NewDecoder("test", nil)
			sequitur.DecodeShared(&d, sequitur.Options{})
		},
	})
}
