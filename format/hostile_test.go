package format

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/allocated"

	"github.com/klauspost/compress/zstd"

	"github.com/reprise-trace/reprise/internal/compress"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/internal/wire"
)

// A forged record has the lengths its entry says, whatever it stores. A stored
// or length of zero is filled in; first counts back.
type forged struct {
	entry
	stored string
}

// forge returns a file of records with checksums that hold.
func forge(records ...forged) []byte {
	file := []byte(header)
	var entries []entry
	for i, f := range records {
		e := f.entry
		e.offset = int64(len(file))
		e.first = int32(i) - e.first
		if e.form == alias {
			e.stored = e.offset - entries[e.first].offset
		} else {
			e.stored = int64(len(f.stored))
		}
		if e.length == 0 {
			e.length = e.stored
		}
		file = e.appendHead(file)
		if e.form != alias {
			file = append(file, f.stored...)
		}
		file = wire.AppendUint32(file, wire.UpdateChecksum(seed(e.offset), file[e.offset:]))
		entries = append(entries, e)
	}
	return forgeIndex(file, appendIndex(nil, entries), 0)
}

// forgeIndex appends an index and its footer to file. A content of zero is that
// of an index that is not compressed.
func forgeIndex(file, index []byte, content int) []byte {
	if content == 0 {
		content = len(index)
	}
	return append(file, appendFooter(bytes.Clone(index), int64(len(file)), content)...)
}

const (
	zstdMagic    = "\x28\xb5\x2f\xfd"
	zstdBlockMax = 128 << 10 // bytes a block expands to
)

// blocks returns the blocks of zstd that encode content.
func blocks(content []byte) string {
	b, start := compress.AppendZstd(nil, content)
	return string(b[start:])
}

// runs returns zstd blocks of n runs of 128 KiB, 4 bytes each.
func runs(n int) string {
	const run = 0<<0 | 1<<1 | zstdBlockMax<<3
	b := []byte(strings.Repeat(string([]byte{run & 0xff, run >> 8 & 0xff, run >> 16, 0}), n))
	b[len(b)-4] |= 1 // the last
	return string(b)
}

