package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
)

// checkTrue checks that every section of r is one of the samples, unchanged.
func checkTrue(t *testing.T, r *Reader) {
	t.Helper()
	for _, s := range r.All() {
		checkIsSample(t, r, s)
	}
}

// checkIsSample checks that s is one of the samples, with its content.
func checkIsSample(t *testing.T, r *Reader, s Section) {
	t.Helper()
	for _, it := range samples {
		if it.kind != s.Kind || it.key != s.Key {
			continue
		}
		if got, err := r.Content(s); err != nil || !bytes.Equal(got, it.content) {
			t.Fatalf("content of kind %d, key %d = %q, %v", s.Kind, s.Key, got, err)
		}
		return
	}
	t.Fatalf("no such sample: %+v", s)
}

// checkFound checks that r holds the sections of whole whose bytes, those of a
// shared content included, lie outside the damaged range.
func checkFound(t *testing.T, r, whole *Reader, from, to int64) {
	t.Helper()
	outside := func(e *entry) bool { return e.offset >= to || e.offset+e.recordLen() <= from }
	for i := range whole.entries {
		e := &whole.entries[i]
		_, found := r.Lookup(e.kind, e.key)
		if want := outside(e) && outside(&whole.entries[e.first]); found != want {
			t.Fatalf("damage of [%d, %d): section %d found is %v, want %v", from, to, i, found, want)
		}
	}
}

func TestPrefixes(t *testing.T) {
	file := write(t, Options{}, samples)
	whole := open(t, file, Options{})
	for n := range len(file) {
		cut := bytes.NewReader(file[:n])
		var pe *ParseError
		if _, err := NewReader(cut, int64(n), Options{}); !errors.As(err, &pe) {
			t.Fatalf("first %d bytes: %v", n, err)
		}
		r, losses, err := Salvage(cut, int64(n), Options{})
		if n < int(headerLen) {
			want := io.ErrUnexpectedEOF
			if n == 0 {
				want = ErrFormat // nothing tells what it was
			}
			if !errors.Is(err, want) {
				t.Fatalf("first %d bytes: %v, want %v", n, err, want)
			}
			continue
		}
		if err != nil || len(losses) == 0 {
			t.Fatalf("first %d bytes: losses %v, %v", n, losses, err)
		}
		checkTrue(t, r)
		checkFound(t, r, whole, int64(n), int64(len(file)))
		checkLosses(t, r, losses, int64(n))
	}
}

// checkLosses checks that sections and losses cover a file of that size, up to
// where the index begins, without overlap.
func checkLosses(t *testing.T, r *Reader, losses []Loss, size int64) {
	t.Helper()
	off, i := int64(0), 0
	for off < size {
		switch {
		case i < len(losses) && losses[i].Offset == off:
			off += losses[i].Len
			i++
		case off == 0:
			off = headerLen
		default:
			found := false
			for _, s := range r.All() {
				if found = s.Offset == off; found {
					off += s.Size
					break
				}
			}
			if !found && i == len(losses) {
				return // an intact index
			}
			if !found {
				t.Fatalf("offset %d is in no section and no loss: %v", off, losses)
			}
		}
	}
}

func TestBitFlips(t *testing.T) {
	for _, e := range encodings {
		file := write(t, Options{Encoding: e}, samples)
		whole := open(t, file, Options{})
		for bit := range len(file) * 8 {
			bad := bytes.Clone(file)
			bad[bit/8] ^= 1 << (bit % 8)
			at := int64(bit / 8)
			if r, err := NewReader(bytes.NewReader(bad), int64(len(bad)), Options{}); err == nil {
				for i, s := range r.All() {
					got, err := r.Content(s)
					if err == nil && !bytes.Equal(got, samples[i].content) {
						t.Fatalf("bit %d: content of section %d = %q", bit, i, got)
					}
				}
			}
			r, losses := salvageOf(t, bad, Options{})
			if len(losses) == 0 {
				t.Fatalf("bit %d: no loss", bit)
			}
			checkTrue(t, r)
			checkFound(t, r, whole, at, at+1)
			checkLosses(t, r, losses, int64(len(bad)))
		}
	}
}

