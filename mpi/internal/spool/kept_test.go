package spool

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn

	"github.com/reprise-trace/reprise/internal/compress"
	"github.com/reprise-trace/reprise/internal/test/mutate"
)

// recordsGen draws records of a few first words, whose other words change little or much, and now and then
// bytes that are none.
func recordsGen(t *rapid.T) (records []byte) {
	order := binary.LittleEndian
	kinds := rapid.IntRange(1, 400).Draw(t, "kinds")
	words := make(map[uint64][]uint64)
	for range rapid.IntRange(0, 60).Draw(t, "records") {
		kind := rapid.IntRange(0, kinds).Draw(t, "kind")
		if rapid.IntRange(0, 50).Draw(t, "none") == 50 {
			records = append(records, rapid.SliceOfN(rapid.Byte(), 1, 20).Draw(t, "bytes")...)
		}
		n := kind % (maxTemplate + 4)
		first := firstWord(1+n, kind, kind%14, 0)
		if words[first] == nil {
			words[first] = make([]uint64, n)
		}
		for i := range rapid.IntRange(0, n).Draw(t, "changes") {
			words[first][(i*7)%n] += rapid.Uint64().Draw(t, "change")
		}
		records = order.AppendUint64(records, first)
		for _, w := range words[first] {
			records = order.AppendUint64(records, w)
		}
	}
	return records
}

// withoutChecks returns records as they are kept. Behind bytes that are none, any word may be taken
// for the first of one.
func withoutChecks(records []byte) []byte {
	kept := bytes.Clone(records)
	for left := kept; len(left) > 0; {
		size, ok := sized(left)
		if ok {
			binary.LittleEndian.PutUint64(left, binary.LittleEndian.Uint64(left)&uncheckedMask)
		}
		left = left[size:]
	}
	return kept
}

// TestKept keeps any records in any pieces, and reads them.
func TestKept(t *testing.T) {
	directory := t.TempDir()
	thread := Thread{Process: Process{PID: 1, Loaded: 2}, Thread: 3}
	rapid.Check(t, func(t *rapid.T) {
		k := thread.NewKeeper(directory)
		defer os.Remove(k.path)
		var want, got []byte
		var ends []bool
		for i := range rapid.IntRange(1, 8).Draw(t, "pieces") {
			records := recordsGen(t)
			k.Add(bytes.Repeat([]byte{byte(i)}, headerSize), records)
			want = append(want, withoutChecks(records)...)
			if last := rapid.Bool().Draw(t, "last"); last || rapid.Bool().Draw(t, "flush") {
				if _, err := k.Flush(last); err != nil {
					t.Fatal(err)
				}
				ends = append(ends, last)
			}
		}
		if n, err := k.Flush(false); err != nil {
			t.Fatal(err)
		} else if n > 0 {
			ends = append(ends, false)
		}
		r := thread.Kept(directory)
		for _, end := range ends {
			if !r.More() {
				t.Fatal("there is no more")
			}
			header, records, last, err := r.Next()
			if err != nil || last != end || len(header) != headerSize {
				t.Fatal(len(header), last, end, err)
			}
			got = append(got, records...)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("got\n%x, want\n%x", got, want)
		}
		if _, _, _, err := r.Next(); !errors.Is(err, io.EOF) || r.More() {
			t.Fatal(err)
		}
	})
	if thread.Kept(directory) != nil {
		t.Error("something was kept where nothing is")
	}
}

// FuzzKept reads what anyone may have written: it takes memory in proportion, and what it gives is read again
// when it is kept, but for checks of records that were not folded.
func FuzzKept(f *testing.F) {
	thread := Thread{}
	k := thread.NewKeeper(f.TempDir())
	s := sample(f).data
	for range 20 {
		k.Add(s, s[headerSize:])
	}
	f.Add(bytes.Clone(k.content), true)
	f.Add(bytes.Clone(k.content), false)
	f.Add(k.content[:headerSize-1], true)
	checked := s[headerSize:][:16:16] // a record that has its check
	f.Add(append(append(bytes.Clone(s[:headerSize]), tagBytes, 16), checked...), true)
	mutate.Fuzz(f, func(t *testing.T, content []byte, last bool) {
		directory := t.TempDir()
		k := thread.NewKeeper(directory)
		k.content = content
		if n, err := k.Flush(last); n == 0 || err != nil {
			return
		}
		_, records, is, err := thread.Kept(directory).Next()
		if err != nil {
			return
		}
		if is != last || len(records) > len(content)+maxUnfolded {
			t.Fatalf("%d bytes of %d, %t", len(records), len(content), is)
		}
		folded := new(templates).fold(nil, records)
		again, err := new(templates).unfold(nil, folded, len(records))
		if err != nil || len(again) != len(records) || !bytes.Equal(new(templates).fold(nil, again), folded) {
			t.Fatalf("folded again: %v\n%x\n%x", err, again, records)
		}
	})
}