func TestNewReaderErrors(t *testing.T) {
	one := func(e entry, stored string) []byte { return forge(forged{e, stored}) }
	index := func(index string) []byte { return forgeIndex([]byte(header), []byte(index), 0) }
	valid := write(t, Options{}, samples[:1])
	tests := []struct {
		name  string
		file  []byte
		off   int64
		field string
		want  error
	}{
		{"Empty", nil, 0, "header", ErrFormat},
		{"HalfHeader", valid[:4], 4, "header", io.ErrUnexpectedEOF},
		{"OnlyHeader", valid[:8], 8, "footer", io.ErrUnexpectedEOF},
		{"Short", []byte("PK"), 0, "header", ErrFormat},
		{"Zip", []byte("PK\x03\x04 and so on, for longer than a header and a footer"), 0, "header", ErrFormat},
		{"CarriageReturnsRemoved", bytes.ReplaceAll(valid, []byte("\r\n"), []byte("\n")), 0, "header", ErrCorrupt},
		{"CarriageReturnsAdded", bytes.ReplaceAll(valid, []byte("\n"), []byte("\r\n")), 0, "header", ErrCorrupt},
		{"HighBitRemoved", append([]byte{0x0f}, valid[1:]...), 0, "header", ErrCorrupt},
		{"Transcoded", append([]byte("\u008f"), valid[1:]...), 0, "header", ErrCorrupt},
		{"VersionZero", []byte(magic + "\x00 and so on, for longer than a footer"), 7, "header", ErrCorrupt},
		{"NoMark", append(bytes.Clone(valid), 0), int64(len(valid)) - 3, "footer", ErrCorrupt},
		{"IndexBeforeHeader", []byte(header + "\xff\xff\x00\x00\xff\xff\x00\x00\x00\x00\x00\x00" +
			footerMark), 8, "footer", ErrCorrupt},
		{"NoCount", index(""), 8, "count", io.ErrUnexpectedEOF},
		{"Count", index("\x02\x09\x00\x00\x00\x00\x00"), 8, "count", ErrCorrupt}, // in no bytes of records
		{"HugeCount", index("\xff\xff\xff\xff\x0f"), 8, "count", ErrCorrupt},     // in no bytes of index
		{"LongVarint", index("\x80\x00"), 8, "count", ErrCorrupt},                // zero in two bytes
		{"Trailing", index("\x00\x00"), 9, "lengths", ErrCorrupt},                // after no entry
		{"Gap", forgeIndex(append([]byte(header), 1, 2, 3), []byte{0}, 0), 8, "index", ErrCorrupt},
		{"IndexSmallerThanStored", forgeIndex([]byte(header), []byte{0, 0}, 1), 10, "footer", ErrCorrupt},
		{"IndexNotCompressed", forgeIndex([]byte(header), []byte{0, 0}, 3), 8, "index", ErrCorrupt},
		{"IndexTooLong", forgeIndex([]byte(header), []byte(runs(10)), 1<<30), 48, "footer", ErrLimit},
		{"IndexBomb", forgeIndex([]byte(header), []byte(runs(500)), 500*zstdBlockMax), 8, "index", ErrCorrupt},
		{"ZstdNotSmaller", one(entry{form: Zstd, length: 4}, "1234"), 24, "index", ErrCorrupt},
		{"LZ4NotSmaller", one(entry{form: LZ4, length: 3}, "1234"), 24, "index", ErrCorrupt},
		{"SameName", forge(forged{entry{kind: 1, form: None}, "1"}, forged{entry{kind: 1, form: None}, "2"}),
			20, "index", ErrCorrupt},
		{"AliasOfAlias", forge(forged{entry{form: None}, "1"}, forged{entry{key: 1, form: alias, first: 1}, ""},
			forged{entry{key: 2, form: alias, first: 1}, ""}), 38, "index", ErrCorrupt},
		{"AliasOfItself", forgeIndex(append([]byte(header), make([]byte, 9)...), []byte("\x01\x03\x00\x00"),
			0), 20, "stored", ErrCorrupt},
		{"AliasOfNothing", forgeIndex(append([]byte(header), make([]byte, 9)...), []byte("\x01\x03\x00\x01"),
			0), 20, "stored", ErrCorrupt},
		{"RecordTooLong", forgeIndex(append([]byte(header), make([]byte, 20)...), []byte("\x01\x01\x00\x0a"),
			0), 28, "index", ErrCorrupt},
		{"HugeKind", forgeIndex(append([]byte(header), make([]byte, 20)...),
			[]byte("\x01\x81\x80\x80\x80\x80\x01\x00\x00"), 0), 29, "forms", ErrCorrupt},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := NewReader(bytes.NewReader(tt.file), int64(len(tt.file)), Options{})
			var pe *ParseError
			if !errors.As(err, &pe) || pe.Offset != tt.off || pe.Field != tt.field || !errors.Is(err, tt.want) {
				t.Fatalf("err = %v, want %v in %s at offset %d", err, tt.want, tt.field, tt.off)
			}
		})
	}
}

func TestContentErrors(t *testing.T) {
	content := []byte(strings.Repeat("content ", 10))
	frame := blocks(content)
	tests := []struct {
		name   string
		length int64 // of the content
		form   Encoding
		stored string
		field  string
		want   error
	}{
		{"UnknownEncoding", 9, 5, "123456789", "form", ErrEncoding},
		{"TooLong", 1 << 31, Zstd, frame, "length", ErrLimit},
		{"OneMore", 81, Zstd, frame, "stored", ErrCorrupt},
		{"OneLess", 79, Zstd, frame, "stored", ErrCorrupt},
		{"Trailing", 80, Zstd, frame + "\x00", "stored", ErrCorrupt},
		{"TwoFrames", 160, Zstd, frame + zstdMagic + "\x00\x00" + frame, "stored", ErrCorrupt},
		{"NoLastBlock", 80, Zstd, "\x00\x00\x00", "stored", ErrCorrupt},
		{"BlockTooLong", 80, Zstd, "\xf8\xff\xff", "stored", ErrCorrupt},
		{"NoBlock", 80, Zstd, "", "stored", ErrCorrupt},
		{"ReservedBlock", 80, Zstd, "\x0f\x00\x00\x00", "stored", ErrCorrupt},
		{"MoreThanBlocks", zstdBlockMax + 1, Zstd, frame, "stored", ErrCorrupt},
		{"StreamOneMore", 100*zstdBlockMax - 1, Zstd, runs(100), "stored", ErrCorrupt},
		{"StreamOneLess", 99*zstdBlockMax + 1, Zstd, runs(98) + blocks([]byte(frame)), "stored", ErrCorrupt},
		{"LZ4Short", 80, LZ4, "\x11", "stored", ErrCorrupt},
		{"LZ4Ratio", 256, LZ4, "\x10", "stored", ErrCorrupt},
		{"LZ4OneMore", 7, LZ4, "\x5012345", "stored", ErrCorrupt},
		{"LZ4Empty", 7, LZ4, "", "stored", ErrCorrupt},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := entry{kind: 1, key: 2, form: tt.form, length: tt.length}
			r := open(t, forge(forged{entry{form: None}, "first"}, forged{e, tt.stored}), Options{})
			s, _ := r.Lookup(1, 2)
			_, err := r.Content(s)
			var pe *ParseError
			if !errors.As(err, &pe) || pe.Offset != s.Offset || pe.Field != tt.field || !errors.Is(err, tt.want) {
				t.Fatalf("err = %v, want %v in %s", err, tt.want, tt.field)
			}
		})
	}
}