func TestSalvage(t *testing.T) {
	file := write(t, Options{}, samples)
	// The records begin at offsets 8, 52, 89, 107, 122, 143 and 160, the index
	// at 169, as TestText shows. The file has 233 bytes.
	splice := func(from, to int64, with string) []byte {
		return []byte(string(file[:from]) + with + string(file[to:]))
	}
	zeros := func(from, to int64) []byte { return splice(from, to, strings.Repeat("\x00", int(to-from))) }
	tests := []struct {
		name     string
		file     []byte
		sections int
		losses   string // each as offset+length, with ! if the section is known
	}{
		{"Intact", file, 7, ""},
		{"Garbage", append(bytes.Clone(file), "garbage"...), 7, "169+71"},
		{"NoIndex", file[:169], 7, "169+0"},
		{"FirstRecord", zeros(8, 52), 6, "8+44!"},
		{"TwoRecords", zeros(110, 130), 4, "107+15! 122+21! 160+9!"},
		{"Content", zeros(20, 21), 6, "8+44!"},
		{"ContentAndHead", zeros(20, 53), 4, "8+44! 52+37! 89+18!"},
		{"Shared", zeros(70, 71), 5, "52+37! 89+18!"},
		{"LastAlias", zeros(165, 168), 6, "160+9!"},
		{"Index", zeros(170, 171), 7, "169+64"},
		{"Footer", zeros(230, 233), 7, "169+64"},
		{"Header", zeros(0, 8), 7, "0+8"},
		{"Version", splice(7, 8, "\x09"), 7, "0+8"},
		{"All", zeros(8, 233), 0, "8+225"},
		{"CutRecord", file[:65], 1, "52+13! 65+0"},
		{"CutHead", file[:56], 1, "52+4"},
		{"Copy", splice(52, 89, string(file[8:45])), 5, "52+37! 89+18!"}, // out of its place
		{"Inserted", splice(169, 169, string(file[52:89])), 7, "169+101"},
		{"Removed", splice(52, 53, ""), 1, "52+180"},
		{"OverlongRecord", splice(8, 52, forgeLong()), 6, "8+44!"}, // the head counts, its length does not
		{"MarkersOnly", splice(8, 52, strings.Repeat(marker, 22)), 6, "8+44!"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, losses := salvageOf(t, tt.file, Options{})
			checkTrue(t, r)
			if got := summary(losses); len(r.entries) != tt.sections || got != tt.losses {
				t.Errorf("%d sections, losses %s, want %d, %s: %v", len(r.entries), got, tt.sections, tt.losses, losses)
			}
		})
	}
}

// summary returns offset+length of each loss, with ! if the section is known.
func summary(losses []Loss) string {
	var b strings.Builder
	for i, l := range losses {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%d+%d", l.Offset, l.Len)
		if l.Known {
			b.WriteByte('!')
		}
	}
	return b.String()
}

// forgeLong returns 44 bytes that begin, at offset 8, with the head of a record
// of more bytes than an offset can count.
func forgeLong() string {
	e := entry{kind: 1, offset: headerLen, stored: math.MaxInt64, form: None}
	head := e.appendHead(nil)
	return string(head) + strings.Repeat("\x00", 44-len(head))
}

func TestLossString(t *testing.T) {
	file := write(t, Options{}, samples)
	file[20]++
	_, losses := salvageOf(t, file[:80], Options{})
	for i, want := range []string{
		"44 bytes at offset 8, section of kind 1 and key 0: format: crc at offset 8: corrupt input: checksum is ",
		"28 bytes at offset 52, section of kind 1 and key 1: format: record at offset 52: unexpected EOF: 28 of 37 bytes",
		"0 bytes at offset 80, no section: format: footer at offset 76: corrupt input: mark is ",
	} {
		if got := losses[i].String(); !strings.HasPrefix(got, want) {
			t.Errorf("loss %d = %s, want %s", i, got, want)
		}
	}
}

// TestSalvageNested checks that the sections of a container that is itself the
// content of a section are not taken for sections, whatever is damaged.
func TestSalvageNested(t *testing.T) {
	inner := write(t, Options{}, samples)
	file := write(t, Options{Encoding: None}, []item{{7, 7, inner}, {7, 8, []byte("next")}})
	for at := headerLen; at < headerLen+int64(len(inner)); at++ {
		bad := bytes.Clone(file)
		bad[at] ^= 0xff
		r, losses := salvageOf(t, bad, Options{})
		if _, ok := r.Lookup(7, 8); !ok || len(r.entries) != 1 || len(losses) != 1 {
			text, _ := r.AppendText(nil)
			t.Fatalf("byte %d: found %s, losses %v", at, text, losses)
		}
	}
}

