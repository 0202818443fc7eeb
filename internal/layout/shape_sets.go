package layout

import (
	"github.com/reprise-trace/reprise/internal/columns"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
)

// Where there are many shapes for the ranks, which of them each rank is in is a column.
const (
	manyShapes    = 16
	ranksPerShape = 64      // at most, in a column
	fewShapes     = 1 << 16 // that there may be in any column
	shapesPerByte = 1 << 11 // and for each byte of the sections of the grammars
)

// What a column of shapes has for a rank: that it is the first of its shape, the next one,
// that it is in none, or the number of the shape besides.
const (
	inNewShape = iota
	inNoShape
	inShape
)

// mostShapes returns how many shapes a column may have, if the sections of the grammars
// have so many bytes.
func mostShapes(bytes uint64) uint64 {
	return wire.AddSat(fewShapes, wire.MulSat(shapesPerByte, bytes))
}

// AppendShapes appends the ranks of shapes, of a run of size ranks, and reports whether they
// are a column. The sections of the grammars have so many bytes.
func AppendShapes(dst []byte, shapes []rankenc.Set, size int, bytes uint64) (appended []byte, column bool) {
	appended = wire.AppendUvarint(dst, uint64(len(shapes)))
	begin := len(appended)
	for _, s := range shapes {
		appended, _ = s.AppendBinary(appended)
	}
	if len(shapes) < manyShapes || size > ranksPerShape*len(shapes) || uint64(len(shapes)) > mostShapes(bytes) {
		return appended, false
	}
	of := make([]int64, size)
	for rank := range of {
		of[rank] = inNoShape
	}
	for i, s := range shapes {
		for k, rank := range s.All() {
			if of[rank] = int64(i) + inShape; k == 0 {
				of[rank] = inNewShape
			}
		}
	}
	if c := AppendNumbers(nil, of); len(c) < len(appended)-begin {
		return append(appended[:begin], c...), true
	}
	return appended, false
}

// MaxRuns is how many runs of consecutive ranks a set of a file has at most, and the shapes of a run
// together: a few bytes can say a billion, and what unites or intersects sets goes through all of them.
const MaxRuns = 1 << 22

// MaxNamed is how long the list of ranks in an error is, in bytes.
const MaxNamed = 100

// DecodeRanks reads a set of ranks.
func DecodeRanks(d *wire.Decoder) rankenc.Set {
	at := d.Offset()
	s := wire.Embed(d, rankenc.ParseSet)
	if s.Runs() > MaxRuns {
		d.Limit(at, "ranks", "more than %d runs of consecutive ranks", MaxRuns)
		return rankenc.Set{}
	}
	return s
}

// DecodeShapes reads the ranks of the shapes of a run of size ranks, which are a column or
// not. The sections of the grammars have so many bytes.
func DecodeShapes(d *wire.Decoder, size int, column bool, bytes uint64) []rankenc.Set {
	if column {
		return decodeShapeColumn(d, size, bytes)
	}
	var shapes []rankenc.Set
	n := d.Count("shapes", 2)
	ranks, first, runs := 0, -1, 0
	for i := 0; i < n && d.Err() == nil; i++ {
		at := d.Offset()
		s := DecodeRanks(d)
		if d.Err() != nil {
			break
		}
		if ranks += s.Len(); s.Len() == 0 || ranks > size || int(s.At(s.Len()-1)) >= size {
			d.Corrupt(at, "shape", "ranks %s in a run of %d", s.Abbreviated(MaxNamed), size)
			break
		}
		if runs += s.Runs(); runs > MaxRuns {
			d.Limit(at, "shape", "more than %d runs of consecutive ranks in %d shapes", MaxRuns, i+1)
			break
		}
		if int(s.At(0)) <= first {
			d.Corrupt(at, "shape", "rank %d follows rank %d", s.At(0), first)
			break
		}
		first = int(s.At(0))
		shapes = append(shapes, s)
	}
	return shapes
}

// decodeShapeColumn reads the column of the shapes of ranks.
func decodeShapeColumn(d *wire.Decoder, size int, bytes uint64) []rankenc.Set {
	at := d.Offset()
	n := d.UvarintMax("shapes", mostShapes(bytes))
	if d.Err() == nil && uint64(size) > ranksPerShape*n {
		d.Corrupt(at, "shapes", "%d in a column over %d ranks", n, size)
	}
	if d.Err() != nil {
		return nil
	}
	at = d.Offset()
	of := columns.DecodeColumn(d, columns.Over(rankenc.World(size), size))
	if d.Err() != nil {
		return nil
	}
	builders := make([]rankenc.SetBuilder, 0, n)
	for rank, v := range of.All() {
		switch {
		case v == inNewShape && uint64(len(builders)) < n:
			builders = append(builders, rankenc.SetBuilder{})
			v = int64(len(builders)) - 1 + inShape
		case v == inNoShape:
			continue
		case v < inShape || v-inShape >= int64(len(builders)):
			d.Corrupt(at, "shape", "%d after %d of %d", v, len(builders), n)
			return nil
		}
		builders[v-inShape].Add(rank)
	}
	if uint64(len(builders)) != n {
		d.Corrupt(at, "shapes", "%d of %d", len(builders), n)
		return nil
	}
	shapes := make([]rankenc.Set, n)
	for i := range builders {
		shapes[i] = builders[i].Finish()
	}
	return shapes
}
