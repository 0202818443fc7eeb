package numbers

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/internal/test/mutate"
	"github.com/reprise-trace/reprise/internal/wire"
)

func classOfColumn(column int) uint32 { return uint32(column % 3) }

// TestTable reads what was written.
func TestTable(t *testing.T) { rapid.Check(t, testTable) }

func testTable(t *rapid.T) {
	rows := rapid.IntRange(0, 40).Draw(t, "rows")
	var columns [][]uint32
	for range rapid.IntRange(0, 5).Draw(t, "columns") {
		number := rapid.OneOf(rapid.Uint32(), rapid.Uint32Range(0, 3), rapid.Uint32Range(1000, 1010),
			rapid.SampledFrom([]uint32{0, ^uint32(0)}))
		columns = append(columns, rapid.SliceOfN(number, rows, rows).Draw(t, "column"))
	}
	enc, ok := bytes.CutPrefix(AppendTable([]byte("before"), classOfColumn, columns...), []byte("before"))
	if !ok {
		t.Fatal("what was there is gone")
	}
	got, err := ParseTable(enc, rows, len(columns), classOfColumn)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(got, columns, slices.Equal) {
		t.Fatalf("%v is read as %v", columns, got)
	}
}

// TestTableLong checks that equal numbers take next to nothing, and can be read.
func TestTableLong(t *testing.T) {
	column := slices.Repeat([]uint32{12345}, 100_000)
	enc := AppendTable(nil, classOfColumn, column, column)
	t.Logf("%d bytes", len(enc))
	if got, err := ParseTable(enc, len(column), 2, classOfColumn); err != nil ||
		!slices.Equal(got[1], column) || len(enc) > 2000 {
		t.Errorf("%d bytes, %v", len(enc), err)
	}
}

// FuzzParseTable checks that what is read is written as it is.
func FuzzParseTable(f *testing.F) {
	f.Add(AppendTable(nil, classOfColumn, []uint32{1, 2, 3}, []uint32{100, 100, 99}), 3, 2)
	f.Add(AppendTable(nil, classOfColumn, []uint32{0, 1 << 31, 7, 7, 8, 9}), 6, 1)
	f.Add([]byte{}, 1<<20, 1<<20)
	f.Add([]byte{}, 0, math.MaxInt)
	mutate.Fuzz(f, func(t *testing.T, data []byte, rows, columns int) {
		if rows < 0 || columns < 0 {
			return
		}
		table, err := ParseTable(data, rows, columns, classOfColumn)
		var e *wire.Error
		if err != nil {
			if table != nil || !errors.As(err, &e) || !errors.Is(err, wire.ErrCorrupt) &&
				!errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%v, %v", table, err)
			}
			return
		}
		if again := AppendTable(nil, classOfColumn, table...); rows > 0 && !bytes.Equal(again, data) {
			t.Fatalf("%x is read, and written as %x", data, again)
		}
	})
}

// TestMisuse checks that panics say what was wrong, and that no table has a negative size.
func TestMisuse(t *testing.T) {
	misuse.Panic(t, "numbers", map[string]func(){
		"without classes":        func() { AppendTable(nil, nil, []uint32{1}) },
		"columns of two lengths": func() { AppendTable(nil, classOfColumn, []uint32{1}, nil) },
	})
	if table, err := ParseTable(nil, -1, -1, classOfColumn); err == nil {
		t.Errorf("a table of negative size is %v", table)
	}
}