// TestSalvageLinear checks that no arrangement of markers and heads makes a walk
// read much more than the file.
func TestSalvageLinear(t *testing.T) {
	const size = 1 << 20
	build := func(next func(e *entry)) []byte {
		file := []byte(header)
		for len(file) < size {
			e := entry{kind: 1, key: uint64(len(file)), offset: int64(len(file)), form: None}
			next(&e)
			e.length = e.stored
			file = e.appendHead(file)
		}
		return file
	}
	tests := []struct {
		name string
		file []byte
	}{
		{"Markers", append([]byte(header), bytes.Repeat([]byte(marker), size/2)...)},
		{"HalfMarkers", append([]byte(header), bytes.Repeat([]byte(marker[:1]), size)...)},
		{"ToTheEnd", build(func(e *entry) { e.stored = max(0, size-e.offset-100) })},
		{"PastTheEnd", build(func(e *entry) { e.stored = size })},
		{"Short", build(func(e *entry) { e.stored = 1000 })},
		{"Empty", build(func(e *entry) {})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &countingReader{ReaderAt: bytes.NewReader(tt.file)}
			r, _, err := Salvage(c, int64(len(tt.file)), Options{})
			if err != nil || len(r.entries) > 0 {
				t.Fatalf("%d sections, %v", len(r.entries), err)
			}
			if c.n > 2*len(tt.file) {
				t.Errorf("read %d bytes of a file of %d", c.n, len(tt.file))
			}
			if _, _, err := Salvage(c, int64(len(tt.file)), Options{MaxIndex: 1}); !errors.Is(err, ErrLimit) {
				t.Errorf("with no section allowed: %v, want %v", err, ErrLimit)
			}
		})
	}
}

// TestSalvageLimit checks that what was found before the limit is returned.
func TestSalvageLimit(t *testing.T) {
	file := write(t, Options{}, samples)
	r, losses, err := Salvage(bytes.NewReader(file), int64(len(file)), Options{MaxIndex: 9})
	if !errors.Is(err, ErrLimit) || len(losses) > 0 {
		t.Fatalf("losses %v, %v", losses, err)
	}
	checkItems(t, r, samples[:3])
}

// TestSalvageIndex checks that an index that is not that of the file is reported,
// though its checksum holds.
func TestSalvageIndex(t *testing.T) {
	file := write(t, Options{}, samples)
	whole := open(t, file, Options{})
	at := whole.entries[6].offset + whole.entries[6].recordLen()
	index := func(index string, content int) []byte { return forgeIndex(file[:at:at], []byte(index), content) }
	renamed := append([]entry{}, whole.entries...)
	renamed[0].key++
	damaged := index("garbage", 0)
	damaged[at-1]++ // in the last record, so that there are two losses
	tests := []struct {
		name   string
		file   []byte
		o      Options
		losses string
		want   error
	}{
		{"Garbage", index("garbage", 0), Options{}, "169+23", ErrCorrupt},
		{"NotCompressed", index("garbage", 100), Options{}, "169+23", ErrCorrupt},
		{"SkipChecksum", index("garbage", 0), Options{SkipChecksum: true}, "169+23", ErrCorrupt},
		{"OtherNames", index(string(appendIndex(nil, renamed)), 0), Options{}, "169+64", ErrCorrupt},
		{"Missing", index(string(appendIndex(nil, nil)), 0), Options{}, "169+17", ErrCorrupt},
		{"Large", index(string(appendIndex(nil, whole.entries)), 0), Options{MaxIndex: 3 * 8}, "169+64", ErrLimit},
		{"AfterLoss", damaged, Options{}, "160+9 169+23", ErrCorrupt},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, losses := salvageOf(t, tt.file, tt.o)
			checkTrue(t, r)
			if got := summary(losses); got != tt.losses || !errors.Is(losses[len(losses)-1].Err, tt.want) {
				t.Errorf("losses %s, want %s of the index, which is %v: %v", got, tt.losses, tt.want, losses)
			}
		})
	}
}

// TestSalvageDuplicate checks that of two sections with one name, which no
// Writer writes, the first is kept.
func TestSalvageDuplicate(t *testing.T) {
	file := forge(
		forged{entry: entry{kind: 1, key: 1, form: None}, stored: "first"},
		forged{entry: entry{kind: 1, key: 1, form: None}, stored: "second"},
	)
	r, losses := salvageOf(t, file, Options{})
	checkItems(t, r, []item{{1, 1, []byte("first")}})
	if got := summary(losses); got != "24+17!" {
		t.Errorf("losses %s: %v", got, losses)
	}
}
