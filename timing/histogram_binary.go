package timing

import (
	"math"

	"github.com/reprise-trace/reprise/internal/wire"
)

// append appends the encoding of h.
func (h *Histogram) append(dst []byte) []byte {
	dst, _ = h.statistics.AppendBinary(dst) // never fails
	switch {
	case h.spans != nil:
		dst = appendSpans(wire.AppendUvarint(dst, 0), h.spans)
	case h.cells != nil:
		dst = appendCells(wire.AppendUvarint(dst, uint64(h.level)+1), h.cells)
	}
	return dst
}

// decodeHistogram reads a histogram. It returns nil if that fails.
func decodeHistogram(d *wire.Decoder) *Histogram {
	h := new(Histogram)
	if s := decodeStatistics(d); s != nil {
		h.statistics = *s
	}
	if s := &h.statistics; d.Err() == nil && s.Min < s.Max && s.Count < manyValues {
		level := d.UvarintMax("level", lastLevel+1)
		if level == 0 {
			h.spans = decodeSpans(d, &h.statistics)
		} else {
			h.level = uint8(level - 1)
			h.cells = decodeCells(d, h.level, &h.statistics)
		}
	}
	if d.Err() != nil {
		return nil
	}
	return h
}

func appendSpans(dst []byte, spans []span) []byte {
	last := len(spans) - 1
	dst = wire.AppendUvarint(dst, uint64(len(spans)))
	for i, s := range spans {
		if i > 0 {
			dst = wire.AppendUvarint(dst, uint64(s.low)-uint64(spans[i-1].high)-1)
		}
		if i < last {
			dst = wire.AppendUvarint(dst, uint64(s.high)-uint64(s.low))
			dst = wire.AppendUvarint(dst, s.count-1)
		}
		if s.width() > 0 {
			mean := math.Float32bits(s.mean) >> 16
			dst = append(dst, byte(mean), byte(mean>>8), byte(s.shape-minShape))
		}
	}
	return dst
}

func decodeSpans(d *wire.Decoder, all *Statistics) []span {
	at := d.Offset()
	n := d.Uvarint("bins")
	if d.Err() == nil && (n == 0 || n > maxHistogramBins) {
		d.Corrupt(at, "bins", "%d, not from 1 to %d", n, maxHistogramBins)
	}
	if d.Err() != nil {
		return nil
	}
	spans := make([]span, n)
	low, rest := all.Min, all.Count
	for i := range spans {
		at := d.Offset()
		if i > 0 {
			low = farther(d, spans[i-1].high, 1, "gap")
		}
		s := span{low: low, high: all.Max, count: rest}
		if i < len(spans)-1 {
			s.high = farther(d, low, 0, "width")
			s.count = d.Uvarint("values") + 1
		}
		if d.Err() == nil && (s.high < low || s.high > all.Max || s.count == 0 || s.count > rest ||
			i < len(spans)-1 && s.count == rest) {
			d.Corrupt(at, "bin", "%d values from %v to %v, of %d up to %v", s.count, low, s.high, rest, all.Max)
		}
		rest -= s.count
		if s.width() > 0 {
			s.decodeMoments(d)
		}
		if d.Err() != nil {
			return nil
		}
		spans[i] = s
	}
	return numbered(spans)
}

// farther reads a distance and returns what is that far, and more, from v.
func farther(d *wire.Decoder, v int64, more uint64, field string) int64 {
	at := d.Offset()
	n := d.Uvarint(field)
	if left := math.MaxInt64 - uint64(v); n > left || more > left-n {
		d.Corrupt(at, field, "%d from %v", n, v)
		return v
	}
	return v + int64(n+more)
}

func (s *span) decodeMoments(d *wire.Decoder) {
	at := d.Offset()
	u := uint32(d.Byte("mean"))<<16 | uint32(d.Byte("mean"))<<24
	if u > math.Float32bits(1) {
		d.Corrupt(at, "mean", "%v is not from 0 to 1", math.Float32frombits(u))
	}
	s.mean = math.Float32frombits(u)
	at = d.Offset()
	shape := d.Byte("shape")
	if shape > maxShape-minShape {
		d.Corrupt(at, "shape", "%d is more than %d", shape, maxShape-minShape)
	}
	s.shape = int8(shape) + minShape
}

