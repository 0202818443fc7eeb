package merge

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Ranks that differ in what they have in many slots, as those of irregular exchanges do, are kept as rows:
// what each rank has in all slots, packed. A column would take a run for nearly every second rank, and some
// fifty bytes besides, however few ranks there are.
const (
	minRowSlots  = 1 << 10 // of shapes with rows
	maxRowSlots  = 1 << 28 // whose bytes have positions of 32 bits
	maxRows      = 1 << 12 // of one shape: columns are read across them
	fewRows      = 1 << 3  // which take less memory than columns, whatever the ranks have
	manyRowSlots = 1 << 20 // where that matters: columns need not be read again and again
	minPacked    = 1 << 6  // slots of a rank alone, of which fewer are not packed
	rowBlockLen  = 64      // slots that are packed alike
)

// A packedRow is what a rank has in the slots of a shape. It is never changed, and shapes may share it.
type packedRow struct {
	blocks []rowBlock
	data   []byte
}

// A rowBlock is what a rank has in rowBlockLen slots, or fewer at the end of a row: differences from the
// least value, of width bytes each.
type rowBlock struct {
	least int64
	begin uint32 // in the bytes of the row
	width uint8  // 0, 1, 2, 4 or 8
}

// packRow returns the row of values.
func packRow(values []int64) packedRow {
	r := packedRow{blocks: make([]rowBlock, 0, (len(values)+rowBlockLen-1)/rowBlockLen)}
	size := 0
	for some := range slices.Chunk(values, rowBlockLen) {
		least, most := some[0], some[0]
		for _, v := range some[1:] {
			least, most = min(least, v), max(most, v)
		}
		b := rowBlock{least, uint32(size), widthOf(uint64(most) - uint64(least))}
		r.blocks = append(r.blocks, b)
		size += len(some) * int(b.width)
	}
	r.data = make([]byte, size)
	for i, b := range r.blocks {
		some := values[i*rowBlockLen : min((i+1)*rowBlockLen, len(values))]
		data := r.data[b.begin:]
		for j, v := range some {
			switch v -= b.least; b.width {
			case 1:
				data[j] = byte(v)
			case 2:
				binary.LittleEndian.PutUint16(data[2*j:], uint16(v))
			case 4:
				binary.LittleEndian.PutUint32(data[4*j:], uint32(v))
			case 8:
				binary.LittleEndian.PutUint64(data[8*j:], uint64(v))
			}
		}
	}
	return r
}

// widthOf returns how many bytes a block takes for each value if that is the largest difference.
func widthOf(most uint64) uint8 {
	switch n := bits.Len64(most); {
	case n == 0:
		return 0
	case n <= 8:
		return 1
	case n <= 16:
		return 2
	case n <= 32:
		return 4
	}
	return 8
}

// at returns the value in a slot.
func (r *packedRow) at(slot int) int64 {
	b := &r.blocks[slot/rowBlockLen]
	i, data := slot%rowBlockLen, r.data[b.begin:]
	switch b.width {
	case 1:
		return b.least + int64(data[i])
	case 2:
		return b.least + int64(binary.LittleEndian.Uint16(data[2*i:]))
	case 4:
		return b.least + int64(binary.LittleEndian.Uint32(data[4*i:]))
	case 8:
		return b.least + int64(binary.LittleEndian.Uint64(data[8*i:]))
	}
	return b.least
}

// append appends the values in the slots from begin up to end to dst.
func (r *packedRow) append(dst []int64, begin, end int) []int64 {
	dst = slices.Grow(dst, end-begin)
	for begin < end {
		b := &r.blocks[begin/rowBlockLen]
		i := begin % rowBlockLen
		n := min(rowBlockLen-i, end-begin)
		some := dst[len(dst):][:n]
		data := r.data[b.begin:][i*int(b.width):]
		switch b.width {
		case 0:
			for j := range some {
				some[j] = b.least
			}
		case 1:
			for j, v := range data[:n] {
				some[j] = b.least + int64(v)
			}
		case 2:
			for j := range some {
				some[j] = b.least + int64(binary.LittleEndian.Uint16(data[2*j:]))
			}
		case 4:
			for j := range some {
				some[j] = b.least + int64(binary.LittleEndian.Uint32(data[4*j:]))
			}
		case 8:
			for j := range some {
				some[j] = b.least + int64(binary.LittleEndian.Uint64(data[8*j:]))
			}
		}
		dst = dst[:len(dst)+n]
		begin += n
	}
	return dst
}

// differ reports whether two ranks have so many slots, and so often other values in them, that they become
// rows.
func differ(v, w []int64) bool {
	if len(v) < minRowSlots || len(v) > maxRowSlots {
		return false
	}
	n := 0
	for i := range v {
		if v[i] != w[i] {
			n++
		}
	}
	return n >= len(v)/4
}

