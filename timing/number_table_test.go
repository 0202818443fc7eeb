package timing

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/mutate"
)

func classOfColumn(column int) uint32 { return uint32(column % 3) }

// TestNumberTable reads what was written.
func TestNumberTable(t *testing.T) { rapid.Check(t, testNumberTable) }

func testNumberTable(t *rapid.T) {
	rows := rapid.IntRange(0, 40).Draw(t, "rows")
	var columns [][]uint32
	for range rapid.IntRange(0, 5).Draw(t, "columns") {
		number := rapid.OneOf(rapid.Uint32(), rapid.Uint32Range(0, 3), rapid.Uint32Range(1000, 1010), rapid.SampledFrom([]uint32{0, ^uint32(0)}))
		columns = append(columns, rapid.SliceOfN(number, rows, rows).Draw(t, "column"))
	}
	enc, ok := bytes.CutPrefix(AppendNumberTable([]byte("before"), classOfColumn, columns...), []byte("before"))
	if !ok {
		t.Fatal("what was there is gone")
	}
	got, err := ParseNumberTable(enc, rows, len(columns), classOfColumn)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(got, columns, slices.Equal) {
		t.Fatalf("%v is read as %v", columns, got)
	}
}

// TestNumberTableLong checks that equal numbers take next to nothing, and can be read.
func TestNumberTableLong(t *testing.T) {
	column := slices.Repeat([]uint32{12345}, 100_000)
	enc := AppendNumberTable(nil, classOfColumn, column, column)
	t.Logf("%d bytes", len(enc))
	if got, err := ParseNumberTable(enc, len(column), 2, classOfColumn); err != nil || !slices.Equal(got[1], column) || len(enc) > 2000 {
		t.Errorf("%d bytes, %v", len(enc), err)
	}
}

// FuzzParseNumberTable checks that what is read is written as it is.
func FuzzParseNumberTable(f *testing.F) {
	f.Add(AppendNumberTable(nil, classOfColumn, []uint32{1, 2, 3}, []uint32{100, 100, 99}), 3, 2)
	f.Add(AppendNumberTable(nil, classOfColumn, []uint32{0, 1 << 31, 7, 7, 8, 9}), 6, 1)
	f.Add([]byte{}, 1<<20, 1<<20)
	f.Add([]byte{}, 0, math.MaxInt)
	mutate.Fuzz(f, func(t *testing.T, data []byte, rows, columns int) {
		if rows < 0 || columns < 0 {
			return
		}
		table, err := ParseNumberTable(data, rows, columns, classOfColumn)
		var e *ParseError
		if err != nil {
			if table != nil || !errors.As(err, &e) || !errors.Is(err, ErrCorrupt) && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%v, %v", table, err)
			}
			return
		}
		if again := AppendNumberTable(nil, classOfColumn, table...); rows > 0 && !bytes.Equal(again, data) {
			t.Fatalf("%x is read, and written as %x", data, again)
		}
	})
}
