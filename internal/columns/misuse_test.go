package columns_test

import (
	"testing"

	"github.com/reprise-trace/reprise/internal/columns"
	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/rankenc"
)

// TestMisuse calls the package as it must not be called.
func TestMisuse(t *testing.T) {
	set := rankenc.SetOf(3, 5)
	two := columns.Over(rankenc.SetOf(0, 1), 2)
	column := columns.NewColumn(two, []int64{1, 5}, columns.Options{})
	matrix := columns.NewMatrix(two, [][]int64{{1}, {2, 3}}, nil, columns.Options{})
	misuse.Panic(t, "columns", map[string]func(){
		"column of few values":   func() { columns.NewColumn(two, nil, columns.Options{}) },
		"column of many values":  func() { columns.NewColumn(two, make([]int64, 3), columns.Options{}) },
		"column before":          func() { column.At(-1) },
		"column after":           func() { column.At(2) },
		"empty column":           func() { columns.Column{}.At(0) },
		"matrix of few rows":     func() { columns.NewMatrix(two, nil, nil, columns.Options{}) },
		"row before":             func() { matrix.AppendRow(nil, -1) },
		"row after":              func() { matrix.AppendRow(nil, 2) },
		"row of an empty matrix": func() { columns.Matrix{}.AppendRow(nil, 0) },
		"begin of a row after":   func() { matrix.AppendRowBegin(nil, 2, 1) },
		"negative begin":         func() { matrix.AppendRowBegin(nil, 0, -1) },
		"length of a row after":  func() { matrix.RowLen(2) },
		"source of a row after":  func() { matrix.Source(2) },
	})
	misuse.Harmless(t, map[string]func(){
		"relative in a group of 0": func() { _ = columns.Relative(1, 0, 0) },
		"the zero column": func() {
			_ = columns.Column{}.String()
			columns.Column{}.Expr()
			columns.Column{}.Plain()
		},
		"a size that is not that of the ranks": func() { columns.Over(set, 4); columns.Over(set, -1) },
		"forms of nothing": func() {
			columns.ColumnForm(nil)
			columns.MatrixForm(nil)
			columns.ReferenceOf(nil, -1)
		},
		"parsing nothing": func() {
			columns.ParseColumn(nil, columns.Domain{})
			columns.ParseMatrix(nil, columns.Domain{}, nil)
		},
	})
}
