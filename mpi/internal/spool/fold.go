package spool

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// Folded records are those of one thread in short, one after another: most are like an
// earlier one with the same first word, its template, and docs/format.md says how. These are
// the tags with which they begin.
const (
	tagNext = iota
	tagNew
	tagBytes
	tagTemplate

	maxTemplate  = 64  // words of a template behind its first
	maxTemplates = 256 // after which all are forgotten
)

// A template is the latest record with a first word.
type template struct {
	first uint64
	words []uint64
	next  int // the number of the template of the record after that
}

// templates are those of the records of one thread so far.
type templates struct {
	list   []template
	number map[uint64]int
	last   int    // the template of the record before
	time   uint64 // in it
}

// timed reports whether the word after the first one of a record is a time.
func timed(first uint64) bool {
	kind := typeOf(first)
	return kind >= recordBegin && kind <= recordClock || kind == recordUnmap
}

// next returns the number of the template that is thought to be that of the next record.
func (s *templates) next() int {
	if s.last < len(s.list) {
		return s.list[s.last].next
	}
	return 0
}

// add makes a template of zeros.
func (s *templates) add(first uint64) {
	if len(s.list) == maxTemplates {
		*s = templates{time: s.time}
	}
	if s.number == nil {
		s.number = make(map[uint64]int)
	}
	s.number[first] = len(s.list)
	s.list = append(s.list, template{first: first, words: make([]uint64, SizeOf(first)/8-1)})
}

// use takes note that a record has the template with a number.
func (s *templates) use(n int) *template {
	if s.last < len(s.list) {
		s.list[s.last].next = n
	}
	s.last = n
	return &s.list[n]
}

// sized returns the bytes of the record that begins data, and reports whether there may be a
// template of it.
func sized(data []byte) (int, bool) {
	if len(data) < 8 {
		return len(data), false
	}
	size := SizeOf(binary.LittleEndian.Uint64(data))
	if size == 0 || size > len(data) {
		return len(data), false
	}
	return size, size <= 8+8*maxTemplate
}

// fold appends records in short, without their checks.
func (s *templates) fold(dst, records []byte) []byte {
	for len(records) > 0 {
		size, ok := sized(records)
		if !ok {
			dst = binary.AppendUvarint(append(dst, tagBytes), uint64(size))
			dst = append(dst, records[:size]...)
		} else {
			dst = s.foldOne(dst, records[:size])
		}
		records = records[size:]
	}
	return dst
}

func (s *templates) foldOne(dst, record []byte) []byte {
	first := binary.LittleEndian.Uint64(record) & uncheckedMask
	n := s.next()
	if n < len(s.list) && s.list[n].first == first {
		dst = append(dst, tagNext)
	} else if known, ok := s.number[first]; ok {
		n = known
		dst = binary.AppendUvarint(dst, uint64(tagTemplate+n))
	} else {
		s.add(first)
		n = len(s.list) - 1
		dst = binary.LittleEndian.AppendUint64(append(dst, tagNew), first)
	}
	words := s.use(n).words
	record = record[8 : 8+8*len(words)]
	if len(words) > 0 && timed(first) {
		at := binary.LittleEndian.Uint64(record)
		dst = binary.AppendVarint(dst, int64(at-s.time))
		s.time = at
		words, record = words[1:], record[8:]
	}
	for len(words) > 0 {
		group := min(len(words), 8)
		dst = foldGroup(dst, words[:group], record[:8*group])
		words, record = words[group:], record[8*group:]
	}
	return dst
}

// foldGroup appends what of a group of words differs from a record, and makes it the same.
func foldGroup(dst []byte, words []uint64, record []byte) []byte {
	at := len(dst)
	dst = append(dst, 0)
	mask := byte(0)
	for i, word := range words {
		w := binary.LittleEndian.Uint64(record)
		record = record[8:]
		if w != word {
			mask |= 1 << i
			dst = binary.AppendVarint(dst, int64(w-word))
			words[i] = w
		}
	}
	dst[at] = mask
	return dst
}

// unfold appends the records that are folded in data, at most so many bytes.
func (s *templates) unfold(dst, data []byte, limit int) ([]byte, error) {
	u := unfolding{data: data}
	for limit += len(dst); len(u.data) > 0 && u.err == nil; {
		tag := u.uvarint()
		if tag == tagBytes {
			n := u.uvarint()
			dst = append(dst, u.take(n)...)
		} else {
			dst = u.one(dst, s, tag)
		}
		if len(dst) > limit {
			return nil, fmt.Errorf("%w: more than %d bytes", ErrCorrupt, limit)
		}
	}
	return dst, u.err
}

// An unfolding reads folded records. The first failure sticks.
type unfolding struct {
	data []byte
	err  error
}

func (u *unfolding) one(dst []byte, s *templates, tag uint64) []byte {
	n := s.next()
	switch {
	case tag == tagNew:
		word := u.take(8)
		if len(word) < 8 {
			return dst
		}
		first := binary.LittleEndian.Uint64(word)
		if size := SizeOf(first); size == 0 || size > 8+8*maxTemplate {
			u.err = fmt.Errorf("%w: a template of %d bytes", ErrCorrupt, size)
			return dst
		}
		if first&^uncheckedMask != 0 {
			u.err = fmt.Errorf("%w: a template with a check", ErrCorrupt)
			return dst
		}
		s.add(first)
		n = len(s.list) - 1
	case tag >= tagTemplate:
		n = int(min(tag-tagTemplate, math.MaxInt32))
	}
	if n >= len(s.list) {
		u.err = fmt.Errorf("%w: template %d of %d", ErrCorrupt, n, len(s.list))
		return dst
	}
	t := s.use(n)
	words := t.words
	dst = binary.LittleEndian.AppendUint64(dst, t.first)
	if len(words) > 0 && timed(t.first) {
		s.time += uint64(u.varint())
		dst = binary.LittleEndian.AppendUint64(dst, s.time)
		words = words[1:]
	}
	for len(words) > 0 {
		group := min(len(words), 8)
		mask := u.byte()
		for i := range group {
			if mask>>i&1 != 0 {
				words[i] += uint64(u.varint())
			}
			dst = binary.LittleEndian.AppendUint64(dst, words[i])
		}
		words = words[group:]
	}
	return dst
}

func (u *unfolding) take(n uint64) []byte {
	if u.err == nil && n > uint64(len(u.data)) {
		u.err = io.ErrUnexpectedEOF
	}
	if u.err != nil {
		return nil
	}
	taken := u.data[:n]
	u.data = u.data[n:]
	return taken
}

func (u *unfolding) byte() byte {
	if b := u.take(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

func (u *unfolding) uvarint() uint64 {
	v, n := binary.Uvarint(u.data)
	if n <= 0 {
		if u.err == nil {
			u.err = io.ErrUnexpectedEOF
		}
		return 0
	}
	u.data = u.data[n:]
	return v
}

func (u *unfolding) varint() int64 {
	v := u.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}
