package rankenc_test

import (
	"testing"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/rankenc"
)

// TestMisuse calls the package as it must not be called.
func TestMisuse(t *testing.T) {
	two := rankenc.Over(rankenc.SetOf(0, 1), 2)
	column := rankenc.NewColumn(two, []int64{1, 5}, rankenc.Options{})
	matrix := rankenc.NewMatrix(two, [][]int64{{1}, {2, 3}}, nil, rankenc.Options{})
	set := rankenc.SetOf(3, 5)
	var builder rankenc.SetBuilder
	misuse.Panic(t, "rankenc", map[string]func(){
		"ring of 0":              func() { rankenc.Ring(1, 0) },
		"ring of -1":             func() { rankenc.Ring(1, -1) },
		"column of few values":   func() { rankenc.NewColumn(two, nil, rankenc.Options{}) },
		"column of many values":  func() { rankenc.NewColumn(two, make([]int64, 3), rankenc.Options{}) },
		"column before":          func() { column.At(-1) },
		"column after":           func() { column.At(2) },
		"empty column":           func() { rankenc.Column{}.At(0) },
		"fit of few values":      func() { rankenc.Fit(two, nil, rankenc.Options{}) },
		"fit of unequal lengths": func() { rankenc.FitGroups([]int64{1}, nil, []int64{1}, rankenc.Options{}) },
		"matrix of few rows":     func() { rankenc.NewMatrix(two, nil, nil, rankenc.Options{}) },
		"row before":             func() { matrix.AppendRow(nil, -1) },
		"row after":              func() { matrix.AppendRow(nil, 2) },
		"row of an empty matrix": func() { rankenc.Matrix{}.AppendRow(nil, 0) },
		"begin of a row after":   func() { matrix.AppendRowBegin(nil, 2, 1) },
		"negative begin":         func() { matrix.AppendRowBegin(nil, 0, -1) },
		"length of a row after":  func() { matrix.RowLen(2) },
		"source of a row after":  func() { matrix.Source(2) },
		"set of a negative rank": func() { rankenc.SetOf(-1) },
		"rank before":            func() { set.At(-1) },
		"rank after":             func() { set.At(2) },
		"rank of an empty set":   func() { rankenc.Set{}.At(0) },
		"adding a negative rank": func() { builder.Add(-1) },
		"adding a large range":   func() { builder.AddRange(0, 1<<40) },
	})
	misuse.Harmless(t, map[string]func(){
		"relative in a group of 0":             func() { _ = rankenc.Relative(1, 0, 0) },
		"a ring in a group of 0":               func() { rankenc.Ring(1, 4).Eval(0, 0) },
		"the zero expression":                  func() { _ = rankenc.Expr{}.String(); rankenc.Expr{}.Form(); rankenc.Expr{}.C(0, nil) },
		"the zero column":                      func() { _ = rankenc.Column{}.String(); rankenc.Column{}.Expr(); rankenc.Column{}.Plain() },
		"a size that is not that of the ranks": func() { rankenc.Over(set, 4); rankenc.Over(set, -1); rankenc.World(-1) },
		"forms of nothing":                     func() { rankenc.ColumnForm(nil); rankenc.MatrixForm(nil); rankenc.ReferenceOf(nil, -1) },
		"parsing nothing": func() {
			rankenc.ParseColumn(nil, rankenc.Domain{})
			rankenc.ParseMatrix(nil, rankenc.Domain{}, nil)
			rankenc.ParseSet(nil)
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