func appendCells(dst []byte, cells []cell) []byte {
	last := len(cells) - 1
	if last == 0 {
		return dst
	}
	dst = wire.AppendUvarint(dst, uint64(last-1))
	dst = wire.AppendUvarint(dst, cells[0].count-1)
	for i, c := range cells[1:last] {
		dst = wire.AppendUvarint(dst, uint64(c.index-cells[i].index)-1)
		dst = wire.AppendUvarint(dst, c.count-1)
	}
	return dst
}

func decodeCells(d *wire.Decoder, level uint8, all *Statistics) []cell {
	at := d.Offset()
	first, last := cellIndex(all.Min)>>level, cellIndex(all.Max)>>level
	n := 1
	if first != last {
		n = 2 + d.Count("cells", 2)
	}
	if n > maxCells || level > 0 && n <= maxCells/2 {
		d.Corrupt(at, "cells", "%d on level %d", n, level)
	}
	if d.Err() != nil {
		return nil
	}
	cells := make([]cell, n)
	c, rest := cell{first, all.Count}, all.Count
	for i := range cells {
		at := d.Offset()
		switch {
		case i == n-1:
			c = cell{last, rest}
		case i > 0:
			c.index += int32(d.UvarintMax("distance", 1<<20)) + 1
			fallthrough
		default:
			c.count = d.Uvarint("values") + 1
			if c.count == 0 || c.count >= rest || c.index >= last {
				d.Corrupt(at, "values", "%d of %d in cell %d up to %d", c.count, rest, c.index, last)
			}
		}
		if d.Err() != nil {
			return nil
		}
		rest -= c.count
		cells[i] = c
	}
	return cells
}

// AppendBinary appends the encoding of h to dst and returns the extended slice.
// The error is always nil; it is there for [encoding.BinaryAppender].
func (h *Histograms) AppendBinary(dst []byte) ([]byte, error) {
	head := uint64(len(h.all)) << 1
	if h.PathSensitive() {
		head++
	}
	dst = wire.AppendUvarint(dst, head)
	last, first := Path{Previous: NoPrevious - 1}, true
	for path, one := range h.All() {
		n := path.Terminal - last.Terminal
		if !h.paths && !first {
			n--
		}
		dst = wire.AppendUvarint(dst, uint64(n))
		if h.paths {
			if n > 0 {
				last.Previous = NoPrevious - 1
			}
			dst = wire.AppendUvarint(dst, uint64(path.Previous-last.Previous-1))
		}
		dst = one.append(dst)
		last, first = path, false
	}
	return dst, nil
}

// ParseHistograms returns the histograms encoded in data. The error is a
// [*ParseError].
func ParseHistograms(data []byte) (*Histograms, error) {
	d := wire.NewDecoder("timing", data)
	h := newHistograms(false)
	head := d.Uvarint("histograms")
	if h.paths = head&1 == 1; head == 1 || head>>1 > uint64(len(data)) {
		d.Corrupt(0, "histograms", "%d in %d bytes, by path: %t", head>>1, len(data), h.paths)
	}
	last := Path{Previous: NoPrevious - 1}
	for i := range head >> 1 {
		if d.Err() != nil {
			return nil, d.Err()
		}
		if h.paths {
			last.decode(&d)
		} else {
			last.decodeTerminal(&d, i == 0)
		}
		if one := decodeHistogram(&d); one != nil {
			h.all[last] = one
		}
	}
	d.End("histograms")
	if err := d.Err(); err != nil {
		return nil, err
	}
	return h, nil
}

// decode reads the path after p.
func (p *Path) decode(d *wire.Decoder) {
	if n := d.UvarintMax("terminal", uint64(^p.Terminal)); n > 0 {
		*p = Path{NoPrevious - 1, p.Terminal + uint32(n)}
	}
	most := int64(^uint32(0))
	if p.Previous == most {
		d.Corrupt(d.Offset(), "previous", "nothing is after %d", most)
		return
	}
	p.Previous += int64(d.UvarintMax("previous", uint64(most-p.Previous-1))) + 1
}

// decodeTerminal reads the path after p, which tells no previous terminal.
func (p *Path) decodeTerminal(d *wire.Decoder, first bool) {
	from := uint64(p.Terminal) + 1
	if first {
		from = 0
	}
	if from > uint64(^uint32(0)) {
		d.Corrupt(d.Offset(), "terminal", "nothing is after %d", p.Terminal)
		return
	}
	*p = Path{NoPrevious, uint32(from + d.UvarintMax("terminal", uint64(^uint32(0))-from))}
}