// setValues makes values, which it does not keep, those of the only rank of s.
func (s *shape) setValues(values []int64) {
	if len(values) < minPacked || len(values) > maxRowSlots {
		s.values = slices.Clone(values)
	} else {
		s.rows = []packedRow{packRow(values)}
	}
}

// ofRank returns the values of the only rank of s, of which it has no columns, in the memory of dst.
func (s *shape) ofRank(dst []int64) []int64 {
	if len(s.rows) == 0 {
		return s.values
	}
	return s.rows[0].append(dst[:0], 0, s.slots())
}

// mayHaveRows reports whether s has rows, or one rank of which it has no columns.
func (s *shape) mayHaveRows() bool {
	return len(s.columns) == 0 && (len(s.rows) > 0 || s.ranks.len() == 1)
}

// addRow adds a rank with these values, which lies above those of s, and reports whether that is so: if not,
// s is to have columns.
func (s *shape) addRow(rank int, values []int64) bool {
	n := s.ranks.len()
	if !s.mayHaveRows() || n == maxRows || n == 1 && (len(values) < minRowSlots || !differ(s.ofRank(nil), values)) {
		return false
	}
	s.rows, s.values = append(s.packed(), packRow(values)), nil
	s.ranks = s.ranks.add(rank, rank)
	s.keepRows(n)
	return true
}

// packed returns the rows of s, which has no columns.
func (s *shape) packed() []packedRow {
	if len(s.values) > 0 {
		return []packedRow{packRow(s.values)}
	}
	return s.rows
}

// joinsRows reports whether s and t, which have no slots in common but are of the same forms, may have rows
// together.
func (s *shape) joinsRows(t *shape) bool {
	n := s.ranks.len() + t.ranks.len()
	if !s.mayHaveRows() || !t.mayHaveRows() || n > maxRows {
		return false
	}
	return n > 2 || s.slots() >= minRowSlots && differ(s.ofRank(nil), t.ofRank(nil))
}

// keepRows makes columns of the rows of s, of which n or fewer were together before, if these have few runs.
// It looks at that whenever there are twice as many.
func (s *shape) keepRows(n int) {
	const (
		sampled = 1 << 9
		least   = 4 // ranks
		part    = 4 // of the ranks begins a run
	)
	if len(s.rows) < least || bits.Len(uint(len(s.rows))) == bits.Len(uint(n)) {
		return
	}
	slots, columns, runs := s.slots(), 0, 0
	var c column
	for k := 0; k < slots; k += max(slots/sampled, 1) {
		columns++
		s.ranks.each(func(position, rank int) {
			before := c.last.position
			if c.push(position, rank, s.rows[position].at(k)); position == 0 || c.last.position != before {
				runs++
			}
		})
	}
	if runs <= columns*len(s.rows)/part {
		s.spread()
	}
}

// A slotRange is the slots of a shape from one up to another.
type slotRange struct{ begin, end int }

// A slotValue is one that all ranks have in a slot.
type slotValue struct {
	slot  int
	value int64
}

// choose returns the values of a row in some slots, with others in some of those that there are then, in the
// memory of dst.
func (r *packedRow) choose(dst []int64, of []slotRange, set []slotValue) []int64 {
	dst = dst[:0]
	for _, p := range of {
		dst = r.append(dst, p.begin, p.end)
	}
	for _, x := range set {
		dst[x.slot] = x.value
	}
	return dst
}

// chooseRows returns rows of some slots of others, with other values in some of those that there are then.
func chooseRows(rows []packedRow, of []slotRange, set []slotValue) []packedRow {
	chosen := make([]packedRow, len(rows))
	var values []int64
	for i := range rows {
		values = rows[i].choose(values, of, set)
		chosen[i] = packRow(values)
	}
	return chosen
}

// rowColumns returns columns of rows, in the memory of r.
func (r *columnReader) rowColumns(s *shape, begin, end int) []column {
	const together = 16
	if n := end - begin; n > cap(r.list) {
		list := make([]column, n)
		copy(list, r.list[:cap(r.list)]) // the memory of their runs
		r.list = list
	}
	list := r.list[:end-begin]
	for k := begin; k < end; k += together {
		n := min(together, end-k)
		r.values = r.values[:0]
		for i := range s.rows {
			r.values = s.rows[i].append(r.values, k, k+n)
		}
		for j := range n {
			c := &list[k-begin+j]
			s.ranks.each(func(position, rank int) { c.push(position, rank, r.values[position*n+j]) })
		}
	}
	return list
}
