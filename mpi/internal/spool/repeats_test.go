package spool

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/mutate"
)

// A shortener writes records as a lane of the interposer does: where one has been there before, what stands for it.
type shortener struct {
	segment []byte
	tick    uint64
	slots   [1 << slotBits][]byte // records without their times
	again   int                   // records that stand for others
}

func newShortener() *shortener {
	b := newSegment(0)
	h, err := ParseSegmentHeader(b.data)
	if err != nil {
		panic(err)
	}
	return &shortener{segment: b.data, tick: h.tick}
}

func (s *shortener) add(record []byte) {
	order := binary.LittleEndian
	first := order.Uint64(record)
	content := contentOf(record)
	written := record
	if timed(first) {
		tick := order.Uint64(record[8:])
		since := tick - s.tick
		s.tick = tick
		if kind := typeOf(first); repeatable>>kind&1 != 0 && len(record) <= 16+8*maxRepeated {
			slot := &s.slots[slotOf(content)]
			same := append(bytes.Clone(record[:8]), record[16:]...)
			if bytes.Equal(*slot, same) {
				again := uint64(slotOf(content))<<numberAt | recordAgain<<typeAt
				written = order.AppendUint64(nil, again|since)
				if bits.Len64(since) > numberAt {
					again |= flagFar << flagsAt
					written = order.AppendUint64(order.AppendUint64(nil, again), tick)
				}
				content = addWord(content, order.Uint64(written))
				s.again++
			}
			*slot = same
		}
	}
	at := len(s.segment)
	s.segment = append(s.segment, written...)
	order.PutUint64(s.segment[at:], order.Uint64(written)|checkOf(content, written, int64(at))<<checkAt)
}

// repeatingGen draws records, many of which are like earlier ones: the second stands for the first.
func repeatingGen(t *rapid.T) (records [][]byte) {
	order := binary.LittleEndian
	tick := uint64(3000)
	numbers := rapid.IntRange(0, 20).Draw(t, "numbers")
	for range 2 {
		tick++
		records = append(records, order.AppendUint64(order.AppendUint64(nil, firstWord(2, 0, recordBegin, 0)), tick))
	}
	for range rapid.IntRange(0, 80).Draw(t, "records") {
		kind := rapid.IntRange(recordBegin, recordSized).Draw(t, "kind")
		n := rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(0, maxRepeated+2)).Draw(t, "words")
		record := order.AppendUint64(nil, firstWord(2+n, rapid.IntRange(0, numbers).Draw(t, "number"), kind, n%4))
		switch rapid.IntRange(0, 9).Draw(t, "step") {
		case 0:
			tick += rapid.Uint64().Draw(t, "far")
		default:
			tick += rapid.Uint64Range(0, 1<<28).Draw(t, "near")
		}
		record = order.AppendUint64(record, tick)
		for i := range n {
			record = order.AppendUint64(record, uint64(i)<<rapid.IntRange(0, 1).Draw(t, "word"))
		}
		records = append(records, record)
	}
	return records
}

// TestRepeats writes records that repeat, and reads them in parts: they are those that were written, where they
// were, and a change of one bit is seen.
func TestRepeats(t *testing.T) {
	stood := 0
	rapid.Check(t, func(t *rapid.T) {
		s, want := newShortener(), []byte(nil)
		var ends []int // in the segment, of each record
		for _, record := range repeatingGen(t) {
			s.add(record)
			want = append(want, record...)
			ends = append(ends, len(s.segment))
		}
		stood += s.again
		limit := rapid.SampledFrom([]int{1, 100, 1 << 20}).Draw(t, "limit")
		if got := expandAll(t, s.segment, limit); !bytes.Equal(uncheck(got), want) {
			t.Fatalf("%x, written %x", got, want)
		}
		bit := rapid.IntRange(8*headerSize, 8*len(s.segment)-1).Draw(t, "bit")
		changed := bytes.Clone(s.segment)
		changed[bit/8] ^= 1 << (bit % 8)
		var r Repeats
		h, _ := ParseSegmentHeader(changed)
		r.Begin(h)
		_, n := r.Expand(nil, changed[headerSize:], headerSize, 1<<20)
		for i, end := range ends {
			if begin := append([]int{headerSize}, ends...)[i]; bit/8 >= begin && bit/8 < end && headerSize+n != begin {
				t.Fatalf("bit %d changed, record from %d to %d, but %d bytes are intact", bit, begin, end, headerSize+n)
			}
		}
	})
	if stood == 0 {
		t.Error("no record stood for another")
	}
}

