package columns

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/rankenc"
)

// TestRowSums compares the sums of rows with those that are added up here, after a way through bytes.
func TestRowSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, m := rapid.IntRange(1, 20).Draw(t, "rows"), rapid.IntRange(0, 20).Draw(t, "elements")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		rows := table(n, m, func(int, int) int64 { return random.Int64() - random.Int64() })
		sums := make([]int64, n)
		for i, row := range rows {
			for _, v := range row {
				sums[i] += v
			}
		}
		number := rapid.IntRange(0, maxLen).Draw(t, "number")
		d := Over(rankenc.World(n), n)
		matrix := NewMatrix(d, rows, nil, Options{})
		if !AreRowSums(sums, matrix) || AreRowSums(sums[1:], matrix) {
			t.Fatal("sums are not told from others")
		}
		enc := AppendRowSums(nil, number)
		got, ok := RowSumsOf(enc)
		if _, err := ParseColumn(enc, d); !ok || got != number || err == nil || ColumnForm(enc) != "sums of rows" {
			t.Fatalf("sums of matrix %d are those of %d, %v, %v", number, got, ok, err)
		}
		c, ok := RowSums(matrix, number)
		var all []int64
		for i := range c.Len() {
			all = append(all, c.At(i))
		}
		if again, _ := c.AppendBinary(nil); !ok || !slices.Equal(all, sums) || !slices.Equal(again, enc) {
			t.Fatalf("sums are %d, not %d", all, sums)
		}
		sums[random.IntN(n)]++
		if AreRowSums(sums, matrix) {
			t.Fatal("others are taken for sums")
		}
	})
}

// TestRowSumsOfMany asks for the sums of two rows that take some bytes, and have millions of elements.
func TestRowSumsOfMany(t *testing.T) {
	row := make([]int64, maxLen/2)
	matrix := NewMatrix(Over(rankenc.World(2), 2), [][]int64{row, row}, nil, Options{})
	if _, ok := RowSums(matrix, 0); ok || AreRowSums([]int64{0, 0}, matrix) {
		t.Error("so many elements are added up")
	}
	if _, ok := RowSumsOf(nil); ok {
		t.Error("nothing is the sums of a matrix")
	}
}