// TestOtherRecord checks that a record is read only for the section that the
// index says it is, sound as it may be.
func TestOtherRecord(t *testing.T) {
	file := forge(forged{entry{key: 1, form: None}, "one"}, forged{entry{key: 2, form: None}, "two"})
	r := open(t, file, Options{})
	entries := slices.Clone(r.entries)
	entries[0].key, entries[1].key = 2, 1
	f, err := parseFooter(file[int64(len(file))-footerLen:], int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	r = open(t, forgeIndex(file[:f.offset:f.offset], appendIndex(nil, entries), 0), Options{})
	for _, s := range r.All() {
		if got, err := r.Content(s); !errors.Is(err, ErrCorrupt) {
			t.Errorf("key %d: content = %q, %v", s.Key, got, err)
		}
	}
}

// TestUnknown checks that what a later writer might add hides nothing else.
func TestUnknown(t *testing.T) {
	file := forge(
		forged{entry{kind: 999, form: 6, length: 1000}, "in an encoding of the future"},
		forged{entry{kind: 998, key: 1, form: alias, first: 1}, ""},
		forged{entry{kind: 1, form: None}, "known"},
	)
	r := open(t, file, Options{})
	text, _ := r.AppendText(nil)
	want := `container version=1 sections=3 size=106
section kind=999 key=0 offset=8 size=42 encoding=encoding(6) len=1000
section kind=998 key=1 offset=50 size=10 same=8 len=1000
section kind=1 key=0 offset=60 size=16 encoding=none len=5
`
	if string(text) != want {
		t.Errorf("text = %s, want %s", text, want)
	}
	if s, _ := r.Lookup(998, 1); s.Encoding != 6 {
		t.Errorf("encoding of an alias = %v", s.Encoding)
	}
	if s, _ := r.Lookup(1, 0); s.Len != 5 {
		t.Errorf("%+v", s)
	} else if got, err := r.Content(s); err != nil || string(got) != "known" {
		t.Errorf("content = %q, %v", got, err)
	}
	salvaged, losses := salvageOf(t, file, Options{})
	if got, _ := salvaged.AppendText(nil); string(got) != want || len(losses) > 0 {
		t.Errorf("salvaged %s, losses %v", got, losses)
	}
}

func TestVersion(t *testing.T) {
	file := write(t, Options{}, samples)
	file[7] = 3
	_, err := NewReader(bytes.NewReader(file), int64(len(file)), Options{})
	var ve *VersionError
	if !errors.As(err, &ve) || *ve != (VersionError{Have: 3, Supported: 2}) {
		t.Errorf("NewReader = %v", err)
	}
	if want := "format: file has version 3, supported is version 2"; err.Error() != want {
		t.Errorf("message = %s, want %s", err, want)
	}
	// A file that was written in version 3 has other checksums.
	for off := range file[8:] {
		file[8+off]++
	}
	if _, _, err := Salvage(bytes.NewReader(file), int64(len(file)), Options{}); !errors.As(err, &ve) {
		t.Errorf("Salvage = %v", err)
	}
	if _, _, err := Salvage(strings.NewReader("no container"), 12, Options{}); !errors.Is(err, ErrFormat) {
		t.Errorf("Salvage = %v, want %v", err, ErrFormat)
	}
}

func TestSkipChecksum(t *testing.T) {
	file := write(t, Options{}, samples[:1])
	file[20] ^= 1 // in the content
	for _, o := range []Options{{}, {SkipChecksum: true}} {
		r := open(t, file, o)
		s, _ := r.Lookup(1, 0)
		if _, err := r.Content(s); (err == nil) != o.SkipChecksum {
			t.Errorf("%+v: content: %v", o, err)
		}
		if _, losses := salvageOf(t, file, o); (len(losses) == 0) != o.SkipChecksum {
			t.Errorf("%+v: losses %v", o, losses)
		}
	}
}

// TestMemory checks that what reading allocates follows from the bytes of a
// file and from what they decode to, not from the numbers in them.
func TestMemory(t *testing.T) {
	const decoder = 20 << 20 // tables and a window of zstd
	const most = 256 << 20
	size := uint64(tier.Number(most/4, most))
	bomb := blocks(make([]byte, size))
	if uint64(len(bomb)) > 28<<10*size/most {
		t.Fatalf("the bomb has %d bytes", len(bomb))
	}
	// As many blocks as the bomb has, but the first is no block: its type is
	// compressed, its length one byte.
	dud := []byte(runs(int(2048 * size / most)))
	dud[0], dud[1], dud[2] = 2<<1|1<<3, 0, 0
	tests := []struct {
		name  string
		entry entry
		data  string
		o     Options
		max   uint64
		ok    bool
	}{
		{"Bomb", entry{form: Zstd, length: int64(size)}, bomb, Options{}, 3*size + decoder, true},
		{"BombRefused", entry{form: Zstd, length: int64(size)}, bomb, Options{MaxContent: 50 << 20}, 64 << 10, false},
		{"BombDeclaredShort", entry{form: Zstd, length: 1 << 20}, bomb, Options{}, 2<<20 + decoder, false},
		{"Dud", entry{form: Zstd, length: int64(size)}, string(dud), Options{}, 2<<20 + decoder, false},
		{"Huge", entry{form: Zstd, length: 1 << 29}, blocks([]byte(strings.Repeat("tiny", 20))), Options{},
			64 << 10, false},
		{"HugeLZ4", entry{form: LZ4, length: 1 << 29}, "\x1f0\x01\x00", Options{}, 64 << 10, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := open(t, forge(forged{tt.entry, tt.data}), tt.o)
			s, _ := r.Lookup(0, 0)
			var err error
			got := allocated.By(1, func() { _, err = r.Content(s) })
			if (err == nil) != tt.ok {
				t.Errorf("content of %d stored bytes: %v", len(tt.data), err)
			}
			if got > tt.max {
				t.Errorf("%d stored bytes made it allocate %d bytes, at most %d", len(tt.data), got, tt.max)
			}
		})
	}
}

