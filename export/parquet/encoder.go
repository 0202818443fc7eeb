package parquet

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"

	"github.com/reprise-trace/reprise/export/internal/rows"
)

// pageRows is how many rows a page has.
const pageRows = 1 << 16

// An encoder encodes columns of row groups, one at a time. What it holds is of use for
// one column only, but for its memory.
type encoder struct {
	zstd *zstd.Encoder

	column  *rows.Column
	group   *rows.Group
	out     *chunk
	segment int // of the group, in which a page begins

	dictionary dictionary
	seen       []uint32 // by value of the dictionary, the last page that has it
	pages      uint32   // so far
	indices    []int32  // by code of the segment indexed, what the rows have
	indexed    int

	page
}

// What rows have, if it is no index in the dictionary.
const (
	missing = -1
	unknown = -2
)

// chunk encodes a column of a row group.
func (e *encoder) chunk(g *rows.Group, c *rows.Column) *chunk {
	e.column, e.group, e.out, e.segment, e.indexed = c, g, &chunk{}, 0, -1
	e.dictionary.reset()
	e.seen = e.seen[:0]
	e.out.uses(format.RLE) // of levels and indices
	for begin := 0; begin < g.Len() && e.out.err == nil; begin += pageRows {
		end := min(begin+pageRows, g.Len())
		e.first, e.bounds = begin, bounds{}
		switch {
		case c.Type == rows.List:
			e.lists(begin, end)
		case c.Unique:
			e.differences(begin, end)
		case e.dictionary.full(e.out.values - e.out.nulls):
			e.plainPage(begin, end)
		default:
			e.indexPage(begin, end)
		}
		for e.segment < len(g.Segments) && g.Segments[e.segment].End <= end {
			e.segment++
		}
	}
	if e.out.err == nil && slices.Contains(e.out.encodings, format.RLEDictionary) {
		e.dictionaryPage() // without values, too
	}
	return e.out
}

// segments calls f with the parts of segments that are rows begin ≤ i < end.
func (e *encoder) segments(begin, end int, f func(number int, s *rows.Segment, numbers []uint32)) {
	for i := e.segment; i < len(e.group.Segments) && e.group.Segments[i].Begin < end; i++ {
		s := &e.group.Segments[i]
		f(i, s, e.group.Codes()[max(begin, s.Begin):min(end, s.End)])
	}
}

// indexPage encodes rows by their indices in the dictionary.
func (e *encoder) indexPage(begin, end int) {
	e.page.begin(end - begin)
	e.segments(begin, end, func(number int, s *rows.Segment, numbers []uint32) {
		e.index(number, s)
		indices, values, n := e.indices, e.values, e.n
		levels := e.levels[len(e.levels):][:len(numbers)]
		for i, number := range numbers {
			k := indices[number]
			if k == unknown {
				k = e.look(s, number)
				indices[number] = k
			}
			// Without a branch: whether there is a value has no pattern.
			there := 1 &^ (k >> 31)
			levels[i], values[n] = byte(there), k
			n += int(there)
		}
		e.levels, e.n = e.levels[:len(e.levels)+len(numbers)], n
	})
	e.bound()
	e.out.indexPage(e, end-begin)
}

// bound finds the bounds of the values of the dictionary that a page has.
func (e *encoder) bound() {
	e.pages++
	for len(e.seen) < e.dictionary.n {
		e.seen = append(e.seen, 0)
	}
	last := int32(-1)
	for _, k := range e.values[:e.n] {
		if k == last {
			continue
		}
		if last = k; e.seen[k] != e.pages {
			e.seen[k] = e.pages
			e.bounds.add(e.column.Type, e.dictionary.cell(e.column.Type, k))
		}
	}
}

// index makes room for what the rows of a segment have.
func (e *encoder) index(number int, s *rows.Segment) {
	known := len(e.indices)
	if e.indexed != number {
		e.indexed, known = number, 0
	}
	e.indices = e.indices[:known]
	for len(e.indices) < s.Codes {
		e.indices = append(e.indices, unknown)
	}
}

// look returns what the rows of a segment with a code have.
func (e *encoder) look(s *rows.Segment, number uint32) int32 {
	cell := e.column.Cell(s, number)
	if !cell.Valid {
		return missing
	}
	return e.dictionary.index(e.column.Type, cell)
}

