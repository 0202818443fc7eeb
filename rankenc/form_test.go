package rankenc

import (
	"slices"
	"testing"
)

// TestForms checks that every family and every encoding has a name of its own.
func TestForms(t *testing.T) {
	if len(forms) != len(families) {
		t.Fatalf("%d forms of %d families", len(forms), len(families))
	}
	for i := range families {
		e := Expr{family: uint8(i)}
		for k := range families[i].extents {
			e.params[k] = 1
		}
		if got := ColumnForm(e.append(nil)); got != e.Form() || got == "" {
			t.Errorf("family %d: column of form %q, expression of form %q", i, got, e.Form())
		}
	}
	for _, list := range [][]string{forms[:], columnForms[:], matrixForms[:]} {
		sorted := slices.Sorted(slices.Values(list))
		if len(slices.Compact(sorted)) != len(list) || sorted[0] == "" {
			t.Errorf("forms %q", list)
		}
	}
}

func TestColumnForm(t *testing.T) {
	domain := Over(World(6), 6)
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
		enc, _ := c.MarshalBinary()
		if got := ColumnForm(enc); got != tt.want {
			t.Errorf("%v is %v, of form %q, want %q", tt.values, c, got, tt.want)
		}
	}
	for _, enc := range [][]byte{nil, {byte(len(forms))}, {headColumns + byte(len(columnForms))}} {
		if got := ColumnForm(enc); got != "" {
			t.Errorf("%x is a column of form %q", enc, got)
		}
	}
}

func TestMatrixForm(t *testing.T) {
	domain := Over(World(2), 2)
	m := NewMatrix(domain, [][]int64{{1, 2, 3}, {1, 2, 3}}, nil, Options{})
	enc, _ := m.MarshalBinary()
	if got := MatrixForm(enc); got != "equal rows" {
		t.Errorf("%v is of form %q", m, got)
	}
	same := NewMatrix(domain, [][]int64{{1, 2, 3}, {1, 2, 3}}, []Matrix{m}, Options{})
	enc, _ = same.MarshalBinary()
	if got := MatrixForm(enc); got != "same rows as another" {
		t.Errorf("%v is of form %q", same, got)
	}
	for _, enc := range [][]byte{nil, {byte(len(matrixForms))}} {
		if got := MatrixForm(enc); got != "" {
			t.Errorf("%x is a matrix of form %q", enc, got)
		}
	}
}