// TestIndexMemory checks the same of opening.
func TestIndexMemory(t *testing.T) {
	files := map[string][]byte{
		"Bomb":  forgeIndex([]byte(header), []byte(runs(500)), 500*zstdBlockMax),
		"Count": forgeIndex([]byte(header), []byte("\xff\xff\xff\x0f"), 0),
		"Long":  append([]byte(header), "\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00\x8fzpr"...),
	}
	for name, file := range files {
		o := Options{SkipChecksum: true, MaxIndex: 4 << 20}
		got := allocated.By(1, func() { NewReader(bytes.NewReader(file), int64(len(file)), o) })
		if got > 64<<10 {
			t.Errorf("%s: opening %d bytes allocated %d bytes", name, len(file), got)
		}
	}
}

// TestHeadChecks checks that the check of a head, 2 bytes, notices every change
// of one bit and of two, which half a CRC-32C does not promise by itself.
func TestHeadChecks(t *testing.T) {
	e := entry{kind: 1<<32 - 1, key: 1<<64 - 1, offset: 1 << 50, stored: 1 << 60, length: 1<<63 - 1, form: Zstd}
	head := e.appendHead(nil)
	flipped := func(bits ...int) bool {
		bad := bytes.Clone(head)
		for _, bit := range bits {
			bad[bit/8] ^= 1 << (bit % 8)
		}
		_, ok := parseHead(bad, e.offset, false)
		return ok
	}
	for i := range len(head) * 8 {
		for j := range i + 1 {
			if i == j && flipped(i) || i != j && flipped(i, j) {
				t.Errorf("accepted a change of bits %d and %d", i, j)
			}
		}
	}
}

// TestForeignFrame checks that a frame another encoder of zstd wrote is read.
func TestForeignFrame(t *testing.T) {
	content := []byte(strings.Repeat("written at another level ", 20_000))
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithSingleSegment(true),
		zstd.WithEncoderCRC(false))
	if err != nil {
		t.Fatal(err)
	}
	frame := enc.EncodeAll(content, nil)
	var h zstd.Header
	if err := h.Decode(frame); err != nil {
		t.Fatal(err)
	}
	r := open(t, forge(forged{entry{form: Zstd, length: int64(len(content))}, string(frame[h.HeaderSize:])}), Options{})
	checkItems(t, r, []item{{0, 0, content}})
}
