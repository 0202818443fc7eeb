package columns

import (
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/rankenc"
)

// TestForms checks that every encoding has a name of its own, but for those of matrices that older files
// have in another form.
func TestForms(t *testing.T) {
	for _, list := range [][]string{columnForms[:], matrixForms[headEqualRows:]} {
		sorted := slices.Sorted(slices.Values(list))
		if len(slices.Compact(sorted)) != len(list) || sorted[0] == "" {
			t.Errorf("forms %q", list)
		}
	}
	if !slices.Equal(matrixForms[:headEqualRows], matrixForms[headSame:]) {
		t.Errorf("forms %q", matrixForms)
	}
}

func TestColumnForm(t *testing.T) {
	domain := Over(rankenc.World(6), 6)
	for _, tt := range []struct {
		values []int64
		want   string
	}{
		{[]int64{7, 7, 7, 7, 7, 7}, "constant"},
		{[]int64{700, 700, 700, 700, 700, 700}, "constant"},
		{[]int64{1, 2, 3, 4, 5, 6}, "rank+c"},
		{[]int64{1, 2, 3, 4, 5, 0}, "(rank+c) mod N"},
		{[]int64{3, 1, 4, 1, 5, 9}, "packed"},
		{[]int64{9e9, 1, 9e9, 9e9, 1, 9e9}, "dictionary"},
	} {
		c := NewColumn(domain, tt.values, Options{})
		enc, _ := c.AppendBinary(nil)
		if got := ColumnForm(enc); got != tt.want {
			t.Errorf("%v is %v, of form %q, want %q", tt.values, c, got, tt.want)
		}
	}
	for _, enc := range [][]byte{nil, {0x1f}, {headColumns + byte(len(columnForms))}} {
		if got := ColumnForm(enc); got != "" {
			t.Errorf("%x is a column of form %q", enc, got)
		}
	}
}

func TestMatrixForm(t *testing.T) {
	domain := Over(rankenc.World(2), 2)
	m := NewMatrix(domain, [][]int64{{1, 2, 3}, {1, 2, 3}}, nil, Options{})
	enc, _ := m.AppendBinary(nil)
	if got := MatrixForm(enc); got != "equal rows" {
		t.Errorf("%v is of form %q", m, got)
	}
	same := NewMatrix(domain, [][]int64{{1, 2, 3}, {1, 2, 3}}, []Matrix{m}, Options{})
	enc, _ = same.AppendBinary(nil)
	if got := MatrixForm(enc); got != "same rows as another" {
		t.Errorf("%v is of form %q", same, got)
	}
	for _, enc := range [][]byte{nil, {byte(len(matrixForms))}} {
		if got := MatrixForm(enc); got != "" {
			t.Errorf("%x is a matrix of form %q", enc, got)
		}
	}
}
