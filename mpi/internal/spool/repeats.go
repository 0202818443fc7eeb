package spool

import (
	"encoding/binary"
	"slices"
)

// What stands for a record that the thread has written before in the segment, at another time: the number of its first
// word is that of a slot. The time is the number of ticks since the record before, in place of the size of the record,
// or with flagFar the second word.
const (
	flagFar = 1

	slotBits    = 10
	maxRepeated = 15 // words of a record behind its first and its time

	repeatable = 1<<recordBegin | 1<<recordEnd | 1<<recordAllocate | 1<<recordRelease | 1<<recordUnmap
)

// Repeats reads the records of one segment after another of a thread, and has the earlier records that others stand
// for: of each slot the latest. The zero Repeats has none. It takes memory in proportion to the different records, at
// most 140 KB.
type Repeats struct {
	tick  uint64                // in the latest record that has one
	slots [1 << slotBits]uint16 // one more than the index of the record of a slot, or 0
	known []knownRecord
	marks []mark
}

// A knownRecord is a record without its check and its time.
type knownRecord struct {
	first uint64
	size  int // of the words
	words [8 * maxRepeated]byte
}

// A mark says where a record was read that stands for another.
type mark struct {
	expanded int   // offset behind it in what was expanded
	segment  int64 // and in the segment
}

// Begin begins a segment.
func (r *Repeats) Begin(h SegmentHeader) {
	r.tick = h.tick
	clear(r.slots[:])
	r.known, r.marks = r.known[:0], r.marks[:0]
}

// Expand appends records, which begin at an offset of the segment and follow those before, with those in full that
// stand for earlier ones. It stops at the end, at a record that is not as it was written, and once it has appended so
// many bytes. It returns how many bytes of records it has read.
func (r *Repeats) Expand(dst, records []byte, offset int64, limit int) ([]byte, int) {
	r.marks = r.marks[:0]
	n, begin := 0, len(dst)
	for len(records)-n >= 8 && len(dst)-begin < limit {
		first := binary.LittleEndian.Uint64(records[n:])
		size := SizeOf(first)
		if size == 0 || size > len(records)-n {
			break
		}
		record, ok := records[n:n+size], false
		if typeOf(first) == recordAgain {
			if dst, ok = r.again(dst, record, offset+int64(n)); ok {
				r.marks = append(r.marks, mark{len(dst) - begin, offset + int64(n+size)})
			}
		} else {
			dst, ok = r.full(dst, record, offset+int64(n))
		}
		if !ok {
			break
		}
		n += size
	}
	return dst, n
}

// Offset returns where in the segment a record was that begins at an offset of what was expanded last, and
// which began at another one.
func (r *Repeats) Offset(expanded int, begin int64) int64 {
	at, found := slices.BinarySearchFunc(r.marks, expanded, func(m mark, at int) int { return m.expanded - at })
	switch {
	case found:
		return r.marks[at].segment
	case at > 0:
		return r.marks[at-1].segment + int64(expanded-r.marks[at-1].expanded)
	}
	return begin + int64(expanded)
}

// full appends a record, and reports whether it is as it was written.
func (r *Repeats) full(dst, record []byte, offset int64) ([]byte, bool) {
	order := binary.LittleEndian
	first, content := order.Uint64(record), contentOf(record)
	if checkOf(content, record, offset) != first>>checkAt {
		return dst, false
	}
	if kind := typeOf(first); timed(first) && len(record) >= 16 {
		r.tick = order.Uint64(record[8:])
		if repeatable>>kind&1 != 0 && len(record) <= 16+8*maxRepeated {
			k := r.slot(slotOf(content))
			k.first, k.size = first&uncheckedMask, copy(k.words[:], record[16:])
		}
	}
	return append(dst, record...), true
}

// slot returns the record of a slot, which may be new.
func (r *Repeats) slot(at int) *knownRecord {
	if r.slots[at] == 0 {
		r.known = append(r.known, knownRecord{})
		r.slots[at] = uint16(len(r.known))
	}
	return &r.known[r.slots[at]-1]
}

// again appends the record that one stands for, and reports whether that is known.
func (r *Repeats) again(dst, record []byte, offset int64) ([]byte, bool) {
	order := binary.LittleEndian
	first := order.Uint64(record)
	at := numberOf(first)
	if at >= len(r.slots) || r.slots[at] == 0 {
		return dst, false
	}
	tick := r.tick + first&(1<<numberAt-1)
	if flagsOf(first)&flagFar != 0 {
		tick = order.Uint64(record[8:])
	}
	begin := len(dst)
	k := &r.known[r.slots[at]-1]
	dst = order.AppendUint64(dst, k.first)
	dst = order.AppendUint64(dst, tick)
	dst = append(dst, k.words[:k.size]...)
	content := addWord(contentOf(dst[begin:]), first&uncheckedMask)
	if checkOf(content, record, offset) != first>>checkAt {
		return dst[:begin], false
	}
	r.tick = tick
	return dst, true
}
