package parquet

import (
	"encoding/binary"
	"math"

	"github.com/reprise-trace/reprise/export/rows"
)

// From these sizes on, a dictionary is full: values that follow are written as they
// are, from the next page on.
const (
	fullValues = 1 << 16
	fullBytes  = 1 << 20
)

// A dictionary numbers the values of a column of a row group.
type dictionary struct {
	words map[uint64]int32 // of integers, and of the bits of floats
	texts map[string]int32
	plain []byte
	n     int
}

func (d *dictionary) reset() {
	if d.words == nil || len(d.words)+len(d.texts) > 1<<10 {
		d.words, d.texts = make(map[uint64]int32), make(map[string]int32) // to clear large maps takes long
	}
	clear(d.words)
	clear(d.texts)
	d.plain, d.n = d.plain[:0], 0
}

func (d *dictionary) full() bool { return d.n >= fullValues || len(d.plain) >= fullBytes }

// index returns the number of a value.
func (d *dictionary) index(t rows.Type, cell rows.Cell) int32 {
	next := int32(d.n)
	if t == rows.Text {
		if k, ok := d.texts[cell.Text]; ok {
			return k
		}
		d.texts[cell.Text] = next
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