// plainPage encodes rows as they are.
func (e *encoder) plainPage(begin, end int) {
	e.page.begin(end - begin)
	e.segments(begin, end, func(_ int, s *rows.Segment, numbers []uint32) {
		for _, number := range numbers {
			cell := e.column.Cell(s, number)
			if !cell.Valid {
				e.levels = append(e.levels, 0)
				continue
			}
			e.bounds.add(e.column.Type, cell)
			e.levels = append(e.levels, 1)
			e.plain = appendPlain(e.plain, e.column.Type, cell)
			e.n++
		}
	})
	e.out.plainPage(e, end-begin)
}

// differences encodes rows of a column that is unique.
func (e *encoder) differences(begin, end int) {
	e.page.begin(end - begin)
	e.ints = e.column.AppendInts(e.ints[:0], e.group, begin, end)
	if !e.column.Optional {
		e.n = len(e.ints)
	} else {
		for i, there := range e.column.There(e.group)[begin:end] {
			e.ints[e.n] = e.ints[i]
			level := byte(0)
			if there {
				level = 1
			}
			e.levels = append(e.levels, level)
			e.n += int(level)
		}
	}
	e.ints = e.ints[:e.n]
	for _, v := range e.ints {
		e.bounds.span(v, v)
	}
	e.out.differencePage(e, end-begin)
}

// Definition levels of lists.
const (
	listMissing = 0
	listValue   = 2 // 1 would be an empty list
)

// lists encodes rows of a column of lists.
func (e *encoder) lists(begin, end int) {
	e.page.begin(end - begin)
	e.repeated, e.ints = e.repeated[:0], e.ints[:0]
	for row := begin; row < end; row++ {
		list := e.column.List(e.group, row)
		if len(list) == 0 {
			e.levels, e.repeated = append(e.levels, listMissing), append(e.repeated, 0)
		}
		for i, v := range list {
			e.levels, e.repeated = append(e.levels, listValue), append(e.repeated, byte(min(i, 1)))
			e.bounds.span(v, v)
		}
		e.ints = append(e.ints, list...)
	}
	e.n = len(e.ints)
	e.out.differencePage(e, len(e.levels))
}

// From these sizes on, a dictionary is full, unless its texts repeat: values that follow are
// written as they are, from the next page on.
const (
	fullValues = 1 << 16
	fullBytes  = 1 << 20

	mostValues = 1 << 19 // however often they repeat
	mostBytes  = 16 << 20
)

// A dictionary numbers the values of a column of a row group.
type dictionary struct {
	words map[uint64]int32 // of integers, and of the bits of floats
	texts map[string]int32
	list  []string // the texts
	plain []byte
	n     int
}

func (d *dictionary) reset() {
	if d.words == nil || len(d.words)+len(d.texts) > 1<<10 {
		d.words, d.texts = make(map[uint64]int32), make(map[string]int32) // to clear large maps takes long
	}
	clear(d.words)
	clear(d.texts)
	clear(d.list)
	d.plain, d.list, d.n = d.plain[:0], d.list[:0], 0
}

// full reports whether d takes no more values, of which there were so many.
func (d *dictionary) full(values int64) bool {
	if len(d.list) > 0 && values >= 2*int64(d.n) {
		return d.n >= mostValues || len(d.plain) >= mostBytes
	}
	return d.n >= fullValues || len(d.plain) >= fullBytes
}

// cell returns the value with a number.
func (d *dictionary) cell(t rows.Type, k int32) rows.Cell {
	if t == rows.Text {
		return rows.Cell{Text: d.list[k]}
	}
	word := binary.LittleEndian.Uint64(d.plain[8*k:])
	return rows.Cell{Int: int64(word), Float: math.Float64frombits(word)}
}

// index returns the number of a value.
func (d *dictionary) index(t rows.Type, cell rows.Cell) int32 {
	next := int32(d.n)
	if t == rows.Text {
		if k, ok := d.texts[cell.Text]; ok {
			return k
		}
		d.texts[cell.Text] = next
		d.list = append(d.list, cell.Text)
	} else {
		word := uint64(cell.Int)
		if t == rows.Float {
			word = math.Float64bits(cell.Float)
		}
		if k, ok := d.words[word]; ok {
			return k
		}
		d.words[word] = next
	}
	d.n++
	d.plain = appendPlain(d.plain, t, cell)
	return next
}

// appendPlain appends a value in the encoding PLAIN.
func appendPlain(dst []byte, t rows.Type, cell rows.Cell) []byte {
	switch t {
	case rows.Int:
		return binary.LittleEndian.AppendUint64(dst, uint64(cell.Int))
	case rows.Float:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(cell.Float))
	}
	return append(binary.LittleEndian.AppendUint32(dst, uint32(len(cell.Text))), cell.Text...)
}