// expandAll expands the records of a segment, so many bytes at a time at least, and checks that their offsets are told.
func expandAll(t *rapid.T, segment []byte, limit int) (all []byte) {
	h, err := ParseSegmentHeader(segment)
	if err != nil {
		t.Fatal(err)
	}
	var r Repeats
	r.Begin(h)
	for offset := int64(headerSize); offset < int64(len(segment)); {
		records, n := r.Expand(nil, segment[offset:], offset, limit)
		if n == 0 {
			t.Fatalf("the record at %d is not intact", offset)
		}
		at := offset
		for done := 0; done < len(records); {
			if got := r.Offset(done, offset); got != at {
				t.Fatalf("the record is at %d, told %d", at, got)
			}
			done += SizeOf(binary.LittleEndian.Uint64(records[done:]))
			at += int64(SizeOf(binary.LittleEndian.Uint64(segment[at:])))
		}
		all = append(all, records...)
		offset += int64(n)
	}
	return all
}

// uncheck returns records without their checks.
func uncheck(records []byte) []byte {
	records = bytes.Clone(records)
	for at := 0; at < len(records); {
		first := binary.LittleEndian.Uint64(records[at:]) & uncheckedMask
		binary.LittleEndian.PutUint64(records[at:], first)
		at += SizeOf(first)
	}
	return records
}

// TestRepeatUnknown reads a record that stands for one that is not there.
func TestRepeatUnknown(t *testing.T) {
	s := newShortener()
	record := binary.LittleEndian.AppendUint64(nil, firstWord(3, 7, recordBegin, 0))
	record = append(record, make([]byte, 16)...)
	s.add(record)
	s.add(record)
	var r Repeats
	h, err := ParseSegmentHeader(s.segment)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a segment knows nothing of the one before
		r.Begin(h)
		if got, n := r.Expand(nil, s.segment[headerSize+24:], headerSize+24, 1<<20); n != 0 || len(got) != 0 {
			t.Errorf("%d bytes read without what they stand for: %x", n, got)
		}
		r.Expand(nil, s.segment[headerSize:], headerSize, 1<<20)
	}
}

// FuzzRepeats expands any records: what comes out is at most what the limit allows and one record, and says where it
// was.
func FuzzRepeats(f *testing.F) {
	s := newShortener()
	for range 3 {
		for _, kind := range []int{recordBegin, recordEnd} {
			record := binary.LittleEndian.AppendUint64(nil, firstWord(4, 7, kind, 0))
			s.add(append(record, make([]byte, 24)...))
		}
	}
	f.Add(s.segment[headerSize:], uint16(64))
	h, err := ParseSegmentHeader(s.segment)
	if err != nil {
		f.Fatal(err)
	}
	mutate.Fuzz(f, func(t *testing.T, records []byte, limit uint16) {
		records = bytes.Clone(records)
		for at := 0; at+8 <= len(records); { // as if they had been written so
			size := SizeOf(binary.LittleEndian.Uint64(records[at:]))
			if size == 0 || at+size > len(records) {
				break
			}
			if typeOf(binary.LittleEndian.Uint64(records[at:])) != recordAgain {
				first := binary.LittleEndian.Uint64(records[at:]) & uncheckedMask
				binary.LittleEndian.PutUint64(records[at:], first)
				record := records[at : at+size]
				check := checkOf(contentOf(record), record, int64(at))
				binary.LittleEndian.PutUint64(records[at:], first|check<<checkAt)
			}
			at += size
		}
		var r Repeats
		r.Begin(h)
		offset := int64(0)
		for {
			got, n := r.Expand(nil, records[offset:], offset, int(limit))
			if n == 0 {
				break
			}
			if longest := max(n, 16+8*maxRepeated); len(got) > int(limit)+longest {
				t.Fatalf("%d bytes, limit %d, of %d", len(got), limit, n)
			}
			if at := r.Offset(len(got), offset); at != offset+int64(n) {
				t.Fatalf("the end is at %d, told %d", offset+int64(n), at)
			}
			offset += int64(n)
		}
		if len(r.known) > 1<<slotBits {
			t.Fatalf("%d records are known", len(r.known))
		}
	})
}
