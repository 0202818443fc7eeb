package layout

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
)

// TestShapes checks that the ranks of shapes are read as they were written, as sets or as a
// column.
func TestShapes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 200).Draw(t, "ranks")
		most := rapid.IntRange(1, size).Draw(t, "shapes")
		var builders []rankenc.SetBuilder
		for rank := range size {
			switch i := rapid.IntRange(-1, most).Draw(t, "shape"); {
			case i < 0: // no calls
			case i < len(builders):
				builders[i].Add(rank)
			default:
				builders = append(builders, rankenc.SetBuilder{})
				builders[len(builders)-1].Add(rank)
			}
		}
		shapes := make([]rankenc.Set, len(builders))
		for i := range builders {
			shapes[i] = builders[i].Finish()
		}
		data, column := AppendShapes(nil, shapes, size, 0)
		d := wire.NewDecoder("merge", data)
		read := DecodeShapes(&d, size, column, 0)
		d.End("shapes")
		if d.Err() != nil || len(read) != len(shapes) {
			t.Fatalf("%d shapes, not %d: %v", len(read), len(shapes), d.Err())
		}
		for i := range read {
			if !read[i].Equal(shapes[i]) {
				t.Fatalf("shape %d: %v, not %v", i, read[i], shapes[i])
			}
		}
	})
}

// TestShapesAlone checks that shapes of a rank each take a few bytes.
func TestShapesAlone(t *testing.T) {
	const size = 1024
	shapes := make([]rankenc.Set, size)
	for i := range shapes {
		var b rankenc.SetBuilder
		b.Add(i)
		shapes[i] = b.Finish()
	}
	if data, column := AppendShapes(nil, shapes, size, 0); !column || len(data) > 16 {
		t.Errorf("%d bytes, as a column: %v", len(data), column)
	}
}

// TestRefuseShapes checks columns of shapes that no run has.
func TestRefuseShapes(t *testing.T) {
	column := func(shapes uint64, of ...int64) []byte {
		return AppendNumbers(wire.AppendUvarint(nil, shapes), of)
	}
	tests := []struct {
		name string
		data []byte
		size int
	}{
		{"TooMany", wire.AppendUvarint(nil, 1<<40), 3},
		{"TooFewForTheRanks", column(1, make([]int64, 3)...), 1000},
		{"FewerThanItSays", column(2, inNewShape, inShape, inShape), 3},
		{"MoreThanItSays", column(1, inNewShape, inNewShape, inNoShape), 3},
		{"LaterShape", column(2, inNewShape, inShape+1, inNewShape), 3},
		{"Negative", column(2, inNewShape, -1, inNewShape), 3},
		{"CutOff", column(2, inNewShape, inShape, inNewShape)[:1], 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := wire.NewDecoder("merge", tt.data)
			shapes := DecodeShapes(&d, tt.size, true, 0)
			var e *format.ParseError
			if !errors.As(d.Err(), &e) || shapes != nil {
				t.Errorf("%v: %v", shapes, d.Err())
			}
		})
	}
}

// TestBlocks checks where grammars in blocks are, and that other numbers of shapes are refused.
func TestBlocks(t *testing.T) {
	data := append(AppendBlocks(nil, []int{2, 1, 0, 0, 3}), "block"...)
	b, err := ParseBlocks(data, 6)
	if err != nil || b.Len() != 3 {
		t.Fatalf("%d blocks: %v", b.Len(), err)
	}
	for shape, want := range [][2]int{{0, 0}, {0, 1}, {1, 0}, {2, 0}, {2, 1}, {2, 2}} {
		if block, place := b.Of(shape); block != want[0] || place != want[1] {
			t.Errorf("shape %d: block %d, place %d", shape, block, place)
		}
	}
	if block, offset := b.Block(data, 0); string(block) != "block" || offset != len(data)-len(block) {
		t.Errorf("%q, from %d", block, offset)
	}
	if block, offset := b.Block(data, 1); string(block) != string(data) || offset != 0 {
		t.Errorf("%q, from %d", block, offset)
	}
	for run, want := range [][3]int{{0, 1, 2}, {1, 4, 1}, {4, 5, 3}} {
		if first, end, shapes := b.Run(run); [3]int{first, end, shapes} != want {
			t.Errorf("run %d: %d shapes in sections %d to %d", run, shapes, first, end)
		}
	}
	for _, shapes := range []int{0, 5, 7} {
		if _, err := ParseBlocks(data, shapes); err == nil {
			t.Errorf("of %d shapes", shapes)
		}
	}
	for _, sizes := range [][]int{{0, 6}, nil} {
		if _, err := ParseBlocks(AppendBlocks(nil, sizes), 6); err == nil {
			t.Errorf("blocks of %v shapes", sizes)
		}
	}
}

// TestManyRuns reads two shapes of every other rank, of which each alone has as many runs of consecutive
// ranks as may be.
func TestManyRuns(t *testing.T) {
	const ranks = MaxRuns/2 + 1
	var data []byte
	for _, first := range []int{0, 1} {
		var b rankenc.SetBuilder
		for i := range ranks {
			b.Add(first + 2*i)
		}
		data, _ = b.Finish().AppendBinary(data)
	}
	var every rankenc.SetBuilder // other rank
	for i := range MaxRuns + 1 {
		every.Add(2 * i)
	}
	enc, _ := every.Finish().AppendBinary(nil)
	d := wire.NewDecoder("layout", enc)
	if DecodeRanks(&d); !errors.Is(d.Err(), wire.ErrLimit) {
		t.Errorf("%d runs: %v", MaxRuns+1, d.Err())
	}
	for n, want := range []error{1: nil, 2: wire.ErrLimit} {
		d := wire.NewDecoder("layout", append([]byte{byte(n)}, data...))
		if DecodeShapes(&d, 2*ranks, false, 0); n > 0 && !errors.Is(d.Err(), want) {
			t.Errorf("%d shapes: %v, want %v", n, d.Err(), want)
		}
	}
}