// TestKeptForged has chunks that say what is not so.
func TestKeptForged(t *testing.T) {
	directory := t.TempDir()
	k := Thread{}.NewKeeper(directory)
	header := make([]byte, headerSize)
	template := binary.LittleEndian.AppendUint64([]byte{tagNew}, 1+maxTemplate)
	large := append(template, make([]byte, 8+maxUnfolded/500*9)...) // of no change
	for _, tt := range []struct {
		name    string
		content []byte
		offset  int64
		want    error
	}{
		{"Short", header[1:], 0, io.ErrUnexpectedEOF},
		{"NoTemplate", append(header, tagNext), 0, ErrCorrupt},
		{"Template", append(header, tagTemplate), 0, ErrCorrupt},
		{"TemplateSize", append(header, tagNew, 0, 0, 0, 0, 0, 0, 0, 0), 0, ErrCorrupt},
		{"TemplateChecked", append(header, tagNew, 1, 0, 0, 0, 0, 0, 0, 1), 0, ErrCorrupt},
		{"TemplateEnds", append(header, tagNew, 2), 0, io.ErrUnexpectedEOF},
		{"RecordEnds", append(header, template...), 0, io.ErrUnexpectedEOF},
		{"BytesEnd", append(header, tagBytes, 9), 0, io.ErrUnexpectedEOF},
		{"Large", append(header, large...), 0, ErrCorrupt},
	} {
		t.Run(tt.name, func(t *testing.T) {
			defer os.Remove(k.path)
			k.content, k.made = tt.content, false
			if _, err := k.Flush(true); err != nil {
				t.Fatal(err)
			}
			_, _, _, err := Thread{}.Kept(directory).Next()
			var e *ParseError
			if !errors.Is(err, tt.want) || !errors.As(err, &e) || e.Offset != tt.offset || e.Field != "chunk" {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestKeptClaims has a chunk whose content is as much as LZ4 can claim, which is refused before memory is
// taken for it, and keeps such content itself.
func TestKeptClaims(t *testing.T) {
	content := make([]byte, headerSize, 16<<20)
	for len(content) < cap(content)-(maxUnfolded+8) { // records of zeros that are too large for a template
		record := binary.LittleEndian.AppendUint64(binary.AppendUvarint([]byte{tagBytes}, maxUnfolded), maxUnfolded)
		content = append(append(content, record...), make([]byte, maxUnfolded-8)...)
	}
	chunk, ok := compress.AppendLZ4(make([]byte, chunkHeader), content)
	if packed := len(chunk) - chunkHeader; !ok || len(content) < 200*packed {
		t.Fatalf("%d bytes in %d", len(content), packed)
	}
	binary.LittleEndian.PutUint32(chunk, uint32(len(chunk)-chunkHeader))
	binary.LittleEndian.PutUint32(chunk[4:], uint32(len(content)))
	binary.LittleEndian.PutUint32(chunk[12:], sumOfChunk(chunk))
	directory := t.TempDir()
	k := Thread{}.NewKeeper(directory)
	if err := os.WriteFile(k.path, chunk, 0o600); err != nil {
		t.Fatal(err)
	}
	r := Thread{}.Kept(directory)
	if _, _, _, err := r.Next(); !errors.Is(err, ErrLimit) || cap(r.content) > 0 {
		t.Errorf("%v, %d bytes are held", err, cap(r.content))
	}
	if err := os.Remove(k.path); err != nil {
		t.Fatal(err)
	}
	k.content = bytes.Clone(content)
	if n, err := k.Flush(true); n != chunkHeader+len(content) || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	if _, records, _, err := (Thread{}).Kept(directory).Next(); err != nil || len(records) < 14*maxUnfolded {
		t.Errorf("%d bytes, %v", len(records), err)
	}
}

// TestKeptListed finds the threads of which there is nothing else.
func TestKeptListed(t *testing.T) {
	directory := t.TempDir()
	for _, name := range []string{"7-2.0.kept", "7-2.10.kept", "7-2.1.0.spool", "7-2.1.kept", "07-2.3.kept",
		"7-2.x.kept", "kept"} {
		if err := os.WriteFile(filepath.Join(directory, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := List(directory)
	if err != nil || len(list) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	for i, want := range []uint32{0, 1, 10} {
		if list[i].Thread != want || len(list[i].Paths) > 0 != (want == 1) || list[i].Kept(directory) == nil {
			t.Errorf("%+v", list[i])
		}
	}
}
