package rankenc_test

import (
	"math"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/rankenc"
)

// TestMisuse calls the package as it must not be called.
func TestMisuse(t *testing.T) {
	set := rankenc.SetOf(3, 5)
	var builder rankenc.SetBuilder
	misuse.Panic(t, "rankenc", map[string]func(){
		"ring of 0":              func() { rankenc.Ring(1, 0) },
		"ring of -1":             func() { rankenc.Ring(1, -1) },
		"fit of few values":      func() { rankenc.Fit([]int64{0, 1}, nil, 2, rankenc.Options{}) },
		"fit of unequal lengths": func() { rankenc.FitGroups([]int64{1}, nil, []int64{1}, rankenc.Options{}) },
		"set of a negative rank": func() { rankenc.SetOf(-1) },
		"rank before":            func() { set.At(-1) },
		"rank after":             func() { set.At(2) },
		"rank of an empty set":   func() { rankenc.Set{}.At(0) },
		"adding a negative rank": func() { builder.Add(-1) },
		"adding a large range":   func() { builder.AddRange(0, math.MaxInt) },
	})
	misuse.Harmless(t, map[string]func(){
		"a ring in a group of 0":       func() { rankenc.Ring(1, 4).Eval(0, 0) },
		"the zero expression":          func() { _ = rankenc.Expr{}.String(); rankenc.Expr{}.Form() },
		"a world of less than nothing": func() { rankenc.World(-1) },
		"parsing nothing": func() {
			rankenc.ParseSet(nil)
			rankenc.ParseExpr(nil)
			rankenc.SetOfText("", -1)
		},
		"sets of nothing": func() {
			var none rankenc.Set
			none.Union()
			none.Index(-1)
			none.Contains(-1)
			none.Abbreviated(-1)
			none.Intersection(none).Difference(none).Runs()
			rankenc.SetOf()
			builder.AddRange(5, 4)
			builder.Finish()
		},
	})
}
